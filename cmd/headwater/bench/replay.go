package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"headwater/graph/graphtest"
)

// A day of changes, and how much faster it is replayed.
const (
	dayChanges = 30_000
	daySpeed   = 100
)

// replay sends a day's changed tasks of the platform that is split to its
// regions, faster than the day, and measures how long each takes to be seen at
// every gateway, early and late in the day.
func (r *run) replay(ctx context.Context) error {
	_, dirs, err := r.splitStores(ctx)
	if err != nil {
		return err
	}
	p := r.platform(r.Tasks)
	p.Changing = 1000
	turn := 1 + int(time.Now().Unix()%1_000_000) // no earlier replay on kept stores has made these changes
	return r.clustered(dirs, 0, false, func(c *Cluster, near map[string]string) error {
		homes := map[string]*client{}
		for name, address := range near {
			homes[name] = newClient("http://" + address)
			defer homes[name].close()
		}
		const parts, every = 5, 24 * time.Hour / dayChanges / daySpeed
		var mu sync.Mutex // guards both below
		var seen [parts][]time.Duration
		var failed []error
		var wg sync.WaitGroup
		busy := make(chan struct{}, 256)
		began := time.Now()
		sent := 0
		for ; sent < dayChanges; sent++ {
			select {
			case <-time.After(time.Until(began.Add(time.Duration(sent) * every))):
			case <-ctx.Done():
				wg.Wait()
				return ctx.Err()
			}
			if sent%(dayChanges/parts) == 0 {
				r.tell("%d of %d changes sent after %s", sent, dayChanges, time.Since(began).Round(time.Second))
			}
			i := (sent*7919 + 1) % r.Tasks
			t, own := p.Task(i, turn), r.home(i)
			added := ""
			if was := len(p.Task(i, 0).Inputs); was > 0 && len(t.Inputs) > was && sent%25 == 0 {
				added = t.Inputs[was].Name
			}
			t.Start = time.Now().UTC()
			t.Output.Namespace += "-" + own
			for k := range t.Inputs {
				t.Inputs[k].Namespace += "-" + r.homeOf(t.Inputs[k].Name, own)
			}
			part := sent * parts / dayChanges
			busy <- struct{}{}
			wg.Go(func() {
				defer func() { <-busy }()
				var buf bytes.Buffer
				event := graphtest.AppendEvent(nil, t)
				err := homes[own].post(ctx, "/api/v1/lineage", event, &buf)
				if err != nil { // as producers do: a connection that is kept may have been closed
					err = homes[own].post(ctx, "/api/v1/lineage", event, &buf)
				}
				if acknowledged := time.Now(); err == nil && added != "" {
					for _, url := range c.URLs {
						if err = visible(ctx, url, "UPSTREAM", t.Output.Namespace, t.Output.Name, added); err != nil {
							break
						}
					}
					mu.Lock()
					seen[part] = append(seen[part], time.Since(acknowledged))
					mu.Unlock()
				}
				if err != nil {
					mu.Lock()
					failed = append(failed, err)
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		if len(failed) > 0 {
			return fmt.Errorf("%d of %d changes: %w", len(failed), sent, errors.Join(failed[:min(3, len(failed))]...))
		}
		took := time.Since(began)
		var p50, p99 []float64
		n := 0
		for _, s := range seen {
			n += len(s)
			p50, p99 = append(p50, ms(percentile(s, 0.5))), append(p99, ms(percentile(s, 0.99)))
		}
		r.tell("%d changes in %s, a day at %.0f times its speed; %d of them watched", sent, took.Round(time.Second), (24*time.Hour).Seconds()/took.Seconds(), n)
		r.hold(p50[parts-1] <= 2*p50[0]+1, "not growing: at most twice the first fifth's, and 1 ms", "a change seen at all %d gateways after its acknowledgement, by fifths of the day: p50 %.1f ms, p99 %.1f ms", len(c.URLs), p50, p99)
		return nil
	})
}
