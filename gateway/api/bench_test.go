package api

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"headwater/graph"
	"headwater/graph/graphtest"
)

// A discarding writer takes a response and keeps its size.
type discarding struct {
	header http.Header
	size   int
}

func (d *discarding) Header() http.Header         { return d.header }
func (d *discarding) WriteHeader(int)             {}
func (d *discarding) Write(b []byte) (int, error) { d.size += len(b); return len(b), nil }

func BenchmarkLineageOf10000Nodes(b *testing.B) {
	store := graphtest.NewModel("eu")
	graphtest.Feed(b, store, star(10_000)...)
	h, err := New(Options{Reader: store})
	if err != nil {
		b.Fatal(err)
	}
	body, err := json.Marshal(map[string]any{"query": `query($of: NodeRef!) { lineage(of: $of, limit: 20000, direction: DOWNSTREAM) {
		nodes { distance node { id namespace name ... on DataStore { kind platform } } } edges { from to sources { origin process { id } } } complete } }`,
		"variables": map[string]any{"of": ref(table(postgres, "hub"))}})
	if err != nil {
		b.Fatal(err)
	}
	ask := func() {
		r := httptest.NewRequest(http.MethodPost, "/", io.NopCloser(bytes.NewReader(body)))
		r.Header.Set("Content-Type", "application/json")
		w := &discarding{header: http.Header{}}
		h.ServeHTTP(w, r)
		if w.size < 1_000_000 {
			b.Fatalf("%d bytes", w.size)
		}
	}
	ask() // the model derives its rows
	for b.Loop() {
		ask()
	}
}

const warehouseTasks = 3000

// warehouse is a platform whose tables and flows are described as people do.
func warehouse() []graph.Delta {
	p := &graphtest.Platform{Tasks: warehouseTasks, Seed: 3, Region: "eu"}
	var deltas []graph.Delta
	for i := range p.Tasks {
		d := p.Delta(i, 0)
		d.Says.Facts.Owners = []string{"data-platform"}
		d.Says.SQL, d.Says.Dialect = "insert overwrite table … select …", "spark"
		out := &d.Says.Writes[0]
		out.Facts.Kind, out.Facts.Platform = "TABLE", "hive"
		out.Facts.Description = "Filled by " + d.Subject.Name + ", once a night."
		out.Facts.Owners = []string{"data-platform", "finance"}
		out.Facts.Tags = []graph.Tag{{Name: "tier", Value: "2"}, {Name: "pii", Column: out.Facts.Columns[0].Path}}
		for j := range out.Lineage.Columns {
			for k := range out.Lineage.Columns[j].Inputs {
				src := &out.Lineage.Columns[j].Inputs[k]
				src.Expression = "coalesce(" + src.Name.Column + ", 0)"
			}
		}
		deltas = append(deltas, d)
	}
	return deltas
}

// preparedView answers one question at once with what another view said of it
// before, so that what is left is the work of this package.
type preparedView struct {
	graph.View // nil
	answer     *graph.Answer
	nodes      map[graph.ID]graph.Node
	says       map[graph.ID][]graph.Said
}

// prepare asks about the root of which the answer comes nearest to a number
// of nodes.
func prepare(b *testing.B, store graph.Store, granularity graph.Granularity, nodes, edges int) *preparedView {
	b.Helper()
	ctx := context.Background()
	view, err := store.View(ctx, graph.At{})
	if err != nil {
		b.Fatal(err)
	}
	v := &preparedView{answer: &graph.Answer{}, nodes: map[graph.ID]graph.Node{}, says: map[graph.ID][]graph.Said{}}
	far := func(a *graph.Answer) int {
		x, y := len(a.Nodes)-nodes, len(a.Edges)-edges
		return x*x + y*y
	}
	p := &graphtest.Platform{Tasks: warehouseTasks, Seed: 3, Region: "eu"}
	for i := range p.Tasks {
		t := p.Table(i)
		root := graph.Name{Kind: graph.DataStoreKind, Region: "eu", Namespace: t.Namespace, Name: t.Name}
		if granularity == graph.Columns {
			root = root.Of(t.Columns[0])
		}
		a, err := graph.GetLineage(ctx, view, graph.Question{Root: root.ID(), Direction: graph.Both, Granularity: granularity, Depth: 3})
		if err != nil {
			continue // a source that nobody reads
		}
		if far(a) < far(v.answer) {
			v.answer = a
		}
	}
	var ids, subjects []graph.ID
	for _, n := range v.answer.Nodes {
		ids = append(ids, n.ID, n.ID.Base())
	}
	for _, e := range v.answer.Edges {
		for _, s := range e.Sources {
			subjects = append(subjects, s.By.Subject)
		}
	}
	keep := func(n graph.Node) error {
		v.nodes[n.ID] = n
		return nil
	}
	if _, err = view.Nodes(ctx, append(ids, subjects...), 0, keep); err != nil {
		b.Fatal(err)
	}
	if _, err = view.Says(ctx, subjects, func(s graph.Said) error {
		id := s.Record.Subject.ID()
		v.says[id] = append(v.says[id], s)
		return nil
	}); err != nil {
		b.Fatal(err)
	}
	return v
}

