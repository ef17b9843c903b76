package syntax

// parenRef reads a reference that a parenthesis begins: a query or joins.
func (p *parser) parenRef(start int32, lateral bool) TableRef {
	if p.queryAt(p.i) {
		q := p.parenQuery()
		d := &Derived{Query: q, Lateral: lateral}
		p.derivedTail(d)
		d.Span = p.from(start)
		return d
	}
	open := p.i
	p.next()
	inner := p.pos()
	r := &Paren{Ref: p.tableRef()}
	for p.at(',') && !p.broken {
		p.next()
		j := &Join{Kind: "CROSS", Comma: true, Left: r.Ref, Right: p.tableRef()}
		j.Span = p.from(inner)
		r.Ref = j
	}
	p.want(open, ')')
	p.alias(&r.Alias, true)
	r.Span = p.from(start)
	return r
}

// derivedTail reads the alias of a derived table and what may stand before it.
func (p *parser) derivedTail(d *Derived) {
	for !p.broken {
		switch {
		case p.is("FINAL") && p.d.Final:
			p.next()
			continue
		case p.is("WITH") && p.isAhead(1, "ORDINALITY"):
			p.step(2)
			continue
		case p.is("AS") && p.isAhead(1, "OF"): // Oracle's flashback
			p.step(2)
			p.takeOne("TIMESTAMP", "SCN", "SNAPSHOT")
			p.climb(precOther)
			continue
		}
		break
	}
	p.alias(&d.Alias, true)
}

// stage reads @stage/path with its options.
func (p *parser) stage() *Table {
	t := p.tok()
	x := &Table{Span: Span{t.start, t.end}, Stage: true, Path: p.textOf(t), Name: p.stageName(t)}
	p.next()
	if p.at('(') {
		p.skip()
	}
	p.alias(&x.Alias, true)
	x.Span = p.from(t.start)
	return x
}

// stageName returns the name in @a.b.stage/path: what stands before the slash.
func (p *parser) stageName(t *token) Name {
	n := Name{Span: Span{t.start + 1, t.end}}
	at := t.start + 1
	for i := at; ; i++ {
		if i < t.end && p.text[i] != '.' && p.text[i] != '/' {
			continue
		}
		s := Span{at, i}
		n.Parts = append(n.Parts, Ident{Span: s, Text: s.In(p.text)})
		at = i + 1
		if i == t.end || p.text[i] == '/' {
			n.End = i
			return n
		}
	}
}

// pathTable reads a file named in place of a table.
func (p *parser) pathTable() *Table {
	start := p.pos()
	l := p.str()
	x := &Table{Path: l.Value}
	p.alias(&x.Alias, true)
	x.Span = p.from(start)
	return x
}

// tableCall reads TABLE(f(…)), TABLE(query), ONLY (t).
func (p *parser) tableCall(start int32, lateral bool) TableRef {
	if p.queryAt(p.i + 1) {
		p.next()
		d := &Derived{Query: p.parenQuery(), Lateral: lateral}
		p.derivedTail(d)
		d.Span = p.from(start)
		return d
	}
	n := p.name()
	open := p.i
	p.next()
	f := &TableFunc{Lateral: lateral}
	t := p.tok()
	switch {
	case n.Parts[0].Text != "" && fold(n.Parts[0].Text, "ONLY"):
		x := p.tableName()
		p.want(open, ')')
		p.tableTail(x)
		x.Span = p.from(start)
		return x
	default:
		s := t.start
		x := p.expr()
		if c, ok := x.(*Call); ok {
			f.Call = c
			break
		}
		f.Call = &Call{Span: p.from(s), Func: "TABLE", Args: []Expr{x}}
		if r, ok := x.(*Ref); ok && p.at(')') && p.d.DollarColumn {
			p.want(open, ')')
			tab := &Table{Name: r.Name}
			p.tableTail(tab)
			tab.Span = p.from(start)
			return tab
		}
	}
	p.want(open, ')')
	p.funcTail(start, f)
	return f
}

// rowsFrom reads PostgreSQL's ROWS FROM (f(…), g(…)).
func (p *parser) rowsFrom(start int32) TableRef {
	p.step(2)
	s := p.pos()
	f := &TableFunc{Call: &Call{Func: "ROWS FROM"}}
	p.group(func() {
		p.list(func() {
			f.Call.Args = append(f.Call.Args, p.expr())
			if p.take("AS") {
				p.skip()
			}
		})
	})
	f.Call.Span = p.from(s)
	p.funcTail(start, f)
	return f
}

// tableFunc reads a function as a table; its name has been read.
func (p *parser) tableFunc(start int32, n Name, lateral bool) TableRef {
	f := &TableFunc{Lateral: lateral}
	switch funcName(n) {
	case "JSON_TABLE", "XMLTABLE":
		f.Call = p.columnsCall(n, f)
	case "SEMANTIC_VIEW":
		if c, ok := p.call(n).(*Call); ok {
			f.Call = c
			if r, ok := first(c.Args).(*Ref); ok {
				c.Table, c.Args = &Table{Span: r.Span, Name: r.Name}, c.Args[1:]
			}
		}
	default:
		if c, ok := p.call(n).(*Call); ok {
			f.Call = c
		}
	}
	for p.at('.') && p.identAhead(1) { // f(x).y
		x := p.field(n.Start, f.Call)
		if c, ok := x.(*Call); ok {
			f.Call = c
		} else {
			f.Call = &Call{Span: x.Range(), Func: "UNNEST", Args: []Expr{x}}
		}
	}
	p.funcTail(start, f)
	return f
}

