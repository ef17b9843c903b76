package pebble

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"headwater/graph"
	"headwater/graph/graphtest"
)

func open(t testing.TB) *Store { return openWith(t, 8<<20) }

// openIn opens a store of short lists that count as long.
func openIn(t testing.TB, dir string, o Options) *Store {
	t.Helper()
	o.Region, o.CacheBytes, o.FactsBytes = "local", 8<<20, 1<<20
	s, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	if s.topology != nil {
		s.topology.Tune(3, 4)
	}
	return s
}

// A reopened store is closed and opened again now and then.
type reopened struct {
	*Store
	old []byte // an earlier checkpoint
}

func (r *reopened) close(t testing.TB) {
	t.Helper()
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// reopen opens the store with the checkpoint that was just written, with an
// older one, with none, or with a damaged one.
func (r *reopened) reopen(t testing.TB, how int) {
	t.Helper()
	r.close(t)
	name := filepath.Join(r.dir, checkpointName)
	b, err := os.ReadFile(name)
	if err != nil && !r.o.OnDisk {
		t.Fatal(err)
	}
	old := r.old
	switch {
	case r.old == nil || how == 0:
		r.old, old = b, b
	case how == 2:
		old = nil
	case how == 3:
		old = slices.Clone(b)
		old[len(old)/2] ^= 1
	}
	if !r.o.OnDisk {
		if err := os.WriteFile(name, old, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r.Store = openIn(t, r.dir, Options{OnDisk: r.o.OnDisk})
}

func openWith(t testing.TB, cache int64) *Store {
	t.Helper()
	s, err := Open(t.TempDir(), Options{Region: "local", CacheBytes: cache})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestEngineAnswersAsTheModelDoes(t *testing.T) {
	const worlds, rounds = 40, 125
	var operations, questions atomic.Int64
	t.Run("worlds", func(t *testing.T) {
		for world := range worlds {
			t.Run(strconv.Itoa(world), func(t *testing.T) {
				t.Parallel()
				r := graphtest.NewRandom(uint64(world))
				engine := &reopened{Store: openIn(t, t.TempDir(), Options{OnDisk: world%4 == 3})}
				t.Cleanup(func() { engine.close(t) })
				stores := []graph.Store{graphtest.NewModel("local"), engine}
				feeder := graphtest.Feeder{Region: "local"}
				for round := range rounds {
					if round%20 == 19 {
						engine.reopen(t, (world+round/20)%4)
					}
					var batch []graph.Delta
					for range 1 + r.IntN(3) {
						batch = append(batch, r.Delta())
					}
					operations.Add(int64(len(batch)))
					if err := feeder.Feed(context.Background(), stores, batch...); err != nil {
						t.Fatal(err)
					}
					for range 2 {
						q, a, err := graphtest.Ask(context.Background(), r, stores...)
						if err != nil {
							t.Fatal(err)
						}
						questions.Add(1)
						if a[0] != a[1] {
							t.Fatalf("%s\n(-model +engine):\n%s", q, cmp.Diff(strings.Split(a[0], "\n"), strings.Split(a[1], "\n")))
						}
					}
				}
			})
		}
	})
	t.Logf("%d operations, %d questions", operations.Load(), questions.Load())
}
