package pebble

import (
	"context"
	"fmt"
	"testing"

	"headwater/graph"
	"headwater/graph/graphtest"
)

// platform fills a store with a generated platform.
func platform(b *testing.B, tasks int) (*Store, *graphtest.Platform) {
	b.Helper()
	s := openWith(b, 256<<20)
	p := &graphtest.Platform{Tasks: tasks, Seed: 1, Region: "local"}
	feed(b, s, p, 0)
	return s, p
}

func feed(b *testing.B, s *Store, p *graphtest.Platform, run int) {
	b.Helper()
	var deltas []graph.Delta
	for i := range p.Tasks {
		if deltas = append(deltas, p.Delta(i, run)); len(deltas) == 500 || i == p.Tasks-1 {
			graphtest.Feed(b, s, deltas...)
			deltas = deltas[:0]
		}
	}
}

// BenchmarkApply plans and applies the tasks of a platform of 2,000, new and
// re-run unchanged; a run's growth of the store is in the second's metrics.
func BenchmarkApply(b *testing.B) {
	const tasks = 2000
	b.Run("new", func(b *testing.B) {
		for b.Loop() {
			platform(b, tasks)
		}
		b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*tasks), "µs/task")
	})
	b.Run("unchanged", func(b *testing.B) {
		s, p := platform(b, tasks)
		before := s.mark.Revision
		run := 0
		for b.Loop() {
			run++
			feed(b, s, p, run)
		}
		b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*tasks), "µs/task")
		b.ReportMetric(float64(s.mark.Revision-before), "revisions")
	})
}

// BenchmarkLineage asks for three hops both ways, of tables spread over a
// platform of 20,000 tasks.
func BenchmarkLineage(b *testing.B) {
	const tasks = 20_000
	s, p := platform(b, tasks)
	for name, g := range map[string]graph.Granularity{"datastore": graph.DataStores, "column": graph.Columns, "process": graph.Processes} {
		b.Run(name, func(b *testing.B) {
			ctx := context.Background()
			nodes, edges, n := 0, 0, 0
			for b.Loop() {
				t := p.Table(tasks/2 + (n*7919)%(tasks/2))
				n++
				v, err := s.View(ctx, graph.At{})
				if err != nil {
					b.Fatal(err)
				}
				root := graph.Name{Kind: graph.DataStoreKind, Region: "local", Namespace: t.Namespace, Name: t.Name}
				a, err := graph.GetLineage(ctx, v, graph.Question{Root: root.ID(), Direction: graph.Both, Granularity: g, Depth: 3, Limit: 1000})
				if err != nil {
					b.Fatal(err)
				}
				nodes, edges = nodes+len(a.Nodes), edges+len(a.Edges)
				if err := v.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(nodes)/float64(n), "nodes")
			b.ReportMetric(float64(edges)/float64(n), "edges")
		})
	}
}

// BenchmarkSearch looks for texts in the names of a platform of 20,000 tasks.
func BenchmarkSearch(b *testing.B) {
	s, _ := platform(b, 20_000)
	for _, text := range []string{"order", "ads.order_amount", "der_amo", "created_at", "zzz"} {
		b.Run(fmt.Sprintf("text=%s", text), func(b *testing.B) {
			ctx := context.Background()
			for b.Loop() {
				v, err := s.View(ctx, graph.At{})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := v.Find(ctx, graph.Query{Text: text, Limit: 20}); err != nil {
					b.Fatal(err)
				}
				if err := v.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
