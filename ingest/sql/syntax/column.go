package syntax

// columnDef reads a column: its name, its type and what is said of it.
func (p *parser) columnDef() ColumnDef {
	start := p.pos()
	c := ColumnDef{}
	if p.tok().kind == tString {
		id := p.ident()
		c.Name = Name{Span: id.Span, Parts: []Ident{id}}
	} else {
		c.Name = p.name()
	}
	if p.at(':') {
		p.next()
	}
	if !p.columnWord() {
		c.Type = p.typ()
	}
	p.columnOptions(&c)
	c.Span = p.from(start)
	return c
}

// columnWord tells whether a word stands here that says something of a column
// and is no type.
func (p *parser) columnWord() bool {
	switch p.word() {
	case "":
		return p.tok().kind != tQuoted && p.tok().kind != tString
	case "AS", "NOT", "NULL", "DEFAULT", "PRIMARY", "UNIQUE", "COMMENT", "GENERATED", "MATERIALIZED", "ALIAS", "EPHEMERAL", "CONSTRAINT",
		"CHECK", "REFERENCES", "METADATA", "CODEC", "OPTIONS", "WITH", "COLLATE", "TTL", "MASKING", "TAG", "ENCODE", "FOR", "VISIBLE", "INVISIBLE":
		return true
	}
	return false
}

// columnOptions reads what follows a column's type.
func (p *parser) columnOptions(c *ColumnDef) {
	for !p.broken && !p.at(',') && !p.atCloser() && !p.ended() {
		if !p.columnOption(c) {
			if p.block == 0 && !p.columnRest() {
				return
			}
			s := p.pos()
			p.skipInside()
			p.warn(p.from(s), "an option of a column was not understood: skipped")
			return
		}
	}
}

// columnRest tells whether the column stands in a list, so that what is not
// understood is its own.
func (p *parser) columnRest() bool {
	switch p.word() {
	case "AFTER", "FIRST", "BEFORE", "ADD", "DROP", "MODIFY", "CHANGE", "RENAME", "ALTER", "USING", "SET", "TO", "PROPERTIES", "CASCADE", "RESTRICT", "IN", "SETTINGS", "LAST":
		return false
	}
	return true
}

func (p *parser) columnOption(c *ColumnDef) bool {
	switch w := p.word(); w {
	case "NOT":
		return p.take("NOT", "NULL") || p.take("NOT", "ENFORCED") || p.take("NOT", "VALID") || p.take("NOT", "DEFERRABLE") || p.take("NOT", "NULLABLE") || p.take("NOT", "FOR", "REPLICATION") || p.take("NOT", "HIDDEN") || p.take("NOT", "CASESPECIFIC") || p.take("NOT", "LOGGED") || p.take("NOT", "COMPACT") || p.take("NOT", "VISIBLE")
	case "NULL", "UNIQUE", "KEY", "STORED", "VIRTUAL", "PERSISTED", "PERSISTENT", "ENABLE", "DISABLE", "VALIDATE", "NOVALIDATE", "RELY", "NORELY", "ENFORCED", "VISIBLE",
		"INVISIBLE", "SPARSE", "ROWGUIDCOL", "CASESPECIFIC", "DEFERRABLE", "SUM", "MAX", "MIN", "REPLACE", "REPLACE_IF_NOT_NULL",
		"HLL_UNION", "BITMAP_UNION", "QUANTILE_UNION", "BITMAP", "BINARY", "ASCII", "UNICODE", "UNSIGNED", "SIGNED", "ZEROFILL",
		"SORTKEY", "DISTKEY", "HIDDEN", "ALWAYS", "COMPACT", "CASCADE", "NONCLUSTERED", "CLUSTERED", "SERIAL", "LOGGED", "FINAL", "UPPERCASE", "LOCAL", "NODEFAULT":
		p.next()
	case "INCLUDE":
		p.next()
		p.skip()
	case "NULLS":
		return p.take("NULLS", "NOT", "DISTINCT") || p.take("NULLS", "DISTINCT")
	case "PRIMARY":
		p.next()
		p.take("KEY")
		p.takeOne("ASC", "DESC", "AUTOINCREMENT", "CLUSTERED", "NONCLUSTERED")
	case "DEFAULT":
		p.next()
		p.take("ON", "NULL")
		if !p.atCloser() && !p.at(',') && !p.ended() && (p.tok().kind != tWord || !p.columnWord() || p.is("NULL")) {
			p.climb(precOther)
		}
	case "COMMENT", "TITLE":
		p.next()
		p.eat('=')
		if p.tok().kind == tString {
			c.Comment = p.str().Value
		} else {
			p.next()
		}
	case "COLLATE", "ENCODE", "COLUMN_FORMAT", "STORAGE", "COMPRESSION", "FORMAT", "STATISTICS", "SRID", "ENCODING", "BLOCK_SIZE", "ENGINE_ATTRIBUTE", "SECONDARY_ENGINE_ATTRIBUTE":
		p.next()
		p.eat('=')
		if w == "COLLATE" {
			p.collation()
		} else {
			p.skip()
		}
	case "CHARACTER", "CHARSET":
		p.next()
		p.take("SET")
		p.eat('=')
		p.next()
	case "GENERATED", "AS", "MATERIALIZED", "ALIAS", "EPHEMERAL":
		return p.computed(c, w)
	case "METADATA":
		p.next()
		c.Metadata = true
		if p.take("FROM") {
			p.next()
		}
	case "CODEC", "MASKING", "OPTIONS", "TAG", "PROJECTION":
		return p.columnParen(w)
	case "TTL":
		p.next()
		p.expr()
	case "AUTO_INCREMENT", "AUTO_RANDOM", "IDENTITY", "AUTOINCREMENT":
		p.next()
		if p.at('(') {
			p.skip()
		}
		for p.takeOne("START", "INCREMENT", "SEED", "WITH", "BY", "ORDER", "NOORDER") || p.tok().kind == tNumber {
			if p.tok().kind == tNumber {
				p.next()
			}
		}
	case "ON":
		return p.columnOn()
	case "REFERENCES":
		p.next()
		p.references = append(p.references, p.tableName())
		if p.at('(') {
			p.skip()
		}
		if p.take("MATCH") {
			p.next()
		}
	case "CHECK":
		p.next()
		if p.at('(') {
			p.skip()
		}
		p.take("NO", "INHERIT")
	case "CONSTRAINT":
		p.next()
		p.ident()
	case "INITIALLY":
		p.next()
		p.next()
	case "USING":
		if !p.isAhead(1, "INDEX") {
			return false
		}
		p.skipInside()
	case "WITH":
		return p.columnWith()
	case "MAPPED", "COLPROPERTIES":
		p.next()
		p.take("BY")
		p.skip()
	case "MASKED":
		p.next()
		return p.take("WITH") && p.skipped('(')
	case "SCOPE":
		return p.take("SCOPE", "IS") && p.identAhead(0) && len(p.name().Parts) > 0
	case "REMOVE", "AGGREGATE", "ENCRYPT", "INLINE", "SECURITY", "REFCOUNTED":
		p.skipInside()
	case "PARTITION":
		return p.take("PARTITION", "KEY")
	case "COMPRESS":
		p.next()
		if p.at('(') || p.tok().kind == tString || p.tok().kind == tNumber {
			p.skip()
		}
	case "FOR":
		return p.take("FOR", "BIT", "DATA") || p.take("FOR", "SBCS", "DATA") || p.take("FOR", "MIXED", "DATA") || p.take("FOR", "REPLICATION")
	default:
		return false
	}
	return true
}

