package topology

import (
	"slices"
	"testing"

	"headwater/graph"
)

// feeding makes the change by which data store i feeds data store to.
func feeding(i, to int) graph.Change {
	from := storeName(i).ID()
	row := graph.Row{Layer: graph.TableLayer, Dir: graph.Downstream, Node: from}
	return graph.Change{Key: graph.Key{Subject: from, Origin: "a"}, Flows: []graph.FlowEdit{{Row: row, Targets: []graph.Target{{ID: storeName(to).ID()}}}}}
}

// ends asks for what the data stores 0…n feed; it returns the ends by how they
// came: many together, and hop by hop.
func ends(t *testing.T, top *Topology, n int) (together [][]graph.ID, hops []graph.ID) {
	t.Helper()
	v := top.View()
	defer v.Release()
	var frontier []graph.Handle
	for i := range n {
		h, ok := v.Handle(storeName(i).ID())
		if !ok {
			t.Fatalf("%d has no number", i)
		}
		frontier = append(frontier, h)
	}
	_, err := v.Hops(t.Context(), frontier, &graph.Ask{Layer: graph.TableLayer}, nil, graph.Emit{
		Ends: func(from []graph.Handle, to []uint32) error {
			var ids []graph.ID
			for _, h := range to {
				ids = append(ids, v.ID(graph.Handle(h)))
			}
			together = append(together, ids)
			return nil
		},
		Hops: func(hs []graph.Hop) error {
			for _, h := range hs {
				hops = append(hops, v.ID(h.To))
			}
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return together, hops
}

// What many nodes flow into comes at once. A name that stands for another is
// taken by itself, and leaves the rest as it was.
func TestEndsOfManyNodesComeTogether(t *testing.T) {
	top := New()
	var want []graph.ID
	for i := range ahead {
		c := feeding(i, 1000+i)
		top.Change(&c)
		want = append(want, storeName(1000+i).ID())
	}
	if err := top.Publish(); err != nil {
		t.Fatal(err)
	}
	if together, hops := ends(t, top, ahead); len(together) != 1 || len(hops) > 0 || !slices.Equal(together[0], want) {
		t.Fatalf("%d calls with ends, %d hops; want one with %v, got %v", len(together), len(hops), want, together)
	}

	alias, node := storeName(1003).ID(), storeName(2000).ID()
	links := newRows()
	links.aliases[[2]graph.ID{alias, node}] = map[graph.Key]bool{{Subject: alias, Origin: "a"}: true}
	links.nodes[alias], links.nodes[node] = []graph.ID{alias}, []graph.ID{node}
	if err := top.Realias(links, []graph.ID{alias, node}); err != nil {
		t.Fatal(err)
	}
	if err := top.Publish(); err != nil {
		t.Fatal(err)
	}
	want = slices.DeleteFunc(want, func(id graph.ID) bool { return id == alias })
	together, hops := ends(t, top, ahead)
	if len(together) != 1 || !slices.Equal(together[0], want) || !slices.Equal(hops, []graph.ID{node}) {
		t.Errorf("with an alias %d calls with ends and hops to %v; want one with all others, and the alias's node %s", len(together), hops, node)
	}
}

// Lists of one kind lie in memory one behind the other, whatever is written
// between them.
func TestListsOfOneKindLieTogether(t *testing.T) {
	top := New()
	for i := range 1000 {
		c := feeding(i, 5000+i)
		up, column := c.Flows[0].Row, c.Flows[0].Row
		up.Dir, column.Layer = graph.Upstream, graph.ColumnLayer
		targets := c.Flows[0].Targets
		c.Flows = append(c.Flows, graph.FlowEdit{Row: up, Targets: targets}, graph.FlowEdit{Row: column, Targets: targets})
		top.Change(&c)
		if err := top.Publish(); err != nil {
			t.Fatal(err)
		}
	}
	v := top.View()
	defer v.Release()
	for _, slot := range []int{slotTableDown, slotTableUp, slotColumnDown} {
		last := uint32(0)
		for i := range 1000 {
			h, _ := v.Handle(storeName(i).ID())
			r := ref(v.at(v.cell(h, slot)))
			if i > 0 && r != last+runWords(1) {
				t.Fatalf("slot %d: the list of %d is at %d, that before it at %d", slot, i, r, last)
			}
			last = r
		}
	}
}
