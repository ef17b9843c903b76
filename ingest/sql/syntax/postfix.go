package syntax

// postfix reads what follows a primary and binds tightest: fields, elements,
// casts, paths.
func (p *parser) postfix(start int32, x Expr) Expr {
	for n := 0; !p.broken; n++ {
		t := p.tok()
		if t.kind != tSym {
			if p.d.Durations && t.kind == tWord && intervalUnit(p.word()) && len(p.textOf(t)) > 2 {
				if _, ok := x.(*Ref); ok {
					return x
				}
				p.next() // Db2's 1 MONTH
				return &Op{Span: p.from(start), Op: "INTERVAL", Args: []Expr{x}}
			}
			return x
		}
		switch t.ch {
		case '.':
			next := p.ahead(1)
			switch {
			case next.ch == '*':
				p.step(2)
				x = &Field{Span: p.from(start), X: x, Star: true}
			case next.kind == tWord || next.kind == tQuoted || next.kind == tNumber || next.kind == tVar:
				p.next()
				x = p.field(start, x)
			default:
				return x
			}
		case '[':
			x = p.index(start, x)
		case ':':
			if !p.pathColon(t, x) {
				return x
			}
			p.next()
			if p.at('[') {
				continue
			}
			x = &Field{X: x, Name: p.ident(), Span: p.from(start)}
		case '(':
			if _, ok := x.(*Ref); !ok || !p.outerMark() {
				return x
			}
			p.step(3)
		case '?':
			if n := p.ahead(1); !p.d.ColonPath || n.start != t.end || n.kind != tSym || p.textOf(n) != "::" {
				return x
			}
			p.step(2) // Databricks' cast that gives NULL where it fails
			x = p.castTo(start, x)
		case 0:
			if s := p.textOf(t); s == "?::" && p.d.ColonPath {
				p.next()
				x = p.castTo(start, x)
				continue
			}
			if p.text[t.start] != ':' || !p.op("::") {
				return x
			}
			p.next()
			x = p.castTo(start, x)
		default:
			return x
		}
		if n > maxChain {
			p.fail(p.from(start), "a chain of more than 5000 fields")
		}
	}
	return x
}

func (p *parser) castTo(start int32, x Expr) Expr {
	typ := p.typ()
	return &Cast{X: x, Type: typ, Span: p.from(start)}
}

// field reads a field after its dot, or a method's call.
func (p *parser) field(start int32, x Expr) Expr {
	id := p.ident()
	if p.at('(') && !p.outerMark() {
		c := p.call(Name{Span: id.Span, Parts: []Ident{id}})
		if call, ok := c.(*Call); ok {
			call.Args = append([]Expr{x}, call.Args...)
			call.Span = p.from(start)
			if call.Names != nil {
				call.Names = append([]string{""}, call.Names...)
			}
		}
		return c
	}
	return &Field{X: x, Name: id, Span: p.from(start)}
}

// pathColon tells whether a colon after x takes a field of it.
func (p *parser) pathColon(t *token, x Expr) bool {
	next := p.ahead(1)
	if !p.d.ColonPath || p.slice || next.start != t.end || next.kind != tWord && next.kind != tQuoted && next.ch != '[' {
		return false
	}
	switch x.(type) {
	case *Ref, *Field, *Index, *Call, *Cast, *Variable:
		return true
	}
	return false
}

// index reads [i], [i:j], ['k'].
func (p *parser) index(start int32, x Expr) Expr {
	open := p.i
	p.next()
	ix := &Index{X: x}
	if !p.at(':') && !p.at(']') {
		ix.At = p.sliceBound()
	}
	if p.eat(':') && !p.at(']') && !p.at(':') {
		ix.To = p.sliceBound()
		if p.eat(':') && !p.at(']') {
			p.expr()
		}
	}
	for p.eat(',') { // several of them: DuckDB's and ClickHouse's a[1, 2]
		p.expr()
	}
	p.want(open, ']')
	ix.Span = p.from(start)
	return ix
}

// sliceBound reads an expression that a colon ends.
func (p *parser) sliceBound() Expr {
	outer := p.slice
	p.slice = true
	x := p.expr()
	p.slice = outer
	return x
}

