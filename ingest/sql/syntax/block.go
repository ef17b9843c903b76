package syntax

// blockEnd tells whether a word stands here that ends the statements of a
// block.
func (p *parser) blockEnd() bool {
	switch p.word() {
	case "END", "ELSE", "ELSIF", "ELSEIF", "EXCEPTION", "UNTIL":
		return true
	case "WHEN":
		return p.handlers > 0
	}
	return false
}

// statements reads statements up to the end of the block.
func (p *parser) statements(b *Block) {
	if !p.enter() {
		p.leave()
		return
	}
	p.block++
	for !p.broken {
		switch k := p.tok().kind; k {
		case tSemi:
			p.next()
			continue
		case tEnd, tHard, tLine:
			p.block--
			p.leave()
			return
		}
		if p.blockEnd() {
			break
		}
		depth := p.depth
		if st := p.statement(); st != nil {
			b.Statements = append(b.Statements, st)
		}
		p.depth = depth
	}
	p.block--
	p.leave()
}

// begin reads BEGIN … END, or BEGIN as the start of a transaction.
func (p *parser) begin(start int32) Body {
	next := p.ahead(1)
	switch p.wordAhead(1) {
	case "TRANSACTION", "TRAN", "WORK", "ISOLATION", "READ", "DEFERRED", "IMMEDIATE", "EXCLUSIVE", "DISTRIBUTED", "NAME":
		return p.known(start, "BEGIN")
	case "STATEMENT":
		if p.isAhead(2, "SET") {
			p.step(3)
			return p.beginBody(start, "STATEMENT SET")
		}
	}
	if next.kind == tEnd || next.kind == tSemi || next.kind == tHard {
		if p.block > 0 && next.kind == tSemi && !p.isAhead(2, "END") || !(next.kind == tSemi && p.isAhead(2, "END")) {
			return p.known(start, "BEGIN")
		}
	}
	p.next()
	p.takeOne("TRY", "CATCH", "NOT", "ATOMIC")
	p.take("ATOMIC")
	if p.is("WITH") && p.atAhead(1, '(') { // tsql's natively compiled
		p.next()
		p.skip()
	}
	return p.beginBody(start, "BEGIN")
}

// beginBody reads statements up to END, and the handlers of exceptions.
func (p *parser) beginBody(start int32, what string) Body {
	b := &Block{What: what}
	p.blockBody(b)
	b.Span = p.from(start)
	return b
}

func (p *parser) blockBody(b *Block) {
	first := p.i
	p.statements(b)
	for p.is("EXCEPTION") && !p.broken {
		p.next()
		p.handlers++
		for p.take("WHEN") && !p.broken {
			for !p.is("THEN") && !p.ended() {
				p.skip()
			}
			p.take("THEN")
			p.statements(b)
		}
		p.handlers--
	}
	if p.broken {
		return
	}
	if !p.take("END") {
		p.warn(Span{p.toks[max(first-1, 0)].start, p.last()}, "a block without END")
		return
	}
	p.blockLabel()
}

// blockLabel reads what may follow END.
func (p *parser) blockLabel() {
	if p.takeOne("IF", "LOOP", "WHILE", "CASE", "FOR", "REPEAT", "TRY", "CATCH") {
		p.takeLabel()
		return
	}
	p.takeLabel()
}

func (p *parser) takeLabel() {
	if p.tok().kind == tQuoted || p.tok().kind == tWord && !p.has(headWord|clause|setWord) && !p.blockEnd() {
		p.next()
	}
}

// declare reads DECLARE: one declaration, or those before a BEGIN with the
// block itself.
func (p *parser) declare(start int32) Body {
	p.next()
	b := &Block{What: "DECLARE"}
	if p.tok().kind == tVar && (p.isAhead(1, "TABLE") || p.isAhead(2, "TABLE")) {
		c := &CreateTable{Temporary: true, Name: p.tableName()}
		p.take("AS")
		p.next()
		t := &definition{table: c}
		p.definition(t)
		c.Span = p.from(start)
		return c
	}
	p.declarations(b)
	if p.is("BEGIN") && !p.broken && !p.isAhead(1, "TRANSACTION") && !p.isAhead(1, "TRAN") {
		p.next()
		b.What = "BEGIN"
		p.blockBody(b)
	}
	b.Span = p.from(start)
	return b
}