func (v *preparedView) Resolve(_ context.Context, id graph.ID) (graph.ID, error) { return id, nil }

func (v *preparedView) Nodes(_ context.Context, ids []graph.ID, _ graph.Want, emit func(graph.Node) error) ([]graph.Gap, error) {
	for _, id := range ids {
		if n, ok := v.nodes[id]; ok {
			if err := emit(n); err != nil {
				return nil, err
			}
		}
	}
	return nil, nil
}

func (v *preparedView) Says(_ context.Context, ids []graph.ID, emit func(graph.Said) error) ([]graph.Gap, error) {
	for _, id := range ids {
		for _, s := range v.says[id] {
			if err := emit(s); err != nil {
				return nil, err
			}
		}
	}
	return nil, nil
}

func (v *preparedView) Marks() map[string]graph.Mark { return v.answer.Marks }

func (v *preparedView) Close() error { return nil }

// preparedReader is a reader of one view.
type preparedReader struct{ view graph.View }

func (r preparedReader) View(context.Context, graph.At) (graph.View, error) { return r.view, nil }

// BenchmarkAnswers asks for prepared lineage over HTTP, by eight clients that
// keep their connections.
func BenchmarkAnswers(b *testing.B) {
	queries := []struct {
		name        string
		granularity graph.Granularity
		view        *preparedView
	}{{name: "lineage_names", granularity: graph.Columns}, {name: "lineage_all", granularity: graph.Columns}, {name: "lineage_ids", granularity: graph.DataStores}}
	store := graphtest.NewModel("eu")
	graphtest.Feed(b, store, warehouse()...)
	for i := range queries {
		queries[i].view = prepare(b, store, queries[i].granularity, 200, 300)
	}
	for _, q := range queries {
		b.Run(q.name, func(b *testing.B) {
			query, err := os.ReadFile(filepath.Join("../../cmd/headwater/bench/queries", q.name+".graphql"))
			if err != nil {
				b.Fatal(err)
			}
			a := newAPI(Options{Reader: preparedReader{q.view}}.withDefaults(), func(context.Context, graph.View, graph.Question) (*graph.Answer, error) { return q.view.answer, nil })
			srv := httptest.NewServer(a)
			defer srv.Close()
			body, err := json.Marshal(map[string]any{"query": string(query), "variables": map[string]any{"of": map[string]any{"id": q.view.answer.Root.String()}}})
			if err != nil {
				b.Fatal(err)
			}
			client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
			defer client.CloseIdleConnections()
			ask := func() int64 {
				resp, err := client.Post(srv.URL, "application/json", bytes.NewReader(body))
				if err != nil {
					b.Error(err)
					return 0
				}
				defer resp.Body.Close()
				n, err := io.Copy(io.Discard, resp.Body)
				if err != nil || resp.StatusCode != http.StatusOK || n < 8_000 {
					b.Errorf("status %d, %d bytes, %v", resp.StatusCode, n, err)
				}
				return n
			}
			size := ask()
			b.ReportAllocs()
			b.SetParallelism(max(1, 8/runtime.GOMAXPROCS(0)))
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					ask()
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "answers/s")
			b.ReportMetric(float64(len(q.view.answer.Nodes)), "nodes")
			b.ReportMetric(float64(len(q.view.answer.Edges)), "edges")
			b.ReportMetric(float64(size), "B/answer")
		})
	}
}
