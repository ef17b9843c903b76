package graphtest

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"headwater/graph"
)

// A Kept is a store that keeps the region's change stream.
type Kept interface {
	graph.Store
	Stream(ctx context.Context, from uint64) iter.Seq2[graph.StreamEntry, error]
	StreamBounds(ctx context.Context) (first, last uint64, err error)
	TrimStream(ctx context.Context, through uint64) error
}

// A Place is where a store is kept. Its methods fail the test themselves.
type Place interface {
	// Store returns the store that is open.
	Store() Kept
	// Reopen closes the store and opens it again. What is kept beside, to open
	// faster, is then what it was (0) or is older (1), gone (2) or damaged (3).
	Reopen(t testing.TB, how int)
	// Crash opens the store again as a crash may leave it: what was not durable
	// may be lost.
	Crash(t testing.TB, r *rand.Rand)
	// Revisions lists which nodes each revision touched, after one.
	Revisions(t testing.TB, after uint64) []Revision
}

// A Revision is what a store tells of one of its changes.
type Revision struct {
	Revision, Position uint64
	By                 graph.Key
	Nodes              []graph.ID
}

// An Engine is what the suite knows of an engine.
type Engine struct {
	// Open opens a new store of region "local", for the time of the test. Its
	// flows are kept in memory, or are not.
	Open func(t testing.TB, memory bool) Place
	// Worlds is of how many worlds questions are asked, Rounds how often each
	// changes and is asked, twice each time. Default: 40 and 125.
	Worlds, Rounds int
	// OnDisk is how many of the worlds have no flows in memory: every so many.
	// Default: 4; 1 is all.
	OnDisk int
}

// Run runs the suite on the engine: what every engine must do.
func (e Engine) Run(t *testing.T) {
	e.Worlds, e.Rounds, e.OnDisk = cmp.Or(e.Worlds, 40), cmp.Or(e.Rounds, 125), cmp.Or(e.OnDisk, 4)
	t.Run("AnswersAsTheModelDoes", e.answers)
	t.Run("AViewStandsStill", e.standsStill)
	t.Run("AfterACrash", e.crashes)
	t.Run("AnAnswerHolds", e.holds)
	t.Run("TheStreamIsKeptUntilItIsTrimmed", e.stream)
	t.Run("TheStreamIsAsFarAsTheGraph", e.streamAfterCrash)
	t.Run("RevisionsTellWhichNodesTheyTouched", e.revisions)
}

// memory reports whether a world has its flows in memory.
func (e *Engine) memory(world int) bool { return world%e.OnDisk != e.OnDisk-1 }

// A World is a history of batches that a store is brought after, and a model
// of it.
type World struct {
	*Random
	Model   *Model
	batches [][]graph.Delta
	feeder  Feeder
}

// NewWorld returns an empty world.
func NewWorld(seed uint64) *World {
	return &World{Random: NewRandom(seed), Model: NewModel("local"), feeder: Feeder{Region: "local"}}
}

// Batches makes so many batches and applies them to the model.
func (w *World) Batches(t testing.TB, n int) {
	t.Helper()
	for range n {
		var batch []graph.Delta
		for range 1 + w.IntN(3) {
			batch = append(batch, w.Delta())
		}
		w.batches = append(w.batches, batch)
		if err := w.feeder.Feed(context.Background(), []graph.Store{w.Model}, batch...); err != nil {
			t.Fatal(err)
		}
	}
}

// Feed brings a store after the world.
func (w *World) Feed(ctx context.Context, s graph.Store) error {
	for {
		mark, err := s.Applied(ctx)
		if err != nil {
			return err
		}
		if w.Fed(mark) {
			if mark.Revision != w.feeder.revision {
				return fmt.Errorf("the store is at revision %d after %d batches, the model at %d", mark.Revision, mark.Position, w.feeder.revision)
			}
			return nil
		}
		if err := w.FeedSome(ctx, s); err != nil {
			return err
		}
	}
}

