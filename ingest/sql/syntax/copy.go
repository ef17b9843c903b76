package syntax

import "strings"

// copy reads COPY, LOAD, UNLOAD, EXPORT and IMPORT.
func (p *parser) copy(start int32) Body {
	c := &Copy{Verb: p.word()}
	p.next()
	switch c.Verb {
	case "COPY":
		return p.copyTable(start, c)
	case "LOAD":
		return p.load(start, c)
	case "UNLOAD":
		p.take("TO")
		p.group(func() {
			if p.tok().kind == tString {
				c.Query = p.quotedQuery()
			} else {
				c.Query = p.query()
			}
		})
		if c.Query == nil && p.queryHead(p.i) {
			c.Query = p.query()
		}
		p.copyOptions(c)
	case "INSERT": // tsql's BULK INSERT t FROM '…'
		c.Verb, c.From = "BULK INSERT", true
		c.Table = p.tableName()
		p.copyOptions(c)
	case "DUMP": // AnalyticDB's DUMP DATA INTO '…' query
		p.next()
		if p.take("INTO") || p.take("OVERWRITE") {
			p.take("INTO")
			p.place(c)
		}
		c.Query = p.query()
	case "EXPORT":
		return p.export(start, c)
	case "IMPORT":
		c.From = true
		if p.is("FOREIGN") {
			return p.known(start, "IMPORT")
		}
		if p.take("INTO") || p.take("TABLE") || p.take("EXTERNAL", "TABLE") {
			c.Table = p.tableName()
			if p.at('(') {
				p.names(func(id Ident) { c.Columns = append(c.Columns, Name{Span: id.Span, Parts: []Ident{id}}) })
			}
			if p.is("PARTITION") {
				p.next()
				p.skip()
			}
		}
		p.copyOptions(c)
	}
	c.Span = p.from(start)
	return c
}

// copyTable reads COPY t FROM …, COPY INTO t FROM @stage, COPY (query) TO ….
func (p *parser) copyTable(start int32, c *Copy) Body {
	p.take("BINARY")
	into := p.take("INTO")
	c.From = true
	switch {
	case p.at('(') && p.queryAt(p.i):
		c.Query = p.parenQuery()
		c.From = false
	case into && (p.tok().kind == tStage || p.tok().kind == tString):
		c.From = false
		p.place(c)
	case p.is("GRANTS") || p.is("FILES"):
		return p.known(start, "COPY")
	default:
		c.Table = p.tableName()
		if p.take("PARTITION") {
			p.skip()
		}
		if p.at('(') {
			p.group(func() {
				p.list(func() {
					if n := p.name(); len(n.Parts) > 0 {
						c.Columns = append(c.Columns, n)
					}
					p.skipInside()
				})
			})
		}
	}
	switch {
	case p.take("TO"):
		c.From = false
		p.place(c)
	case p.take("FROM"):
		if p.at('(') && p.queryAt(p.i) {
			c.Query = p.parenQuery()
			p.stagesOf(c)
		} else if into && !c.From {
			if p.identAhead(0) {
				c.Table = p.tableName()
			}
		} else {
			p.place(c)
		}
	default:
		if c.Query == nil && !into || p.ended() {
			p.warn(p.from(start), "COPY without FROM or TO")
		}
	}
	p.copyOptions(c)
	c.Span = p.from(start)
	return c
}

// stagesOf lists the stages that the query of a COPY reads.
func (p *parser) stagesOf(c *Copy) {
	Inspect(c.Query, func(n Node) bool {
		if t, ok := n.(*Table); ok && t.Stage {
			c.Stages = append(c.Stages, t.Name)
		}
		return true
	})
}

// place reads a file, a stage, a URL, STDIN.
func (p *parser) place(c *Copy) {
	p.list(func() {
		switch t := p.tok(); t.kind {
		case tStage:
			c.Stages = append(c.Stages, p.stageName(t))
			p.next()
		case tString:
			c.Paths = append(c.Paths, p.unquote(t))
			p.next()
		case tVar, tWord, tQuoted:
			if p.take("LOCAL") || p.take("PROGRAM") {
				if p.tok().kind == tString {
					c.Paths = append(c.Paths, p.value())
				}
				return
			}
			start := p.pos()
			if t.kind == tQuoted {
				c.Paths = append(c.Paths, p.ident().Text)
				return
			}
			p.name()
			if p.at('(') {
				p.skip()
			}
			c.Paths = append(c.Paths, p.since(start))
		}
	})
}

// copyOptions reads the rest: options of a COPY and its kin move no rows.
// Places after TO or FROM are kept.
func (p *parser) copyOptions(c *Copy) {
	for !p.ended() && !(p.block > 0 && p.blockEnd()) && !p.broken {
		switch {
		case (p.is("TO") || p.is("FROM") || p.is("INTO")) && (p.ahead(1).kind == tString || p.ahead(1).kind == tStage):
			p.next()
			p.place(c)
		default:
			p.skip()
		}
	}
}

