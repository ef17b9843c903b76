package bench

import (
	"context"
	"time"

	"headwater/graph"
	"headwater/graph/pebble"
)

// walk compares closure walks through graph.View with a bare search over the
// same flows, from the same roots, in turn.
func (r *run) walk(ctx context.Context) error {
	dir, err := r.built(ctx, r.Tasks)
	if err != nil {
		return err
	}
	p := r.platform(r.Tasks)
	return opened(ctx, dir, func(s *pebble.Store, v graph.View) error {
		for _, g := range []struct {
			name        string
			granularity graph.Granularity
			make        adjacency
			bound       float64
		}{{"DATASTORE", graph.DataStores, tables, 3.5}, {"COLUMN", graph.Columns, columns, 6}} {
			c, err := g.make(ctx, v, s.Names(ctx))
			if err != nil {
				return err
			}
			var roots []graph.ID
			for i := range 40 {
				if id := tableID(p.Table(i * r.Tasks / 800)); c.has(id) {
					roots = append(roots, id)
				}
			}
			seen, queue := make([]bool, len(c.ids)), make([]uint32, 0, len(c.ids))
			var times []float64
			var nodes, bareNodes int
			var bare, walked time.Duration
			for range r.Runs + 1 { // the first warms up
				bare, walked, nodes, bareNodes = 0, 0, 0, 0
				for _, root := range roots {
					began := time.Now()
					bareNodes += c.search(c.at[root], graph.Unlimited, seen, queue)
					bare += time.Since(began)
					began = time.Now()
					sum, err := graph.Walk(ctx, v, []graph.Seed{{ID: root}}, graph.WalkOptions{Granularity: g.granularity, Depth: graph.Unlimited}, func(graph.Reached) error { return nil })
					if err != nil {
						return err
					}
					walked += time.Since(began)
					nodes += sum.Nodes
				}
				times = append(times, float64(walked)/float64(bare))
			}
			r.hold(median(times[1:]) <= g.bound, "at most "+trim(g.bound), "%s closure: %s times a bare search; last %d nodes in %s, bare %d in %s, of %d with %d flows",
				g.name, spread(times[1:], "%.2f"), nodes, walked.Round(time.Microsecond), bareNodes, bare.Round(time.Microsecond), len(c.ids), len(c.targets))
		}
		return nil
	})
}

// memory tells what the flows take.
func (r *run) memory(ctx context.Context) error {
	dir, err := r.built(ctx, r.Tasks)
	if err != nil {
		return err
	}
	return opened(ctx, dir, func(s *pebble.Store, _ graph.View) error {
		st, _ := s.FlowStats()
		nodes := st.DataStores + st.Columns + st.Processes + st.Hubs
		perFlow, perNode := float64(st.FlowBytes)/float64(st.Flows), float64(st.NodeBytes)/float64(nodes)
		r.hold(perFlow <= 40, "at most 40", "%.1f bytes a flow, of %d flows", perFlow, st.Flows)
		r.hold(perNode <= 64, "at most 64", "%.1f bytes a node, of %d nodes", perNode, nodes)
		return nil
	})
}
