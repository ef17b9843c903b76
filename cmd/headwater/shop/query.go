package shop

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A relation is what a SELECT reads from: a table, or a query.
type relation struct {
	columns []result
	// whole is what every row depends on.
	whole []source
}

// A result is a column of a relation, and how it is made.
type result struct {
	name, typ string
	// expression makes it, where it is more than another column.
	expression string
	sources    []source
}

func (r *relation) column(name string) *result {
	for i := range r.columns {
		if r.columns[i].name == name {
			return &r.columns[i]
		}
	}
	return nil
}

// relation returns the table as what a query reads.
func (t *table) relation() *relation {
	r := &relation{}
	for _, c := range t.columns {
		r.columns = append(r.columns, result{name: c.name, typ: c.typ, sources: []source{{table: t, column: c.name, kinds: identity}}})
	}
	return r
}

// A query reads one statement.
type query struct {
	platform *platform
	sql      string
	tokens   []token
	next     int
	// views are the queries that WITH gave a name.
	views map[string]*relation
	reads []*table
}

// A scope has what the columns of a SELECT may stand behind: relations by
// alias.
type scope map[string]*relation

// statement reads a statement of SQL: an INSERT, or a SELECT whose result goes
// into a table that the text names.
func (p *platform) statement(sql string, into *table) (*statement, error) {
	q := &query{platform: p, sql: sql, tokens: tokenize(sql), views: map[string]*relation{}}
	r, into, err := q.statement(into)
	if err != nil {
		line := "the end"
		if q.next < len(q.tokens) {
			line = fmt.Sprintf("line %d", 1+strings.Count(sql[:q.tokens[q.next].at], "\n"))
		}
		return nil, fmt.Errorf("at %s of the SQL: %w", line, err)
	}
	for _, c := range r.columns {
		into.add(column{c.name, c.typ})
	}
	return &statement{sql: sql, reads: q.reads, writes: []write{{table: into, results: r.columns, whole: r.whole}}}, nil
}

// add adds a column that the table does not have yet.
func (t *table) add(c column) {
	if _, ok := t.column(c.name); !ok && !t.listed {
		t.columns = append(t.columns, c)
	}
}

func (q *query) statement(into *table) (*relation, *table, error) {
	if err := q.with(); err != nil {
		return nil, nil, err
	}
	if q.take("insert") {
		if !q.take("into") && !q.take("overwrite") {
			return nil, nil, q.wants("INTO or OVERWRITE")
		}
		q.take("table")
		name, err := q.word()
		if err != nil {
			return nil, nil, err
		}
		if into, err = q.platform.tableFor(name); err != nil {
			return nil, nil, err
		}
		if q.take("partition") {
			q.next += 1 + len(inside(q.tokens[q.next:])) + 1
		}
		if err := q.with(); err != nil {
			return nil, nil, err
		}
	}
	if into == nil {
		return nil, nil, errors.New("the result goes nowhere")
	}
	r, err := q.selects()
	if err == nil && q.next < len(q.tokens) {
		err = q.wants("the end")
	}
	return r, into, err
}

// with reads WITH name AS (query), …
func (q *query) with() error {
	if !q.take("with") {
		return nil
	}
	for {
		name, err := q.word()
		if err != nil {
			return err
		}
		if !q.take("as") || !q.take("(") {
			return q.wants("AS (")
		}
		if q.views[name], err = q.selects(); err != nil {
			return err
		}
		if !q.take(")") {
			return q.wants(")")
		}
		if !q.take(",") {
			return nil
		}
	}
}

// selects reads one SELECT, or several with UNION ALL between them.
func (q *query) selects() (*relation, error) {
	all, err := q.selectOne()
	for err == nil && q.take("union") {
		q.take("all")
		var more *relation
		if more, err = q.selectOne(); err != nil {
			break
		}
		if len(more.columns) != len(all.columns) {
			return nil, errors.New("the sides of UNION have different numbers of columns")
		}
		for i, c := range more.columns {
			for _, s := range c.sources {
				all.columns[i].sources = addSource(all.columns[i].sources, s)
			}
		}
		for _, s := range more.whole {
			all.whole = addSource(all.whole, s)
		}
	}
	return all, err
}

