package bustest

import (
	"context"
	"errors"
	"testing"
	"time"

	"headwater/graph"
	"headwater/region/bus"
)

// errEnough ends a following from inside.
var errEnough = errors.New("enough")

// patience is how long a test waits for what must come.
const patience = 30 * time.Second

// A follower keeps what a stream told it.
type follower struct {
	t      testing.TB
	stream bus.Stream
	filter bus.Filter

	cursor  bus.Cursor
	mark    graph.Mark
	entries []bus.Entry // since the last snapshot
	names   map[graph.Name]bool
	// snapshots and duplicates count.
	snapshots, duplicates int
}

func newFollower(t testing.TB, s bus.Stream, f bus.Filter) *follower {
	return &follower{t: t, stream: s, filter: f, names: map[graph.Name]bool{}}
}

// until follows from the cursor until enough says so of what it has taken in.
// It returns what ended it before.
func (w *follower) until(enough func() bool) error {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err := w.follow(ctx, enough)
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

func (w *follower) follow(ctx context.Context, enough func() bool) error {
	return w.stream.Follow(ctx, w.cursor, w.filter, func(entries []bus.Entry) error {
		for i := range entries {
			w.take(&entries[i])
			if enough() {
				return errEnough
			}
		}
		return nil
	})
}

// take takes in an entry, which must be one that may come.
func (w *follower) take(e *bus.Entry) {
	verdict := bus.Check(w.cursor, e, w.filter.All)
	switch verdict {
	case bus.Next:
		w.cursor, w.mark = e.Cursor(), e.Mark
		w.entries = append(w.entries, *e)
		for _, n := range e.Names {
			w.names[n] = true
		}
	case bus.Duplicate:
		w.duplicates++
	case bus.Beat:
		w.mark = e.Mark
	default:
		w.t.Errorf("behind %s came %s: %s", w.cursor, e.Cursor(), verdict)
	}
}

// snapshot begins anew.
func (w *follower) snapshot() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	w.names, w.entries = map[graph.Name]bool{}, nil
	w.snapshots++
	c, err := w.stream.Snapshot(ctx, w.filter, func(names []graph.Name) error {
		for _, n := range names {
			w.names[n] = true
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.cursor = c
}

// through follows until a sequence; a cursor that does not fit is an error.
func (w *follower) through(sequence uint64) {
	w.t.Helper()
	if w.cursor.Sequence >= sequence {
		return
	}
	if err := w.until(func() bool { return w.cursor.Sequence >= sequence }); err != nil {
		w.t.Fatalf("follow until %d: at %s: %v", sequence, w.cursor, err)
	}
}

// sync follows until the stream is at a cursor, as a gateway does: with a
// snapshot where its own cursor does not fit.
func (w *follower) sync(to bus.Cursor) {
	w.t.Helper()
	deadline := time.Now().Add(patience)
	for w.cursor != to && time.Now().Before(deadline) {
		err := w.until(func() bool { return w.cursor == to })
		switch {
		case errors.Is(err, bus.ErrExpired), errors.Is(err, bus.ErrDiverged):
			w.snapshot()
		case err != nil:
			w.t.Logf("%v; again", err)
		}
	}
	if w.cursor != to {
		w.t.Fatalf("at %s, want %s", w.cursor, to)
	}
}
