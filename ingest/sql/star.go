package sql

import (
	"slices"
	"strconv"
	"strings"

	"headwater/ingest/sql/syntax"
)

// An outColumn is a column of a select list under its name. Unnamed ones are
// named by the engine.
type outColumn struct {
	name    string
	col     int32
	unnamed bool
}

// columnList returns an empty list that is used again after releaseList.
func (r *resolver) columnList() []outColumn {
	if n := len(r.lists); n > 0 {
		l := r.lists[n-1]
		r.lists = r.lists[:n-1]
		return l[:0]
	}
	return make([]outColumn, 0, 16)
}

func (r *resolver) releaseList(l []outColumn) { r.lists = append(r.lists, l) }

// build makes the relation of a list of columns.
func (r *resolver) build(list []outColumn, node int32) *relation {
	rel := &relation{table: -1, node: node}
	if len(list) == 0 {
		return rel
	}
	rel.names = r.strings.reserve(len(list))[:len(list)]
	rel.cols = r.ints.reserve(len(list))[:len(list)]
	for i, o := range list {
		rel.names[i], rel.cols[i] = o.name, o.col
	}
	return rel
}

// buildOf makes the relation of a select: that of its only table, shared, where
// it is a bare star.
func (r *resolver) buildOf(list []outColumn, node int32, sel *selection) *relation {
	rel := &relation{}
	if len(sel.tree.Items) == 1 && len(sel.scope.tables) == 1 && len(sel.scope.merged) == 0 {
		of := sel.scope.tables[0].rel
		if star, ok := sel.tree.Items[0].Expr.(*syntax.Star); ok && len(list) == len(of.cols) && plain(star) && of.hidden == 0 {
			rel.names, rel.cols, rel.index, rel.table, rel.node = of.names, of.cols, of.index, -1, node
			return rel
		}
	}
	return r.build(list, node)
}

func plain(s *syntax.Star) bool {
	return len(s.Except)+len(s.Replace)+len(s.Rename) == 0 && s.Pattern == ""
}

// expandStar appends the columns that a star stands for.
func (r *resolver) expandStar(x *syntax.Star, s *scope, list []outColumn) []outColumn {
	start := len(list)
	if len(x.Of) > 0 {
		list = r.expandOf(x, s, list)
	} else {
		for i := range s.merged {
			list = append(list, outColumn{s.merged[i].name, s.merged[i].col, false})
		}
		for i := range s.tables {
			if b := &s.tables[i]; !b.hidden {
				list = r.expandTable(b, s.merged, x, list)
			}
		}
	}
	if plain(x) {
		return list
	}
	return r.starClauses(x, s, list, start)
}

// expandTable appends the columns of one table, without the merged ones.
func (r *resolver) expandTable(b *binding, merged []mergedColumn, x *syntax.Star, list []outColumn) []outColumn {
	rel := b.rel
	cols := r.all(rel)
	if !r.star(len(cols), x) {
		return list
	}
	for i, c := range cols[:len(cols)-rel.hidden] {
		if isMerged(merged, rel.names[i]) {
			continue
		}
		list = append(list, outColumn{rel.names[i], c, false})
	}
	if rel.table >= 0 && len(rel.open) > 0 {
		list = append(list, outColumn{"*", r.starColumn(rel, x), false})
	}
	return list
}

func isMerged(merged []mergedColumn, name string) bool {
	for i := range merged {
		if strings.EqualFold(merged[i].name, name) {
			return true
		}
	}
	return false
}

// starColumn stands for all columns of a table without schema.
func (r *resolver) starColumn(rel *relation, at syntax.Node) int32 {
	if c, ok := rel.memo["*"]; ok {
		return c
	}
	t := r.tables[rel.table]
	r.unresolved(Unresolved{Span: at.Range(), Name: "*", Reason: "the schema of " + t.String() + " is not known", Table: t})
	one := [1]dep{{r.baseColumn(rel.table, "*"), Identity}}
	c := r.newColumn(column{set: r.deps.keep(one[:]), node: rel.node, item: at, flags: isStar})
	if rel.memo == nil {
		rel.memo = make(map[string]int32)
	}
	rel.memo["*"] = c
	return c
}

// expandOf appends the columns of t.*, or the fields of struct.*.
func (r *resolver) expandOf(x *syntax.Star, s *scope, list []outColumn) []outColumn {
	for at := s; at != nil; at = at.parent {
		if b := at.qualified(r, x.Of); b != nil {
			return r.expandTable(b, nil, x, list)
		}
	}
	ref := &syntax.Ref{Name: syntax.Name{Span: x.Span, Parts: x.Of}}
	m := r.resolve(ref, s, inItems)
	if !m.ok || m.col < 0 {
		return list
	}
	c := m.col
	for i := m.used; i < len(x.Of); i++ {
		c = r.extend(c, x.Of[i].Text, x)
	}
	return r.fieldsOf(c, x, list)
}

// fieldStar appends the fields of (expression).*.
func (r *resolver) fieldStar(e syntax.Expr, s *selection, item syntax.Node, list []outColumn) []outColumn {
	return r.fieldsOf(s.column(r, e, item), item, list)
}

