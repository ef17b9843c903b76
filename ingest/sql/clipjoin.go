package sql

import (
	"fmt"
	"slices"
	"strings"

	"headwater/ingest/sql/syntax"
)

// withoutJoins leaves out the outer joins of a FROM that only add columns which
// nothing names, and returns the references that are left.
func (c *clipper) withoutJoins(s *syntax.Select, ref syntax.TableRef) []syntax.TableRef {
	var left []syntax.TableRef
	for {
		j, ok := ref.(*syntax.Join)
		if !ok {
			return append(left, ref)
		}
		if name, columns := c.right(j.Right); j.Kind != "LEFT" || j.Natural || len(j.Using) > 0 || j.Asof || j.On == nil || name == "" || c.names(s, j, name, columns) {
			left = append(left, j.Right)
		} else {
			if !c.once(j, name) {
				c.assumes = append(c.assumes, fmt.Sprintf("a row finds at most one row of %s, which is not joined", name))
			}
			c.cut(j.Left.Range().End, j.End, "")
		}
		ref = j.Left
	}
}

// right returns the name under which the right side of a join is known and, if
// that can be told, its columns.
func (c *clipper) right(ref syntax.TableRef) (name string, columns []string) {
	switch x := ref.(type) {
	case *syntax.Table:
		if name = x.Alias.Name.Text; name == "" && len(x.Name.Parts) > 0 {
			name = x.Name.Parts[len(x.Name.Parts)-1].Text
		}
		if len(x.Name.Parts) == 1 {
			if q := c.cte(x.Name.Parts[0].Text); q != nil {
				return name, listed(q)
			}
		}
		for _, t := range c.a.Tables {
			if t.Known && sameEnd(t.Parts, textsOf(x.Name.Parts)) {
				return name, t.Columns
			}
		}
	case *syntax.Derived:
		if len(x.Alias.Columns) > 0 {
			return x.Alias.Name.Text, textsOf(x.Alias.Columns)
		}
		return x.Alias.Name.Text, listed(x.Query)
	}
	return name, nil
}

func textsOf(ids []syntax.Ident) []string {
	texts := make([]string, len(ids))
	for i := range ids {
		texts[i] = ids[i].Text
	}
	return texts
}

// cte returns the query of a name of the statement's.
func (c *clipper) cte(name string) *syntax.Query {
	for def := range c.used.CTEs {
		if def.Query != nil && strings.EqualFold(def.Name.Text, name) {
			return def.Query
		}
	}
	return nil
}

// listed lists the columns of a query whose items all have names.
func listed(q *syntax.Query) []string {
	s, ok := q.Body.(*syntax.Select)
	if !ok {
		return nil
	}
	var names []string
	for i := range s.Items {
		name := s.Items[i].Alias.Text
		if name == "" {
			name = natural(s.Items[i].Expr)
		}
		if name == "" {
			return nil
		}
		names = append(names, name)
	}
	return names
}

// names reports whether a SELECT names something of the right side of a join
// outside of the join's own condition. What may be is.
func (c *clipper) names(s *syntax.Select, j *syntax.Join, name string, columns []string) bool {
	found := false
	condition := j.On.Range()
	right := j.Right.Range()
	syntax.Inspect(s, func(n syntax.Node) bool {
		at := n.Range()
		if at.Start >= condition.Start && at.End <= condition.End && at != s.Span || at.Start >= right.Start && at.End <= right.End {
			return false
		}
		switch x := n.(type) {
		case *syntax.Star:
			found = found || len(x.Of) == 0 || strings.EqualFold(x.Of[len(x.Of)-1].Text, name)
		case *syntax.Ref:
			switch {
			case len(x.Parts) == 0:
			case len(x.Parts) == 1 || !slices.ContainsFunc(x.Parts[:len(x.Parts)-1], func(p syntax.Ident) bool { return strings.EqualFold(p.Text, name) }):
				found = found || columns == nil && len(x.Parts) == 1 || len(x.Parts) == 1 && slices.ContainsFunc(columns, func(n string) bool { return strings.EqualFold(n, x.Parts[0].Text) })
			default:
				found = true
			}
		}
		return !found
	})
	return found
}

// once reports whether it can be told from the text that a row finds one row
// of the right side at most: it is grouped by what it is joined by.
func (c *clipper) once(j *syntax.Join, name string) bool {
	var q *syntax.Query
	switch x := j.Right.(type) {
	case *syntax.Derived:
		q = x.Query
	case *syntax.Table:
		if len(x.Name.Parts) == 1 {
			q = c.cte(x.Name.Parts[0].Text)
		}
	}
	if q == nil {
		return false
	}
	s, ok := q.Body.(*syntax.Select)
	if !ok {
		return false
	}
	if l, ok := q.Limit.(*syntax.Literal); ok && l.Value == "1" && q.Offset == nil {
		return true
	}
	var keys []string // columns that tell rows apart
	switch {
	case s.GroupBy != nil && !s.GroupBy.All && groupsPlainly(c.a.Text, s.GroupBy):
		for _, k := range s.GroupBy.Keys {
			it := slices.IndexFunc(s.Items, func(it syntax.SelectItem) bool {
				return it.Expr.Range().In(c.a.Text) == k.Range().In(c.a.Text)
			})
			if it < 0 {
				return false
			}
			keys = append(keys, itemName(&s.Items[it]))
		}
	case s.Distinct:
		for i := range s.Items {
			keys = append(keys, itemName(&s.Items[i]))
		}
	default:
		return false
	}
	joined := map[string]bool{}
	equated(j.On, func(r *syntax.Ref) {
		if len(r.Parts) == 2 && strings.EqualFold(r.Parts[0].Text, name) {
			joined[strings.ToLower(r.Parts[1].Text)] = true
		}
	})
	return !slices.ContainsFunc(keys, func(k string) bool { return k == "" || !joined[strings.ToLower(k)] })
}

func itemName(it *syntax.SelectItem) string {
	if it.Alias.Text != "" {
		return it.Alias.Text
	}
	return natural(it.Expr)
}

// groupsPlainly reports whether each group is there once: no ROLLUP and its
// like.
func groupsPlainly(text string, g *syntax.GroupBy) bool {
	upper := strings.ToUpper(g.In(text))
	return !strings.Contains(upper, "ROLLUP") && !strings.Contains(upper, "CUBE") && !strings.Contains(upper, "SETS")
}

// equated calls f with the columns that a condition compares with =, in
// conjuncts that all hold.
func equated(e syntax.Expr, f func(*syntax.Ref)) {
	op, ok := e.(*syntax.Op)
	if !ok {
		return
	}
	switch strings.ToUpper(op.Op) {
	case "AND":
		for _, a := range op.Args {
			equated(a, f)
		}
	case "=":
		for _, a := range op.Args {
			if r, ok := a.(*syntax.Ref); ok {
				f(r)
			}
		}
	}
}
