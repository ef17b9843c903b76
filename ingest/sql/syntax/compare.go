package syntax

// comparison reads a comparison whose left side has been read; nil where the
// word here is none after all.
func (p *parser) comparison(start int32, left Expr, name string, width int) Expr {
	if p.tok().kind == tSym {
		p.step(width)
		if p.d.classes[p.tok().word]&formWord != 0 && p.atAhead(1, '(') {
			switch w := p.word(); w {
			case "ANY", "ALL", "SOME":
				return p.quantified(start, left, name, false)
			}
		}
		return &Op{Op: name, Args: p.pair(left), Span: p.from(start)}
	}
	not := false
	i := p.i
	if name == "GLOBAL" {
		p.next()
		if !p.is("IN") && !p.seq("NOT", "IN") {
			p.i = i
			return nil
		}
		name = p.word()
	}
	if name == "NOT" {
		p.next()
		not = true
		if !p.has(infixWord) {
			if p.take("NULL") { // x NOT NULL
				return &Op{Op: "IS NULL", Not: true, Args: []Expr{left}, Span: p.from(start)}
			}
			p.i = i
			return nil
		}
		name = p.word()
	}
	x := p.comparisonWord(start, left, name, not)
	if x == nil {
		p.i = i
	}
	return x
}

func (p *parser) pair(left Expr) []Expr { return []Expr{left, p.climb(precOther)} }

func (p *parser) comparisonWord(start int32, left Expr, name string, not bool) Expr {
	op := &Op{Op: name, Not: not}
	switch name {
	case "IS":
		return p.isTest(start, left)
	case "IN":
		return p.in(start, left, not)
	case "ISNULL", "NOTNULL":
		p.next()
		op.Op, op.Not = "IS NULL", name == "NOTNULL"
		op.Args = []Expr{left}
	case "BETWEEN":
		p.next()
		p.takeOne("SYMMETRIC", "ASYMMETRIC")
		op.Args = append(p.pair(left), nil)[:2]
		if p.take("AND") {
			op.Args = append(op.Args, p.climb(precOther))
		} else {
			p.warn(p.from(start), "BETWEEN without AND")
		}
	case "LIKE", "ILIKE", "RLIKE", "REGEXP", "GLOB", "MATCH", "SIMILAR", "LIKE_REGEX", "SOUNDS":
		p.next()
		if name == "SIMILAR" && !p.take("TO") || name == "SOUNDS" && !p.take("LIKE") {
			return nil
		}
		if name == "MATCH" && p.at('(') && !p.d.Lambda {
			return nil
		}
		p.take("BINARY")
		if (p.is("ANY") || p.is("ALL") || p.is("SOME")) && p.atAhead(1, '(') {
			x := p.quantified(start, left, name, not)
			p.escape(start, x)
			return x
		}
		op.Args = p.pair(left)
		p.escape(start, op)
	case "MATCH_ANY", "MATCH_ALL", "MATCH_PHRASE", "MATCH_PHRASE_PREFIX", "MATCH_REGEXP", "MATCH_PHRASE_EDGE", "OVERLAPS", "CONTAINS":
		p.next()
		op.Args = p.pair(left)
	case "EQ", "NE", "GT", "LT", "GE", "LE":
		if !p.d.Phrases {
			return nil
		}
		p.next()
		op.Args = p.pair(left)
	case "MEMBER", "SUBMULTISET":
		p.next()
		p.take("OF")
		op.Args = p.pair(left)
	default:
		return nil
	}
	op.Span = p.from(start)
	return op
}

func (p *parser) escape(start int32, x Expr) {
	if !p.take("ESCAPE") {
		return
	}
	e := p.climb(precOther)
	if op, ok := x.(*Op); ok {
		op.Args = append(op.Args, e)
		op.Span = p.from(start)
	}
}

// isTest reads IS [NOT] NULL, TRUE, DISTINCT FROM and the like.
func (p *parser) isTest(start int32, left Expr) Expr {
	p.next()
	op := &Op{Op: "IS", Not: p.take("NOT"), Args: []Expr{left}}
	switch {
	case p.take("NULL"):
		op.Op = "IS NULL"
	case p.take("DISTINCT", "FROM"):
		op.Op = "IS DISTINCT FROM"
		op.Args = p.pair(left)
	case p.takeOne("UNKNOWN", "NAN", "INFINITE", "NORMALIZED", "EMPTY", "PRESENT", "DANGLING"):
	case p.take("A", "SET"):
	case p.take("OF"):
		p.take("TYPE")
		if p.at('(') {
			p.skip()
		}
	case p.take("JSON"):
		p.takeOne("VALUE", "ARRAY", "OBJECT", "SCALAR")
		if p.takeOne("WITH", "WITHOUT") {
			p.take("UNIQUE")
			p.take("KEYS")
		}
	default:
		op.Args = p.pair(left)
	}
	op.Span = p.from(start)
	return op
}

// in reads IN (…), IN (query), IN UNNEST(x), IN x.
func (p *parser) in(start int32, left Expr, not bool) Expr {
	p.next()
	if !p.at('(') {
		return &Op{Op: "IN", Not: not, Args: p.pair(left), Span: p.from(start)}
	}
	if p.queryAt(p.i) {
		q := p.parenQuery()
		return &Sub{Kind: "IN", Not: not, Left: left, Query: q, Span: p.from(start)}
	}
	op := &Op{Op: "IN", Not: not, Args: append(make([]Expr, 0, 4), left)}
	p.group(func() {
		if !p.at(')') {
			p.list(func() { op.Args = append(op.Args, p.expr()) })
		}
	})
	op.Span = p.from(start)
	return op
}

// quantified reads ANY (…), ALL (…), SOME (…) on the right of an operator.
func (p *parser) quantified(start int32, left Expr, name string, not bool) Expr {
	kind := p.word()
	if kind == "SOME" {
		kind = "ANY"
	}
	p.next()
	if p.queryAt(p.i) {
		q := p.parenQuery()
		return &Sub{Kind: kind, Op: name, Not: not, Left: left, Query: q, Span: p.from(start)}
	}
	op := &Op{Op: name + " " + kind, Not: not, Args: []Expr{left}}
	p.group(func() { p.list(func() { op.Args = append(op.Args, p.expr()) }) })
	op.Span = p.from(start)
	return op
}
