package topology

import "headwater/graph"

var _ graph.Lasting = (*View)(nil)

// Mark implements graph.Lasting.
func (v *View) Mark(t *graph.Touched) { t.Of, t.Version = v.t, v.version }

// Holds implements graph.Lasting: a cell that has been written since then is
// not what it was.
func (v *View) Holds(t *graph.Touched) bool {
	switch {
	case t.All || t.Of != any(v.t) || v.version < t.Version:
		return false
	case v.version == t.Version:
		return true
	case v.aliased > t.Version:
		return false
	}
	for _, l := range t.Lists {
		if !v.listHolds(l, t.Version) {
			return false
		}
	}
	for _, id := range t.IDs {
		for _, name := range v.Members(v.Resolve(id)) {
			if v.Stamp(name) > t.Version {
				return false
			}
		}
	}
	for _, id := range t.Absent {
		if _, ok := v.Handle(id); ok {
			return false
		}
	}
	return true
}

func (v *View) listHolds(l graph.TouchedList, then uint32) bool {
	class := l.Node.Class()
	if !hasLayer(class, l.Layer) {
		return true
	}
	slot := slotOf(l.Layer, l.Dir)
	same := func(c *cell) bool { return version(v.at(c)) <= then }
	if class >= graph.ProcessClass {
		return same(v.cell(l.Node, slot))
	}
	base := v.Base(l.Node).Index()
	members := []uint32{base}
	if n := v.node(base); len(n.members) > 0 {
		members = n.members
	}
	for _, m := range members {
		name := graph.MakeHandle(graph.DataStoreClass, m)
		if class == graph.ColumnClass {
			if name = v.column(m, v.columns.at(l.Node.Index()).tail, name); name.Class() != graph.ColumnClass {
				continue
			}
		}
		if !same(v.cell(name, slot)) {
			return false
		}
		if !l.Whole || l.Layer != graph.ColumnLayer || class != graph.DataStoreClass {
			continue
		}
		for i := v.stores.at(m).first.Load(); i != 0; {
			if i > v.columns.n {
				i = v.t.newest.Load().at(i - 1).next // newer than the view
				continue
			}
			column := v.columns.at(i - 1)
			if !same(&column.cells[slot&1]) {
				return false
			}
			i = column.next
		}
	}
	return true
}
