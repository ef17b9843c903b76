package syntax

import "strings"

// set reads SET: a variable, an option of the session, or a role and the like.
func (p *parser) set(start int32) Body {
	p.next()
	switch p.word() {
	case "ROLE", "ROLES", "TRANSACTION", "NAMES", "CONSTRAINTS", "CONSTRAINT", "CHARACTER", "PASSWORD", "RESOURCE", "CHARSET":
		if !p.atAhead(1, '=') {
			return p.known(start, "SET "+p.word())
		}
	case "STATISTICS", "IDENTITY_INSERT", "NOCOUNT", "ANSI_NULLS", "QUOTED_IDENTIFIER", "XACT_ABORT", "DATEFIRST", "LOCK_TIMEOUT", "ROWCOUNT",
		"ARITHABORT", "ANSI_WARNINGS", "ANSI_PADDING", "DATEFORMAT", "LANGUAGE", "SERVEROUTPUT", "DEFINE", "FEEDBACK", "ECHO", "VERIFY", "TIMING", "LINESIZE", "PAGESIZE", "HEADING", "TERMOUT", "SQLBLANKLINES":
		if !p.atAhead(1, '=') {
			return p.known(start, "SET "+p.word())
		}
	}
	s := &Set{}
	if p.ended() {
		s.Span = p.from(start)
		return s
	}
	p.takeOne("SESSION", "GLOBAL", "LOCAL", "PERSIST", "VAR", "VARIABLE")
	if p.is("AUTHORIZATION") || p.is("CHARACTERISTICS") || p.is("SESSION") || p.is("TRANSACTION") {
		return p.known(start, "SET "+p.word())
	}
	if p.setText(s) {
		s.Span = p.from(start)
		return s
	}
	p.setValue(s)
	for p.eat(',') && !p.broken {
		p.takeOne("SESSION", "GLOBAL", "LOCAL", "PERSIST")
		var more Set
		p.setValue(&more)
		if more.Value != nil && s.Value == nil {
			s.Value = more.Value
		}
	}
	s.Span = p.from(start)
	return s
}

// setText reads Hive's and Spark's SET key=value, whose value is text up to the
// end of the statement.
func (p *parser) setText(s *Set) bool {
	if !p.d.DoubleQuoteString || p.tok().kind == tVar && p.text[p.pos()] == '@' || p.d.Delimiters {
		return false
	}
	i := p.i
	at := p.pos()
	if p.tok().kind == tString {
		s.Name = p.value()
	} else {
		for !p.ended() && !p.at('=') && !p.op("==") {
			p.next()
		}
		s.Name = strings.TrimSpace(p.since(at))
	}
	if p.at('=') && (p.ahead(1).ch == '(' && p.queryAt(p.i+1) || !strings.ContainsAny(s.Name, ".-:") && p.d.Name != "hive" && p.setExpression()) {
		p.i = i
		return false
	}
	p.skipToEnd()
	return true
}

// setExpression tells whether a plain expression follows the equals sign.
func (p *parser) setExpression() bool {
	n := p.ahead(2).kind
	return n != tEnd && n != tSemi
}

// setValue reads name = e, name TO e, (a, b) = e.
func (p *parser) setValue(s *Set) {
	at := p.pos()
	p.take("VARIABLE")
	for !p.ended() && !p.at('=') && !p.op(":=") && !p.is("TO") && !p.at(',') && !p.op("+=") && !p.op("==") {
		if p.tok().kind == tWord && p.last() < p.pos() && p.pos() > at && p.toks[p.i-1].ch != '.' && !p.at('.') && p.ahead(1).ch != '=' && !(p.isAhead(1, "TO")) {
			break // SET x ON
		}
		p.skip()
	}
	s.Name = strings.TrimSpace(p.since(at))
	switch {
	case p.eat('='), p.eatOp(":="), p.take("TO"), p.eatOp("+="):
		s.Value = p.setOperand()
		for p.at(',') && !p.d.Delimiters && p.setList() { // search_path = a, b
			p.next()
			p.expr()
		}
	case p.takeOne("ON", "OFF", "ALL", "DEFAULT"):
	case !p.ended() && !p.at(','):
		p.skipInside()
	}
}

func (p *parser) setOperand() Expr {
	if p.takeOne("ON", "DEFAULT") {
		return nil
	}
	if p.is("TABLE") || p.is("ALL") {
		p.next()
		return nil
	}
	x := p.expr()
	if p.at('-') || p.at(':') || p.at('/') { // values without quotes
		p.skipInside()
	}
	return x
}

// setList tells whether what follows the comma is one more value, not one more
// name.
func (p *parser) setList() bool {
	n := p.ahead(2)
	return n.ch != '=' && n.ch != '.'
}

// explain reads EXPLAIN and what is explained.
func (p *parser) explain(start int32) Body {
	e := &Explain{}
	if p.is("DESCRIBE") || p.is("DESC") {
		if !p.queryHead(p.i+1) && p.ahead(1).ch != '(' {
			return p.known(start, p.word())
		}
	}
	p.next()
	for !p.broken && !p.ended() {
		switch {
		case p.at('(') && !p.queryAt(p.i):
			p.skip()
		case p.take("PLAN", "FOR"), p.take("PLAN", "SET"):
		case p.takeOne("EXTENDED", "FORMATTED", "CODEGEN", "COST", "LOGICAL", "ANALYZE", "ANALYSE", "VERBOSE", "PARTITIONS", "DEPENDENCY", "AUTHORIZATION",
			"AST", "SYNTAX", "PLAN", "PIPELINE", "ESTIMATE", "QUERY", "TREE", "CBO", "VECTORIZATION", "LOCKS", "REWRITE", "GRAPH", "SHAPE", "PARSED", "ANALYZED",
			"OPTIMIZED", "PHYSICAL", "DISTRIBUTED", "USING", "TABULAR", "TEXT", "JSON", "MEMO", "PROCESS", "CHANGELOG_MODE", "ESTIMATED_COST", "JSON_EXECUTION_PLAN", "PLAN_ADVICE", "DETAIL", "ONLY", "OPERATOR", "EXPRESSION", "SUMMARY", "JOINCOST", "DEBUG", "LINEAGE", "DDL", "COSTS", "TYPE", "OVERRIDE", "TABLE"):
			p.eat(',')
		case p.is("FORMAT") && p.atAhead(1, '='):
			p.step(3)
		case p.is("SETTINGS") || p.ahead(1).ch == '=':
			p.step(3)
			p.eat(',')
		case p.is("INTO"):
			p.step(2)
			p.take("FOR")
		case p.seq("FOR", "CONNECTION"):
			return p.known(start, "EXPLAIN")
		case p.has(headWord) || p.at('('):
			e.Inner = p.body()
			e.Span = p.from(start)
			return e
		default:
			return p.known(start, "EXPLAIN")
		}
	}
	e.Span = p.from(start)
	e.Inner = &Other{Span: e.Span, Verb: "EXPLAIN", Known: true}
	return e
}
