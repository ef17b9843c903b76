package syntax

import "strings"

// funcName returns a function's name as Call.Func has it.
func funcName(n Name) string {
	if len(n.Parts) == 0 {
		return ""
	}
	last := n.Parts[len(n.Parts)-1]
	if last.Quoted {
		return last.Text
	}
	if id := vocabulary.find(last.Text); id != 0 {
		return vocabulary.words[id]
	}
	return strings.ToUpper(last.Text)
}

// call reads a function's arguments and what follows them. The current token
// opens the parenthesis.
func (p *parser) call(n Name) Expr {
	c := &Call{Name: n, Func: funcName(n)}
	p.arguments(c)
	if p.at('(') && c.Table == nil && c.Query == nil && !p.outerMark() && len(n.Parts) == 1 && p.last() == p.pos() && !n.Parts[0].Quoted {
		c.Params, c.Args = c.Args, nil // f(params)(args)
		p.arguments(c)
	}
	return p.afterCall(n.Start, c)
}

// afterCall reads WITHIN GROUP, FILTER, OVER and so on.
func (p *parser) afterCall(start int32, c *Call) Expr {
	for !p.broken {
		if p.tok().kind != tWord {
			break
		}
		switch {
		case p.seq("WITHIN", "GROUP"):
			p.step(2)
			p.group(func() {
				if p.take("ORDER", "BY") {
					c.Within = p.orderItems()
				}
			})
		case p.is("FILTER") && p.atAhead(1, '('):
			p.next()
			p.group(func() {
				p.take("WHERE")
				c.Filter = p.expr()
			})
		case p.seq("IGNORE", "NULLS"), p.seq("RESPECT", "NULLS"), p.seq("FROM", "FIRST"), p.seq("FROM", "LAST"):
			p.step(2)
		case p.is("KEEP") && p.atAhead(1, '('):
			p.next()
			p.group(func() {
				p.takeOne("DENSE_RANK", "RANK")
				p.takeOne("FIRST", "LAST")
				if p.take("ORDER", "BY") {
					c.Within = append(c.Within, p.orderItems()...)
				}
			})
		case p.is("WITHIN") && p.isAhead(1, "RECORD"):
			p.step(2)
		case p.is("OVER") && (p.atAhead(1, '(') || p.identAhead(1)):
			p.next()
			c.Over = p.over()
		default:
			c.Span = p.from(start)
			return c
		}
	}
	c.Span = p.from(start)
	return c
}

// arguments reads the parentheses of a call.
func (p *parser) arguments(c *Call) {
	open := p.i
	outer := p.slice
	p.slice = false
	defer func() { p.slice = outer }()
	if !p.enter() {
		p.leave()
		return
	}
	defer p.leave()
	p.next()
	if p.eat(')') {
		return
	}
	if p.take("DISTINCT") || p.take("UNIQUE") {
		c.Distinct = true
	} else if p.is("ALL") && !p.atAhead(1, ')') && !p.atAhead(1, ',') {
		p.next()
	}
	if p.at('*') && (p.atAhead(1, ')')) {
		p.next()
		c.Star = true
		p.want(open, ')')
		return
	}
	if !p.is("ORDER") {
		p.list(func() { p.argument(c) })
	}
	for !p.broken && !p.at(')') && p.argumentTail(c) {
	}
	p.want(open, ')')
}

