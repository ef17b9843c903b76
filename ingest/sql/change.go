package sql

import (
	"slices"
	"strings"

	"headwater/ingest/sql/syntax"
)

// An assigned is a column that a statement sets.
type assigned struct {
	name string
	col  int32 // -1: to a constant
	tree syntax.Node
}

// assign computes an assignment and adds it to what is written. Several
// columns may be set from one row or query.
func (r *resolver) assign(a *syntax.Assignment, s *scope, f *from, w *written) {
	if a.Value == nil {
		return
	}
	if len(a.Targets) > 1 {
		if sub, ok := a.Value.(*syntax.Sub); ok && sub.Query != nil {
			rel := r.query(sub.Query, s)
			f.acc.deps = append(f.acc.deps, rel.deps...)
			r.input(f.node, rel.node)
			for i, t := range a.Targets {
				if i < len(rel.cols) {
					w.assigned = append(w.assigned, assigned{lastPart(t), r.at(rel, i), a})
				}
			}
			return
		}
		if l, ok := a.Value.(*syntax.List); ok && len(l.Items) == len(a.Targets) {
			for i, t := range a.Targets {
				r.assignOne(lastPart(t), l.Items[i].Expr, a, s, f, w)
			}
			return
		}
	}
	for _, t := range a.Targets {
		r.assignOne(lastPart(t), a.Value, a, s, f, w)
		if r.compound(t, a.Value) {
			// a += b is of a, too.
			r.assignOne(lastPart(t), &syntax.Op{Span: t.Span, Op: "+", Args: []syntax.Expr{&syntax.Ref{Name: t}}}, a, s, f, w)
		}
	}
}

// compound reports whether what stands between a column and its value is +=
// or its kin.
func (r *resolver) compound(t syntax.Name, value syntax.Expr) bool {
	at := value.Range().Start
	if at < t.End {
		return false
	}
	op := strings.TrimSpace(r.text[t.End:at])
	return len(op) == 2 && op[1] == '=' && strings.IndexByte("+-*/%&|^", op[0]) >= 0
}

func (r *resolver) assignOne(name string, e syntax.Expr, at syntax.Node, s *scope, f *from, w *written) {
	acc := r.scratch()
	defer r.release(acc)
	r.walk(e, s, Identity, inItems, acc)
	r.inputs(f.node, acc.subs)
	c := r.newColumn(column{
		set: r.keepSet(acc), from: r.ints.keep(acc.from), node: f.node,
		item: e, flags: acc.flags &^ (isStar | isRow), masked: acc.masked,
	})
	w.assigned = append(w.assigned, assigned{name, c, at})
}

// update resolves an UPDATE, of one table or of several joined.
func (r *resolver) update(x *syntax.Update, outer *scope) *relation {
	s := outer
	if x.With != nil {
		s = r.with(x.With, outer)
	}
	inner := &scope{parent: s}
	f := r.newFrom(inner)
	target, _ := x.Target.(*syntax.Table)
	id := int32(-1)
	switch {
	case target == nil && x.Target != nil:
		// MySQL's form: any of the joined tables may be set.
		f.node = f.tableRef(x.Target)
		f.list(x.From)
	case target != nil && namedIn(target, x.From):
		// The target stands in FROM under the name: UPDATE a … FROM t AS a.
		f.list(x.From)
		if b := inner.qualified(r, target.Name.Parts); b != nil && b.rel.table >= 0 {
			id = b.rel.table
		}
	case target != nil:
		id = r.changed(target, s)
		own := r.targetRelation(id, target)
		inner.tables = append(inner.tables, binding{alias: target.Alias.Name.Text, name: &target.Name, rel: own})
		f.node = r.scanOwn(own, target)
		f.list(x.From)
	}
	if f.node < 0 {
		f.node = r.node(OpValues, "", x)
	}
	if x.Where != nil {
		f.filter(x.Where, inWhere)
	}
	if id >= 0 {
		w := written{table: id, mode: "UPDATE", tree: x}
		for i := range x.Set {
			r.assign(&x.Set[i], inner, f, &w)
		}
		w.rel = &relation{table: -1, node: f.node, deps: f.done()}
		w.visible = inner.tables
		r.emit(w)
		return r.returning(x.Returning, w, s)
	}
	r.updateMany(x, inner, f)
	return r.nothing(x)
}

