package federation

import (
	"context"
	"fmt"
	"testing"

	"headwater/gateway/border"
	"headwater/gateway/catalog"
	"headwater/graph"
	"headwater/graph/graphtest"
	"headwater/graph/pebble"
)

// BenchmarkLineage asks for 3 hops both ways by column, and for all that is
// known of what is found: of two regions, each with half of a platform, and
// of one store with all of it.
func BenchmarkLineage(b *testing.B) {
	const tasks = 4000
	p := &graphtest.Platform{Tasks: tasks, Seed: 1, Region: "r0"}
	open := func(region string) *pebble.Store {
		s, err := pebble.Open(b.TempDir(), pebble.Options{Region: region})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = s.Close() })
		return s
	}
	single, stores := open("r0"), []*pebble.Store{open("r0"), open("r1")}
	state := catalog.New()
	for i := range stores {
		next, _, err := state.Apply(command(state, catalog.SetRegion{Region: catalog.Region{Name: fmt.Sprint("r", i), Addresses: []string{fmt.Sprint("r", i, ":1")}}}))
		if err != nil {
			b.Fatal(err)
		}
		state = next
	}
	for _, ns := range graphtest.PlatformNamespaces() {
		next, _, err := state.Apply(command(state, catalog.SetNamespaceRule{NamespaceRule: catalog.NamespaceRule{Namespace: ns, Region: "r0"}}))
		if err != nil {
			b.Fatal(err)
		}
		state = next
	}
	index := border.New(state)
	var deltas [2][]graph.Delta
	var all []graph.Delta
	for i := range tasks {
		all = append(all, p.Delta(i, 0))
		q := *p
		which := i * 2 / tasks
		q.Region = fmt.Sprint("r", which)
		deltas[which] = append(deltas[which], q.Delta(i, 0))
	}
	feed := func(s *pebble.Store, list []graph.Delta) {
		for from := 0; from < len(list); from += 500 {
			graphtest.Feed(b, s, list[from:min(len(list), from+500)]...)
		}
	}
	feed(single, all)
	var regions []Region
	for i, s := range stores {
		feed(s, deltas[i])
		for n := range s.Names(context.Background()) {
			index.Add(n)
		}
		regions = append(regions, Region{Name: fmt.Sprint("r", i), Reader: s})
	}
	f, err := New(Options{Regions: func() []Region { return regions }, Names: func() *border.Index { return index }})
	if err != nil {
		b.Fatal(err)
	}
	for name, reader := range map[string]graph.Reader{"regions": f, "one": single} {
		b.Run(name, func(b *testing.B) {
			nodes := 0
			for i := 0; b.Loop(); i++ {
				t := p.Table((i * 7919) % tasks)
				root := graph.Name{Kind: graph.DataStoreKind, Region: "r0", Namespace: t.Namespace, Name: t.Name}
				v, err := reader.View(b.Context(), graph.At{})
				if err != nil {
					b.Fatal(err)
				}
				q := graph.Question{Root: root.ID(), Direction: graph.Both, Granularity: graph.Columns, Depth: 3, Limit: 1000}
				if e, ok := v.(graph.Expecting); ok {
					leg := q.Leg()
					leg.Details = true
					e.Expect(leg, nil, []graph.Name{root})
				}
				if _, err := v.Nodes(b.Context(), []graph.ID{root.ID()}, 0, func(graph.Node) error { return nil }); err != nil {
					b.Fatal(err)
				}
				a, err := graph.GetLineage(b.Context(), v, q)
				if err != nil {
					b.Fatal(err)
				}
				var ids []graph.ID
				for _, n := range a.Nodes {
					ids = append(ids, n.ID)
				}
				if _, err := v.Nodes(b.Context(), ids, 0, func(graph.Node) error { return nil }); err != nil {
					b.Fatal(err)
				}
				nodes += len(a.Nodes)
				if err := v.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(nodes)/float64(b.N), "nodes/op")
		})
	}
}