// The words that end an expression outside of parentheses.
var clauses = []string{"from", "where", "group", "having", "order", "limit", "union", "on", "join", "left", "right", "full", "inner", "cross"}

func (q *query) selectOne() (*relation, error) {
	if !q.take("select") {
		return nil, q.wants("SELECT")
	}
	items := q.expression()
	if !q.take("from") {
		return nil, q.wants("FROM")
	}
	from, r := scope{}, &relation{}
	if err := q.from(from, r); err != nil {
		return nil, err
	}
	for _, c := range []struct {
		words []string
		kinds kinds
	}{{[]string{"where"}, filter}, {[]string{"group", "by"}, groupBy}, {[]string{"having"}, filter}, {[]string{"order", "by"}, sorting}} {
		if !q.take(c.words[0]) {
			continue
		}
		if len(c.words) > 1 && !q.take(c.words[1]) {
			return nil, q.wants("BY")
		}
		if err := q.every(r, from, c.kinds); err != nil {
			return nil, err
		}
	}
	if q.take("limit") {
		q.next++
	}
	for _, item := range split(items) {
		c, err := q.item(item, from)
		if err != nil {
			return nil, err
		}
		r.columns = append(r.columns, c)
	}
	return r, nil
}

// from reads what stands behind FROM, up to WHERE.
func (q *query) from(s scope, r *relation) error {
	if err := q.relation(s, r); err != nil {
		return err
	}
	for {
		for q.take("left") || q.take("right") || q.take("full") || q.take("inner") || q.take("cross") {
			continue
		}
		if !q.take("join") {
			return nil
		}
		if err := q.relation(s, r); err != nil {
			return err
		}
		if q.take("on") {
			if err := q.every(r, s, join); err != nil {
				return err
			}
		}
	}
}

// relation reads the name of a table or view, and its alias.
func (q *query) relation(s scope, r *relation) error {
	name, err := q.word()
	if err != nil {
		return err
	}
	from := q.views[name]
	if from == nil {
		t, err := q.platform.lookUp(name)
		if err != nil {
			return err
		}
		if !slices.Contains(q.reads, t) {
			q.reads = append(q.reads, t)
		}
		from = t.relation()
	}
	alias := name[strings.LastIndexByte(name, '.')+1:]
	if t := q.peek(); t.kind == word && !slices.Contains(clauses, t.text) {
		alias = t.text
		q.next++
	}
	s[alias] = from
	for _, w := range from.whole {
		r.whole = addSource(r.whole, w)
	}
	return nil
}

// every adds what an expression names to what every row depends on.
func (q *query) every(r *relation, s scope, k kinds) error {
	sources, err := s.sources(q.expression(), k)
	for _, s := range sources {
		r.whole = addSource(r.whole, s)
	}
	return err
}

// item reads one result of a SELECT: an expression AS a name, or a column.
func (q *query) item(tokens []token, s scope) (result, error) {
	var c result
	body := tokens
	if n := len(tokens); n > 2 && tokens[n-2].text == "as" {
		body, c.name = tokens[:n-2], tokens[n-1].text
	} else if ref := s.ref(tokens); ref != nil {
		c.name = ref.name
	} else {
		return c, fmt.Errorf("%q has no name", q.text(tokens))
	}
	k := transformation
	if ref := s.ref(body); ref != nil {
		k, c.expression = identity, ref.expression
	} else {
		c.expression = q.text(body)
	}
	var err error
	if c.sources, err = s.sources(body, k); err != nil {
		return c, fmt.Errorf("column %s: %w", c.name, err)
	}
	c.typ = s.typeOf(body)
	return c, nil
}

// text returns the text of tokens in one line.
func (q *query) text(tokens []token) string {
	if len(tokens) == 0 {
		return ""
	}
	return strings.Join(strings.Fields(q.sql[tokens[0].at:tokens[len(tokens)-1].end]), " ")
}
