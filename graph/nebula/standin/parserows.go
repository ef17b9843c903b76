package standin

import "strings"

// The clauses that write and read rows.
type (
	// An insertClause writes vertices of a tag, or edges of a type.
	insertClause struct {
		edge        bool
		name        string
		ifNotExists bool
		columns     []string
		rows        []insertRow
	}
	insertRow struct {
		key    edgeKey // of a vertex: src
		values []*expr
	}
	edgeKey struct {
		src, dst string
		rank     int64
	}
	// A deleteClause deletes edges by key, or those whose keys come by the pipe.
	deleteClause struct {
		edge           string
		keys           []edgeKey
		src, dst, rank *expr
		vertices       []string
		withEdges      bool
	}
	// An unwindClause makes a row of each element of a list.
	unwindClause struct {
		list *expr
		as   string
	}
	yieldClause struct{ yields *yields }
	goClause    struct {
		from   []string
		input  *expr // or the column where the ids are
		over   []string
		dir    int // 1, -1: reversely, 0: both
		where  *expr
		yields *yields
		limit  int64 // -1: none
	}
	// A fetchClause reads vertices by id, or edges by key.
	fetchClause struct {
		name   string
		from   []string
		input  *expr
		keys   []edgeKey
		yields *yields
	}
	limitClause struct{ offset, count int64 }
	orderClause struct {
		by   []*expr
		desc []bool
	}
	yields struct {
		distinct bool
		names    []string
		exprs    []*expr
		count    bool // count(*), alone
	}
)

func (p *parser) insert() clause {
	c := &insertClause{edge: p.isWord("EDGE")}
	if !c.edge && !p.isWord("VERTEX") {
		_ = p.fail()
		return nil
	}
	p.advance()
	c.ifNotExists = p.ifNotExists()
	c.name = p.name()
	p.mark("(")
	if !p.isMark(")") {
		c.columns = p.names()
	}
	p.mark(")")
	p.words("VALUES")
	p.list(func() {
		row := insertRow{}
		if c.edge {
			row.key = p.edgeKey()
		} else {
			row.key.src = p.vid()
		}
		p.mark(":")
		p.mark("(")
		if !p.isMark(")") {
			row.values = make([]*expr, 0, len(c.columns))
			p.list(func() { row.values = append(row.values, p.expr()) })
		}
		p.mark(")")
		c.rows = append(c.rows, row)
	})
	return c
}

func (p *parser) edgeKey() edgeKey {
	k := edgeKey{src: p.vid()}
	p.mark("->")
	k.dst = p.vid()
	if p.hasMark("@") {
		k.rank = p.int()
	}
	return k
}

func (p *parser) delete(piped bool) clause {
	c := &deleteClause{}
	if p.hasWord("VERTEX") {
		if piped && p.isMark("$-") {
			p.err = refuse(codeSemantic, "SemanticError: The vid `%s' should be type of `STRING', but was`__EMPTY__'", strings.TrimSpace(p.text[p.token.at:]))
		}
		p.list(func() { c.vertices = append(c.vertices, p.vid()) })
		if p.hasWord("WITH") {
			p.words("EDGE")
			c.withEdges = true
		}
		return c
	}
	p.words("EDGE")
	c.edge = p.name()
	if piped && p.isMark("$-") {
		c.src = p.ref()
		p.mark("->")
		c.dst = p.ref()
		p.mark("@")
		c.rank = p.ref()
		return c
	}
	p.list(func() { c.keys = append(c.keys, p.edgeKey()) })
	return c
}

// ref reads a column of what comes by the pipe.
func (p *parser) ref() *expr {
	p.mark("$-")
	p.mark(".")
	return &expr{op: opInput, name: p.name()}
}

// ids reads the ids where a clause starts: literals, or a column.
func (p *parser) ids(piped bool) (ids []string, input *expr) {
	if piped && p.isMark("$-") {
		return nil, p.ref()
	}
	p.list(func() { ids = append(ids, p.vid()) })
	return ids, nil
}

func (p *parser) goClause(piped bool) clause {
	c := &goClause{dir: 1, limit: -1}
	if p.is(intToken) {
		// m TO n walks through what its filter leaves out.
		if p.token.i != 1 {
			_ = p.fail()
		}
		p.advance()
		p.words("STEPS")
	}
	p.words("FROM")
	c.from, c.input = p.ids(piped)
	p.words("OVER")
	c.over = p.names()
	switch {
	case p.hasWord("REVERSELY"):
		c.dir = -1
	case p.hasWord("BIDIRECT"):
		c.dir = 0
	}
	if p.hasWord("WHERE") {
		c.where = p.expr()
	}
	if !p.isWord("YIELD") {
		if p.err == nil && (p.is(endToken) || p.isMark("|")) {
			p.err = refuse(codeSemantic, "SemanticError: Missing yield clause.")
		}
		_ = p.fail()
	}
	p.advance()
	c.yields = p.yields()
	if p.hasWord("LIMIT") {
		p.mark("[")
		if p.err == nil && strings.HasPrefix(p.token.text, "$") {
			p.err = refuse(codeSemantic, "SemanticError: Limit/Sample element type must be Integer.")
		}
		c.limit = p.int()
		p.mark("]")
	}
	return c
}

func (p *parser) fetch(piped bool) clause {
	p.words("PROP", "ON")
	c := &fetchClause{name: p.name()}
	switch {
	case piped:
		c.input = p.ref()
	default:
		first := p.vid()
		if !p.isMark("->") {
			c.from = []string{first}
			for p.hasMark(",") {
				c.from = append(c.from, p.vid())
			}
			break
		}
		p.advance()
		k := edgeKey{src: first, dst: p.vid()}
		if p.hasMark("@") {
			k.rank = p.int()
		}
		c.keys = []edgeKey{k}
		for p.hasMark(",") {
			c.keys = append(c.keys, p.edgeKey())
		}
	}
	p.words("YIELD")
	c.yields = p.yields()
	return c
}

func (p *parser) limit(piped bool) clause {
	if !piped {
		_ = p.fail()
	}
	c := &limitClause{count: p.int()}
	if p.hasMark(",") {
		c.offset, c.count = c.count, p.int()
	}
	return c
}

func (p *parser) order() clause {
	p.words("BY")
	c := &orderClause{}
	p.list(func() {
		c.by = append(c.by, p.ref())
		desc := p.hasWord("DESC")
		if !desc {
			p.hasWord("ASC")
		}
		c.desc = append(c.desc, desc)
	})
	return c
}

func (p *parser) yields() *yields {
	y := &yields{distinct: p.hasWord("DISTINCT")}
	p.list(func() {
		start := p.token.at
		if p.isWord("count") {
			p.advance()
			p.mark("(")
			p.mark("*")
			p.mark(")")
			y.count = true
			y.exprs = append(y.exprs, nil)
		} else {
			y.exprs = append(y.exprs, p.expr())
		}
		name := p.text[min(start, len(p.text)):min(max(start, p.token.at), len(p.text))]
		if p.hasWord("AS") {
			name = p.name()
		}
		y.names = append(y.names, strings.TrimSpace(name))
	})
	if y.count && len(y.exprs) > 1 {
		_ = p.fail()
	}
	return y
}