// star reads what follows * or t.*: EXCEPT, EXCLUDE, REPLACE, RENAME.
func (p *parser) star(start int32, of []Ident) *Star {
	s := &Star{Of: of}
	for {
		switch {
		case p.at(':') && p.d.ColonPath:
			s.Span = p.from(start)
			return s
		case (p.is("EXCEPT") || p.is("EXCLUDE")) && (p.atAhead(1, '(') && !p.queryAt(p.i+1) || (p.is("EXCLUDE") || p.d.BareStar && !p.queryHead(p.i+1) && !p.isAhead(1, "ALL") && !p.isAhead(1, "DISTINCT")) && p.identAhead(1)):
			p.next()
			p.names(func(id Ident) { s.Except = append(s.Except, id) })
		case p.is("REPLACE") && (p.atAhead(1, '(') || p.d.Name == "duckdb"):
			p.next()
			one := !p.at('(')
			f := func() { p.list(func() { s.Replace = append(s.Replace, p.item()) }) }
			if one {
				s.Replace = append(s.Replace, p.item())
			} else {
				p.group(f)
			}
		case p.is("RENAME") && (p.atAhead(1, '(') || p.isAhead(2, "AS")):
			p.next()
			one := func() {
				old := p.ident()
				p.take("AS")
				s.Rename = append(s.Rename, [2]Ident{old, p.ident()})
			}
			if !p.group(func() { p.list(one) }) {
				one()
			}
		case p.is("ILIKE") || p.is("LIKE") && p.ahead(1).kind == tString:
			p.next()
			s.Pattern = p.str().Value
		case p.is("APPLY") && (p.atAhead(1, '(') || p.identAhead(1)):
			p.next()
			p.skip()
			if p.at('(') {
				p.skip()
			}
		default:
			s.Span = p.from(start)
			return s
		}
	}
}

// names reads (a, b) or one name; of a dotted name, its last part.
func (p *parser) names(f func(Ident)) {
	one := func() {
		n := p.name()
		if len(n.Parts) > 0 {
			f(n.Parts[len(n.Parts)-1])
		}
	}
	if !p.group(func() { p.list(one) }) {
		one()
	}
}

// bracketArray reads [a, b].
func (p *parser) bracketArray(kind string) Expr {
	open, start := p.i, p.pos()
	p.next()
	l := &List{Kind: kind}
	if !p.at(']') {
		p.list(func() {
			x := p.item()
			if p.is("FOR") && len(l.Items) == 0 {
				x.Expr = p.comprehension(x)
				x.Span = x.Expr.Range()
			}
			l.Items = append(l.Items, x)
		})
	}
	p.want(open, ']')
	l.Span = p.from(start)
	return l
}

// comprehension reads DuckDB's e FOR x IN list IF condition: an operator FOR of
// a lambda of e, the list and, where there is one, a lambda of the condition.
func (p *parser) comprehension(x SelectItem) Expr {
	start := x.Span.Start
	of := &Lambda{Span: x.Span, Body: x.Expr}
	op := &Op{Op: "FOR", Args: []Expr{of}}
	p.next()
	var params []Ident
	p.list(func() { params = append(params, p.ident()) })
	if p.take("IN") {
		op.Args = append(op.Args, p.expr())
	}
	if p.take("IF") {
		cond := p.expr()
		op.Args = append(op.Args, &Lambda{Span: cond.Range(), Params: params, Body: cond})
	}
	of.Params = params
	op.Span = p.from(start)
	return op
}

// braces reads {k: v} and ClickHouse's {name:Type}.
func (p *parser) braces() Expr {
	open, start := p.i, p.pos()
	if m := int(p.tok().mate); m != 0 && p.d.Ternary && p.ahead(1).kind == tWord && p.atAhead(2, ':') {
		p.to(m + 1)
		return &Variable{Span: p.from(start), Name: p.since(start)}
	}
	p.next()
	if n := p.ahead(1); n.kind != tSym || n.ch == '(' { // ODBC's {fn f(x)}, {d '…'}
		if p.takeOne("FN", "D", "T", "TS") {
			x := p.expr()
			p.want(open, '}')
			return x
		}
	}
	l := &List{Kind: "STRUCT"}
	p.entries(l)
	p.want(open, '}')
	l.Span = p.from(start)
	return l
}

// entries reads k: v, …; a key that is no constant stands before its value.
func (p *parser) entries(l *List) {
	if p.at('}') || p.at(']') {
		return
	}
	p.list(func() {
		start := p.pos()
		t := p.tok()
		var x SelectItem
		if (t.kind == tWord || t.kind == tQuoted || t.kind == tString || t.kind == tNumber) && p.atAhead(1, ':') {
			x.Alias = p.ident()
		} else {
			key := p.sliceBound()
			l.Items = append(l.Items, SelectItem{Span: p.from(start), Expr: key})
			start = -1
		}
		if p.eat(':') || p.eat(',') || p.eatOp("=>") {
			if start < 0 {
				start = p.pos()
			}
			x.Expr = p.expr()
			x.Span = p.from(start)
			l.Items = append(l.Items, x)
		}
	})
}
