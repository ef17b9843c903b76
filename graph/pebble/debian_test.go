package pebble

import (
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"headwater/graph"
	"headwater/graph/graphtest"
)

// inputs returns the folder of the shared inputs, or skips.
func inputs(t testing.TB) string {
	t.Helper()
	dir := cmp.Or(os.Getenv("HEADWATER_INPUTS"), "../../../shared/inputs")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("skipped: no inputs")
	}
	return dir
}

// debianDeltas makes a platform of Debian's package graph.
func debianDeltas(t testing.TB) []graph.Delta {
	t.Helper()
	f, err := os.Open(filepath.Join(inputs(t), "graphs/debian-bookworm/edges.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	deltas, err := graphtest.Packages(z)
	if err != nil {
		t.Fatal(err)
	}
	edges := 0
	for i := range deltas {
		edges += len(deltas[i].Says.Reads)
	}
	if edges != 264_191 {
		t.Fatalf("%d edges, want 264,191", edges)
	}
	return deltas
}

func TestReachabilityOnDebiansGraphIsExact(t *testing.T) {
	if raceEnabled {
		t.Skip("skipped under the race detector: CI runs it as a step of its own without")
	}
	ctx := context.Background()
	deltas := debianDeltas(t)
	stores := []graph.Store{graphtest.NewModel("local"), openWith(t, 8<<20)}
	feeder := graphtest.Feeder{Region: "local"}
	if err := feeder.Feed(ctx, stores, deltas...); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(inputs(t), "graphs/debian-bookworm/expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var expected struct {
		Answers []struct {
			Start, Direction string
			MaxHops          *int  `json:"max_hops"`
			Reachable        int   `json:"reachable"`
			PerHop           []int `json:"per_hop"`
		} `json:"answers_hard_edges_only"`
	}
	if err := json.Unmarshal(b, &expected); err != nil {
		t.Fatal(err)
	}
	starts := map[string]bool{}
	for which, store := range map[string]graph.Store{"model": stores[0], "pebble": stores[1]} {
		v, err := store.View(ctx, graph.At{})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range expected.Answers {
			starts[want.Start] = true
			q := graph.Question{Root: graphtest.Package(want.Start).ID(), Direction: graph.Downstream, Depth: graph.Unlimited}
			if want.Direction == "upstream" {
				q.Direction = graph.Upstream
			}
			if want.MaxHops != nil {
				q.Depth = *want.MaxHops
			}
			a, err := graph.GetLineage(ctx, v, q)
			if err != nil {
				t.Fatal(err)
			}
			hops := map[int]int{}
			for _, n := range a.Nodes[1:] {
				hops[max(n.Upstream, n.Downstream)]++
			}
			if !a.Complete() || len(a.Nodes)-1 != want.Reachable {
				t.Errorf("%s: %s %s, %v hops: %d reached (complete %v), want %d", which, want.Start, want.Direction, want.MaxHops, len(a.Nodes)-1, a.Complete(), want.Reachable)
			}
			for i, n := range want.PerHop {
				if hops[i+1] != n {
					t.Errorf("%s: %s %s: %d at hop %d, want %d", which, want.Start, want.Direction, hops[i+1], i+1, n)
				}
			}
		}
		if err := v.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d answers for %d packages on both stores", len(expected.Answers), len(starts))
}
