package sql

import (
	"slices"

	"headwater/ingest/sql/syntax"
)

// Used says what of a statement some output columns need: what a clipped query
// keeps. Every operator below the target stays, since it may decide which rows
// there are; what its clauses name is needed, too.
type Used struct {
	// Items are the items of select lists, CTEs the named queries, that are
	// needed; whatever else the statement has computes other columns.
	Items map[*syntax.SelectItem]bool
	CTEs  map[*syntax.CTE]bool
	// Nodes are the syntax nodes of the operators that values of the columns
	// pass or that decide their rows.
	Nodes map[syntax.Node]bool
}

// Uses says what some outputs of a target need, by their index. It is computed
// when asked for.
func (a *Analysis) Uses(t *Target, outputs ...int) Used {
	u := user{r: a.r, seen: make(map[int32]bool), Used: Used{
		Items: make(map[*syntax.SelectItem]bool), CTEs: make(map[*syntax.CTE]bool), Nodes: make(map[syntax.Node]bool),
	}}
	nodes := make(map[int32]bool, len(t.Plan))
	for _, p := range t.Plan {
		nodes[int32(p.ID)] = true
		if p.Tree != nil {
			u.Nodes[p.Tree] = true
		}
		if said := a.r.steps[p.ID].clause; said != nil {
			for _, c := range said.uses {
				u.column(c)
			}
		}
	}
	for _, i := range outputs {
		if i >= 0 && i < len(t.outs) {
			u.column(t.outs[i])
		}
	}
	for _, n := range a.r.cteNodes {
		if nodes[n.node] {
			u.CTEs[n.def] = true
		}
	}
	return u.Used
}

// A user follows columns down to what they are made of.
type user struct {
	Used
	r    *resolver
	seen map[int32]bool
}

func (u *user) column(c int32) {
	stack := []int32{c}
	for len(stack) > 0 {
		c := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if u.seen[c] {
			continue
		}
		u.seen[c] = true
		col := &u.r.columns[c]
		if it, ok := col.item.(*syntax.SelectItem); ok {
			u.Items[it] = true
		}
		stack = slices.Concat(stack, col.from)
	}
}
