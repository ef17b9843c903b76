package federation

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"headwater/gateway/border"
	"headwater/gateway/catalog"
	"headwater/graph"
	"headwater/graph/graphtest"
)

// A far region takes a while to answer, and counts what it is asked.
type far struct {
	graph.Reader
	away  time.Duration
	rest  time.Duration // how long the details of a leg take after it
	asked atomic.Int64
	down  atomic.Bool
}

type farView struct {
	graph.View
	*far
}

func (f *far) View(ctx context.Context, at graph.At) (graph.View, error) {
	v, err := f.Reader.View(ctx, at)
	return farView{v, f}, err
}

func (v farView) wait(ctx context.Context) error {
	v.asked.Add(1)
	if v.down.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	select {
	case <-time.After(v.away):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (v farView) Leg(ctx context.Context, q graph.LegQuestion, to graph.LegTaker) (*graph.Leg, error) {
	if err := v.wait(ctx); err != nil {
		return nil, err
	}
	l, err := graph.WalkLeg(ctx, v.View, q, to)
	if err == nil && len(l.Coming) > 0 {
		select {
		case <-time.After(v.rest):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return l, err
}

func (v farView) Nodes(ctx context.Context, ids []graph.ID, want graph.Want, emit func(graph.Node) error) ([]graph.Gap, error) {
	if err := v.wait(ctx); err != nil {
		return nil, err
	}
	return v.View.Nodes(ctx, ids, want, emit)
}

// A chain is a path of tables through regions: table i lies in region of(i), and
// who writes it reports what it reads under that one's own namespace.
type chain struct {
	federation *Federation
	far        map[string]*far
	names      []graph.Name
}

func newChain(t *testing.T, regions []string, hops int, of func(i int) string) *chain {
	t.Helper()
	c := &chain{far: map[string]*far{}}
	state := catalog.New()
	apply := func(change catalog.Change) {
		next, _, err := state.Apply(command(state, change))
		if err != nil {
			t.Fatal(err)
		}
		state = next
	}
	models := map[string]*graphtest.Model{}
	for _, r := range regions {
		models[r] = graphtest.NewModel(r)
		c.far[r] = &far{Reader: models[r], away: 50 * time.Millisecond}
		apply(catalog.SetRegion{Region: catalog.Region{Name: r, Addresses: []string{r + ":1"}}})
		apply(catalog.SetNamespaceRule{NamespaceRule: catalog.NamespaceRule{Namespace: "db-" + r, Region: r}})
	}
	index := border.New(state)
	table := func(reports string, i int) graph.Name {
		n := graph.Name{Kind: graph.DataStoreKind, Region: reports, Namespace: "db-" + of(i), Name: fmt.Sprint("t", i)}
		index.Add(n)
		return n
	}
	for i := range hops + 1 {
		c.names = append(c.names, table(of(i), i))
	}
	deltas := map[string][]graph.Delta{}
	for i := range hops {
		r := of(i + 1)
		deltas[r] = append(deltas[r], graph.Delta{Subject: graph.Name{Kind: graph.ProcessKind, Region: r, Namespace: "jobs", Name: fmt.Sprint("j", i)}, Origin: "declared", State: graph.Declared, Time: 1,
			Says: graph.Content{Reads: []graph.Dataset{{Name: table(r, i)}}, Writes: []graph.Dataset{{Name: table(r, i+1)}}}})
	}
	var list []Region
	for _, r := range regions {
		if len(deltas[r]) > 0 {
			graphtest.Feed(t, models[r], deltas[r]...)
		}
		list = append(list, Region{Name: r, Reader: c.far[r]})
	}
	f, err := New(Options{Regions: func() []Region { return list }, Names: func() *border.Index { return index }})
	if err != nil {
		t.Fatal(err)
	}
	c.federation = f
	return c
}

// ask finds a table by its name, walks from it and looks up all that it found.
func (c *chain) ask(t *testing.T, root graph.Name, q graph.Question) (*graph.Answer, []graph.Node) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	v, err := c.federation.View(ctx, graph.At{})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	v.(graph.Expecting).Expect(graph.LegQuestion{Direction: q.Direction, Granularity: q.Granularity, Depth: q.Depth, Details: true}, nil, []graph.Name{root})
	var nodes []graph.Node
	emit := func(n graph.Node) error {
		nodes = append(nodes, n)
		return nil
	}
	if _, err := v.Nodes(ctx, []graph.ID{root.ID()}, 0, emit); err != nil || len(nodes) != 1 {
		t.Fatalf("find the root: %v, %v", nodes, err)
	}
	nodes = nil
	q.Root = root.ID()
	a, err := graph.GetLineage(ctx, v, q)
	if err != nil {
		t.Fatal(err)
	}
	var ids []graph.ID
	for _, n := range a.Nodes {
		ids = append(ids, n.ID)
	}
	if _, err := v.Nodes(ctx, ids, 0, emit); err != nil {
		t.Fatal(err)
	}
	return a, nodes
}

// The rounds are as many as the crossings, and one: the root, the walk and what
// is known of its nodes are all in them.
func TestRoundsAreCrossingsAndOne(t *testing.T) {
	regions := []string{"r0", "r1", "r2", "r3"}
	for _, c := range []struct {
		name   string
		hops   int
		of     func(i int) string
		rounds [2]int // downstream, upstream
	}{
		{"no crossing", 10, func(int) string { return "r0" }, [2]int{1, 1}},
		{"one", 10, func(i int) string { return regions[i/6] }, [2]int{2, 2}},
		{"two", 10, func(i int) string { return regions[i/4] }, [2]int{3, 3}},
		// Both regions have flows of the root, so that downstream one is saved.
		{"at each hop", 4, func(i int) string { return regions[i%2] }, [2]int{4, 5}},
		{"there and back", 9, func(i int) string { return regions[i/3%2] }, [2]int{4, 4}},
	} {
		for _, dir := range []graph.Direction{graph.Downstream, graph.Upstream} {
			t.Run(fmt.Sprint(c.name, " ", dir), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					chain := newChain(t, regions, c.hops, c.of)
					root := chain.names[0]
					if dir == graph.Upstream {
						root = chain.names[c.hops]
					}
					start := time.Now()
					a, nodes := chain.ask(t, root, graph.Question{Direction: dir, Depth: c.hops})
					took := time.Since(start)
					if len(a.Nodes) != c.hops+1 || len(a.Edges) != c.hops || len(nodes) != c.hops+1 || !a.Complete() {
						t.Errorf("%d nodes, %d edges, %d details, gaps %v; want %d nodes", len(a.Nodes), len(a.Edges), len(nodes), a.Gaps, c.hops+1)
					}
					if want := time.Duration(c.rounds[dir]) * 50 * time.Millisecond; took != want {
						t.Errorf("took %v, want %v: %d rounds", took, want, c.rounds[dir])
					}
				})
			})
		}
	}
}

