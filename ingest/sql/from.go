package sql

import (
	"strings"

	"headwater/ingest/sql/syntax"
)

// A from binds the references of a FROM clause into a scope.
type from struct {
	r     *resolver
	scope *scope
	node  int32 // what the rows so far come from; -1: none
	acc   *acc  // dependencies of all rows
	comma bool  // WHERE may hold join conditions
	apply bool  // the reference is that of an APPLY: it sees those before it
	// before is what a pipe's PIVOT reads in the place of a reference.
	before *relation
}

func (r *resolver) newFrom(s *scope) *from {
	return &from{r: r, scope: s, node: -1, acc: r.scratch()}
}

// done returns the dependencies that were gathered and lets the from go.
func (f *from) done() set {
	d := f.r.deps.keep(normal(f.acc.deps))
	f.r.release(f.acc)
	f.acc = nil
	return d
}

// list binds references that stand side by side.
func (f *from) list(refs []syntax.TableRef) {
	for _, ref := range refs {
		left := f.node
		node := f.tableRef(ref)
		if left >= 0 && node != left {
			join := f.r.node(OpJoin, "CROSS", ref)
			f.r.input(join, left)
			f.r.input(join, node)
			node = join
			f.comma = true
		}
		f.node = node
	}
}

// tableRef binds one reference and returns the node of its rows.
func (f *from) tableRef(ref syntax.TableRef) int32 {
	r := f.r
	if r.depth++; r.depth > maxDepth {
		r.depth--
		r.tooDeep(ref)
		return f.node
	}
	defer func() { r.depth-- }()
	switch x := ref.(type) {
	case *syntax.Table:
		return f.named(x)
	case *syntax.Derived:
		return f.derived(x)
	case *syntax.Join:
		return f.join(x)
	case *syntax.Paren:
		return f.paren(x)
	case *syntax.TableFunc:
		return f.tableFunc(x)
	case *syntax.LateralView:
		return f.lateralView(x)
	case *syntax.ArrayJoin:
		return f.arrayJoin(x)
	case *syntax.Pivot:
		return f.pivot(x)
	case *syntax.Unpivot:
		return f.unpivot(x)
	case *syntax.MatchRecognize:
		return f.matchRecognize(x)
	}
	return f.node
}

// bind makes a relation visible under an alias.
func (f *from) bind(rel *relation, alias syntax.Alias, name *syntax.Name) int32 {
	if len(alias.Columns) > 0 {
		rel = f.r.renamed(rel, alias.Columns)
	}
	f.scope.tables = append(f.scope.tables, binding{alias: alias.Name.Text, name: name, rel: rel})
	f.acc.deps = append(f.acc.deps, rel.deps...)
	f.node = rel.node
	return rel.node
}

// named binds a table, a view, a CTE or a path into a table in scope.
func (f *from) named(t *syntax.Table) int32 {
	r := f.r
	if t.Temporal != nil {
		r.walk(t.Temporal, f.scope, Filter, inFrom, f.acc)
	}
	if len(t.Name.Parts) == 1 && t.Path == "" && !t.Stage {
		if c := f.scope.cte(t.Name.Parts[0].Text); c != nil {
			return f.bind(r.cteRelation(c), t.Alias, &t.Name)
		}
	}
	if len(t.Name.Parts) == 2 && f.scope.anyCTE() {
		// Some write a dotted name in WITH.
		if c := f.scope.cte(t.Name.Parts[0].Text + "." + t.Name.Parts[1].Text); c != nil {
			return f.bind(r.cteRelation(c), t.Alias, &t.Name)
		}
	}
	if r.rules.paths && len(t.Name.Parts) > 1 {
		if node, ok := f.path(t); ok {
			return node
		}
	}
	if isDual(t) {
		return f.bind(r.nothing(t), t.Alias, &t.Name)
	}
	return f.bind(r.scan(t), t.Alias, &t.Name)
}

// isDual reports whether a table is DUAL, which has one row and nothing in it.
func isDual(t *syntax.Table) bool {
	n := t.Name.Parts
	if len(n) == 2 && strings.EqualFold(n[0].Text, "SYS") {
		n = n[1:]
	}
	return len(n) == 1 && strings.EqualFold(n[0].Text, "DUAL") && t.Path == ""
}

// scan reads a table.
func (r *resolver) scan(t *syntax.Table) *relation {
	id := r.resolveTable(t)
	return r.scanOf(id, t)
}

