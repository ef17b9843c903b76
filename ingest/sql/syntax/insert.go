package syntax

import "strings"

// insert reads INSERT, REPLACE and UPSERT.
func (p *parser) insert(start int32, with *With) Body {
	in := &Insert{With: with, Replace: p.is("REPLACE")}
	p.next()
	p.take("WITH", "SCHEMA", "EVOLUTION")
	for p.takeOne("LOW_PRIORITY", "DELAYED", "HIGH_PRIORITY", "IGNORE", "APPEND") {
	}
	if p.take("OR") {
		in.Replace = p.is("REPLACE")
		in.Overwrite = p.is("OVERWRITE")
		p.next()
	}
	if p.is("OVERWRITE") && (p.isAhead(1, "ALL") || p.isAhead(1, "FIRST")) {
		p.next()
	}
	if p.is("ALL") || p.is("FIRST") || p.is("WHEN") && p.d.Name != "flink" {
		return p.insertAll(start, with)
	}
	if p.is("TOP") && p.atAhead(1, '(') { // tsql
		p.next()
		p.skip()
	}
	in.Overwrite = p.take("OVERWRITE") || in.Overwrite
	p.takeOne("INTO", "OVERWRITE")
	p.takeOne("LOCAL")
	if p.is("DIRECTORY") && (p.ahead(1).kind == tString || p.ahead(1).kind == tVar || p.isAhead(1, "USING")) {
		p.next()
		if !p.is("USING") {
			in.Directory = p.climb(precOther)
		}
		p.directoryFormat(in)
	} else {
		p.insertTarget(in)
	}
	p.insertSource(in)
	p.insertTail(in)
	in.Span = p.from(start)
	return in
}

// directoryFormat reads ROW FORMAT …, STORED AS …, USING … OPTIONS (…).
func (p *parser) directoryFormat(in *Insert) {
	for !p.broken {
		switch {
		case p.seq("ROW", "FORMAT"):
			p.rowFormat(nil)
		case p.take("STORED", "AS"), p.take("USING"):
			p.next()
		case p.is("OPTIONS") && p.atAhead(1, '('):
			p.next()
			at := p.i
			var t definition
			p.optionList(&t)
			for _, o := range t.options {
				if in.Directory == nil && strings.EqualFold(o.Key, "path") {
					in.Directory = &Literal{Span: Span{p.toks[at].start, p.last()}, Kind: "STRING", Value: o.Value}
				}
			}
		default:
			return
		}
	}
}

// insertTarget reads the table, its partition and its columns.
func (p *parser) insertTarget(in *Insert) {
	function := p.take("FUNCTION")
	if !p.atAhead(1, '.') {
		p.take("TABLE")
		function = p.take("FUNCTION") || function
	}
	if function || p.is("FILES") && p.atAhead(1, '(') || p.is("BLACKHOLE") && p.atAhead(1, '(') {
		in.Directory = p.primary()
	} else if p.queryAt(p.i) { // INSERT INTO (SELECT …): Oracle
		q := p.parenQuery()
		in.Target = firstTable(q)
		if in.Target == nil {
			p.warn(q.Span, "a query to insert into names no table")
		}
	} else {
		in.Target = p.tableName()
		if p.is("AS") && p.identAhead(1) && !p.isAhead(1, "SELECT") || p.bareAlias() && !p.has(headWord) && !p.insertWord() {
			p.alias(&in.Target.Alias, false)
			in.Target.Span = p.from(in.Target.Start)
		}
	}
	for !p.broken {
		switch {
		case p.take("IF", "NOT", "EXISTS"), p.take("IF", "EXISTS"):
		case p.is("PARTITION") && p.atAhead(1, '('), p.is("PARTITIONS") && p.atAhead(1, '('):
			p.next()
			in.Partition = p.partitionSpec()
		case p.is("TEMPORARY") && (p.isAhead(1, "PARTITION") || p.isAhead(1, "PARTITIONS")):
			p.next()
		case p.is("PARTITION") && p.identAhead(1):
			p.next()
			id := p.ident()
			in.Partition = append(in.Partition, PartitionItem{Span: id.Span, Column: Name{Span: id.Span, Parts: []Ident{id}}})
		case p.seq("WITH", "LABEL"):
			p.step(3)
		case p.take("BY", "NAME"):
			in.ByName = true
		case p.take("BY", "POSITION"):
		case p.at('@') && p.identAhead(1): // a branch of the table
			p.step(2)
		case p.is("OVERRIDING"):
			p.step(3)
		case p.at('[') && p.tok().mate != 0:
			p.skip()
		case p.seq("REPLACE", "WHERE"):
			p.step(2)
			in.Overwrite = true
			p.expr()
		case p.take("REPLACE", "USING"), p.take("REPLACE", "ON"):
			in.Overwrite = true
			p.skip()
		case p.is("SETTINGS"):
			p.next()
			p.settings()
		case p.is("OPTIONS") && p.atAhead(1, '('), p.is("WITH") && p.atAhead(1, '('):
			p.next()
			p.skip()
		case p.at('(') && !p.queryAt(p.i) && in.Columns == nil:
			p.insertColumns(in)
		default:
			return
		}
	}
}

