package syntax

// A definition gathers what follows the name in CREATE TABLE and CREATE VIEW.
type definition struct {
	table       *CreateTable // of the two, the one that is read
	view        *CreateView
	columns     []ColumnDef // of a view
	options     []Option
	partitioned []ColumnDef
	location    string
	using       string
	like        *Table
	parent      *Table
	to          *Table
	clone       bool
	query       *Query
}

// definition reads columns, options and the query, in any order.
func (p *parser) definition(t *definition) {
	for !p.broken && !p.ended() {
		i := p.i
		switch {
		case p.at('('):
			p.definitionParen(t)
		case p.is("AS") && (p.queryHead(p.i+1) || p.queryAt(p.i+1)):
			p.next()
			p.definitionQuery(t)
		case p.queryHead(p.i) && !(p.is("TABLE") && p.isAhead(1, "PROPERTIES") && p.atAhead(2, '(')):
			p.definitionQuery(t)
		case p.is("AS") && p.ahead(1).kind == tVar:
			p.next()
			p.definitionQuery(t)
		case p.is("AS") && p.ahead(1).kind == tString: // a query as text, Snowflake's and Databricks' $$ … $$
			p.step(2)
		case p.take("AS", "REPLICA", "OF"):
			t.like = p.tableName()
		case p.is("AS") && p.isAhead(1, "EXECUTE"): // a prepared query
			p.step(2)
			p.name()
			if p.at('(') {
				p.skip()
			}
		case (p.is("IGNORE") || p.is("REPLACE")) && (p.queryHead(p.i+1) || p.queryAt(p.i+1) || p.isAhead(1, "AS")):
			p.next()
		case p.is("AS") && (p.isAhead(1, "CLONE") || p.isAhead(1, "COPY")):
			p.next()
		case p.is("AS") && p.identAhead(1) && t.table != nil:
			p.next()
			t.like = p.tableName()
			if p.at('(') {
				p.skip()
			}
		case p.block > 0 && p.blockEnd():
			return
		case p.option(t):
		case p.anotherFollows():
			return
		default:
			p.skipOption()
		}
		if p.i == i {
			return
		}
	}
}

// skipOption skips an option that is not understood, up to the next that may
// be.
func (p *parser) skipOption() {
	start := p.pos()
	p.skip()
	for !p.ended() && !p.atCloser() && p.class()&clause == 0 && !p.is("AS") {
		if _, ok := shapes[p.word()]; ok {
			break
		}
		p.skip()
	}
	p.warn(p.from(start), "an option of a definition was not understood: skipped")
}

// definitionQuery reads the query of CREATE … AS.
func (p *parser) definitionQuery(t *definition) {
	if t.query != nil {
		p.skipTo(0, "a second query")
		return
	}
	t.query = p.query()
}

// definitionParen reads (a INT, …), (LIKE t) or (query).
func (p *parser) definitionParen(t *definition) {
	if p.queryAt(p.i) {
		p.definitionQuery(t)
		return
	}
	p.group(func() {
		if p.at(')') {
			return
		}
		p.list(func() { p.definitionItem(t) })
	})
}

// definitionItem reads a column or a constraint of the whole table.
func (p *parser) definitionItem(t *definition) {
	if p.at(')') || p.at(',') {
		return
	}
	if p.constraint() {
		return
	}
	switch {
	case p.is("LIKE") && p.identAhead(1):
		p.next()
		t.like = p.tableName()
		p.skipInside() // INCLUDING …
		return
	case !p.identAhead(0) && p.tok().kind != tString:
		if p.at('*') { // Snowflake's and Impala's
			p.next()
			return
		}
		s := p.pos()
		p.skipInside()
		p.warn(p.from(s), "a column definition was not understood: skipped")
		return
	}
	c := p.columnDef()
	if t.table != nil {
		t.table.Columns = append(t.table.Columns, c)
	} else {
		t.columns = append(t.columns, c)
	}
}

// constraint reads a constraint of a table, an index, a watermark; false where
// a column stands here.
func (p *parser) constraint() bool {
	n := p.ahead(1)
	s := p.pos()
	switch p.word() {
	case "CONSTRAINT":
		if n.ch == ',' || n.ch == ')' {
			return false
		}
		p.next()
		if !p.is("PRIMARY") && !p.is("UNIQUE") && !p.is("CHECK") && !p.is("FOREIGN") {
			p.ident()
		}
	case "PRIMARY", "FOREIGN":
		if !p.isAhead(1, "KEY") && !p.isAhead(1, "INDEX") {
			return false
		}
	case "UNIQUE":
		if n.ch != '(' && !p.isAhead(1, "KEY") && !p.isAhead(1, "INDEX") && !p.isAhead(1, "CLUSTERED") && !p.isAhead(1, "NONCLUSTERED") && !p.isAhead(1, "NULLS") &&
			!(p.identAhead(1) && p.atAhead(2, '(')) {
			return false
		}
	case "CHECK":
		if n.ch != '(' {
			return false
		}
	case "INDEX", "KEY", "FULLTEXT", "SPATIAL", "CLUSTERING":
		if p.isAhead(1, "USING") || p.isAhead(1, "TYPE") {
			break
		}
		if n.ch == ',' || n.ch == ')' || !(n.ch == '(' || p.isAhead(1, "IF") || p.isAhead(1, "KEY") || p.isAhead(1, "INDEX") || p.atAhead(2, '(') || p.isAhead(2, "USING") || p.isAhead(2, "TYPE") || p.isAhead(2, "ON") || p.is("FULLTEXT")) || typeWord(p.wordAhead(1)) {
			if !(p.is("INDEX") && (p.isAhead(3, "TYPE"))) {
				return false
			}
		}
	case "PROJECTION":
		if !p.identAhead(1) || !p.atAhead(2, '(') {
			return false
		}
		p.step(2)
		p.skip()
		return true
	case "WATERMARK":
		if !p.isAhead(1, "FOR") {
			return false
		}
		p.step(2)
		p.name()
		p.take("AS")
		p.expr()
		return true
	case "PERIOD":
		if !p.isAhead(1, "FOR") {
			return false
		}
	case "EXCLUDE", "SUPPLEMENTAL", "PARTITION":
		if n.ch != '(' && !p.isAhead(1, "USING") && !p.isAhead(1, "LOG") && !p.isAhead(1, "KEY") {
			return false
		}
	default:
		return false
	}
	for !p.at(',') && !p.atCloser() && !p.ended() {
		if p.take("REFERENCES") {
			p.references = append(p.references, p.tableName())
			continue
		}
		p.skip()
	}
	return p.last() > s
}

// typeWord tells the types that a column of the name INDEX or KEY may have.
func typeWord(w string) bool {
	switch w {
	case "INT", "INTEGER", "BIGINT", "SMALLINT", "VARCHAR", "CHAR", "STRING", "TEXT", "DATE", "TIMESTAMP", "DOUBLE", "FLOAT",
		"DECIMAL", "NUMERIC", "NUMBER", "BOOLEAN", "VARCHAR2", "DATETIME", "BYTES", "TINYINT":
		return true
	}
	return false
}
