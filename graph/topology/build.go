package topology

import (
	"context"
	"fmt"
	"slices"

	"headwater/graph"
)

// Rows are the rows that an engine stores, as a topology needs them.
type Rows interface {
	graph.Links
	// Flows is that of graph.Raw.
	Flows(ctx context.Context, f graph.Ask, names []graph.ID, emit func(node graph.ID, by graph.Key, to []graph.Target) error) error
	// AllFlows emits all current rows, those of one node one after the other.
	AllFlows(ctx context.Context, layer graph.Layer, dir graph.Direction, emit func(node graph.ID, by graph.Key, to []graph.Target) error) error
	// Linked emits the names that have aliases or have been gone.
	Linked(ctx context.Context, emit func(graph.ID) error) error
}

var allRows = [...]struct {
	layer graph.Layer
	dir   graph.Direction
}{
	{graph.TableLayer, graph.Downstream}, {graph.TableLayer, graph.Upstream},
	{graph.ColumnLayer, graph.Downstream}, {graph.ColumnLayer, graph.Upstream},
	{graph.UseLayer, graph.Downstream}, {graph.UseLayer, graph.Upstream},
	{graph.ControlLayer, graph.Downstream}, {graph.ControlLayer, graph.Upstream},
}

// Build makes a topology of all that an engine stores. Where it takes more than
// so many bytes the error is ErrFull; 0 is as many as there can be.
func Build(ctx context.Context, rows Rows, most int64) (*Topology, error) {
	t := New()
	if err := t.build(ctx, rows, most); err != nil {
		return nil, err
	}
	return t, nil
}

func (t *Topology) build(ctx context.Context, rows Rows, most int64) error {
	for _, r := range allRows {
		g := gatherer{t: t, slot: slotOf(r.layer, r.dir), most: most}
		if err := rows.AllFlows(ctx, r.layer, r.dir, g.row); err != nil {
			return fmt.Errorf("read flows: %w", err)
		}
		if err := g.flush(); err != nil {
			return err
		}
	}
	var linked []graph.ID
	if err := rows.Linked(ctx, func(id graph.ID) error {
		linked = append(linked, id)
		return ctx.Err()
	}); err != nil {
		return fmt.Errorf("read aliases: %w", err)
	}
	if err := t.Realias(rows, linked); err != nil {
		return err
	}
	return t.Publish()
}

// A gatherer collects the rows of one node after the other into lists.
type gatherer struct {
	t       *Topology
	slot    int
	node    graph.ID
	entries []entry
	seen    func(graph.Handle)
	most    int64 // bytes; 0: any
	lists   int
}

// measured is after how many lists it is measured what they take.
const measured = 1 << 12

func (g *gatherer) row(node graph.ID, by graph.Key, to []graph.Target) error {
	if node != g.node {
		if err := g.flush(); err != nil {
			return err
		}
		g.node = node
	}
	n := g.t.by(by)
	for i := range to {
		g.entries = append(g.entries, entry{g.t.handle(to[i].ID), n, meta(to[i].Kinds, to[i].Coarse)})
	}
	return nil
}

func (g *gatherer) flush() error {
	if len(g.entries) == 0 {
		return nil
	}
	if g.lists++; g.most > 0 && g.lists%measured == 0 && g.t.Stats().Bytes() > g.most {
		return ErrFull
	}
	h := g.t.handle(g.node)
	if g.seen != nil {
		g.seen(h)
	}
	err := g.t.replace(h, g.slot, g.entries)
	g.entries = g.entries[:0]
	return err
}

// replace makes entries the whole list of a node.
func (t *Topology) replace(h graph.Handle, slot int, entries []entry) error {
	if t.full(t.limit) {
		return ErrFull
	}
	c := t.cell(h, slot)
	old := ref(c.Load())
	if len(entries) == 0 && old == 0 {
		return nil
	}
	in := laneOf(h.Class(), slot)
	slices.SortFunc(entries, t.compareEntries)
	refs, err := t.writeRuns(in, t.refs[:0], entries)
	if err != nil {
		return err
	}
	to, err := t.writeList(in, refs, len(entries))
	t.refs = refs
	if err != nil {
		return err
	}
	if slot&1 == 0 {
		t.flows += len(entries) - listLen(t.arena.slabs, old)
	}
	if old != 0 {
		var one [1]uint32
		dir := directory(t.arena.slabs, old, &one)
		for _, r := range dir {
			t.retire(in, r)
		}
		if len(dir) > 1 {
			t.retire(in, old)
		}
	}
	t.set(c, to)
	return nil
}

// Refresh reads anew what an engine stores of names, which may have changed
// since a checkpoint was written. Publish makes it visible.
func (t *Topology) Refresh(ctx context.Context, rows Rows, names []graph.ID) error {
	return t.fail(t.refresh(ctx, rows, names))
}

func (t *Topology) refresh(ctx context.Context, rows Rows, names []graph.ID) error {
	for _, name := range names {
		name = name.Base()
		for _, r := range allRows {
			seen := map[graph.Handle]bool{}
			g := gatherer{t: t, slot: slotOf(r.layer, r.dir), seen: func(h graph.Handle) { seen[h] = true }}
			if err := rows.Flows(ctx, graph.Ask{Layer: r.layer, Dir: r.dir, Whole: true}, []graph.ID{name}, g.row); err != nil {
				return fmt.Errorf("read flows of %s: %w", name, err)
			}
			if err := g.flush(); err != nil {
				return err
			}
			for _, h := range t.family(name) {
				if !seen[h] && hasLayer(h.Class(), r.layer) {
					if err := t.replace(h, g.slot, nil); err != nil {
						return err
					}
				}
			}
		}
	}
	return t.Realias(rows, names)
}

// family lists the numbers of a name and of its columns or fans.
func (t *Topology) family(name graph.ID) []graph.Handle {
	h := t.handle(name)
	all := []graph.Handle{h}
	if h.Class() == graph.DataStoreClass {
		for i := t.stores.at(h.Index()).first.Load(); i != 0; i = t.columns.at(i - 1).next {
			all = append(all, graph.MakeHandle(graph.ColumnClass, i-1))
		}
		return all
	}
	for _, origin := range t.origins {
		if i, ok := findPart(&t.hubIndex, &t.hubs, h.Index(), tail(name.Hub(origin))); ok {
			all = append(all, graph.MakeHandle(graph.HubClass, i))
		}
	}
	return all
}