// argument reads one argument.
func (p *parser) argument(c *Call) {
	if p.at(')') || p.at(',') {
		return
	}
	name := ""
	if p.identAhead(0) && (p.ahead(1).kind == tSym && p.ahead(1).ch == 0) {
		switch op := p.textOf(p.ahead(1)); op {
		case "=>", ":=":
			if p.tok().kind != tVar || op == "=>" {
				name = p.ident().Text
				p.next()
			}
		}
	}
	if name != "" {
		for len(c.Names) < len(c.Args) {
			c.Names = append(c.Names, "")
		}
		c.Names = append(c.Names, name)
	}
	if p.is("NAME") && p.identAhead(1) || p.is("EVALNAME") || p.is("MODEL") && p.identAhead(1) || p.is("KEY") && (p.ahead(1).kind == tString || p.identAhead(1) && p.isAhead(2, "VALUE")) {
		p.next() // XMLELEMENT's, ML_PREDICT's, JSON_OBJECT's
	}
	if p.is("ON") && len(c.Args) == 0 && c.Table == nil && c.Query == nil && (p.identAhead(1) || p.atAhead(1, '(')) {
		p.partitioned(c)
		return
	}
	if (p.is("CONTENT") || p.is("DOCUMENT") || p.is("BULK")) && (p.identAhead(1) || p.ahead(1).kind == tString) && len(c.Args) == 0 {
		p.next() // XMLSERIALIZE's, OPENROWSET's
	}
	if p.is("VARIADIC") && !p.atAhead(1, ',') && !p.atAhead(1, ')') && !p.atAhead(1, '.') {
		p.next()
	}
	if p.is("TABLE") && c.Table == nil && p.tableArgument(c) {
		if name != "" {
			c.Names = c.Names[:len(c.Names)-1]
		}
		return
	}
	if c.Query == nil && (p.is("SELECT") || p.is("WITH") && p.identAhead(1) || p.is("FROM")) {
		c.Query = p.query()
		return
	}
	if c.Query == nil && len(c.Args) == 0 && name != "" && p.queryAt(p.i) {
		c.Args = append(c.Args, p.expr())
		return
	}
	x := p.expr()
	if c.Func == "DESCRIPTOR" && p.tok().kind == tWord {
		p.typ()
	}
	switch {
	case p.is("AS") && p.identAhead(1):
		p.next()
		if p.atAhead(1, '(') || p.atAhead(1, '<') {
			p.typ()
			break
		}
		for len(c.Names) < len(c.Args) {
			c.Names = append(c.Names, "")
		}
		c.Names = append(c.Names, p.ident().Text)
	case p.at(':') && !p.atAhead(1, ')'), p.is("VALUE"): // JSON_OBJECT's k: v, k VALUE v
		p.next()
		c.Args = append(c.Args, x)
		x = p.expr()
	}
	c.Args = append(c.Args, x)
	for len(c.Names) > 0 && len(c.Names) < len(c.Args) {
		c.Names = append(c.Names, "")
	}
}

// tableArgument reads TABLE t, TABLE (query), TABLE(t) with PARTITION BY.
func (p *parser) tableArgument(c *Call) bool {
	n := p.ahead(1)
	switch {
	case n.ch == '(' && p.queryAt(p.i+1):
		p.next()
		c.Query = p.parenQuery()
	case n.ch == '(' && (p.ahead(2).kind == tWord || p.ahead(2).kind == tQuoted):
		if after := p.ahead(3); after.ch != ')' && after.ch != '.' {
			return false
		}
		p.next()
		p.group(func() { c.Table = p.tableName() })
	case n.kind == tWord && p.d.classes[n.word]&noExpr == 0 || n.kind == tQuoted || n.kind == tVar:
		p.next()
		c.Table = p.tableName()
	default:
		return false
	}
	p.tableArgumentTail(c)
	return true
}

// partitioned reads the rows that Hive's partitioned table functions are given,
// ON t PARTITION BY …, and the arguments after them: f('x'), ….
func (p *parser) partitioned(c *Call) {
	p.next()
	switch {
	case p.queryAt(p.i):
		c.Query = p.parenQuery()
	case p.identAhead(0) && p.atAhead(1, '('):
		c.Args = append(c.Args, p.expr())
	default:
		c.Table = p.tableName()
	}
	if p.bareAlias() {
		p.next()
	}
	p.tableArgumentTail(c)
	for !p.broken && p.identAhead(0) && p.atAhead(1, '(') {
		c.Args = append(c.Args, p.expr())
		p.eat(',')
	}
}

// namedAhead tells whether a named argument, or a table, follows the comma here.
func (p *parser) namedAhead() bool {
	t := p.ahead(2)
	return t.kind == tSym && p.textOf(t) == "=>" || p.isAhead(1, "TABLE") || p.isAhead(1, "DESCRIPTOR") && p.atAhead(2, '(')
}

func (p *parser) tableArgumentTail(c *Call) {
	for !p.broken {
		switch {
		case p.take("PARTITION", "BY"), p.take("DISTRIBUTE", "BY"):
			for p.expr(); p.at(',') && !p.namedAhead(); {
				p.next()
				p.expr()
			}
		case p.take("ORDER", "BY"), p.take("SORT", "BY"):
			c.Order = append(c.Order, p.orderItem())
			for p.at(',') && !p.namedAhead() {
				p.next()
				c.Order = append(c.Order, p.orderItem())
			}
		case p.take("WITH", "SINGLE", "PARTITION"):
		case p.is("AS"):
			p.step(2)
		case p.takeOne("PRUNE", "KEEP"):
			p.take("WHEN", "EMPTY")
		case p.take("COPARTITION"):
			p.skip()
		default:
			return
		}
	}
}

