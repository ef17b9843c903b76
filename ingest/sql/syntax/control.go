package syntax

// control reads IF, WHILE, LOOP, FOR, REPEAT, CASE as statements; nil where the
// word begins something else.
func (p *parser) control(start int32) Body {
	b := &Block{What: p.word()}
	switch b.What {
	case "IF":
		return p.ifStatement(start, b)
	case "WHILE":
		p.next()
		b.Conditions = append(b.Conditions, p.expr())
		p.takeOne("DO", "LOOP")
		p.loopBody(b)
	case "LOOP":
		p.next()
		p.loopBody(b)
	case "REPEAT":
		p.next()
		p.statements(b)
		if p.take("UNTIL") {
			b.Conditions = append(b.Conditions, p.expr())
		}
		if p.take("END") {
			p.blockLabel()
		}
	case "FOR", "FOREACH", "FORALL":
		p.forLoop(b)
	case "CASE":
		p.caseStatement(b)
	default:
		return nil
	}
	b.Span = p.from(start)
	return b
}

// loopBody reads a loop's statements; in tsql, the one statement that it has.
func (p *parser) loopBody(b *Block) {
	if p.d.NoSemicolons {
		p.single(b)
		return
	}
	p.statements(b)
	if p.take("END") {
		p.blockLabel()
	} else if !p.broken {
		p.warn(Span{p.last(), p.last()}, "a loop without END")
	}
}

// single reads one statement, perhaps BEGIN … END.
func (p *parser) single(b *Block) {
	p.block++
	if st := p.statement(); st != nil {
		b.Statements = append(b.Statements, st)
	}
	p.block--
}

func (p *parser) ifStatement(start int32, b *Block) Body {
	p.next()
	b.Conditions = append(b.Conditions, p.expr())
	if !p.is("THEN") && p.d.NoSemicolons { // tsql
		p.single(b)
		if p.tok().kind == tSemi && p.isAhead(1, "ELSE") {
			p.next()
		}
		if p.take("ELSE") {
			p.single(b)
		}
		b.Span = p.from(start)
		return b
	}
	if !p.take("THEN") {
		p.warn(Span{p.pos(), p.tok().end}, "IF without THEN")
	}
	p.statements(b)
	for !p.broken {
		switch {
		case p.takeOne("ELSIF", "ELSEIF"):
			b.Conditions = append(b.Conditions, p.expr())
			p.take("THEN")
			p.statements(b)
			continue
		case p.take("ELSE"):
			p.statements(b)
			continue
		}
		break
	}
	if p.take("END") {
		p.blockLabel()
	} else {
		p.warn(p.from(start), "IF without END")
	}
	b.Span = p.from(start)
	return b
}

// forLoop reads FOR r IN (query) LOOP … END LOOP and its kin.
func (p *parser) forLoop(b *Block) {
	p.next()
	if p.identAhead(0) {
		b.Params = append(b.Params, p.ident())
	}
	for p.eat(',') {
		b.Params = append(b.Params, p.ident())
	}
	p.takeOne("IN", "AS")
	p.take("REVERSE")
	if p.take("CURSOR") {
		p.take("FOR")
	}
	if p.identAhead(0) && p.isAhead(1, "CURSOR") {
		p.step(2)
		p.take("FOR")
	}
	s := p.pos()
	switch {
	case p.queryAt(p.i) || p.queryHead(p.i):
		q := p.query()
		b.Statements = append(b.Statements, &Statement{Span: q.Span, Body: &QueryStatement{Span: p.from(s), Query: q}})
	default:
		for !p.ended() && !p.is("LOOP") && !p.is("DO") && !p.has(headWord) {
			p.skip()
		}
	}
	if p.is("INSERT") || p.is("UPDATE") || p.is("DELETE") || p.is("MERGE") || p.is("SAVE") { // FORALL
		p.take("SAVE")
		p.take("EXCEPTIONS")
		p.single(b)
		return
	}
	p.takeOne("LOOP", "DO")
	p.statements(b)
	if p.take("END") {
		p.blockLabel()
	} else if !p.broken {
		p.warn(Span{p.last(), p.last()}, "a loop without END")
	}
}

func (p *parser) caseStatement(b *Block) {
	p.next()
	if !p.is("WHEN") {
		b.Conditions = append(b.Conditions, p.expr())
	}
	p.handlers++
	for p.take("WHEN") && !p.broken {
		p.list(func() { b.Conditions = append(b.Conditions, p.expr()) })
		p.take("THEN")
		p.statements(b)
	}
	if p.take("ELSE") {
		p.statements(b)
	}
	p.handlers--
	if p.take("END") {
		p.blockLabel()
	}
}

// assignment reads `x := e` as a statement; nil where none stands here.
func (p *parser) assignment(start int32) Body {
	n := 1
	if p.at(':') && p.block > 0 && p.identAhead(1) { // a trigger's :new.a
		n = 2
	} else if !p.identAhead(0) {
		return nil
	}
	for p.atAhead(n, '.') && p.identAhead(n+1) || p.atAhead(n, '(') && p.ahead(n).mate != 0 {
		if p.atAhead(n, '(') {
			n = int(p.ahead(n).mate) - p.i + 1
			continue
		}
		n += 2
	}
	op := p.ahead(n)
	if op.kind != tSym || p.textOf(op) != ":=" && !(op.ch == '=' && p.block > 0) {
		return nil
	}
	s := &Set{Name: p.text[start:p.toks[p.i+n-1].end]}
	p.step(n + 1)
	s.Value = p.expr()
	s.Span = p.from(start)
	return s
}

// executeImmediate reads EXECUTE IMMEDIATE and EXEC ('…'); constant text is
// read as statements.
func (p *parser) executeImmediate(start int32) Body {
	b := &Block{What: "EXECUTE IMMEDIATE"}
	if p.at('(') {
		p.group(func() { p.immediateText(b) })
	} else {
		p.immediateText(b)
	}
	for !p.broken && !p.ended() {
		switch {
		case p.take("BULK", "COLLECT"):
		case p.take("INTO"), p.take("USING"), p.take("RETURNING", "INTO"):
			p.list(func() {
				p.takeOne("IN", "OUT")
				p.item()
			})
		default:
			b.Span = p.from(start)
			return b
		}
	}
	b.Span = p.from(start)
	return b
}

func (p *parser) immediateText(b *Block) {
	if t := p.tok(); t.kind == tString {
		if n := p.ahead(1); n.kind != tSym || n.ch == ')' {
			b.Statements = p.inside(t)
			p.next()
			return
		}
	}
	b.Conditions = append(b.Conditions, p.expr())
}
