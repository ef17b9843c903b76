package nebula

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"headwater/graph"
	"headwater/graph/graphtest"
	"headwater/graph/nebula/standin"
)

// The ways in which a statement goes wrong: those that are answered, or cut,
// and those that let the client wait, and may have their effect later.
var (
	atOnce = []standin.How{standin.Refuse, standin.Cut, standin.CutAfter, standin.Half}
	late   = []standin.How{standin.Late, standin.Hang, standin.Torn}
)

// Every k-th statement goes wrong, in one way after the other. Most are sent
// again and succeed; where they go wrong as often as they are sent, a batch
// can't be applied, and another one is tried, as after a crash now and then.
// Meanwhile a view that was taken before answers as it did, and so does a new
// one until a batch is applied.
func TestABatchIsAppliedWholeOrNotAtAllWhateverGoesWrong(t *testing.T) {
	for k := 2; k <= 20; k++ {
		t.Run(fmt.Sprintf("at once, every %d", k), func(t *testing.T) {
			t.Parallel()
			testFaults(t, atOnce, k, 12, func(o *Options) { o.Tries = 2 })
		})
		t.Run(fmt.Sprintf("late, every %d", k), func(t *testing.T) {
			t.Parallel()
			testFaults(t, late, k, 6, func(o *Options) { o.Tries, o.hold = 2, time.Hour })
		})
	}
}

// patience is how long a statement may take while some hang.
const patience = 200 * time.Millisecond

func testFaults(t *testing.T, hows []standin.How, k, rounds int, change func(*Options)) {
	if raceEnabled {
		rounds = (rounds + 1) / 2
	}
	names := []string{"topology", "cache", "neither"}
	p := openStandIn(t, modes[names[k%len(names)]], change)
	t.Cleanup(func() { p.server.Fail(nil); p.server.Release() })
	w := graphtest.NewWorld(uint64(k))
	w.Batches(t, 5)
	if err := w.Feed(t.Context(), p.s); err != nil {
		t.Fatal(err)
	}
	failed, crashes := 0, 0
	for round := range rounds {
		seed := uint64(k)<<32 | uint64(round)<<16
		before := question(t, seed, p.s)
		held, err := p.s.View(t.Context(), graph.At{})
		if err != nil {
			t.Fatal(err)
		}
		w.Batches(t, 1+w.IntN(3))
		how := hows[(round+k)%len(hows)]
		for attempt := 0; ; attempt++ {
			// Two in a row, for each is tried twice; ever fewer, so that it ends.
			every := uint64(k + attempt)
			p.server.Fail(func(n uint64, _ string) standin.Fault {
				if n%(every+1) <= uint64((attempt+1)%2) {
					return standin.Fault{How: how}
				}
				return standin.Fault{}
			})
			mark, err := p.s.Applied(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			calm := p.o.Timeout
			if how == standin.Late || how == standin.Hang || how == standin.Torn {
				p.s.e.o.Timeout = patience
			}
			err = w.Feed(t.Context(), p.s)
			p.server.Fail(nil)
			p.s.e.o.Timeout = calm
			settled := err != nil && strings.Contains(err.Error(), "deletion may come yet")
			if settled || w.IntN(2) == 0 {
				p.server.Release()
			}
			if err == nil {
				break
			}
			if settled { // time has passed, and all that was late has come
				p.s.e.settles = time.Time{}
				p.s.e.closed.settle()
			}
			failed++
			if !errors.Is(err, graph.ErrUnavailable) {
				t.Fatalf("round %d: %v", round, err)
			}
			if now, _ := p.s.Applied(t.Context()); attempt == 0 && now == mark && !w.Fed(now) {
				if got := question(t, seed, p.s); got != before {
					t.Fatalf("round %d: after %v:\n%s\nbut before it:\n%s", round, err, got, before)
				}
			}
			if w.IntN(4) == 0 {
				crashes++
				if err := held.Close(); err != nil {
					t.Fatal(err)
				}
				p.Crash(t, w.Rand)
				if held, err = p.s.View(t.Context(), graph.At{}); err != nil {
					t.Fatal(err)
				}
				before = question(t, seed, p.s)
			}
		}
		if got := question(t, seed, heldReader{held}); got != before {
			t.Fatalf("round %d: a view that was taken before the batch:\n%s\nbut it said:\n%s", round, got, before)
		}
		if err := held.Close(); err != nil {
			t.Fatal(err)
		}
		for range 4 {
			if err := w.Ask(t.Context(), p.s); err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
		}
	}
	p.server.Release()
	p.Reopen(t, 2)
	if err := graphtest.SameFlows(t.Context(), p.s, w.Model); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d batches failed, %d crashes", failed, crashes)
}

// settle notes that no deletion comes any more.
func (c *closed) settle() {
	for k, h := range c.rows {
		h.tried = false
		c.rows[k] = h
	}
}

// A heldReader is a Reader of one view.
type heldReader struct{ v graph.View }

func (h heldReader) View(context.Context, graph.At) (graph.View, error) { return openView{h.v}, nil }

// An openView stays open.
type openView struct{ graph.View }

func (openView) Close() error { return nil }

func (v openView) Numbers() graph.Numbers {
	return v.View.(interface{ Numbers() graph.Numbers }).Numbers()
}

// question asks the questions of a seed, of now.
func question(t *testing.T, seed uint64, r graph.Reader) string {
	t.Helper()
	text, err := questionOf(t.Context(), seed, r)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func questionOf(ctx context.Context, seed uint64, r graph.Reader) (string, error) {
	text := ""
	for i := range uint64(4) {
		q, a, err := graphtest.Ask(ctx, graphtest.NewRandom(seed+i), nowReader{r})
		if err != nil {
			return "", fmt.Errorf("%s: %w", q, err)
		}
		text += q + "\n" + a[0] + "\n"
	}
	return text, nil
}

// A nowReader reads now, whatever is asked for.
type nowReader struct{ graph.Reader }

func (r nowReader) View(ctx context.Context, _ graph.At) (graph.View, error) {
	return r.Reader.View(ctx, graph.At{})
}
