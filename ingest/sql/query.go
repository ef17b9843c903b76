package sql

import (
	"headwater/ingest/sql/syntax"
)

// query resolves a query that stands in a scope: outer is what a correlated
// name may mean, and which CTEs there are.
func (r *resolver) query(q *syntax.Query, outer *scope) *relation {
	if q == nil {
		return r.nothing(nil)
	}
	if r.depth++; r.depth > maxDepth {
		r.depth--
		r.tooDeep(q)
		return r.nothing(q)
	}
	defer func() { r.depth-- }()
	s := outer
	if q.With != nil {
		s = r.with(q.With, outer)
	}
	var rel *relation
	if sel, ok := q.Body.(*syntax.Select); ok {
		rel = r.selectRows(sel, q, s)
	} else {
		rel = r.setExpr(q.Body, s)
		if len(q.Order) > 0 {
			rel = r.sortOutput(rel, q.Order, s)
		}
	}
	if q.Limit != nil || q.Offset != nil || len(q.LimitBy) > 0 {
		rel = r.limit(rel, q, s)
	}
	for i := range q.Pipes {
		rel = r.pipe(rel, &q.Pipes[i], s)
	}
	return rel
}

// nothing is a relation without columns: of what was not understood.
func (r *resolver) nothing(at syntax.Node) *relation {
	return &relation{table: -1, node: r.node(OpValues, "", at)}
}

// setExpr resolves what a query has at its heart.
func (r *resolver) setExpr(e syntax.SetExpr, s *scope) *relation {
	switch x := e.(type) {
	case *syntax.Select:
		return r.selectRows(x, nil, s)
	case *syntax.Query:
		return r.query(x, s)
	case *syntax.SetOp:
		return r.setOp(x, s)
	case *syntax.Values:
		return r.values(x, s)
	case *syntax.TableQuery:
		return r.tableQuery(x, s)
	}
	return r.nothing(e)
}

func (r *resolver) tableQuery(x *syntax.TableQuery, s *scope) *relation {
	inner := &scope{parent: s}
	f := r.newFrom(inner)
	f.tableRef(x.Table)
	return r.starOf(f, x)
}

// starOf is SELECT * over what a FROM bound.
func (r *resolver) starOf(f *from, at syntax.Node) *relation {
	list := r.columnList()
	list = r.expandStar(&syntax.Star{Span: at.Range()}, f.scope, list)
	rel := r.build(list, f.node)
	r.openStar(rel, f.scope, nil)
	rel.deps = f.done()
	r.releaseList(list)
	return rel
}

// setOp combines branches by position, or by name. Chains lean to the left and
// are long, so they are flattened.
func (r *resolver) setOp(x *syntax.SetOp, s *scope) *relation {
	var branches []syntax.SetExpr
	e := syntax.SetExpr(x)
	for {
		op, ok := e.(*syntax.SetOp)
		if !ok || op.ByName != x.ByName || (op.Op == "UNION") != (x.Op == "UNION") {
			break
		}
		branches = append(branches, op.Right)
		e = op.Left
		if op.Op != "UNION" {
			break
		}
	}
	branches = append(branches, e)
	rels := make([]*relation, len(branches))
	for i := range branches {
		rels[i] = r.setExpr(branches[len(branches)-1-i], s)
		if i == 0 && r.recursing != nil {
			r.anchored(rels[0], x)
		}
	}
	label := x.Op
	if x.All {
		label += " ALL"
	}
	return r.combine(rels, label, x)
}

// combine makes the relation of a set operation.
func (r *resolver) combine(rels []*relation, label string, x *syntax.SetOp) *relation {
	node := r.node(OpSetOp, label, x)
	for _, rel := range rels {
		r.input(node, rel.node)
	}
	out := &relation{table: -1, node: node}
	// A branch whose columns are all known names them if the first cannot.
	lead := 0
	for lead < len(rels)-1 && r.hasStar(rels[lead]) && !x.ByName {
		lead++
	}
	if r.hasStar(rels[lead]) {
		lead = 0
	}
	first := rels[lead]
	r.all(first)
	out.names = first.names[:len(first.names)-first.hidden]
	if x.ByName {
		out.names = r.namesOfAll(rels)
	}
	buf := r.scratch()
	defer r.release(buf)
	out.cols = make([]int32, len(out.names))
	minus := x.Op == "EXCEPT" || x.Op == "MINUS"
	for i, name := range out.names {
		buf.deps, buf.from, buf.flags, buf.masked = buf.deps[:0], buf.from[:0], 0, ""
		for k, rel := range rels {
			c := int32(-1)
			switch {
			case x.ByName:
				c = r.find(rel, name)
				if c < 0 {
					c = r.behind(rel, name, x)
				}
			case r.hasStar(rel) && k != lead:
				if c = r.find(rel, name); c < 0 {
					c = r.behind(rel, name, x)
				}
			case i < len(rel.cols)-rel.hidden:
				c = r.at(rel, i)
			}
			if c >= 0 {
				if minus && k > 0 {
					r.use(c, Filter, buf)
				} else {
					r.use(c, Identity, buf)
				}
			}
		}
		var item syntax.Node
		if len(buf.from) > 0 {
			item = r.columns[buf.from[0]].item
		}
		out.cols[i] = r.newColumn(column{
			set: r.keepSet(buf), from: r.ints.keep(buf.from), node: node,
			item: item, flags: buf.flags, masked: buf.masked,
		})
	}
	r.combineOpen(out, rels)
	buf.deps = buf.deps[:0]
	for _, rel := range rels {
		buf.deps = append(buf.deps, rel.deps...)
	}
	out.deps = r.keepSet(buf)
	return out
}

