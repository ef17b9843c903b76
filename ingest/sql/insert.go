package sql

import (
	"strings"

	"headwater/ingest/sql/syntax"
)

// insert resolves an INSERT. Rows is what a multi-insert's FROM bound.
func (r *resolver) insert(x *syntax.Insert, outer *scope, rows *from) *relation {
	s := outer
	if x.With != nil {
		s = r.with(x.With, outer)
	}
	var rel *relation
	switch {
	case x.Query != nil && rows != nil && isValues(x.Query):
		// INSERT ALL … VALUES (a, b): of the rows of the source.
		rel = r.query(x.Query, rows.scope)
		r.input(rel.node, rows.node)
		rel.deps = r.deps.keep(normal(append([]dep(nil), rows.acc.deps...)))
	case x.Query != nil:
		r.shared, r.capture, r.captured = rows, len(x.Update) > 0, nil
		rel = r.query(x.Query, s)
		r.shared, r.capture = nil, false
	case len(x.Set) > 0:
		return r.insertSet(x, s)
	default:
		rel = r.nothing(x)
	}
	if x.When != nil && rows != nil {
		rows.filter(x.When, inWhere)
	}
	w := written{mode: "INSERT", rel: rel, tree: x}
	switch {
	case x.Overwrite:
		w.mode = "OVERWRITE"
	case x.Replace:
		w.mode = "REPLACE"
	}
	if x.Target == nil {
		w.table = r.directory(x.Directory)
		w.names = rel.names
		r.emit(w)
		return rel
	}
	w.table = r.resolveTable(x.Target)
	w.names = r.insertNames(x, w.table, rel)
	w.constants, w.bounds = r.partitions(x.Partition)
	r.upsert(x, &w, s)
	r.emit(w)
	return r.returning(x.Returning, w, s)
}

// insertNames says which column of the target each column of the query fills.
func (r *resolver) insertNames(x *syntax.Insert, table int32, rel *relation) []string {
	r.all(rel)
	shown := rel.names[:len(rel.names)-rel.hidden]
	var dynamic []string
	partition := func(name string) bool {
		for _, p := range x.Partition {
			if strings.EqualFold(lastPart(p.Column), name) {
				return true
			}
		}
		return false
	}
	for _, p := range x.Partition {
		if p.Value == nil && r.rules.partitionColumns {
			dynamic = append(dynamic, lastPart(p.Column))
		}
	}
	if len(x.Columns) > 0 {
		names := make([]string, 0, len(x.Columns)+len(dynamic))
		for _, c := range x.Columns {
			names = append(names, lastPart(c))
		}
		if len(names) < len(shown) {
			names = append(names, dynamic...)
		}
		return names
	}
	if x.ByName {
		return shown
	}
	info := r.askCatalog(table)
	if info.known && len(info.names) > 0 && !r.hasStar(rel) {
		names := make([]string, 0, len(info.names))
		for _, n := range info.shown() {
			if !partition(n) {
				names = append(names, n)
			}
		}
		return append(names, dynamic...)
	}
	if len(dynamic) == 0 || len(dynamic) > len(shown) || r.hasStar(rel) {
		return shown
	}
	names := append([]string(nil), shown...)
	copy(names[len(names)-len(dynamic):], dynamic)
	return names
}

func isValues(q *syntax.Query) bool {
	switch b := q.Body.(type) {
	case *syntax.Values:
		return true
	case *syntax.Query:
		return isValues(b)
	}
	return false
}

// partitions reads PARTITION (…): what is constant, and what is written.
func (r *resolver) partitions(items []syntax.PartitionItem) (constants []assigned, bounds []Bound) {
	for _, p := range items {
		if p.Value == nil && !r.rules.partitionColumns {
			bounds = append(bounds, Bound{Op: "PARTITION", Values: []string{lastPart(p.Column)}, Constant: true, Partition: true})
			continue
		}
		b := Bound{Column: lastPart(p.Column), Partition: true}
		if p.Value != nil {
			b.Op = "="
			b.Values = []string{oneLine(p.Value.Range().In(r.text), 200)}
			b.Constant, b.Variables = r.fixed(p.Value)
			constants = append(constants, assigned{b.Column, -1, p.Value})
		}
		bounds = append(bounds, b)
	}
	return constants, bounds
}

// directory is the place that INSERT OVERWRITE DIRECTORY names.
func (r *resolver) directory(e syntax.Expr) int32 {
	path := "<directory>"
	if e != nil {
		path = oneLine(e.Range().In(r.text), 500)
		syntax.Inspect(e, func(n syntax.Node) bool {
			if l, ok := n.(*syntax.Literal); ok && l.Kind == "STRING" && strings.ContainsAny(l.Value, "/:") {
				path = l.Value
				return false
			}
			return true
		})
		if l, ok := e.(*syntax.Literal); ok {
			path = l.Value
		}
	}
	return r.table([]string{path}, []bool{true}, PathTable)
}

// insertSet is INSERT … SET a = …, b = ….
func (r *resolver) insertSet(x *syntax.Insert, s *scope) *relation {
	w := written{table: r.resolveTable(x.Target), mode: "INSERT", tree: x}
	inner := &scope{parent: s}
	f := r.newFrom(inner)
	f.node = r.node(OpValues, "", x)
	for i := range x.Set {
		r.assign(&x.Set[i], inner, f, &w)
	}
	w.rel = &relation{table: -1, node: f.node, deps: f.done()}
	r.upsert(x, &w, s)
	r.emit(w)
	return r.returning(x.Returning, w, s)
}

