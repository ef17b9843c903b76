package syntax

// drop reads DROP.
func (p *parser) drop(start int32) Body {
	p.next()
	d := &Drop{}
	d.Temporary = p.takeOne("TEMPORARY", "TEMP")
	p.takeOne("EXTERNAL", "FOREIGN", "ICEBERG", "STREAMING", "DYNAMIC")
	switch {
	case p.take("MATERIALIZED", "VIEW"), p.take("MATERIALIZED", "TABLE"):
		d.Object = "MATERIALIZED VIEW"
	default:
		d.Object = p.word()
		if !createObject(d.Object) && d.Object != "PREPARE" && d.Object != "STATS" && d.Object != "PARTITION" && !p.seq("ALL", "ROW") {
			return p.other(start)
		}
		p.next()
	}
	if d.Object == "TABLE" && p.is("FUNCTION") && p.identAhead(1) {
		return p.known(start, "DROP FUNCTION")
	}
	if d.Object != "TABLE" && d.Object != "VIEW" && d.Object != "MATERIALIZED VIEW" {
		if d.Object == "INDEX" {
			o := &Other{Verb: "DROP INDEX", Known: true}
			p.i--
			p.otherNames(o)
			p.skipStatement()
			o.Span = p.from(start)
			return o
		}
		return p.known(start, "DROP "+d.Object)
	}
	d.IfExists = p.take("IF", "EXISTS")
	p.list(func() {
		if p.ended() {
			return
		}
		d.Names = append(d.Names, p.tableName())
	})
	d.IfExists = p.take("IF", "EXISTS") || d.IfExists
	for !p.broken && (p.takeOne("CASCADE", "RESTRICT", "PURGE", "FORCE", "CONSTRAINTS", "SYNC", "DELETE", "NO", "PERMANENTLY", "ON") || p.takeOne("CLUSTER", "DELAY")) {
		if p.toks[p.i-1].wordIs(p.text, "CLUSTER") {
			p.next()
		}
	}
	if p.is("PARTITION") && p.atAhead(1, '(') {
		p.next()
		p.skip()
	}
	if p.is("INCLUDING") || p.seq("FOR", "REPLICATION") { // Oracle, Hive
		p.skipToEnd()
	}
	d.Span = p.from(start)
	return d
}

// truncate reads TRUNCATE.
func (p *parser) truncate(start int32) Body {
	p.next()
	t := &Truncate{}
	switch {
	case p.take("TABLE"), p.take("TABLES"):
	case p.is("DATABASE"), p.is("ALL"), p.is("CLUSTER"):
		return p.known(start, "TRUNCATE")
	}
	p.take("IF", "EXISTS")
	p.take("ONLY")
	p.list(func() {
		if p.ended() {
			return
		}
		t.Tables = append(t.Tables, p.tableName())
		if p.at('*') {
			p.next()
		}
	})
	for !p.broken {
		switch {
		case p.is("PARTITION") || p.is("PARTITIONS"):
			p.next()
			if p.at('(') {
				t.Partition = append(t.Partition, p.partitionSpec()...)
			} else {
				id := p.ident()
				t.Partition = append(t.Partition, PartitionItem{Span: id.Span, Column: Name{Span: id.Span, Parts: []Ident{id}}})
			}
		case p.is("WITH") && p.atAhead(1, '('), p.is("COLUMNS") && p.atAhead(1, '('):
			p.next()
			p.skip()
		case p.take("RESTART", "IDENTITY"), p.take("CONTINUE", "IDENTITY"), p.take("IGNORE", "DELETE", "TRIGGERS"), p.take("PRESERVE", "MATERIALIZED", "VIEW", "LOG"), p.take("RESTRICT", "WHEN", "DELETE", "TRIGGERS"), p.take("WHEN", "DELETE", "TRIGGERS"), p.take("PURGE", "SNAPSHOT", "LOG"), p.take("PRESERVE", "SNAPSHOT", "LOG"), p.take("PURGE", "MATERIALIZED", "VIEW", "LOG"):
		case p.takeOne("CASCADE", "RESTRICT", "FORCE", "IMMEDIATE", "DROP", "REUSE", "ALL", "STORAGE", "PURGE", "SYNC"):
		case p.take("ON", "CLUSTER"), p.take("SETTINGS"):
			p.next()
		default:
			t.Span = p.from(start)
			return t
		}
	}
	t.Span = p.from(start)
	return t
}

// rename reads RENAME TABLE a TO b, …, EXCHANGE TABLES a AND b.
func (p *parser) rename(start int32) Body {
	r := &Rename{Swap: p.is("EXCHANGE")}
	p.next()
	if p.is("USER") || p.is("DATABASE") || p.is("DICTIONARY") || p.is("DICTIONARIES") || p.is("INDEX") || p.is("COLUMN") {
		return p.known(start, "RENAME")
	}
	p.takeOne("TABLE", "TABLES", "VIEW")
	p.take("IF", "EXISTS")
	p.list(func() {
		a := p.tableName()
		if !p.takeOne("TO", "AND", "WITH") {
			p.take("AS")
		}
		r.Pairs = append(r.Pairs, [2]*Table{a, p.tableName()})
	})
	if p.take("ON", "CLUSTER") {
		p.next()
	}
	r.Span = p.from(start)
	return r
}

// use reads USE.
func (p *parser) use(start int32) Body {
	p.next()
	u := &Use{}
	if !p.ended() && p.identAhead(1) || p.ahead(1).kind == tString {
		switch w := p.word(); w {
		case "CATALOG", "DATABASE", "SCHEMA", "NAMESPACE", "DEFAULT":
			u.Object = w
			p.next()
		case "WAREHOUSE", "ROLE", "SECONDARY", "SCHEMAS", "MODULES":
			return p.known(start, "USE "+w)
		}
	}
	if p.tok().kind == tString {
		id := p.ident()
		u.Name = Name{Span: id.Span, Parts: []Ident{id}}
	} else {
		u.Name = p.name()
		if p.at('@') { // Doris's USE db@cluster
			p.step(2)
		}
	}
	if len(u.Name.Parts) == 0 {
		p.warn(p.from(start), "USE without a name")
	}
	u.Span = p.from(start)
	return u
}
