package sql

import (
	"strconv"

	"headwater/ingest/sql/syntax"
)

// source binds what PIVOT and its kin read into a scope of its own.
func (f *from) source(ref syntax.TableRef) (*from, *scope) {
	inner := &scope{parent: f.scope.parent}
	g := f.r.newFrom(inner)
	if f.before != nil {
		g.bind(f.before, syntax.Alias{}, nil)
	} else if ref != nil {
		g.node = g.tableRef(ref)
	}
	return g, inner
}

// pivot binds PIVOT: the columns that it does not use stay, as keys; each value
// of its IN list gives a column for each aggregate.
func (f *from) pivot(x *syntax.Pivot) int32 {
	r := f.r
	g, inner := f.source(x.Source)
	node := r.node(OpPivot, "PIVOT", x)
	r.input(node, g.node)
	used := make(map[int32]bool)
	names := r.scratch()
	for _, e := range x.For {
		r.walk(e, inner, Filter, inFrom, names)
	}
	mark(used, names)
	r.using(node, names.from)
	var made []outColumn
	values := make([]int32, len(x.Aggregates))
	for i := range x.Aggregates {
		acc := r.scratch()
		r.walk(x.Aggregates[i].Expr, inner, Identity, inFrom, acc)
		mark(used, acc)
		acc.deps = append(acc.deps, names.deps...)
		values[i] = r.newColumn(column{set: r.keepSet(acc), from: r.ints.keep(acc.from), node: node, item: &x.Aggregates[i], flags: aggregated})
		r.release(acc)
	}
	r.release(names)
	for i := range x.In {
		for k := range x.Aggregates {
			made = append(made, outColumn{r.pivotName(&x.In[i], &x.Aggregates[k], len(x.Aggregates)), values[k], false})
		}
	}
	list := r.columnList()
	if x.GroupBy != nil {
		for i, e := range x.GroupBy.Keys {
			acc := r.scratch()
			r.walk(e, inner, Identity, inFrom, acc)
			name, _ := r.implied(e, i)
			list = append(list, outColumn{name, r.newColumn(column{set: r.keepSet(acc), from: r.ints.keep(acc.from), node: node}), false})
			r.release(acc)
		}
	} else {
		for _, o := range r.expandStar(&syntax.Star{Span: x.Span}, inner, r.columnList()) {
			if !used[o.col] {
				list = append(list, o)
				g.acc.deps = add(g.acc.deps, r.columns[o.col].set, GroupBy)
			}
		}
	}
	list = append(list, made...)
	rel := r.build(list, node)
	r.openStar(rel, inner, nil)
	if (x.Any || len(x.In) == 0) && len(values) > 0 {
		rel.open = [][]opening{{{col: values[0] + 1}}}
	}
	r.releaseList(list)
	rel.deps = g.done()
	return f.bind(rel, x.Alias, nil)
}

// mark notes the columns that an expression uses.
func mark(used map[int32]bool, a *acc) {
	for _, c := range a.from {
		used[c] = true
	}
}

// pivotName names a column of PIVOT.
func (r *resolver) pivotName(value, aggregate *syntax.SelectItem, aggregates int) string {
	name := value.Alias.Text
	if name == "" {
		switch e := value.Expr.(type) {
		case *syntax.Literal:
			name = e.Value
		case *syntax.Ref:
			name = lastPart(e.Name)
		case nil:
		default:
			name = oneLine(e.Range().In(r.text), 100)
		}
	}
	if aggregate.Alias.Text != "" {
		if r.rules.name == "bigquery" {
			return aggregate.Alias.Text + "_" + name
		}
		return name + "_" + aggregate.Alias.Text
	}
	if aggregates > 1 && aggregate.Expr != nil {
		return name + "_" + oneLine(aggregate.Expr.Range().In(r.text), 100)
	}
	return name
}