// upsert adds the assignments of ON CONFLICT and ON DUPLICATE KEY: EXCLUDED.x,
// VALUES(x) and the alias of the new row mean the columns being inserted.
func (r *resolver) upsert(x *syntax.Insert, w *written, s *scope) {
	if len(x.Update) == 0 && x.UpdateWhere == nil {
		return
	}
	target := r.targetRelation(w.table, x.Target)
	fresh := &relation{table: -1, node: w.rel.node, names: w.names}
	if len(w.rel.cols) > 0 {
		cols := r.all(w.rel)
		fresh.cols = cols[:min(len(cols), len(w.names))]
		fresh.names = w.names[:len(fresh.cols)]
	} else {
		fresh.names = nil
		for _, a := range w.assigned {
			fresh.names, fresh.cols = append(fresh.names, a.name), append(fresh.cols, a.col)
		}
	}
	inner := &scope{parent: s}
	alias := x.Target.Alias.Name.Text
	inner.tables = []binding{{alias: alias, name: &x.Target.Name, rel: target}}
	within := &scope{parent: inner, tables: []binding{
		{alias: "excluded", rel: fresh, hidden: true}, {alias: "values", rel: fresh, hidden: true}, {alias: "new", rel: fresh, hidden: true},
	}}
	if r.captured != nil {
		// MySQL lets the tables of the query be named, too.
		for _, b := range r.captured.tables {
			b.hidden = true
			within.tables = append(within.tables, b)
		}
	}
	f := r.newFrom(within)
	f.node = w.rel.node
	outer := r.fresh
	r.fresh = fresh
	for i := range x.Update {
		r.assign(&x.Update[i], within, f, w)
	}
	if x.UpdateWhere != nil {
		r.walk(x.UpdateWhere, within, Filter, inWhere, f.acc)
	}
	r.fresh = outer
	w.deps = append(w.deps, f.done()...)
}

// targetRelation is the table that a statement writes, where the statement
// names its columns; that alone does not make it an input.
func (r *resolver) targetRelation(id int32, at syntax.Node) *relation {
	info := r.askCatalog(id)
	rel := &relation{table: id, names: info.shown(), node: -1}
	rel.cols = make([]int32, len(rel.names))
	for i := range rel.cols {
		rel.cols[i] = -1
	}
	if !info.known {
		rel.open = [][]opening{{{rel: rel}}}
	}
	return rel
}

// returning is the relation of RETURNING: the columns written, and others of
// the target.
func (r *resolver) returning(items []syntax.SelectItem, w written, s *scope) *relation {
	if len(items) == 0 {
		return w.rel
	}
	rows := &relation{table: -1, node: w.rel.node}
	cols := w.rel.cols
	for i, n := range w.names {
		if i < len(cols) {
			rows.names, rows.cols = append(rows.names, n), append(rows.cols, r.at(w.rel, i))
		}
	}
	for _, a := range w.assigned {
		if a.col >= 0 {
			rows.names, rows.cols = append(rows.names, a.name), append(rows.cols, a.col)
		}
	}
	target := r.targetRelation(w.table, nil)
	rows.open = [][]opening{{{rel: target}}}
	inner := &scope{parent: s}
	if len(w.visible) == 0 {
		inner.tables = []binding{{alias: r.tables[w.table].Name, rel: rows}}
		if in, ok := w.tree.(*syntax.Insert); ok && in.Target.Alias.Name.Text != "" {
			inner.tables = append(inner.tables, binding{alias: in.Target.Alias.Name.Text, rel: rows, hidden: true})
		}
	}
	inner.tables = append(inner.tables, w.visible...)
	if r.rules.name == "tsql" { // OUTPUT names the rows before and after
		inner.tables = append(inner.tables, binding{alias: "inserted", rel: rows, hidden: true}, binding{alias: "deleted", rel: target, hidden: true})
	}
	sel := &selection{tree: &syntax.Select{Items: items}, scope: inner}
	sel.cols = make([]int32, len(items))
	for i := range sel.cols {
		sel.cols[i] = notYet
	}
	list := sel.items(r, r.columnList())
	node := r.node(OpProject, "RETURNING", spanned{items[0].Start, items[len(items)-1].End})
	r.input(node, w.rel.node)
	r.inputs(node, sel.subs)
	for _, c := range sel.made {
		r.columns[c].node = node
	}
	rel := r.build(list, node)
	rel.deps = w.rel.deps
	r.openStar(rel, inner, items)
	r.releaseList(list)
	return rel
}

// multi resolves several inserts from one source.
func (r *resolver) multi(x *syntax.Multi, outer *scope) {
	s := outer
	if x.With != nil {
		s = r.with(x.With, outer)
	}
	var rows *from
	if len(x.From) > 0 {
		rows = r.newFrom(&scope{parent: s})
		rows.list(x.From)
	}
	for _, in := range x.Inserts {
		r.insert(in, s, rows)
	}
	if rows != nil {
		rows.done()
	}
}