// computed reads the expression of a generated column.
func (p *parser) computed(c *ColumnDef, w string) bool {
	p.next()
	if w == "GENERATED" {
		if !p.take("ALWAYS") && p.take("BY", "DEFAULT") {
			p.take("ON", "NULL")
		}
		if !p.take("AS") {
			return true
		}
		if p.take("IDENTITY") {
			if p.at('(') {
				p.skip()
			}
			return true
		}
		if p.take("ROW") || p.take("TRANSACTION") {
			p.next() // START or END
			p.take("ID")
			return true
		}
	}
	if w == "EPHEMERAL" && (p.at(',') || p.atCloser() || p.columnWord()) {
		return true
	}
	if w == "AS" && p.take("IDENTITY") {
		if p.at('(') {
			p.skip()
		}
		return true
	}
	c.As = p.expr()
	return true
}

func (p *parser) columnParen(w string) bool {
	p.next()
	if w == "MASKING" {
		p.take("POLICY")
		p.name()
		if p.take("USING") {
			p.skip()
		}
		return true
	}
	if p.take("POLICY") { // PROJECTION POLICY
		p.name()
		return true
	}
	if !p.at('(') {
		return false
	}
	p.skip()
	return true
}

func (p *parser) columnWith() bool {
	switch {
	case p.take("WITH", "OPTIONS"):
	case p.take("WITH", "DEFAULT"):
		if !p.at(',') && !p.atCloser() {
			p.climb(precOther)
		}
	case p.isAhead(1, "MASKING"), p.isAhead(1, "TAG"), p.isAhead(1, "PROJECTION"):
		p.next()
	case p.atAhead(1, '('):
		p.next()
		p.skip()
	case p.isAhead(1, "TIME"):
		p.skipInside()
	default:
		return false
	}
	return true
}

// columnOn reads ON UPDATE …, ON DELETE …, ON CONFLICT ….
func (p *parser) columnOn() bool {
	switch {
	case p.take("ON", "UPDATE"), p.take("ON", "DELETE"):
		if p.take("SET") || p.take("NO") {
			p.next()
			if p.at('(') {
				p.skip()
			}
			return true
		}
		if p.takeOne("CASCADE", "RESTRICT") {
			return true
		}
		p.climb(precOther)
	case p.take("ON", "CONFLICT"):
		p.next()
	default:
		return false
	}
	return true
}
