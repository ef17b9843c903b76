package graphtest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"headwater/graph"
)

// A reference answers lineage the dumb way: it takes all flows of a view,
// makes every state and every step between states of them, with the weight 0
// or 1, and relaxes distances until nothing moves.
type reference struct {
	granularity graph.Granularity
	flows       map[graph.ID][]graph.Flow // by near end: exact rows
	columns     map[graph.ID]map[graph.ID]bool
}

// A place is a node in one of its roles.
type place struct {
	id graph.ID
	// whole: a data store that stands for its columns; else its own rows.
	whole bool
}

func newReference(t *testing.T, v graph.View, r *Random, g graph.Granularity, dir graph.Direction) *reference {
	t.Helper()
	ref := &reference{granularity: g, flows: map[graph.ID][]graph.Flow{}, columns: map[graph.ID]map[graph.ID]bool{}}
	var all []graph.ID
	for _, id := range r.World() {
		node, err := v.Resolve(context.Background(), id)
		if err != nil {
			t.Fatal(err)
		}
		if !node.IsColumn() && node.Kind() == graph.DataStoreKind {
			all = append(all, node)
		}
		if id.Kind() == graph.ProcessKind {
			for _, origin := range worldOrigins {
				all = append(all, id.Hub(origin))
			}
		}
	}
	slices.SortFunc(all, graph.ID.Compare)
	all = slices.Compact(all)
	note := func(id graph.ID) {
		if id.IsColumn() {
			if ref.columns[id.Base()] == nil {
				ref.columns[id.Base()] = map[graph.ID]bool{}
			}
			ref.columns[id.Base()][id] = true
		}
	}
	collect := func(ask graph.Ask) {
		ask.Dir, ask.Kinds = dir, graph.AllKinds&^graph.Control
		if _, err := v.Flows(context.Background(), all, ask, func(fs []graph.Flow) error {
			for _, f := range fs {
				note(f.From)
				note(f.To)
				ref.flows[f.From] = append(ref.flows[f.From], f)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	if g == graph.Columns {
		collect(graph.Ask{Layer: graph.ColumnLayer, Whole: true})
	}
	collect(graph.Ask{Layer: graph.TableLayer, CoarseOnly: g == graph.Columns})
	return ref
}

// hops lists the nodes one hop from the rows of an id, hubs walked through.
func (r *reference) hops(id graph.ID) map[graph.ID]bool {
	far := map[graph.ID]bool{}
	for _, f := range r.flows[id] {
		if !f.To.IsHub() {
			far[f.To] = true
			continue
		}
		for _, out := range r.flows[f.To] {
			far[out.To] = true
		}
	}
	return far
}

func (r *reference) target(id graph.ID) place {
	return place{id, r.granularity == graph.Columns && !id.IsColumn()}
}

// answer is the nodes with their distances, and the edges, as text.
func (r *reference) answer(root graph.ID, depth int) string {
	dist := map[place]int{r.target(root): 0}
	relax := func(p place, d int) bool {
		if have, ok := dist[p]; ok && have <= d {
			return false
		}
		dist[p] = d
		return true
	}
	for moved := true; moved; {
		moved = false
		for p, d := range maps.Clone(dist) {
			if r.granularity == graph.Columns {
				moved = relax(place{id: p.id.Base()}, d) && (p.id.IsColumn() || p.whole) || moved
				if p.whole {
					for c := range r.columns[p.id] {
						moved = relax(place{id: c}, d) || moved
					}
				}
			}
			if p.whole || d >= depth {
				continue
			}
			for far := range r.hops(p.id) {
				moved = relax(r.target(far), d+1) || moved
			}
		}
	}
	nodes, edges := map[graph.ID]int{root: 0}, map[string]bool{}
	seen := func(id graph.ID, d int) {
		if have, ok := nodes[id]; !ok || d < have {
			nodes[id] = d
		}
	}
	for p, d := range dist {
		if p.whole || d >= depth {
			continue
		}
		for far := range r.hops(p.id) {
			edges[p.id.String()+" "+far.String()] = true
			seen(p.id, d)
			seen(far, dist[r.target(far)])
		}
	}
	return render(nodes, edges)
}

func render(nodes map[graph.ID]int, edges map[string]bool) string {
	var lines []string
	for id, d := range nodes {
		lines = append(lines, fmt.Sprint(id, " at ", d))
	}
	slices.Sort(lines)
	return strings.Join(append(lines, slices.Sorted(maps.Keys(edges))...), "\n")
}

func TestWalkEqualsTheDumbSearch(t *testing.T) {
	compared := 0
	for seed := range uint64(12) {
		r := NewRandom(1000 + seed)
		m := NewModel("local")
		for range 25 {
			Feed(t, m, r.Delta())
		}
		v, err := m.View(context.Background(), graph.At{})
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range []graph.Granularity{graph.DataStores, graph.Columns} {
			for _, dir := range []graph.Direction{graph.Upstream, graph.Downstream} {
				ref := newReference(t, v, r, g, dir)
				for _, id := range r.World() {
					root, err := v.Resolve(context.Background(), id)
					if err != nil {
						t.Fatal(err)
					}
					if id.Kind() != graph.DataStoreKind || g == graph.DataStores && id.IsColumn() {
						continue
					}
					for _, depth := range []int{0, 1, 2, 3, graph.Unlimited} {
						a, err := graph.GetLineage(context.Background(), v, graph.Question{Root: root, Direction: dir, Granularity: g, Depth: depth})
						if err != nil {
							t.Fatal(err)
						}
						nodes, edges := map[graph.ID]int{}, map[string]bool{}
						for _, n := range a.Nodes {
							nodes[n.ID] = max(n.Upstream, n.Downstream)
						}
						for _, e := range a.Edges {
							near, far := e.From, e.To
							if dir == graph.Upstream {
								near, far = far, near
							}
							edges[near.String()+" "+far.String()] = true
						}
						compared++
						if got, want := render(nodes, edges), ref.answer(root, depth); got != want {
							t.Fatalf("seed %d, granularity %d, direction %d, depth %d, root %s (-dumb +walk):\n%s", seed, g, dir, depth, root, cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")))
						}
					}
				}
			}
		}
		if err := v.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d answers compared", compared)
}

func TestPagesTogetherAreTheWholeAnswer(t *testing.T) {
	compared := 0
	for seed := range uint64(12) {
		r := NewRandom(2000 + seed)
		m := NewModel("local")
		for range 40 {
			Feed(t, m, r.Delta())
		}
		for _, id := range r.World() {
			q := graph.Question{Root: id, Direction: graph.Direction(r.IntN(3)), Granularity: graph.Granularity(r.IntN(3)), Depth: 1 + r.IntN(5), Filter: graph.NodeFilter{PassThrough: true}}
			if r.chance(30) {
				q.Filter.Namespaces = []string{pick(r, worldNamespaces)}
			}
			nodes := func(a *graph.Answer) (lines []string) {
				for _, n := range a.Nodes {
					line := n.ID.String()
					if q.Direction != graph.Both {
						// Of two ways a page may know the farther alone, where a
						// column is found later than the data store that it is in.
						line += fmt.Sprint(n.Distance())
					}
					lines = append(lines, line)
				}
				for _, e := range a.Edges {
					line := fmt.Sprint(e.From, e.To)
					if len(q.Filter.Namespaces) == 0 {
						// An edge through hidden nodes may have more than one way;
						// a page knows those that were found by then.
						line += fmt.Sprint(e.Kinds, e.Coarse, e.Sources)
					}
					lines = append(lines, line)
				}
				return lines
			}
			whole := lineage(t, m, q)
			want := nodes(whole)
			var got []string
			q.Limit = 1 + r.IntN(4)
			for page := 0; ; page++ {
				a := lineage(t, m, q)
				if len(a.Nodes) > q.Limit || len(a.Nodes) == 0 && a.Truncated != nil || page > 1000 {
					t.Fatalf("seed %d: page %d of %+v has %d nodes, %+v", seed, page, q, len(a.Nodes), a.Truncated)
				}
				got = append(got, nodes(a)...)
				if a.Truncated == nil {
					break
				}
				q.After = a.Truncated.After
			}
			slices.Sort(want)
			slices.Sort(got)
			compared++
			if !slices.Equal(want, got) {
				t.Fatalf("seed %d: %+v (-whole +pages):\n%s", seed, q, cmp.Diff(want, got))
			}
		}
	}
	t.Logf("%d answers compared", compared)
}

func TestPathsAreAllTheShortestOnes(t *testing.T) {
	found := 0
	for seed := range uint64(12) {
		r := NewRandom(3000 + seed)
		m := NewModel("local")
		for range 40 {
			Feed(t, m, r.Delta())
		}
		ctx := context.Background()
		v, err := m.View(ctx, graph.At{})
		if err != nil {
			t.Fatal(err)
		}
		ref := newReference(t, v, r, graph.DataStores, graph.Downstream)
		for range 200 {
			from, to := r.Table().ID(), r.Table().ID()
			got, err := graph.GetPaths(ctx, v, graph.PathQuestion{From: from, To: to, MaxDepth: 20, First: 1000})
			if err != nil {
				t.Fatal(err)
			}
			if from, err = v.Resolve(ctx, from); err != nil {
				t.Fatal(err)
			}
			if to, err = v.Resolve(ctx, to); err != nil {
				t.Fatal(err)
			}
			// Whole generations of paths, until one has arrived.
			var want []string
			for paths := [][]graph.ID{{from}}; len(paths) > 0 && len(want) == 0 && len(paths[0]) <= 21; {
				var longer [][]graph.ID
				for _, p := range paths {
					last := p[len(p)-1]
					if last == to {
						want = append(want, fmt.Sprint(p))
						continue
					}
					for far := range ref.hops(last) {
						if !slices.Contains(p, far) {
							longer = append(longer, append(slices.Clip(p), far))
						}
					}
				}
				paths = longer
			}
			var have []string
			for _, p := range got.Paths {
				have = append(have, fmt.Sprint(p))
			}
			slices.Sort(want)
			slices.Sort(have)
			found += len(want)
			if !slices.Equal(have, want) || !got.Complete {
				t.Fatalf("seed %d, from %s to %s, complete %v (-dumb +paths):\n%s", seed, from, to, got.Complete, cmp.Diff(want, have))
			}
		}
		if err := v.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d paths", found)
}