// changed interns the table that a statement changes: through the name of a CTE
// the only table that it reads.
func (r *resolver) changed(t *syntax.Table, s *scope) int32 {
	if len(t.Name.Parts) != 1 {
		return r.resolveTable(t)
	}
	c := s.cte(t.Name.Parts[0].Text)
	if c == nil {
		return r.resolveTable(t)
	}
	id := int32(-1)
	for _, n := range r.below(r.cteRelation(c).node) {
		if r.steps[n].op != OpScan || r.steps[n].table < 0 {
			continue
		}
		if id >= 0 && r.steps[n].table != id {
			return r.resolveTable(t)
		}
		id = r.steps[n].table
	}
	if id < 0 {
		return r.resolveTable(t)
	}
	return id
}

// namedIn reports whether FROM lists the target under its name or alias.
func namedIn(t *syntax.Table, refs []syntax.TableRef) bool {
	if len(t.Name.Parts) != 1 {
		return false
	}
	found := false
	var look func(ref syntax.TableRef)
	look = func(ref syntax.TableRef) {
		switch x := ref.(type) {
		case *syntax.Table:
			if strings.EqualFold(x.Alias.Name.Text, t.Name.Parts[0].Text) {
				found = true
			}
			if x.Alias.Name.Text == "" && strings.EqualFold(lastPart(x.Name), t.Name.Parts[0].Text) && t.Alias.Name.Text == "" {
				found = true
			}
		case *syntax.Join:
			look(x.Left)
			look(x.Right)
		case *syntax.Paren:
			look(x.Ref)
		}
	}
	for _, ref := range refs {
		look(ref)
	}
	return found
}

// updateMany gives each table that an assignment names its own target.
func (r *resolver) updateMany(x *syntax.Update, s *scope, f *from) {
	var targets []written
	for i := range x.Set {
		a := &x.Set[i]
		if len(a.Targets) == 0 {
			continue
		}
		id := r.owner(a.Targets[0], s)
		if id < 0 {
			continue
		}
		k := 0
		for k < len(targets) && targets[k].table != id {
			k++
		}
		if k == len(targets) {
			targets = append(targets, written{table: id, mode: "UPDATE", tree: x})
		}
		r.assign(a, s, f, &targets[k])
	}
	rel := &relation{table: -1, node: f.node, deps: f.done()}
	for _, w := range targets {
		w.rel = rel
		r.emit(w)
	}
}

// owner finds the table that a column to be set belongs to.
func (r *resolver) owner(n syntax.Name, s *scope) int32 {
	if k := len(n.Parts) - 1; k > 0 {
		if b := s.qualified(r, n.Parts[:k]); b != nil {
			return b.rel.table
		}
	}
	first := int32(-1)
	for i := range s.tables {
		rel := s.tables[i].rel
		if rel.table < 0 {
			continue
		}
		if lookupName(rel.names, &rel.index, lastPart(n)) >= 0 {
			return rel.table
		}
		if first < 0 {
			first = rel.table
		}
	}
	return first
}

// delete resolves a DELETE: what decides which rows go.
func (r *resolver) delete(x *syntax.Delete, outer *scope) *relation {
	s := outer
	if x.With != nil {
		s = r.with(x.With, outer)
	}
	inner := &scope{parent: s}
	f := r.newFrom(inner)
	var ids []int32
	for _, t := range x.Targets {
		if namedIn(t, x.From) {
			continue
		}
		id := r.changed(t, s)
		ids = append(ids, id)
		own := r.targetRelation(id, t)
		inner.tables = append(inner.tables, binding{alias: t.Alias.Name.Text, name: &t.Name, rel: own})
		f.node = r.scanOwn(own, t)
	}
	f.list(x.From)
	for _, t := range x.Targets {
		if namedIn(t, x.From) {
			if b := inner.qualified(r, t.Name.Parts); b != nil && b.rel.table >= 0 {
				ids = append(ids, b.rel.table)
			}
		}
	}
	if len(ids) == 0 && len(x.Targets) == 0 && len(inner.tables) > 0 && inner.tables[0].rel.table >= 0 {
		ids = append(ids, inner.tables[0].rel.table)
	}
	if f.node < 0 {
		f.node = r.node(OpValues, "", x)
	}
	if x.Where != nil {
		f.filter(x.Where, inWhere)
	}
	rel := &relation{table: -1, node: f.node, deps: f.done()}
	var w written
	for _, id := range ids {
		w = written{table: id, mode: "DELETE", rel: rel, tree: x, visible: inner.tables}
		r.emit(w)
	}
	if len(ids) == 0 {
		return rel
	}
	return r.returning(x.Returning, w, s)
}

