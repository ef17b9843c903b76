package api

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

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
