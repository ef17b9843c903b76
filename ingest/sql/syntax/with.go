package syntax

// withHead tells whether the WITH at index i names queries. In definitions and
// after queries it begins options as well.
func (p *parser) withHead(i int) bool {
	at := func(n int) *token { return &p.toks[min(i+n, len(p.toks)-1)] }
	next := at(1)
	switch {
	case next.wordIs(p.text, "RECURSIVE"):
		return true
	case next.ch == '(':
		return p.queryAt(i+1) || p.d.ScalarWith && next.mate != 0 && p.token(next.mate+1).wordIs(p.text, "AS") && p.token(next.mate+2).kind == tWord
	case next.kind != tWord && next.kind != tQuoted && next.kind != tVar:
		return next.kind == tNumber || next.kind == tString
	}
	for at(2).ch == '.' {
		i += 2
	}
	switch after := at(2); {
	case after.wordIs(p.text, "AS"):
		n := at(3)
		return n.ch == '(' || n.kind == tVar || n.wordIs(p.text, "MATERIALIZED") || n.wordIs(p.text, "NOT") || p.d.ScalarWith
	case p.queryAt(min(i+2, len(p.toks)-1)):
		return true
	case after.ch == '(' && after.mate != 0:
		m := after.mate
		if !p.asAfter(m) || next.wordIs(p.text, "SERDEPROPERTIES") || next.wordIs(p.text, "TAG") {
			return p.d.ScalarWith
		}
		return true
	}
	return p.d.ScalarWith && !next.wordIs(p.text, "TOTALS") && !next.wordIs(p.text, "FILL") && !next.wordIs(p.text, "TIES")
}

// asAfter tells whether AS follows the bracket with index m, perhaps behind how
// deep a recursion may go.
func (p *parser) asAfter(m int32) bool {
	return p.token(m+1).wordIs(p.text, "AS") || p.token(m+1).wordIs(p.text, "USING") && p.token(m+2).wordIs(p.text, "KEY") || p.token(m+1).wordIs(p.text, "MAX") && p.token(m+2).wordIs(p.text, "RECURSION")
}

// with reads WITH.
func (p *parser) with() *With {
	start := p.pos()
	p.next()
	w := &With{Recursive: p.take("RECURSIVE")}
	if p.is("SESSION") && p.identAhead(1) { // Trino's session properties
		p.next()
		p.settings()
		if p.queryHead(p.i) {
			if p.is("WITH") {
				inner := p.with()
				inner.Start = start
				return inner
			}
			w.Span = p.from(start)
			return w
		}
	}
	for p.is("FUNCTION") && p.identAhead(1) && p.atAhead(2, '(') && !p.broken { // Trino's inline functions
		p.createRoutine(p.pos(), "FUNCTION")
		if p.tok().kind == tSemi && (p.isAhead(1, "SELECT") || p.isAhead(1, "FUNCTION")) {
			p.next() // Oracle ends each
		}
		if !p.eat(',') && p.queryHead(p.i) {
			w.Span = p.from(start)
			return w
		}
	}
	p.list(func() {
		if p.is("SELECT") || p.is("INSERT") || p.at('(') && w.Items != nil && !p.d.ScalarWith {
			return
		}
		w.Items = append(w.Items, p.cte())
	})
	w.Span = p.from(start)
	return w
}

func (p *parser) cte() *CTE {
	start := p.pos()
	c := &CTE{}
	if p.atAhead(1, '.') && p.identAhead(2) && p.isAhead(3, "AS") { // a dotted name
		p.step(2)
		c.Name = Ident{Span: Span{start, p.tok().end}, Text: p.text[start:p.tok().end]}
		p.step(2)
		p.cteBody(c)
		c.Span = p.from(start)
		return c
	}
	if !p.identAhead(0) && p.tok().kind != tString || !(p.isAhead(1, "AS") || p.atAhead(1, '(') || p.queryAt(p.i+1)) {
		return p.scalarCTE(c)
	}
	if p.atAhead(1, '(') && !p.queryAt(p.i+1) {
		if m := int(p.ahead(1).mate); m == 0 || !p.asAfter(int32(m)) || p.token(int32(m)+1).wordIs(p.text, "AS") && p.token(int32(m)+2).ch != '(' && !p.token(int32(m)+2).wordIs(p.text, "MATERIALIZED") && !p.token(int32(m)+2).wordIs(p.text, "NOT") {
			return p.scalarCTE(c)
		}
	} else if n := p.ahead(2); p.isAhead(1, "AS") && n.ch != '(' && (n.kind == tWord || n.kind == tQuoted) && !p.isAhead(2, "MATERIALIZED") && !p.isAhead(2, "NOT") && !p.queryHead(p.i+2) {
		return p.scalarCTE(c)
	}
	c.Name = p.ident()
	if p.at('(') && !p.queryAt(p.i) {
		p.names(func(id Ident) { c.Columns = append(c.Columns, id) })
	}
	if p.take("USING", "KEY") { // DuckDB's
		p.skip()
	}
	if p.take("MAX", "RECURSION", "LEVEL") {
		p.climb(precOther)
	}
	p.take("AS")
	p.take("NOT")
	p.take("MATERIALIZED")
	p.cteBody(c)
	p.cteTail()
	c.Span = p.from(start)
	return c
}

// scalarCTE reads ClickHouse's `expression AS name`.
func (p *parser) scalarCTE(c *CTE) *CTE {
	start := p.pos()
	c.Scalar = p.expr()
	if p.take("AS") {
		c.Name = p.ident()
	}
	c.Span = p.from(start)
	return c
}

func (p *parser) cteBody(c *CTE) {
	if p.queryAt(p.i) || !p.at('(') {
		if p.at('(') {
			c.Query = p.parenQuery()
		} else {
			c.Query = p.query()
		}
		return
	}
	open := p.i
	p.next()
	start := p.pos()
	if p.has(headWord) {
		c.Body = p.body()
	} else {
		c.Query = &Query{Span: p.from(start), Body: &Values{Span: p.from(start)}}
		if p.at(')') {
			p.warn(p.from(p.toks[open].start), "a query is missing")
		}
	}
	p.want(open, ')')
	if c.Query != nil {
		c.Query.Span = p.from(p.toks[open].start)
	}
}

// cteTail reads SEARCH and CYCLE.
func (p *parser) cteTail() {
	if p.is("SEARCH") && (p.isAhead(1, "DEPTH") || p.isAhead(1, "BREADTH")) {
		for !p.ended() && !p.is("SET") {
			p.skip()
		}
		p.next()
		p.next()
	}
	if p.is("CYCLE") && p.identAhead(1) {
		for !p.ended() && !p.at(',') && !p.is("SELECT") && !p.atCloser() {
			p.skip()
		}
	}
	if p.is("USING") && p.isAhead(1, "KEY") {
		p.step(2)
		p.skip()
	}
}
