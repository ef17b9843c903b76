package graphtest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"headwater/graph"
)

// held is a Reader of one state.
type held struct{ v graph.View }

// View implements graph.Reader, of now alone.
func (h held) View(context.Context, graph.At) (graph.View, error) { return heldView{h.v}, nil }

// A heldView stays open.
type heldView struct{ graph.View }

// Close leaves the view open.
func (heldView) Close() error { return nil }

// Numbers returns the numbers of the view, nil where it has none.
func (h heldView) Numbers() graph.Numbers {
	if n, ok := h.View.(interface{ Numbers() graph.Numbers }); ok {
		return n.Numbers()
	}
	return nil
}

// standsStill holds views, of now and of the past, while batches are applied,
// and asks of each again and again what it was asked first.
func (e *Engine) standsStill(t *testing.T) {
	type asked struct {
		view     graph.View
		question string
		answers  []string
		seed     uint64
	}
	const questions = 8
	for world := range e.Worlds / 4 {
		t.Run(strconv.Itoa(world), func(t *testing.T) {
			t.Parallel()
			w, place := NewWorld(2000+uint64(world)), e.Open(t, e.memory(world))
			var views []asked
			ask := func(a *asked, n uint64) string {
				if n%2 == 0 {
					a.question = "all there is"
					told, err := Tell(t.Context(), a.view, w.World())
					if err != nil {
						t.Fatal(err)
					}
					return told
				}
				question, answers, err := Ask(t.Context(), NewRandom(a.seed+n), held{a.view})
				if err != nil {
					t.Fatalf("%s: %v", question, err)
				}
				a.question = question
				return answers[0]
			}
			release := func(i int) {
				if err := views[i].view.Close(); err != nil {
					t.Error(err)
				}
				views = slices.Delete(views, i, i+1)
			}
			for round := range 30 {
				w.Batches(t, 1+w.IntN(2))
				if err := w.Feed(t.Context(), place.Store()); err != nil {
					t.Fatalf("round %d: %v", round, err)
				}
				for i := range views {
					a := &views[i]
					n := w.IntN(questions)
					if err := differ(fmt.Sprintf("round %d, of a view that %d batches came after: %s", round, len(w.batches)-int(a.view.Marks()["local"].Position), a.question), a.answers[n], ask(a, uint64(n))); err != nil {
						t.Fatal(err)
					}
				}
				if len(views) > 0 && w.chance(40) {
					release(w.IntN(len(views)))
				}
				if len(views) == 0 && w.chance(30) {
					place.Reopen(t, 0)
				}
				if len(views) < 6 && w.chance(60) {
					at := graph.At{}
					if w.chance(50) {
						at.AsOf = time.Unix(0, w.Time())
					}
					v, err := place.Store().View(t.Context(), at)
					if err != nil {
						t.Fatal(err)
					}
					a := asked{view: v, seed: uint64(world)<<32 | uint64(round)<<16}
					for n := range uint64(questions) {
						a.answers = append(a.answers, ask(&a, n))
					}
					views = append(views, a)
				}
			}
			for len(views) > 0 {
				release(0)
			}
		})
	}
}

// A tracking store notes what is read of its views.
type tracking struct {
	graph.Store
	t *graph.Touched
}

func (s tracking) View(ctx context.Context, at graph.At) (graph.View, error) {
	v, err := s.Store.View(ctx, at)
	if err != nil {
		return nil, err
	}
	return graph.Track(v, s.t), nil
}

// holds: what was answered before some changes is answered after them, as long
// as the graph says that what was read still holds; and it says so of most
// answers. Where flows are not in memory nothing is said to hold.
func (e *Engine) holds(t *testing.T) {
	ctx := t.Context()
	held, changed := 0, 0
	worlds := 3 * e.Worlds / 4
	for seed := range uint64(worlds) {
		w, place := NewWorld(seed), e.Open(t, e.OnDisk > 1)
		s := place.Store()
		feed := func(n int) {
			w.Batches(t, n)
			if err := w.Feed(ctx, s); err != nil {
				t.Fatal(err)
			}
		}
		feed(15)
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
			feed(1 + w.IntN(2))
			v, err := s.View(ctx, graph.At{})
			if err != nil {
				t.Fatal(err)
			}
			now, lasting := v.(interface{ Numbers() graph.Numbers }).Numbers().(graph.Lasting)
			if !lasting && len(all) > 0 {
				t.Fatalf("%d answers are said to be told when they hold no more, and nothing tells", len(all))
			}
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
	if e.OnDisk > 1 && (held < changed/2 || changed == 0) {
		t.Errorf("%d answers held and %d did not", held, changed)
	}
}

// answerOf asks the question of a seed: what is said of some nodes, or one of
// Ask's.
func answerOf(t *testing.T, seed uint64, s graph.Store) string {
	t.Helper()
	ctx, r := context.Background(), NewRandom(seed)
	if r.IntN(4) > 0 {
		question, answers, err := Ask(ctx, r, s)
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
