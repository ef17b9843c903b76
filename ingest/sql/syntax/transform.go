package syntax

// mapReduce tells Hive's MAP e, … USING and REDUCE e, … USING.
func (p *parser) mapReduce() bool {
	if !p.is("MAP") && !p.is("REDUCE") || !p.d.MapReduce {
		return false
	}
	n := p.ahead(1)
	return (n.kind == tWord || n.kind == tQuoted || n.kind == tNumber) && p.d.classes[n.word]&(noAlias|noExpr|clause) == 0
}

// transformAhead tells Hive's TRANSFORM (…) USING from a function.
func (p *parser) transformAhead() bool {
	m := int(p.ahead(1).mate)
	if m == 0 {
		return false
	}
	switch p.wordAhead(m + 1 - p.i) {
	case "USING", "ROW", "RECORDWRITER":
		return true
	}
	return false
}

// transform reads TRANSFORM (…) USING '…' AS (…), and MAP and REDUCE.
func (p *parser) transform() *Transform {
	start := p.pos()
	t := &Transform{}
	p.next()
	args := func() { p.list(func() { t.Args = append(t.Args, p.expr()) }) }
	if !p.group(args) {
		args()
	}
	for !p.broken {
		switch {
		case p.is("USING") && p.ahead(1).kind == tString:
			p.next()
			t.Using = p.str().Value
		case p.seq("ROW", "FORMAT"):
			p.rowFormat(nil)
		case p.is("RECORDWRITER") || p.is("RECORDREADER"):
			p.step(2)
		case p.take("AS"):
			col := func() { t.Columns = append(t.Columns, p.fieldDef()) }
			if !p.group(func() { p.list(col) }) {
				p.list(col)
			}
		default:
			t.Span = p.from(start)
			return t
		}
	}
	t.Span = p.from(start)
	return t
}