// combineOpen joins the open ends of branches: where each has one, a column
// behind them is of all.
func (r *resolver) combineOpen(out *relation, rels []*relation) {
	var together []opening
	single := true
	for _, rel := range rels {
		switch {
		case len(rel.open) == 1:
			together = append(together, rel.open[0]...)
		case len(rel.open) > 1:
			single = false
		}
	}
	if single {
		if len(together) > 0 {
			out.open = [][]opening{together}
		}
		return
	}
	for _, rel := range rels {
		out.open = append(out.open, rel.open...)
	}
}

func (r *resolver) hasStar(rel *relation) bool {
	if rel.table >= 0 {
		return len(rel.open) > 0
	}
	if len(rel.open) == 0 {
		return false
	}
	for _, c := range rel.cols {
		if c >= 0 && r.columns[c].flags&isStar != 0 {
			return true
		}
	}
	return false
}

func (r *resolver) namesOfAll(rels []*relation) []string {
	var names []string
	seen := make(map[string]bool)
	for _, rel := range rels {
		for _, n := range rel.names[:len(rel.names)-rel.hidden] {
			if f := lower(n); !seen[f] {
				seen[f] = true
				names = append(names, n)
			}
		}
	}
	return names
}

// values is a relation of constants, mostly.
func (r *resolver) values(x *syntax.Values, s *scope) *relation {
	rel := &relation{table: -1, node: r.node(OpValues, "", x)}
	if len(x.Rows) == 0 {
		return rel
	}
	width := 0
	for _, row := range x.Rows {
		width = max(width, len(row))
	}
	rel.names = make([]string, width)
	rel.cols = make([]int32, width)
	acc := r.scratch()
	defer r.release(acc)
	for i := range width {
		rel.names[i] = valuesName(r.rules.name, i)
		acc.deps, acc.from, acc.flags = acc.deps[:0], acc.from[:0], 0
		var item syntax.Node
		for _, row := range x.Rows {
			if i < len(row) {
				if item == nil {
					item = row[i]
				}
				if _, ok := row[i].(*syntax.Literal); !ok {
					r.walk(row[i], s, Identity, inItems, acc)
				}
			}
		}
		rel.cols[i] = r.newColumn(column{set: r.keepSet(acc), from: r.ints.keep(acc.from), node: rel.node, item: item})
	}
	r.inputs(rel.node, acc.subs)
	return rel
}

// sortOutput orders a set operation by its output columns.
func (r *resolver) sortOutput(rel *relation, order []syntax.OrderItem, s *scope) *relation {
	inner := &scope{parent: s, tables: []binding{{rel: rel}}}
	acc := r.scratch()
	defer r.release(acc)
	for i := range order {
		if c := r.ordinal(order[i].Expr, rel); c >= 0 {
			r.use(c, Sort, acc)
			continue
		}
		r.walk(order[i].Expr, inner, Sort, inOrder, acc)
	}
	out := *rel
	out.node = r.node(OpSort, "", spanned{order[0].Start, order[len(order)-1].End})
	r.input(out.node, rel.node)
	r.inputs(out.node, acc.subs)
	r.using(out.node, acc.from)
	acc.deps = append(acc.deps, rel.deps...)
	out.deps = r.keepSet(acc)
	return &out
}

// ordinal returns the column that ORDER BY 2 means, -1 if it is no ordinal.
func (r *resolver) ordinal(e syntax.Expr, rel *relation) int32 {
	if i := position(e); i >= 0 && i < len(rel.cols) {
		return r.at(rel, i)
	}
	return -1
}

// position is the index that a literal ordinal means, -1 if it is none.
func position(e syntax.Expr) int {
	l, ok := e.(*syntax.Literal)
	if !ok || l.Kind != "NUMBER" || len(l.Value) == 0 || len(l.Value) > 4 {
		return -1
	}
	n := 0
	for i := 0; i < len(l.Value); i++ {
		c := l.Value[i]
		if c < '0' || c > '9' {
			return -1
		}
		n = n*10 + int(c-'0')
	}
	return n - 1
}

// limit marks LIMIT; its expressions may hold queries.
func (r *resolver) limit(rel *relation, q *syntax.Query, s *scope) *relation {
	out := *rel
	at := syntax.Node(q)
	if q.Limit != nil {
		at = q.Limit
	}
	out.node = r.node(OpLimit, "", at)
	r.input(out.node, rel.node)
	acc := r.scratch()
	defer r.release(acc)
	if q.Limit != nil {
		r.walk(q.Limit, s, Filter, inItems, acc)
	}
	if q.Offset != nil {
		r.walk(q.Offset, s, Filter, inItems, acc)
	}
	if len(q.LimitBy) > 0 {
		inner := &scope{parent: s, tables: []binding{{rel: rel}}}
		for _, e := range q.LimitBy {
			r.walk(e, inner, Filter, inItems, acc)
		}
	}
	r.inputs(out.node, acc.subs)
	r.using(out.node, acc.from)
	if len(acc.deps) > 0 {
		acc.deps = append(acc.deps, rel.deps...)
		out.deps = r.keepSet(acc)
	}
	return &out
}
