package bench

import (
	"context"
	"fmt"
	"time"

	"headwater/graph"
	"headwater/graph/pebble"
)

// growth asks for three hops of platforms of several sizes, where the answers
// are equally large: what is visited and read must not grow, and the time
// hardly.
func (r *run) growth(ctx context.Context) error {
	type taken struct {
		tasks        int
		µs           float64
		hops, reads  float64
		nodes, asked int
	}
	for _, g := range []struct {
		name        string
		granularity graph.Granularity
		lo, hi      int
	}{{"DATASTORE", graph.DataStores, 8, 12}, {"COLUMN", graph.Columns, 90, 110}} {
		var all []taken
		for _, tasks := range r.Sizes {
			dir, err := r.built(ctx, tasks)
			if err != nil {
				return err
			}
			p := r.platform(tasks)
			t := taken{tasks: tasks}
			err = opened(ctx, dir, func(s *pebble.Store, v graph.View) error {
				var questions []graph.Question
				for i := 0; i < tasks && len(questions) < 200; i++ {
					q := graph.Question{Root: tableID(p.Table((tasks/2 + i*7919) % tasks)), Direction: graph.Both, Granularity: g.granularity, Depth: 3, Limit: 1000}
					a, err := graph.GetLineage(ctx, v, q)
					if err != nil {
						return err
					}
					if n := len(a.Nodes); n >= g.lo && n <= g.hi {
						questions = append(questions, q)
					}
				}
				if len(questions) == 0 {
					return fmt.Errorf("no answer of %d tasks has %d to %d nodes", tasks, g.lo, g.hi)
				}
				counted := count(v)
				before := s.Reads()
				t.asked = len(questions)
				for _, q := range questions {
					a, err := graph.GetLineage(ctx, counted, q)
					if err != nil {
						return err
					}
					t.nodes += len(a.Nodes)
				}
				t.hops, t.reads = float64(counted.hops)/float64(t.nodes), float64(s.Reads()-before)/float64(t.nodes)
				var times []float64
				for range r.Runs + 1 {
					began := time.Now()
					for _, q := range questions {
						if _, err := graph.GetLineage(ctx, v, q); err != nil {
							return err
						}
					}
					times = append(times, float64(time.Since(began).Nanoseconds())/1e3/float64(len(questions)))
				}
				t.µs = median(times[1:])
				return nil
			})
			if err != nil {
				return err
			}
			r.tell("%s, 3 hops, %d tasks: %.1f µs an answer of %.1f nodes; for each of them %.2f flows read and %.2f reads of the store",
				g.name, tasks, t.µs, float64(t.nodes)/float64(t.asked), t.hops, t.reads)
			all = append(all, t)
		}
		first, last := all[0], all[len(all)-1]
		perNode := func(t taken) float64 { return t.µs / (float64(t.nodes) / float64(t.asked)) }
		grown := perNode(last) / perNode(first)
		r.hold(grown <= 4, "at most 4", "%s: %.2f times the time a node from %d to %d tasks", g.name, grown, first.tasks, last.tasks)
		more := last.hops / first.hops
		r.hold(more <= 1.1 && last.reads <= first.reads, "no more", "%s: %.2f times the flows read a node, %.2f reads of the store more", g.name, more, last.reads-first.reads)
	}
	return nil
}

// A counting view counts the flows that are read of it.
type counting struct {
	graph.View
	numbers graph.Numbers
	hops    int
}

func count(v graph.View) *counting {
	c := &counting{View: v}
	if n, ok := v.(interface{ Numbers() graph.Numbers }); ok {
		c.numbers = n.Numbers()
	}
	return c
}

// Numbers has the numbers of the view, and counts.
func (c *counting) Numbers() graph.Numbers {
	if c.numbers == nil {
		return nil
	}
	return countingNumbers{c.numbers, c}
}

type countingNumbers struct {
	graph.Numbers
	c *counting
}