// insertWord tells a word that goes on after an INSERT's target.
func (p *parser) insertWord() bool {
	switch p.word() {
	case "PARTITION", "PARTITIONS", "IF", "BY", "OVERRIDING", "SETTINGS", "OPTIONS", "DEFAULT", "OUTPUT", "FORMAT", "VALUE", "TEMPORARY", "REPLACE":
		return true
	}
	return false
}

func (p *parser) insertColumns(in *Insert) {
	p.group(func() {
		if p.at('*') { // ClickHouse's (* EXCEPT (a))
			p.expr()
			return
		}
		if p.at(')') {
			return
		}
		p.list(func() {
			if p.identAhead(0) {
				n := p.name()
				for p.at('[') {
					p.skip()
					n.End = p.last()
				}
				in.Columns = append(in.Columns, n)
				if p.identAhead(0) { // Phoenix gives types
					p.typ()
				}
			} else if p.tok().kind == tString {
				id := p.ident()
				in.Columns = append(in.Columns, Name{Span: id.Span, Parts: []Ident{id}})
			}
		})
	})
}

// partitionSpec reads (dt = '…', hr), (p1, p2), (*).
func (p *parser) partitionSpec() []PartitionItem {
	var items []PartitionItem
	p.group(func() {
		p.list(func() {
			start := p.pos()
			if p.at('*') {
				p.next()
				return
			}
			it := PartitionItem{}
			switch t := p.tok(); {
			case p.identAhead(0) && p.ahead(1).ch != '(':
				it.Column = p.name()
			case t.kind == tString:
				id := p.ident()
				it.Column = Name{Span: id.Span, Parts: []Ident{id}}
			default:
				it.Value = p.expr()
			}
			if p.eat('=') || p.eatOp("==") || p.eatOp("!=") || p.eatOp("<>") || p.eatOp("<=") || p.eatOp(">=") || p.eat('<') || p.eat('>') {
				it.Value = p.expr()
			} else if !p.at(',') && !p.at(')') {
				p.skipInside()
			}
			it.Span = p.from(start)
			items = append(items, it)
		})
	})
	return items
}

// skipInside skips to the next comma or the closing bracket: LIKE 'x', IN (…).
func (p *parser) skipInside() {
	for !p.at(',') && !p.atCloser() && !p.ended() {
		p.skip()
	}
}

// insertSource reads the query, the values or the assignments of an INSERT.
func (p *parser) insertSource(in *Insert) {
	if p.is("OUTPUT") {
		p.output(&in.Returning)
	}
	start := p.pos()
	switch {
	case p.take("DEFAULT", "VALUES"):
		in.Query = &Query{Span: p.from(start), Body: &Values{Span: p.from(start)}}
	case p.is("SET"):
		p.next()
		in.Set = p.assignments()
	case p.is("VALUE"):
		p.next()
		v := p.values(start)
		in.Query = &Query{Span: v.Span, Body: v}
	case p.is("FORMAT") && p.ahead(1).kind == tWord:
		p.skipToEnd() // ClickHouse's data
	case p.is("EXEC") || p.is("EXECUTE"):
		p.skipToEnd()
	case p.ended() && in.Columns == nil && in.Directory == nil && len(p.warnings) == 0 && p.d.Final:
	case p.queryHead(p.i), p.mapReduce(), p.at('('), p.is("WITH"), p.tok().kind == tVar, p.is("VALUES"), p.is("SUMMARIZE"):
		in.Query = p.query()
	case p.is("AS") && (p.queryHead(p.i+1) || p.queryAt(p.i+1)):
		p.next()
		in.Query = p.query()
	case p.is("FROM") && p.isAhead(1, "INFILE"):
		p.skipToEnd()
	default:
		p.warn(Span{p.pos(), p.tok().end}, "an INSERT without a query or values")
	}
}

// insertTail reads what follows the source: conflicts, RETURNING.
func (p *parser) insertTail(in *Insert) {
	for !p.broken {
		switch {
		case p.take("ON", "DUPLICATE", "KEY", "UPDATE"):
			in.Update = p.assignments()
		case p.take("ON", "CONFLICT"):
			p.onConflict(in)
		case p.is("RETURNING"), p.is("RETURN") && p.d.Fold == FoldUpper:
			p.next()
			in.Returning = p.returning()
		case p.seq("LOG", "ERRORS"):
			p.skipToEnd()
		case p.is("AS") && p.identAhead(1): // MySQL's VALUES (…) AS new
			p.next()
			var a Alias
			p.i--
			p.alias(&a, true)
		default:
			return
		}
	}
}
