package syntax

func (p *parser) sampleAhead() bool {
	return p.ahead(1).kind == tNumber || p.atAhead(1, '(') || p.isAhead(1, "BLOCK") || p.isAhead(1, "ROW") || p.isAhead(1, "BERNOULLI") || p.isAhead(1, "SYSTEM")
}

func (p *parser) refSample(ref TableRef, x Expr) {
	if t, ok := ref.(*Table); ok {
		t.Sample = x
		t.Span = p.from(t.Start)
	}
}

// lateAlias reads an alias that follows a sample.
func (p *parser) lateAlias(start int32, ref TableRef) {
	switch r := ref.(type) {
	case *Table:
		if r.Alias.End == 0 {
			p.alias(&r.Alias, true)
		}
		r.Span = p.from(start)
	case *Derived:
		if r.Alias.End == 0 {
			p.alias(&r.Alias, true)
		}
		r.Span = p.from(start)
	}
}

// sample reads TABLESAMPLE (…), SAMPLE …, USING SAMPLE ….
func (p *parser) sample() Expr {
	start := p.pos()
	p.take("USING")
	p.next()
	if !p.at('(') && p.tok().kind == tWord {
		p.next() // the method
	}
	switch {
	case p.at('('):
		p.skip()
	case p.tok().kind == tNumber:
		p.next()
		if p.at('/') {
			p.step(2)
		}
		p.takeOne("ROWS", "PERCENT")
		p.eat('%')
	}
	if p.take("OFFSET") {
		p.expr()
	}
	if (p.is("REPEATABLE") || p.is("SEED")) && p.atAhead(1, '(') {
		p.next()
		p.skip()
	}
	return &Literal{Span: p.from(start), Kind: "SAMPLE", Value: p.since(start)}
}
