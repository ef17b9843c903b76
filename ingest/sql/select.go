package sql

import (
	"strings"

	"headwater/ingest/sql/syntax"
)

// A selection is a SELECT while it is resolved. Its items are computed when
// they are first asked for, since a clause may name them before their turn.
type selection struct {
	tree  *syntax.Select
	scope *scope
	cols  []int32 // of each item: notYet, underWay, or its column
	now   int     // the item being computed
	subs  []int32
	flags columnFlags
	made  []int32 // columns whose node is not yet known
	// index finds the first item with an alias, orderIndex with a name that
	// ORDER BY knows; made for long lists.
	index, orderIndex map[string]int
}

const (
	notYet   = -1
	underWay = -2
)

// sees reports whether a clause sees the aliases of the select.
func (s *selection) sees(r *resolver, in place) bool {
	switch in {
	case inItems:
		return r.rules.lateralAlias
	case inWhere:
		return r.rules.whereAlias
	case inGroup:
		return r.rules.groupAlias
	case inHaving:
		return r.rules.havingAlias
	case inQualify, inOrder:
		return true
	}
	return false
}

// first reports whether an alias hides a column of the same name.
func (s *selection) first(r *resolver, in place) bool {
	return in == inOrder || r.rules.aliasFirst && in != inWhere
}

// alias computes the item with an alias; -1 where there is none that may be
// named here.
func (s *selection) alias(r *resolver, name string, in place) int32 {
	items := s.tree.Items
	first, last := 0, len(items)
	if last > 24 {
		index := &s.index
		if in == inOrder {
			index = &s.orderIndex
		}
		if *index == nil {
			*index = make(map[string]int)
			for i := last - 1; i >= 0; i-- {
				a := items[i].Alias.Text
				if in == inOrder {
					a = ownName(&items[i])
				}
				if a != "" {
					(*index)[lower(a)] = i
				}
			}
		}
		i, ok := (*index)[lower(name)]
		if !ok {
			return -1
		}
		first, last = i, i+1
	}
	for i := first; i < last; i++ {
		a := items[i].Alias.Text
		if in == inOrder {
			a = ownName(&items[i])
		}
		if len(a) != len(name) || !strings.EqualFold(a, name) {
			continue
		}
		if in == inItems && i >= s.now && !r.rules.aliasFirst {
			return -1
		}
		if s.cols[i] == underWay {
			continue
		}
		return s.item(r, i)
	}
	return -1
}

// ownName is the name under which ORDER BY may name an item: its alias, or the
// column that it copies.
func ownName(it *syntax.SelectItem) string {
	if it.Alias.Text != "" {
		return it.Alias.Text
	}
	if ref, ok := it.Expr.(*syntax.Ref); ok {
		return lastPart(ref.Name)
	}
	return ""
}

// item computes the column of one item.
func (s *selection) item(r *resolver, i int) int32 {
	if s.cols[i] != notYet {
		return s.cols[i]
	}
	it := &s.tree.Items[i]
	if _, ok := it.Expr.(*syntax.Star); ok || it.Expr == nil {
		return -1
	}
	s.cols[i] = underWay
	before := s.now
	s.now = i
	s.cols[i] = s.column(r, it.Expr, it)
	s.now = before
	return s.cols[i]
}

// column computes an expression of the select list.
func (s *selection) column(r *resolver, e syntax.Expr, item syntax.Node) int32 {
	acc := r.scratch()
	r.walk(e, s.scope, Identity, inItems, acc)
	c := column{set: r.keepSet(acc), from: r.ints.keep(acc.from), node: -1, item: item, masked: acc.masked}
	c.flags = acc.flags &^ (isStar | isRow)
	if ref, ok := e.(*syntax.Ref); ok && len(acc.from) == 1 {
		from := &r.columns[acc.from[0]]
		c.scan = from.scan
		c.flags = from.flags & (unnest | isRow)
		if len(ref.Parts) > 0 {
			c.flags |= isName
		}
	} else {
		c.flags &^= unnest
	}
	s.flags |= acc.flags & (aggregated | windowed)
	s.subs = append(s.subs, acc.subs...)
	r.release(acc)
	id := r.newColumn(c)
	s.made = append(s.made, id)
	r.fieldsAt(id, e, s.scope)
	return id
}

