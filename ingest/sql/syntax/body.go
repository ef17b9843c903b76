package syntax

// body reads what a statement says, by its first word.
func (p *parser) body() Body {
	if !p.enter() {
		p.leave()
		return &Other{Span: p.from(p.pos())}
	}
	defer p.leave()
	start := p.pos()
	switch p.word() {
	case "SELECT", "VALUES", "TABLE", "PIVOT", "UNPIVOT", "SUMMARIZE", "SEL":
		if p.is("TABLE") && !p.identAhead(1) {
			break
		}
		return p.queryStatement(start, nil)
	case "WITH":
		return p.withStatement(start)
	case "FROM":
		return p.fromStatement(start, nil)
	case "INSERT", "REPLACE", "UPSERT":
		if p.is("REPLACE") && p.isAhead(1, "TABLE") && !p.d.Delimiters {
			p.step(2)
			return p.createTable(start, createHead{replace: true})
		}
		return p.insert(start, nil)
	case "UPDATE":
		if p.isAhead(1, "STATISTICS") || p.isAhead(1, "STATS") {
			break
		}
		return p.update(start, nil)
	case "DELETE", "DEL":
		return p.delete(start, nil)
	case "MERGE":
		return p.merge(start, nil)
	case "CREATE":
		return p.create(start)
	case "ALTER":
		return p.alter(start)
	case "DROP":
		if !p.isAhead(1, "STATS") {
			return p.drop(start)
		}
	case "TRUNCATE":
		return p.truncate(start)
	case "RENAME", "EXCHANGE":
		return p.rename(start)
	case "USE":
		return p.use(start)
	case "SET":
		return p.set(start)
	case "EXPLAIN", "DESCRIBE", "DESC":
		return p.explain(start)
	case "COPY", "LOAD", "UNLOAD", "EXPORT", "IMPORT":
		return p.copy(start)
	case "CACHE":
		return p.cache(start)
	case "BEGIN":
		return p.begin(start)
	case "DECLARE":
		return p.declare(start)
	case "IF", "WHILE", "LOOP", "REPEAT", "FOR", "FOREACH", "FORALL", "CASE":
		if b := p.control(start); b != nil {
			return b
		}
	case "EXECUTE", "EXEC", "STATEMENT":
		if b := p.execute(start); b != nil {
			return b
		}
	case "RETURN", "LET", "PERFORM", "DO":
		if b := p.scripted(start); b != nil {
			return b
		}
	case "":
		if p.at('(') {
			return p.queryStatement(start, nil)
		}
		if p.at('<') && p.atAhead(1, '<') || p.op("<<") { // a label
			for !p.ended() && !p.at('>') && !p.op(">>") {
				p.next()
			}
			for p.at('>') || p.op(">>") {
				p.next()
			}
			if p.ended() || p.blockEnd() {
				return &Other{Span: p.from(start), Verb: "LABEL", Known: true}
			}
			return p.body()
		}
	case "PROCEDURE", "FUNCTION", "TRIGGER", "PACKAGE": // without CREATE, as tools show them
		if p.identAhead(1) {
			return p.createRoutine(start, p.word())
		}
	case "COMPILE":
		run := p.seq("COMPILE", "AND", "EXECUTE", "PLAN")
		if (run || p.seq("COMPILE", "PLAN")) && p.seek("FOR") {
			inner := p.body()
			if run {
				return inner
			}
			return &Explain{Span: p.from(start), Inner: inner} // Flink's plan of a statement that does not run
		}
	case "SUBMIT":
		if p.seq("SUBMIT", "TASK") {
			p.next()
			return p.createRoutine(start, "TASK")
		}
	case "BULK":
		if p.seq("BULK", "INSERT") {
			p.next()
			return p.copy(start)
		}
	case "DUMP":
		if p.isAhead(1, "DATA") {
			return p.copy(start)
		}
	}
	if b := p.assignment(start); b != nil {
		return b
	}
	if p.block > 0 {
		if b := p.inBlock(start); b != nil {
			return b
		}
	}
	return p.otherStatement(start)
}

// execute reads EXECUTE IMMEDIATE, EXECUTE STATEMENT SET, EXECUTE INSERT; nil
// where it is a call.
func (p *parser) execute(start int32) Body {
	switch {
	case p.seq("EXECUTE", "IMMEDIATE"):
		p.step(2)
		return p.executeImmediate(start)
	case p.seq("EXECUTE", "STATEMENT", "SET"), p.seq("STATEMENT", "SET"):
		p.take("EXECUTE")
		p.step(2)
		if !p.take("BEGIN") {
			return p.known(start, "STATEMENT SET")
		}
		return p.beginBody(start, "STATEMENT SET")
	case p.is("STATEMENT"):
		return nil
	case (p.is("EXECUTE") || p.is("EXEC")) && (p.atAhead(1, '(') || p.ahead(1).kind == tString):
		p.next()
		return p.executeImmediate(start)
	case p.is("EXECUTE") && (p.isAhead(1, "INSERT") || p.isAhead(1, "SELECT")):
		p.next()
		return p.body()
	case p.is("EXECUTE") && p.block > 0 && p.d.CustomOperators:
		p.next()
		return p.executeImmediate(start)
	}
	return nil
}

