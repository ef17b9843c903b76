package bustest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"headwater/graph"
	"headwater/region/bus"
)

// A Harness says how what is tested is opened.
type Harness struct {
	// Store opens an empty store.
	Store func(t testing.TB) Store
	// Serve opens the stream of a region. It is called again, with the same
	// region, when that was restarted; what was opened before ends with the
	// region's life then.
	Serve func(t testing.TB, r *Region) bus.Stream
	// Histories is how many histories of writer and follower are drawn, where
	// these take long. Default: as many as rapid does.
	Histories int
}

// all wants every name.
var all = bus.Filter{All: true}

// Run tests a stream.
func Run(t *testing.T, h Harness) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Harness)
	}{
		{"EntriesComeInOrderAndWhole", testOrder},
		{"FollowingGoesOnFromAnyCursor", testResume},
		{"WhoWaitsIsTold", testWaiting},
		{"PositionsComeWithoutChanges", testBeats},
		{"FilterLeavesOutNamesOnly", testFilter},
		{"LargeEntriesComeWhole", testLarge},
		{"FollowingEndsWithItsContext", testCancelled},
		{"ManyFollowWhileItIsWritten", testMany},
		{"SnapshotAndFollowLoseNothing", testSnapshot},
		{"CursorThatIsNotKeptHasExpired", testExpired},
		{"CrashThatIsMadeGoodIsNotNoticed", testMadeGood},
		{"RestoredRegionThatGoesOnOtherwiseHasDiverged", testRestored},
		{"RestoredRegionThatIsBehindHasDiverged", testBehind},
		{"NewRegionHasDiverged", testNewEpoch},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, h) })
	}
}

func (h Harness) start(t testing.TB) *Region {
	return NewRegion(t, func() Store { return h.Store(t) })
}

// each lists entries that speak of one name each.
func each(names []graph.Name) (lists [][]graph.Name) {
	for i := range names {
		lists = append(lists, names[i:i+1])
	}
	return lists
}

func testOrder(t *testing.T, h Harness) {
	r := h.start(t)
	s := h.Serve(t, r)
	for i := range 20 {
		r.Say(tables(fmt.Sprint("a", i), i%4), tables(fmt.Sprint("b", i), 3), nil)
	}
	w := newFollower(t, s, all)
	w.through(uint64(len(r.Made(1))))
	if diff := cmp.Diff(r.Made(1), w.entries); diff != "" {
		t.Errorf("made, and came:\n%s", diff)
	}
	first := w.entries[0]
	if first.Sequence != 1 || first.Mark != (graph.Mark{Position: 2, Revision: 1}) || first.At != 2 || len(first.Names) != 3 ||
		!slices.Contains(first.Touched, bus.Touch(first.Names[2].ID())) || len(first.Touched) != 4 {
		t.Errorf("the first entry is %+v", first)
	}
}

func testResume(t *testing.T, h Harness) {
	r := h.start(t)
	s := h.Serve(t, r)
	r.Say(each(tables("a", 6))...)
	r.Say(each(tables("b", 6))...)
	made := r.Made(1)
	for at := range made {
		w := newFollower(t, s, all)
		if at > 0 {
			w.cursor = made[at-1].Cursor()
		}
		w.through(12)
		if diff := cmp.Diff(made[at:], w.entries); diff != "" || w.duplicates > 0 {
			t.Errorf("from %d: %d duplicates\n%s", at, w.duplicates, diff)
		}
	}
}

func testWaiting(t *testing.T, h Harness) {
	r := h.start(t)
	w := newFollower(t, h.Serve(t, r), all)
	for i := range 20 {
		r.Say(each(tables(fmt.Sprint("a", i), 1+i%3))...)
		w.through(uint64(len(r.Made(1))))
	}
	if diff := cmp.Diff(r.Made(1), w.entries); diff != "" {
		t.Error(diff)
	}
}

func testBeats(t *testing.T, h Harness) {
	r := h.start(t)
	w := newFollower(t, h.Serve(t, r), all)
	r.Say(tables("a", 1))
	w.through(1)
	for range 3 {
		r.Say(nil, nil)
		head, _ := r.Head()
		if err := w.until(func() bool { return w.mark == head.Mark }); err != nil {
			t.Fatalf("at %+v, want %+v: %v", w.mark, head.Mark, err)
		}
	}
	if w.mark != (graph.Mark{Position: 7, Revision: 1}) || len(w.entries) != 1 {
		t.Errorf("mark %+v after %d entries", w.mark, len(w.entries))
	}
}

