package syntax

func (p *parser) onConflict(in *Insert) {
	if p.at('(') {
		p.skip()
		if p.take("WHERE") {
			p.expr()
		}
	} else if p.take("ON", "CONSTRAINT") {
		p.name()
	}
	p.take("DO")
	if p.take("NOTHING") || !p.take("UPDATE") {
		return
	}
	p.take("SET")
	in.Update = p.assignments()
	if p.take("WHERE") {
		in.UpdateWhere = p.expr()
	}
}

// returning reads the items after RETURNING, and the variables after INTO.
func (p *parser) returning() []SelectItem {
	var items []SelectItem
	if p.is("WITH") && p.atAhead(1, '(') { // PostgreSQL's names for OLD and NEW
		p.next()
		p.skip()
	}
	p.list(func() { items = append(items, p.selectItem()) })
	if p.is("BULK") && p.isAhead(1, "COLLECT") {
		p.step(2)
	}
	if p.take("INTO") {
		p.list(func() { p.expr() })
	}
	return items
}

// output reads tsql's OUTPUT … [INTO t (…)].
func (p *parser) output(to *[]SelectItem) {
	p.next()
	p.list(func() { *to = append(*to, p.selectItem()) })
	if p.take("INTO") {
		p.tableOrVariable()
		if p.at('(') && !p.queryAt(p.i) {
			p.skip()
		}
	}
}

func (p *parser) tableOrVariable() {
	if p.tok().kind == tVar {
		p.next()
		return
	}
	p.tableName()
}

// assignments reads a = e, (a, b) = (…), ….
func (p *parser) assignments() []Assignment {
	var as []Assignment
	p.list(func() {
		if p.ended() || p.has(noExpr) && !p.atAhead(1, '.') && !p.atAhead(1, '=') {
			return
		}
		start := p.pos()
		a := Assignment{}
		target := func() {
			if p.identAhead(0) {
				n := p.name()
				for p.at('[') {
					p.skip()
					n.End = p.last()
				}
				a.Targets = append(a.Targets, n)
			} else {
				p.skipInside()
			}
		}
		if !p.group(func() { p.list(target) }) {
			target()
		}
		if !p.eat('=') && !p.eatOp(":=") && !p.eatOp("+=") && !p.eatOp("-=") && !p.eatOp("||=") {
			if p.at(':') && p.atAhead(1, '=') {
				p.step(2)
			} else {
				p.warn(Span{p.pos(), p.tok().end}, "an assignment without =")
			}
		}
		if p.is("DEFAULT") && !p.atAhead(1, '(') {
			p.next()
		} else {
			a.Value = p.expr()
		}
		a.Span = p.from(start)
		as = append(as, a)
	})
	return as
}
