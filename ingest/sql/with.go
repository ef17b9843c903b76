package sql

import (
	"slices"
	"strings"

	"headwater/ingest/sql/syntax"
)

// A cteFrame holds the named queries of one WITH.
type cteFrame struct {
	items []*cte
	index map[string]int32
	// scalars: some name expressions (ClickHouse).
	scalars bool
}

// A cte is a named query, resolved when it is first read and only once.
type cte struct {
	def     *syntax.CTE
	scope   *scope
	rel     *relation
	uses    int
	state   uint8 // 0: not resolved, 1: being resolved, 2: resolved
	recurse bool
	// Of a recursive one, while it is resolved: the relation that stands for
	// itself, and the table of its placeholders.
	self  *relation
	table int32
}

// with makes the scope that a WITH opens. Named queries that change data run
// now; the others are resolved when they are read.
func (r *resolver) with(w *syntax.With, outer *scope) *scope {
	frame := &cteFrame{items: make([]*cte, 0, len(w.Items))}
	s := &scope{parent: outer, ctes: frame}
	for _, def := range w.Items {
		c := &cte{def: def}
		c.scope = &scope{parent: outer, ctes: frame, upto: len(frame.items) + 1}
		if w.Recursive {
			c.scope.upto = len(w.Items) + 1
			c.recurse = true
		} else {
			c.scope.upto = len(frame.items)
			if r.rules.selfRecursive && hasSetOp(def.Query) {
				c.scope.upto++
				c.recurse = true
			}
		}
		frame.items = append(frame.items, c)
		frame.scalars = frame.scalars || def.Scalar != nil
		r.ctes = append(r.ctes, c)
		if def.Body != nil {
			r.changing(c)
		}
	}
	s.upto = len(frame.items)
	if len(frame.items) > 16 {
		frame.index = make(map[string]int32, len(frame.items))
		for i, c := range frame.items {
			frame.index[lower(c.def.Name.Text)] = int32(i)
		}
	}
	return s
}

func hasSetOp(q *syntax.Query) bool {
	if q == nil {
		return false
	}
	switch b := q.Body.(type) {
	case *syntax.SetOp:
		return true
	case *syntax.Query:
		return hasSetOp(b)
	}
	return false
}

// cte finds a named query that a scope sees.
func (s *scope) cte(name string) *cte {
	for ; s != nil; s = s.parent {
		f := s.ctes
		if f == nil {
			continue
		}
		upto := min(s.upto, len(f.items))
		if f.index != nil {
			if i, ok := f.index[lower(name)]; ok && int(i) < upto {
				return f.items[i]
			}
			continue
		}
		for i := upto - 1; i >= 0; i-- {
			if c := f.items[i]; c.def.Scalar == nil && strings.EqualFold(c.def.Name.Text, name) {
				return c
			}
		}
	}
	return nil
}

// anyCTE reports whether a scope sees named queries.
func (s *scope) anyCTE() bool {
	for ; s != nil; s = s.parent {
		if s.ctes != nil {
			return true
		}
	}
	return false
}

// cteRelation resolves a named query.
func (r *resolver) cteRelation(c *cte) *relation {
	c.uses++
	switch c.state {
	case 2:
		if c.uses > 1 {
			r.steps[c.rel.node].many = true
		}
		return c.rel
	case 1:
		return r.selfRelation(c)
	}
	c.state = 1
	var rel *relation
	if c.recurse {
		rel = r.recursive(c)
	} else {
		rel = r.query(c.def.Query, c.scope)
	}
	if len(c.def.Columns) > 0 {
		rel = r.renamed(rel, c.def.Columns)
	}
	c.rel, c.state = rel, 2
	r.cteNodes = append(r.cteNodes, namedNode{c.def, rel.node})
	return rel
}

// A namedNode is the node of a named query's rows.
type namedNode struct {
	def  *syntax.CTE
	node int32
}

