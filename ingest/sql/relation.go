package sql

import (
	"headwater/ingest/sql/syntax"
)

// A column is a value that a part of a query yields.
type column struct {
	set    set     // what it depends on, down to base columns
	from   []int32 // the columns it is made of
	node   int32   // the plan node that makes it
	scan   int32   // the Scan of which it is a copy, + 1; 0: of none
	item   syntax.Node
	masked string
	flags  columnFlags
}

type columnFlags uint8

const (
	aggregated columnFlags = 1 << iota
	windowed
	isStar // stands for unknown columns
	isRow  // is a whole row
	isName // is a copy under its own name
	unnest // is an element of an array: a field is a path into it
)

// A relation is what a table, a CTE or a query yields. It is not changed once
// made, except that columns of a scan are made when they are asked for.
type relation struct {
	names []string
	cols  []int32 // column ids; of a scan -1 until asked for
	index map[string]int32
	// open are the tables of which columns may be here that no schema lists:
	// the outer list are alternatives, the inner stand together (UNION).
	open  [][]opening
	deps  set
	node  int32
	table int32 // the table of a scan, else -1
	// hidden is how many columns at the end a star does not show.
	hidden int
	// memo are columns found behind open.
	memo map[string]int32
}

// An opening is a place where unknown columns come from: a relation that scans
// a table without schema, or a generator whose columns all come from col.
type opening struct {
	rel *relation
	col int32 // + 1; of a generator
}

// yields reports whether the unknown columns of a relation are a generator's.
func (rel *relation) yields() bool {
	return len(rel.open) == 1 && len(rel.open[0]) == 1 && rel.open[0][0].col > 0
}

func (r *resolver) newColumn(c column) int32 {
	r.columns = append(r.columns, c)
	return int32(len(r.columns) - 1)
}

// scanColumn makes the column of a scan for a base column.
func (r *resolver) scanColumn(rel *relation, base int32, node syntax.Node) int32 {
	one := [1]dep{{base, Identity}}
	return r.newColumn(column{set: r.deps.keep(one[:]), node: rel.node, scan: rel.node + 1, item: node, flags: isName})
}

// at returns column i of a relation.
func (r *resolver) at(rel *relation, i int) int32 {
	if c := rel.cols[i]; c >= 0 {
		return c
	}
	base := int32(0)
	if len(rel.names) == len(r.infos[rel.table].names) {
		base = r.listed(rel.table, int32(i))
	} else {
		base = r.baseColumn(rel.table, rel.names[i])
	}
	rel.cols[i] = r.scanColumn(rel, base, nil)
	return rel.cols[i]
}

// all makes sure that every column of a relation is there, and returns them.
func (r *resolver) all(rel *relation) []int32 {
	if rel.table >= 0 {
		for i := range rel.cols {
			r.at(rel, i)
		}
	}
	return rel.cols
}

// find returns the column of a relation with a name; -1 if none is known.
func (r *resolver) find(rel *relation, name string) int32 {
	i := lookupName(rel.names, &rel.index, name)
	if i < 0 {
		return -1
	}
	return r.at(rel, int(i))
}

// behind returns the column with a name behind the open ends of a relation; -1
// if it is closed. Where it cannot be told which end, the column is of
// an undecided table.
func (r *resolver) behind(rel *relation, name string, at syntax.Node) int32 {
	if len(rel.open) == 0 {
		return -1
	}
	if c, ok := rel.memo[name]; ok {
		return c
	}
	var c int32
	switch {
	case len(rel.open) > 1:
		c = r.undecidedColumn(name, at, rel.open)
	case len(rel.open[0]) == 1:
		c = r.through(rel, rel.open[0][0], name, at)
	default:
		buf := r.scratch()
		var from []int32
		for _, o := range rel.open[0] {
			f := r.through(rel, o, name, at)
			from = append(from, f)
			buf.deps = add(buf.deps, r.columns[f].set, Identity)
		}
		c = r.newColumn(column{set: r.keepSet(buf), from: from, node: rel.node, item: at})
		r.release(buf)
	}
	if rel.memo == nil {
		rel.memo = make(map[string]int32)
	}
	rel.memo[name] = c
	return c
}

func (r *resolver) through(rel *relation, o opening, name string, at syntax.Node) int32 {
	if o.col > 0 {
		return r.extend(o.col-1, name, at)
	}
	if o.rel == rel || o.rel.table >= 0 {
		base := o.rel
		if c, ok := base.memo[name]; ok {
			return c
		}
		c := r.scanColumn(base, r.baseColumn(base.table, name), at)
		if base.memo == nil {
			base.memo = make(map[string]int32)
		}
		base.memo[name] = c
		return c
	}
	return r.behind(o.rel, name, at)
}

// extend returns the field of a column: a path into its base column where it
// is a copy of one.
func (r *resolver) extend(c int32, field string, at syntax.Node) int32 {
	if f := r.field(c, field); f >= 0 {
		return f
	}
	from := r.columns[c]
	n := column{set: from.set, from: r.ints.keep([]int32{c}), node: from.node, scan: from.scan, item: at, masked: from.masked, flags: from.flags &^ isName}
	if from.flags&isRow != 0 || len(from.set) == 1 && (from.flags&unnest != 0 || from.set[0].kinds&^Identity == 0) {
		buf := r.scratch()
		for _, d := range from.set {
			b := r.base[d.base]
			path := field
			if b.path != "*" && b.path != "" {
				path = b.path + "." + field
			}
			buf.deps = append(buf.deps, dep{r.baseColumn(b.table, path), d.kinds})
		}
		n.set = r.keepSet(buf)
		n.flags &^= isRow
		r.release(buf)
	}
	return r.newColumn(n)
}

// undecidedColumn makes a column that one of several tables may have.
func (r *resolver) undecidedColumn(name string, at syntax.Node, open [][]opening) int32 {
	u := Unresolved{Name: name, Reason: "several tables may have this column: their schemas are not known"}
	if at != nil {
		u.Span = at.Range()
	}
	for _, group := range open {
		for _, o := range group {
			if o.rel != nil && o.rel.table >= 0 && len(u.Candidates) < 16 {
				u.Candidates = append(u.Candidates, r.tables[o.rel.table])
			}
		}
	}
	r.unresolved(u)
	one := [1]dep{{r.baseColumn(undecided, name), Identity}}
	return r.newColumn(column{set: r.deps.keep(one[:]), item: at, node: -1})
}
