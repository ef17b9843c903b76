package syntax

import "strings"

// create reads CREATE, by the word that says what of.
func (p *parser) create(start int32) Body {
	p.next()
	var c createHead
	for p.createWord(&c) {
	}
	switch w := p.word(); w {
	case "TABLE", "TABLES":
		p.next()
		if p.is("FUNCTION") && p.identAhead(1) && !p.isAhead(1, "AS") {
			return p.createRoutine(start, "FUNCTION")
		}
		return p.createTable(start, c)
	case "VIEW":
		if p.isAhead(1, "LOG") && p.isAhead(2, "ON") && c.materialized {
			return p.known(start, "CREATE")
		}
		p.next()
		return p.createView(start, c)
	case "QUERY":
		if c.materialized {
			p.next()
			return p.createView(start, c)
		}
	case "STREAM":
		if p.d.Name != "snowflake" {
			p.next()
			return p.createTable(start, c)
		}
	case "FUNCTION", "AGGREGATE", "PROCEDURE", "PROC", "TRIGGER", "PACKAGE", "TYPE", "EVENT", "MACRO", "TASK", "JOB", "PIPE":
		if x := p.createRoutine(start, w); x != nil {
			return x
		}
	}
	if c.dynamic && p.identAhead(0) && p.is("TABLE") {
		p.next()
		return p.createView(start, c)
	}
	if p.seq("ROUTINE", "LOAD") {
		return p.routineLoad(start)
	}
	if p.is("OUTLINE") && p.identAhead(1) {
		return p.outline(start)
	}
	if p.is("STAGE") {
		return p.createStage(start)
	}
	if p.is("FLOW") {
		return p.createFlow(start)
	}
	if p.is("RULE") && p.d.CustomOperators {
		return p.rule(start)
	}
	return p.known(start, "CREATE")
}

// routineLoad reads Doris's CREATE ROUTINE LOAD j ON t … FROM KAFKA (…): the
// topic is a path.
func (p *parser) routineLoad(start int32) Body {
	p.step(2)
	p.name()
	c := &Copy{Verb: "ROUTINE LOAD", From: true}
	if p.take("ON") {
		c.Table = p.tableName()
	}
	for !p.ended() {
		if !p.is("FROM") || !p.identAhead(1) || !p.atAhead(2, '(') {
			p.skip()
			continue
		}
		p.step(2)
		var t definition
		p.optionList(&t)
		for _, o := range t.options {
			if strings.HasSuffix(strings.ToLower(o.Key), "topic") {
				c.Paths = append(c.Paths, o.Value)
			}
		}
	}
	c.Span = p.from(start)
	return c
}

// createFlow reads Databricks' CREATE FLOW f AS INSERT INTO t …, whose statement
// runs.
func (p *parser) createFlow(start int32) Body {
	p.next()
	b := &Block{What: "FLOW", Name: p.name()}
	if p.seek("AS") && p.is("INSERT") {
		p.single(b)
	}
	p.skipStatement()
	b.Span = p.from(start)
	return b
}

// rule reads PostgreSQL's CREATE RULE r AS ON INSERT TO t DO …: a Block with
// what it does.
func (p *parser) rule(start int32) Body {
	p.next()
	b := &Block{What: "RULE", Name: p.name()}
	if p.take("AS", "ON") {
		p.next()
		if p.take("TO") {
			b.On = p.tableName()
		}
	}
	if p.take("WHERE") {
		p.expr()
	}
	if p.take("DO") {
		p.takeOne("ALSO", "INSTEAD")
		if p.at('(') && !p.queryAt(p.i) {
			p.next()
			p.block++
			for !p.at(')') && p.tok().kind != tEnd && !p.broken {
				if p.tok().kind == tSemi {
					p.next()
					continue
				}
				s := p.pos()
				body := p.body()
				b.Statements = append(b.Statements, &Statement{Span: p.from(s), Body: body})
				if !p.at(')') && p.tok().kind != tSemi {
					break
				}
			}
			p.block--
			p.eat(')')
		} else if !p.take("NOTHING") {
			p.single(b)
		}
	}
	b.Span = p.from(start)
	return b
}

// outline reads CREATE OUTLINE o ON query [TO query]: the queries do not run,
// but are named.
func (p *parser) outline(start int32) Body {
	p.next()
	b := &Block{What: "OUTLINE", Name: p.name()}
	for !p.ended() {
		if p.takeOne("ON", "TO") && p.has(headWord) {
			s := p.pos()
			body := p.body()
			b.Statements = append(b.Statements, &Statement{Span: p.from(s), Body: body})
			continue
		}
		p.skip()
	}
	b.Span = p.from(start)
	return b
}

// createStage reads Snowflake's CREATE STAGE s URL = '…': a place that a stage
// stands for.
func (p *parser) createStage(start int32) Body {
	p.next()
	p.ifAbsent()
	c := &Copy{Verb: "CREATE STAGE"}
	if n := p.name(); len(n.Parts) > 0 {
		c.Stages = append(c.Stages, n)
	}
	for !p.ended() {
		if p.take("URL") {
			p.eat('=')
			if p.tok().kind == tString {
				c.Paths = append(c.Paths, p.value())
			}
			continue
		}
		p.skip()
	}
	c.Span = p.from(start)
	return c
}