// selectRows resolves one SELECT, with the ORDER BY of the query around it.
func (r *resolver) selectRows(x *syntax.Select, q *syntax.Query, outer *scope) *relation {
	s := &scope{parent: outer}
	if r.capture {
		r.capture, r.captured = false, s
	}
	f := r.newFrom(s)
	if rows := r.shared; rows != nil && len(x.From) == 0 {
		// A branch of a multi-insert reads what stands before all of them.
		r.shared = nil
		s.tables, s.merged = rows.scope.tables, rows.scope.merged
		f.node, f.comma = rows.node, rows.comma
		f.acc.deps = append(f.acc.deps, rows.acc.deps...)
		f.acc.subs = append(f.acc.subs, rows.acc.subs...)
	}
	f.list(x.From)
	sel := &selection{tree: x, scope: s, now: len(x.Items)}
	s.sel = sel
	sel.cols = r.ints.reserve(len(x.Items))[:len(x.Items)]
	for i := range sel.cols {
		sel.cols[i] = notYet
	}
	if x.PreWhere != nil {
		f.filter(x.PreWhere, inWhere)
	}
	if x.Where != nil {
		f.filter(x.Where, inWhere)
	}
	if x.StartWith != nil {
		f.filter(x.StartWith, inWhere)
	}
	if x.ConnectBy != nil {
		f.filter(x.ConnectBy, inWhere)
	}
	if x.Model != nil {
		r.model(x.Model, s, f)
	}
	var order []syntax.OrderItem
	if q != nil {
		order = q.Order
	}
	return r.project(sel, f, order)
}

// filter keeps rows of what is bound so far.
func (f *from) filter(e syntax.Expr, in place) {
	node := f.r.node(OpFilter, "", e)
	if f.node >= 0 {
		f.r.input(node, f.node)
	}
	f.node = node
	f.condition(e, Filter, in, node, 0, maxStep)
}

// project computes the select list and what stands after it.
func (r *resolver) project(sel *selection, f *from, order []syntax.OrderItem) *relation {
	x := sel.tree
	list := r.columnList()
	if x.Transform != nil {
		list = r.transform(sel, list)
	}
	list = sel.items(r, list)
	made := len(list)
	if sel.flags&aggregated != 0 || x.GroupBy != nil || len(x.DistinctOn) > 0 {
		f.group(sel)
	}
	if x.Having != nil {
		f.filter(x.Having, inHaving)
	}
	aggregate := f.node
	window := int32(-1)
	if sel.flags&windowed != 0 {
		window = r.node(OpWindow, "", x)
		r.input(window, f.node)
		f.node = window
	}
	if x.Qualify != nil {
		f.filter(x.Qualify, inQualify)
	}
	node := r.node(OpProject, "", itemsSpan(x))
	if f.node >= 0 {
		r.input(node, f.node)
	}
	r.inputs(node, sel.subs)
	for _, c := range sel.made {
		switch col := &r.columns[c]; {
		case col.flags&windowed != 0 && window >= 0:
			col.node = window
		case col.flags&aggregated != 0:
			col.node = aggregate
		default:
			col.node = node
		}
	}
	f.node = node
	if x.Distinct {
		f.node = r.node(OpAggregate, "DISTINCT", itemsSpan(x))
		r.input(f.node, node)
	}
	f.sort(sel, order, list[:made])
	rel := r.buildOf(list, f.node, sel)
	r.openStar(rel, sel.scope, x.Items)
	rel.deps = f.done()
	r.releaseList(list)
	return rel
}

func itemsSpan(x *syntax.Select) syntax.Node {
	if len(x.Items) == 0 {
		return x
	}
	return spanned{x.Items[0].Start, x.Items[len(x.Items)-1].End}
}

