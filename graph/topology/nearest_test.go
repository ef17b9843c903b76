package topology

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"headwater/graph"
)

// pages asks for all pages of a question, and returns them put together.
func pages(t testing.TB, v graph.View, q graph.Question) (nodes []graph.AnswerNode, edges []graph.Edge) {
	t.Helper()
	for page := 0; ; page++ {
		a, err := graph.GetLineage(t.Context(), v, q)
		if err != nil {
			t.Fatal(err)
		}
		if q.Limit > 0 && len(a.Nodes) > q.Limit {
			t.Fatalf("%d nodes on a page of %d", len(a.Nodes), q.Limit)
		}
		nodes, edges = append(nodes, a.Nodes...), append(edges, a.Edges...)
		if a.Truncated == nil {
			return nodes, edges
		}
		if q.After = a.Truncated.After; a.Truncated.Reason != graph.CutLimit || page > 2000 {
			t.Fatalf("page %d of %+v ends with %+v", page, q, a.Truncated)
		}
	}
}

// text is an answer, without order.
func text(nodes []graph.AnswerNode, edges []graph.Edge) []string {
	var lines []string
	for _, n := range nodes {
		lines = append(lines, fmt.Sprintf("%s %d %d", n.ID, n.Upstream, n.Downstream))
	}
	for _, e := range edges {
		lines = append(lines, fmt.Sprintf("%s -> %s %s coarse=%v %v", e.From, e.To, e.Kinds, e.Coarse, e.Sources))
	}
	slices.Sort(lines)
	return lines
}

// missing lists the lines of one answer that another has not.
func missing(a, b []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) }), "\n")
}

func TestPagesPutTogetherAreTheWholeAnswer(t *testing.T) {
	for seed := range uint64(18 / less) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			m, r, top := newMaker(seed, 12+int(seed), 4), newRows(), New()
			top.Tune(3, 4)
			for range 15 {
				k := m.keys[m.IntN(len(m.keys))]
				feed(t, top, r, m.says(k, m.content(k, 5+m.IntN(60))))
			}
			for range int(seed) % 3 * 4 {
				feed(t, top, r, m.link(r))
			}
			if !settled(t, r, m.stores) {
				t.Skip("names without a meaning")
			}
			v := top.View()
			defer v.Release()
			bounded := 0
			for range 60 {
				q := graph.Question{Direction: graph.Direction(m.IntN(2)), Granularity: graph.Granularity(m.IntN(3)), Depth: 1 + m.IntN(4), NodesOnly: m.IntN(4) == 0}
				q.Root = m.pick(slices.Concat(m.stores, m.columns))
				if q.Granularity == graph.Processes && m.IntN(2) == 0 {
					q.Root = m.pick(m.processes)
				}
				if m.IntN(4) == 0 {
					q.Kinds = graph.Identity | graph.Transformation
				}
				if m.IntN(6) == 0 {
					q.Filter.Origins = []string{"a"}
				}
				want := text(pages(t, r.view(), q))
				q.Limit = 1 + m.IntN(6)
				if m.IntN(5) == 0 {
					q.Limit = 1 + m.IntN(len(want))
				}
				got := text(pages(t, over(v, r), q))
				if !slices.Equal(got, want) {
					t.Fatalf("%+v\nonly in pages:\n%s\nonly in the whole:\n%s", q, missing(got, want), missing(want, got))
				}
				if len(want) > q.Limit {
					bounded++
				}
			}
			if bounded < 10 {
				t.Errorf("only %d answers had more than a page", bounded)
			}
		})
	}
}