// FeedSome applies what follows the mark of a store, as a region does after a
// start: several batches as one now and then.
func (w *World) FeedSome(ctx context.Context, s graph.Store) error {
	mark, err := s.Applied(ctx)
	if err != nil {
		return err
	}
	first := mark.Position
	last := min(first+1+uint64(w.IntN(3)), uint64(len(w.batches)))
	b := graph.Batch{Region: w.Region, Mark: graph.Mark{Position: last, Revision: mark.Revision}}
	state := graph.NewState()
	for _, batch := range w.batches[first:last] {
		for i := range batch {
			p, err := graph.LoadAndPlan(ctx, s, state, &batch[i])
			if err != nil {
				return err
			}
			b.Add(p)
		}
	}
	return s.Apply(ctx, b)
}

// Batch returns the batch of a number, from 0.
func (w *World) Batch(i int) []graph.Delta { return w.batches[i] }

// Fed reports whether a store at a mark has all batches.
func (w *World) Fed(mark graph.Mark) bool { return mark.Position == uint64(len(w.batches)) }

// Ask asks the model and a store the same question and says where the answers
// differ.
func (w *World) Ask(ctx context.Context, s graph.Reader) error {
	question, answers, err := Ask(ctx, w.Random, graph.Reader(w.Model), s)
	if err != nil {
		return err
	}
	return differ(question, answers[0], answers[1])
}

// differ says where two answers to a question do; nil: nowhere.
func differ(question, want, got string) error {
	if got == want {
		return nil
	}
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	line := func(list []string) string {
		if n < len(list) {
			return list[n]
		}
		return "(no more)"
	}
	return fmt.Errorf("%s\nline %d: want %s\ngot %s\nall that is wanted:\n%s\nall that is got:\n%s", question, n+1, line(a), line(b), want, got)
}

func (e *Engine) answers(t *testing.T) {
	var questions atomic.Int64
	t.Run("worlds", func(t *testing.T) {
		for world := range e.Worlds {
			t.Run(strconv.Itoa(world), func(t *testing.T) {
				t.Parallel()
				w, place := NewWorld(uint64(world)), e.Open(t, e.memory(world))
				for round := range e.Rounds {
					if round%20 == 19 {
						place.Reopen(t, (world+round/20)%4)
					}
					w.Batches(t, 1)
					if err := w.Feed(t.Context(), place.Store()); err != nil {
						t.Fatalf("round %d: %v", round, err)
					}
					for range 2 {
						questions.Add(1)
						if err := w.Ask(t.Context(), place.Store()); err != nil {
							t.Fatalf("round %d: %v", round, err)
						}
					}
				}
			})
		}
	})
	t.Logf("%d questions", questions.Load())
}

func (e *Engine) crashes(t *testing.T) {
	for world := range e.Worlds / 4 {
		t.Run(strconv.Itoa(world), func(t *testing.T) {
			t.Parallel()
			w, place := NewWorld(1000+uint64(world)), e.Open(t, e.memory(world))
			lost := uint64(0)
			for round := range 12 {
				w.Batches(t, 1+w.IntN(8))
				if err := w.Feed(t.Context(), place.Store()); err != nil {
					t.Fatalf("round %d: %v", round, err)
				}
				place.Crash(t, w.Rand)
				mark, err := place.Store().Applied(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				lost += uint64(len(w.batches)) - mark.Position
				if err := w.Feed(t.Context(), place.Store()); err != nil {
					t.Fatalf("round %d, from %d: %v", round, mark.Position, err)
				}
				for range 5 {
					if err := w.Ask(t.Context(), place.Store()); err != nil {
						t.Fatalf("round %d, from %d: %v", round, mark.Position, err)
					}
				}
			}
			t.Logf("%d batches, %d applied again", len(w.batches), lost)
		})
	}
}
