package region

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/go-cmp/cmp"

	"headwater/graph"
	"headwater/graph/graphtest"
	"headwater/region/bus"
	"headwater/region/bus/embedded"
	"headwater/region/log"
)

// stream returns the change stream of a rig.
func (r *rig) stream() bus.Stream {
	return embedded.New(embedded.Options{Store: r.store, Head: r.node.Head})
}

// follow returns the entries behind a cursor until the region is told to be at
// a position.
func (r *rig) follow(c bus.Cursor, position uint64) ([]bus.Entry, error) {
	r.t.Helper()
	var entries []bus.Entry
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	err := r.stream().Follow(ctx, c, bus.Filter{All: true}, func(come []bus.Entry) error {
		for i := range come {
			e := &come[i]
			switch v := bus.Check(c, e, true); v {
			case bus.Next:
				entries = append(entries, *e)
				c = e.Cursor()
			case bus.Beat:
			default:
				r.t.Errorf("behind %s came %s: %s", c, e.Cursor(), v)
			}
			if e.Mark.Position >= position {
				return errEnough
			}
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return entries, nil
	}
	return entries, err
}

func (r *rig) mustFollow(c bus.Cursor, position uint64) []bus.Entry {
	r.t.Helper()
	entries, err := r.follow(c, position)
	if err != nil {
		r.t.Fatalf("follow from %s: %v", c, err)
	}
	return entries
}

func TestStreamTellsOfWhatReadersSeeAndOfPositionsOtherwise(t *testing.T) {
	r := start(t, vfs.NewMem(), "data", Options{})
	first := job("j1", 1, "a", "b")
	again := job("j1", 2, "a", "b") // unchanged
	other := job("j1", 3, "a c", "b")
	began := time.Now()
	receipt := r.append(first, again, other, job("j1", 4, "a c", "b"))
	entries := r.mustFollow(bus.Cursor{}, receipt.Offset)
	if len(entries) != 2 {
		t.Fatalf("%d entries, want 2: %+v", len(entries), entries)
	}
	ids := func(names ...graph.Name) (touched []uint64) {
		for _, n := range names {
			touched = append(touched, bus.Touch(n.ID()))
		}
		slices.Sort(touched)
		return touched
	}
	for i, want := range []bus.Entry{
		{Sequence: 1, Mark: graph.Mark{Position: 1, Revision: 1}, Names: []graph.Name{table("a"), table("b")}, Touched: ids(first.Subject, table("a"), table("b"))},
		{Sequence: 2, Mark: graph.Mark{Position: 3, Revision: 2}, Names: []graph.Name{table("c")}, Touched: ids(first.Subject, table("b"), table("c"))},
	} {
		got := entries[i]
		if at := time.Unix(0, got.At); at.Before(began.Add(-time.Second)) || at.After(time.Now().Add(time.Second)) {
			t.Errorf("entry %d is of %s, want about %s", i, at, began)
		}
		got.Epoch, got.Hash, got.At = "", 0, 0
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("entry %d:\n%s", i, diff)
		}
	}
}

func TestWhoFollowsIsNotDisturbedByPowerLoss(t *testing.T) {
	lost := 0
	for seed := range uint64(25) {
		random := graphtest.NewRandom(seed)
		random.Region = "eu"
		fs := vfs.NewCrashableMem()
		var entries []bus.Entry
		var cursor bus.Cursor
		follow := func(r *rig) {
			_, last := r.log.Bounds()
			entries = append(entries, r.mustFollow(cursor, last)...)
			if len(entries) > 0 {
				cursor = entries[len(entries)-1].Cursor()
			}
		}
		for range 4 {
			r := start(t, fs, "data", Options{})
			follow(r) // waits until what it knows is there again
			for range 1 + random.IntN(30) {
				r.append(random.Delta())
			}
			follow(r)
			crashed := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: random.IntN(101), RNG: random.Rand})
			r.stop()
			fs = crashed
		}
		r := start(t, fs, "data", Options{})
		if at, _ := r.node.Head(); at.Cursor.Sequence < cursor.Sequence {
			lost++
		}
		follow(r)
		if diff := cmp.Diff(entries, r.mustFollow(bus.Cursor{}, r.node.Status().Last)); diff != "" {
			t.Errorf("seed %d: followed over power losses, and afterwards:\n%s", seed, diff)
		}
		told := map[graph.Name]bool{}
		for _, e := range entries {
			for _, n := range e.Names {
				told[n] = true
			}
		}
		for n, err := range r.store.Names(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
			if n.Kind == graph.DataStoreKind && !told[n] {
				t.Errorf("seed %d: nobody was told of %s", seed, n)
			}
		}
		r.stop()
	}
	if lost == 0 {
		t.Error("no power loss took anything away: nothing was tested")
	}
}