func (r *resolver) scanOf(id int32, at syntax.Node) *relation {
	info := r.askCatalog(id)
	r.readNow(id)
	rel := &relation{table: id, node: r.node(OpScan, "", at)}
	r.steps[rel.node].table = id
	rel.names = info.shown()
	if len(rel.names) > 0 {
		rel.cols = make([]int32, len(rel.names))
		for i := range rel.cols {
			rel.cols[i] = -1
		}
	}
	if !info.known {
		rel.open = [][]opening{{{rel: rel}}}
	}
	return rel
}

// shown are the columns that a star stands for.
func (info *tableInfo) shown() []string {
	if !info.flat {
		for _, n := range info.names {
			if strings.IndexByte(n, '.') >= 0 {
				return topLevel(info.names)
			}
		}
	}
	return info.names
}

// topLevel are the columns of a schema that lists nested fields, too.
func topLevel(names []string) []string {
	var top []string
	seen := make(map[string]bool)
	for _, n := range names {
		if i := strings.IndexByte(n, '.'); i > 0 {
			n = n[:i]
		}
		if f := lower(n); !seen[f] {
			seen[f] = true
			top = append(top, n)
		}
	}
	return top
}

// path binds FROM t, t.arr: the elements of an array of a table in scope.
func (f *from) path(t *syntax.Table) (int32, bool) {
	parts := t.Name.Parts
	for at := f.scope; at != nil; at = at.parent {
		b := at.qualified(f.r, parts[:1])
		if b == nil {
			continue
		}
		c := f.r.member(b, parts[1].Text, t)
		if c < 0 {
			return 0, false
		}
		for _, p := range parts[2:] {
			c = f.r.extend(c, p.Text, t)
		}
		alias := t.Alias.Name.Text
		if alias == "" {
			alias = parts[len(parts)-1].Text
		}
		return f.elements(c, alias, t.Alias.Columns, t), true
	}
	return f.pathOfTable(t)
}

// pathOfTable binds FROM db.t.arr: an array of a table that is not in FROM
// itself, where the catalog knows the table.
func (f *from) pathOfTable(t *syntax.Table) (int32, bool) {
	r := f.r
	if r.lookup == nil || !r.rules.lateral {
		return 0, false
	}
	for k := len(t.Name.Parts) - 1; k >= 1; k-- {
		head := &syntax.Table{Span: t.Span, Name: syntax.Name{Span: t.Name.Span, Parts: t.Name.Parts[:k]}}
		if id := r.tableOf(head); !r.askCatalog(id).known {
			continue
		}
		rel := r.scan(head)
		f.node = rel.node
		c := r.find(rel, t.Name.Parts[k].Text)
		if c < 0 {
			return 0, false
		}
		for _, p := range t.Name.Parts[k+1:] {
			c = r.extend(c, p.Text, t)
		}
		alias := t.Alias.Name.Text
		if alias == "" {
			alias = lastPart(t.Name)
		}
		return f.elements(c, alias, t.Alias.Columns, t), true
	}
	return 0, false
}

// derived binds a query in parentheses.
func (f *from) derived(x *syntax.Derived) int32 {
	r := f.r
	outer := f.scope.parent
	if x.Lateral || f.apply || r.rules.lateral {
		outer = f.scope
	}
	f.apply = false
	left := f.node
	rel := (*relation)(nil)
	if x.Body != nil {
		rel = r.changedBy(x.Body, outer)
	} else {
		rel = r.query(x.Query, outer)
	}
	node := f.bind(rel, x.Alias, nil)
	if x.Lateral && left >= 0 {
		r.input(node, left)
	}
	return node
}

// paren binds what stands in parentheses, under an alias of its own if it has
// one.
func (f *from) paren(x *syntax.Paren) int32 {
	if x.Alias.Name.Text == "" {
		return f.tableRef(x.Ref)
	}
	start := len(f.scope.tables)
	node := f.tableRef(x.Ref)
	if len(f.scope.tables) == start+1 {
		b := &f.scope.tables[start]
		b.alias = x.Alias.Name.Text
		if len(x.Alias.Columns) > 0 {
			b.rel = f.r.renamed(b.rel, x.Alias.Columns)
		}
		return node
	}
	// A join under an alias is one relation.
	part := &scope{parent: f.scope.parent, tables: f.scope.tables[start:], merged: f.scope.merged}
	list := f.r.expandStar(&syntax.Star{Span: x.Span}, part, f.r.columnList())
	rel := f.r.build(list, node)
	f.r.openStar(rel, part, nil)
	f.r.releaseList(list)
	f.scope.tables = f.scope.tables[:start:start]
	f.scope.merged = nil
	return f.bind(rel, x.Alias, nil)
}