// A region that does not answer is a gap; the rest is answered in time, and the
// region is not asked again in that view.
func TestARegionThatIsDownIsAGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChain(t, []string{"r0", "r1", "r2"}, 8, func(i int) string { return []string{"r0", "r1", "r2"}[i/3] })
		c.far["r1"].down.Store(true)
		start := time.Now()
		a, nodes := c.ask(t, c.names[0], graph.Question{Depth: 8})
		if took := time.Since(start); took != c.federation.o.Patience+50*time.Millisecond {
			t.Errorf("took %v", took)
		}
		if len(a.Nodes) != 3 || len(nodes) != 3 {
			t.Errorf("%d nodes, %d described; want those of r0", len(a.Nodes), len(nodes))
		}
		want := []graph.Gap{{Region: "r1", Reason: "did not answer within 3s"}}
		if !slices.Equal(a.Gaps, want) {
			t.Errorf("gaps %v, want %v", a.Gaps, want)
		}
		if n := c.far["r1"].asked.Load(); n != 1 {
			t.Errorf("asked %d times", n)
		}
		c.far["r1"].down.Store(false)
		if a, _ := c.ask(t, c.names[0], graph.Question{Depth: 8}); len(a.Nodes) != 9 || len(a.Gaps) != 0 {
			t.Errorf("back again: %d nodes, gaps %v", len(a.Nodes), a.Gaps)
		}
	})
}

// While the names of a region have not been heard any walk may lack a crossing
// into it: it says so, and its answer is not kept.
func TestARegionThatWasNotHeardIsAGapOfEveryWalk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChain(t, []string{"r0", "r1", "r2"}, 2, func(int) string { return "r0" })
		heard := false
		regions := c.federation.o.Regions()
		regions[2].Heard = func() bool { return heard }
		want := []graph.Gap{{Region: "r2", Reason: "its names have not been heard here yet"}}
		a, nodes := c.ask(t, c.names[0], graph.Question{Depth: 2})
		if len(a.Nodes) != 3 || len(nodes) != 3 || !slices.Equal(a.Gaps, want) {
			t.Errorf("%d nodes, %d described, gaps %v; want 3, and %v", len(a.Nodes), len(nodes), a.Gaps, want)
		}
		v, err := c.federation.View(t.Context(), graph.At{})
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		var touched graph.Touched
		v.(graph.Tracking).Track(&touched)
		if !touched.All {
			t.Error("its answer would be kept")
		}
		heard = true
		if a, _ := c.ask(t, c.names[0], graph.Question{Depth: 2}); !a.Complete() {
			t.Errorf("once it was heard: gaps %v", a.Gaps)
		}
	})
}
