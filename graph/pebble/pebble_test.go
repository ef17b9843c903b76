package pebble

import (
	"context"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"headwater/graph"
	"headwater/graph/graphtest"
)

func open(t testing.TB) *Store { return openWith(t, 8<<20) }

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
				stores := []graph.Store{graphtest.NewModel("local"), open(t)}
				feeder := graphtest.Feeder{Region: "local"}
				for range rounds {
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
