package sql

import (
	"slices"
	"strings"

	"headwater/ingest/sql/syntax"
)

// finish completes the Analysis.
func (r *resolver) finish() {
	r.contract()
	for _, t := range r.tables[1:] {
		if t != nil && t.Kind != QueryTable {
			r.a.Tables = append(r.a.Tables, t)
		}
	}
}

// Chain returns the plan nodes between a source of an output and the output, in
// plan order: the operators that its values pass. It is computed when asked
// for. A target of Flows has the chain of its last step only.
func (a *Analysis) Chain(t *Target, output int, source Source) []PlanNode {
	if output < 0 || output >= len(t.outs) {
		return nil
	}
	base := a.r.findBase(source)
	if base < 0 {
		return nil
	}
	bases := []int32{base}
	// A path is made of the column that it leads into.
	for path := source.Column; ; {
		i := strings.LastIndexByte(path, '.')
		if i < 0 {
			break
		}
		path = path[:i]
		if b := a.r.findBase(Source{Table: source.Table, Column: path}); b >= 0 {
			bases = append(bases, b)
		}
	}
	c := chaser{r: a.r, bases: bases, seen: make(map[int32]bool), nodes: make(map[int32]bool), hops: make(map[[2]int32]bool)}
	c.column(t.outs[output])
	if len(c.nodes) == 0 {
		return nil
	}
	if n := len(t.Plan); n > 0 {
		write := int32(t.Plan[n-1].ID)
		c.hop(write, a.r.columns[t.outs[output]].node)
		c.nodes[write] = true
	}
	var chain []PlanNode
	for _, p := range t.Plan {
		if c.nodes[int32(p.ID)] {
			chain = append(chain, p)
		}
	}
	return chain
}

// findBase finds an interned column without making one.
func (r *resolver) findBase(s Source) int32 {
	id := int32(undecided)
	if s.Table != nil {
		id = s.Table.id
	}
	info := &r.infos[id]
	for _, b := range info.ids {
		if b != 0 && strings.EqualFold(r.base[b-1].path, s.Column) {
			return b - 1
		}
	}
	for _, b := range info.more {
		if strings.EqualFold(r.base[b].path, s.Column) {
			return b
		}
	}
	return -1
}

// A chaser follows a base column, and those that it is a path into, through the
// columns made of them.
type chaser struct {
	r     *resolver
	bases []int32
	seen  map[int32]bool
	nodes map[int32]bool
	hops  map[[2]int32]bool
}

func (c *chaser) has(s set) bool {
	for _, b := range c.bases {
		if _, ok := slices.BinarySearchFunc(s, b, func(d dep, b int32) int { return int(d.base) - int(b) }); ok {
			return true
		}
	}
	return false
}

func (c *chaser) column(id int32) {
	if c.seen[id] {
		return
	}
	c.seen[id] = true
	col := &c.r.columns[id]
	if !c.has(col.set) {
		return
	}
	if col.node >= 0 {
		c.nodes[col.node] = true
	}
	for _, f := range col.from {
		from := &c.r.columns[f]
		if !c.has(from.set) {
			continue
		}
		c.column(f)
		if col.node >= 0 && from.node >= 0 {
			c.hop(col.node, from.node)
		}
	}
}

// hop adds the nodes on the ways from one node down to another.
func (c *chaser) hop(from, to int32) {
	if from == to || from < 0 || to < 0 || c.hops[[2]int32{from, to}] {
		return
	}
	c.hops[[2]int32{from, to}] = true
	reaches := make(map[int32]bool)
	var walk func(n int32) bool
	walk = func(n int32) bool {
		if n == to {
			return true
		}
		if r, ok := reaches[n]; ok {
			return r
		}
		reaches[n] = false
		hit := false
		for _, in := range c.r.steps[n].inputs {
			if walk(in) {
				hit = true
			}
		}
		reaches[n] = hit
		if hit {
			c.nodes[n] = true
		}
		return hit
	}
	walk(from)
	c.nodes[to] = true
}

// Snippet returns the text of a plan node on one line, cut at limit bytes.
func (a *Analysis) Snippet(n PlanNode, limit int) string {
	if n.Span == (syntax.Span{}) {
		return ""
	}
	return oneLine(n.Span.In(a.Text), limit)
}

// Computed returns the expression that makes the values of an output: of a
// column that is only handed on, the expression that it is handed on from. Nil
// where it is a column of a table, or where several make it.
func (a *Analysis) Computed(t *Target, output int) syntax.Expr {
	if output < 0 || output >= len(t.outs) {
		return nil
	}
	c := t.outs[output]
	for range maxHandedOn {
		col := &a.r.columns[c]
		if it, ok := col.item.(*syntax.SelectItem); ok {
			switch it.Expr.(type) {
			case *syntax.Ref, *syntax.Star, nil:
			default:
				return it.Expr
			}
		}
		if len(col.from) != 1 || col.from[0] == c {
			return nil
		}
		c = col.from[0]
	}
	return nil
}

// maxHandedOn bounds through how many queries a column is followed.
const maxHandedOn = 1000