// renamed gives a relation the names of a column list.
func (r *resolver) renamed(rel *relation, names []syntax.Ident) *relation {
	out := *rel
	out.index, out.table = nil, -1
	r.all(rel)
	out.cols = rel.cols
	out.names = slices.Clone(rel.names)
	if r.hasStar(rel) || len(rel.cols) == 0 && len(rel.open) > 0 {
		// The names of unknown columns: the list has no others.
		return r.namedStar(rel, names)
	}
	for i, n := range names {
		if i < len(out.names) {
			out.names[i] = n.Text
		}
	}
	return &out
}

// namedStar gives names to columns that no schema lists: each is of all of it.
func (r *resolver) namedStar(rel *relation, names []syntax.Ident) *relation {
	out := *rel
	out.index, out.table, out.open, out.memo = nil, -1, nil, nil
	out.names, out.cols = nil, nil
	star := int32(-1)
	for i, n := range names {
		out.names = append(out.names, n.Text)
		if i < len(rel.cols) && star < 0 && r.columns[rel.cols[i]].flags&isStar == 0 {
			out.cols = append(out.cols, rel.cols[i])
			continue
		}
		if star < 0 {
			star = r.row(rel, n)
			for _, c := range rel.cols {
				if r.columns[c].flags&isStar != 0 {
					star = c
					break
				}
			}
		}
		col := r.columns[star]
		col.from, col.item = r.ints.keep([]int32{star}), n
		col.flags &^= isStar | isName
		out.cols = append(out.cols, r.newColumn(col))
	}
	return &out
}

// changing runs a named statement that changes data; what it returns is what
// the name means.
func (r *resolver) changing(c *cte) {
	c.state = 1
	c.rel = r.changedBy(c.def.Body, c.scope)
	if len(c.def.Columns) > 0 {
		c.rel = r.renamed(c.rel, c.def.Columns)
	}
	c.state = 2
}

// changedBy runs a statement that changes data, and is what it returns.
func (r *resolver) changedBy(b syntax.Body, s *scope) *relation {
	switch b := b.(type) {
	case *syntax.Insert:
		return r.insert(b, s, nil)
	case *syntax.Update:
		return r.update(b, s)
	case *syntax.Delete:
		return r.delete(b, s)
	}
	r.body(b, s)
	return r.nothing(b)
}

// A scalarKey is a ClickHouse WITH expr AS name, used in a scope.
type scalarKey struct {
	def   *syntax.CTE
	scope *scope
}

// scalar computes an expression that WITH names, where it is used.
func (r *resolver) scalar(def *syntax.CTE, s *scope) int32 {
	key := scalarKey{def, s}
	if c, ok := r.scalars[key]; ok {
		return c
	}
	if r.scalars == nil {
		r.scalars = make(map[scalarKey]int32)
	}
	r.scalars[key] = -1
	acc := r.scratch()
	defer r.release(acc)
	r.walk(def.Scalar, s, Identity, inItems, acc)
	c := r.newColumn(column{
		set: r.keepSet(acc), from: r.ints.keep(acc.from), node: -1, item: def,
		flags: acc.flags &^ (isStar | isRow), masked: acc.masked,
	})
	r.scalars[key] = c
	return c
}

// scalarNamed finds an expression that a WITH names.
func (s *scope) scalarNamed(name string) *syntax.CTE {
	for ; s != nil; s = s.parent {
		if s.ctes == nil || !s.ctes.scalars {
			continue
		}
		for _, c := range s.ctes.items[:min(s.upto, len(s.ctes.items))] {
			if c.def.Scalar != nil && strings.EqualFold(c.def.Name.Text, name) {
				return c.def
			}
		}
	}
	return nil
}

// unread resolves the named queries of a statement that nothing reads.
func (r *resolver) unread() {
	for i := 0; i < len(r.ctes); i++ {
		if c := r.ctes[i]; c.state == 0 && c.def.Query != nil {
			r.cteRelation(c)
			c.uses--
		}
	}
	r.ctes = r.ctes[:0]
}
