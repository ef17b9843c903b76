package graph_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"headwater/graph"
	"headwater/graph/graphtest"
	"headwater/graph/pebble"
)

// A legList is a list of a leg as text, but for its hops.
type legList struct {
	Node       graph.ID
	Layer      graph.Layer
	Dir        graph.Direction
	Whole      bool
	CoarseOnly bool
}

func hopText(from, to graph.ID, by graph.Key, kinds graph.Kinds, coarse bool) string {
	return fmt.Sprint(from, to, by, kinds, coarse)
}

// listsOf returns the lists of a leg, sorted.
func listsOf(l *graph.Leg) map[legList][]string {
	lists := map[legList][]string{}
	for _, list := range l.Lists {
		k := legList{l.IDs[list.Node], list.Layer, list.Dir, list.Whole, list.CoarseOnly}
		hops := []string{}
		for _, h := range list.Hops {
			hops = append(hops, hopText(l.IDs[h.From], l.IDs[h.To], l.Keys[h.By], h.Kinds, h.Coarse))
		}
		slices.Sort(hops)
		lists[k] = hops
	}
	return lists
}

// checkLists holds what a leg says against what the view itself says.
func checkLists(t *rapid.T, v graph.View, l *graph.Leg) {
	for k, got := range listsOf(l) {
		want := []string{}
		ask := graph.Ask{Layer: k.Layer, Dir: k.Dir, Whole: k.Whole, CoarseOnly: k.CoarseOnly, ThroughDeleted: true}
		if _, err := v.Flows(context.Background(), []graph.ID{k.Node}, ask, func(flows []graph.Flow) error {
			for _, f := range flows {
				want = append(want, hopText(f.From, f.To, f.By, f.Kinds, f.Coarse))
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		slices.Sort(want)
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Fatalf("list %+v (-view +leg):\n%s", k, diff)
		}
	}
	for _, st := range l.Standing {
		if len(st.Names) < 2 && !st.Gone {
			t.Fatalf("%+v stands as all others do", st)
		}
	}
}

// drawLeg draws a question of the world.
func drawLeg(t *rapid.T, r *graphtest.Random) graph.LegQuestion {
	q := graph.LegQuestion{Direction: graph.Direction(r.IntN(3)), Granularity: graph.Granularity(r.IntN(3)), Depth: r.IntN(6), Details: r.IntN(2) == 0}
	if rapid.Bool().Draw(t, "root") {
		q.Root = r.Any()
	}
	for range r.IntN(3) {
		id := r.Any()
		if q.Granularity != graph.Columns {
			id = id.Base()
		}
		q.Seeds = append(q.Seeds, graph.LegSeed{ID: id, Distance: r.IntN(4), Dir: graph.Direction(r.IntN(2))})
	}
	for range r.IntN(3) {
		q.Lists = append(q.Lists, graph.LegAsk{ID: r.Table().ID(), Layer: graph.TableLayer, Dir: graph.Direction(r.IntN(2))})
	}
	return q
}

// legWorld tells stores of one region the same.
func legWorld(t *rapid.T, stores ...graph.Store) *graphtest.Random {
	r := graphtest.NewRandom(rapid.Uint64().Draw(t, "seed"))
	f := graphtest.Feeder{Region: "local"}
	for range rapid.IntRange(1, 40).Draw(t, "deltas") {
		if err := f.Feed(context.Background(), stores, r.Delta()); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// A leg says what its view says, over the model and over Pebble, and both legs
// are one, by column aside, but for lists of which nothing is in.
func TestALegSaysWhatItsViewSays(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p, err := pebble.Open(t.TempDir(), pebble.Options{Region: "local"})
		if err != nil {
			rt.Fatal(err)
		}
		stores := []graph.Store{graphtest.NewModel("local"), p}
		q := drawLeg(rt, legWorld(rt, stores...))
		var legs []*graph.Leg
		for _, s := range stores {
			v, err := s.View(context.Background(), graph.At{})
			if err != nil {
				rt.Fatal(err)
			}
			l, err := graph.WalkLeg(context.Background(), v, q, graph.LegTaker{})
			if err != nil {
				rt.Fatal(err)
			}
			checkLists(rt, v, l)
			if l.Late || len(l.Gaps) > 0 {
				rt.Errorf("late %v, gaps %v", l.Late, l.Gaps)
			}
			legs = append(legs, l)
			if err := cmp.Or(v.Close(), s.Close()); err != nil {
				rt.Fatal(err)
			}
		}
		if q.Granularity == graph.Columns {
			return // where a column is in no flow, Pebble reads all of its data store, which is more
		}
		var filled [2]map[legList][]string
		for i, l := range legs {
			filled[i] = map[legList][]string{}
			for k, hops := range listsOf(l) {
				if len(hops) > 0 {
					filled[i][k] = hops
				}
			}
		}
		if diff := gocmp.Diff(filled[0], filled[1]); diff != "" {
			rt.Errorf("lists of %+v (-model +pebble):\n%s", q, diff)
		}
		if diff := gocmp.Diff(legs[0].Stands, legs[1].Stands); diff != "" {
			rt.Errorf("stands (-model +pebble):\n%s", diff)
		}
		ids := func(l *graph.Leg) (ids []graph.ID) {
			for _, n := range l.Nodes {
				ids = append(ids, n.ID)
			}
			slices.SortFunc(ids, graph.ID.Compare)
			return ids
		}
		if diff := gocmp.Diff(ids(legs[0]), ids(legs[1])); diff != "" {
			rt.Errorf("nodes of %+v (-model +pebble):\n%s", q, diff)
		}
	})
}

// A counted view has so many flows read of it before its context ends.
type countedView struct {
	graph.View
	left   int
	cancel context.CancelFunc
}

func (v *countedView) Flows(ctx context.Context, frontier []graph.ID, f graph.Ask, emit func([]graph.Flow) error) ([]graph.Gap, error) {
	if v.left--; v.left < 0 {
		v.cancel()
		return nil, ctx.Err()
	}
	return v.View.Flows(ctx, frontier, f, emit)
}

// What a leg has that ran out of time, or of room, is right.
func TestALegThatIsCutIsRight(t *testing.T) {
	late := 0
	rapid.Check(t, func(rt *rapid.T) {
		m := graphtest.NewModel("local")
		r := legWorld(rt, m)
		q := drawLeg(rt, r)
		v, err := m.View(context.Background(), graph.At{})
		if err != nil {
			rt.Fatal(err)
		}
		whole, err := graph.WalkLeg(context.Background(), v, q, graph.LegTaker{})
		if err != nil {
			rt.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		cut, err := graph.WalkLeg(ctx, &countedView{v, r.IntN(4), cancel}, q, graph.LegTaker{})
		if err != nil {
			rt.Fatal(err)
		}
		if cut.Late {
			late++
		}
		if cut.Late != (ctx.Err() != nil) {
			rt.Errorf("late %v, and its context ended with %v", cut.Late, ctx.Err())
		}
		checkLists(rt, v, cut)
		most := r.IntN(20)
		full, err := graph.WalkLegOf(context.Background(), v, q, graph.LegTaker{}, most)
		if err != nil {
			rt.Fatal(err)
		}
		hops := 0
		for k, list := range listsOf(full) {
			if hops += len(list); !slices.Equal(list, listsOf(whole)[k]) {
				rt.Errorf("list %+v is another: %v, want %v", k, list, listsOf(whole)[k])
			}
		}
		if hops > most || full.Late {
			rt.Errorf("%d hops of at most %d, late %v", hops, most, full.Late)
		}
	})
	if late == 0 {
		t.Error("none was late")
	}
}

// fan makes a store in which one table feeds many, each of which feeds one.
func fan(t *testing.T, wide int) (root graph.ID, v graph.View) {
	s := graphtest.NewModel("local")
	table := func(format string, args ...any) graph.Name {
		return graph.Name{Kind: graph.DataStoreKind, Region: "local", Namespace: "db", Name: fmt.Sprintf(format, args...)}
	}
	var deltas []graph.Delta
	job := func(from, to graph.Name) {
		deltas = append(deltas, graph.Delta{Subject: graph.Name{Kind: graph.ProcessKind, Region: "local", Namespace: "jobs", Name: to.Name}, Origin: "declared", State: graph.Declared, Time: 1,
			Says: graph.Content{Reads: []graph.Dataset{{Name: from}}, Writes: []graph.Dataset{{Name: to}}}})
	}
	for i := range wide {
		job(table("root"), table("near%d", i))
		job(table("near%d", i), table("far%d", i))
	}
	graphtest.Feed(t, s, deltas...)
	v, err := s.View(t.Context(), graph.At{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = v.Close() })
	return table("root").ID(), v
}

// The level at which enough nodes are reached is the last, and of no more than
// are enough are details told: the nearest, by id.
func TestALegEndsWhereThereIsEnough(t *testing.T) {
	root, v := fan(t, 50)
	for _, c := range []struct {
		name                        string
		enough, depth, lists, nodes int
	}{
		{"no bound", 0, 9, 101, 101},
		{"more than there is", 1000, 9, 101, 101},
		{"some of a level", 10, 9, 51, 10},
		{"the root alone", 1, 9, 1, 1},
		{"no depth", 0, 0, 0, 1},
	} {
		for _, entered := range []bool{false, true} {
			q := graph.LegQuestion{Depth: c.depth, Enough: c.enough, Details: true}
			if entered {
				q.Seeds = []graph.LegSeed{{ID: root}}
			} else {
				q.Root = root
			}
			l, err := graph.WalkLeg(t.Context(), v, q, graph.LegTaker{})
			if err != nil {
				t.Fatal(err)
			}
			lists, nodes := c.lists, c.nodes
			if c.enough == 1 && !entered { // a page of one has to tell that there are more
				lists = 51
			}
			if len(l.Lists) != lists || len(l.Nodes) != nodes {
				t.Errorf("%s, entered %v: %d lists, %d nodes; want %d, %d", c.name, entered, len(l.Lists), len(l.Nodes), lists, nodes)
			}
			if !slices.ContainsFunc(l.Nodes, func(n graph.Node) bool { return n.ID == root }) {
				t.Errorf("%s, entered %v: the root is not among the nodes", c.name, entered)
			}
		}
	}
}

// Of a name of which the region knows nothing it says so, and walks the rest.
func TestALegOfAbsentNames(t *testing.T) {
	root, v := fan(t, 3)
	nobody := graph.Name{Kind: graph.DataStoreKind, Region: "local", Namespace: "db", Name: "nobody"}.ID()
	for _, q := range []graph.LegQuestion{
		{Root: nobody, Depth: 9, Details: true},
		{Seeds: []graph.LegSeed{{ID: nobody}, {ID: nobody.Column("x"), Distance: 1}, {ID: root}}, Depth: 9, Details: true},
		{Lists: []graph.LegAsk{{ID: nobody, Layer: graph.TableLayer}, {ID: root, Layer: graph.TableLayer}}},
	} {
		l, err := graph.WalkLeg(t.Context(), v, q, graph.LegTaker{})
		if err != nil {
			t.Fatal(err)
		}
		asked := len(q.Seeds) + len(q.Lists)
		if !q.Root.IsZero() {
			asked++
		}
		if len(l.Stands) != asked {
			t.Errorf("%+v: %d of %d stand for something", q, len(l.Stands), asked)
		}
		for k, hops := range listsOf(l) {
			if k.Node.Base() == nobody && len(hops) > 0 {
				t.Errorf("%+v: flows of nobody: %v", q, hops)
			}
		}
		if slices.ContainsFunc(l.Nodes, func(n graph.Node) bool { return n.ID.Base() == nobody }) {
			t.Errorf("%+v: nobody is known", q)
		}
		if got := len(listsOf(l)[legList{Node: root, Layer: graph.TableLayer}]); asked > 1 && got != 3 {
			t.Errorf("%+v: %d flows of the root, want 3", q, got)
		}
	}
}
