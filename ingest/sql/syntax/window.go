package syntax

// over reads what follows OVER: a name, or a window in parentheses.
func (p *parser) over() *Window {
	start := p.pos()
	w := &Window{}
	if !p.at('(') {
		w.Name = p.ident()
		w.Span = p.from(start)
		return w
	}
	open := p.i
	p.next()
	p.windowBody(w)
	p.want(open, ')')
	w.Span = p.from(start)
	return w
}

func (p *parser) windowBody(w *Window) {
	for !p.broken && !p.at(')') {
		switch {
		case p.take("PARTITION", "BY"), p.take("DISTRIBUTE", "BY"), p.take("CLUSTER", "BY"):
			p.list(func() { w.Partition = append(w.Partition, p.expr()) })
		case p.take("ORDER", "BY"), p.take("SORT", "BY"):
			w.Order = append(w.Order, p.orderItems()...)
		case (p.is("ROWS") || p.is("RANGE") || p.is("GROUPS")) && !p.atAhead(1, ')'):
			s := p.pos()
			for !p.at(')') && !p.ended() && !p.is("PATTERN") && !p.is("AFTER") && !p.is("DEFINE") && !p.is("INITIAL") {
				p.skip()
			}
			w.Frame = p.from(s)
		case p.take("MEASURES"):
			p.list(func() { w.Measures = append(w.Measures, p.selectItem()) })
		case p.is("PATTERN") && p.atAhead(1, '('):
			p.next()
			p.skip()
		case p.is("DEFINE") || p.is("SUBSET"):
			var m MatchRecognize
			p.define(&m)
			w.Define = m.Define
		case p.take("AFTER", "MATCH"):
			for !p.is("PATTERN") && !p.at(')') && !p.ended() {
				p.skip()
			}
		case p.takeOne("INITIAL", "SEEK"):
		case w.Name.Text == "" && p.identAhead(0) && len(w.Partition) == 0 && len(w.Order) == 0:
			w.Name = p.ident()
		default:
			return
		}
	}
}

// orderItems reads the keys after ORDER BY.
func (p *parser) orderItems() []OrderItem {
	var items []OrderItem
	p.take("SIBLINGS")
	p.list(func() { items = append(items, p.orderItem()) })
	return items
}

func (p *parser) orderItem() OrderItem {
	start := p.pos()
	if p.is("ORDER") && p.isAhead(1, "OF") { // Db2's ORDER OF t
		p.step(2)
	}
	o := OrderItem{Expr: p.expr()}
	for !p.broken {
		switch {
		case p.take("DESC"):
			o.Desc = true
			continue
		case p.take("ASC"), p.take("NULLS", "FIRST"), p.take("NULLS", "LAST"):
			continue
		case p.is("USING") && (p.atAhead(1, '<') || p.atAhead(1, '>')):
			p.next()
			o.Desc = p.at('>')
			p.next()
			continue
		case p.is("WITH") && p.isAhead(1, "FILL"):
			p.step(2)
			p.fill()
			continue
		}
		break
	}
	o.Span = p.from(start)
	return o
}

// fill reads ClickHouse's WITH FILL FROM … TO … STEP ….
func (p *parser) fill() {
	for p.takeOne("FROM", "TO", "STEP", "STALENESS") {
		p.expr()
	}
	if p.take("INTERPOLATE") && p.at('(') {
		p.skip()
	}
}
