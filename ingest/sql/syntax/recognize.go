package syntax

// matchRecognize reads MATCH_RECOGNIZE (…).
func (p *parser) matchRecognize(start int32, source TableRef) TableRef {
	m := &MatchRecognize{Source: source}
	p.next()
	open := p.i
	p.next()
	for !p.broken && !p.at(')') {
		switch {
		case p.take("PARTITION", "BY"):
			p.list(func() { m.Partition = append(m.Partition, p.expr()) })
		case p.take("ORDER", "BY"):
			m.Order = p.orderItems()
		case p.take("MEASURES"):
			p.list(func() { m.Measures = append(m.Measures, p.selectItem()) })
		case p.take("ONE", "ROW", "PER", "MATCH"):
		case p.take("ALL", "ROWS", "PER", "MATCH"):
			m.AllRows = true
			p.takeOne("SHOW", "OMIT")
			p.take("WITH")
			p.take("EMPTY", "MATCHES")
			p.take("UNMATCHED", "ROWS")
		case p.take("AFTER", "MATCH"):
			for !p.is("PATTERN") && !p.ended() && !p.at(')') && !p.is("MEASURES") {
				p.skip()
			}
		case p.is("PATTERN") && p.atAhead(1, '('):
			p.next()
			p.pattern(m)
		case p.take("WITHIN"):
			p.climb(precOther)
		case p.is("SUBSET"), p.is("DEFINE"):
			p.define(m)
		default:
			p.want(open, ')')
			p.alias(&m.Alias, true)
			m.Span = p.from(start)
			return m
		}
	}
	p.want(open, ')')
	p.alias(&m.Alias, true)
	m.Span = p.from(start)
	return m
}

// define reads SUBSET and DEFINE.
func (p *parser) define(m *MatchRecognize) {
	if p.is("SUBSET") {
		for !p.is("DEFINE") && !p.ended() && !p.at(')') {
			p.skip()
		}
	}
	if !p.take("DEFINE") {
		return
	}
	p.list(func() {
		s := p.pos()
		x := SelectItem{Alias: p.ident()}
		p.take("AS")
		x.Expr = p.expr()
		x.Span = p.from(s)
		m.Define = append(m.Define, x)
	})
}

// pattern reads the variables of a pattern, each of them once.
func (p *parser) pattern(m *MatchRecognize) {
	mate := int(p.tok().mate)
	if mate == 0 {
		p.skip()
		return
	}
	for p.next(); p.i < mate; p.next() {
		if t := p.tok(); (t.kind == tWord || t.kind == tQuoted) && !p.is("PERMUTE") {
			id := Ident{Span: Span{t.start, t.end}, Text: p.textOf(t)}
			if t.kind == tQuoted {
				id.Text, id.Quoted = p.unquote(t), true
			}
			known := false
			for _, v := range m.Variables {
				known = known || v.Text == id.Text
			}
			if !known && len(m.Variables) < 64 {
				m.Variables = append(m.Variables, id)
			}
		}
	}
	p.next()
}
