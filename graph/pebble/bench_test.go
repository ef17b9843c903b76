package pebble

import (
	"context"
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"headwater/graph"
	"headwater/graph/graphtest"
)

// platform fills a store with a generated platform.
func platform(b *testing.B, tasks int) (*Store, *graphtest.Platform) {
	b.Helper()
	s := openWith(b, 256<<20)
	p := &graphtest.Platform{Tasks: tasks, Seed: 1, Region: "local"}
	feed(b, s, run(p, 0))
	return s, p
}

// run lists what the tasks of a platform say at a run.
func run(p *graphtest.Platform, n int) []graph.Delta {
	deltas := make([]graph.Delta, p.Tasks)
	for i := range deltas {
		deltas[i] = p.Delta(i, n)
	}
	return deltas
}

func feed(b *testing.B, s *Store, deltas []graph.Delta) {
	b.Helper()
	for part := range slices.Chunk(deltas, 500) {
		graphtest.Feed(b, s, part...)
	}
}

func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// compacted returns how much disk a store takes when nothing in it is
// superseded.
func compacted(b *testing.B, s *Store) float64 {
	b.Helper()
	if err := s.db.Compact(context.Background(), []byte{0}, []byte{0xff}, false); err != nil {
		b.Fatal(err)
	}
	size, err := s.db.EstimateDiskUsage([]byte{0}, []byte{0xff})
	if err != nil {
		b.Fatal(err)
	}
	return float64(size)
}

// BenchmarkApply loads, plans and applies the tasks of platforms of narrow and
// wide tables: new, re-run unchanged, re-run with one table more to read. By
// how much a run makes the store grow is told too; before the unchanged ones
// that are measured there are as many as a record keeps.
func BenchmarkApply(b *testing.B) {
	for name, p := range map[string]*graphtest.Platform{
		"narrow": {Tasks: 20_000, Seed: 1, Region: "local", Narrow: true},
		"wide":   {Tasks: 4_000, Seed: 1, Region: "local"},
	} {
		perTask := func(b *testing.B, v float64, unit string) { b.ReportMetric(v/float64(b.N*p.Tasks), unit) }
		var cpu time.Duration
		feed := func(b *testing.B, s *Store, deltas []graph.Delta) {
			before := processorTime()
			feed(b, s, deltas)
			cpu += processorTime() - before
		}
		b.Run(name+"/new", func(b *testing.B) {
			deltas := run(p, 0)
			cpu = 0
			for b.Loop() {
				b.StopTimer()
				s := openWith(b, 256<<20)
				b.StartTimer()
				feed(b, s, deltas)
			}
			perTask(b, float64(b.Elapsed().Microseconds()), "µs/task")
			perTask(b, float64(cpu.Microseconds()), "cpu-µs/task")
		})
		for _, kind := range []struct {
			name         string
			before, each int
		}{{"unchanged", 18, 0}, {"changing", 1, 1000}} {
			b.Run(name+"/"+kind.name, func(b *testing.B) {
				s := openWith(b, 256<<20)
				n := 0
				for ; n < kind.before; n++ {
					feed(b, s, run(p, n))
				}
				p := *p
				p.Changing = kind.each
				revision, size := s.mark.Revision, compacted(b, s)
				cpu = 0
				for b.Loop() {
					b.StopTimer()
					deltas := run(&p, n)
					n++
					b.StartTimer()
					feed(b, s, deltas)
				}
				perTask(b, float64(b.Elapsed().Microseconds()), "µs/task")
				perTask(b, float64(cpu.Microseconds()), "cpu-µs/task")
				perTask(b, float64(s.mark.Revision-revision), "revisions/task")
				perTask(b, compacted(b, s)-size, "grown-B/task")
			})
		}
	}
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
