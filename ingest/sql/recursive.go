package sql

import (
	"slices"

	"headwater/ingest/sql/syntax"
)

// recursive resolves a query that may read itself: its own columns stand as
// placeholders in what the recursive part makes; then the placeholders are
// replaced until nothing more is found.
func (r *resolver) recursive(c *cte) *relation {
	outer := r.recursing
	r.recursing = c
	c.table = -1
	rel := r.query(c.def.Query, c.scope)
	r.recursing = outer
	if c.self == nil {
		return rel
	}
	return r.fixpoint(c, rel)
}

// anchored is told of the first branch of a set operation: if it is that of the
// query being resolved recursively, its names are those of the query.
func (r *resolver) anchored(rel *relation, x *syntax.SetOp) {
	c := r.recursing
	body := c.def.Query.Body
	for {
		q, ok := body.(*syntax.Query)
		if !ok {
			break
		}
		body = q.Body
	}
	if body != syntax.SetExpr(x) {
		return
	}
	if c.self == nil && c.state == 1 && c.table < 0 {
		names := rel.names
		if len(c.def.Columns) > 0 {
			names = make([]string, len(c.def.Columns))
			for i := range names {
				names[i] = c.def.Columns[i].Text
			}
		}
		c.table = r.placeholder(names)
	}
}

// placeholder makes the table whose columns stand for a query's own.
func (r *resolver) placeholder(names []string) int32 {
	id := int32(len(r.tables))
	r.tables = append(r.tables, nil)
	r.infos = append(r.infos, tableInfo{names: names, known: true, asked: true})
	return id
}

// selfRelation is what a query sees of itself.
func (r *resolver) selfRelation(c *cte) *relation {
	if c.self != nil {
		return c.self
	}
	if c.table < 0 || !c.recurse {
		names := make([]string, len(c.def.Columns))
		for i := range names {
			names[i] = c.def.Columns[i].Text
		}
		c.table = r.placeholder(names)
	}
	names := r.infos[c.table].names
	rel := &relation{table: -1, names: names, node: r.node(OpScan, c.def.Name.Text, c.def.Name)}
	for i := range names {
		one := [1]dep{{r.listed(c.table, int32(i)), Identity}}
		rel.cols = append(rel.cols, r.newColumn(column{set: r.deps.keep(one[:]), node: rel.node, item: c.def.Name}))
	}
	c.self = rel
	return rel
}

// fixpoint replaces the placeholders of a recursive query.
func (r *resolver) fixpoint(c *cte, rel *relation) *relation {
	r.all(rel)
	n := min(len(rel.cols), len(c.self.cols))
	sets := make([]set, len(rel.cols))
	for i, id := range rel.cols {
		sets[i] = r.columns[id].set
	}
	first := make(map[int32]int, n)
	for i := range n {
		first[r.columns[c.self.cols[i]].set[0].base] = i
	}
	known := make([]set, len(sets))
	for i, s := range sets {
		known[i] = without(s, first)
	}
	for range 8 {
		changed := false
		for i, s := range sets {
			next := r.replaced(s, first, known)
			if !slices.Equal(next, known[i]) {
				known[i], changed = next, true
			}
		}
		if !changed {
			break
		}
	}
	out := *rel
	out.cols, out.table = make([]int32, len(rel.cols)), -1
	out.index, out.memo = nil, nil
	for i, id := range rel.cols {
		col := r.columns[id]
		col.set, col.from = known[i], r.ints.keep([]int32{id})
		out.cols[i] = r.newColumn(col)
		if i < n {
			r.columns[c.self.cols[i]].from = r.ints.keep([]int32{id})
		}
	}
	out.deps = r.replaced(rel.deps, first, known)
	return &out
}

func without(s set, gone map[int32]int) set {
	var out set
	for _, d := range s {
		if _, ok := gone[d.base]; !ok {
			out = append(out, d)
		}
	}
	return out
}

// replaced puts sets in the place of base columns.
func (r *resolver) replaced(s set, by map[int32]int, sets []set) set {
	buf := r.scratch()
	defer r.release(buf)
	hit := false
	for _, d := range s {
		i, ok := by[d.base]
		if !ok {
			buf.deps = append(buf.deps, d)
			continue
		}
		hit = true
		buf.deps = addAll(buf.deps, sets[i], d.kinds)
	}
	if !hit {
		return s
	}
	return r.keepSet(buf)
}

// addAll appends what depends in each of several roles on what s depends on.
func addAll(to []dep, s set, roles Kind) []dep {
	for _, d := range s {
		k := Kind(0)
		for bit := Identity; bit <= Sort; bit <<= 1 {
			if roles&bit != 0 {
				k |= compose(bit, d.kinds)
			}
		}
		to = append(to, dep{d.base, k})
	}
	return to
}