func TestPagesOfWhatAProcessIsMadeFromAreTheWholeAnswer(t *testing.T) {
	// Many tasks write one hub, each from a data store and columns of its own:
	// the first hop from a task is its own flows among all of them.
	m, r, top := newMaker(1, 1, 1), newRows(), New()
	top.Tune(3, 4)
	hub := storeName(-1)
	const tasks = 20
	for i := range tasks {
		from, subject := storeName(i), processName(i).ID()
		rows := map[graph.Row][]graph.Target{}
		m.flow(rows, graph.TableLayer, from.ID(), hub.ID(), graph.Identity, false)
		m.flow(rows, graph.ColumnLayer, from.Of("c").ID(), hub.Of("c").ID(), graph.Identity, false)
		m.flow(rows, graph.UseLayer, subject, hub.ID(), 0, false)
		m.flow(rows, graph.UseLayer, from.ID(), subject, 0, false)
		feed(t, top, r, m.says(graph.Key{Subject: subject, Origin: "a"}, rows))
	}
	v := top.View()
	defer v.Release()
	for i := range tasks {
		for _, granularity := range []graph.Granularity{graph.DataStores, graph.Columns} {
			q := graph.Question{Root: processName(i).ID(), Direction: graph.Upstream, Granularity: granularity, Depth: 3}
			want := text(pages(t, r.view(), q))
			q.Limit = 2
			if got := text(pages(t, over(v, r), q)); !slices.Equal(got, want) {
				t.Fatalf("%+v\nonly in pages:\n%s\nonly in the whole:\n%s", q, missing(got, want), missing(want, got))
			}
		}
	}
}

func TestAPageOfAHubReadsAsManyFlowsAsItIsLong(t *testing.T) {
	const n = 20_000
	top, r, hub := New(), newRows(), storeName(-1).ID()
	for i := range n {
		c := appendTo(hub, i, false)
		r.apply(&c)
		top.Change(&c)
	}
	if err := top.Publish(); err != nil {
		t.Fatal(err)
	}
	v := top.View()
	defer v.Release()
	h, _ := v.Handle(hub)
	bound := graph.Bound{Enough: 11, IsKnown: func(graph.Handle) bool { return false }}
	flows := 0
	err := hops(t, v, h, &bound, func(graph.Hop) { flows++ })
	if err != nil || !bound.Met || flows != 11 {
		t.Errorf("of %d flows, %d were read for 11; met %v, %v", n, flows, bound.Met, err)
	}
	// From somewhere in the middle, with one that is known before it.
	all := make([]graph.ID, n)
	for i := range all {
		all[i] = storeName(i).ID()
	}
	slices.SortFunc(all, graph.ID.Compare)
	known, _ := v.Handle(all[17])
	bound = graph.Bound{From: all[9000], Enough: 3, Known: []graph.Handle{known}, IsKnown: func(h graph.Handle) bool { return h == known }}
	var got []graph.ID
	err = hops(t, v, h, &bound, func(hop graph.Hop) { got = append(got, v.ID(hop.To)) })
	// The first is of From's own data store, and does not count.
	if want := append(slices.Clone(all[9000:9004]), all[17]); err != nil || !slices.Equal(got, want) {
		t.Errorf("got %d flows, want %d; %v", len(got), len(want), err)
	}
	// Where there are fewer than enough, all come.
	bound = graph.Bound{From: all[n-2], Enough: 3, IsKnown: func(graph.Handle) bool { return false }}
	flows = 0
	if err = hops(t, v, h, &bound, func(graph.Hop) { flows++ }); err != nil || bound.Met || flows != n {
		t.Errorf("%d flows came, met %v, %v", flows, bound.Met, err)
	}
}

// hops asks for the hops upstream of a data store.
func hops(t testing.TB, v *View, from graph.Handle, bound *graph.Bound, f func(graph.Hop)) error {
	ask := graph.Ask{Layer: graph.TableLayer, Dir: graph.Upstream}
	_, err := v.Hops(t.Context(), []graph.Handle{from}, &ask, bound, graph.Emit{Hops: func(hops []graph.Hop) error {
		for _, hop := range hops {
			f(hop)
		}
		return nil
	}})
	return err
}
