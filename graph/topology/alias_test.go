package topology

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"headwater/graph"
)

// A meaning is what a view or a resolver makes of a name.
type meaning struct {
	node    graph.ID
	members string
	gone    bool
}

func meaningsOf(v *View, names []graph.ID) map[graph.ID]meaning {
	all := map[graph.ID]meaning{}
	for _, id := range names {
		node := v.Resolve(id)
		all[id] = meaning{node, fmt.Sprint(v.Members(id.Base())), v.Gone(node.Base())}
	}
	return all
}

// resolved is what the links of rows mean.
func resolved(t testing.TB, r *rows, names []graph.ID) map[graph.ID]meaning {
	t.Helper()
	all := map[graph.ID]meaning{}
	resolver := graph.NewResolver(r, graph.Forever)
	for _, id := range names {
		node, err := resolver.Node(id)
		members, err2 := resolver.Members(id.Base())
		gone, err3 := resolver.Gone(node)
		if err := errors.Join(err, err2, err3); err != nil {
			t.Fatal(err)
		}
		all[id] = meaning{node, fmt.Sprint(members), gone}
	}
	return all
}

// settled reports whether what each name stands for stands for itself. In a
// ring whose names are all contested it does not: the resolver's answer then
// hangs on where it begins, and there is nothing to compare with.
func settled(t testing.TB, r *rows, names []graph.ID) bool {
	t.Helper()
	for _, m := range resolved(t, r, names) {
		if node, err := graph.NewResolver(r, graph.Forever).Node(m.node); err != nil || node != m.node {
			return false
		}
	}
	return true
}

func sameMeanings(t testing.TB, got, want map[graph.ID]meaning) {
	t.Helper()
	for id, m := range want {
		g := got[id]
		if m.node != id {
			// Members are those of a node: of another name nobody asks.
			g.members, m.members = "", ""
		}
		if g != m {
			t.Fatalf("%s: got %+v, want %+v", id, g, m)
		}
	}
}

func TestNamesMeanWhatTheResolverSays(t *testing.T) {
	for seed := range uint64(10 / less) {
		// Fewer names meet in rings and contests, more make chains.
		m, r, top := newMaker(seed, 3+int(seed)%9, 2), newRows(), New()
		names := slices.Concat(m.stores, m.columns)
		type held struct {
			*View
			was map[graph.ID]meaning
		}
		var views []held
		for batch := range 150 {
			changes := []graph.Change{m.link(r)}
			if m.IntN(2) == 0 {
				changes = append(changes, m.unlink(r))
			}
			feed(t, top, r, changes...)
			v := top.View()
			if settled(t, r, names) {
				sameMeanings(t, meaningsOf(v, names), resolved(t, r, names))
			}
			if batch%10 == 0 {
				views = append(views, held{v, meaningsOf(v, names)})
			} else {
				v.Release()
			}
			if len(views) > 5 {
				sameMeanings(t, meaningsOf(views[0].View, names), views[0].was)
				views[0].Release()
				views = views[1:]
			}
		}
		for _, v := range views {
			sameMeanings(t, meaningsOf(v.View, names), v.was)
			v.Release()
		}
		feed(t, top, r)
		noneWaits(t, top)
	}
}

// aliased is a world of a few names with one flow between columns of two.
func aliased(t testing.TB, edits ...graph.AliasEdit) (*Topology, *rows, graph.Key) {
	m, r, top := newMaker(1, 8, 1), newRows(), New()
	flows := map[graph.Row][]graph.Target{}
	m.flow(flows, graph.ColumnLayer, storeName(0).Of("c0").ID(), storeName(1).Of("c1").ID(), graph.Identity, false)
	feed(t, top, r, m.says(m.keys[0], flows))
	feed(t, top, r, graph.Change{Key: m.keys[0], Aliases: edits})
	return top, r, m.keys[0]
}

func alias(from, to int, put bool) graph.AliasEdit {
	return graph.AliasEdit{From: storeName(from).ID(), To: storeName(to).ID(), Put: put}
}