func (n countingNumbers) Hops(ctx context.Context, frontier []graph.Handle, f *graph.Ask, b *graph.Bound, emit graph.Emit) ([]graph.Gap, error) {
	return n.Numbers.Hops(ctx, frontier, f, b, graph.Emit{Hops: func(hops []graph.Hop) error {
		n.c.hops += len(hops)
		return emit.Hops(hops)
	}})
}

// hub asks of a data store that very many read: for its first neighbours, and
// for all that it feeds.
func (r *run) hub(ctx context.Context) error {
	table := func(name string) graph.Name {
		return graph.Name{Kind: graph.DataStoreKind, Region: region, Namespace: "hive://metastore:9083", Name: name}
	}
	hub := table("dim.date")
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	dir, err := r.store(ctx, fmt.Sprintf("hub-%d", r.Hub), r.Hub, func(i int) graph.Delta {
		d := graph.Delta{Subject: graph.Name{Kind: graph.ProcessKind, Region: region, Namespace: "scheduler", Name: fmt.Sprintf("report_%d", i)},
			Origin: "openlineage", Run: fmt.Sprintf("%08x-0000-4000-8000-000000000000", i), State: graph.Completed, Time: began.Add(time.Duration(i)).UnixNano()}
		d.Says.Reads = []graph.Dataset{{Name: hub}}
		d.Says.Writes = []graph.Dataset{{Name: table(fmt.Sprintf("mart.report_%d", i))}}
		return d
	})
	if err != nil {
		return err
	}
	return opened(ctx, dir, func(s *pebble.Store, v graph.View) error {
		first := graph.Question{Root: hub.ID(), Direction: graph.Downstream, Depth: 1, Limit: 1000}
		var times, pages []float64
		for range r.Runs + 1 {
			began := time.Now()
			a, err := graph.GetLineage(ctx, v, first)
			if err != nil {
				return err
			}
			if len(a.Nodes) != 1000 || len(a.Edges) != 999 || a.Truncated == nil {
				return fmt.Errorf("the first page of the hub has %d nodes and %d edges", len(a.Nodes), len(a.Edges))
			}
			times = append(times, ms(time.Since(began)))
			next := first
			next.After = a.Truncated.After
			began = time.Now()
			if a, err = graph.GetLineage(ctx, v, next); err != nil {
				return err
			}
			if len(a.Nodes) != 1000 || len(a.Edges) != 1000 {
				return fmt.Errorf("the second page of the hub has %d nodes and %d edges", len(a.Nodes), len(a.Edges))
			}
			pages = append(pages, ms(time.Since(began)))
		}
		r.hold(median(times[1:]) < 5, "under 5 ms", "first 1,000 neighbours of %d: %s ms; the next page %s ms", r.Hub, spread(times[1:], "%.2f"), spread(pages[1:], "%.2f"))
		late, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		began := time.Now()
		sum, err := graph.Walk(late, v, []graph.Seed{{ID: hub.ID()}}, graph.WalkOptions{Depth: graph.Unlimited}, func(graph.Reached) error { return nil })
		if err != nil {
			return err
		}
		r.hold(!sum.Late && sum.Nodes == r.Hub+1, "whole, within 10 s", "its closure: %d nodes in %.0f ms", sum.Nodes, ms(time.Since(began)))
		began = time.Now()
		short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		defer cancel()
		a, err := graph.GetLineage(short, v, graph.Question{Root: hub.ID(), Direction: graph.Both, Depth: graph.Unlimited})
		if err != nil {
			return err
		}
		r.hold(a.Truncated != nil && a.Truncated.Reason == graph.CutDeadline && time.Since(began) < 200*time.Millisecond, "cut, and says so",
			"its lineage with edges and 20 ms of time: %d nodes after %.0f ms, complete %v", len(a.Nodes), ms(time.Since(began)), a.Complete())
		return nil
	})
}
