package syntax

// form reads an expression that a word of its own begins; nil where the word
// is a plain name here.
func (p *parser) form() Expr {
	start := p.pos()
	next := p.ahead(1)
	w := p.word()
	if next.ch == '.' {
		return nil
	}
	switch w {
	case "LAMBDA":
		return p.lambdaWord(start)
	case "CURRENT":
		return p.register(start)
	case "COLLATION":
		if p.isAhead(1, "FOR") && p.atAhead(2, '(') {
			n := p.name()
			p.next()
			return p.call(n)
		}
		return nil
	case "NEXTVAL", "PREVVAL":
		if p.isAhead(1, "FOR") {
			p.step(2)
			n := p.name()
			return &Call{Span: p.from(start), Func: w, Name: n}
		}
		return nil
	case "CASE":
		if next.kind == tEnd || next.ch == ',' || next.ch == ')' {
			return nil
		}
		return p.caseExpr()
	case "NULL", "TRUE", "FALSE", "UNKNOWN", "DEFAULT":
		return p.constant(w, next)
	case "DATE", "TIMESTAMP", "TIME", "DATETIME", "TIMESTAMPTZ", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ", "NUMERIC", "DECIMAL",
		"BIGNUMERIC", "JSON", "BYTES", "DOUBLE", "BIGINT", "INTEGER", "INT", "CHAR", "VARCHAR", "BOOLEAN", "REAL", "FLOAT", "TEXT",
		"UUID", "BIGDECIMAL", "BYTEA", "INET", "JSONB", "XML":
		return p.typed(w, next)
	case "INTERVAL":
		return p.interval()
	case "SELECT", "WITH":
		if w == "WITH" && next.kind != tWord && next.kind != tQuoted {
			return nil
		}
		q := p.query()
		return &Sub{Span: p.from(start), Kind: "SCALAR", Query: q}
	case "NEXT", "PREVIOUS":
		if p.isAhead(1, "VALUE") && p.isAhead(2, "FOR") {
			p.step(3)
			return p.afterCall(start, &Call{Func: "NEXTVAL", Name: p.name()})
		}
		return nil
	case "ARRAY", "MAP":
		switch next.ch {
		case '[':
			if w == "MAP" && !p.entriesAhead() {
				return nil // an element of a column
			}
			p.next()
			return p.mapOrArray(start, w)
		case '{':
			p.next()
			x := p.braces()
			if l, ok := x.(*List); ok {
				l.Kind, l.Span = "MAP", p.from(start)
			}
			return x
		case '<':
			return p.typedConstructor(w)
		case '(':
			if w == "ARRAY" && p.queryAt(p.i+1) {
				p.next()
				q := p.parenQuery()
				return &Sub{Span: p.from(start), Kind: "ARRAY", Query: q}
			}
		}
		return nil
	case "MULTISET", "TABLE", "CURSOR":
		if next.ch == '(' && p.queryAt(p.i+1) {
			p.next()
			q := p.parenQuery()
			return &Sub{Span: p.from(start), Kind: "ARRAY", Query: q}
		}
		if w == "MULTISET" && next.ch == '[' {
			p.next()
			return p.mapOrArray(start, "ARRAY")
		}
		return nil
	case "STRUCT":
		if next.ch == '<' || p.op("<>") {
			return p.typedConstructor(w)
		}
	}
	if next.ch == '(' && next.mate != 0 {
		return p.formCall(w, start)
	}
	return nil
}

// lambdaWord reads DuckDB's and Python's `lambda x, y: e`; nil where LAMBDA is a
// name.
func (p *parser) lambdaWord(start int32) Expr {
	n := 1
	for p.ahead(n).kind == tWord && p.atAhead(n+1, ',') {
		n += 2
	}
	if p.ahead(n).kind != tWord || !p.atAhead(n+1, ':') {
		return nil
	}
	p.next()
	l := &Lambda{}
	for !p.eat(':') && !p.ended() {
		l.Params = append(l.Params, p.ident())
		p.eat(',')
	}
	l.Body = p.expr()
	l.Span = p.from(start)
	return l
}

// register reads Db2's CURRENT DATE and its kin; nil where CURRENT is a name.
func (p *parser) register(start int32) Expr {
	switch p.wordAhead(1) {
	case "DATE", "TIME", "TIMESTAMP", "SCHEMA", "SERVER", "PATH", "TIMEZONE", "SQLID", "USER", "DEGREE", "ISOLATION":
	default:
		return nil
	}
	if p.d.Fold != FoldUpper && p.d.Name != "ansi" {
		return nil
	}
	p.step(2)
	id := Ident{Span: p.from(start)}
	id.Text = id.In(p.text)
	return &Ref{Name{Span: id.Span, Parts: []Ident{id}}}
}

