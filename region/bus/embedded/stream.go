// Package embedded serves a region's change stream from the region's own
// store, which writes it with the changes.
//
//	stream.go   in process
//	handler.go  over HTTP
//	client.go   a bus.Stream that asks a handler
//	frame.go    what goes between the two
//
// A follower reads from the store at its own pace; nothing waits for it, and
// nothing is held in memory for it.
package embedded

import (
	"context"
	"iter"
	"time"

	"headwater/graph"
	"headwater/region/bus"
)

// A Store is what the stream is read from: a graph.Store that keeps it.
type Store interface {
	bus.Keeper
	Names(ctx context.Context) iter.Seq2[graph.Name, error]
}

// Options say which stream it is. Store and Head are needed.
type Options struct {
	Store Store
	// Head returns how far the region has come, and a channel that closes when
	// it goes on (region.Node.Head).
	Head func() (bus.Head, <-chan struct{})
	// Beat is how long a follower is not told of a position at which nothing
	// has changed. Default: 20 ms.
	Beat time.Duration
	// Idle is after how long a follower is told that there is nothing to tell.
	// Default: 5 s.
	Idle time.Duration
}

// A Stream is the change stream of a region in this process.
type Stream struct{ o Options }

var _ bus.Stream = (*Stream)(nil)

// New returns the stream of a region.
func New(o Options) *Stream {
	if o.Beat == 0 {
		o.Beat = 20 * time.Millisecond
	}
	if o.Idle == 0 {
		o.Idle = 5 * time.Second
	}
	return &Stream{o}
}

// A follower is one call of Follow.
type follower struct {
	o     *Options
	at    bus.Cursor
	wants *bus.Wants
	emit  func([]bus.Entry) error
	// told is the mark that was emitted last, and when.
	told graph.Mark
	when time.Time
}

// Follow implements bus.Stream.
func (s *Stream) Follow(ctx context.Context, c bus.Cursor, f bus.Filter, emit func([]bus.Entry) error) error {
	w := follower{o: &s.o, at: c, wants: f.Wants(), emit: emit}
	for {
		head, moved := s.o.Head()
		if err := w.catchUp(ctx, head); err != nil {
			return err
		}
		if err := w.wait(ctx, head, moved); err != nil {
			return err
		}
	}
}

// catchUp emits what there is behind the cursor.
func (w *follower) catchUp(ctx context.Context, head bus.Head) error {
	if w.at.Sequence > head.Cursor.Sequence && head.Mark.Position < head.Known {
		// After a crash the region makes anew what it had made; only then it
		// can tell whether that is the same.
		return ctx.Err()
	}
	for {
		entries, err := bus.Behind(ctx, w.o.Store, w.at, head)
		if err != nil || len(entries) == 0 {
			return err
		}
		last := &entries[len(entries)-1]
		at, mark := last.Cursor(), last.Mark
		for i := range entries {
			w.wants.Entry(&entries[i])
		}
		if err := w.emit(entries); err != nil {
			return err
		}
		w.at, w.told, w.when = at, mark, time.Now()
	}
}

// wait waits until the region goes on, and meanwhile tells where it is.
func (w *follower) wait(ctx context.Context, head bus.Head, moved <-chan struct{}) error {
	for {
		after := w.o.Idle
		if head.Mark != w.told {
			after = w.o.Beat
		}
		due := time.NewTimer(time.Until(w.when.Add(after)))
		select {
		case <-moved:
			due.Stop()
			return ctx.Err()
		case <-ctx.Done():
			due.Stop()
			return ctx.Err()
		case <-due.C:
		}
		beat := bus.Entry{Epoch: w.at.Epoch, Sequence: w.at.Sequence, Hash: w.at.Hash, Mark: head.Mark, At: time.Now().UnixNano(), Beat: true}
		if err := w.emit([]bus.Entry{beat}); err != nil {
			return err
		}
		w.told, w.when = head.Mark, time.Now()
	}
}

// namesAtOnce is how many names a snapshot emits at a time; of seenAtOnce that
// it looks at it tells, even if none is wanted, that it is at work.
const (
	namesAtOnce = 1024
	seenAtOnce  = 100_000
)

// Snapshot implements bus.Stream.
func (s *Stream) Snapshot(ctx context.Context, f bus.Filter, emit func([]graph.Name) error) (bus.Cursor, error) {
	head, _ := s.o.Head() // what comes meanwhile is among the names, or behind the cursor, or both
	if f.None() {
		return head.Cursor, nil
	}
	wants := f.Wants()
	names := make([]graph.Name, 0, namesAtOnce)
	flush := func() error {
		err := emit(names)
		names = names[:0]
		return err
	}
	seen := 0
	for n, err := range s.o.Store.Names(ctx) {
		if err != nil {
			return bus.Cursor{}, err
		}
		if seen++; seen%seenAtOnce == 0 {
			if err := flush(); err != nil {
				return bus.Cursor{}, err
			}
		}
		if n.Kind != graph.DataStoreKind || !wants.Name(n) {
			continue
		}
		n.Namespace, n.Name = n.Folded()
		if names = append(names, n); len(names) == namesAtOnce {
			if err := flush(); err != nil {
				return bus.Cursor{}, err
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return bus.Cursor{}, err
	}
	return head.Cursor, flush()
}
