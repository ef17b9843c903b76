package syntax

import "strings"

// createRoutine reads a procedure, function, trigger, package, event or task
// after its CREATE; nil where it is another object after all.
func (p *parser) createRoutine(start int32, w string) Body {
	if !p.enter() {
		p.leave()
		return &Other{Span: p.from(start)}
	}
	defer p.leave()
	p.next()
	switch w {
	case "AGGREGATE":
		if !p.is("FUNCTION") {
			return p.knownObject(start, "CREATE AGGREGATE")
		}
		p.next()
		w = "FUNCTION"
	case "TYPE":
		if !p.is("BODY") {
			return p.knownObject(start, "CREATE TYPE")
		}
		p.next()
		return p.packageBody(start)
	case "PACKAGE":
		body := p.take("BODY")
		return p.packageOf(start, body)
	case "EVENT", "TASK", "JOB", "PIPE":
		return p.scheduled(start, w)
	case "TRIGGER":
		return p.trigger(start)
	case "PROC":
		w = "PROCEDURE"
	}
	p.ifAbsent()
	b := &Block{What: w, Name: p.name()}
	if p.at(';') { // tsql's proc;1
		p.step(2)
	}
	p.params(b)
	return p.routineBody(start, b)
}

func (p *parser) knownObject(start int32, verb string) Body {
	o := &Other{Verb: verb, Known: true}
	p.skipStatement()
	o.Span = p.from(start)
	return o
}

// params reads the parameters of a routine.
func (p *parser) params(b *Block) {
	one := func() {
		p.takeOne("IN", "OUT", "INOUT", "VARIADIC")
		p.take("OUT")
		if p.identAhead(0) {
			b.Params = append(b.Params, p.ident())
		}
		p.skipInside()
	}
	if p.at('(') {
		p.group(func() {
			if !p.at(')') {
				p.list(one)
			}
		})
		return
	}
	for p.tok().kind == tVar && p.text[p.pos()] == '@' { // tsql without parentheses
		b.Params = append(b.Params, p.ident())
		for !p.at(',') && !p.is("AS") && !p.is("WITH") && !p.ended() {
			p.skip()
		}
		if !p.eat(',') {
			break
		}
	}
}

// routineBody reads what follows a routine's parameters: its attributes and its
// body.
func (p *parser) routineBody(start int32, b *Block) Body {
	language := ""
	for !p.ended() && !p.broken {
		switch {
		case p.is("LANGUAGE"):
			p.next()
			language = p.word()
			if p.tok().kind == tString {
				language = strings.ToUpper(p.unquote(p.tok()))
			}
			p.next()
		case p.is("RETURNS") && p.isAhead(1, "TABLE") && p.atAhead(2, '('), p.is("RETURNS") && p.ahead(1).kind == tVar:
			p.step(2)
			if p.take("TABLE") || p.at('(') {
				if p.at('(') {
					p.skip()
				}
			}
		case p.is("RETURNS") || p.is("RETURN") && b.What == "FUNCTION" && !p.returnsValue():
			p.next()
			if !p.take("TABLE") {
				p.typ()
			} else if p.at('<') {
				for !p.ended() && !p.is("AS") {
					p.skip()
				}
			}
			p.take("PIPELINED")
		case p.take("EXECUTE", "AS"), p.take("EXEC", "AS"): // tsql: as whom
			p.next()
		case p.is("AS") || p.is("IS"):
			p.next()
			return p.routineAs(start, b, language)
		case p.is("BEGIN"), p.is("RETURN"), p.is("DECLARE"):
			return p.routineAs(start, b, language)
		case p.queryHead(p.i), p.is("INSERT"), p.is("UPDATE"), p.is("DELETE"), p.is("MERGE"), p.is("CALL"), p.is("REPLACE"), p.is("IF"), p.is("WHILE"):
			if p.is("SET") || p.is("RETURNS") {
				p.skip()
				continue
			}
			return p.routineAs(start, b, language)
		case p.tok().kind == tString && p.toks[p.i-1].wordIs(p.text, "AS"):
			return p.routineAs(start, b, language)
		default:
			p.skip()
		}
	}
	b.Span = p.from(start)
	return b
}

// returnsValue tells RETURN e from Oracle's RETURN type.
func (p *parser) returnsValue() bool {
	if p.d.Name != "oracle" && p.d.Name != "ansi" && p.d.Name != "mysql" {
		return true
	}
	n := p.ahead(1)
	if n.kind != tWord {
		return true
	}
	k := 2
	for p.atAhead(k, '.') || p.atAhead(k, '%') || p.atAhead(k, '(') {
		if m := int(p.ahead(k).mate); m != 0 {
			k = m - p.i + 1
			continue
		}
		k += 2
	}
	switch p.wordAhead(k) {
	case "IS", "AS", "PIPELINED", "DETERMINISTIC", "PARALLEL_ENABLE", "AUTHID", "RESULT_CACHE", "AGGREGATE":
		return false
	}
	return true
}

