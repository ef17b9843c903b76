package bench

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"headwater/graph"
)

// reopen opens the largest platform again and again: with its checkpoint, and
// once without it.
func (r *run) reopen(ctx context.Context) error {
	for _, tasks := range r.Sizes {
		dir, err := r.built(ctx, tasks)
		if err != nil {
			return err
		}
		open := func() (took time.Duration, flows int, err error) {
			began := time.Now()
			s, err := openStore(filepath.Join(dir, "graph"), region)
			if err != nil {
				return 0, 0, err
			}
			v, err := s.View(ctx, graph.At{})
			if err != nil {
				return 0, 0, err
			}
			took = time.Since(began)
			if err := v.Close(); err != nil {
				return 0, 0, err
			}
			st, _ := s.FlowStats()
			return took, st.Flows, s.Close()
		}
		var times []float64
		flows := 0
		for range r.Runs {
			took, n, err := open()
			if err != nil {
				return err
			}
			times, flows = append(times, took.Seconds()), n
		}
		if err := os.Remove(filepath.Join(dir, "graph", "topology")); err != nil {
			return err
		}
		rows, _, err := open()
		if err != nil {
			return err
		}
		bound := 15.0
		if flows <= 5_500_000 {
			bound = 5
		}
		r.hold(median(times) < bound, "under "+trim(bound)+" s", "%d tasks, %d flows: open in %s s; from all rows in %.2f s", tasks, flows, spread(times, "%.2f"), rows.Seconds())
	}
	return nil
}