// scripted reads statements of scripts that hold an expression or text.
func (p *parser) scripted(start int32) Body {
	w := p.word()
	switch {
	case w == "DO" && p.ahead(1).kind == tString:
		p.next()
		b := &Block{What: "DO", Statements: p.inside(p.tok())}
		p.skipToEnd()
		b.Span = p.from(start)
		return b
	case w == "LET":
		p.next()
		s := &Set{}
		at := p.pos()
		for !p.ended() && !p.op(":=") && !p.at('=') && !p.is("DEFAULT") && !p.is("FOR") {
			p.skip()
		}
		s.Name = p.since(at)
		if !p.ended() {
			p.next()
			if p.queryHead(p.i) || p.queryAt(p.i) {
				q := p.query()
				s.Value = &Sub{Span: q.Span, Kind: "SCALAR", Query: q}
			} else {
				s.Value = p.expr()
			}
		}
		s.Span = p.from(start)
		return s
	case w == "RETURN" && p.block > 0:
		return p.returned(start)
	case w == "PERFORM":
		p.next()
		s := &Select{}
		p.selectList(s)
		p.clauses(s)
		s.Span = p.from(start)
		q := &Query{Span: s.Span, Body: s}
		p.tail(q)
		q.Span = p.from(start)
		return &QueryStatement{Span: q.Span, Query: q}
	}
	return nil
}

// returned reads RETURN e, RETURN QUERY query, RETURN TABLE (query).
func (p *parser) returned(start int32) Body {
	p.next()
	p.take("QUERY")
	p.take("TABLE")
	if p.take("EXECUTE") {
		return p.executeImmediate(start)
	}
	if p.ended() || p.blockEnd() {
		return &Other{Span: p.from(start), Verb: "RETURN", Known: true}
	}
	if p.queryHead(p.i) || p.queryAt(p.i) {
		q := p.query()
		return &QueryStatement{Span: p.from(start), Query: q}
	}
	s := &Set{Name: "RETURN"}
	p.take("NEXT")
	if !p.ended() {
		s.Value = p.expr()
	}
	s.Span = p.from(start)
	return s
}

// inBlock reads what only blocks hold: labels, calls without CALL.
func (p *parser) inBlock(start int32) Body {
	if p.tok().kind == tWord && p.atAhead(1, ':') {
		p.step(2)
		if p.ended() {
			return &Other{Span: p.from(start), Verb: "LABEL", Known: true}
		}
		return p.body()
	}
	if _, ok := otherHeads[p.word()]; !ok && (p.tok().kind == tWord || p.tok().kind == tQuoted) {
		n := 1
		for p.atAhead(n, '.') {
			n += 2
		}
		if k := p.ahead(n); k.kind == tSemi || k.ch == '(' || k.kind == tEnd {
			s := &Set{Name: "CALL"}
			s.Value = p.expr()
			s.Span = p.from(start)
			return s
		}
	}
	return nil
}

func (p *parser) other(start int32) Body {
	o := &Other{Verb: p.word()}
	p.skipToEnd()
	o.Span = p.from(start)
	p.fail(o.Span, "a statement of an unknown kind")
	return o
}

func (p *parser) queryStatement(start int32, with *With) Body {
	p.outfile = ""
	q := p.query()
	if with != nil {
		q.With, q.Start = with, start
	}
	if p.outfile != "" { // SELECT … INTO OUTFILE
		return &Copy{Span: p.from(start), Verb: "OUTFILE", Query: q, Paths: []string{p.outfile}}
	}
	return &QueryStatement{Span: p.from(start), Query: q}
}

// withStatement reads WITH and the statement that it is for.
func (p *parser) withStatement(start int32) Body {
	with := p.with()
	switch p.word() {
	case "INSERT", "REPLACE", "UPSERT":
		return p.insert(start, with)
	case "FROM":
		return p.fromStatement(start, with)
	case "UPDATE":
		return p.update(start, with)
	case "DELETE":
		return p.delete(start, with)
	case "MERGE":
		return p.merge(start, with)
	case "CREATE": // Teradata's and tsql's of old
		b := p.create(start)
		if c, ok := b.(*CreateTable); ok {
			c.With, c.Start = with, start
			return c
		}
		p.warn(with.Span, "WITH before a CREATE that is no table's: left out")
		return b
	}
	return p.queryStatement(start, with)
}

// fromStatement reads FROM … SELECT … and Hive's FROM … INSERT … INSERT ….
func (p *parser) fromStatement(start int32, with *With) Body {
	if !p.multiAhead() {
		return p.queryStatement(start, with)
	}
	p.next()
	m := &Multi{With: with}
	m.From = p.fromList()
	var pre Select // clauses before the first INSERT
	p.clauses(&pre)
	for p.is("INSERT") && !p.broken {
		s := p.pos()
		if in, ok := p.insert(s, nil).(*Insert); ok {
			m.Inserts = append(m.Inserts, in)
		}
	}
	m.Span = p.from(start)
	return m
}

// multiAhead tells whether INSERT follows the FROM here.
func (p *parser) multiAhead() bool {
	for i := p.i; i < len(p.toks); i++ {
		p.work++
		t := &p.toks[i]
		if t.mate > int32(i) {
			i = int(t.mate)
			continue
		}
		switch {
		case t.kind == tEnd, t.kind == tSemi, t.kind == tHard, t.ch == ')':
			return false
		case t.wordIs(p.text, "INSERT"):
			return true
		case t.wordIs(p.text, "SELECT"):
			return false
		}
	}
	return false
}