// constant reads NULL, TRUE and the like.
func (p *parser) constant(w string, next *token) Expr {
	t := p.tok()
	if next.ch == '(' || next.ch == ':' || w == "UNKNOWN" {
		return nil
	}
	p.next()
	kind := "BOOL"
	switch w {
	case "NULL":
		kind = "NULL"
	case "DEFAULT":
		kind = "DEFAULT"
	}
	return &Literal{Span: Span{t.start, t.end}, Kind: kind, Value: p.textOf(t)}
}

// typed reads DATE '…' and the like.
func (p *parser) typed(w string, next *token) Expr {
	start := p.pos()
	n := 1
	switch {
	case w == "DOUBLE" && p.isAhead(1, "PRECISION"):
		n = 2
	case (w == "TIMESTAMP" || w == "TIME") && p.isAhead(2, "TIME") && p.isAhead(3, "ZONE"):
		n = 4
	case next.ch == '(' && next.mate != 0 && p.ahead(2).kind == tNumber && int(next.mate) == p.i+3: // TIMESTAMP(3) '…'
		n = 4
	}
	s := p.ahead(n)
	if s.kind != tString || p.text[s.start] == '"' && !p.d.DoubleQuoteString {
		return nil
	}
	p.step(n)
	l := p.str()
	l.Kind, l.Span = w, p.from(start)
	return l
}

// entriesAhead tells whether the bracket after the current word holds entries of
// a map, not one key.
func (p *parser) entriesAhead() bool {
	mate := int(p.ahead(1).mate)
	if mate == p.i+2 {
		return true
	}
	for i := p.i + 2; i < mate; i++ {
		p.work++
		t := &p.toks[i]
		if t.ch == ',' || t.ch == ':' {
			return true
		}
		if int(t.mate) > i {
			i = int(t.mate)
		}
	}
	return false
}

func (p *parser) mapOrArray(start int32, w string) Expr {
	if w == "ARRAY" {
		x := p.bracketArray("ARRAY")
		x.(*List).Span = p.from(start)
		return x
	}
	open := p.i
	p.next()
	l := &List{Kind: "MAP"}
	p.entries(l)
	p.want(open, ']')
	l.Span = p.from(start)
	return l
}

// typedConstructor reads STRUCT<a INT>(…), ARRAY<INT>[…].
func (p *parser) typedConstructor(w string) Expr {
	i, start := p.i, p.pos()
	t := p.typ()
	switch {
	case p.at('['):
		x := p.bracketArray("ARRAY")
		x.(*List).Span = p.from(start)
		return x
	case p.at('(') && t != nil:
		x := p.row(start, w)
		if l, ok := x.(*List); ok && w == "STRUCT" {
			for k := range l.Items {
				if k < len(t.Fields) && l.Items[k].Alias.Text == "" {
					l.Items[k].Alias = Ident{Span: Span{l.Items[k].End, l.Items[k].End}, Text: t.Fields[k].Name.Parts[0].Text}
				}
			}
		}
		return x
	}
	p.i = i
	return nil
}

// row reads the parentheses of ROW(…), STRUCT(…).
func (p *parser) row(start int32, kind string) Expr {
	l := &List{Kind: kind}
	p.group(func() {
		if !p.at(')') {
			p.list(func() { l.Items = append(l.Items, p.item()) })
		}
	})
	l.Span = p.from(start)
	return l
}

func (p *parser) caseExpr() Expr {
	start := p.pos()
	p.next()
	c := &Case{}
	if !p.is("WHEN") {
		c.Operand = p.expr()
	}
	for p.is("WHEN") && !p.broken {
		s := p.pos()
		p.next()
		w := When{Cond: p.expr()}
		for p.eat(',') { // several values, for a simple CASE
			p.expr()
		}
		if p.take("THEN") {
			w.Then = p.expr()
		} else {
			p.warn(p.from(s), "WHEN without THEN")
			w.Then = &Skipped{Span{p.last(), p.last()}}
		}
		w.Span = p.from(s)
		c.Whens = append(c.Whens, w)
	}
	if p.take("ELSE") {
		c.Else = p.expr()
	}
	if !p.take("END") {
		p.warn(p.from(start), "CASE without END")
	} else if p.is("CASE") {
		p.next()
	}
	c.Span = p.from(start)
	return c
}
