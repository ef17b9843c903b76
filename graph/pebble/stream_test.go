package pebble

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"headwater/graph"
	"headwater/graph/graphtest"
)

// A keeper is a store that keeps the region's change stream.
type keeper interface {
	graph.Store
	Stream(ctx context.Context, from uint64) iter.Seq2[graph.StreamEntry, error]
	StreamBounds(ctx context.Context) (first, last uint64, err error)
	TrimStream(ctx context.Context, through uint64) error
}

// kept says what a store has from a sequence on, and its bounds.
func kept(t *testing.T, s keeper, from uint64) string {
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

func TestEntriesOfTheStreamAreKeptUntilTheyAreTrimmed(t *testing.T) {
	for name, s := range map[string]keeper{"model": graphtest.NewModel("local"), "pebble": open(t)} {
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

func TestStreamIsAsFarAsTheGraphAfterACrash(t *testing.T) {
	const batches = 60
	for seed := range uint64(10) {
		fs := vfs.NewCrashableMem()
		s := openIn(t, "data", Options{FS: fs, MemTableBytes: 256 << 10, OnDisk: true})
		random := rand.New(rand.NewPCG(seed, 1))
		var crashed *vfs.MemFS
		crashAt := uint64(random.IntN(batches))
		for i := range uint64(batches) {
			b := batchOf(i+1, i+1)
			b.Stream[0].Value = make([]byte, 32<<10)
			if err := s.Apply(context.Background(), b); err != nil {
				t.Fatal(err)
			}
			if i == crashAt {
				crashed = fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: random.IntN(101), RNG: random})
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		again := openIn(t, "data", Options{FS: crashed, OnDisk: true})
		mark, err := again.Applied(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		_, last, err := again.StreamBounds(context.Background())
		if err != nil || mark.Position != last || last > crashAt+1 {
			t.Errorf("seed %d: %v: the graph is at %d, the stream at %d, it crashed at %d", seed, err, mark.Position, last, crashAt+1)
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
