package region

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"headwater/background"
	"headwater/graph"
	"headwater/region/bus"
	"headwater/region/log"
)

const (
	// Batches that fill more than half of a memtable of the store cost more
	// than they save.
	batchEntries = 2048
	batchBytes   = 2 << 20
	trimEvery    = 2 * time.Second
	syncEvery    = time.Minute
)

// syncer is what a store can do that applies without syncing.
type syncer interface {
	// Durable returns the mark of what a crash can't take away.
	Durable() (graph.Mark, error)
	// Sync makes that all which was applied.
	Sync() (graph.Mark, error)
}

// Run applies what is in the log, and what is appended, until ctx ends. Then
// it applies what has been acknowledged before and returns.
func (n *Node) Run(ctx context.Context) error {
	var trimming sync.WaitGroup
	stop := make(chan struct{})
	trimming.Go(func() { n.trimNowAndThen(stop) })
	applied := make(chan error, 1)
	go func() {
		background.Lower()
		applied <- n.apply(ctx)
	}()
	err := <-applied
	close(stop)
	trimming.Wait()
	if err != nil {
		return err
	}
	return n.trim(true)
}

// apply is Run without cutting the log. While one batch is written, the next
// is planned.
func (n *Node) apply(ctx context.Context) error {
	defer func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.finished = true
		close(n.moved)
		n.moved = make(chan struct{})
	}()
	always := context.WithoutCancel(ctx)
	defer func() { _ = n.derived.release() }() // it was only read
	w := n.resume()
	for {
		from := w.mark.Position + 1
		_, last := n.log.Bounds()
		if last < from {
			// Nothing to plan meanwhile.
			if err := w.wait(); err != nil {
				if !n.pause(ctx, err) {
					return err
				}
				w = n.resume()
				continue
			}
			w.state = nil // what comes next, maybe much later, is planned over a new one
			if ctx.Err() != nil {
				return nil
			}
		}
		wait := ctx
		if ctx.Err() != nil {
			wait = always // there is something to read
		}
		most := batchEntries
		if w.gently = n.gently(background.Cores()); w.gently {
			most = gentleEntries
		}
		entries, err := n.log.Read(wait, from, most, batchBytes)
		switch {
		case errors.Is(err, log.ErrClosed):
			return w.wait()
		case err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()):
			continue
		case err != nil:
			err = fmt.Errorf("read the log from %d: %w", from, err)
		default:
			n.note(entries[0].Appended)
			err = n.next(always, &w, entries)
		}
		if err != nil {
			if werr := w.wait(); werr != nil {
				err = werr // what is wrong with the batch before comes first
			}
			if !n.pause(ctx, err) {
				return err
			}
			w = n.resume()
		}
	}
}

// A writing is the batch that is being written, if there is one.
type writing struct {
	// mark is the state after it, and cursor the place in the change stream.
	mark   graph.Mark
	cursor bus.Cursor
	done   chan error // nil: there is none
	// state is the overlay of the batches that were planned since it was made.
	state   *graph.State
	batches int
	gently  bool
}

// wait waits until nothing is being written.
func (w *writing) wait() error {
	if w.done == nil {
		return nil
	}
	err := <-w.done
	w.done = nil
	return err
}

// overlayBatches is how many batches are planned over one overlay: before
// another one all has to be written.
const overlayBatches = 4

// next plans the entries as the batch that follows the one that is being
// written, and begins to write it when that is done.
func (n *Node) next(ctx context.Context, w *writing, entries []log.Entry) error {
	began := time.Now()
	entries, settled := untilAgain(entries)
	if w.done == nil || w.batches == overlayBatches || settled {
		if err := w.wait(); err != nil {
			return err
		}
		if err := n.derived.written(); err != nil {
			return err
		}
		w.state, w.batches = graph.NewState(), 0
	}
	b, cursor, touches, err := n.planBatch(ctx, w, entries)
	if err == nil {
		err = n.appendAgain(ctx)
	}
	if err != nil {
		return err
	}
	if err := w.wait(); err != nil {
		return err
	}
	w.batches++
	before := w.mark
	w.mark, w.cursor, w.done = b.Mark, cursor, make(chan error, 1)
	go func(done chan<- error) {
		background.Lower()
		done <- n.write(ctx, before, b, cursor, touches)
	}(w.done)
	if !w.gently {
		return nil
	}
	err = w.wait()
	time.Sleep(min(time.Since(began), askedNow))
	return err
}

// write applies a batch and tells those that wait for it.
func (n *Node) write(ctx context.Context, before graph.Mark, b graph.Batch, cursor bus.Cursor, touches int) error {
	if err := n.store.Apply(ctx, b); err != nil {
		return fmt.Errorf("apply from %d: %w", before.Position+1, err)
	}
	n.Stats.Batches.Add(1)
	n.Stats.Changes.Add(b.Mark.Revision - before.Revision)
	n.Stats.Touches.Add(uint64(touches))
	n.mu.Lock()
	defer n.mu.Unlock()
	n.applied, n.cursor, n.trouble = b.Mark, cursor, nil
	close(n.moved)
	n.moved = make(chan struct{})
	return nil
}

func (n *Node) mark() graph.Mark {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.applied
}

// resume returns what to go on from: what has been written.
func (n *Node) resume() writing {
	n.mu.Lock()
	defer n.mu.Unlock()
	return writing{mark: n.applied, cursor: n.cursor}
}

func (n *Node) note(oldest time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.oldest = oldest
}

