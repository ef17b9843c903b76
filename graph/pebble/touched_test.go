package pebble

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"headwater/graph"
	"headwater/graph/graphtest"
)

// A tracking store notes what is read of its views.
type tracking struct {
	*Store
	t *graph.Touched
}

func (s tracking) View(ctx context.Context, at graph.At) (graph.View, error) {
	v, err := s.Store.View(ctx, at)
	if err != nil {
		return nil, err
	}
	return graph.Track(v, s.t), nil
}

// What was answered before some changes is answered after them, as long as the
// graph says that what was read still holds; and it says so of most answers.
func TestAnAnswerHoldsAsLongAsWhatWasReadForItIsTheSame(t *testing.T) {
	ctx := context.Background()
	held, changed := 0, 0
	for seed := range uint64(30) {
		r := graphtest.NewRandom(seed)
		s := open(t)
		feeder := graphtest.Feeder{Region: "local"}
		feed := func(n int) {
			for range n {
				if err := feeder.Feed(ctx, []graph.Store{s}, r.Delta()); err != nil {
					t.Fatal(err)
				}
			}
		}
		feed(30)
		type asked struct {
			seed   uint64
			answer string
			t      *graph.Touched
		}
		var all []asked
		for round := range 12 {
			for n := range uint64(25) {
				a := asked{seed: seed<<32 | uint64(round)<<16 | n, t: &graph.Touched{}}
				a.answer = answerOf(t, a.seed, tracking{s, a.t})
				if !a.t.All {
					all = append(all, a)
				}
			}
			feed(1 + r.IntN(3))
			v, err := s.View(ctx, graph.At{})
			if err != nil {
				t.Fatal(err)
			}
			now := v.(interface{ Numbers() graph.Numbers }).Numbers().(graph.Lasting)
			kept := all[:0]
			for _, a := range all {
				if !now.Holds(a.t) {
					changed++
					continue
				}
				held++
				kept = append(kept, a)
				if got := answerOf(t, a.seed, s); got != a.answer {
					t.Fatalf("seed %d, round %d: it is said that this holds:\n%s\nbut now it is:\n%s", seed, round, a.answer, got)
				}
			}
			all = kept
			if err := v.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("%d answers held over a change, %d did not", held, changed)
	if held < changed/2 || changed == 0 {
		t.Errorf("%d answers held and %d did not", held, changed)
	}
}

// answerOf asks the question of a seed: what is said of some nodes, or one of
// graphtest's.
func answerOf(t *testing.T, seed uint64, s graph.Store) string {
	t.Helper()
	ctx, r := context.Background(), graphtest.NewRandom(seed)
	if r.IntN(4) > 0 {
		question, answers, err := graphtest.Ask(ctx, r, s)
		if err != nil {
			t.Fatalf("%s: %v", question, err)
		}
		return question + "\n" + answers[0]
	}
	v, err := s.View(ctx, graph.At{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = v.Close() }()
	var lines []string
	if _, err := v.Nodes(ctx, []graph.ID{r.Any(), r.Any()}, graph.WantColumns, func(n graph.Node) error {
		column := n.Column
		n.Column = nil
		lines = append(lines, fmt.Sprintf("%+v column %+v", n, column))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Says(ctx, []graph.ID{r.Any()}, func(said graph.Said) error {
		if said.Content != nil {
			lines = append(lines, fmt.Sprintf("%s says %q since %d", said.Record.Origin, graph.AppendContent(nil, said.Content), said.From))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
