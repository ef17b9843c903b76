package syntax

// otherNames reads the tables that a statement names which moves no rows. It
// may stop anywhere before the statement's end.
func (p *parser) otherNames(o *Other) {
	first := p.i
	switch p.word() {
	case "GRANT", "REVOKE", "DENY":
		if p.seek("ON") {
			p.grantedOn(o)
		}
	case "DESC", "DESCRIBE":
		p.next()
		for p.takeOne("EXTENDED", "FORMATTED", "TABLE", "TABLES") {
		}
		if !p.describesOther() {
			p.nameInto(o)
		}
	case "SHOW":
		p.shown(o)
	case "ANALYZE", "REFRESH", "MSCK", "OPTIMIZE", "UNCACHE", "REPAIR", "CHECKSUM", "INVALIDATE", "CHECK", "LOCK", "COMPUTE":
		if p.seekTable() {
			p.take("IF", "EXISTS")
			p.namesInto(o)
		}
	case "COMMENT":
		if p.isAhead(2, "TABLE") || p.isAhead(2, "VIEW") {
			p.step(3)
			p.take("IF", "EXISTS")
			p.nameInto(o)
		}
	case "INDEX", "UNIQUE", "BITMAP", "CLUSTERED", "NONCLUSTERED", "FULLTEXT", "SPATIAL", "COLUMNSTORE":
		if p.seek("ON") {
			p.takeOne("TABLE", "CLUSTER", "ONLY")
			p.nameInto(o)
		}
	}
	if p.i == first && !p.ended() {
		p.next()
	}
}

// seek goes behind the word w at this depth, if it stands in the statement.
func (p *parser) seek(w string) bool {
	i := p.i
	for ; !p.ended(); p.skip() {
		if p.take(w) {
			return true
		}
	}
	p.i = i
	return false
}

// seekTable goes behind TABLE or TABLES where it is one of the next words.
func (p *parser) seekTable() bool {
	for n := 1; n < 5; n++ {
		if (p.isAhead(n, "TABLE") || p.isAhead(n, "TABLES")) && p.identAhead(n+1) {
			p.step(n + 1)
			return true
		}
	}
	if p.is("COMPUTE") || p.is("INVALIDATE") || p.is("REFRESH") {
		if n := 2; p.identAhead(n) && !p.is("REFRESH") {
			p.step(n)
			return !p.ended()
		}
		p.next()
		return p.identAhead(0) && !p.is("MATERIALIZED") && !p.is("FUNCTIONS") && !p.is("AUTHORIZATION") && !p.is("CATALOG") && !p.is("DATABASE") && !p.is("LDAP") && !p.is("DICTIONARY")
	}
	return false
}

func (p *parser) nameInto(o *Other) {
	if p.identAhead(0) || p.at('*') {
		o.Names = append(o.Names, p.starredName())
	}
}

// namesInto reads a list of names; what else stands at each is skipped.
func (p *parser) namesInto(o *Other) {
	p.list(func() {
		p.nameInto(o)
		p.skipInside()
	})
}

// starredName reads a.b, a.*, *.*: a star is a part of its own.
func (p *parser) starredName() *Table {
	start := p.pos()
	t := &Table{}
	if !p.at('*') {
		t = p.tableName()
	}
	for p.at('*') || p.at('.') && p.atAhead(1, '*') {
		p.eat('.')
		t.Name.Parts = append(t.Name.Parts, Ident{Span: Span{p.pos(), p.tok().end}, Text: "*"})
		p.next()
	}
	t.Name.Span = p.from(start)
	t.Span = t.Name.Span
	return t
}

// grantedOn reads what stands after ON in GRANT and REVOKE.
func (p *parser) grantedOn(o *Other) {
	switch p.word() {
	case "TABLE", "VIEW", "SYSTEM":
		if p.identAhead(1) || p.atAhead(1, '*') {
			p.next()
		}
	case "DATABASE", "SCHEMA", "FUNCTION", "PROCEDURE", "CATALOG", "RESOURCE", "WAREHOUSE", "ROLE", "USER", "ALL", "FUTURE", "SERVER", "URI", "SEQUENCE",
		"TYPE", "STAGE", "INTEGRATION", "ACCOUNT", "LANGUAGE", "LARGE", "TABLESPACE", "FOREIGN", "DIRECTORY", "WORKLOAD", "STORAGE", "COMPUTE", "CLUSTER":
		if p.identAhead(1) {
			return
		}
	}
	for !p.ended() {
		p.nameInto(o)
		if p.at('(') {
			p.skip()
		}
		if !p.eat(',') {
			return
		}
	}
}

// describesOther tells DESCRIBE of something that is no table.
func (p *parser) describesOther() bool {
	switch p.word() {
	case "DATABASE", "SCHEMA", "FUNCTION", "CATALOG", "PROCEDURE", "USER", "ROLE", "RESOURCE", "INPUT", "OUTPUT", "NAMESPACE", "QUERY", "HISTORY", "INTEGRATION", "STAGE":
		return p.identAhead(1) || p.ahead(1).kind == tString
	}
	return false
}

// shown reads SHOW CREATE TABLE t, SHOW PARTITIONS t, SHOW INDEX FROM t [FROM
// db] and their kin.
func (p *parser) shown(o *Other) {
	p.next()
	p.takeOne("FULL", "EXTENDED")
	switch p.word() {
	case "CREATE":
		if p.isAhead(1, "TABLE") || p.isAhead(1, "VIEW") || p.isAhead(1, "MATERIALIZED") {
			p.step(2)
			p.take("VIEW")
			p.nameInto(o)
		}
	case "PARTITIONS", "TBLPROPERTIES", "COLUMNS", "FIELDS", "INDEX", "INDEXES", "KEYS", "STATS", "STATISTICS", "DYNAMIC", "TEMPORARY":
		p.next()
		if !p.takeOne("FROM", "IN", "ON", "FOR") && p.tok().kind == tWord && p.is("PARTITIONS") {
			p.next()
			p.takeOne("FROM", "IN")
		}
		if !p.identAhead(0) || p.is("WHERE") || p.is("LIKE") {
			return
		}
		p.nameInto(o)
		if p.takeOne("FROM", "IN") && p.identAhead(0) && len(o.Names) > 0 && len(o.Names[0].Name.Parts) == 1 {
			// The database stands after the table: a name of its own span.
			db := p.ident()
			t := o.Names[0]
			t.Database = db
		}
	}
}
