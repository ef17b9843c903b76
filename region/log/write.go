package log

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"headwater/graph"
)

// A request is events that wait to be written, in their stored form.
type request struct {
	entries [][]byte
	bytes   int
	last    uint64
	err     error
	done    chan struct{}
}

// Append makes events durable, an entry each, in order, and returns the
// offset of the last. All are kept or none. It does not return before that is
// settled, whatever becomes of ctx.
func (l *Log) Append(ctx context.Context, events [][]graph.Delta) (uint64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	r := &request{done: make(chan struct{})}
	for _, deltas := range events {
		e := appendEntry(nil, 0, deltas)
		r.entries, r.bytes = append(r.entries, e), r.bytes+len(e)
	}
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
	for n < len(l.queue) && (n == 0 || bytes+l.queue[n].bytes <= maxGroup) {
		bytes += l.queue[n].bytes
		n++
	}
	group, l.queue = l.queue[:n:n], l.queue[n:]
	return group, l.closed
}

func (l *Log) commit(group []*request) {
	l.writing.Lock()
	defer l.writing.Unlock()
	now := uint64(time.Now().UnixNano())
	b := l.db.NewBatch()
	defer func() { _ = b.Close() }() // it only gives its memory back
	_, last := l.Bounds()
	for _, r := range group {
		for _, e := range r.entries {
			last++
			binary.BigEndian.PutUint64(e[1:], now)
			_ = b.Set(numbered(spaceEntry, last), e, nil)
		}
		r.last, r.entries = last, nil
	}
	_ = b.Set(metaLast, binary.BigEndian.AppendUint64(nil, last), nil)
	if err := b.Commit(pebble.Sync); err != nil {
		for _, r := range group {
			r.last, r.err = 0, fmt.Errorf("append to the log: %w", err)
		}
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.syncs++
	l.last = last
	close(l.grown)
	l.grown = make(chan struct{})
}
