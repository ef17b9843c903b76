// Package log keeps a region's log on disk: what was acknowledged stands in
// it until it is applied. Appends that wait together share one sync. Beside
// the log it keeps the dead letters: what could not be planned.
//
// write.go appends, entry.go has the stored form of entries and reads them,
// recent.go holds the newest in memory, dead.go keeps the dead letters; log.go
// has the rest.
//
// It stands on Pebble, whose write-ahead log and recovery are proven; the log
// itself is a range of keys that is written at one end and cut at the other.
package log

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"

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

// A Log is a durable queue of entries. It may be used by many at once, also
// while it is closed: who comes too late gets ErrClosed.
type Log struct {
	db *pebble.DB

	wake chan struct{} // holds one value if something may be queued
	done chan struct{} // closed when nothing is written any more

	life sync.RWMutex // held for reading while db is used; guards gone
	gone bool

	writing sync.Mutex // held while last is moved

	mu     sync.Mutex // guards all below
	queue  []*request
	last   uint64 // newest durable offset
	first  uint64 // oldest kept offset, or last+1
	closed bool
	grown  chan struct{} // closed, and made anew, when last moves
	syncs  uint64
	recent recent

	rooms sync.Pool // of *[]byte, for the stored form of requests
}

// The keys: 'L' offset for entries, 'D' id for dead letters, 'M' name. Mlast is
// the offset of the last entry that was cut.
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
	l := &Log{db: db, wake: make(chan struct{}, 1), done: make(chan struct{}), grown: make(chan struct{})}
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
		if err := l.db.Set(metaFormat, []byte(want), pebble.Sync); err != nil {
			return err
		}
	} else if string(format) != want {
		return fmt.Errorf("log in %s has format version %s; this headwater reads version %s", dir, format, want)
	}
	last, err := l.get(metaLast)
	if err != nil {
		return err
	}
	if len(last) == 8 {
		l.last = binary.BigEndian.Uint64(last)
	}
	l.first = l.last + 1 // where no entry is kept
	it, err := l.db.NewIter(&pebble.IterOptions{LowerBound: []byte{spaceEntry}, UpperBound: []byte{spaceEntry + 1}})
	if err != nil {
		return err
	}
	if it.First() {
		l.first = binary.BigEndian.Uint64(it.Key()[1:])
	}
	if it.Last() {
		l.last = binary.BigEndian.Uint64(it.Key()[1:])
	}
	return it.Close()
}

// use returns what to call when db is not used any more, or ErrClosed.
func (l *Log) use() (release func(), err error) {
	l.life.RLock()
	if l.gone {
		l.life.RUnlock()
		return nil, ErrClosed
	}
	return l.life.RUnlock, nil
}

func (l *Log) get(k []byte) ([]byte, error) {
	release, err := l.use()
	if err != nil {
		return nil, err
	}
	defer release()
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

func (l *Log) set(k, v []byte) error {
	release, err := l.use()
	if err != nil {
		return err
	}
	defer release()
	return l.db.Set(k, v, pebble.Sync)
}

// Trim forgets the entries up to an offset. After power was lost they may be
// there again.
func (l *Log) Trim(through uint64) error {
	release, err := l.use()
	if err != nil {
		return err
	}
	defer release()
	first, last := l.Bounds()
	if through = min(through, last); through < first {
		return nil
	}
	b := l.db.NewBatch()
	defer func() { _ = b.Close() }() // it only gives its memory back
	_ = b.DeleteRange(numbered(spaceEntry, 0), numbered(spaceEntry, through+1), nil)
	_ = b.Set(metaLast, binary.BigEndian.AppendUint64(nil, through), nil)
	if err := b.Commit(pebble.NoSync); err != nil {
		return fmt.Errorf("cut the log up to %d: %w", through, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.first = max(l.first, through+1)
	return nil
}

// Bounds returns the oldest offset that is kept and the newest; nothing is
// kept if first is last+1.
func (l *Log) Bounds() (first, last uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.first, l.last
}

// Advance makes the next entry follow an offset that is already applied: a
// log that was lost starts where the graph is, not before it. What it holds of
// older entries is applied too, and goes.
func (l *Log) Advance(applied uint64) error {
	release, err := l.use()
	if err != nil {
		return err
	}
	defer release()
	l.writing.Lock()
	defer l.writing.Unlock()
	if _, last := l.Bounds(); last >= applied {
		return nil
	}
	b := l.db.NewBatch()
	defer func() { _ = b.Close() }() // it only gives its memory back
	_ = b.DeleteRange(numbered(spaceEntry, 0), numbered(spaceEntry, applied+1), nil)
	_ = b.Set(metaLast, binary.BigEndian.AppendUint64(nil, applied), nil)
	if err := b.Commit(pebble.Sync); err != nil {
		return fmt.Errorf("advance the log to %d: %w", applied, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last, l.first, l.recent = applied, applied+1, recent{}
	return nil
}

// Keep makes a value of the node's own durable under a name; Kept returns it,
// nil where there is none.
func (l *Log) Keep(name string, value []byte) error {
	return l.set(append([]byte("MK"), name...), value)
}

// Kept returns what Keep was last given under a name.
func (l *Log) Kept(name string) ([]byte, error) { return l.get(append([]byte("MK"), name...)) }

// Syncs returns how many syncs the appends took so far.
func (l *Log) Syncs() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.syncs
}

// Close waits for what is under way and closes the log.
func (l *Log) Close() error {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.awake()
	<-l.done
	l.life.Lock()
	defer l.life.Unlock()
	if l.gone {
		return nil
	}
	l.gone = true
	return l.db.Close()
}

type quiet struct{ log *slog.Logger }

func (q quiet) Infof(format string, args ...any)  { q.log.Debug(fmt.Sprintf(format, args...)) }
func (q quiet) Errorf(format string, args ...any) { q.log.Error(fmt.Sprintf(format, args...)) }
func (q quiet) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