// pause says what stands in the way and waits a little; it returns false if
// ctx ends.
func (n *Node) pause(ctx context.Context, err error) bool {
	n.o.Log.Error("applying stands still; trying again", "region", n.o.Region, "err", err)
	n.mu.Lock()
	n.trouble = err
	n.mu.Unlock()
	select {
	case <-time.After(time.Second):
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// trimNowAndThen cuts the log until stop is closed. A store that takes little
// in would hold it in memory, and so in the log, for long: it is synced, but
// not often, since that costs more than what is written.
func (n *Node) trimNowAndThen(stop <-chan struct{}) {
	synced := time.Now()
	for {
		select {
		case <-time.After(trimEvery):
		case <-stop:
			return
		}
		all := time.Since(synced) > syncEvery
		if all {
			synced = time.Now()
		}
		if err := n.trim(all); err != nil {
			n.o.Log.Error("cut the log", "region", n.o.Region, "err", err)
		}
		if err := n.trimStream(time.Now()); err != nil {
			n.o.Log.Error("cut the change stream", "region", n.o.Region, "err", err)
		}
	}
}

// trim cuts the log up to what the store holds durably; all makes that everything.
func (n *Node) trim(all bool) (err error) {
	m := n.mark()
	if s, ok := n.store.(syncer); ok && all {
		m, err = s.Sync()
	} else if ok {
		m, err = s.Durable()
	}
	if err != nil {
		return err
	}
	return n.log.Trim(m.Position)
}

// planBatch plans the entries over an overlay as one batch. It returns the
// place in the change stream behind it, and counts the deltas that only touch.
func (n *Node) planBatch(ctx context.Context, w *writing, entries []log.Entry) (b graph.Batch, cursor bus.Cursor, touches int, err error) {
	b, cursor = graph.Batch{Region: n.o.Region, Mark: w.mark}, w.cursor
	var all []*graph.Delta
	for i := range entries {
		for j := range entries[i].Deltas {
			d := &entries[i].Deltas[j]
			if d.State == graph.Deriving {
				continue
			}
			n.covers(d)
			all = append(all, d)
		}
	}
	// What is damaged shows again, one by one, below.
	if err := graph.LoadFor(ctx, n.store, w.state, all...); err != nil && !damaged(err) {
		return b, cursor, 0, err
	}
	planned := 0
	add := func(p graph.Planned) {
		b.Add(p)
		planned++
	}
	for i := range entries {
		e := &entries[i]
		before, changes := b.Mark.Revision, len(b.Changes)
		for j := range e.Deltas {
			err := n.planOne(ctx, w.state, &e.Deltas[j], add)
			if err != nil && isFault(err) {
				err = n.bury(e, j, err)
			}
			if err != nil {
				return b, cursor, 0, err
			}
		}
		b.Mark.Position = e.Offset
		if b.Mark.Revision != before && n.keeper != nil {
			entry, kept := bus.Make(cursor, b.Mark, e.Appended.UnixNano(), b.Changes[changes:])
			b.Stream = append(b.Stream, kept)
			cursor = entry.Cursor()
		}
	}
	return b, cursor, planned - len(b.Changes), nil
}

// planOne plans a delta, and what follows from it; planned takes them.
func (n *Node) planOne(ctx context.Context, s *graph.State, d *graph.Delta, planned func(graph.Planned)) error {
	if d.State == graph.Deriving {
		return n.deriveAgain(ctx, s, d, planned)
	}
	p, err := n.plan(ctx, s, d)
	if err != nil {
		return err
	}
	planned(p)
	return n.derive(ctx, s, d, p, planned)
}

// A fault is an error of one delta, not of the store.
type fault struct{ error }

func (f fault) Unwrap() error { return f.error }

func isFault(err error) bool {
	var f fault
	return errors.As(err, &f)
}

// damaged reports whether an error is of what is stored, not of the storing.
func damaged(err error) bool {
	var missing *graph.MissingPartError
	return errors.Is(err, graph.ErrFormat) || errors.As(err, &missing)
}

// plan plans one delta. What it can't plan, or panics on, is a fault.
func (n *Node) plan(ctx context.Context, s *graph.State, d *graph.Delta) (p graph.Planned, err error) {
	defer func() {
		if r := recover(); r != nil {
			n.panicked("planning", d, r)
			err = fault{fmt.Errorf("planning panicked: %v", r)}
		}
	}()
	if err := graph.LoadFor(ctx, n.store, s, d); err != nil {
		if damaged(err) {
			return p, fault{err}
		}
		return p, err
	}
	if p, err = n.o.Plan(s, d); err != nil {
		return p, fault{err}
	}
	for _, seen := range d.Seen {
		// The store, which can't set a delta aside, splits them.
		if err := graph.EachFacet(seen.Facets, func(string, []byte) {}); err != nil {
			return p, fault{err}
		}
	}
	return p, nil
}

// panicked logs what a delta has made panic.
func (n *Node) panicked(what string, d *graph.Delta, v any) {
	n.o.Log.Error(what+" panicked", "subject", d.Subject.String(), "origin", d.Origin, "panic", v, "stack", string(debug.Stack()))
}

func (n *Node) bury(e *log.Entry, index int, reason error) error {
	n.o.Log.Error("set aside as a dead letter", "region", n.o.Region, "offset", e.Offset, "index", index, "subject", e.Deltas[index].Subject.String(), "err", reason)
	n.Stats.Dead.Add(1)
	return n.log.Bury(log.DeadLetter{Offset: e.Offset, Index: uint32(index), At: e.Appended, Reason: reason.Error(), Delta: e.Deltas[index]})
}
