package topology

import (
	"slices"

	"headwater/graph"
)

// The node cell of a data store's name is empty where the name is plain: it
// stands for itself, nothing else stands for it, and it lives. Otherwise it
// leads to a block:
//
//	handle of the node, members<<1 | gone, members × handle
//
// Members, the name itself among them, are listed with the node alone. The
// node's columns have numbers under its own name, whatever names they are
// reported under, so that they can stand in answers.
const wordsOfNode = 2

// Realias finds out anew what names stand for, and which are gone, after
// something has changed with those given: they, and all that is linked to
// them now or was before.
func (t *Topology) Realias(links graph.Links, changed []graph.ID) error {
	if t.failed != nil {
		return t.failed
	}
	return t.fail(t.realias(links, changed))
}

func (t *Topology) realias(links graph.Links, changed []graph.ID) error {
	resolver := graph.NewResolver(links, graph.Forever)
	seen := map[graph.ID]bool{}
	queue := make([]graph.ID, 0, len(changed))
	add := func(ids ...graph.ID) {
		for _, id := range ids {
			if id.Kind() == graph.DataStoreKind && !seen[id.Base()] {
				seen[id.Base()] = true
				queue = append(queue, id.Base())
			}
		}
	}
	add(changed...)
	for len(queue) > 0 {
		id := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		linked, err := t.linked(links, id)
		if err != nil {
			return err
		}
		add(linked...)
		node, err := resolver.Node(id)
		if err != nil {
			return err
		}
		gone, err := resolver.Gone(node)
		if err != nil {
			return err
		}
		var members []graph.ID
		if node == id {
			if members, err = resolver.Members(id); err != nil {
				return err
			}
		}
		if err := t.standFor(id, node, members, gone); err != nil {
			return err
		}
	}
	return nil
}

// linked lists the names that a name is linked to: by what links say, and by
// what it stood for so far.
func (t *Topology) linked(links graph.Links, id graph.ID) ([]graph.ID, error) {
	targets, err := links.AliasTargets(id)
	if err != nil {
		return nil, err
	}
	sources, err := links.AliasSources(id)
	if err != nil {
		return nil, err
	}
	life, err := links.Life(id)
	if err != nil {
		return nil, err
	}
	linked := slices.Concat(targets, sources)
	if p := life.Gone(graph.Forever); p != nil && !p.RenamedTo.IsZero() {
		linked = append(linked, p.RenamedTo.ID())
	}
	if i, ok := findStore(&t.storeIndex, &t.stores, head(id)); ok {
		if r := ref(t.storeCells[slotNode].at(i).Load()); r != 0 {
			b := readNode(t.arena.slabs, r)
			linked = append(linked, t.id(b.node))
			for _, m := range b.members {
				linked = append(linked, t.id(graph.Handle(m)))
			}
		}
	}
	return linked, nil
}

// standFor notes what a name stands for.
func (t *Topology) standFor(id, node graph.ID, members []graph.ID, gone bool) error {
	name, base := t.store(head(id)), t.store(head(node))
	c := t.storeCells[slotNode].at(name)
	old := ref(c.Load())
	var was, is []uint32
	if old != 0 {
		was = nodeWords(t.arena.slabs, old)
	}
	if plain := node == id && len(members) == 1 && !gone; !plain {
		is = append(is, base, uint32(len(members))<<1)
		if gone {
			is[1] |= 1
		}
		for _, m := range members {
			is = append(is, t.store(head(m)))
		}
	}
	if slices.Equal(was, is) {
		return nil
	}
	t.aliased = t.building
	to := uint32(0)
	if is != nil {
		r, b, err := t.arena.alloc(laneNode, uint32(len(is)))
		if err != nil {
			return err
		}
		copy(b, is)
		t.markSpecial(name)
		for i := t.stores.at(name).first.Load(); base != name && i != 0; {
			column := t.columns.at(i - 1)
			t.column(base, column.tail)
			i = column.next
		}
		to = r
	}
	if old != 0 {
		t.retired = append(t.retired, retirement{t.building, block{old, uint32(len(was)), laneNode}})
	}
	t.set(c, to)
	return nil
}

// canonicalColumns gives the columns that the batch made under an alias
// numbers under the name of the node too.
func (t *Topology) canonicalColumns() {
	for _, i := range t.created {
		column := t.columns.at(i)
		if r := ref(t.storeCells[slotNode].at(column.base).Load()); r != 0 {
			if node := readNode(t.arena.slabs, r).node.Index(); node != column.base {
				t.column(node, column.tail)
			}
		}
	}
	t.created = t.created[:0]
}

func (t *Topology) markSpecial(name uint32) {
	t.special.grow(name>>6 + 1)
	word := t.special.at(name >> 6)
	if bit := uint64(1) << (name & 63); word.Load()&bit == 0 {
		word.Or(bit)
		t.specials++
	}
}

// A nodeBlock is what a name that is not plain stands for.
type nodeBlock struct {
	node    graph.Handle
	gone    bool
	members []uint32 // the node's own
}

func nodeWords(slabs []*[slabWords]uint32, ref uint32) []uint32 {
	return slice(slabs, ref, wordsOfNode+slice(slabs, ref+1, 1)[0]>>1)
}

func readNode(slabs []*[slabWords]uint32, ref uint32) nodeBlock {
	b := nodeWords(slabs, ref)
	return nodeBlock{node: graph.MakeHandle(graph.DataStoreClass, b[0]), gone: b[1]&1 != 0, members: b[wordsOfNode:]}
}

// node returns what the name of a data store stands for.
func (v *View) node(name uint32) nodeBlock {
	plain := nodeBlock{node: graph.MakeHandle(graph.DataStoreClass, name)}
	if v.plain || name>>6 >= v.special.n || v.special.at(name>>6).Load()&(1<<(name&63)) == 0 {
		return plain
	}
	r := ref(v.at(v.storeCells[slotNode].at(name)))
	if r == 0 {
		return plain
	}
	return readNode(v.slabs, r)
}

// live returns the node that the end of a flow stands for; false where it is
// gone.
func (v *View) live(h graph.Handle, throughGone bool) (graph.Handle, bool) {
	name := h.Index()
	switch h.Class() {
	case graph.ColumnClass:
		name = v.columns.at(name).base
	case graph.DataStoreClass:
	default:
		return h, true
	}
	n := v.node(name)
	if n.gone && !throughGone {
		return h, false
	}
	if n.node.Index() == name {
		return h, true
	}
	if h.Class() == graph.DataStoreClass {
		return n.node, true
	}
	return v.column(n.node.Index(), v.columns.at(h.Index()).tail, h), true
}

// column returns the number of a column under a name, or otherwise what is
// given.
func (v *View) column(base uint32, tail uint64, otherwise graph.Handle) graph.Handle {
	if i, ok := findPart(&v.t.columnIndex, &v.columns, base, tail); ok {
		return graph.MakeHandle(graph.ColumnClass, i)
	}
	return otherwise
}
