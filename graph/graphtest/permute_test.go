package graphtest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"headwater/graph"
)

// everything is all that readers can see of the world, now and in the past.
func everything(t *rapid.T, m *Model, r *Random) string {
	ctx := context.Background()
	var b strings.Builder
	for _, asOf := range []time.Time{{}, time.Unix(0, r.Now+700e9), time.Unix(0, r.Now+1500e9)} {
		v, err := m.View(ctx, graph.At{AsOf: asOf})
		if err != nil {
			t.Fatal(err)
		}
		ids := r.World()
		text, err := nodesText(ctx, v, ids)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "as of %v\n%s\n", asOf, text)
		for _, id := range ids {
			if id.IsColumn() {
				continue
			}
			for g := graph.DataStores; g <= graph.Processes; g++ {
				text, err := lineageText(ctx, v, graph.Question{Root: id, Direction: graph.Both, Granularity: g, Depth: 1})
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&b, "%s %d\n%s", id, g, text)
			}
		}
		if err := v.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func TestOrderAndRepetitionOfEventsDoNotShow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := NewRandom(rapid.Uint64().Draw(t, "seed"))
		deltas := make([]graph.Delta, rapid.IntRange(2, 25).Draw(t, "deltas"))
		for i := range deltas {
			deltas[i] = r.Delta()
		}
		again := rapid.Permutation(append(deltas[:len(deltas):len(deltas)], rapid.SliceOfN(rapid.SampledFrom(deltas), 0, 5).Draw(t, "repeated")...)).Draw(t, "order")
		feed := func(ds []graph.Delta) string {
			m := NewModel("local")
			f := Feeder{Region: "local"}
			for _, d := range ds {
				if err := f.Feed(context.Background(), []graph.Store{m}, d); err != nil {
					t.Fatal(err)
				}
			}
			return everything(t, m, r)
		}
		if a, b := feed(deltas), feed(again); a != b {
			t.Fatalf("%d deltas in another order (-first +second):\n%s", len(deltas), cmp.Diff(strings.Split(a, "\n"), strings.Split(b, "\n")))
		}
	})
}
