package syntax

// tail reads ORDER BY, LIMIT and what else ends a query.
func (p *parser) tail(q *Query) {
	for !p.broken {
		switch {
		case p.is("ORDER") && q.Order != nil, p.is("LIMIT") && q.Limit != nil:
			p.skipTo(clause, "a second "+p.word())
		case p.seq("ORDER", "BY"), p.seq("ORDER", "SIBLINGS"):
			p.next()
			p.take("SIBLINGS")
			p.next()
			if p.take("ALL") {
				p.takeOne("DESC", "ASC")
				if p.take("NULLS") {
					p.takeOne("FIRST", "LAST")
				}
				continue
			}
			q.Order = append(q.Order, p.orderItems()...)
		case p.is("LIMIT"):
			p.limit(q)
		case p.is("OFFSET"):
			p.next()
			q.Offset = p.expr()
			p.takeOne("ROW", "ROWS")
		case p.is("FETCH") && (p.isAhead(1, "FIRST") || p.isAhead(1, "NEXT")):
			p.step(2)
			if !p.is("ROW") && !p.is("ROWS") {
				q.Limit = p.climb(precOther)
			}
			p.take("PERCENT")
			p.takeOne("ROW", "ROWS")
			if !p.take("ONLY") {
				p.take("WITH", "TIES")
			}
		case p.seq("CLUSTER", "BY"), p.seq("DISTRIBUTE", "BY"), p.seq("SORT", "BY"):
			p.step(2) // after ORDER BY
			q.Order = append(q.Order, p.orderItems()...)
		default:
			if !p.tailExtra(q) {
				return
			}
		}
	}
}

func (p *parser) limit(q *Query) {
	p.next()
	if p.take("ALL") {
		return
	}
	x := p.expr()
	if p.eat(',') {
		q.Offset, q.Limit = x, p.expr()
	} else {
		q.Limit = x
	}
	p.take("PERCENT")
	if p.take("OFFSET") {
		q.Offset = p.expr()
		p.takeOne("ROW", "ROWS")
	}
	if p.take("BY") {
		q.Limit, q.Offset = nil, nil
		p.list(func() { q.LimitBy = append(q.LimitBy, p.expr()) })
	}
	p.take("WITH", "TIES")
}

// tailExtra reads a clause of one dialect that does not change what is
// computed; false where there is none.
func (p *parser) tailExtra(q *Query) bool {
	switch p.word() {
	case "FOR":
		return p.forClause()
	case "WITH":
		switch {
		case p.take("WITH", "TOTALS"), p.take("WITH", "UR"), p.take("WITH", "RS"), p.take("WITH", "CS"), p.take("WITH", "RR"),
			p.take("WITH", "NO", "SCHEMA", "BINDING"), p.take("WITH", "READ", "ONLY"), p.take("WITH", "CHECK", "OPTION"):
			return true
		}
	case "SETTINGS":
		p.next()
		p.settings()
		return true
	case "FORMAT":
		if p.ahead(1).kind == tWord {
			p.step(2)
			return true
		}
	case "OPTION":
		if p.atAhead(1, '(') {
			p.next()
			p.skip()
			return true
		}
	case "LOCK":
		return p.take("LOCK", "IN", "SHARE", "MODE")
	case "PROCEDURE": // MySQL's of old
		if !p.take("PROCEDURE", "ANALYSE") {
			return false
		}
		p.skip()
		return true
	case "INTO":
		return p.intoFile()
	case "OPTIMIZE":
		if p.seq("OPTIMIZE", "FOR") {
			p.step(4)
			return true
		}
	case "USE":
		if p.take("USE", "AND", "KEEP") {
			p.next()
			p.take("LOCKS")
			return true
		}
	case "QUERYNO":
		p.step(2)
		return true
	}
	return false
}

// settings reads k = v, ….
func (p *parser) settings() {
	p.list(func() {
		p.name()
		if p.eat('=') {
			p.expr()
		}
	})
}

// forClause reads FOR UPDATE, FOR SHARE, FOR JSON, FOR XML and their options.
func (p *parser) forClause() bool {
	switch p.wordAhead(1) {
	case "UPDATE", "SHARE", "NO", "KEY", "READ", "FETCH":
		p.step(2)
		p.takeOne("KEY")
		p.takeOne("UPDATE", "SHARE", "ONLY")
		if p.take("OF") {
			p.list(func() { p.name() })
		}
		if !p.takeOne("NOWAIT", "NO_WAIT") && !p.take("SKIP", "LOCKED") && p.take("WAIT") {
			p.next()
		}
		if p.take("WITH", "RS") || p.take("WITH", "RR") {
			p.take("USE", "AND", "KEEP")
			p.takeOne("UPDATE", "EXCLUSIVE", "SHARE")
			p.take("LOCKS")
		}
		return true
	case "JSON", "XML", "BROWSE":
		p.step(2)
		for !p.ended() && !p.atCloser() && !p.is("OPTION") {
			p.skip()
		}
		return true
	}
	return false
}

// intoFile reads MySQL's INTO OUTFILE and INTO @x, ClickHouse's INTO OUTFILE.
func (p *parser) intoFile() bool {
	switch {
	case p.isAhead(1, "OUTFILE"), p.isAhead(1, "DUMPFILE"):
		p.step(2)
		if p.tok().kind == tString {
			p.outfile = p.value()
		}
		for !p.ended() && !p.atCloser() && !p.is("FROM") && !p.is("FOR") {
			p.skip()
		}
		return true
	case p.ahead(1).kind == tVar || p.ahead(1).kind == tWord && p.block > 0:
		p.next()
		p.list(func() { p.expr() })
		return true
	}
	return false
}
