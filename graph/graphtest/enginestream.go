package graphtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"headwater/graph"
)

// kept says what a store has of its stream from a sequence on, and its bounds.
func kept(t *testing.T, s Kept, from uint64) string {
	t.Helper()
	first, last, err := s.StreamBounds(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("[%d %d]", first, last)
	for e, err := range s.Stream(context.Background(), from) {
		if err != nil {
			t.Fatal(err)
		}
		text += fmt.Sprintf(" %d=%s", e.Sequence, e.Value)
	}
	return text
}

func batchOf(position uint64, sequences ...uint64) graph.Batch {
	b := graph.Batch{Region: "local", Mark: graph.Mark{Position: position, Revision: position}}
	for _, n := range sequences {
		b.Stream = append(b.Stream, graph.StreamEntry{Sequence: n, Value: fmt.Appendf(nil, "v%d", n)})
	}
	return b
}

func (e *Engine) stream(t *testing.T) {
	for name, s := range map[string]Kept{"model": NewModel("local"), "engine": e.Open(t, true).Store()} {
		apply := func(b graph.Batch) {
			t.Helper()
			if err := s.Apply(context.Background(), b); err != nil {
				t.Fatal(err)
			}
		}
		check := func(from uint64, want string) {
			t.Helper()
			if got := kept(t, s, from); got != want {
				t.Errorf("%s from %d: %s, want %s", name, from, got, want)
			}
		}
		trim := func(through uint64) {
			t.Helper()
			if err := s.TrimStream(context.Background(), through); err != nil {
				t.Fatal(err)
			}
		}
		check(0, "[0 0]")
		apply(batchOf(1))
		check(0, "[0 0]")
		apply(batchOf(2, 5, 6))
		apply(batchOf(2, 7)) // applied already
		apply(batchOf(3, 7, 8, 9))
		check(0, "[5 9] 5=v5 6=v6 7=v7 8=v8 9=v9")
		check(8, "[5 9] 8=v8 9=v9")
		check(10, "[5 9]")
		trim(4)
		check(0, "[5 9] 5=v5 6=v6 7=v7 8=v8 9=v9")
		trim(7)
		check(6, "[8 9] 8=v8 9=v9")
		for e := range s.Stream(context.Background(), 8) {
			if e.Sequence != 8 {
				t.Errorf("%s: %d came first", name, e.Sequence)
			}
			break
		}
		trim(9)
		check(0, "[0 0]")
	}
}

func (e *Engine) streamAfterCrash(t *testing.T) {
	const batches = 60
	for seed := range uint64(max(e.Worlds/4, 1)) {
		random := rand.New(rand.NewPCG(seed, 1))
		place := e.Open(t, false)
		crashAt := 1 + uint64(random.IntN(batches))
		for i := range crashAt {
			b := batchOf(i+1, i+1)
			b.Stream[0].Value = make([]byte, 32<<10)
			if err := place.Store().Apply(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
		place.Crash(t, random)
		mark, err := place.Store().Applied(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_, last, err := place.Store().StreamBounds(t.Context())
		if err != nil || mark.Position != last || last > crashAt {
			t.Errorf("seed %d: %v: the graph is at %d, the stream at %d, it crashed at %d", seed, err, mark.Position, last, crashAt)
		}
	}
}

func (e *Engine) revisions(t *testing.T) {
	place := e.Open(t, true)
	name := func(kind graph.Kind, n string) graph.Name {
		return graph.Name{Kind: kind, Region: "local", Namespace: "ns", Name: n}
	}
	for i := range 3 {
		d := graph.Delta{Subject: name(graph.ProcessKind, fmt.Sprint("job", i)), Origin: "openlineage", Run: "r", State: graph.Completed, Time: 1}
		d.Says.Reads = []graph.Dataset{{Name: name(graph.DataStoreKind, "in")}}
		d.Says.Writes = []graph.Dataset{{Name: name(graph.DataStoreKind, fmt.Sprint("out", i))}}
		again := d
		again.Run, again.Time = "r2", 2 // unchanged: no entry
		Feed(t, place.Store(), d, again)
	}
	got := place.Revisions(t, 1)
	if len(got) != 2 {
		t.Fatalf("%d entries after revision 1, want 2: %+v", len(got), got)
	}
	for i, c := range got {
		out := name(graph.DataStoreKind, fmt.Sprint("out", i+1)).ID()
		if c.Revision != uint64(i+2) || c.Position != uint64(i+2) || c.By.Subject != name(graph.ProcessKind, fmt.Sprint("job", i+1)).ID() || !slices.Contains(c.Nodes, out) {
			t.Errorf("entry %+v is not of job%d, which writes %s", c, i+1, out)
		}
	}
}
