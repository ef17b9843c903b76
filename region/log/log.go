// Package log keeps a region's log on disk: what was acknowledged stands in
// it until it is applied. Appends that wait together share one sync. Beside
// the log it keeps the dead letters: what could not be planned.
//
// It stands on Pebble, whose write-ahead log and recovery are proven; the log
// itself is a range of keys that is written at one end and cut at the other.
package log

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"headwater/graph"
)

// ErrClosed is returned once the log is closing.
var ErrClosed = errors.New("the log is closed")

// Options say how a log is opened. The zero value works.
type Options struct {
	// FS is the file system. Default: the machine's.
	FS  vfs.FS
	Log *slog.Logger
}

// An Entry is one acknowledged event.
type Entry struct {
	// Offset counts from 1.
	Offset uint64
	// Appended is when it was acknowledged.
	Appended time.Time
	Deltas   []graph.Delta
}

// A Log is a durable queue of entries. It may be used by many at once.
type Log struct {
	db *pebble.DB

	requests chan *request
	done     chan struct{}

	mu     sync.Mutex // guards all below
	last   uint64     // newest durable offset
	first  uint64     // oldest kept offset, or last+1
	closed bool
	grown  chan struct{} // closed, and made anew, when last moves
	syncs  uint64
}

type request struct {
	events [][]graph.Delta
	last   uint64
	err    error
	done   chan struct{}
}

// The keys: 'L' offset for entries, 'D' id for dead letters, 'M' name.
const (
	spaceEntry = 'L'
	spaceDead  = 'D'
)

var (
	metaFormat = []byte("Mformat")
	metaLast   = []byte("Mlast")
)

func numbered(space byte, n uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{space}, n)
}

// Open opens the log in a folder, or makes one there.
func Open(dir string, o Options) (*Log, error) {
	if o.FS == nil {
		o.FS = vfs.Default
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	db, err := pebble.Open(dir, &pebble.Options{FS: o.FS, FormatMajorVersion: pebble.FormatNewest, MemTableSize: 32 << 20, Logger: quiet{o.Log}})
	if err != nil {
		return nil, fmt.Errorf("open log in %s: %w", dir, err)
	}
	l := &Log{db: db, requests: make(chan *request, 1024), done: make(chan struct{}), grown: make(chan struct{})}
	if err := l.begin(dir); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	go l.write()
	return l, nil
}

func (l *Log) begin(dir string) error {
	format, err := l.get(metaFormat)
	if err != nil {
		return err
	}
	want := strconv.Itoa(graph.FormatVersion)
	if format == nil {
		return l.db.Set(metaFormat, []byte(want), pebble.Sync)
	}
	if string(format) != want {
		return fmt.Errorf("log in %s has format version %s; this headwater reads version %s", dir, format, want)
	}
	last, err := l.get(metaLast)
	if err != nil {
		return err
	}
	if len(last) == 8 {
		l.last = binary.BigEndian.Uint64(last)
	}
	l.first = l.last + 1
	it, err := l.db.NewIter(&pebble.IterOptions{LowerBound: []byte{spaceEntry}, UpperBound: []byte{spaceEntry + 1}})
	if err != nil {
		return err
	}
	if it.First() {
		l.first = binary.BigEndian.Uint64(it.Key()[1:])
	}
	return it.Close()
}

func (l *Log) get(k []byte) ([]byte, error) {
	v, closer, err := l.db.Get(k)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	c := append([]byte{}, v...)
	return c, closer.Close()
}

// Append makes events durable, an entry each, in order, and returns the
// offset of the last. All are kept or none. It does not return before that is
// settled, whatever becomes of ctx.
func (l *Log) Append(ctx context.Context, events [][]graph.Delta) (uint64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	r := &request{events: events, done: make(chan struct{})}
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return 0, ErrClosed
	}
	if len(events) == 0 {
		last := l.last
		l.mu.Unlock()
		return last, nil
	}
	// Sent under the lock, so that Close finds no sender behind it.
	l.requests <- r
	l.mu.Unlock()
	<-r.done
	return r.last, r.err
}

const maxGroup = 512

// write takes the requests that wait and makes them durable with one sync.
func (l *Log) write() {
	defer close(l.done)
	for r := range l.requests {
		group := []*request{r}
		for len(group) < maxGroup {
			select {
			case r, ok := <-l.requests:
				if ok {
					group = append(group, r)
					continue
				}
			default:
			}
			break
		}
		l.commit(group)
		for _, r := range group {
			close(r.done)
		}
	}
}

