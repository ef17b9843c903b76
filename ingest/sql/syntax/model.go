package syntax

// A Model is Oracle's MODEL clause: rows as cells, which rules compute.
type Model struct {
	Span
	Partition, Dimensions, Measures []SelectItem
	// References are the queries of other models that the rules may read.
	References []*Query
	Rules      []Rule
}

// A Rule computes cells of a measure.
type Rule struct {
	Span
	Cell  Expr // an Index of the measure
	Value Expr
}

func inspectModel(m *Model, f func(Node) bool) {
	if !f(m) {
		return
	}
	for _, q := range m.References {
		query(q, f)
	}
	items(m.Partition, f)
	items(m.Dimensions, f)
	items(m.Measures, f)
	for i := range m.Rules {
		if r := &m.Rules[i]; f(r) {
			expr(r.Cell, f)
			expr(r.Value, f)
		}
	}
}

// model reads MODEL up to the end of its rules.
func (p *parser) model() *Model {
	start := p.pos()
	m := &Model{}
	p.next()
	p.modelOptions()
	for p.is("REFERENCE") && !p.broken {
		p.next()
		p.name()
		p.take("ON")
		if p.queryAt(p.i) {
			m.References = append(m.References, p.parenQuery())
		}
		for p.is("DIMENSION") || p.is("MEASURES") {
			p.next()
			p.take("BY")
			p.skip()
		}
		p.modelOptions()
	}
	if p.take("MAIN") {
		p.name()
	}
	for !p.broken {
		switch {
		case p.take("PARTITION", "BY"):
			m.Partition = append(m.Partition, p.modelItems()...)
		case p.take("DIMENSION", "BY"):
			m.Dimensions = append(m.Dimensions, p.modelItems()...)
		case p.take("MEASURES"):
			m.Measures = append(m.Measures, p.modelItems()...)
		default:
			p.modelOptions()
			p.rules(m)
			m.Span = p.from(start)
			return m
		}
	}
	m.Span = p.from(start)
	return m
}

// modelOptions steps over what the cells are like and which rows come back.
func (p *parser) modelOptions() {
	for p.take("IGNORE", "NAV") || p.take("KEEP", "NAV") || p.take("UNIQUE", "DIMENSION") || p.take("UNIQUE", "SINGLE", "REFERENCE") ||
		p.take("RETURN", "UPDATED", "ROWS") || p.take("RETURN", "ALL", "ROWS") {
	}
}

func (p *parser) modelItems() []SelectItem {
	var items []SelectItem
	p.group(func() { p.list(func() { items = append(items, p.selectItem()) }) })
	return items
}

// rules reads RULES … (cell = value, …).
func (p *parser) rules(m *Model) {
	p.take("RULES")
	for p.takeOne("UPDATE", "UPSERT", "ALL") || p.take("AUTOMATIC", "ORDER") || p.take("SEQUENTIAL", "ORDER") {
	}
	if p.take("ITERATE") {
		p.skip()
		if p.take("UNTIL") {
			p.skip()
		}
	}
	p.group(func() {
		if p.at(')') {
			return
		}
		p.list(func() {
			start := p.pos()
			for p.takeOne("UPDATE", "UPSERT", "ALL") {
			}
			r := Rule{Cell: p.cell()}
			if p.take("ORDER", "BY") {
				p.orderItems()
			}
			if !p.eat('=') {
				p.skipInside()
				p.warn(p.from(start), "a rule of MODEL was not understood: skipped")
				return
			}
			r.Value = p.expr()
			r.Span = p.from(start)
			m.Rules = append(m.Rules, r)
		})
	})
}

// cell reads a measure with its dimensions: s['a', year > 2000], s[FOR y IN (1, 2)].
func (p *parser) cell() Expr {
	start := p.pos()
	ref := &Ref{p.name()}
	if !p.at('[') {
		return ref
	}
	p.skip()
	return &Index{Span: p.from(start), X: ref}
}
