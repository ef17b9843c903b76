package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"time"

	"headwater/graph"
	"headwater/graph/graphtest"
)

// A Cluster is gateways over regions in this process, with a rule for each of
// the namespaces that end in -REGION.
type Cluster struct {
	// URLs are those of the gateways.
	URLs []string
	// Names counts the names of the first gateway's border index.
	Names func() int
	// Again stops that gateway and starts it anew. It returns how long it takes
	// until it is ready.
	Again func() (time.Duration, error)
	Stop  func() error
}

// splitRegions are the regions of the platform that is split.
var splitRegions = []string{"r0", "r1", "r2"}

// home is the region of the platform that makes a table.
func (r *run) home(index int) string {
	return splitRegions[min(len(splitRegions)-1, index*len(splitRegions)/r.Tasks)]
}

// homeOf is the region of a table that a task of a region speaks of.
func (r *run) homeOf(table, own string) string {
	if index, err := strconv.Atoi(table[strings.LastIndexByte(table, '_')+1:]); err == nil && !strings.HasPrefix(table, "src.") {
		return r.home(index)
	}
	return own
}

// split is a task's delta on the platform that is split: each table is named
// under the namespace of the region that makes it; sources are each region's
// own. It is told in region reports, or local.
func (r *run) split(p *graphtest.Platform, i int, reports string) (delta graph.Delta, crossing, flows int) {
	d := p.Delta(i, 0)
	own := r.home(i)
	name := func(n graph.Name) graph.Name {
		n.Region, n.Namespace = reports, n.Namespace+"-"+r.homeOf(n.Name, own)
		return n
	}
	d.Subject.Region = reports
	for k := range d.Says.Reads {
		d.Says.Reads[k].Name = name(d.Says.Reads[k].Name)
		flows++
		if !strings.HasSuffix(d.Says.Reads[k].Name.Namespace, own) {
			crossing++
		}
	}
	sources := func(list []graph.Source) {
		for k := range list {
			list[k].Name = name(list[k].Name)
		}
	}
	for k := range d.Says.Writes {
		w := &d.Says.Writes[k]
		w.Name = name(w.Name)
		sources(w.Lineage.Inputs)
		for c := range w.Lineage.Columns {
			sources(w.Lineage.Columns[c].Inputs)
		}
	}
	return d, crossing, flows
}

// splitStores builds the platform in one store and in one of each region.
func (r *run) splitStores(ctx context.Context) (single string, regions map[string]string, err error) {
	p := r.platform(r.Tasks)
	crossing, flows := 0, 0
	single, err = r.storeOf(ctx, fmt.Sprintf("split-%d-single", r.Tasks), region, r.Tasks, func(i int) graph.Delta {
		d, c, n := r.split(p, i, region)
		crossing, flows = crossing+c, flows+n
		return d
	})
	if err != nil {
		return "", nil, err
	}
	if flows > 0 {
		r.tell("%.1f%% of the inputs of tasks are in another region", 100*float64(crossing)/float64(flows))
	}
	regions = map[string]string{}
	for _, name := range splitRegions {
		var mine []int
		for i := range r.Tasks {
			if r.home(i) == name {
				mine = append(mine, i)
			}
		}
		regions[name], err = r.storeOf(ctx, fmt.Sprintf("split-%d-%s", r.Tasks, name), name, len(mine), func(i int) graph.Delta {
			d, _, _ := r.split(p, mine[i], name)
			return d
		})
		if err != nil {
			return "", nil, err
		}
	}
	return single, regions, nil
}

