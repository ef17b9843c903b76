package bench

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"runtime"
	"sync"
	"time"
)

// writers asks questions at a steady pace, first while nothing is written,
// then while 5,000 tasks change each second. Questions come first: it is told
// how much of what was acknowledged waits by then.
func (r *run) writers(ctx context.Context) error {
	const perSecond, perBody, rounds = 5000, 100, 8
	seconds := max(5, r.Seconds)
	tasks := max(r.Tasks/4, perSecond*seconds)
	dir := r.path("writers")
	p := r.platform(tasks)
	p.Narrow, p.Changing = true, 1000
	defer func() { _ = os.RemoveAll(dir) }() // it is remade each time
	return r.serve(ctx, dir, func(s *Server, c *client) error {
		if _, _, err := r.send(ctx, s, c, bodies(p, 0, 500, nil), 4); err != nil {
			return err
		}
		var questions [][]byte
		for i := range 64 {
			body, err := question(namesQuery, of(tableID(p.Table(tasks/4+i*tasks/128))))
			if err != nil {
				return err
			}
			questions = append(questions, body)
		}
		var idle, busy, heaps, behind, took []float64
		before := uint64(0)
		applied := 0.0
		for n := range rounds + 1 {
			quiet, err := pace(ctx, c, questions, 200, time.Duration(seconds)*time.Second)
			if err != nil {
				return err
			}
			if m, err := s.Store.Applied(ctx); err == nil {
				before = m.Revision
			}
			changes := bodies(p, n+1, perBody, nil)[:perSecond*seconds/perBody]
			runtime.GC()
			var wg sync.WaitGroup
			var writeErr error
			wg.Go(func() { writeErr = drip(ctx, c, changes, perSecond/perBody) })
			loaded, err := pace(ctx, c, questions, 200, time.Duration(seconds)*time.Second)
			wg.Wait()
			if err != nil || writeErr != nil {
				return fmt.Errorf("ask: %w, write: %w", err, writeErr)
			}
			waits, written := s.Waiting(), time.Now()
			for s.Waiting() > 0 {
				time.Sleep(time.Millisecond)
			}
			drained := time.Since(written)
			m, err := s.Store.Applied(ctx)
			if err != nil {
				return err
			}
			changes = nil
			heap := retained()
			if n == 0 {
				continue // warms up
			}
			applied += float64(m.Revision - before)
			idle, busy = append(idle, ms(percentile(quiet, 0.99))), append(busy, ms(percentile(loaded, 0.99)))
			heaps = append(heaps, heap)
			behind, took = append(behind, float64(waits)), append(took, drained.Seconds())
		}
		r.tell("%.0f changes in %d rounds of %d s, 200 questions a second", applied, rounds, seconds)
		ratio := median(busy) / median(idle)
		r.hold(ratio <= 3, "at most 3 times", "p99 %s ms while 5,000 tasks change a second, %s ms idle: %.2f times", spread(busy, "%.1f"), spread(idle, "%.1f"), ratio)
		r.tell("waiting to be applied at the end of each round: %s changes, applied within %s s", spread(behind, "%.0f"), spread(took, "%.1f"))
		early, late := median(heaps[:rounds/2]), median(heaps[rounds/2:])
		r.hold(late <= early*1.1, "flat", "retained heap after each round: %s MiB; %.0f in the first half of the rounds, %.0f in the second", spread(heaps, "%.0f"), early, late)
		return nil
	})
}

// retained is the heap, in MiB, that is left once what works behind has come to
// rest: flushes of the store hold what they write.
func retained() float64 {
	least := math.MaxFloat64
	for range 5 {
		time.Sleep(300 * time.Millisecond)
		runtime.GC()
		var mem runtime.MemStats
		runtime.ReadMemStats(&mem)
		least = min(least, float64(mem.HeapAlloc)/(1<<20))
	}
	return least
}

// drip posts bodies at a steady pace.
func drip(ctx context.Context, c *client, bodies [][]byte, perSecond int) error {
	var buf bytes.Buffer
	began := time.Now()
	for i, body := range bodies {
		time.Sleep(time.Until(began.Add(time.Duration(i) * time.Second / time.Duration(perSecond))))
		if err := c.post(ctx, "/api/v1/lineage/batch", body, &buf); err != nil {
			return err
		}
	}
	return nil
}

// pace asks questions at a steady pace, and returns how long each answer took
// since it was due.
func pace(ctx context.Context, c *client, bodies [][]byte, perSecond int, d time.Duration) ([]time.Duration, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var mu sync.Mutex // guards took
	var took []time.Duration
	due := make(chan time.Time, perSecond*int(d.Seconds()+1))
	var wg sync.WaitGroup
	n := 0
	for range 8 {
		wg.Go(func() {
			var buf bytes.Buffer
			for at := range due {
				mu.Lock()
				n++
				body := bodies[n%len(bodies)]
				mu.Unlock()
				if err := c.post(ctx, "/graphql", body, &buf); err != nil {
					cancel(err)
					return
				}
				mu.Lock()
				took = append(took, time.Since(at))
				mu.Unlock()
			}
		})
	}
	began := time.Now()
	for i := 0; time.Since(began) < d && ctx.Err() == nil; i++ {
		at := began.Add(time.Duration(i) * time.Second / time.Duration(perSecond))
		time.Sleep(time.Until(at))
		due <- at
	}
	close(due)
	wg.Wait()
	return took, context.Cause(ctx)
}
