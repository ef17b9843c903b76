package syntax

// pivot reads PIVOT (aggregates FOR columns IN (values)).
func (p *parser) pivot(start int32, source TableRef) TableRef {
	pv := &Pivot{Source: source}
	p.next()
	p.take("XML")
	open := p.i
	p.next()
	p.list(func() { pv.Aggregates = append(pv.Aggregates, p.selectItem()) })
	for p.take("FOR") && !p.broken {
		p.pivotFor(pv)
		for before := -1; before != p.i && p.identAhead(0) && p.isAhead(1, "IN"); { // DuckDB: several without FOR
			before = p.i
			p.pivotFor(pv)
		}
	}
	if p.take("DEFAULT", "ON", "NULL") {
		p.skip()
	}
	if p.take("GROUP", "BY") {
		pv.GroupBy = p.groupBy()
	}
	p.want(open, ')')
	p.alias(&pv.Alias, true)
	pv.Span = p.from(start)
	return pv
}

func (p *parser) pivotFor(pv *Pivot) {
	if p.at('(') {
		p.group(func() { p.list(func() { pv.For = append(pv.For, p.climb(precOther)) }) })
	} else {
		pv.For = append(pv.For, p.climb(precOther))
	}
	if !p.take("IN") {
		return
	}
	if !p.at('(') { // an enum's name
		p.name()
		pv.Any = true
		return
	}
	if p.queryAt(p.i) {
		p.parenQuery()
		pv.Any = true
		return
	}
	p.group(func() {
		if p.is("ANY") || p.is("SELECT") {
			pv.Any = true
			p.next()
			for !p.at(')') && !p.ended() {
				p.skip()
			}
			return
		}
		p.list(func() { pv.In = append(pv.In, p.selectItem()) })
	})
}

// unpivot reads UNPIVOT (values FOR names IN (columns)).
func (p *parser) unpivot(start int32, source TableRef) TableRef {
	u := &Unpivot{Source: source}
	p.next()
	if p.takeOne("INCLUDE", "EXCLUDE") {
		p.take("NULLS")
	}
	open := p.i
	p.next()
	p.names(func(id Ident) { u.Values = append(u.Values, id) })
	if p.take("FOR") {
		p.names(func(id Ident) { u.Names = append(u.Names, id) })
	}
	if p.take("IN") {
		p.group(func() { p.list(func() { p.unpivotGroup(u) }) })
	}
	p.want(open, ')')
	p.alias(&u.Alias, true)
	u.Span = p.from(start)
	return u
}

// unpivotGroup reads one column, or as many as there are values, and its
// label.
func (p *parser) unpivotGroup(u *Unpivot) {
	var group []Expr
	x := p.expr()
	if l, ok := x.(*List); ok && l.Kind == "ROW" {
		for _, it := range l.Items {
			group = append(group, it.Expr)
		}
	} else {
		group = []Expr{x}
	}
	var label Expr
	if p.take("AS") || p.bareAlias() || p.tok().kind == tString {
		label = p.climb(precOther)
	}
	u.In = append(u.In, group)
	u.Labels = append(u.Labels, label)
}

// pivotStatement reads DuckDB's PIVOT t ON c USING a GROUP BY k, UNPIVOT t ON
// c INTO NAME n VALUE v, SUMMARIZE t; nil where it is none of them.
func (p *parser) pivotStatement(start int32) SetExpr {
	what := p.word()
	if p.atAhead(1, '(') && !p.queryAt(p.i+1) && what != "PIVOT" && what != "UNPIVOT" {
		return nil
	}
	p.next()
	star := SelectItem{Span: Span{start, start}, Expr: &Star{Span: Span{start, start}}}
	s := &Select{Items: []SelectItem{star}}
	source := p.tableRefNoPivot()
	switch what {
	case "PIVOT":
		s.From = []TableRef{p.pivotOn(start, source)}
	case "UNPIVOT":
		s.From = []TableRef{p.unpivotOn(start, source)}
	default:
		s.From = []TableRef{source}
	}
	s.Span = p.from(start)
	return s
}

func (p *parser) tableRefNoPivot() TableRef {
	if p.queryHead(p.i) {
		q := p.query()
		return &Derived{Span: q.Span, Query: q}
	}
	return p.tablePrimary()
}

func (p *parser) pivotOn(start int32, source TableRef) *Pivot {
	pv := &Pivot{Source: source, Any: true}
	if p.take("ON") {
		p.list(func() {
			pv.For = append(pv.For, p.climb(precOther))
			if p.take("IN") {
				pv.Any = false
				p.group(func() { p.list(func() { pv.In = append(pv.In, p.selectItem()) }) })
			}
		})
	}
	if p.take("USING") {
		p.list(func() { pv.Aggregates = append(pv.Aggregates, p.selectItem()) })
	}
	if p.take("GROUP", "BY") {
		pv.GroupBy = p.groupBy()
	}
	pv.Span = p.from(start)
	return pv
}

func (p *parser) unpivotOn(start int32, source TableRef) *Unpivot {
	u := &Unpivot{Source: source}
	if p.take("ON") {
		p.list(func() { p.unpivotGroup(u) })
	}
	if p.take("INTO", "NAME") {
		u.Names = append(u.Names, p.ident())
		p.take("VALUE")
		p.list(func() { u.Values = append(u.Values, p.ident()) })
	}
	u.Span = p.from(start)
	return u
}