func TestAliasesMeanOneNode(t *testing.T) {
	id := func(i int) graph.ID { return storeName(i).ID() }
	ring := slices.MinFunc([]graph.ID{id(0), id(1), id(2)}, graph.ID.Compare)
	for _, c := range []struct {
		name  string
		edits []graph.AliasEdit
		want  map[graph.ID]graph.ID
	}{
		{"one", []graph.AliasEdit{alias(0, 1, true)}, map[graph.ID]graph.ID{id(0): id(1), id(1): id(1)}},
		{"a chain", []graph.AliasEdit{alias(0, 1, true), alias(1, 2, true), alias(2, 3, true)}, map[graph.ID]graph.ID{id(0): id(3), id(1): id(3), id(2): id(3), id(3): id(3)}},
		{"a ring", []graph.AliasEdit{alias(0, 1, true), alias(1, 2, true), alias(2, 0, true)}, map[graph.ID]graph.ID{id(0): ring, id(1): ring, id(2): ring}},
		{"a contest", []graph.AliasEdit{alias(0, 1, true), alias(0, 2, true)}, map[graph.ID]graph.ID{id(0): id(0), id(1): id(1), id(2): id(2)}},
		{"two ways to one", []graph.AliasEdit{alias(0, 1, true), alias(0, 2, true), alias(1, 3, true), alias(2, 3, true)}, map[graph.ID]graph.ID{id(0): id(3), id(1): id(3), id(2): id(3)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			top, r, key := aliased(t, c.edits...)
			v := top.View()
			for from, to := range c.want {
				if got := v.Resolve(from); got != to {
					t.Errorf("%s stands for %s, want %s", from, got, to)
				}
				if got := v.Resolve(from.Column("c0")); got != to.Column("c0") {
					t.Errorf("the column of %s stands for %s", from, got)
				}
			}
			// All go again, one after the other.
			for _, e := range c.edits {
				e.Put = false
				feed(t, top, r, graph.Change{Key: key, Aliases: []graph.AliasEdit{e}})
				now := top.View()
				names := slices.Collect(maps.Keys(c.want))
				sameMeanings(t, meaningsOf(now, names), resolved(t, r, names))
				now.Release()
			}
			for from, to := range c.want {
				if got := v.Resolve(from); got != to {
					t.Errorf("an older view: %s stands for %s, want %s", from, got, to)
				}
			}
			v.Release()
			v = top.View()
			defer v.Release()
			for from := range c.want {
				if got := v.Resolve(from); got != from {
					t.Errorf("without aliases %s stands for %s", from, got)
				}
			}
		})
	}
}

func TestColumnsOfAnAliasAreFoundUnderItsNode(t *testing.T) {
	top, r, key := aliased(t, alias(0, 2, true), alias(2, 3, true))
	from, to := storeName(0).Of("c0").ID(), storeName(1).Of("c1").ID()
	under := func(i int) graph.ID { return storeName(i).Of("c0").ID() }
	check := func(v *View, node graph.ID, names ...graph.ID) {
		t.Helper()
		for _, name := range names {
			for _, ask := range []graph.Ask{{Layer: graph.ColumnLayer}, {Layer: graph.ColumnLayer, Whole: true}} {
				of := name
				if ask.Whole {
					of = name.Base()
				}
				var got []graph.Flow
				if _, err := over(v, r).Flows(t.Context(), []graph.ID{of}, ask, func(flows []graph.Flow) error {
					got = append(got, flows...)
					return nil
				}); err != nil {
					t.Fatal(err)
				}
				if len(got) != 1 || got[0].From != node || got[0].To != to {
					t.Errorf("flows of %s: got %+v, want one from %s", name, got, node)
				}
			}
		}
	}
	first := top.View()
	defer first.Release()
	check(first, under(3), under(0), under(2), under(3))
	// A column that is spoken of for the first time while its name is an alias.
	m := newMaker(1, 8, 1)
	rows := map[graph.Row][]graph.Target{}
	m.flow(rows, graph.ColumnLayer, storeName(0).Of("new").ID(), to, 0, false)
	feed(t, top, r, m.says(graph.Key{Subject: key.Subject, Origin: "b"}, rows))
	v := top.View()
	h, ok := v.Handle(storeName(3).Of("new").ID())
	if !ok || v.ID(h) != storeName(3).Of("new").ID() {
		t.Errorf("the new column is %s, %v, under the node's name", v.ID(h), ok)
	}
	if _, ok := first.Handle(storeName(3).Of("new").ID()); ok {
		t.Error("an older view knows the new column")
	}
	v.Release()
	feed(t, top, r, m.says(graph.Key{Subject: key.Subject, Origin: "b"}, nil))
	// The chain breaks in the middle.
	feed(t, top, r, graph.Change{Key: key, Aliases: []graph.AliasEdit{alias(2, 3, false)}})
	second := top.View()
	defer second.Release()
	check(second, under(2), under(0), under(2))
	feed(t, top, r, graph.Change{Key: key, Aliases: []graph.AliasEdit{alias(0, 2, false)}})
	third := top.View()
	defer third.Release()
	check(third, from, from)
	check(second, under(2), under(0), under(2))
	check(first, under(3), under(0), under(2), under(3))
}