// declarations reads declarations as long as they follow one another.
func (p *parser) declarations(b *Block) {
	for !p.broken && !(p.is("BEGIN") && p.sections()) {
		p.declaration(b)
		if p.tok().kind != tSemi || !p.declarationAhead() {
			if p.tok().kind == tSemi && p.isAhead(1, "BEGIN") && p.sections() {
				p.next()
			}
			return
		}
		p.next()
	}
}

// sections tells the dialects whose DECLARE comes before the BEGIN of its
// block.
func (p *parser) sections() bool { return !p.d.LoneDeclare }

// declarationAhead tells whether one more declaration follows the semicolon.
func (p *parser) declarationAhead() bool {
	n := p.ahead(1)
	if n.kind != tWord && n.kind != tQuoted || !p.sections() {
		return false
	}
	switch p.wordAhead(1) {
	case "CURSOR", "TYPE", "SUBTYPE", "PRAGMA", "PROCEDURE", "FUNCTION":
		return true
	}
	if p.d.classes[n.word]&(headWord|clause) != 0 || p.isAhead(1, "EXECUTE") {
		return false
	}
	after := p.ahead(2)
	return after.kind == tWord && p.d.classes[after.word]&(clause|noExpr) == 0 || after.kind == tQuoted
}

// declaration reads one variable, cursor or handler.
func (p *parser) declaration(b *Block) {
	switch {
	case p.is("PROCEDURE") || p.is("FUNCTION"):
		s := p.pos()
		w := p.word()
		st := &Statement{Body: p.createRoutine(s, w)}
		st.Span = p.from(s)
		b.Statements = append(b.Statements, st)
		return
	case (p.is("CONTINUE") || p.is("EXIT") || p.is("UNDO")) && p.isAhead(1, "HANDLER"):
		p.step(2)
		p.take("FOR")
		for !p.ended() && !p.has(headWord) {
			p.skip()
		}
		if !p.ended() {
			p.block++
			b.Statements = append(b.Statements, p.statement())
			p.block--
		}
		return
	case p.is("PRAGMA") || p.is("TYPE") || p.is("SUBTYPE"):
		p.skipToEnd()
		return
	}
	p.take("CURSOR")
	p.takeOne("OR") // Spark's DECLARE OR REPLACE VARIABLE
	p.take("REPLACE")
	if p.is("VARIABLE") && p.identAhead(1) {
		p.next()
	}
	if p.identAhead(0) && !p.blockEnd() {
		b.Params = append(b.Params, p.ident())
		for p.at(',') && p.identAhead(1) {
			p.next()
			b.Params = append(b.Params, p.ident())
		}
	}
	if p.is("EXCEPTION") || p.is("CONDITION") {
		p.skipToEnd()
		return
	}
	for !p.ended() && !p.broken {
		switch {
		case (p.is("FOR") || p.is("IS") || p.is("AS")) && (p.queryHead(p.i+1) || p.queryAt(p.i+1)):
			p.next()
			s := p.pos()
			q := p.query()
			b.Statements = append(b.Statements, &Statement{Span: q.Span, Body: &QueryStatement{Span: p.from(s), Query: q}})
		case p.op(":="), p.at('='), p.is("DEFAULT"):
			p.next()
			b.Conditions = append(b.Conditions, p.expr())
		case p.at(',') && p.ahead(1).kind == tVar: // tsql's list
			p.next()
			if p.isAhead(1, "TABLE") && p.atAhead(2, '(') {
				s := p.pos()
				c := &CreateTable{Temporary: true, Name: p.tableName()}
				p.next()
				p.definitionParen(&definition{table: c})
				c.Span = p.from(s)
				b.Statements = append(b.Statements, &Statement{Span: c.Span, Body: c})
				continue
			}
			b.Params = append(b.Params, p.ident())
		case p.block > 0 && p.blockEnd(), p.is("BEGIN"), p.anotherFollows() && !p.is("CASE"):
			return
		default:
			p.skip()
		}
	}
}
