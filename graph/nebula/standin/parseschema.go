package standin

import "strings"

// The clauses of the schema and of sessions.
type (
	useClause         struct{ space string }
	killClause        struct{ session int64 }
	createSpaceClause struct {
		name            string
		ifNotExists     bool
		parts, replicas int64
		vid             int64 // the longest id, in bytes
	}
	// A createClause makes a tag or an edge type.
	createClause struct {
		edge        bool
		name        string
		ifNotExists bool
		columns     []column
	}
	dropClause struct {
		space    string
		ifExists bool
	}
	// An alterClause adds columns.
	alterClause struct {
		edge    bool
		name    string
		columns []column
	}
	descClause struct{ kind, name string }
)

func (p *parser) create() clause {
	switch {
	case p.hasWord("SPACE"):
		return p.createSpace()
	case p.isWord("TAG"), p.isWord("EDGE"):
	default:
		_ = p.fail()
		return nil
	}
	c := &createClause{edge: p.isWord("EDGE")}
	p.advance()
	c.ifNotExists = p.ifNotExists()
	c.name = p.name()
	c.columns = p.columns()
	return c
}

func (p *parser) ifNotExists() bool {
	if !p.hasWord("IF") {
		return false
	}
	p.words("NOT", "EXISTS")
	return true
}

func (p *parser) createSpace() clause {
	c := &createSpaceClause{ifNotExists: p.ifNotExists(), name: p.name(), parts: 100, replicas: 1}
	p.mark("(")
	p.list(func() {
		what := strings.ToLower(p.token.text)
		p.advance()
		p.mark("=")
		switch what {
		case "partition_num":
			c.parts = p.int()
		case "replica_factor":
			c.replicas = p.int()
		case "vid_type":
			p.words("FIXED_STRING")
			p.mark("(")
			c.vid = p.int()
			p.mark(")")
		default:
			_ = p.fail()
		}
	})
	p.mark(")")
	if c.vid == 0 && p.err == nil {
		p.err = refuse(codeSemantic, "SemanticError: space vid_type must be specified explicitly")
	}
	return c
}

// types are those that columns may have.
var types = map[string]bool{"int64": true, "int32": true, "int16": true, "int8": true, "string": true, "bool": true, "fixed_string": true}

func (p *parser) columns() (columns []column) {
	p.mark("(")
	if p.hasMark(")") {
		return nil
	}
	p.list(func() {
		c := column{name: p.name(), nullable: true}
		c.kind = strings.ToLower(p.token.text)
		if c.kind == "int" {
			c.kind = "int64"
		}
		if !p.is(wordToken) || !types[c.kind] {
			_ = p.fail()
		}
		p.advance()
		if c.kind == "fixed_string" {
			p.mark("(")
			c.size = int(p.int())
			p.mark(")")
		}
		switch {
		case p.hasWord("NOT"):
			p.words("NULL")
			c.nullable = false
		case p.hasWord("NULL"):
		}
		if p.hasWord("DEFAULT") {
			e := p.expr()
			if p.err == nil && e.op != opLiteral {
				_ = p.fail()
			}
			if p.err == nil {
				c.byDefault = &e.value
			}
		}
		columns = append(columns, c)
	})
	p.mark(")")
	return columns
}

func (p *parser) alter() clause {
	c := &alterClause{edge: p.isWord("EDGE")}
	if !c.edge && !p.isWord("TAG") {
		_ = p.fail()
		return nil
	}
	p.advance()
	c.name = p.name()
	p.words("ADD")
	c.columns = p.columns()
	return c
}
