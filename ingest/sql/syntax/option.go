package syntax

// option reads one clause of a definition; false where it knows none.
func (p *parser) option(t *definition) bool {
	start := p.pos()
	switch p.word() {
	case "PARTITIONED":
		if !p.isAhead(1, "BY") && !p.isAhead(1, "ON") {
			return false
		}
		p.step(2)
		p.partitionColumns(t)
	case "PARTITION", "AUTO":
		if p.take("AUTO", "REFRESH") {
			return p.takeOne("YES", "NO")
		}
		p.take("AUTO")
		if p.take("PARTITION", "OF") {
			t.parent = p.tableName()
			p.take("DEFAULT")
			return true
		}
		if p.isAhead(1, "ON") && p.atAhead(2, '(') { // Impala's kudu
			p.step(2)
			p.skip()
			return true
		}
		if !p.take("PARTITION", "BY") {
			return false
		}
		p.partitionBy(t)
	case "USING":
		if p.isAhead(1, "INDEX") {
			p.step(2)
			return true
		}
		p.next()
		t.using = p.name().In(p.text)
		if p.at('(') { // sqlite's virtual tables
			p.skip()
		}
	case "ENGINE":
		p.next()
		p.eat('=')
		at := p.pos()
		if p.tok().kind == tString {
			t.using = p.str().Value
		} else {
			t.using = p.name().In(p.text)
		}
		if p.at('(') {
			p.skip()
		}
		t.options = append(t.options, Option{Span: p.from(start), Key: "engine", Value: p.since(at)})
	case "LOCATION":
		p.next()
		p.eat('=')
		p.take("PREFIX")
		t.location = p.value()
	case "TBLPROPERTIES", "PROPERTIES", "OPTIONS", "SERDEPROPERTIES", "TABLEPROPERTIES", "DBPROPERTIES":
		if !p.atAhead(1, '(') {
			return false
		}
		p.next()
		p.optionList(t)
	case "BROKER":
		p.next()
		p.take("PROPERTIES")
		p.skip()
	case "WITH":
		return p.optionWith(t)
	case "LIKE":
		p.next()
		p.take("TABLE")
		if p.is("FILE") && p.ahead(1).kind == tWord {
			p.next()
		}
		if p.ahead(1).kind == tString || p.is("FILE") {
			p.next() // the format of the file that follows
		}
		t.like = p.tableName()
		for p.is("INCLUDING") || p.is("EXCLUDING") || p.is("OVERWRITING") {
			p.next()
			p.next()
		}
		if p.at('(') && !p.queryAt(p.i) {
			p.skip() // the changes that Flink lets LIKE have
		}
	case "CLONE", "DEEP", "SHALLOW", "COPY":
		return p.clone(t)
	case "INHERITS":
		p.next()
		p.group(func() {
			p.list(func() {
				if x := p.tableName(); t.parent == nil {
					t.parent = x
				}
			})
		})
	case "TO":
		if t.view == nil {
			return false
		}
		p.next()
		t.to = p.tableName()
	case "ROW":
		if !p.isAhead(1, "FORMAT") {
			return p.plainOption(t, start)
		}
		p.rowFormat(t)
	case "STORED":
		return p.storedAs(t)
	case "DISTRIBUTED", "DISTRIBUTE":
		return p.distributed()
	case "GRACE":
		p.step(2)
		p.expr()
	case "FRESHNESS":
		p.next()
		p.eat('=')
		p.expr()
	case "OF":
		p.next()
		p.typ()
	case "FOR":
		if !p.isAhead(1, "VALUES") {
			return p.plainOption(t, start)
		}
		p.partitionTail()
	case "REFRESH", "BUILD":
		return p.refresh()
	case "TABLE": // Redshift's TABLE PROPERTIES
		if !p.isAhead(1, "PROPERTIES") || !p.atAhead(2, '(') {
			return p.plainOption(t, start)
		}
		p.step(2)
		p.optionList(t)
	case "RANGE": // one more of Kudu's partitions
		if !p.atAhead(1, '(') {
			return p.plainOption(t, start)
		}
		for p.next(); p.at('('); {
			p.skip()
		}
	case "BEQUEATH", "RETURN":
		if !p.take("RETURN", "AS") {
			p.next()
		}
		p.next()
	case "SCHEDULE":
		p.next()
		p.take("REFRESH")
		p.schedule()
	case "WHEN":
		return p.take("WHEN", "STALE") && p.takeOne("FAIL", "INLINE")
	case "SERVER":
		if !p.identAhead(1) {
			return p.plainOption(t, start)
		}
		p.step(2)
	case "EXTERNAL":
		if p.isAhead(1, "NAME") {
			return false
		}
		return p.plainOption(t, start)
	case "ON":
		switch {
		case p.take("ON", "CLUSTER"), p.take("ON", "COMMIT", "PRESERVE"), p.take("ON", "COMMIT", "DELETE"), p.take("ON", "COMMIT", "DROP"):
			p.next()
			p.take("DEFINITION")
		case p.take("ON", "PREBUILT", "TABLE"):
			if p.takeOne("WITH", "WITHOUT") {
				return p.take("REDUCED", "PRECISION")
			}
		case p.take("ON", "SCHEDULE"):
			p.schedule()
		case p.take("ON", "MANUAL"), p.take("ON", "COMMIT"):
		default:
			p.next() // tsql's ON filegroup
			p.skip()
			if p.at('(') {
				p.skip()
			}
		}
	default:
		return p.plainOption(t, start)
	}
	return true
}

