package sql

import (
	"regexp"
	"slices"
	"strconv"
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

// wanted notes the item of the column, and names it as the target does.
func (c *clipper) wanted(s *syntax.Select, keep map[*syntax.SelectItem]bool) {
	out := &c.t.Outputs[c.output]
	at := -1
	if out.Item != nil {
		made := out.Item.Range()
		at = slices.IndexFunc(s.Items, func(x syntax.SelectItem) bool { return x.Start <= made.Start && made.End <= x.End })
	}
	if at < 0 {
		if at = c.place(s); at < 0 {
			for i := range s.Items {
				keep[&s.Items[i]] = true
			}
			return
		}
	}
	item := &s.Items[at]
	keep[item] = true
	star, ok := item.Expr.(*syntax.Star)
	switch {
	case ok && len(star.Replace) == 0 && len(star.Rename) == 0 && star.Pattern == "" && out.Name != "" && out.Name != "*":
		name := out.Name
		if !plainWord(name) {
			return
		}
		if n := len(star.Of); n > 0 {
			name = c.a.Text[star.Of[0].Start:star.Of[n-1].End] + "." + name
		}
		c.cut(item.Start, item.End, name)
	case !ok && item.Alias.Text == "" && len(item.Aliases) == 0 && plainWord(out.Name) && !strings.EqualFold(natural(item.Expr), out.Name):
		c.cut(item.End, item.End, " AS "+out.Name)
	}
}

// place returns which item of a SELECT gives the column, by counting: one star
// stands for all columns that the others do not give. -1: it can't be told.
func (c *clipper) place(s *syntax.Select) int {
	star := -1
	for i := range s.Items {
		if _, ok := s.Items[i].Expr.(*syntax.Star); ok {
			if star >= 0 {
				return -1
			}
			star = i
		}
	}
	copied := len(c.t.Outputs) - (len(s.Items) - 1)
	switch {
	case star < 0 && c.output < len(s.Items) || star >= 0 && c.output < star:
		return c.output
	case star >= 0 && c.output < star+copied:
		return star
	case star >= 0 && c.output-copied+1 < len(s.Items):
		return c.output - copied + 1
	}
	return -1
}

var word = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func plainWord(s string) bool { return word.MatchString(s) }

// natural is the name that an expression has without an alias.
func natural(e syntax.Expr) string {
	if r, ok := e.(*syntax.Ref); ok && len(r.Parts) > 0 {
		return r.Parts[len(r.Parts)-1].Text
	}
	return ""
}

// prunable reports whether items of a SELECT can be left out at all.
func (c *clipper) prunable(s *syntax.Select) bool {
	return (!s.Distinct || len(s.DistinctOn) > 0) && !s.AsStruct && s.Transform == nil && (s.GroupBy == nil || !s.GroupBy.All)
}

// prune leaves out the items that are not kept, with what has to stay for
// others' sake.
func (c *clipper) prune(s *syntax.Select, keep map[*syntax.SelectItem]bool, ordered []string) {
	named := slices.Clone(ordered)
	note := func(n syntax.Node) bool {
		if r, ok := n.(*syntax.Ref); ok && len(r.Parts) > 0 {
			named = append(named, r.Parts[0].Text)
		}
		return true
	}
	if s.GroupBy != nil {
		for _, k := range s.GroupBy.Keys {
			syntax.Inspect(k, note)
		}
	}
	for _, e := range []syntax.Expr{s.Where, s.PreWhere, s.Having, s.Qualify, s.StartWith, s.ConnectBy} {
		if e != nil {
			syntax.Inspect(e, note)
		}
	}
	for i := range s.Windows {
		syntax.Inspect(&s.Windows[i], note)
	}
	aggregates := s.GroupBy == nil && slices.ContainsFunc(s.Items, func(it syntax.SelectItem) bool { return c.aggregates(it.Expr) })
	for i := range s.Items {
		if c.yieldsRows(s.Items[i].Expr) {
			keep[&s.Items[i]] = true
		}
	}
	for grown := true; grown; {
		grown = false
		for i := range s.Items {
			it := &s.Items[i]
			if keep[it] {
				syntax.Inspect(it.Expr, note)
				continue
			}
			if it.Alias.Text != "" && slices.ContainsFunc(named, func(n string) bool { return strings.EqualFold(n, it.Alias.Text) }) {
				keep[it], grown = true, true
			}
		}
	}
	if aggregates {
		one := false
		for i := range s.Items {
			one = one || keep[&s.Items[i]] && c.aggregates(s.Items[i].Expr)
		}
		for i := range s.Items {
			if !one && c.aggregates(s.Items[i].Expr) {
				keep[&s.Items[i]], one = true, true
			}
		}
	}
	if len(keep) == 0 && len(s.Items) > 0 {
		keep[&s.Items[0]] = true // there are still rows to count
	}
	if s.GroupBy != nil {
		c.spellOut(s)
	}
	spans, gone := make([]syntax.Span, len(s.Items)), make([]bool, len(s.Items))
	for i := range s.Items {
		spans[i], gone[i] = s.Items[i].Span, !keep[&s.Items[i]]
	}
	c.leaveOut(spans, gone)
}

// spellOut replaces positions in GROUP BY by what stands there: positions move.
func (c *clipper) spellOut(s *syntax.Select) {
	for _, k := range s.GroupBy.Keys {
		l, ok := k.(*syntax.Literal)
		if !ok || l.Kind != "NUMBER" {
			continue
		}
		n, err := strconv.Atoi(l.Value)
		if err == nil && n >= 1 && n <= len(s.Items) {
			c.cut(l.Start, l.End, s.Items[n-1].Expr.Range().In(c.a.Text))
		}
	}
}

// aggregates reports whether an expression aggregates the rows of its SELECT.
func (c *clipper) aggregates(e syntax.Expr) bool {
	return c.calls(e, func(x *syntax.Call) bool { return x.Over == nil && c.a.r.isAggregate(strings.ToUpper(x.Func)) })
}

// yieldsRows reports whether an expression yields several rows of its own.
func (c *clipper) yieldsRows(e syntax.Expr) bool {
	return c.calls(e, func(x *syntax.Call) bool {
		name := strings.ToUpper(x.Func)
		return generatedNames[name] != nil || unnests[name] || strings.HasPrefix(name, "GENERATE_") || strings.HasPrefix(name, "REGEXP_SPLIT_TO_TABLE") || strings.HasPrefix(name, "INLINE") || name == "STACK" || name == "JSON_TUPLE"
	})
}

func (c *clipper) calls(e syntax.Expr, is func(*syntax.Call) bool) bool {
	found := false
	syntax.Inspect(e, func(n syntax.Node) bool {
		switch x := n.(type) {
		case *syntax.Query:
			return false
		case *syntax.Call:
			found = found || is(x)
		}
		return !found
	})
	return found
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
