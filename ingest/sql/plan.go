package sql

import "headwater/ingest/sql/syntax"

// A step is an operator while the plan is drawn.
type step struct {
	op     Op
	label  string
	inputs []int32
	tree   syntax.Node
	table  int32
	own    bool // the Scan of what the statement changes in place
	many   bool // what several references share
	*clause
}

// A clause is what an operator's own clause says.
type clause struct {
	uses  []int32    // the columns that it names
	conds []conjunct // of a Filter or Join: those on one scan
}

// clauseOf returns the clause of an operator, to be filled in.
func (r *resolver) clauseOf(node int32) *clause {
	s := &r.steps[node]
	if s.clause == nil {
		s.clause = new(clause)
	}
	return s.clause
}

// A spanned is a node that is only a range.
type spanned syntax.Span

// Range returns the span itself.
func (s spanned) Range() syntax.Span { return syntax.Span(s) }

// node draws an operator.
func (r *resolver) node(op Op, label string, tree syntax.Node) int32 {
	r.steps = append(r.steps, step{op: op, label: label, tree: tree, table: -1})
	return int32(len(r.steps) - 1)
}

// input adds what an operator reads.
func (r *resolver) input(node, from int32) {
	if from < 0 || from == node {
		return
	}
	s := &r.steps[node]
	for _, i := range s.inputs {
		if i == from {
			return
		}
	}
	if s.inputs == nil {
		s.inputs = r.ints.reserve(2)
	}
	s.inputs = append(s.inputs, from)
}

func (r *resolver) inputs(node int32, from []int32) {
	for _, f := range from {
		r.input(node, f)
	}
}

// scanOwn draws the scan of a table that a statement changes in place, as the
// place where a relation's rows come from.
func (r *resolver) scanOwn(rel *relation, at syntax.Node) int32 {
	rel.node = r.node(OpScan, "", at)
	s := &r.steps[rel.node]
	s.table, s.own = rel.table, true
	return rel.node
}

// using notes the columns that an operator's clause names.
func (r *resolver) using(node int32, columns []int32) {
	if len(columns) == 0 {
		return
	}
	c := r.clauseOf(node)
	if c.uses == nil {
		c.uses = r.ints.keep(columns)
		return
	}
	c.uses = append(c.uses, columns...)
}