func TestADropEndsFlowsAndAWriteBringsThemBack(t *testing.T) {
	top, r, key := aliased(t)
	gone := storeName(1).ID()
	flows := func(v *View, through bool) (n int) {
		t.Helper()
		for id, dir := range map[graph.ID]graph.Direction{storeName(0).Of("c0").ID(): graph.Downstream, storeName(1).Of("c1").ID(): graph.Upstream} {
			if _, err := over(v, r).Flows(t.Context(), []graph.ID{id}, graph.Ask{Layer: graph.ColumnLayer, Dir: dir, ThroughDeleted: through}, func(flows []graph.Flow) error {
				n += len(flows)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		return n
	}
	before := top.View()
	defer before.Release()
	for _, c := range []struct {
		name  string
		life  graph.Life
		flows int
		node  graph.ID
	}{
		{"dropped", graph.Life{{Dropped: 5}}, 0, gone},
		{"revived", graph.Life{{Dropped: 5, Revived: 6}}, 2, gone},
		{"renamed", graph.Life{{Dropped: 5, Revived: 6}, {Dropped: 7, RenamedTo: storeName(4)}}, 2, storeName(4).ID()},
		{"written again under the old name", graph.Life{{Dropped: 5, Revived: 6}, {Dropped: 7, Revived: 9, RenamedTo: storeName(4)}}, 2, gone},
	} {
		feed(t, top, r, graph.Change{Key: key, Lives: []graph.LifeEdit{{Node: gone, Life: c.life}}})
		v := top.View()
		if got := flows(v, false); got != c.flows {
			t.Errorf("%s: %d flows, want %d", c.name, got, c.flows)
		}
		if got := flows(v, true); got != 2 {
			t.Errorf("%s: %d flows through what is deleted, want 2", c.name, got)
		}
		if got := v.Resolve(gone); got != c.node {
			t.Errorf("%s: it stands for %s, want %s", c.name, got, c.node)
		}
		v.Release()
		if flows(before, false) != 2 || before.Gone(gone) || before.Resolve(gone) != gone {
			t.Errorf("%s: an older view sees it", c.name)
		}
	}
}

func TestWhatStandsForTheSameAsBeforeIsNotWrittenAgain(t *testing.T) {
	top, r, key := aliased(t, alias(0, 1, true), alias(2, 1, true), alias(3, 1, true))
	v := top.View()
	defer v.Release()
	feed(t, top, r, graph.Change{Key: graph.Key{Subject: key.Subject, Origin: "b"}, Aliases: []graph.AliasEdit{alias(0, 1, true)}})
	if got := top.Stats().Waiting; got != 0 {
		t.Errorf("%d bytes were replaced though nothing means anything else", got)
	}
}