// heap returns the bytes that are in use. What a pool has is free after the
// second collection, and what that refers to after the third.
func heap() int64 {
	for range 3 {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// regions measures a platform that is split over three regions: the border
// index of an empty gateway, and answers, compared with one store that has
// all.
func (r *run) regions(ctx context.Context) error {
	single, dirs, err := r.splitStores(ctx)
	if err != nil {
		return err
	}
	var roots []graph.ID
	var alone, split, near, far []time.Duration
	var names []graph.Name
	if err := r.serve(ctx, single, func(s *Server, c *client) error {
		if roots, names, err = r.splitRoots(ctx, s, 64); err != nil {
			return err
		}
		if near, err = r.askRoots(ctx, c, leastQuery, names); err != nil {
			return err
		}
		alone, err = r.askRoots(ctx, c, namesQuery, names)
		return err
	}); err != nil {
		return err
	}
	var building, again []float64
	for range r.Runs {
		before := heap()
		began := time.Now()
		if err := r.clustered(dirs, 0, false, func(c *Cluster, _ map[string]string) error {
			building = append(building, time.Since(began).Seconds())
			if len(building) < r.Runs {
				return nil
			}
			n := c.Names()
			r.tell("border index: %d names; regions, gateway and index took %d MiB more heap", n, (heap()-before)>>20)
			gateway := newClient(c.URLs[0])
			defer gateway.close()
			if far, err = r.askRoots(ctx, gateway, leastQuery, names); err != nil {
				return err
			}
			if split, err = r.askRoots(ctx, gateway, namesQuery, names); err != nil {
				return err
			}
			for range r.Runs {
				took, err := c.Again()
				if err != nil {
					return err
				}
				if got := c.Names(); got != n {
					return fmt.Errorf("a gateway that was stopped has %d names, and had %d", got, n)
				}
				again = append(again, took.Seconds())
			}
			return nil
		}); err != nil {
			return err
		}
	}
	r.tell("regions opened, an empty gateway begun and its border index built in %s s", spread(building, "%.2f"))
	r.tell("a gateway that was stopped and is begun anew is ready after %s s", spread(again, "%.3f"))
	one, many := ms(percentile(alone, 0.5)), ms(percentile(split, 0.5))
	round := ms(percentile(far, 0.5)) - ms(percentile(near, 0.5))
	r.tell("a round, by the least question: %.2f ms (p50 %.2f ms over regions, %.2f ms from one store)", round, ms(percentile(far, 0.5)), ms(percentile(near, 0.5)))
	r.hold(many <= 3*one+rounds*round, fmt.Sprintf("at most 3 times, and %d rounds", rounds),
		"%d answers of 3 hops both ways by column: p50 %.2f ms over regions, %.2f ms from one store: %.1f times; p99 %.2f and %.2f ms",
		len(roots), many, one, many/one, ms(percentile(split, 0.99)), ms(percentile(alone, 0.99)))
	return nil
}

// rounds is how many rounds the answers take: most cross a border twice.
const rounds = 3

// leastQuery takes one round.
const leastQuery = `query($of: NodeRef!) { lineage(of: $of, depth: 0) { root { id } complete } }`

// splitRoots finds roots whose answers have about 200 nodes, and that lie
// near a border.
func (r *run) splitRoots(ctx context.Context, s *Server, want int) (roots []graph.ID, names []graph.Name, err error) {
	v, err := s.Store.View(ctx, graph.At{})
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	p := r.platform(r.Tasks)
	for i := 0; i < r.Tasks && len(roots) < want; i++ {
		k := (i * 7919) % r.Tasks
		d, _, _ := r.split(p, k, region)
		name := d.Says.Writes[0].Name
		a, err := graph.GetLineage(ctx, v, graph.Question{Root: name.ID(), Direction: graph.Both, Granularity: graph.Columns, Depth: 3, Limit: 1000})
		if err != nil {
			return nil, nil, err
		}
		if n := len(a.Nodes); a.Complete() && n >= 160 && n <= 260 {
			roots, names = append(roots, name.ID()), append(names, name)
		}
	}
	if len(roots) == 0 {
		return nil, nil, errors.New("no answer has about 200 nodes")
	}
	return roots, names, nil
}

// askRoots asks about each name, one question after the other.
func (r *run) askRoots(ctx context.Context, c *client, query string, names []graph.Name) ([]time.Duration, error) {
	var bodies [][]byte
	for _, n := range names {
		body, err := question(query, map[string]any{"of": map[string]string{"namespace": n.Namespace, "name": n.Name, "kind": "DATASTORE"}})
		if err != nil {
			return nil, err
		}
		bodies = append(bodies, body)
	}
	if _, _, err := c.ask(ctx, bodies, 1, time.Second); err != nil {
		return nil, err
	}
	took, _, err := c.ask(ctx, bodies, 1, time.Duration(r.Seconds)*time.Second)
	return took, err
}

// cached measures a hot mixed workload, with 10 ms between the gateway and
// the regions, given again and made anew.
func (r *run) cached(ctx context.Context) error {
	_, dirs, err := r.splitStores(ctx)
	if err != nil {
		return err
	}
	p := r.platform(r.Tasks)
	var bodies [][]byte
	for i := range 64 {
		d, _, _ := r.split(p, (i*7919)%r.Tasks, region)
		n := d.Says.Writes[0].Name
		text := namesQuery
		if i%4 == 0 {
			text = idsQuery
		}
		body, err := question(text, map[string]any{"of": map[string]string{"namespace": n.Namespace, "name": n.Name, "kind": "DATASTORE"}})
		if err != nil {
			return err
		}
		bodies = append(bodies, body)
	}
	var rates [2]float64
	var p50 [2]float64
	for i, keep := range []bool{false, true} {
		if err := r.clustered(dirs, 10*time.Millisecond, keep, func(c *Cluster, _ map[string]string) error {
			gateway := newClient(c.URLs[0])
			defer gateway.close()
			if _, _, err := gateway.ask(ctx, bodies, 8, 2*time.Second); err != nil {
				return err
			}
			took, _, err := gateway.ask(ctx, bodies, 8, time.Duration(r.Seconds)*time.Second)
			if err != nil {
				return err
			}
			rates[i], p50[i] = float64(len(took))/float64(r.Seconds), ms(percentile(took, 0.5))
			return nil
		}); err != nil {
			return err
		}
	}
	r.hold(rates[1] >= 10*rates[0], "at least 10 times", "64 questions, 8 clients, regions 10 ms away: %.0f answers a second given again, %.0f made anew: %.0f times; p50 %.2f and %.2f ms",
		rates[1], rates[0], rates[1]/rates[0], p50[1], p50[0])
	return nil
}
