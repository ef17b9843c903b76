package bustest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"headwater/graph"
	"headwater/region/bus"
)

// testSnapshot draws what a writer and a gateway do, also while a snapshot is
// under way, and compares what they know in the end.
func testSnapshot(t *testing.T, h Harness) {
	rounds := 0
	rapid.Check(t, func(rt *rapid.T) {
		if rounds++; h.Histories > 0 && rounds > h.Histories {
			return
		}
		r := h.start(t)
		s := h.Serve(t, r)
		defer func() { r.stop() }()
		filter := bus.Filter{All: true}
		if rapid.Bool().Draw(rt, "filtered") {
			filter = bus.Filter{Namespaces: []string{"pg://db"}, Prefixes: []bus.Place{{Namespace: "s3://lake", Name: "a"}}}
		}
		w := newFollower(t, s, filter)
		said := 0
		say := func() {
			for range rapid.IntRange(1, 5).Draw(rt, "entries") {
				said++
				r.Say([]graph.Name{table("pg://db", fmt.Sprint("t", said)), table("s3://lake", fmt.Sprint("a", said))}, nil,
					[]graph.Name{table("s3://lake", fmt.Sprint("b", said)), table("kafka://b", "t")})
			}
		}
		snapshot := func() {
			w.names, w.entries = map[graph.Name]bool{}, nil
			c, err := s.Snapshot(context.Background(), filter, func(names []graph.Name) error {
				say()
				for _, n := range names {
					w.names[n] = true
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			w.cursor = c
		}
		for range rapid.IntRange(1, 8).Draw(rt, "steps") {
			switch rapid.SampledFrom([]string{"say", "say", "follow", "snapshot", "restart", "restore"}).Draw(rt, "step") {
			case "say":
				say()
			case "snapshot":
				snapshot()
			case "follow":
				head, _ := r.Head()
				if head.Cursor.Sequence > w.cursor.Sequence {
					part := rapid.Uint64Range(w.cursor.Sequence+1, head.Cursor.Sequence).Draw(rt, "until")
					if err := w.until(func() bool { return w.cursor.Sequence >= part }); errors.Is(err, bus.ErrDiverged) || errors.Is(err, bus.ErrExpired) {
						snapshot()
					}
				}
			case "restart":
				// The log holds all: it is made anew.
				batches := r.Batches()
				keep := rapid.IntRange(0, len(batches)).Draw(rt, "keep")
				head, _ := r.Head()
				r.Restart(keep, head.Mark.Position)
				r.again(batches[keep:])
				s = h.Serve(t, r)
				w.stream = s
			case "restore":
				r.Restart(rapid.IntRange(0, len(r.Batches())).Draw(rt, "keep"), 0)
				s = h.Serve(t, r)
				w.stream = s
			}
		}
		say()
		head, _ := r.Head()
		w.sync(head.Cursor)
		want, wants := map[graph.Name]bool{}, filter.Wants()
		for n, err := range r.Store().Names(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
			if n.Kind == graph.DataStoreKind && wants.Name(n) {
				want[n] = true
			}
		}
		for n := range want {
			if !w.names[n] {
				rt.Fatalf("%s was lost", n)
			}
		}
	})
}

// again applies batches that were applied before, each entry by itself.
func (r *Region) again(batches []graph.Batch) {
	for _, b := range batches {
		at, _ := r.Head()
		byPosition := map[uint64]*graph.Change{}
		for i, kept := range b.Stream {
			e, err := bus.DecodeEntry(kept.Value)
			if err != nil {
				r.t.Fatal(err)
			}
			byPosition[e.Mark.Position] = &b.Changes[i]
		}
		for p := at.Mark.Position + 1; p <= b.Mark.Position; p++ {
			if c := byPosition[p]; c != nil {
				r.Say(c.Names)
			} else {
				r.Say(nil)
			}
		}
	}
}

func testExpired(t *testing.T, h Harness) {
	r := h.start(t)
	for i := range 20 {
		r.Say(tables(fmt.Sprint("a", i), 2))
	}
	r.Trim(10)
	s := h.Serve(t, r)
	made := r.Made(1)
	for _, c := range []bus.Cursor{{}, made[0].Cursor(), made[8].Cursor()} {
		w := newFollower(t, s, all)
		w.cursor = c
		err := w.until(func() bool { return false })
		var told *bus.CursorError
		if !errors.Is(err, bus.ErrExpired) || !errors.As(err, &told) || told.Cursor != c || told.First <= 10 || told.Last.Sequence != 20 {
			t.Errorf("from %s: %v, want ErrExpired", c, err)
		}
	}
	w := newFollower(t, s, all)
	w.snapshot()
	r.Say(tables("late", 1))
	w.through(21)
	if len(w.names) != 41 || w.snapshots != 1 {
		t.Errorf("%d names after %d snapshots, want 41 after one", len(w.names), w.snapshots)
	}
}

// shorter restarts a region of 20 entries with its first 10, and returns a
// follower that has taken in all 20.
func shorter(t *testing.T, h Harness, known uint64) (*Region, *follower) {
	r := h.start(t)
	w := newFollower(t, h.Serve(t, r), all)
	for i := range 20 {
		r.Say(tables(fmt.Sprint("a", i), 2))
	}
	w.through(20)
	r.Restart(10, known)
	w.stream = h.Serve(t, r)
	return r, w
}

func testMadeGood(t *testing.T, h Harness) {
	r, w := shorter(t, h, 20)
	first := newFollower(t, w.stream, all)
	first.through(10)
	var lists [][]graph.Name
	for i := 10; i < 20; i++ {
		lists = append(lists, tables(fmt.Sprint("a", i), 2))
	}
	// In other batches than before.
	r.Say(lists[:7]...)
	r.Say(lists[7:]...)
	r.Say(tables("late", 1))
	w.through(21)
	first.through(21)
	if diff := cmp.Diff(r.Made(1), w.entries); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(r.Made(1), first.entries); diff != "" {
		t.Error(diff)
	}
}

func testRestored(t *testing.T, h Harness) {
	r, w := shorter(t, h, 0)
	for i := range 15 {
		r.Say(tables(fmt.Sprint("b", i), 1))
	}
	err := w.until(func() bool { return false })
	var told *bus.CursorError
	if !errors.Is(err, bus.ErrDiverged) || !errors.As(err, &told) || told.Cursor != w.cursor || told.Last.Sequence < 10 {
		t.Errorf("from %s: %v, want ErrDiverged", w.cursor, err)
	}
	head, _ := r.Head()
	w.sync(head.Cursor)
	r.Say(tables("late", 1))
	w.through(26)
	if len(w.names) != 20+15+1 {
		t.Errorf("%d names, want 36: nothing of what is gone", len(w.names))
	}
}

func testBehind(t *testing.T, h Harness) {
	r, w := shorter(t, h, 0)
	err := w.until(func() bool { return false })
	if !errors.Is(err, bus.ErrDiverged) {
		t.Errorf("from %s: %v, want ErrDiverged", w.cursor, err)
	}
	w.snapshot()
	r.Say(tables("late", 1))
	w.through(11)
	if len(w.names) != 21 {
		t.Errorf("%d names, want 21", len(w.names))
	}
}

func testNewEpoch(t *testing.T, h Harness) {
	r, w := shorter(t, h, 0)
	r.Restart(0, 0)
	r.mu.Lock()
	r.head.Cursor.Epoch = bus.NewEpoch()
	r.mu.Unlock()
	w.stream = h.Serve(t, r)
	for i := range 20 {
		r.Say(tables(fmt.Sprint("a", i), 2))
	}
	if err := w.until(func() bool { return false }); !errors.Is(err, bus.ErrDiverged) {
		t.Errorf("from %s: %v, want ErrDiverged", w.cursor, err)
	}
	head, _ := r.Head()
	w.sync(head.Cursor)
	if len(w.names) != 40 {
		t.Errorf("%d names, want 40", len(w.names))
	}
}
