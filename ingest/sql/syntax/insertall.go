package syntax

// firstTable returns the first table that a query reads, nil where that is
// none.
func firstTable(q *Query) *Table {
	for q != nil {
		switch b := q.Body.(type) {
		case *Query:
			q = b
			continue
		case *Select:
			if len(b.From) > 0 {
				t, _ := b.From[0].(*Table)
				return t
			}
		}
		return nil
	}
	return nil
}

// insertAll reads INSERT ALL and INSERT FIRST, with or without conditions.
func (p *parser) insertAll(start int32, with *With) Body {
	p.takeOne("ALL", "FIRST")
	m := &Multi{With: with}
	var when Expr
	s := int32(-1) // where the WHEN of the next INTO begins
	for !p.broken {
		switch {
		case p.is("WHEN"):
			s = p.pos()
			p.next()
			when = p.expr()
			p.take("THEN")
			continue
		case p.take("ELSE"):
			when = nil
			continue
		case p.is("INTO"):
			if s < 0 {
				s = p.pos()
			}
			p.next()
			in := &Insert{Target: p.tableName(), When: when}
			if p.at('(') && !p.queryAt(p.i) {
				p.insertColumns(in)
			}
			if v := p.pos(); p.take("VALUES") {
				vs := p.values(v)
				in.Query = &Query{Span: vs.Span, Body: vs}
			}
			in.Span = p.from(s)
			s = -1
			m.Inserts = append(m.Inserts, in)
			continue
		}
		break
	}
	if !p.ended() {
		s := p.pos()
		q := p.query()
		m.From = []TableRef{&Derived{Span: p.from(s), Query: q}}
	} else {
		p.warn(p.from(start), "INSERT ALL without a query")
	}
	m.Span = p.from(start)
	return m
}