// merge resolves a MERGE: what its actions set, column by column.
func (r *resolver) merge(x *syntax.Merge, outer *scope) {
	s := outer
	if x.With != nil {
		s = r.with(x.With, outer)
	}
	id := r.changed(x.Target, s)
	target := r.targetRelation(id, x.Target)
	inner := &scope{parent: s}
	f := r.newFrom(inner)
	f.node = f.tableRef(x.Source)
	rows := &scope{parent: s, tables: inner.tables[:len(inner.tables):len(inner.tables)]}
	inner.tables = append(inner.tables, binding{alias: x.Target.Alias.Name.Text, name: &x.Target.Name, rel: target})
	scan := r.scanOwn(target, x.Target)
	node := r.node(OpJoin, "MERGE", x)
	r.input(node, f.node)
	r.input(node, scan)
	f.node = node
	if x.On != nil {
		f.condition(x.On, Join, inFrom, node, 0, maxStep)
	}
	w := written{table: id, mode: "MERGE", tree: x}
	for i := range x.Actions {
		r.action(&x.Actions[i], x, target, inner, rows, f, &w)
	}
	w.rel = &relation{table: -1, node: f.node, deps: f.done()}
	r.emit(w)
}

func excepted(list []syntax.Ident, name string) bool {
	return slices.ContainsFunc(list, func(id syntax.Ident) bool { return strings.EqualFold(id.Text, name) })
}

// action resolves one WHEN of a MERGE. An INSERT sees the source's rows only.
func (r *resolver) action(a *syntax.MergeAction, x *syntax.Merge, target *relation, all, rows *scope, f *from, w *written) {
	if a.And != nil {
		f.condition(a.And, Filter, inWhere, f.node, 0, 0)
	}
	if a.Where != nil {
		f.condition(a.Where, Filter, inWhere, f.node, 0, 0)
	}
	if a.Star {
		source := r.starOfScope(rows, f.node, a)
		if len(source.open) > 0 && len(target.open) == 0 {
			// The columns of the target have the names that are meant.
			for _, n := range target.names {
				if excepted(a.Except, n) {
					continue
				}
				c := r.find(source, n)
				if c < 0 {
					c = r.behind(source, n, a)
				}
				if c >= 0 {
					w.assigned = append(w.assigned, assigned{n, c, a})
				}
			}
			return
		}
		for _, o := range r.expandStar(&syntax.Star{Span: a.Span, Except: a.Except}, rows, r.columnList()) {
			if len(target.names) > 0 && o.name != "*" && len(target.open) == 0 && lookupName(target.names, &target.index, o.name) < 0 {
				continue
			}
			w.assigned = append(w.assigned, assigned{o.name, o.col, a})
		}
		return
	}
	for i := range a.Set {
		r.assign(&a.Set[i], all, f, w)
	}
	if a.Verb != "INSERT" {
		return
	}
	names := make([]string, 0, len(a.Values))
	for _, c := range a.Columns {
		names = append(names, lastPart(c))
	}
	if len(names) == 0 {
		names = target.names
	}
	at := 0
	for _, v := range a.Values {
		if star, ok := v.(*syntax.Star); ok {
			for _, o := range r.expandStar(star, rows, r.columnList()) {
				if at < len(names) {
					w.assigned = append(w.assigned, assigned{names[at], o.col, a})
					at++
				}
			}
			continue
		}
		name := ""
		if at < len(names) {
			name = names[at]
		} else {
			name, _ = r.implied(v, at)
		}
		at++
		r.assignOne(name, v, v, rows, f, w)
	}
}