func first(xs []Expr) Expr {
	if len(xs) == 0 {
		return nil
	}
	return xs[0]
}

// funcTail reads what follows a function as a table.
func (p *parser) funcTail(start int32, f *TableFunc) {
	if p.seq("WITH", "ORDINALITY") {
		p.step(2)
		f.Ordinality = true
	}
	if p.is("WITH") && p.atAhead(1, '(') && p.d.NoSemicolons { // OPENJSON … WITH
		p.next()
		p.columnClauses(f)
	}
	switch {
	case f.Alias.Name.Text != "":
	case p.is("FINAL") && p.d.Final:
		p.next()
	case p.is("AS") && p.atAhead(1, '(') && !p.queryAt(p.i+1):
		s := p.pos()
		p.next()
		p.aliasColumns(&f.Alias, &f.Columns)
		f.Alias.Span = p.from(s)
	case p.is("AS") && (p.identAhead(1) || p.ahead(1).kind == tString):
		s := p.pos()
		p.next()
		f.Alias.Name = p.ident()
		p.functionColumns(f, s)
	case p.bareAlias() && !p.joinAhead() && !(p.seq("WITH", "OFFSET")):
		s := p.pos()
		f.Alias.Name = p.ident()
		p.functionColumns(f, s)
	}
	for p.seq("WITH", "OFFSET") {
		p.step(2)
		p.take("AS")
		if p.bareAlias() || p.is("OFFSET") {
			f.OffsetName = p.ident()
		} else {
			f.OffsetName = Ident{Span: Span{p.last(), p.last()}, Text: "offset"}
		}
	}
	if p.seq("WITH", "ORDINALITY") {
		p.step(2)
		f.Ordinality = true
	}
	f.Span = p.from(start)
}

func (p *parser) functionColumns(f *TableFunc, start int32) {
	if p.at('(') && !p.queryAt(p.i) {
		p.aliasColumns(&f.Alias, &f.Columns)
	} else if p.is("AS") && p.identAhead(1) || p.is("AS") && p.atAhead(1, '(') { // Doris's f(x) t AS a
		p.next()
		if p.at('(') {
			p.aliasColumns(&f.Alias, nil)
		} else {
			f.Alias.Columns = append(f.Alias.Columns, p.ident())
		}
	}
	f.Alias.Span = p.from(start)
}

// columnsCall reads JSON_TABLE(x, path COLUMNS (…)), XMLTABLE(… COLUMNS …).
func (p *parser) columnsCall(n Name, f *TableFunc) *Call {
	c := &Call{Name: n, Func: funcName(n)}
	open := p.i
	p.next()
	for !p.broken && !p.at(')') && !p.ended() {
		i := p.i
		switch {
		case p.is("COLUMNS"):
			p.next()
			p.columnClauses(f)
		case p.take("PASSING"):
			p.take("BY", "VALUE")
			p.list(func() {
				c.Args = append(c.Args, p.item().Expr)
				p.take("BY", "VALUE")
			})
		case p.eat(','):
		case p.is("AS") && p.identAhead(1):
			p.step(2)
		case p.is("XMLNAMESPACES"):
			p.next()
			p.skip()
		case p.is("PLAN"):
			p.next()
			p.take("DEFAULT")
			p.skip()
		case p.jsonClause(c):
		case p.at(')'):
		default:
			c.Args = append(c.Args, p.expr())
		}
		if p.i == i {
			break
		}
	}
	p.want(open, ')')
	c.Span = p.from(n.Start)
	return c
}

// columnClauses reads the columns of JSON_TABLE and its kin, nested ones too.
func (p *parser) columnClauses(f *TableFunc) {
	if !p.enter() {
		p.leave()
		return
	}
	defer p.leave()
	one := func() {
		start := p.pos()
		if p.is("NESTED") && !p.at(')') && (p.isAhead(1, "PATH") || p.ahead(1).kind == tString) {
			p.next()
			p.take("PATH")
			p.str()
			if p.take("AS") {
				p.next()
			}
			p.take("COLUMNS")
			p.columnClauses(f)
			return
		}
		if !p.identAhead(0) {
			return
		}
		id := p.ident()
		def := ColumnDef{Name: Name{Span: id.Span, Parts: []Ident{id}}}
		if p.take("FOR", "ORDINALITY") {
			def.Span = p.from(start)
			f.Columns = append(f.Columns, def)
			return
		}
		if !p.is("PATH") && !p.is("EXISTS") {
			def.Type = p.typ()
		}
		for !p.at(',') && !p.atCloser() && !p.ended() && !p.broken {
			p.skip() // PATH '…' DEFAULT … ON EMPTY
		}
		def.Span = p.from(start)
		f.Columns = append(f.Columns, def)
	}
	if !p.group(func() { p.list(one) }) {
		p.list(one)
	}
}
