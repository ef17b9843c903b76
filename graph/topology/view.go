package topology

import (
	"sync/atomic"

	"headwater/graph"
)

// A View is one version of a topology. It may be read by many at once until
// it is released.
type View struct {
	t       *Topology
	version uint32
	tables
	special array[atomic.Uint64]
	plain   bool   // no name is special
	aliased uint32 // the version that last changed what a name stands for, or whether it is gone
	slabs   []*[slabWords]uint32
}

var _ graph.Topology = (*View)(nil)

// Handle implements graph.Numbers.
func (v *View) Handle(id graph.ID) (graph.Handle, bool) {
	switch class := graph.ClassOf(id); class {
	case graph.DataStoreClass, graph.ColumnClass:
		name, ok := findStore(&v.t.storeIndex, &v.stores, head(id))
		if !ok {
			return 0, false
		}
		node := v.node(name).node
		if class == graph.DataStoreClass {
			return node, true
		}
		i, ok := findPart(&v.t.columnIndex, &v.columns, node.Index(), tail(id))
		return graph.MakeHandle(graph.ColumnClass, i), ok
	default:
		p, ok := findProcess(&v.t.processIndex, &v.processes, head(id))
		if !ok || class == graph.ProcessClass {
			return graph.MakeHandle(graph.ProcessClass, p), ok
		}
		i, ok := findPart(&v.t.hubIndex, &v.hubs, p, tail(id))
		return graph.MakeHandle(graph.HubClass, i), ok
	}
}

// ID implements graph.Numbers.
func (v *View) ID(h graph.Handle) graph.ID { return v.id(h) }

// IDs implements graph.Numbers.
func (v *View) IDs(hs []graph.Handle, ids []graph.ID) { v.ids(hs, ids) }

// Base implements graph.Numbers.
func (v *View) Base(h graph.Handle) graph.Handle {
	if h.Class() == graph.ColumnClass {
		return graph.MakeHandle(graph.DataStoreClass, v.columns.at(h.Index()).base)
	}
	return h
}

// By implements graph.Numbers.
func (v *View) By(by uint32) graph.Key {
	s := v.says.at(by)
	return graph.Key{Subject: v.id(s.subject), Origin: v.origins[s.origin]}
}

// Resolve returns the node that a name or column stands for, whether or not
// any flow speaks of it.
func (v *View) Resolve(id graph.ID) graph.ID {
	if id.Kind() != graph.DataStoreKind || v.plain {
		return id
	}
	name, ok := findStore(&v.t.storeIndex, &v.stores, head(id))
	if !ok {
		return id
	}
	return id.WithBase(v.id(v.node(name).node))
}

// Members lists the names that stand for a node, itself among them.
func (v *View) Members(node graph.ID) []graph.ID {
	name, ok := findStore(&v.t.storeIndex, &v.stores, head(node))
	if !ok || node.Kind() != graph.DataStoreKind {
		return []graph.ID{node}
	}
	n := v.node(name)
	if len(n.members) == 0 {
		return []graph.ID{node}
	}
	ids := make([]graph.ID, len(n.members))
	for i, m := range n.members {
		ids[i] = v.id(graph.MakeHandle(graph.DataStoreClass, m))
	}
	return ids
}

// Gone reports whether a node is deleted.
func (v *View) Gone(node graph.ID) bool {
	if node.Kind() != graph.DataStoreKind || v.plain {
		return false
	}
	name, ok := findStore(&v.t.storeIndex, &v.stores, head(node))
	return ok && v.node(name).gone
}

// Stamp changes when what is said of a name changes. It is 0 where nothing
// has been said since the topology was opened.
func (v *View) Stamp(name graph.ID) uint32 {
	var c *cell
	if name.Kind() == graph.DataStoreKind {
		i, ok := findStore(&v.t.storeIndex, &v.stores, head(name))
		if !ok {
			return 0
		}
		c = v.storeCells[slotFacts].at(i)
	} else {
		i, ok := findProcess(&v.t.processIndex, &v.processes, head(name))
		if !ok {
			return 0
		}
		c = &v.processes.at(i).cells[processSlot(slotFacts)]
	}
	return version(v.at(c))
}