func (l *Log) commit(group []*request) {
	now := time.Now().UnixNano()
	b := l.db.NewBatch()
	last := l.last // only this goroutine moves it
	var buf []byte
	for _, r := range group {
		for _, deltas := range r.events {
			last++
			buf = appendEntry(buf[:0], now, deltas)
			_ = b.Set(numbered(spaceEntry, last), buf, nil)
		}
		r.last = last
	}
	_ = b.Set(metaLast, binary.BigEndian.AppendUint64(nil, last), nil)
	if err := b.Commit(pebble.Sync); err != nil {
		for _, r := range group {
			r.err = fmt.Errorf("append to the log: %w", err)
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

func appendEntry(b []byte, now int64, deltas []graph.Delta) []byte {
	b = append(b, graph.FormatVersion)
	b = binary.BigEndian.AppendUint64(b, uint64(now))
	b = binary.AppendUvarint(b, uint64(len(deltas)))
	for i := range deltas {
		one := graph.AppendDelta(nil, &deltas[i])
		b = binary.AppendUvarint(b, uint64(len(one)))
		b = append(b, one...)
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
	e := Entry{Offset: offset, Appended: time.Unix(0, int64(binary.BigEndian.Uint64(b[1:])))}
	n, size := binary.Uvarint(b[9:])
	if size <= 0 || n > uint64(len(b)) {
		return bad()
	}
	rest := append([]byte(nil), b[9+size:]...) // deltas keep parts of it
	for range n {
		length, size := binary.Uvarint(rest)
		if size <= 0 || length > uint64(len(rest)-size) {
			return bad()
		}
		rest = rest[size:]
		d, err := graph.DecodeDelta(rest[:length:length])
		if err != nil {
			return Entry{}, fmt.Errorf("log entry %d: %w", offset, err)
		}
		e.Deltas = append(e.Deltas, d)
		rest = rest[length:]
	}
	return e, nil
}

// Read returns entries from an offset on, at most max of them and about
// maxBytes. It waits until there is one, or ctx ends.
func (l *Log) Read(ctx context.Context, from uint64, max, maxBytes int) ([]Entry, error) {
	for {
		l.mu.Lock()
		last, grown := l.last, l.grown
		l.mu.Unlock()
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
	it, err := l.db.NewIter(&pebble.IterOptions{LowerBound: numbered(spaceEntry, from), UpperBound: numbered(spaceEntry, last+1)})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for ok := it.First(); ok && len(entries) < max && maxBytes > 0; ok = it.Next() {
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

// Trim forgets the entries up to an offset.
func (l *Log) Trim(through uint64) error {
	l.mu.Lock()
	first := l.first
	through = min(through, l.last)
	if through+1 > l.first {
		l.first = through + 1
	}
	l.mu.Unlock()
	if through < first {
		return nil
	}
	return l.db.DeleteRange(numbered(spaceEntry, 0), numbered(spaceEntry, through+1), pebble.NoSync)
}

// Bounds returns the oldest offset that is kept and the newest; nothing is
// kept if first is last+1.
func (l *Log) Bounds() (first, last uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.first, l.last
}

// Advance makes the next entry follow an offset that is already applied: a
// log that was lost starts where the graph is, not before it.
func (l *Log) Advance(applied uint64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last >= applied {
		return nil
	}
	if err := l.db.Set(metaLast, binary.BigEndian.AppendUint64(nil, applied), pebble.Sync); err != nil {
		return err
	}
	l.last, l.first = applied, applied+1
	return nil
}

// Keep makes a value of the node's own durable under a name; Kept returns it,
// nil where there is none.
func (l *Log) Keep(name string, value []byte) error {
	return l.db.Set(append([]byte("MK"), name...), value, pebble.Sync)
}

// Kept returns what Keep was last given under a name.
func (l *Log) Kept(name string) ([]byte, error) { return l.get(append([]byte("MK"), name...)) }

// Syncs returns how many syncs the appends took so far.
func (l *Log) Syncs() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.syncs
}

// Close waits for appends under way and closes the log.
func (l *Log) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	l.closed = true
	close(l.requests)
	l.mu.Unlock()
	<-l.done
	return l.db.Close()
}

type quiet struct{ log *slog.Logger }

func (q quiet) Infof(format string, args ...any)  { q.log.Debug(fmt.Sprintf(format, args...)) }
func (q quiet) Errorf(format string, args ...any) { q.log.Error(fmt.Sprintf(format, args...)) }
func (q quiet) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
