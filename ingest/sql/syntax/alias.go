package syntax

// alias reads an alias with its columns into a, if one stands here.
func (p *parser) alias(a *Alias, columns bool) bool {
	start := p.pos()
	switch {
	case p.is("AS") && p.atAhead(1, '(') && !p.queryAt(p.i+1):
		p.next() // AS (a, b): columns without a name
		p.aliasColumns(a, nil)
		a.Span = p.from(start)
		return true
	case p.is("AS") && (p.identAhead(1) || p.ahead(1).kind == tString):
		p.next()
		a.Name = p.ident()
	case p.bareAlias() && !p.has(joinWord), p.tok().kind == tQuoted, p.bareAlias() && !p.joinAhead():
		a.Name = p.ident()
	case p.tok().kind == tString && p.d.DoubleQuoteString:
		a.Name = p.ident()
	default:
		return false
	}
	if columns && p.at('(') && !p.queryAt(p.i) && !p.outerMark() {
		p.aliasColumns(a, nil)
	}
	a.Span = p.from(start)
	return true
}

// aliasColumns reads (a, b) or (a INT, b TEXT) after an alias; the latter go
// to defs where it is given.
func (p *parser) aliasColumns(a *Alias, defs *[]ColumnDef) {
	p.group(func() {
		p.list(func() {
			if !p.identAhead(0) {
				return
			}
			start := p.pos()
			id := p.ident()
			a.Columns = append(a.Columns, id)
			if !p.at(',') && !p.at(')') {
				t := p.typ()
				if defs != nil {
					*defs = append(*defs, ColumnDef{Span: p.from(start), Name: Name{Span: id.Span, Parts: []Ident{id}}, Type: t})
				}
			}
		})
	})
}