func TestGraphThatGoesBackButNotItsLogIsToldFromABackup(t *testing.T) {
	fs := vfs.NewMem()
	r := start(t, fs, "data", Options{})
	r.wait(r.append(job("j1", 1, "a", "b")))
	r.stop()
	backup := vfs.NewMem()
	if _, err := vfs.Clone(fs, backup, "data", "data"); err != nil {
		t.Fatal(err)
	}
	r = start(t, fs, "data", Options{})
	receipt := r.append(job("j2", 2, "b", "c"), job("j3", 3, "c", "d"))
	entries := r.mustFollow(bus.Cursor{}, receipt.Offset)
	r.stop()
	old := start(t, backup, "data", Options{})
	cursor := entries[2].Cursor()
	if _, err := old.follow(cursor, 3); !errors.Is(err, bus.ErrDiverged) {
		t.Errorf("behind %s: %v, want ErrDiverged", cursor, err)
	}
	receipt = old.append(job("j4", 2, "b", "x"), job("j5", 3, "c", "y"), job("j6", 4, "c", "z"))
	old.wait(receipt)
	if _, err := old.follow(cursor, receipt.Offset); !errors.Is(err, bus.ErrDiverged) {
		t.Errorf("behind %s: %v, want ErrDiverged", cursor, err)
	}
	if again := old.mustFollow(entries[0].Cursor(), receipt.Offset); len(again) != 3 || again[0].Epoch != entries[0].Epoch {
		t.Errorf("%+v behind what is the same in both, want 3 of epoch %s", again, entries[0].Epoch)
	}
}

func TestStreamIsCutByNumberAndByAgeButForTheNewest(t *testing.T) {
	for _, c := range []struct {
		entries int
		age     time.Duration
		after   time.Duration
		want    uint64
	}{
		{-1, -1, 1000 * time.Hour, 1},
		{4, -1, 0, 7},
		{4, time.Hour, 0, 7},
		{-1, time.Hour, time.Minute, 1},
		{-1, time.Hour, 2 * time.Hour, 10},
		{1, -1, 0, 10},
	} {
		r := start(t, vfs.NewMem(), "data", Options{StreamEntries: c.entries, StreamAge: c.age})
		for i := range 10 {
			r.wait(r.append(job(fmt.Sprint("j", i), i, "a", fmt.Sprint("b", i))))
		}
		if err := r.node.trimStream(time.Now().Add(c.after)); err != nil {
			t.Fatal(err)
		}
		first, last, err := r.store.StreamBounds(context.Background())
		if err != nil || first != c.want || last != 10 {
			t.Errorf("%d entries, %s, after %s: %d to %d, %v, want from %d", c.entries, c.age, c.after, first, last, err, c.want)
		}
		r.stop()
	}
}