// unpivot binds UNPIVOT: the listed columns become rows of value columns, with
// a column that says which it was.
func (f *from) unpivot(x *syntax.Unpivot) int32 {
	r := f.r
	g, inner := f.source(x.Source)
	node := r.node(OpPivot, "UNPIVOT", x)
	r.input(node, g.node)
	used := make(map[int32]bool)
	whole := r.scratch()
	values := make([]*acc, max(len(x.Values), 1))
	for i := range values {
		values[i] = r.scratch()
	}
	for _, group := range x.In {
		for i, e := range group {
			a := values[min(i, len(values)-1)]
			r.walk(e, inner, Identity, inFrom, a)
		}
	}
	for _, a := range values {
		mark(used, a)
		whole.deps = add(whole.deps, a.deps, Conditional)
		whole.from = append(whole.from, a.from...)
	}
	list := r.columnList()
	for _, o := range r.expandStar(&syntax.Star{Span: x.Span}, inner, r.columnList()) {
		if !used[o.col] {
			list = append(list, o)
		}
	}
	label := r.newColumn(column{set: r.deps.keep(normal(whole.deps)), from: r.ints.keep(whole.from), node: node, item: x})
	named := x.Names
	for _, n := range named {
		list = append(list, outColumn{n.Text, label, false})
	}
	for i, n := range x.Values {
		a := values[i]
		c := r.newColumn(column{set: r.keepSet(a), from: r.ints.keep(a.from), node: node, item: n})
		list = append(list, outColumn{n.Text, c, false})
	}
	for _, a := range values {
		r.release(a)
	}
	r.release(whole)
	rel := r.build(list, node)
	r.openStar(rel, inner, nil)
	r.releaseList(list)
	rel.deps = g.done()
	return f.bind(rel, x.Alias, nil)
}

// matchRecognize binds MATCH_RECOGNIZE: its variables are the source's rows.
func (f *from) matchRecognize(x *syntax.MatchRecognize) int32 {
	r := f.r
	g, inner := f.source(x.Source)
	node := r.node(OpTableFunction, "MATCH_RECOGNIZE", x)
	r.input(node, g.node)
	var rel *relation
	if len(inner.tables) == 1 {
		rel = inner.tables[0].rel
	} else {
		rel = r.starOfScope(inner, g.node, x)
	}
	rows := &scope{parent: f.scope.parent, tables: []binding{{rel: rel}}}
	within := &scope{parent: rows}
	for _, v := range x.Variables {
		within.tables = append(within.tables, binding{alias: v.Text, rel: rel, hidden: true})
	}
	list := r.columnList()
	for i, e := range x.Partition {
		r.walk(e, rows, GroupBy, inFrom, g.acc)
		acc := r.scratch()
		r.walk(e, rows, Identity, inFrom, acc)
		name, _ := r.implied(e, i)
		list = append(list, outColumn{name, r.newColumn(column{set: r.keepSet(acc), from: r.ints.keep(acc.from), node: node, item: e}), false})
		r.release(acc)
	}
	for i := range x.Order {
		r.walk(x.Order[i].Expr, rows, Sort, inFrom, g.acc)
	}
	for i := range x.Define {
		r.walk(x.Define[i].Expr, within, Filter, inFrom, g.acc)
	}
	r.using(node, g.acc.from)
	if x.AllRows {
		list = r.expandStar(&syntax.Star{Span: x.Span}, rows, list[:0])
	}
	outer := r.navigating
	r.navigating = true
	for i := range x.Measures {
		m := &x.Measures[i]
		acc := r.scratch()
		r.walk(m.Expr, within, Identity, inFrom, acc)
		name := m.Alias.Text
		if name == "" {
			name, _ = r.implied(m.Expr, i)
		}
		list = append(list, outColumn{name, r.newColumn(column{set: r.keepSet(acc), from: r.ints.keep(acc.from), node: node, item: m}), false})
		r.release(acc)
	}
	r.navigating = outer
	out := r.build(list, node)
	if x.AllRows {
		r.openStar(out, rows, nil)
	}
	r.releaseList(list)
	out.deps = g.done()
	return f.bind(out, x.Alias, nil)
}

// starOfScope is all that a scope's tables have, as one relation.
func (r *resolver) starOfScope(s *scope, node int32, at syntax.Node) *relation {
	list := r.expandStar(&syntax.Star{Span: at.Range()}, s, r.columnList())
	rel := r.build(list, node)
	r.openStar(rel, s, nil)
	r.releaseList(list)
	return rel
}

// valuesName names column i of VALUES.
func valuesName(dialect string, i int) string {
	switch dialect {
	case "trino":
		return "_col" + strconv.Itoa(i)
	case "spark", "hive", "doris":
		return "col" + strconv.Itoa(i+1)
	case "mysql":
		return "column_" + strconv.Itoa(i)
	case "flink":
		return "EXPR$" + strconv.Itoa(i)
	}
	return "column" + strconv.Itoa(i+1)
}
