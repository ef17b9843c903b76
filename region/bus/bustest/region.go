// Package bustest holds what every bus.Stream must do.
//
//	region.go    a region that does what the tests want
//	follower.go  those who follow it
//	suite.go     the tests; faults.go those of what goes wrong
package bustest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"headwater/graph"
	"headwater/region/bus"
)

// A Store is what a region of a test keeps its graph in.
type Store interface {
	graph.Store
	bus.Keeper
}

// A Region is a region without a log: it applies what a test tells it to. It
// may be restarted with less than it had, as after a crash or from a backup.
type Region struct {
	t    testing.TB
	open func() Store

	mu    sync.Mutex // guards all below
	store Store
	head  bus.Head
	moved chan struct{}
	// batches are all that was applied; made the entries of the stream.
	batches []graph.Batch
	made    []bus.Entry
	life    context.Context
	stop    context.CancelFunc
}

// NewRegion returns an empty region; open makes the empty stores of its lives.
func NewRegion(t testing.TB, open func() Store) *Region {
	r := &Region{t: t, open: open, moved: make(chan struct{})}
	r.head.Cursor.Epoch = bus.NewEpoch()
	r.store = open()
	r.life, r.stop = context.WithCancel(context.Background())
	t.Cleanup(func() { r.stop() })
	return r
}

// Store returns where the region keeps its graph now.
func (r *Region) Store() Store {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.store
}

// Life ends when the region is restarted, or the test over.
func (r *Region) Life() context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.life
}

// Head is as region.Node.Head.
func (r *Region) Head() (bus.Head, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.head, r.moved
}

// Say applies, as one batch, an entry for each list of names, which speaks of
// them; a list of none changes nothing that readers see.
func (r *Region) Say(lists ...[]graph.Name) {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	b := graph.Batch{Region: "eu", Mark: r.head.Mark}
	cursor := r.head.Cursor
	for _, names := range lists {
		b.Mark.Position++
		if len(names) == 0 {
			continue
		}
		b.Mark.Revision++
		c := graph.Change{Key: graph.Key{Subject: job(int(b.Mark.Position)).ID(), Origin: "test"}, History: true}
		for _, n := range names {
			c.Names, c.NameIDs = append(c.Names, n), append(c.NameIDs, n.ID())
			c.Lives = append(c.Lives, graph.LifeEdit{Node: n.ID()})
		}
		b.Changes = append(b.Changes, c)
		e, kept := bus.Make(cursor, b.Mark, int64(b.Mark.Position), b.Changes[len(b.Changes)-1:])
		b.Stream = append(b.Stream, kept)
		r.made = append(r.made, e)
		cursor = e.Cursor()
	}
	if err := r.store.Apply(context.Background(), b); err != nil {
		r.t.Fatal(err)
	}
	r.batches = append(r.batches, b)
	r.head.Mark, r.head.Cursor = b.Mark, cursor
	close(r.moved)
	r.moved = make(chan struct{})
}

// Made returns the entries from a sequence on.
func (r *Region) Made(from uint64) []bus.Entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]bus.Entry(nil), r.made[from-1:]...)
}

// Trim forgets entries of the stream.
func (r *Region) Trim(through uint64) {
	if err := r.Store().TrimStream(context.Background(), through); err != nil {
		r.t.Error(err)
	}
}

// Restart ends the region and begins it again with its first batches only. It
// knows that its log goes further where it knows a later position.
func (r *Region) Restart(batches int, known uint64) {
	r.t.Helper()
	store := r.open()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stop()
	r.life, r.stop = context.WithCancel(context.Background())
	epoch := r.head.Cursor.Epoch
	r.store, r.batches, r.made = store, r.batches[:batches:batches], nil
	r.head = bus.Head{Cursor: bus.Cursor{Epoch: epoch}}
	for _, b := range r.batches {
		if err := store.Apply(context.Background(), b); err != nil {
			r.t.Fatal(err)
		}
		r.head.Mark = b.Mark
		for _, kept := range b.Stream {
			e, err := bus.DecodeEntry(kept.Value)
			if err != nil {
				r.t.Fatal(err)
			}
			r.made = append(r.made, e)
			r.head.Cursor = e.Cursor()
		}
	}
	r.head.Known = max(known, r.head.Mark.Position)
}

// Batches returns what was applied.
func (r *Region) Batches() []graph.Batch {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.batches
}

// table returns the name of a data store, as it is folded.
func table(namespace, name string) graph.Name {
	return graph.Name{Kind: graph.DataStoreKind, Region: "eu", Namespace: namespace, Name: name}
}

func job(n int) graph.Name {
	return graph.Name{Kind: graph.ProcessKind, Region: "eu", Namespace: "jobs", Name: fmt.Sprint("job", n)}
}

// tables returns a list of so many names that begin with a text.
func tables(text string, n int) []graph.Name {
	var names []graph.Name
	for i := range n {
		names = append(names, table("pg://db", fmt.Sprintf("%s%05d", text, i)))
	}
	return names
}
