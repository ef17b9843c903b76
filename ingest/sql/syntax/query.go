package syntax

// queryHead tells whether the token with index i begins a query.
func (p *parser) queryHead(i int) bool {
	t := &p.toks[i]
	if t.kind != tWord || p.d.classes[t.word]&headWord == 0 {
		return false
	}
	next := &p.toks[min(i+1, len(p.toks)-1)]
	switch vocabulary.words[t.word] {
	case "SELECT":
		return next.ch != '.'
	case "WITH":
		return p.withHead(i)
	case "FROM":
		return next.kind == tWord || next.kind == tQuoted || next.ch == '(' || next.kind == tVar || next.kind == tString
	case "VALUES":
		return next.ch == '(' || next.kind == tNumber || next.kind == tString || next.wordIs(p.text, "ROW")
	case "TABLE":
		return next.kind == tWord || next.kind == tQuoted
	}
	return false
}

// queryAt tells whether the parenthesis at index i holds a query and nothing
// else.
func (p *parser) queryAt(i int) bool {
	for range maxDepth {
		p.work++
		if p.toks[i].ch != '(' || i+1 >= len(p.toks) {
			return false
		}
		if p.queryHead(i + 1) {
			return true
		}
		inner := &p.toks[i+1]
		if inner.ch != '(' || inner.mate == 0 {
			return false
		}
		if after := int(inner.mate) + 1; after != int(p.toks[i].mate) && p.d.classes[p.toks[after].word]&setWord == 0 {
			switch p.wordAhead(after - p.i) {
			case "ORDER", "LIMIT", "OFFSET", "FETCH":
			default:
				return false
			}
		}
		i++
	}
	return false
}

// parenQuery reads a query in parentheses, which are in its span.
func (p *parser) parenQuery() *Query {
	open, start := p.i, p.pos()
	if !p.enter() {
		p.leave()
		return &Query{Span: p.from(start), Body: &Values{Span: p.from(start)}}
	}
	p.next()
	q := p.query()
	p.want(open, ')')
	p.leave()
	q.Span = p.from(start)
	return q
}

// query reads a query with all that may stand around it.
func (p *parser) query() *Query {
	start := p.pos()
	q := &Query{}
	if p.is("WITH") {
		q.With = p.with()
	}
	q.Body = p.setExpr()
	p.tail(q)
	for p.has(setWord) && !p.broken { // a branch may have its own ORDER BY and LIMIT
		q.Span = p.from(start)
		if q.With == nil || q.Order != nil || q.Limit != nil {
			with := q.With
			q.With = nil
			if with != nil {
				q.Start = q.Body.Range().Start
			}
			q = &Query{With: with, Body: p.setOps(q.Start, q)}
		} else {
			q.Body = p.setOps(q.Body.Range().Start, q.Body)
		}
		p.tail(q)
	}
	if p.op("|>") {
		p.pipes(q)
	}
	q.Span = p.from(start)
	return q
}

// setExpr reads queries and the set operators between them.
func (p *parser) setExpr() SetExpr {
	start := p.pos()
	left := p.setPrimary()
	return p.setOps(start, left)
}

// setOps reads set operators and what is on their right. INTERSECT binds
// tighter than the others.
func (p *parser) setOps(start int32, left SetExpr) SetExpr {
	for n := 0; p.has(setWord) && !p.broken; n++ {
		op := p.setOp()
		if op == nil {
			break
		}
		op.Left = left
		rightStart := p.pos()
		op.Right = p.setPrimary()
		for op.Op != "INTERSECT" && p.is("INTERSECT") && !p.broken {
			in := p.setOp()
			if in == nil {
				break
			}
			in.Left = op.Right
			in.Right = p.setPrimary()
			in.Span = p.from(rightStart)
			op.Right = in
		}
		op.Span = p.from(start)
		left = op
		if n > 4*maxChain {
			p.fail(op.Span, "more than 20000 set operators")
		}
	}
	return left
}

// setOp reads a set operator; nil where the word is none here.
func (p *parser) setOp() *SetOp {
	op := &SetOp{Op: p.word()}
	if op.Op == "MINUS" {
		op.Op = "EXCEPT"
	}
	p.next()
	for {
		switch {
		case p.take("ALL"):
			op.All = true
		case p.take("DISTINCT"):
		case p.take("BY", "NAME"), p.is("CORRESPONDING"):
			op.ByName = true
			if p.take("CORRESPONDING") && p.take("BY") || p.take("ON") {
				p.skip()
			}
		case p.take("STRICT", "CORRESPONDING"):
			op.ByName = true
		default:
			return op
		}
	}
}

// setPrimary reads SELECT, VALUES, TABLE, a query in parentheses.
func (p *parser) setPrimary() SetExpr {
	start := p.pos()
	if !p.enter() {
		p.leave()
		return &Values{Span: p.from(start)}
	}
	defer p.leave()
	switch {
	case p.is("SELECT"), p.is("FROM"), p.is("SEL") && p.d.Phrases, p.mapReduce():
		return p.selectQuery()
	case p.at('('):
		return p.parenQuery()
	case p.is("VALUES"):
		p.next()
		return p.values(start)
	case p.is("TABLE") && p.identAhead(1):
		p.next()
		if p.is("ONLY") && p.identAhead(1) && p.d.CustomOperators {
			p.next()
		}
		t := p.tableName()
		return &TableQuery{Span: p.from(start), Table: t}
	case p.is("WITH"):
		return p.query()
	case p.is("PIVOT"), p.is("UNPIVOT"), p.is("SUMMARIZE"), p.is("DESCRIBE"):
		if q := p.pivotStatement(start); q != nil {
			return q
		}
	case p.tok().kind == tVar:
		n := p.name()
		return &TableQuery{Span: p.from(start), Table: &Table{Span: n.Span, Name: n}}
	}
	s := Span{start, p.tok().end}
	p.warn(s, "a query is missing")
	return &Values{Span: p.from(start)}
}

// values reads the rows after VALUES.
func (p *parser) values(start int32) *Values {
	v := &Values{}
	p.list(func() {
		p.take("ROW")
		if !p.at('(') || p.closedBy() {
			if p.ended() || p.has(noExpr) {
				return
			}
			v.Rows = append(v.Rows, []Expr{p.expr()})
			return
		}
		row := make([]Expr, 0, 4)
		p.group(func() {
			if !p.at(')') {
				p.list(func() { row = append(row, p.expr()) })
			}
		})
		v.Rows = append(v.Rows, row)
	})
	if len(v.Rows) > 0 && p.at('(') { // rows without commas between: ClickHouse
		for p.at('(') {
			p.skip()
		}
	}
	v.Span = p.from(start)
	return v
}

// closedBy tells whether the parenthesis here is the beginning of a longer
// expression, as in VALUES (a) + 1.
func (p *parser) closedBy() bool {
	m := int(p.tok().mate)
	if m == 0 || m+1 >= len(p.toks) {
		return false
	}
	switch p.toks[m+1].ch {
	case '+', '-', '*', '/', '.', '[':
		return true
	}
	return false
}
