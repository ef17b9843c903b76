package sql

import (
	"slices"
	"strings"

	"headwater/ingest/sql/syntax"
)

// A written is what one statement writes to one table, before it becomes a
// Target.
type written struct {
	table int32
	mode  string
	rel   *relation
	// names are those of rel's columns in the target. assigned are set by name,
	// constants to the value of a partition.
	names     []string
	assigned  []assigned
	constants []assigned
	bounds    []Bound
	deps      []dep // beside rel's
	visible   []binding
	tree      syntax.Node
}

// emit makes the Target of what is written.
func (r *resolver) emit(w written) *Target {
	if r.dry {
		return &Target{}
	}
	t := &Target{Table: r.tables[w.table], Mode: w.mode, Statement: r.stmt, Partitions: w.bounds}
	write := r.node(OpWrite, w.mode, w.tree)
	r.steps[write].table = w.table
	if w.rel.node >= 0 {
		r.input(write, w.rel.node)
	}
	if w.mode != "QUERY" {
		r.wroteNow(w.table)
	}
	r.outputs(t, w)
	deps := w.rel.deps
	if len(w.deps) > 0 {
		deps = normal(append(append([]dep(nil), w.deps...), deps...))
	}
	t.Dependencies = r.sources(deps)
	t.deps = deps
	r.drawPlan(t, write)
	// What RETURNING gives of a table is no scan, and yet an input.
	for _, o := range t.Outputs[:min(len(t.Outputs), 1000)] {
		for _, s := range o.Sources[:min(len(o.Sources), 100)] {
			if s.Table != nil && s.Table != t.Table && s.Kinds&Direct != 0 && !slices.Contains(t.Inputs, s.Table) {
				t.Inputs = append(t.Inputs, s.Table)
			}
		}
	}
	for _, in := range t.Inputs {
		if in == t.Table {
			r.readNow(w.table)
		}
	}
	t.NoFlow = len(t.Inputs) == 0 && w.mode != "QUERY"
	if w.mode == "DELETE" && len(t.Inputs) == 0 {
		t.NoFlow = true
	}
	r.a.Targets = append(r.a.Targets, t)
	r.stmt.Targets = append(r.stmt.Targets, t)
	r.flow(t)
	return t
}

// outputs lists the columns written.
func (r *resolver) outputs(t *Target, w written) {
	n := 0
	if len(w.assigned) == 0 || len(w.names) > 0 {
		n = len(r.all(w.rel)) - w.rel.hidden
		if len(w.names) > 0 && n > len(w.names) {
			n = len(w.names)
		}
	}
	t.Outputs = make([]Output, 0, n+len(w.constants)+len(w.assigned))
	t.outs = r.ints.reserve(n + len(w.constants) + len(w.assigned))
	total := 0
	for i := range n {
		if k := len(r.columns[w.rel.cols[i]].set); k <= 16 {
			total += k
		}
	}
	slab := make([]Source, 0, total)
	for i := range n {
		c := w.rel.cols[i]
		name := ""
		if i < len(w.names) {
			name = w.names[i]
		}
		slab = r.output(t, name, c, nil, slab)
	}
	var index map[string]int
	for _, a := range w.assigned {
		if index == nil && len(w.assigned)+n > 64 {
			index = make(map[string]int)
			for i := range t.Outputs {
				index[lower(t.Outputs[i].Name)] = i
			}
		}
		r.addAssigned(t, a, index)
	}
	for _, a := range w.constants {
		c := r.newColumn(column{node: -1, item: a.tree})
		r.output(t, a.name, c, a.tree, nil)
	}
}

// output appends one column; its sources go to the slab.
func (r *resolver) output(t *Target, name string, c int32, tree syntax.Node, slab []Source) []Source {
	col := &r.columns[c]
	if col.flags&isStar != 0 {
		name = "*"
	}
	o := Output{Name: name, Masked: col.masked, Star: col.flags&isStar != 0, Item: col.item}
	if o.Item == nil {
		o.Item = tree
	}
	if o.Item != nil {
		o.Expression = o.Item.Range()
		if it, ok := o.Item.(*syntax.SelectItem); ok && it.Expr != nil {
			o.Expression = it.Expr.Range()
		}
	}
	if len(col.set) > 16 {
		o.Sources = r.sharedSources(col.set)
	} else {
		start := len(slab)
		slab = r.appendSources(slab, col.set)
		o.Sources = slab[start:len(slab):len(slab)]
	}
	t.Outputs = append(t.Outputs, o)
	t.outs = append(t.outs, c)
	return slab
}

// addAssigned adds what a column is set to, to what it is set to elsewhere in
// the statement.
func (r *resolver) addAssigned(t *Target, a assigned, index map[string]int) {
	c := a.col
	if c < 0 {
		c = r.newColumn(column{node: -1, item: a.tree})
	}
	i := -1
	if index != nil {
		if k, ok := index[lower(a.name)]; ok {
			i = k
		} else {
			index[lower(a.name)] = len(t.Outputs)
		}
	} else {
		i = slices.IndexFunc(t.Outputs, func(o Output) bool { return strings.EqualFold(o.Name, a.name) })
	}
	if i < 0 {
		r.output(t, a.name, c, a.tree, nil)
		return
	}
	both := r.scratch()
	both.deps = append(append(both.deps, r.columns[t.outs[i]].set...), r.columns[c].set...)
	old := r.columns[t.outs[i]]
	old.set = r.keepSet(both)
	old.from = r.ints.keep([]int32{t.outs[i], c})
	if old.masked == "" {
		old.masked = r.columns[c].masked
	}
	r.release(both)
	t.outs[i] = r.newColumn(old)
	t.Outputs[i].Sources = r.sources(old.set)
	t.Outputs[i].Masked = old.masked
}

// sources gives a set its public form.
func (r *resolver) sources(s set) []Source {
	if len(s) == 0 {
		return nil
	}
	return r.appendSources(make([]Source, 0, len(s)), s)
}

// sharedSources gives a large set its public form once.
func (r *resolver) sharedSources(s set) []Source {
	if p, ok := r.public[&s[0]]; ok && len(p) == len(s) {
		return p
	}
	if r.public == nil {
		r.public = make(map[*dep][]Source)
	}
	p := r.sources(s)
	r.public[&s[0]] = p
	return p
}

func (r *resolver) appendSources(to []Source, s set) []Source {
	for _, d := range s {
		b := r.base[d.base]
		to = append(to, Source{Table: r.tables[b.table], Column: b.path, Kinds: d.kinds})
	}
	return to
}

// define tells later statements the columns of a table or view that a query
// makes.
func (r *resolver) define(id int32, rel *relation, names []string) {
	if r.dry {
		return
	}
	shown := len(rel.cols) - rel.hidden
	known := make([]string, 0, shown)
	complete := len(rel.open) == 0 || !r.hasStar(rel)
	for i, c := range r.all(rel)[:shown] {
		if i < len(names) && r.columns[c].flags&isStar == 0 {
			known = append(known, names[i])
		}
	}
	r.declare(id, known, complete)
}