func testFilter(t *testing.T, h Harness) {
	r := h.start(t)
	s := h.Serve(t, r)
	names := []graph.Name{table("pg://db", "shop.orders"), table("pg://db", "shop.items"), table("s3://lake", "raw/a"), table("s3://lake", "raw"),
		table("s3://lake", "rax"), table("hive://meta", "mart.sales"), table("kafka://b", "t")}
	r.Say(names)
	r.Say(each(names)...)
	for _, c := range []struct {
		filter bus.Filter
		want   []int
	}{
		{bus.Filter{}, nil},
		{bus.Filter{All: true}, []int{0, 1, 2, 3, 4, 5, 6}},
		{bus.Filter{Namespaces: []string{"pg://db", "HIVE://meta"}}, []int{0, 1, 5}},
		{bus.Filter{Names: []bus.Place{{Namespace: "hive://meta", Name: "Mart.Sales"}, {Namespace: "pg://db", Name: "shop"}}}, []int{5}},
		{bus.Filter{Prefixes: []bus.Place{{Namespace: "s3://lake", Name: "raw/"}, {Namespace: "s3://lake", Name: "raw/a/b"}}}, []int{2}},
		{bus.Filter{Prefixes: []bus.Place{{Namespace: "s3://lake", Name: "raw"}, {Namespace: "hive://Meta", Name: "MART."}}, Namespaces: []string{"kafka://b"}}, []int{2, 3, 5, 6}},
	} {
		want := map[graph.Name]bool{}
		for _, i := range c.want {
			want[names[i]] = true
		}
		w := newFollower(t, s, c.filter)
		w.through(8)
		snap := newFollower(t, s, c.filter)
		snap.snapshot()
		if diff := cmp.Diff(want, w.names); diff != "" {
			t.Errorf("%+v: followed\n%s", c.filter, diff)
		}
		if diff := cmp.Diff(want, snap.names); diff != "" {
			t.Errorf("%+v: snapshot\n%s", c.filter, diff)
		}
		made := r.Made(1)
		for i, e := range w.entries {
			if !slices.Equal(e.Touched, made[i].Touched) || e.Cursor() != made[i].Cursor() || e.Mark != made[i].Mark {
				t.Errorf("%+v: entry %+v, want %+v but for its names", c.filter, e, made[i])
			}
		}
		if snap.cursor != made[7].Cursor() {
			t.Errorf("snapshot as of %s, want %s", snap.cursor, made[7].Cursor())
		}
	}
}

func testLarge(t *testing.T, h Harness) {
	r := h.start(t)
	s := h.Serve(t, r)
	r.Say(tables("small", 1))
	large := tables("a", 1500)
	for i := range large {
		large[i].Namespace = "pg://" + strings.Repeat("a.long.host.", 170) // 3 MB in all
	}
	r.Say(large)
	r.Say(tables("small", 1))
	w := newFollower(t, s, all)
	w.through(3)
	if diff := cmp.Diff(r.Made(1), w.entries); diff != "" {
		t.Errorf("the entries differ: %.2000s", diff)
	}
}

func testCancelled(t *testing.T, h Harness) {
	r := h.start(t)
	s := h.Serve(t, r)
	r.Say(tables("a", 3))
	ctx, cancel := context.WithCancel(context.Background())
	came := make(chan struct{})
	done := make(chan error, 1)
	go func() {
		var once sync.Once
		done <- s.Follow(ctx, bus.Cursor{}, all, func([]bus.Entry) error { once.Do(func() { close(came) }); return nil })
	}()
	<-came
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("following ended with %v, want canceled", err)
	}
	if err := s.Follow(ctx, bus.Cursor{}, all, func([]bus.Entry) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("following with a context that has ended: %v", err)
	}
	if _, err := s.Snapshot(ctx, all, func([]graph.Name) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("a snapshot with a context that has ended: %v", err)
	}
	own := errors.New("own")
	if err := s.Follow(context.Background(), bus.Cursor{}, all, func([]bus.Entry) error { return own }); !errors.Is(err, own) {
		t.Errorf("emit's error became %v", err)
	}
	if _, err := s.Snapshot(context.Background(), all, func([]graph.Name) error { return own }); !errors.Is(err, own) {
		t.Errorf("emit's error became %v", err)
	}
}

func testMany(t *testing.T, h Harness) {
	const followers, batches = 12, 40
	r := h.start(t)
	s := h.Serve(t, r)
	var all [followers]*follower
	var wg sync.WaitGroup
	for i := range all {
		w := newFollower(t, s, bus.Filter{All: i%2 == 0})
		all[i] = w
		wg.Go(func() {
			if err := w.until(func() bool { return w.cursor.Sequence == 2*batches }); err != nil {
				t.Errorf("follower %d at %s: %v", i, w.cursor, err)
			}
		})
	}
	for i := range batches {
		r.Say(tables(fmt.Sprint("a", i), 2), nil, tables(fmt.Sprint("b", i), 1))
	}
	wg.Wait()
	head, _ := r.Head()
	for i, w := range all {
		if w.cursor != head.Cursor || len(w.entries) != 2*batches {
			t.Errorf("follower %d took %d entries and is at %s, want %s", i, len(w.entries), w.cursor, head.Cursor)
		}
	}
}
