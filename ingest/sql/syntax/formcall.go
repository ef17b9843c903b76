package syntax

// formCall reads a function whose arguments have a form of their own; nil where
// it is an ordinary one.
func (p *parser) formCall(w string, start int32) Expr {
	switch w {
	case "CAST", "TRY_CAST", "SAFE_CAST", "REINTERPRET":
		return p.cast(start)
	case "CONVERT", "TRY_CONVERT":
		return p.convert(start)
	case "EXTRACT":
		return p.extract(start)
	case "EXISTS":
		if !p.queryAt(p.i + 1) {
			return nil
		}
		p.next()
		q := p.parenQuery()
		return &Sub{Span: p.from(start), Kind: "EXISTS", Query: q}
	case "ROW", "STRUCT":
		p.next()
		return p.row(start, w)
	case "ANY", "ALL", "SOME":
		if p.queryAt(p.i + 1) {
			p.next()
			q := p.parenQuery()
			if w == "SOME" {
				w = "ANY"
			}
			return &Sub{Span: p.from(start), Kind: w, Query: q}
		}
	case "POSITION":
		return p.position(start)
	case "TRIM":
		return p.trim(start)
	case "MATCH":
		return p.match(start)
	case "COLUMNS":
		if n := p.ahead(2); n.kind == tString || n.ch == '*' {
			p.next()
			s := &Star{}
			p.group(func() {
				if p.tok().kind == tString {
					s.Pattern = p.str().Value
				} else {
					q := p.pos()
					p.next()
					inner := p.star(q, nil)
					s.Except, s.Replace = inner.Except, inner.Replace
				}
			})
			for p.is("APPLY") {
				p.next()
				p.skip()
			}
			s.Span = p.from(start)
			return s
		}
	}
	return nil
}

// cast reads CAST(x AS t FORMAT …).
func (p *parser) cast(start int32) Expr {
	open := p.i + 1
	p.step(2)
	c := &Cast{X: p.expr()}
	if p.take("AS") || p.eat(',') {
		c.Type = p.typ()
		if c.Type == nil {
			p.warn(p.from(start), "CAST without a type")
		}
	} else {
		p.warn(p.from(start), "CAST without a type")
	}
	for !p.broken && !p.at(')') {
		switch {
		case p.take("FORMAT"):
			p.expr()
			if p.take("AT", "TIME", "ZONE") {
				p.expr()
			}
			continue
		case p.take("DEFAULT"):
			p.expr()
			p.take("ON", "CONVERSION", "ERROR")
			continue
		case p.take("RENAME", "FIELDS"), p.take("ADD", "FIELDS"), p.take("NOT", "NULL"), p.take("NULL"):
			continue
		case p.eat(','):
			p.expr()
			continue
		}
		break
	}
	p.want(open, ')')
	c.Span = p.from(start)
	return c
}

// convert reads CONVERT(x USING charset), CONVERT(x, type), CONVERT(type, x).
func (p *parser) convert(start int32) Expr {
	open := p.i + 1
	c := &Cast{}
	p.step(2)
	if !p.d.Delimiters {
		i, n := p.i, len(p.warnings)
		if t := p.typ(); t != nil && p.eat(',') {
			c.Type = t
			c.X = p.expr()
			if p.eat(',') {
				p.expr()
			}
			p.want(open, ')')
			c.Span = p.from(start)
			return c
		}
		p.i, p.warnings = i, p.warnings[:n]
	}
	c.X = p.expr()
	switch {
	case p.take("USING"):
		p.next()
	case p.eat(','):
		c.Type = p.typ()
		if p.eat(',') {
			p.expr()
		}
	}
	p.want(open, ')')
	c.Span = p.from(start)
	return c
}

// extract reads EXTRACT(f FROM x); other arguments make it a call.
func (p *parser) extract(start int32) Expr {
	if !(p.ahead(2).kind == tWord || p.ahead(2).kind == tString) {
		return nil
	}
	from := 3
	if p.atAhead(3, '(') { // WEEK(MONDAY)
		from = 6
	}
	if !p.isAhead(from, "FROM") {
		return nil
	}
	open := p.i + 1
	p.step(from + 1)
	op := &Op{Op: "EXTRACT", Args: []Expr{p.expr()}}
	p.want(open, ')')
	op.Span = p.from(start)
	return op
}

// position reads POSITION(x IN y).
func (p *parser) position(start int32) Expr {
	n := p.name()
	open := p.i
	p.next()
	c := &Call{Name: n, Func: "POSITION", Args: []Expr{p.climb(precOther)}}
	for p.takeOne("IN", "FROM") || p.eat(',') {
		c.Args = append(c.Args, p.expr())
	}
	p.want(open, ')')
	c.Span = p.from(start)
	return c
}

// trim reads TRIM([BOTH] [x] FROM y).
func (p *parser) trim(start int32) Expr {
	n := p.name()
	open := p.i
	p.next()
	c := &Call{Name: n, Func: "TRIM"}
	if p.ahead(1).kind != tSym {
		p.takeOne("BOTH", "LEADING", "TRAILING")
	}
	if !p.is("FROM") && !p.at(')') {
		c.Args = append(c.Args, p.expr())
	}
	for p.take("FROM") || p.eat(',') {
		c.Args = append(c.Args, p.expr())
	}
	p.want(open, ')')
	c.Span = p.from(start)
	return c
}

// match reads MySQL's MATCH (a, b) AGAINST (x IN BOOLEAN MODE).
func (p *parser) match(start int32) Expr {
	m := int(p.ahead(1).mate)
	if !p.toks[min(m+1, len(p.toks)-1)].wordIs(p.text, "AGAINST") {
		return nil
	}
	n := p.name()
	c := &Call{Name: n, Func: "MATCH"}
	p.group(func() { p.list(func() { c.Args = append(c.Args, p.expr()) }) })
	p.next()
	open := p.i
	if p.eat('(') {
		c.Args = append(c.Args, p.climb(precOther))
		p.i = max(p.i, int(p.toks[open].mate))
		p.want(open, ')')
	}
	c.Span = p.from(start)
	return c
}
