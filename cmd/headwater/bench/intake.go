package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"headwater/graph/graphtest"
)

// intake sends events as they come from the field, by size: most have a
// column or a few, some have many. Each body is a batch; a body is answered
// when it is durable.
func (r *run) intake(ctx context.Context) error {
	const perBody, senders = 500, 4
	events := r.Tasks
	var durable, created, unchanged, syncs, growths []float64
	var sizes []int
	for n := range r.Runs {
		p := r.platform(events)
		p.Narrow, p.Seed = true, uint64(100+n)
		first, rerun := bodies(p, 0, perBody, &sizes), bodies(p, 1, perBody, nil)
		dir := r.path(fmt.Sprintf("intake-%d", n))
		err := r.serve(ctx, dir, func(s *Server, c *client) error {
			acked, applied, err := r.send(ctx, s, c, first, senders)
			if err != nil {
				return err
			}
			r.log("new: %.0f a second acknowledged, %.0f applied", float64(events)/acked.Seconds(), float64(events)/applied.Seconds())
			durable = append(durable, float64(events)/acked.Seconds())
			created = append(created, float64(events)/applied.Seconds())
			before, err := settled(ctx, s)
			if err != nil {
				return err
			}
			synced := s.Syncs()
			acked, applied, err = r.send(ctx, s, c, rerun, senders)
			if err != nil {
				return err
			}
			r.log("unchanged: %.0f a second acknowledged, %.0f applied", float64(events)/acked.Seconds(), float64(events)/applied.Seconds())
			unchanged = append(unchanged, float64(events)/applied.Seconds())
			syncs = append(syncs, float64(events)/float64(s.Syncs()-synced))
			after, err := settled(ctx, s)
			if err != nil {
				return err
			}
			if after.revision != before.revision {
				return fmt.Errorf("unchanged events moved the revision from %d to %d", before.revision, after.revision)
			}
			growths = append(growths, float64(after.bytes)/float64(before.bytes))
			return nil
		})
		if err != nil {
			return err
		}
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	r.tell("%d events a run, bodies of %d from %d senders; an event has %d bytes at p50, %d at p99", events, perBody, senders, percentile(sizes, 0.5), percentile(sizes, 0.99))
	r.hold(median(durable) >= 10_000, "at least 10,000", "new: %s events a second, durable", spread(durable, "%.0f"))
	r.hold(median(created) >= 10_000, "at least 10,000", "new: %s events a second, durable and applied", spread(created, "%.0f"))
	r.hold(median(unchanged) >= 20_000, "at least 20,000", "unchanged: %s events a second, durable and applied", spread(unchanged, "%.0f"))
	r.hold(median(syncs) >= 50, "at least 50", "unchanged: %s events a sync", spread(syncs, "%.0f"))
	r.hold(median(growths) <= 1.15, "no growth but of the last runs' ids", "unchanged: %s times the store's bytes, the revision stands", spread(growths, "%.2f"))
	return nil
}

// bodies makes the events of a run into batches.
func bodies(p *graphtest.Platform, run, perBody int, sizes *[]int) [][]byte {
	var all [][]byte
	for from := 0; from < p.Tasks; from += perBody {
		body := []byte{'['}
		for i := from; i < min(p.Tasks, from+perBody); i++ {
			if len(body) > 1 {
				body = append(body, ',')
			}
			begin := len(body)
			body = graphtest.AppendEvent(body, p.Task(i, run))
			if sizes != nil {
				*sizes = append(*sizes, len(body)-begin)
			}
		}
		all = append(all, append(body, ']'))
	}
	return all
}

// send posts bodies and returns after how long all were acknowledged, and
// after how long all were applied.
func (r *run) send(ctx context.Context, s *Server, c *client, bodies [][]byte, senders int) (acked, applied time.Duration, err error) {
	runtime.GC() // what made the bodies is not the server's
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan []byte, len(bodies))
	for _, b := range bodies {
		next <- b
	}
	close(next)
	began := time.Now()
	var wg sync.WaitGroup
	for range senders {
		wg.Go(func() {
			var buf bytes.Buffer
			for body := range next {
				if err := c.post(ctx, "/api/v1/lineage/batch", body, &buf); err != nil {
					cancel(err)
					return
				}
				if !bytes.Contains(buf.Bytes(), []byte(`"status":"success"`)) {
					cancel(fmt.Errorf("not all events were taken: %.300s", buf.Bytes()))
					return
				}
			}
		})
	}
	wg.Wait()
	acked = time.Since(began)
	if err := context.Cause(ctx); err != nil {
		return 0, 0, err
	}
	for s.Waiting() > 0 {
		time.Sleep(time.Millisecond)
	}
	return acked, time.Since(began), nil
}

// A rest is how a store is when nothing is under way.
type rest struct{ bytes, revision uint64 }

func settled(ctx context.Context, s *Server) (rest, error) {
	if err := s.Store.Compact(ctx); err != nil {
		return rest{}, err
	}
	mark, err := s.Store.Applied(ctx)
	return rest{s.Store.DiskBytes(), mark.Revision}, err
}