// load reads Hive's LOAD DATA INPATH, MySQL's LOAD DATA INFILE, Doris's LOAD
// LABEL, BigQuery's LOAD DATA INTO.
func (p *parser) load(start int32, c *Copy) Body {
	c.From = true
	if p.take("LABEL") {
		return p.loadLabel(start)
	}
	if !p.is("DATA") && !p.is("XML") {
		return p.known(start, "LOAD")
	}
	p.next()
	for !p.ended() && !p.broken {
		switch {
		case c.Table == nil && p.is("OVERWRITE") && p.identAhead(1) && !p.isAhead(1, "INTO"):
			p.next()
			c.Table = p.tableName()
		case p.takeOne("LOW_PRIORITY", "CONCURRENT", "LOCAL", "OVERWRITE", "REPLACE", "IGNORE"):
		case p.takeOne("INPATH", "INFILE"):
			c.Paths = append(c.Paths, p.value())
		case c.Table == nil && (p.is("INTO") || p.is("OVERWRITE")):
			p.next()
			p.take("TABLE")
			if p.is("TEMP") {
				p.next()
				p.take("TABLE")
			}
			c.Table = p.tableName()
		case p.is("FROM") && p.isAhead(1, "FILES") && p.atAhead(2, '('):
			p.step(2)
			p.skip()
		case c.Partition == nil && p.is("PARTITION") && p.atAhead(1, '('):
			p.next()
			c.Partition = p.partitionSpec()
		case p.is("INTO"):
			p.warn(Span{p.pos(), p.tok().end}, "a LOAD has one table")
			p.skip()
		case p.at('(') && c.Table != nil && c.Columns == nil:
			p.group(func() {
				p.list(func() {
					if n := p.name(); len(n.Parts) > 0 {
						c.Columns = append(c.Columns, n)
					} else {
						p.skipInside()
					}
				})
			})
		default:
			p.skip()
		}
	}
	if c.Table == nil {
		p.warn(p.from(start), "LOAD without a table")
	}
	c.Span = p.from(start)
	return c
}

// loadLabel reads Doris's LOAD LABEL l (DATA INFILE (…) INTO TABLE t …, …): a
// Block of one Copy a table.
func (p *parser) loadLabel(start int32) Body {
	b := &Block{What: "LOAD", Name: p.name()}
	p.group(func() {
		p.list(func() {
			s := p.pos()
			c := &Copy{Verb: "LOAD", From: true}
			for !p.at(',') && !p.atCloser() && !p.ended() {
				switch {
				case c.Table == nil && p.is("INTO") && p.isAhead(1, "TABLE"):
					p.step(2)
					c.Table = p.tableName()
				case p.is("INFILE") && p.atAhead(1, '('):
					p.next()
					p.group(func() { p.list(func() { c.Paths = append(c.Paths, p.value()) }) })
				case p.is("DATA") && p.isAhead(1, "FROM") && p.isAhead(2, "TABLE"):
					p.step(2)
					c.Query = p.query()
				default:
					p.skip()
				}
			}
			if c.Span = p.from(s); c.Table == nil {
				p.warn(c.Span, "LOAD without a table")
				return
			}
			b.Statements = append(b.Statements, &Statement{Span: c.Span, Body: c})
		})
	})
	p.skipStatement()
	b.Span = p.from(start)
	return b
}

// export reads EXPORT TABLE t TO '…', BigQuery's EXPORT DATA OPTIONS (…) AS
// query.
func (p *parser) export(start int32, c *Copy) Body {
	switch {
	case p.take("TABLE"):
		c.Table = p.tableName()
		if p.is("PARTITION") && p.atAhead(1, '(') {
			p.next()
			c.Partition = p.partitionSpec()
		}
	case p.take("DATA"):
		for !p.ended() && !p.is("AS") {
			if p.is("OPTIONS") && p.atAhead(1, '(') {
				p.next()
				t := &definition{}
				p.optionList(t)
				for _, o := range t.options {
					if strings.EqualFold(o.Key, "uri") {
						c.Paths = append(c.Paths, o.Value)
					}
				}
				continue
			}
			p.skip()
		}
		if p.take("AS") {
			c.Query = p.query()
		}
	case p.at('('):
		if p.queryAt(p.i) {
			c.Query = p.parenQuery()
		}
	default:
		if p.is("DATABASE") {
			return p.known(start, "EXPORT")
		}
		c.Table = p.tableName()
		if p.at('(') {
			p.skip()
		}
	}
	p.copyOptions(c)
	c.Span = p.from(start)
	return c
}

// cache reads CACHE [LAZY] TABLE t [OPTIONS (…)] [AS] query.
func (p *parser) cache(start int32) Body {
	i := p.i
	p.next()
	p.take("LAZY")
	if !p.take("TABLE") {
		p.i = i
		return p.known(start, "CACHE")
	}
	v := &CreateView{Temporary: true, Name: p.tableName()}
	t := &definition{view: v}
	p.definition(t)
	v.Options, v.Query = t.options, t.query
	v.Span = p.from(start)
	if v.Query == nil {
		return &Other{Span: v.Span, Verb: "CACHE TABLE", Known: true, Names: []*Table{v.Name}}
	}
	return v
}
