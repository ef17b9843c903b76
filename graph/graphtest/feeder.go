package graphtest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"testing"

	"headwater/graph"
)

// A Feeder plans deltas and applies them to stores, as a region does, without
// a log.
type Feeder struct {
	Region   string
	position uint64
	revision uint64
}

// Feed plans the deltas as one batch against each store and applies it.
func (f *Feeder) Feed(ctx context.Context, stores []graph.Store, deltas ...graph.Delta) error {
	revision := uint64(math.MaxUint64)
	f.position++
	for _, store := range stores {
		b := graph.Batch{Region: f.Region, Mark: graph.Mark{Position: f.position, Revision: f.revision}}
		s := graph.NewState()
		for i := range deltas {
			p, err := graph.LoadAndPlan(ctx, store, s, &deltas[i])
			if err != nil {
				return err
			}
			b.Add(p)
		}
		if revision != math.MaxUint64 && b.Mark.Revision != revision {
			return fmt.Errorf("stores disagree on the revision after %d batches: %d and %d", f.position, revision, b.Mark.Revision)
		}
		revision = b.Mark.Revision
		if err := store.Apply(ctx, b); err != nil {
			return err
		}
	}
	f.revision = revision
	return nil
}

// Feed gives deltas to a new store and fails the test if it can't.
func Feed(t testing.TB, store graph.Store, deltas ...graph.Delta) {
	t.Helper()
	mark, err := store.Applied(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	f := Feeder{Region: cmp.Or(deltas[0].Subject.Region, "local"), position: mark.Position, revision: mark.Revision}
	if err := f.Feed(context.Background(), []graph.Store{store}, deltas...); err != nil {
		t.Fatal(err)
	}
}