// A createHead is what stands between CREATE and the kind of object.
type createHead struct {
	temporary, external, replace, materialized, dynamic bool
}

func (p *parser) createWord(c *createHead) bool {
	switch p.word() {
	case "OR":
		if !p.isAhead(1, "REPLACE") && !p.isAhead(1, "ALTER") && !p.isAhead(1, "REFRESH") {
			return false
		}
		p.step(2)
		c.replace = true
	case "TEMP", "TEMPORARY", "VOLATILE":
		p.next()
		c.temporary = true
	case "EXTERNAL", "FOREIGN":
		if p.isAhead(1, "DATA") || p.isAhead(1, "CATALOG") || p.isAhead(1, "RESOURCE") {
			return false
		}
		p.next()
		c.external = true
	case "CONSTRAINT": // PostgreSQL's triggers
		if !p.isAhead(1, "TRIGGER") {
			return false
		}
		p.next()
	case "TIME", "SIMPLE": // PolarDB's sequences
		if !p.isAhead(1, "SEQUENCE") && !p.isAhead(1, "WITH") {
			return false
		}
		p.next()
		if p.take("WITH") {
			p.next()
		}
	case "MATERIALIZED":
		p.next()
		c.materialized = true
	case "DYNAMIC", "LIVE", "STREAMING":
		p.next()
		c.dynamic = true
	case "GLOBAL", "LOCAL", "TRANSIENT", "UNLOGGED", "MULTISET", "SET", "HYBRID", "ICEBERG", "PRIVATE", "SECURE", "RECURSIVE",
		"FORCE", "NOFORCE", "EDITIONABLE", "NONEDITIONABLE", "INCREMENTAL", "LIVEVIEW", "DIMENSION", "FACT", "SNAPSHOT",
		"COLUMN", "ROW", "DEFINER", "ALGORITHM", "SQL", "NO", "TRANSACTIONAL", "MANAGED", "SHARDED", "DUPLICATED", "VIRTUAL", "IMMUTABLE", "BLOCKCHAIN":
		if p.is("DEFINER") || p.is("ALGORITHM") || p.is("SQL") {
			return p.viewAttribute()
		}
		p.next()
	default:
		return false
	}
	return true
}

// viewAttribute reads MySQL's ALGORITHM = …, DEFINER = …, SQL SECURITY ….
func (p *parser) viewAttribute() bool {
	if p.take("SQL", "SECURITY") {
		p.next()
		return true
	}
	if !p.atAhead(1, '=') {
		return false
	}
	p.step(2)
	p.next()
	switch {
	case p.tok().kind == tVar: // 'root'@'localhost'
		p.next()
	case p.at('@'):
		p.step(2)
	case p.at('('):
		p.skip()
	}
	return true
}

// ifAbsent reads IF NOT EXISTS.
func (p *parser) ifAbsent() bool { return p.take("IF", "NOT", "EXISTS") }

// createTable reads CREATE TABLE after TABLE.
func (p *parser) createTable(start int32, h createHead) Body {
	if h.dynamic || h.materialized {
		return p.createView(start, h)
	}
	c := &CreateTable{Temporary: h.temporary, External: h.external, Replace: h.replace}
	c.IfAbsent = p.ifAbsent()
	c.Name = p.tableName()
	c.IfAbsent = p.ifAbsent() || c.IfAbsent
	if len(c.Name.Name.Parts) > 0 && len(c.Name.Name.Parts[0].Text) > 0 && c.Name.Name.Parts[0].Text[0] == '#' {
		c.Temporary = true
	}
	t := &definition{table: c}
	p.references = nil
	p.definition(t)
	c.References, p.references = p.references, nil
	c.Location, c.Using, c.Options, c.Query = t.location, t.using, t.options, t.query
	c.Like, c.Clone, c.PartitionedBy, c.Parent = t.like, t.clone, t.partitioned, t.parent
	c.Span = p.from(start)
	return c
}

// createView reads CREATE VIEW, materialized and dynamic ones too, after the
// kind.
func (p *parser) createView(start int32, h createHead) Body {
	v := &CreateView{Materialized: h.materialized, Temporary: h.temporary, Replace: h.replace, Dynamic: h.dynamic}
	if p.take("TABLE") || p.take("VIEW") {
		v.Dynamic = true
	}
	v.IfAbsent = p.ifAbsent()
	v.Name = p.tableName()
	v.IfAbsent = p.ifAbsent() || v.IfAbsent
	t := &definition{view: v}
	p.definition(t)
	v.Columns, v.Options, v.Query = t.columns, t.options, t.query
	v.Using, v.Location, v.To = t.using, t.location, t.to
	for _, c := range t.partitioned {
		v.PartitionedBy = append(v.PartitionedBy, partitionExpr(c))
	}
	if v.Query == nil && v.Using == "" && v.To == nil && !p.broken && !v.Dynamic && t.like == nil {
		p.warn(p.from(start), "a view without a query")
	}
	v.Span = p.from(start)
	return v
}

// partitionExpr returns a partition column of a view as an expression.
func partitionExpr(c ColumnDef) Expr {
	if c.As != nil {
		return c.As
	}
	return &Ref{c.Name}
}
