package graphtest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"headwater/graph"
)

// Faults that the peers have, as tests of ours; those that are told in few
// words stand in testdata/stories.

func peerTable(name string) graph.Name {
	return graph.Name{Kind: graph.DataStoreKind, Region: "local", Namespace: "db", Name: name}
}

func peerJob(name string, second int) graph.Delta {
	return graph.Delta{Subject: graph.Name{Kind: graph.ProcessKind, Region: "local", Namespace: "jobs", Name: name}, Origin: "openlineage",
		Run: fmt.Sprintf("run-%d", second), State: graph.Completed, Time: int64(second) * int64(time.Second)}
}

func lineage(t *testing.T, store graph.Store, q graph.Question) *graph.Answer {
	t.Helper()
	v, err := store.View(context.Background(), graph.At{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = v.Close() }()
	a, err := graph.GetLineage(context.Background(), v, q)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Marquez 2893: depth is not symmetric.
func TestDepthIsTheSameFromBothEnds(t *testing.T) {
	r := NewRandom(7)
	m := NewModel("local")
	for range 60 {
		Feed(t, m, r.Delta())
	}
	pairs := 0
	for _, g := range []graph.Granularity{graph.DataStores, graph.Processes} {
		for _, id := range r.World() {
			if id.IsColumn() || (id.Kind() == graph.ProcessKind) != (g == graph.Processes) {
				continue
			}
			for _, n := range lineage(t, m, graph.Question{Root: id, Direction: graph.Downstream, Granularity: g, Depth: graph.Unlimited}).Nodes {
				for _, back := range lineage(t, m, graph.Question{Root: n.ID, Direction: graph.Upstream, Granularity: g, Depth: graph.Unlimited}).Nodes {
					if back.ID == id {
						pairs++
						if back.Upstream != n.Downstream {
							t.Errorf("%s is %d hops down from %s, but %s %d hops up from it", n.ID, n.Downstream, id, id, back.Upstream)
						}
					}
				}
			}
		}
	}
	if pairs < 100 {
		t.Errorf("only %d pairs were compared", pairs)
	}
}

// Atlas stops silently past 9,000 relations; OpenMetadata's page breaks at
// 1,000 nodes (8795, 18500).
func TestAHubOfTwentyThousandReadersIsWholeOrSaysThatItIsNot(t *testing.T) {
	const readers = 20_000
	m := NewModel("local")
	var deltas []graph.Delta
	for i := range readers {
		d := peerJob(fmt.Sprint("job", i), i)
		d.Says.Reads = []graph.Dataset{{Name: peerTable("hub")}}
		d.Says.Writes = []graph.Dataset{{Name: peerTable(fmt.Sprint("t", i))}}
		deltas = append(deltas, d)
	}
	Feed(t, m, deltas...)
	q := graph.Question{Root: peerTable("hub").ID(), Direction: graph.Downstream, Depth: 1}
	if a := lineage(t, m, q); !a.Complete() || len(a.Nodes) != readers+1 || len(a.Edges) != readers {
		t.Errorf("%d nodes, %d edges, complete %v; want %d and %d, complete", len(a.Nodes), len(a.Edges), a.Complete(), readers+1, readers)
	}
	q.Limit = 7_000
	seen := map[graph.ID]bool{}
	for page := 0; ; page++ {
		a := lineage(t, m, q)
		for _, n := range a.Nodes {
			if seen[n.ID] {
				t.Fatalf("page %d repeats %s", page, n.ID)
			}
			seen[n.ID] = true
		}
		if a.Truncated == nil {
			break
		}
		if a.Complete() || a.Truncated.Reason != graph.CutLimit || a.Truncated.After == "" {
			t.Fatalf("page %d is cut: %+v", page, a.Truncated)
		}
		q.After = a.Truncated.After
	}
	if len(seen) != readers+1 {
		t.Errorf("%d nodes over all pages, want %d", len(seen), readers+1)
	}
}

// Spline 738: each repeated write makes the next slower.
func TestTenThousandRerunsLeaveTheRecordAsSmallAsAFew(t *testing.T) {
	m := NewModel("local")
	size := func() int {
		n := 0
		for r, err := range m.Contributions(context.Background(), graph.Key{}) {
			if err != nil {
				t.Fatal(err)
			}
			n += len(graph.AppendRecord(nil, &r))
		}
		for _, parts := range m.parts {
			for _, b := range parts {
				n += len(b)
			}
		}
		return n
	}
	run := func(from, to int) {
		var deltas []graph.Delta
		for i := from; i < to; i++ {
			d := peerJob("again", 1_000_000+i)
			d.Says.Reads = []graph.Dataset{{Name: peerTable("a")}}
			d.Says.Writes = []graph.Dataset{{Name: peerTable("b")}}
			deltas = append(deltas, d)
		}
		Feed(t, m, deltas...)
	}
	run(0, 100)
	few := size()
	run(100, 10_000)
	if many := size(); many > few {
		t.Errorf("%d bytes after 10,000 re-runs, %d after 100", many, few)
	}
	if mark, _ := m.Applied(context.Background()); mark.Revision != 1 {
		t.Errorf("revision %d after 10,000 equal runs, want 1", mark.Revision)
	}
}

// OpenLineage 2874: DISTINCT over a wide table gives outputs times inputs.
func TestWholeDependenciesOfAWideTableAreStoredOnce(t *testing.T) {
	const width = 1_000
	d := peerJob("distinct", 1)
	l := &graph.Lineage{}
	for i := range width {
		column := peerTable("in").Of(fmt.Sprint("c", i))
		l.Columns = append(l.Columns, graph.ColumnLineage{Column: fmt.Sprint("c", i), Inputs: []graph.Source{{Name: column, Kinds: graph.Identity}}})
		l.Inputs = append(l.Inputs, graph.Source{Name: column, Kinds: graph.GroupBy})
	}
	d.Says.Writes = []graph.Dataset{{Name: peerTable("out"), Lineage: l}}
	targets := 0
	for row, to := range graph.Derive(d.Subject, d.Origin, graph.Fold(&d.Says)).Flows {
		if row.Dir == graph.Downstream && row.Layer == graph.ColumnLayer {
			targets += len(to)
		}
	}
	if targets != 2*width {
		t.Errorf("%d column flows for %d columns that depend on all, want %d", targets, width, 2*width)
	}
}

// Rule 12: thousands by thousands are stored as thousands plus thousands, and
// the answer to one of them has one hop.
func TestAFanOfThousandsIsStoredAsASum(t *testing.T) {
	const n = 2_000
	d := peerJob("fan", 1)
	for i := range n {
		d.Says.Reads = append(d.Says.Reads, graph.Dataset{Name: peerTable(fmt.Sprint("in", i))})
		d.Says.Writes = append(d.Says.Writes, graph.Dataset{Name: peerTable(fmt.Sprint("out", i))})
	}
	targets := 0
	for row, to := range graph.Derive(d.Subject, d.Origin, graph.Fold(&d.Says)).Flows {
		if row.Layer == graph.TableLayer && row.Dir == graph.Downstream {
			targets += len(to)
		}
	}
	if targets != 2*n {
		t.Errorf("%d flows for %d inputs and outputs, want %d", targets, n, 2*n)
	}
	m := NewModel("local")
	Feed(t, m, d)
	a := lineage(t, m, graph.Question{Root: peerTable("in0").ID(), Direction: graph.Downstream, Depth: graph.Unlimited})
	if len(a.Nodes) != n+1 || a.Nodes[1].Distance() != 1 || len(a.Edges) != n {
		t.Errorf("%d nodes, %d edges, the first at %d", len(a.Nodes), len(a.Edges), a.Nodes[1].Distance())
	}
}

// A deadline gives what is nearest, and says so.
func TestDeadlineGivesATruncatedAnswer(t *testing.T) {
	m := NewModel("local")
	var deltas []graph.Delta
	for i := range 50 {
		d := peerJob(fmt.Sprint("job", i), i)
		d.Says.Reads = []graph.Dataset{{Name: peerTable(fmt.Sprint("t", i))}}
		d.Says.Writes = []graph.Dataset{{Name: peerTable(fmt.Sprint("t", i+1))}}
		deltas = append(deltas, d)
	}
	Feed(t, m, deltas...)
	v, err := m.View(context.Background(), graph.At{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	slow := &lateView{View: v, left: 5, cancel: cancel}
	a, err := graph.GetLineage(ctx, slow, graph.Question{Root: peerTable("t0").ID(), Direction: graph.Downstream, Depth: graph.Unlimited})
	if err != nil {
		t.Fatal(err)
	}
	if a.Truncated == nil || a.Truncated.Reason != graph.CutDeadline || a.Complete() || len(a.Nodes) != 5 {
		t.Fatalf("%d nodes, %+v; want the 5 levels that were whole, cut by the deadline", len(a.Nodes), a.Truncated)
	}
	rest, err := graph.GetLineage(context.Background(), v, graph.Question{Root: peerTable("t0").ID(), Direction: graph.Downstream, Depth: graph.Unlimited, After: a.Truncated.After})
	if err != nil {
		t.Fatal(err)
	}
	if len(rest.Nodes) != 46 || !rest.Complete() {
		t.Errorf("the cursor gives %d more nodes, want 46", len(rest.Nodes))
	}
}

// A lateView runs out of time after some calls.
type lateView struct {
	graph.View
	left   int
	cancel func()
}

func (l *lateView) Flows(ctx context.Context, frontier []graph.ID, f graph.Ask, emit func([]graph.Flow) error) ([]graph.Gap, error) {
	if l.left--; l.left < 0 {
		l.cancel()
	}
	return l.View.Flows(ctx, frontier, f, emit)
}
