package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"time"

	"headwater/graph/graphtest"
)

// freshness measures how long after its acknowledgement an event is seen at
// every gateway, at 1,000 events a second.
func (r *run) freshness(ctx context.Context) error {
	dirs := map[string]string{"r0": r.path("fresh-r0"), "r1": r.path("fresh-r1")}
	return r.clustered(dirs, 0, false, func(c *Cluster, near map[string]string) error {
		home := newClient("http://" + near["r0"])
		defer home.close()
		ns := graphtest.PlatformNamespaces()[0]
		event := func(n int) []byte {
			return fmt.Appendf(nil, `{"eventType":"COMPLETE","eventTime":%q,"run":{"runId":"00000000-0000-4000-8000-%012d"},"job":{"namespace":"fresh","name":"j%d"},"inputs":[{"namespace":%q,"name":"in%d"}],"outputs":[{"namespace":%q,"name":"out%d"}]}`,
				time.Now().UTC().Format(time.RFC3339Nano), n, n, ns+"-r1", n, ns+"-r0", n)
		}
		var wg sync.WaitGroup
		var mu sync.Mutex // guards seen and failed
		var seen []time.Duration
		var failed error
		const every, sampled = time.Millisecond, 25
		end := time.Now().Add(time.Duration(3*r.Seconds) * time.Second)
		n := 0
		began := time.Now()
		busy := make(chan struct{}, 64)
		for time.Now().Before(end) {
			time.Sleep(time.Until(began.Add(time.Duration(n) * every)))
			n++
			k := n
			busy <- struct{}{}
			wg.Go(func() {
				defer func() { <-busy }()
				var buf bytes.Buffer
				err := home.post(ctx, "/api/v1/lineage", event(k), &buf)
				if err == nil && k%sampled == 0 {
					acknowledged := time.Now()
					for _, url := range c.URLs {
						if err = visible(ctx, url, "DOWNSTREAM", ns+"-r1", fmt.Sprint("in", k), fmt.Sprint("out", k)); err != nil {
							break
						}
					}
					mu.Lock()
					seen = append(seen, time.Since(acknowledged))
					mu.Unlock()
				}
				if err != nil {
					mu.Lock()
					failed = err
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		if failed != nil {
			return failed
		}
		rate := float64(n) / (3 * float64(r.Seconds))
		r.hold(ms(percentile(seen, 0.99)) < 150, "under 150 ms", "%.0f events a second: an event's flow over a border seen at all %d gateways p50 %.1f ms, p99 %.1f ms after its acknowledgement (%d of them)",
			rate, len(c.URLs), ms(percentile(seen, 0.5)), ms(percentile(seen, 0.99)), len(seen))
		return nil
	})
}

// visible waits until a gateway tells that a table is next to another.
func visible(ctx context.Context, url, direction, namespace, from, to string) error {
	c := newClient(url)
	defer c.close()
	body, err := json.Marshal(map[string]any{"query": `query($of: NodeRef!, $direction: Direction!) { lineage(of: $of, direction: $direction, depth: 1) { nodes { node { name } } } }`,
		"variables": map[string]any{"direction": direction, "of": map[string]string{"namespace": namespace, "name": from, "kind": "DATASTORE"}}})
	if err != nil {
		return err
	}
	var buf bytes.Buffer
	for until := time.Now().Add(10 * time.Second); time.Now().Before(until); {
		if err := c.post(ctx, "/graphql", body, &buf); err != nil {
			return err
		}
		if bytes.Contains(buf.Bytes(), []byte(strconv.Quote(to))) {
			return nil
		}
		time.Sleep(2 * time.Millisecond)
	}
	return fmt.Errorf("%s did not tell of %s in 10 s: %.300s", url, to, &buf)
}
