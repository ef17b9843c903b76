package log

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"headwater/graph"
)

// A request is events that wait to be written.
type request struct {
	events [][]graph.Delta
	// stored is their stored form, one behind the other; ends is where each
	// ends.
	stored []byte
	ends   []int
	last   uint64
	err    error
	done   chan struct{}
}

// Append makes events durable, an entry each, in order, and returns the
// offset of the last. All are kept or none. It does not return before that is
// settled, whatever becomes of ctx. The deltas are the log's from then on, which
// seals them: they must not be changed.
func (l *Log) Append(ctx context.Context, events [][]graph.Delta) (uint64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	r := &request{events: events, done: make(chan struct{})}
	if room, ok := l.rooms.Get().(*[]byte); ok {
		r.stored = (*room)[:0]
	}
	r.ends = make([]int, len(events))
	for i, deltas := range events {
		for j := range deltas {
			deltas[j].Seal()
		}
		r.stored = appendEntry(r.stored, 0, deltas)
		r.ends[i] = len(r.stored)
	}
	defer func() {
		if cap(r.stored) <= maxRoom {
			l.rooms.Put(&r.stored)
		}
	}()
	l.mu.Lock()
	if l.closed || len(events) == 0 {
		defer l.mu.Unlock()
		if l.closed {
			return 0, ErrClosed
		}
		return l.last, nil
	}
	l.queue = append(l.queue, r)
	l.mu.Unlock()
	l.awake()
	<-r.done
	return r.last, r.err
}

func (l *Log) awake() {
	select {
	case l.wake <- struct{}{}:
	default: // it wakes already
	}
}

// maxRoom bounds the memory that is kept for later requests, of each.
const maxRoom = 4 << 20

// maxGroup is how many bytes are written at once, but for a request that has
// more on its own.
const maxGroup = 16 << 20

// write makes the requests that wait durable, many with one sync.
func (l *Log) write() {
	defer close(l.done)
	for {
		group, closed := l.take()
		switch {
		case len(group) > 0:
			l.commit(group)
		case closed:
			return
		default:
			<-l.wake
		}
		for _, r := range group {
			close(r.done)
		}
	}
}

// take takes from the queue what is written next.
func (l *Log) take() (group []*request, closed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, bytes := 0, 0
	for n < len(l.queue) && (n == 0 || bytes+len(l.queue[n].stored) <= maxGroup) {
		bytes += len(l.queue[n].stored)
		n++
	}
	group, l.queue = l.queue[:n:n], l.queue[n:]
	return group, l.closed
}

func (l *Log) commit(group []*request) {
	l.writing.Lock()
	defer l.writing.Unlock()
	now := time.Now()
	b := l.db.NewBatch()
	defer func() { _ = b.Close() }() // it only gives its memory back
	_, first := l.Bounds()
	last := first
	for _, r := range group {
		from := 0
		for _, end := range r.ends {
			last++
			e := r.stored[from:end]
			binary.BigEndian.PutUint64(e[1:], uint64(now.UnixNano()))
			d := b.SetDeferred(9, len(e))
			d.Key[0] = spaceEntry
			binary.BigEndian.PutUint64(d.Key[1:], last)
			copy(d.Value, e)
			_ = d.Finish()
			from = end
		}
		r.last = last
	}
	if err := b.Commit(pebble.Sync); err != nil {
		for _, r := range group {
			r.last, r.err = 0, fmt.Errorf("append to the log: %w", err)
		}
		return
	}
	at := time.Unix(0, now.UnixNano()).UTC() // as it is read
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range group {
		from := 0
		for i, deltas := range r.events {
			first++
			l.recent.add(Entry{Offset: first, Appended: at, Deltas: deltas}, r.ends[i]-from)
			from = r.ends[i]
		}
	}
	l.syncs++
	l.last = last
	close(l.grown)
	l.grown = make(chan struct{})
}