// routineAs reads a routine's body after AS.
func (p *parser) routineAs(start int32, b *Block, language string) Body {
	switch t := p.tok(); {
	case t.kind == tString:
		return p.routineText(start, b, language)
	case p.is("RETURN"):
		return p.routineReturn(start, b)
	case p.is("TABLE") && p.queryHead(p.i+1): // DuckDB's macros
		p.next()
		f := &CreateFunction{Name: b.Name, Params: b.Params, Query: p.query()}
		f.Span = p.from(start)
		return f
	case p.queryAt(p.i) && b.What == "FUNCTION", p.queryHead(p.i) && b.What == "FUNCTION" && !p.d.NoSemicolons:
		f := &CreateFunction{Name: b.Name, Params: b.Params, Query: p.query()}
		f.Span = p.from(start)
		return f
	case b.What == "FUNCTION" && (p.at('(') || p.d.ScalarWith):
		f := &CreateFunction{Name: b.Name, Params: b.Params, Body: p.expr()}
		p.routineTail()
		f.Span = p.from(start)
		return f
	case p.is("LANGUAGE"), p.is("EXTERNAL"):
		p.skipStatement()
	case p.is("BEGIN"):
		p.next()
		p.takeOne("ATOMIC", "NOT")
		p.take("ATOMIC")
		p.blockBody(b)
		p.moreStatements(b)
	case p.d.NoSemicolons:
		p.moreStatements(b)
	case p.is("DECLARE"), p.is("CURSOR"), p.is("PRAGMA"), p.is("TYPE"), p.is("PROCEDURE"), p.is("FUNCTION"), t.kind == tWord && !p.has(headWord):
		p.take("DECLARE")
		p.declarations(b)
		for p.tok().kind == tSemi && (p.isAhead(1, "PROCEDURE") || p.isAhead(1, "FUNCTION")) {
			p.next()
			p.declarations(b)
		}
		if p.tok().kind == tSemi && p.isAhead(1, "BEGIN") {
			p.next()
		}
		if p.take("BEGIN") {
			p.blockBody(b)
		}
	default:
		p.single(b)
	}
	b.Span = p.from(start)
	return b
}

// moreStatements reads a tsql routine's statements up to GO.
func (p *parser) moreStatements(b *Block) {
	if !p.d.NoSemicolons {
		return
	}
	for !p.broken {
		switch p.tok().kind {
		case tEnd, tHard, tLine:
			return
		case tSemi:
			p.next()
			continue
		}
		i := p.i
		if st := p.statement(); st != nil {
			b.Statements = append(b.Statements, st)
		}
		if p.i == i {
			return
		}
	}
}

func (p *parser) routineReturn(start int32, b *Block) Body {
	p.next()
	f := &CreateFunction{Name: b.Name, Params: b.Params}
	switch {
	case p.queryHead(p.i) || p.queryAt(p.i):
		f.Query = p.query()
	default:
		f.Body = p.expr()
	}
	p.routineTail()
	f.Span = p.from(start)
	return f
}

// routineTail steps over the attributes that may follow a body.
func (p *parser) routineTail() {
	for !p.ended() && (p.is("LANGUAGE") || p.is("IMMUTABLE") || p.is("STABLE") || p.is("VOLATILE") || p.is("STRICT") || p.is("OPTIONS") || p.toks[p.i-1].wordIs(p.text, "LANGUAGE") || p.toks[p.i-1].wordIs(p.text, "OPTIONS")) {
		p.skip()
	}
}

// routineText reads a body that is a string: SQL, or code of another language.
func (p *parser) routineText(start int32, b *Block, language string) Body {
	t := p.tok()
	text := p.unquote(t)
	p.next()
	for !p.ended() { // LANGUAGE may follow
		if p.take("LANGUAGE") {
			language = p.word()
			if p.tok().kind == tString {
				language = strings.ToUpper(p.unquote(p.tok()))
			}
			continue
		}
		p.skip()
	}
	switch language {
	case "", "SQL", "PLPGSQL", "NZPLSQL", "PLSQL", "SPARKSQL":
	default:
		f := &CreateFunction{Span: p.from(start), Name: b.Name, Params: b.Params}
		return f
	}
	if language == "" && !strings.ContainsAny(text, " \n") { // a class or a library
		return &CreateFunction{Span: p.from(start), Name: b.Name, Params: b.Params}
	}
	if b.What == "FUNCTION" && language != "PLPGSQL" {
		if e := p.insideExpr(t); e != nil { // Snowflake's AS 'x + 1'
			return &CreateFunction{Span: p.from(start), Name: b.Name, Params: b.Params, Body: e}
		}
	}
	b.Statements = p.inside(t)
	b.Span = p.from(start)
	return b
}

// packageOf reads CREATE PACKAGE [BODY].
func (p *parser) packageOf(start int32, body bool) Body {
	if body {
		return p.packageBody(start)
	}
	p.ifAbsent()
	name := p.name()
	depth := 0
	for p.tok().kind != tEnd && p.tok().kind != tHard { // END name;
		if p.is("END") && depth == 0 {
			p.next()
			p.takeLabel()
			break
		}
		p.skip()
	}
	return &Block{Span: p.from(start), What: "PACKAGE", Name: name}
}

// packageBody reads the routines of a package's or a type's body.
func (p *parser) packageBody(start int32) Body {
	p.ifAbsent()
	b := &Block{What: "PACKAGE BODY", Name: p.name()}
	p.takeOne("AS", "IS")
	for !p.broken {
		switch k := p.tok().kind; {
		case k == tSemi:
			p.next()
			continue
		case k == tEnd, k == tHard:
			b.Span = p.from(start)
			return b
		case p.is("END"):
			p.next()
			p.takeLabel()
			b.Span = p.from(start)
			return b
		case p.is("BEGIN"):
			p.next()
			p.blockBody(b)
			b.Span = p.from(start)
			return b
		}
		i := p.i
		p.takeOne("MEMBER", "STATIC", "CONSTRUCTOR", "MAP", "ORDER", "OVERRIDING")
		p.declaration(b)
		if p.i == i {
			p.skip()
		}
	}
	b.Span = p.from(start)
	return b
}