// value reads a value: a string without its quotes, a word, a number.
func (p *parser) value() string {
	t := p.tok()
	switch t.kind {
	case tString, tQuoted:
		p.next()
		return p.unquote(t)
	}
	start := p.pos()
	p.skip()
	for p.at('.') || p.at('-') && p.last() == p.pos() {
		p.next()
		p.skip()
	}
	if p.at('(') && p.last() == p.pos() {
		p.skip()
	}
	return p.since(start)
}

// optionList reads ('k' = 'v', k v, …).
func (p *parser) optionList(t *definition) {
	p.group(func() {
		p.list(func() {
			if p.at(')') {
				return
			}
			start := p.pos()
			o := Option{}
			if p.tok().kind == tString || p.tok().kind == tQuoted {
				o.Key = p.value()
				for p.eat('.') {
					o.Key += "." + p.value()
				}
			} else {
				at := p.pos()
				for !p.at('=') && !p.at(',') && !p.atCloser() && !p.ended() && p.tok().kind != tString && (p.pos() == at || p.last() == p.pos()) {
					p.next()
				}
				o.Key = p.since(at)
			}
			if p.eat('=') || p.eatOp("=>") || p.eatOp("==") || !p.at(',') && !p.atCloser() {
				at := p.i
				o.Value = p.value()
				if !p.at(',') && !p.atCloser() { // an expression: ARRAY['a'], INTERVAL 1 DAY
					p.skipInside()
					o.Value = p.since(p.toks[at].start)
				}
			}
			o.Span = p.from(start)
			t.options = append(t.options, o)
		})
	})
}

// optionWith reads WITH (…), WITH DATA, WITH SERDEPROPERTIES (…) and so on.
func (p *parser) optionWith(t *definition) bool {
	n := p.ahead(1)
	switch {
	case n.ch == '(':
		p.next()
		p.optionList(t)
	case p.isAhead(1, "SERDEPROPERTIES"), p.isAhead(1, "DBPROPERTIES"), p.isAhead(1, "PROPERTIES"), p.isAhead(1, "OPTIONS"):
		p.step(2)
		p.optionList(t)
	case p.take("WITH", "NO", "DATA"), p.take("WITH", "DATA"), p.take("WITH", "NO", "SCHEMA", "BINDING"), p.take("WITH", "SCHEMABINDING"),
		p.take("WITH", "READ", "ONLY"), p.take("WITH", "ROWID"), p.take("WITH", "OIDS"), p.take("WITH", "RESTRICT", "ON", "DROP"),
		p.take("WITH", "REPLACE"), p.take("WITH", "CHECK", "OPTION"), p.take("WITH", "SCHEMA"), p.take("WITH", "PARTITION", "COLUMNS"), p.take("WITH", "NO", "LOGGING"):
		if p.takeOne("EVOLUTION", "BINDING", "COMPENSATION") {
			return true
		}
		if p.is("CONSTRAINT") {
			p.next()
			p.next()
		}
		if p.take("AND") { // Teradata's WITH DATA AND STATS
			p.take("NO")
			p.next()
		}
	case (p.isAhead(1, "CASCADED") || p.isAhead(1, "LOCAL")) && p.isAhead(2, "CHECK"):
		p.step(4)
	case p.isAhead(1, "TAG"), p.isAhead(1, "ROW") && p.isAhead(2, "ACCESS"), p.isAhead(1, "AGGREGATION"):
		for !p.at('(') && !p.ended() {
			p.next()
		}
		p.skip()
	case p.isAhead(1, "CONNECTION"), p.isAhead(1, "LABEL"):
		p.step(2)
		p.name()
	case p.isAhead(1, "VIEW_METADATA"), p.isAhead(1, "ENCRYPTION"):
		p.step(2)
	default:
		return false
	}
	return true
}

// clone reads CLONE t, [DEEP|SHALLOW] CLONE t, COPY t.
func (p *parser) clone(t *definition) bool {
	if p.take("COPY", "GRANTS") || p.take("COPY", "TAGS") {
		return true
	}
	p.takeOne("DEEP", "SHALLOW")
	if !p.takeOne("CLONE", "COPY") {
		return false
	}
	t.clone = true
	t.like = p.tableName()
	switch p.word() {
	case "VERSION", "TIMESTAMP", "FOR", "AT", "BEFORE":
		p.tableVersion(t.like)
	}
	t.like.Span = p.from(t.like.Start)
	return true
}

// isLiteral tells a string, a number or a variable.
func (p *parser) isLiteral() bool {
	switch p.tok().kind {
	case tString, tNumber, tVar:
		return true
	}
	return false
}
