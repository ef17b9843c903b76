package syntax

// pipes reads BigQuery's |> steps.
func (p *parser) pipes(q *Query) {
	for p.op("|>") && !p.broken {
		start := p.pos()
		p.next()
		step := Pipe{Verb: p.word()}
		switch step.Verb {
		case "WHERE", "HAVING", "QUALIFY":
			p.next()
			step.Select = &Select{}
			step.Select.Where = p.expr()
			step.Select.Span = p.from(start + 2)
		case "SELECT", "EXTEND", "SET", "CALL", "AGGREGATE", "DROP", "RENAME":
			p.pipeItems(&step)
		case "ORDER":
			p.next()
			p.take("BY")
			step.Order = p.orderItems()
		case "LIMIT":
			p.next()
			step.Limit = p.expr()
			if p.take("OFFSET") {
				p.expr()
			}
		case "AS":
			p.next()
			step.Select = &Select{}
			s := p.pos()
			id := p.ident()
			step.Select.Items = []SelectItem{{Span: p.from(s), Expr: &Ref{Name{Span: id.Span, Parts: []Ident{id}}}}}
			step.Select.Span = id.Span
		default:
			if p.joinAhead() {
				step.Verb = "JOIN"
				if j, ok := p.join(p.pos(), nil).(*Join); ok {
					step.Join = j
				}
				break
			}
			p.pipeOther(&step)
		}
		step.Span = p.from(start)
		q.Pipes = append(q.Pipes, step)
	}
}

// pipeItems reads a step that lists items.
func (p *parser) pipeItems(step *Pipe) {
	p.next()
	s := &Select{}
	start := p.pos()
	p.selectModifiers(s)
	if !p.is("GROUP") {
		p.list(func() {
			at := p.pos()
			x := p.selectItem()
			if p.takeOne("ASC", "DESC") {
				x.Span = p.from(at)
			}
			s.Items = append(s.Items, x)
		})
	}
	if p.take("GROUP") {
		if !p.take("BY") {
			p.take("AND", "ORDER", "BY")
		}
		g := &GroupBy{}
		at := p.pos()
		p.list(func() {
			x := p.selectItem()
			p.takeOne("ASC", "DESC")
			g.Keys = append(g.Keys, x.Expr)
			step.groupItem(x)
		})
		g.Span = p.from(at)
		s.GroupBy = g
	}
	p.windowsIfAny(s)
	s.Span = p.from(start)
	step.Select = s
}

func (p *parser) windowsIfAny(s *Select) {
	if p.is("WINDOW") {
		p.windows(s)
	}
}

// groupItem keeps a key of AGGREGATE … GROUP BY with its alias.
func (s *Pipe) groupItem(x SelectItem) { s.Keys = append(s.Keys, x) }

// pipeOther reads a set operator, a pivot, a sample; what is none of them is
// skipped.
func (p *parser) pipeOther(step *Pipe) {
	start := p.pos()
	switch step.Verb {
	case "UNION", "INTERSECT", "EXCEPT":
		if op := p.setOp(); op != nil {
			step.SetOp = op
			p.list(func() { step.Queries = append(step.Queries, p.setPrimary()) })
			op.Span = p.from(start)
		}
	case "PIVOT", "UNPIVOT":
		none := &Table{Span: Span{start, start}}
		step.Select = &Select{Span: Span{start, start}, From: []TableRef{p.refSuffixes(start, none)}}
		step.Select.Span = p.from(start)
	case "TABLESAMPLE":
		p.sample()
	default:
		p.skipTo(0, "a pipe step")
	}
}