func TestGraphFromBeforeThereWasAStreamIsASnapshot(t *testing.T) {
	fs := vfs.NewMem()
	r := start(t, fs, "data", Options{})
	r.wait(r.append(job("j1", 1, "a", "b")))
	if err := r.store.TrimStream(context.Background(), 1); err != nil { // as if it had not been kept
		t.Fatal(err)
	}
	r.stop()
	r = start(t, fs, "data", Options{})
	if _, err := r.follow(bus.Cursor{}, 1); !errors.Is(err, bus.ErrExpired) {
		t.Errorf("from the beginning: %v, want ErrExpired", err)
	}
	var names []graph.Name
	cursor, err := r.stream().Snapshot(context.Background(), bus.Filter{All: true}, func(part []graph.Name) error {
		names = append(names, part...)
		return nil
	})
	slices.SortFunc(names, graph.Name.Compare)
	if want := []graph.Name{table("a"), table("b")}; err != nil || !slices.Equal(names, want) {
		t.Errorf("snapshot of %v, %v, want %v", names, err, want)
	}
	receipt := r.append(job("j2", 2, "b", "c"))
	if entries := r.mustFollow(cursor, receipt.Offset); len(entries) != 1 || entries[0].Sequence != 2 || !slices.Equal(entries[0].Names, []graph.Name{table("b"), table("c")}) {
		t.Errorf("behind the snapshot: %+v, want 2, of b and c", entries)
	}
}

// A still store keeps no stream.
type still struct {
	graph.Store
	syncer
}

func TestStoreThatKeepsNoStreamHasNone(t *testing.T) {
	fs := vfs.NewMem()
	l, err := log.Open("log", log.Options{FS: fs, Log: quietLog})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	n, err := New(still{Store: graphtest.NewModel("eu")}, l, Options{Region: "eu", Log: quietLog})
	if err != nil {
		t.Fatal(err)
	}
	if h, _ := n.Head(); h != (bus.Head{}) {
		t.Errorf("head %+v, want none", h)
	}
	if err := n.trimStream(time.Now()); err != nil {
		t.Error(err)
	}
}

// What is derived from SQL depends on which schemas are written by then, so
// that after a crash entries may be others. Who follows is told.
func TestWhoFollowsWhatIsDerivedLosesNothingOverPowerLoss(t *testing.T) {
	anew := 0
	for seed := range uint64(15) {
		random := rand.New(rand.NewPCG(seed, 5))
		fs := vfs.NewCrashableMem()
		told := map[graph.Name]bool{}
		var cursor bus.Cursor
		follow := func(r *rig) {
			_, last := r.log.Bounds()
			entries, err := r.follow(cursor, last)
			if errors.Is(err, bus.ErrDiverged) {
				anew++
				told = map[graph.Name]bool{}
				if cursor, err = r.stream().Snapshot(context.Background(), bus.Filter{All: true}, func(names []graph.Name) error {
					for _, n := range names {
						told[n] = true
					}
					return nil
				}); err == nil {
					entries, err = r.follow(cursor, last)
				}
			}
			if err != nil {
				t.Fatalf("seed %d: from %s: %v", seed, cursor, err)
			}
			for _, e := range entries {
				cursor = e.Cursor()
				for _, n := range e.Names {
					told[n] = true
				}
			}
		}
		r := start(t, fs, "data", deriving())
		for i := range 30 {
			n := random.IntN(6)
			if random.IntN(2) == 0 {
				r.append(sqlJob(fmt.Sprint("j", n), i, fmt.Sprintf("create table s%d as select *, a + b as x%d from s%d", n+1, i, n)))
			} else {
				r.append(schema(fmt.Sprint("s", n), i, "a", "b", fmt.Sprint("c", i)))
			}
			if random.IntN(4) == 0 {
				follow(r)
			}
			if random.IntN(6) == 0 {
				crashed := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 50, RNG: random})
				r.stop()
				fs = crashed
				r = start(t, fs, "data", deriving())
				follow(r)
			}
		}
		r.settle()
		follow(r)
		for n, err := range r.store.Names(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
			if n.Kind == graph.DataStoreKind && !told[n] {
				t.Errorf("seed %d: nobody was told of %s", seed, n)
			}
		}
		if head, _ := r.node.Head(); head.Cursor != cursor {
			t.Errorf("seed %d: at %s, the region is at %s", seed, cursor, head.Cursor)
		}
		r.stop()
	}
	t.Logf("begun anew %d times", anew)
}