// items computes the columns of the select list.
func (s *selection) items(r *resolver, list []outColumn) []outColumn {
	for i := range s.tree.Items {
		it := &s.tree.Items[i]
		if star, ok := it.Expr.(*syntax.Star); ok {
			s.now = i
			list = r.expandStar(star, s.scope, list)
			continue
		}
		if field, ok := it.Expr.(*syntax.Field); ok && field.Star {
			list = r.fieldStar(field.X, s, it, list)
			continue
		}
		if it.Expr == nil {
			continue
		}
		c := s.item(r, i)
		if c < 0 {
			continue
		}
		if len(it.Aliases) > 0 {
			for _, a := range it.Aliases {
				list = append(list, outColumn{a.Text, c, false})
			}
			continue
		}
		if it.Alias.Text != "" {
			list = append(list, outColumn{it.Alias.Text, c, false})
			continue
		}
		if names := r.generated(it.Expr); len(names) > 0 {
			for _, n := range names {
				list = append(list, outColumn{n, c, false})
			}
			continue
		}
		name, own := r.implied(it.Expr, len(list))
		list = append(list, outColumn{name, c, !own})
	}
	s.now = len(s.tree.Items)
	return list
}

// group draws GROUP BY and gathers its keys.
func (f *from) group(sel *selection) {
	r, x := f.r, sel.tree
	tree := syntax.Node(x)
	if x.GroupBy != nil {
		tree = spanned(x.GroupBy.Span)
	}
	node := r.node(OpAggregate, "", tree)
	if f.node >= 0 {
		r.input(node, f.node)
	}
	f.node = node
	before, named := len(f.acc.subs), len(f.acc.from)
	if x.GroupBy != nil {
		for _, k := range x.GroupBy.Keys {
			f.key(k, sel, GroupBy, inGroup)
		}
		if x.GroupBy.All {
			for i := range x.Items {
				if c := sel.item(r, i); c >= 0 && r.columns[c].flags&aggregated == 0 {
					r.use(c, GroupBy, f.acc)
				}
			}
		}
	}
	for _, k := range x.DistinctOn {
		f.key(k, sel, GroupBy, inOrder)
	}
	r.inputs(node, f.acc.subs[before:])
	r.using(node, f.acc.from[named:])
}

// key gathers a key of a grouping or an order: an ordinal, or an expression.
func (f *from) key(e syntax.Expr, sel *selection, role Kind, in place) {
	r := f.r
	if i := position(e); i >= 0 {
		if i < len(sel.tree.Items) {
			if c := sel.item(r, i); c >= 0 {
				r.use(c, role, f.acc)
			}
		}
		return
	}
	if l, ok := e.(*syntax.List); ok {
		for i := range l.Items {
			f.key(l.Items[i].Expr, sel, role, in)
		}
		return
	}
	r.walk(e, sel.scope, role, in, f.acc)
}

// sort draws ORDER BY, SORT BY and the keys by which rows are spread.
func (f *from) sort(sel *selection, order []syntax.OrderItem, list []outColumn) {
	r, x := f.r, sel.tree
	if len(order) == 0 && len(x.Sort) == 0 && len(x.Cluster) == 0 {
		return
	}
	var at syntax.Node = x
	switch {
	case len(order) > 0:
		at = spanned{order[0].Start, order[len(order)-1].End}
	case len(x.Sort) > 0:
		at = spanned{x.Sort[0].Start, x.Sort[len(x.Sort)-1].End}
	}
	node := r.node(OpSort, "", at)
	r.input(node, f.node)
	f.node = node
	if x.Transform != nil {
		// What a script yields is sorted by its own columns.
		rel := r.build(list, f.node)
		sel = &selection{tree: x, scope: &scope{parent: sel.scope, tables: []binding{{rel: rel}}}}
	}
	before, named := len(f.acc.subs), len(f.acc.from)
	for _, items := range [2][]syntax.OrderItem{order, x.Sort} {
		for i := range items {
			e := items[i].Expr
			if p := position(e); p >= 0 {
				if p < len(list) {
					r.use(list[p].col, Sort, f.acc)
				}
				continue
			}
			f.key(e, sel, Sort, inOrder)
		}
	}
	for _, e := range x.Cluster {
		f.key(e, sel, Sort, inOrder)
	}
	r.inputs(node, f.acc.subs[before:])
	r.using(node, f.acc.from[named:])
}
