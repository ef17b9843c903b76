package sql

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"headwater/ingest/sql/syntax"
)

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
