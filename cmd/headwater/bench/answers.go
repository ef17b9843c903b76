package bench

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"headwater/graph"
)

// The questions that are asked.
var (
	//go:embed queries/lineage_names.graphql
	namesQuery string
	//go:embed queries/lineage_all.graphql
	allQuery string
	//go:embed queries/lineage_ids.graphql
	idsQuery string
)

// answers measures lineage of 3 hops by column, of about 200 nodes and 300
// edges, over HTTP with 8 clients. Nothing caches answers.
func (r *run) answers(ctx context.Context) error {
	dir, err := r.built(ctx, r.Tasks)
	if err != nil {
		return err
	}
	return r.serve(ctx, dir, func(s *Server, c *client) error {
		roots, nodes, edges, err := r.middling(ctx, s, 64)
		if err != nil {
			return err
		}
		r.tell("%d questions; %d nodes and %d edges an answer in the mean", len(roots), nodes, edges)
		for _, q := range []struct {
			name, text string
			bound      float64
		}{{"ids, names and kinds", namesQuery, 1500}, {"all fields", allQuery, 500}} {
			var bodies [][]byte
			for _, root := range roots {
				body, err := question(q.text, of(root))
				if err != nil {
					return err
				}
				bodies = append(bodies, body)
			}
			var rates, p50, p99 []float64
			size := 0
			for range r.Runs + 1 { // the first fills the caches of what is known of nodes
				took, n, err := c.ask(ctx, bodies, 8, time.Duration(r.Seconds)*time.Second)
				if err != nil {
					return err
				}
				rates, size = append(rates, float64(len(took))/float64(r.Seconds)), n
				p50, p99 = append(p50, ms(percentile(took, 0.5))), append(p99, ms(percentile(took, 0.99)))
			}
			r.hold(median(rates[1:]) >= q.bound, "at least "+trim(q.bound), "%s: %s answers a second; p50 %.2f ms, p99 %.2f ms, %d KB each",
				q.name, spread(rates[1:], "%.0f"), median(p50[1:]), median(p99[1:]), size>>10)
		}
		return nil
	})
}

// of is the variables of a question about a node.
func of(root graph.ID) any { return map[string]any{"of": map[string]string{"id": root.String()}} }

func ms(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }

// middling finds roots whose answers have about 200 nodes and 300 edges.
func (r *run) middling(ctx context.Context, s *Server, want int) (roots []graph.ID, nodes, edges int, err error) {
	v, err := s.Store.View(ctx, graph.At{})
	if err != nil {
		return nil, 0, 0, err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	p := r.platform(r.Tasks)
	for i := 0; i < r.Tasks && len(roots) < want; i++ {
		id := tableID(p.Table((i * 7919) % r.Tasks))
		a, err := graph.GetLineage(ctx, v, graph.Question{Root: id, Direction: graph.Both, Granularity: graph.Columns, Depth: 3, Limit: 1000})
		if err != nil {
			return nil, 0, 0, err
		}
		if n, e := len(a.Nodes), len(a.Edges); a.Complete() && n >= 160 && n <= 260 && e >= 240 && e <= 380 {
			roots = append(roots, id)
			nodes, edges = nodes+n, edges+e
		}
	}
	if len(roots) == 0 {
		return nil, 0, 0, fmt.Errorf("no answer of a platform of %d tasks has about 200 nodes and 300 edges", r.Tasks)
	}
	return roots, nodes / len(roots), edges / len(roots), nil
}