// fieldsOf appends the fields of a struct: those that a schema lists, or all as
// one.
func (r *resolver) fieldsOf(c int32, at syntax.Node, list []outColumn) []outColumn {
	set := r.columns[c].set
	n := len(list)
	if len(set) == 1 {
		b := r.base[set[0].base]
		prefix := b.path + "."
		for _, name := range r.infos[b.table].names {
			rest, ok := strings.CutPrefix(name, prefix)
			rest, _, _ = strings.Cut(rest, ".")
			if ok && !slices.ContainsFunc(list[n:], func(o outColumn) bool { return o.name == rest }) {
				list = append(list, outColumn{rest, r.extend(c, rest, at), false})
			}
		}
	}
	if len(list) == n {
		col := r.columns[c]
		col.from, col.flags = r.ints.keep([]int32{c}), col.flags|isStar
		list = append(list, outColumn{"*", r.newColumn(col), false})
	}
	return list
}

// starClauses applies EXCEPT, REPLACE and RENAME to what a star stands for.
func (r *resolver) starClauses(x *syntax.Star, s *scope, list []outColumn, start int) []outColumn {
	kept := list[:start]
	for _, o := range list[start:] {
		if !r.starred(x, o.name) {
			continue
		}
		for i := range x.Replace {
			if strings.EqualFold(x.Replace[i].Alias.Text, o.name) {
				o.col = r.replacement(&x.Replace[i], s)
			}
		}
		for i := range x.Rename {
			if strings.EqualFold(x.Rename[i][0].Text, o.name) {
				o.name = x.Rename[i][1].Text
			}
		}
		kept = append(kept, o)
	}
	return kept
}

func (r *resolver) starred(x *syntax.Star, name string) bool {
	for _, e := range x.Except {
		if strings.EqualFold(e.Text, name) {
			return false
		}
	}
	return x.Pattern == "" || name == "*" || r.matches(x.Pattern, name)
}

func (r *resolver) replacement(it *syntax.SelectItem, s *scope) int32 {
	if s.sel != nil {
		return s.sel.column(r, it.Expr, it)
	}
	acc := r.scratch()
	defer r.release(acc)
	r.walk(it.Expr, s, Identity, inItems, acc)
	return r.newColumn(column{set: r.keepSet(acc), from: r.ints.keep(acc.from), node: -1, item: it})
}

// openStar gives a select the open ends of the tables that its stars stand for.
func (r *resolver) openStar(rel *relation, s *scope, items []syntax.SelectItem) {
	if items == nil {
		for i := range s.tables {
			if !s.tables[i].hidden {
				rel.open = append(rel.open, s.tables[i].rel.open...)
			}
		}
		return
	}
	for i := range items {
		star, ok := items[i].Expr.(*syntax.Star)
		if !ok {
			continue
		}
		if len(star.Of) > 0 {
			if b := s.qualified(r, star.Of); b != nil {
				rel.open = append(rel.open, b.rel.open...)
			}
			continue
		}
		r.openStar(rel, s, nil)
	}
}

// implied names an expression without an alias at position i, and says whether
// that is a name of its own.
func (r *resolver) implied(e syntax.Expr, i int) (string, bool) {
	switch x := e.(type) {
	case *syntax.Ref:
		if len(x.Parts) > 0 {
			return x.Parts[len(x.Parts)-1].Text, true
		}
	case *syntax.Field:
		if !r.rules.variant && !x.Star {
			return x.Name.Text, true
		}
	case *syntax.Sub:
		if x.Kind == "SCALAR" && r.rules.unnamed == "func" && x.Query != nil {
			if sel, ok := x.Query.Body.(*syntax.Select); ok && len(sel.Items) == 1 {
				if sel.Items[0].Alias.Text != "" {
					return sel.Items[0].Alias.Text, true
				}
				return r.implied(sel.Items[0].Expr, i)
			}
		}
	}
	switch r.rules.unnamed {
	case "_c", "_col":
		return r.rules.unnamed + strconv.Itoa(i), false
	case "func":
		switch x := e.(type) {
		case *syntax.Call:
			return strings.ToLower(lastPartOr(x.Name, x.Func)), false
		case *syntax.Case:
			return "case", false
		case *syntax.Cast:
			name, own := r.implied(x.X, i)
			return name, own
		}
		return "?column?", false
	}
	return oneLine(e.Range().In(r.text), 200), false
}

func lastPartOr(n syntax.Name, other string) string {
	if p := lastPart(n); p != "" {
		return p
	}
	return other
}

// oneLine collapses white space, and cuts at limit bytes.
func oneLine(text string, limit int) string {
	clean := true
	for i := 0; i < len(text); i++ {
		if c := text[i]; c < ' ' || c == ' ' && (i == 0 || i == len(text)-1 || text[i+1] == ' ') {
			clean = false
			break
		}
	}
	if !clean {
		text = strings.Join(strings.Fields(text), " ")
	}
	if len(text) > limit {
		for limit > 0 && text[limit]&0xc0 == 0x80 {
			limit--
		}
		text = text[:limit] + "…"
	}
	return text
}