// argumentTail reads one clause that may follow the arguments; false where it
// knows none.
func (p *parser) argumentTail(c *Call) bool {
	switch p.word() {
	case "ORDER":
		if !p.take("ORDER", "BY") {
			return false
		}
		c.Order = append(c.Order, p.orderItems()...)
	case "SEPARATOR":
		p.next()
		p.expr()
	case "LIMIT":
		p.next()
		p.expr()
		if p.take("OFFSET") || p.eat(',') {
			p.expr()
		}
	case "IGNORE", "RESPECT":
		p.next()
		return p.take("NULLS")
	case "HAVING":
		p.next()
		if !p.takeOne("MAX", "MIN") {
			return false
		}
		c.Args = append(c.Args, p.expr())
	case "USING":
		p.next()
		if p.atAhead(1, ')') {
			p.next()
			return true
		}
		p.expr()
		for p.eat(',') {
			p.expr()
		}
	case "FROM", "FOR", "IN", "PLACING":
		p.next()
		c.Args = append(c.Args, p.expr())
	case "SIMILAR", "ESCAPE": // SUBSTRING's
		p.next()
		c.Args = append(c.Args, p.expr())
	case "TO": // CEIL's and FLOOR's unit
		if !intervalUnit(p.wordAhead(1)) {
			return false
		}
		p.step(2)
	case "PLAN": // JSON_TABLE's
		p.next()
		p.take("DEFAULT")
		p.skip()
	case "WHERE": // Teradata, ksql
		p.next()
		c.Filter = p.expr()
	case "AS":
		p.next()
		p.typ()
		p.take("FORMAT")
		if p.tok().kind == tString {
			p.next()
		}
	case "METRICS", "DIMENSIONS", "FACTS": // Snowflake's SEMANTIC_VIEW
		p.next()
		p.list(func() { c.Args = append(c.Args, p.item().Expr) })
	default:
		return p.jsonClause(c)
	}
	return true
}

// jsonClause reads a clause of a JSON or XML function.
func (p *parser) jsonClause(c *Call) bool {
	switch p.word() {
	case "RETURNING":
		p.next()
		p.typ()
		if p.take("FORMAT", "JSON") {
			if p.take("ENCODING") {
				p.next()
			}
		}
	case "DEFAULT":
		p.next()
		c.Args = append(c.Args, p.expr())
		return p.take("ON", "EMPTY") || p.take("ON", "ERROR") || p.take("ON", "NULL") || p.take("ON", "CONVERSION", "ERROR")
	case "ERROR", "NULL", "EMPTY", "TRUE", "FALSE", "UNKNOWN":
		p.next()
		p.takeOne("ARRAY", "OBJECT")
		return p.take("ON", "EMPTY") || p.take("ON", "ERROR") || p.take("ON", "NULL") || p.take("ON", "MISMATCH")
	case "ABSENT":
		return p.take("ABSENT", "ON", "NULL")
	case "WITH", "WITHOUT":
		p.next()
		if p.take("UNIQUE") {
			p.take("KEYS")
			return true
		}
		p.takeOne("CONDITIONAL", "UNCONDITIONAL")
		p.take("ARRAY")
		return p.take("WRAPPER")
	case "KEEP", "OMIT":
		p.next()
		return p.take("QUOTES")
	case "FORMAT":
		return p.take("FORMAT", "JSON")
	case "PASSING":
		p.next()
		p.take("BY", "VALUE")
		p.list(func() { c.Args = append(c.Args, p.item().Expr) })
	case "STRICT", "LAX", "PRETTY", "DOCUMENT", "CONTENT", "INDENT":
		p.next()
		if p.take("SIZE") {
			p.eat('=')
			p.expr()
		}
	case "ON":
		if p.take("ON", "OVERFLOW", "ERROR") {
			return true
		}
		if p.take("ON", "OVERFLOW", "TRUNCATE") {
			if p.tok().kind == tString {
				p.next()
			}
			if p.takeOne("WITH", "WITHOUT") {
				return p.take("COUNT")
			}
			return true
		}
		return p.take("ON", "NULL")
	default:
		return false
	}
	return true
}
