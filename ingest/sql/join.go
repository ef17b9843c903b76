package sql

import (
	"strings"

	"headwater/ingest/sql/syntax"
)

// join binds both sides of a join and its keys.
func (f *from) join(x *syntax.Join) int32 {
	r := f.r
	start := len(f.scope.tables)
	left := int32(-1)
	if x.Left != nil {
		left = f.tableRef(x.Left)
	} else {
		left = f.node
		start = 0
	}
	f.node = left
	mid := len(f.scope.tables)
	midStep := int32(len(r.steps))
	f.apply = strings.HasSuffix(x.Kind, "APPLY")
	right := f.tableRef(x.Right)
	f.apply = false
	node := r.node(OpJoin, x.Kind, x)
	if x.Asof {
		r.steps[node].label = "ASOF " + x.Kind
	}
	r.input(node, left)
	r.input(node, right)
	f.node = node
	if x.Comma || x.Kind == "CROSS" || x.Kind == "" || x.Kind == "INNER" && x.On == nil {
		f.comma = true
	}
	if x.On != nil {
		lo, hi := onlyOf(x.Kind, midStep)
		f.condition(x.On, Join, inFrom, node, lo, hi)
	}
	if x.Natural {
		f.natural(start, mid, x)
	} else if len(x.Using) > 0 {
		for _, u := range x.Using {
			f.merge(start, mid, u.Text, x)
		}
	}
	switch x.Kind {
	case "SEMI", "ANTI", "LEFT SEMI", "LEFT ANTI":
		for i := mid; i < len(f.scope.tables); i++ {
			f.scope.tables[i].hidden = true
		}
	case "RIGHT SEMI", "RIGHT ANTI":
		for i := start; i < mid; i++ {
			f.scope.tables[i].hidden = true
		}
	}
	return node
}

// onlyOf says of which scans' rows a join's condition is a predicate: those
// with numbers in [lo, hi), where the right side begins at mid.
func onlyOf(kind string, mid int32) (lo, hi int32) {
	switch {
	case strings.HasPrefix(kind, "LEFT"):
		return mid, maxStep
	case strings.HasPrefix(kind, "RIGHT"):
		return 0, mid
	case strings.HasPrefix(kind, "FULL"), strings.HasPrefix(kind, "ANTI"), strings.HasPrefix(kind, "OUTER"):
		return 0, 0
	}
	return 0, maxStep
}

// natural merges the columns that both sides are known to have.
func (f *from) natural(start, mid int, x *syntax.Join) {
	var common []string
	for i := start; i < mid; i++ {
		rel := f.scope.tables[i].rel
		for _, n := range rel.names {
			for k := mid; k < len(f.scope.tables); k++ {
				if lookupName(f.scope.tables[k].rel.names, &f.scope.tables[k].rel.index, n) >= 0 {
					common = append(common, n)
				}
			}
		}
	}
	for i := start; i < len(f.scope.tables); i++ {
		if b := &f.scope.tables[i]; len(b.rel.open) > 0 && b.rel.table >= 0 {
			f.r.unresolved(Unresolved{Span: x.Span, Name: "NATURAL JOIN", Reason: "the columns in common are not known", Table: f.r.tables[b.rel.table]})
		}
	}
	for _, n := range common {
		f.merge(start, mid, n, x)
	}
}

// merge makes one column of the columns of a name on both sides of a join.
func (f *from) merge(start, mid int, name string, x *syntax.Join) {
	r := f.r
	buf := r.scratch()
	defer r.release(buf)
	found := false
	for i := range f.scope.merged {
		if m := &f.scope.merged[i]; strings.EqualFold(m.name, name) {
			r.use(m.col, Identity, buf)
			found = true
		}
	}
	if !found {
		f.side(start, mid, name, x, buf)
	}
	f.side(mid, len(f.scope.tables), name, x, buf)
	deps := normal(buf.deps)
	f.acc.deps = add(f.acc.deps, deps, Join)
	r.using(f.node, buf.from)
	c := r.newColumn(column{set: r.deps.keep(deps), from: r.ints.keep(buf.from), node: f.node, item: x})
	for i := range f.scope.merged {
		if strings.EqualFold(f.scope.merged[i].name, name) {
			f.scope.merged[i].col = c
			return
		}
	}
	f.scope.merged = append(f.scope.merged, mergedColumn{name, c})
}

// side finds the column of a merged name among some of the tables.
func (f *from) side(from, to int, name string, x *syntax.Join, buf *acc) {
	r := f.r
	var open *relation
	opens := 0
	for i := from; i < to; i++ {
		rel := f.scope.tables[i].rel
		if c := r.find(rel, name); c >= 0 {
			r.use(c, Identity, buf)
			return
		}
		if len(rel.open) > 0 && !rel.yields() {
			open = rel
			opens++
		}
	}
	if opens == 1 {
		if c := r.behind(open, name, x); c >= 0 {
			r.use(c, Identity, buf)
		}
	}
}
