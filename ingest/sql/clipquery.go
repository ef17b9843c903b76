package sql

import (
	"regexp"
	"slices"
	"strings"

	"headwater/ingest/sql/syntax"
)

// query clips a query; free says that its items can be left out: nobody but
// the column's own chain looks at them by position or compares whole rows.
func (c *clipper) query(q *syntax.Query, free bool) {
	if q.With != nil {
		c.with(q.With)
	}
	top := q.Body == c.top
	switch {
	case len(q.Pipes) > 0:
		return
	case top && q.Limit == nil && q.Offset == nil && len(q.LimitBy) == 0 && !distinctOn(q.Body):
		c.order(q.Order)
	default:
		free = free && !ordinals(q.Order)
	}
	c.set(q.Body, free, aliasesOf(q.Order))
}

// distinctOn reports whether the order of rows says which of them stay.
func distinctOn(e syntax.SetExpr) bool {
	s, ok := e.(*syntax.Select)
	return ok && len(s.DistinctOn) > 0
}

// with clips named queries, and leaves out those that nothing needs.
func (c *clipper) with(w *syntax.With) {
	var gone []bool
	left := 0
	for _, item := range w.Items {
		needed := item.Query == nil || c.used.CTEs[item] || c.named(w, item)
		if gone = append(gone, !needed); needed {
			left++
		}
		if needed && item.Query != nil {
			c.query(item.Query, len(item.Columns) == 0 && !w.Recursive)
		}
	}
	if left == 0 {
		c.cut(w.Start, w.End, "")
		return
	}
	spans := make([]syntax.Span, len(w.Items))
	for i := range w.Items {
		spans[i] = w.Items[i].Span
	}
	c.leaveOut(spans, gone)
}

// named reports whether a named query stands in one that is needed: an
// operator that was never drawn may name it.
func (c *clipper) named(w *syntax.With, item *syntax.CTE) bool {
	for _, other := range w.Items {
		if other == item || !c.used.CTEs[other] || other.Query == nil {
			continue
		}
		found := false
		syntax.Inspect(other.Query, func(n syntax.Node) bool {
			if t, ok := n.(*syntax.Table); ok && len(t.Name.Parts) == 1 && strings.EqualFold(t.Name.Parts[0].Text, item.Name.Text) {
				found = true
			}
			return !found
		})
		if found {
			return true
		}
	}
	return false
}

// leaveOut cuts elements of a list with commas between.
func (c *clipper) leaveOut(spans []syntax.Span, gone []bool) {
	last := -1 // that stays
	for i := range spans {
		if gone[i] {
			continue
		}
		switch {
		case last >= 0 && last < i-1:
			c.cut(spans[last+1].Start, spans[i].Start, "")
		case last < 0 && i > 0:
			c.cut(spans[0].Start, spans[i].Start, "")
		}
		last = i
	}
	if last >= 0 && last < len(spans)-1 {
		c.cut(spans[last].End, spans[len(spans)-1].End, "")
	}
}

func (c *clipper) set(e syntax.SetExpr, free bool, ordered []string) {
	switch x := e.(type) {
	case *syntax.Select:
		c.selection(x, free, ordered)
	case *syntax.Query:
		if x == c.top && x.Body != nil {
			c.top = x.Body
		}
		c.query(x, free)
	case *syntax.SetOp:
		// Items go from all branches alike or from none; by position that is
		// only so where each is a plain list as long as the others.
		branches, plain := branchesOf(x, nil)
		free = free && plain && x == c.top
		for _, b := range branches {
			if s, ok := b.(*syntax.Select); ok && free {
				c.position(s)
				continue
			}
			c.set(b, false, ordered)
		}
	}
}

// branchesOf lists the branches of set operations; plain says that all are
// UNION ALL by position.
func branchesOf(e syntax.SetExpr, list []syntax.SetExpr) (_ []syntax.SetExpr, plain bool) {
	plain = true
	for {
		op, ok := e.(*syntax.SetOp)
		if !ok {
			list = append(list, e)
			slices.Reverse(list)
			return list, plain
		}
		plain = plain && op.Op == "UNION" && op.All && !op.ByName
		list, e = append(list, op.Right), op.Left
	}
}

// position leaves of a branch the item at the place of the column.
func (c *clipper) position(s *syntax.Select) {
	if slices.ContainsFunc(s.Items, func(it syntax.SelectItem) bool { _, star := it.Expr.(*syntax.Star); return star }) || !c.prunable(s) || c.output >= len(s.Items) {
		c.rest(s)
		return
	}
	keep := map[*syntax.SelectItem]bool{&s.Items[c.output]: true}
	c.prune(s, keep, nil)
	c.rest(s)
}

// selection clips one SELECT.
func (c *clipper) selection(s *syntax.Select, free bool, ordered []string) {
	top := syntax.SetExpr(s) == c.top
	if free && (top || c.bold) && c.prunable(s) {
		keep := map[*syntax.SelectItem]bool{}
		if top {
			c.wanted(s, keep)
		} else {
			for i := range s.Items {
				_, star := s.Items[i].Expr.(*syntax.Star)
				if star || c.used.Items[&s.Items[i]] {
					keep[&s.Items[i]] = true
				}
			}
		}
		c.prune(s, keep, ordered)
	}
	if top {
		c.order(s.Sort)
		c.cluster(s.Cluster)
	}
	c.rest(s)
}

// rest clips what a SELECT has in its FROM and in its conditions.
func (c *clipper) rest(s *syntax.Select) {
	for _, ref := range s.From {
		left := []syntax.TableRef{ref}
		if c.joins {
			left = c.withoutJoins(s, ref)
		}
		for _, r := range left {
			c.ref(r)
		}
	}
}

func (c *clipper) ref(ref syntax.TableRef) {
	switch x := ref.(type) {
	case *syntax.Derived:
		c.query(x.Query, len(x.Alias.Columns) == 0)
	case *syntax.Join:
		c.ref(x.Left)
		c.ref(x.Right)
	case *syntax.LateralView:
		c.ref(x.Source)
	case *syntax.Paren:
		c.ref(x.Ref)
	}
}

var (
	orderBy   = regexp.MustCompile(`(?is)(order|sort)\s+(siblings\s+)?by\s*$`)
	clusterBy = regexp.MustCompile(`(?is)(distribute|cluster)\s+by\s*$`)
)

// order leaves out an order of rows that nothing looks at.
func (c *clipper) order(items []syntax.OrderItem) {
	if len(items) == 0 {
		return
	}
	if at := orderBy.FindStringIndex(c.a.Text[:items[0].Start]); at != nil {
		c.cut(int32(at[0]), items[len(items)-1].End, "")
	}
}

func (c *clipper) cluster(keys []syntax.Expr) {
	if len(keys) == 0 {
		return
	}
	if at := clusterBy.FindStringIndex(c.a.Text[:keys[0].Range().Start]); at != nil {
		c.cut(int32(at[0]), keys[len(keys)-1].Range().End, "")
	}
}

// ordinals reports whether an order names columns by position.
func ordinals(items []syntax.OrderItem) bool {
	return slices.ContainsFunc(items, func(o syntax.OrderItem) bool { _, ok := o.Expr.(*syntax.Literal); return ok })
}

// aliasesOf lists the names that an order starts with.
func aliasesOf(items []syntax.OrderItem) []string {
	var names []string
	for i := range items {
		syntax.Inspect(items[i].Expr, func(n syntax.Node) bool {
			if r, ok := n.(*syntax.Ref); ok && len(r.Parts) > 0 {
				names = append(names, r.Parts[0].Text)
			}
			return true
		})
	}
	return names
}
