package pebble

import (
	"fmt"
	"testing"

	"headwater/graph"
	"headwater/graph/graphtest"
)

// What is known of a node, and what is said by a task, is kept once, however
// often it changes and is asked for, and each view is told what its own state
// says.
func TestFactsOfANodeThatChangesAreKeptOnce(t *testing.T) {
	s := openWith(t, 8<<20)
	table := graph.Name{Kind: graph.DataStoreKind, Region: "local", Namespace: "db", Name: "t"}
	job := graph.Name{Kind: graph.ProcessKind, Region: "local", Namespace: "jobs", Name: "j"}
	ask := func(v graph.View) (said string) {
		if _, err := v.Nodes(t.Context(), []graph.ID{table.ID()}, 0, func(n graph.Node) error {
			said = n.Facts.Description
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := v.Says(t.Context(), []graph.ID{job.ID()}, func(s graph.Said) error {
			if got := s.Content.Writes[0].Facts.Description; got != said {
				t.Errorf("the node is said to be %q, and its task says %q", said, got)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		s.facts.Wait()
		return said
	}
	open := func(i int) graph.View {
		graphtest.Feed(t, s, graph.Delta{Subject: job, Origin: "declared", State: graph.Declared, Time: int64(i + 1),
			Says: graph.Content{Writes: []graph.Dataset{{Name: table, Facts: graph.Facts{Description: fmt.Sprintf("%04d", i)}}}}})
		v, err := s.View(t.Context(), graph.At{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := v.Close(); err != nil {
				t.Error(err)
			}
		})
		return v
	}
	old := open(0)
	if got := ask(old); got != "0000" {
		t.Fatalf("it is said to be %q", got)
	}
	left := s.facts.RemainingCost()
	if left == s.facts.MaxCost() {
		t.Fatal("nothing is kept")
	}
	for i := 1; i < 50; i++ {
		want := fmt.Sprintf("%04d", i)
		now := open(i)
		for _, asked := range []struct {
			v    graph.View
			want string
		}{{now, want}, {old, "0000"}, {now, want}} {
			if got := ask(asked.v); got != asked.want {
				t.Fatalf("after change %d it is said to be %q, want %q", i, got, asked.want)
			}
		}
	}
	if now := s.facts.RemainingCost(); now != left {
		t.Errorf("%d bytes are left for others, and were %d after the first change", now, left)
	}
}
