package log

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"headwater/graph"
)

// An Entry is one acknowledged event.
type Entry struct {
	// Offset counts from 1.
	Offset uint64
	// Appended is when it was acknowledged.
	Appended time.Time
	Deltas   []graph.Delta
}

// appendEntry appends the stored form of an entry: the version, the time, the
// number of deltas, and each with its length before it, in 4 bytes.
func appendEntry(b []byte, now int64, deltas []graph.Delta) []byte {
	b = append(b, graph.FormatVersion)
	b = binary.BigEndian.AppendUint64(b, uint64(now))
	b = binary.AppendUvarint(b, uint64(len(deltas)))
	for i := range deltas {
		at := len(b)
		b = graph.AppendDelta(append(b, 0, 0, 0, 0), &deltas[i])
		binary.BigEndian.PutUint32(b[at:], uint32(len(b)-at-4))
	}
	return b
}

func decodeEntry(offset uint64, b []byte) (Entry, error) {
	bad := func() (Entry, error) {
		return Entry{}, fmt.Errorf("log entry %d of %d bytes: %w", offset, len(b), graph.ErrFormat)
	}
	if len(b) < 10 || b[0] != graph.FormatVersion {
		return bad()
	}
	e := Entry{Offset: offset, Appended: time.Unix(0, int64(binary.BigEndian.Uint64(b[1:]))).UTC()}
	n, size := binary.Uvarint(b[9:])
	if size <= 0 || n > uint64(len(b)) {
		return bad()
	}
	rest := append([]byte(nil), b[9+size:]...) // deltas keep parts of it
	for range n {
		if len(rest) < 4 || uint64(binary.BigEndian.Uint32(rest)) > uint64(len(rest)-4) {
			return bad()
		}
		length := binary.BigEndian.Uint32(rest)
		rest = rest[4:]
		d, err := graph.DecodeDelta(rest[:length:length])
		if err != nil {
			return Entry{}, fmt.Errorf("log entry %d: %w", offset, err)
		}
		e.Deltas = append(e.Deltas, d)
		rest = rest[length:]
	}
	if len(rest) > 0 {
		return bad()
	}
	return e, nil
}

// Read returns entries from an offset on, which is kept: at most max of them
// and about maxBytes, at least one. It waits until there is one, or ctx ends.
// The entries are shared with other readers, and not to be changed. Who reads
// on needs no more what was before: it is read from disk then.
func (l *Log) Read(ctx context.Context, from uint64, max, maxBytes int) ([]Entry, error) {
	for {
		release, err := l.use()
		if err != nil {
			return nil, err
		}
		release()
		l.mu.Lock()
		last, grown := l.last, l.grown
		entries := l.recent.read(from, max, maxBytes)
		l.mu.Unlock()
		if len(entries) > 0 {
			return entries, nil
		}
		if last >= from {
			return l.read(from, last, max, maxBytes)
		}
		select {
		case <-grown:
		case <-l.done:
			return nil, ErrClosed
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (l *Log) read(from, last uint64, max, maxBytes int) (entries []Entry, err error) {
	release, err := l.use()
	if err != nil {
		return nil, err
	}
	defer release()
	it, err := l.db.NewIter(&pebble.IterOptions{LowerBound: numbered(spaceEntry, from), UpperBound: numbered(spaceEntry, last+1)})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for ok := it.First(); ok && (len(entries) == 0 || len(entries) < max && maxBytes > 0); ok = it.Next() {
		v, err := it.ValueAndErr()
		if err != nil {
			return nil, err
		}
		offset := binary.BigEndian.Uint64(it.Key()[1:])
		if want := from + uint64(len(entries)); offset != want {
			return nil, fmt.Errorf("log entry %d is missing, %d follows: %w", want, offset, graph.ErrFormat)
		}
		e, err := decodeEntry(offset, v)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
		maxBytes -= len(v)
	}
	if err := it.Error(); err != nil {
		return nil, err
	}
	if len(entries) == 0 {
		return nil, fmt.Errorf("log entries from %d to %d are missing: %w", from, last, graph.ErrFormat)
	}
	return entries, nil
}
