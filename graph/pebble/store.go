// Package pebble keeps a graph on a local disk, in Pebble: the default engine.
//
//	keys.go    what is stored under which key
//	store.go   open, close, marks
//	load.go    what planning reads
//	apply.go   a batch becomes one atomic write
//	read.go    the rows of one snapshot (graph.Raw)
//	state.go, topology.go  the graph after one batch, which views share; its flows in memory
//	search.go  names by prefix, word and substring
//	changes.go which nodes each revision touched
//	stream.go  the region's change stream
//	writer.go  the writes of a batch, in order
//	merge.go   what is only seen
//	there.go   what need not be looked for
//
// A batch and its mark are one atomic write, to memory: there is no write-ahead
// log, for the region's log is one. Memory is written to disk as it fills, in
// order, so that what is found after a crash is the graph as it was at its
// mark, and the region's log is replayed from there. Sync writes all of it, so
// that the log can be cut.
package pebble

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/dgraph-io/ristretto/v2"

	"headwater/graph"
	"headwater/graph/topology"
)

// Options say how a store is opened. Region is needed; the rest has defaults.
type Options struct {
	// Region is the region whose graph this is. A store belongs to one.
	Region string
	// CacheBytes is the size of the block cache. Default: 256 MiB.
	CacheBytes int64
	// MemTableBytes is the size of one memtable. Default: 64 MiB.
	MemTableBytes uint64
	// FactsBytes is the size of the cache of what is known of nodes. Default:
	// 128 MiB.
	FactsBytes int64
	// OnDisk: flows are read from disk, not kept in memory.
	OnDisk bool
	// KeepChanges is of how many revisions it is kept which nodes they touched.
	// Default: 1,000,000.
	KeepChanges uint64
	// FS is the file system. Default: the machine's.
	FS  vfs.FS
	Log *slog.Logger
}

func (o *Options) defaults() {
	if o.CacheBytes == 0 {
		o.CacheBytes = 256 << 20
	}
	if o.MemTableBytes == 0 {
		o.MemTableBytes = 64 << 20
	}
	if o.FactsBytes == 0 {
		o.FactsBytes = 128 << 20
	}
	if o.KeepChanges == 0 {
		o.KeepChanges = 1_000_000
	}
	if o.FS == nil {
		o.FS = vfs.Default
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
}

// A Store is a graph in a folder.
type Store struct {
	db    *pebble.DB
	dir   string
	o     Options
	facts *ristretto.Cache[uint64, any]
	reads atomic.Uint64
	there there

	mu       sync.Mutex // guards all below; held while a batch is applied
	mark     graph.Mark
	applier  applier
	topology *topology.Topology // nil: not kept
	// saved is the mark of the checkpoint of the topology, savedAt when it was
	// written and savingTook how long that took.
	saved      graph.Mark
	savedAt    time.Time
	savingTook time.Duration

	saving     sync.Mutex // held while a checkpoint is written
	background sync.WaitGroup

	views  sync.Mutex // guards newest, and the refs of states
	newest *state
}

var _ graph.Store = (*Store)(nil)

var (
	metaFormat = append(space(spaceMeta), "format"...)
	metaRegion = append(space(spaceMeta), "region"...)
	metaMark   = append(space(spaceMeta), "mark"...)
)

// Open opens the store in a folder, or makes one there.
func Open(dir string, o Options) (*Store, error) {
	o.defaults()
	if o.Region == "" {
		return nil, errors.New("open graph store: Options.Region is empty")
	}
	db, err := pebble.Open(dir, pebbleOptions(&o))
	if err != nil {
		return nil, fmt.Errorf("open graph store in %s: %w", dir, err)
	}
	s := &Store{db: db, dir: dir, o: o}
	s.applier = newApplier(db, &s.there)
	if err := s.begin(dir); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if !o.OnDisk {
		if err := s.load(context.Background()); err != nil {
			return nil, errors.Join(fmt.Errorf("open graph store in %s: %w", dir, err), db.Close())
		}
	}
	s.facts, err = ristretto.NewCache(&ristretto.Config[uint64, any]{
		NumCounters: max(1024, o.FactsBytes/512), MaxCost: o.FactsBytes, BufferItems: 64, IgnoreInternalCost: true,
	})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, s.publish()
}

func pebbleOptions(o *Options) *pebble.Options {
	p := &pebble.Options{
		CacheSize:          o.CacheBytes,
		MemTableSize:       o.MemTableBytes,
		FS:                 o.FS,
		FormatMajorVersion: pebble.FormatNewest,
		Logger:             logger{o.Log},
		DisableWAL:         true,
		Merger:             merger,
	}
	for i := range p.Levels {
		p.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
		p.Levels[i].Compression = func() *block.CompressionProfile { return block.SnappyCompression }
	}
	// What is written is small and much. What is new is merged with the rest in
	// large pieces, so that it is rewritten seldom, and compressed then.
	p.Levels[0].Compression = func() *block.CompressionProfile { return block.NoCompression }
	p.MemTableStopWritesThreshold = 4
	p.L0CompactionThreshold, p.L0StopWritesThreshold = 6, 24
	p.LBaseMaxBytes = 512 << 20
	return p
}

// begin checks what the folder holds, or marks an empty one as ours.
func (s *Store) begin(dir string) error {
	format, err := s.get(metaFormat)
	if err != nil {
		return err
	}
	if format == nil {
		b := s.db.NewBatch()
		set(b, metaFormat, []byte(strconv.Itoa(graph.FormatVersion)))
		set(b, metaRegion, []byte(s.o.Region))
		if err := b.Commit(pebble.NoSync); err != nil {
			return err
		}
		return errors.Join(s.flush(), s.there.open(s.db))
	}
	if v := string(format); v != strconv.Itoa(graph.FormatVersion) {
		return fmt.Errorf("graph store in %s has format version %s; this headwater reads version %d", dir, v, graph.FormatVersion)
	}
	region, err := s.get(metaRegion)
	if err != nil {
		return err
	}
	if string(region) != s.o.Region {
		return fmt.Errorf("graph store in %s belongs to region %q, not %q", dir, region, s.o.Region)
	}
	if s.mark, err = readMark(s.db); err != nil {
		return err
	}
	return s.there.open(s.db)
}

func readMark(r pebble.Reader) (graph.Mark, error) {
	b, err := get(r, metaMark)
	if err != nil || b == nil {
		return graph.Mark{}, err
	}
	return decodeMark(b)
}

func decodeMark(b []byte) (graph.Mark, error) {
	if len(b) != 16 {
		return graph.Mark{}, fmt.Errorf("mark of %d bytes: %w", len(b), graph.ErrFormat)
	}
	return graph.Mark{Position: binary.BigEndian.Uint64(b), Revision: binary.BigEndian.Uint64(b[8:])}, nil
}

// get returns a copy of the value of a key, nil where there is none.
func get(r pebble.Reader, k []byte) ([]byte, error) {
	v, closer, err := r.Get(k)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	c := append(make([]byte, 0, len(v)), v...)
	return c, closer.Close()
}

func (s *Store) get(k []byte) ([]byte, error) { return get(s.db, k) }

func set(b *pebble.Batch, k, v []byte) { _ = b.Set(k, v, nil) } // fails at the commit if at all

// scan calls f with what stands under a prefix, until it returns false. The
// slices are f's only until it returns; the key comes without the prefix.
func scan(r pebble.Reader, prefix []byte, f func(rest, value []byte) (bool, error)) (err error) {
	it, err := r.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: after(prefix)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for ok := it.First(); ok; ok = it.Next() {
		v, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		if more, err := f(it.Key()[len(prefix):], v); err != nil || !more {
			return err
		}
	}
	return it.Error()
}

// Applied implements graph.Store.
func (s *Store) Applied(context.Context) (graph.Mark, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mark, nil
}

// Sync makes everything that was applied durable, and returns its mark.
func (s *Store) Sync() (graph.Mark, error) {
	s.mu.Lock()
	m := s.mark
	s.mu.Unlock()
	if durable, err := s.Durable(); err != nil || durable == m {
		return m, err
	}
	return m, s.flush()
}

// Durable returns the mark of what was applied and can't be lost to a crash.
func (s *Store) Durable() (m graph.Mark, err error) {
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: metaMark, UpperBound: after(metaMark), OnlyReadGuaranteedDurable: true})
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	if !it.First() {
		return m, it.Error()
	}
	b, err := it.ValueAndErr()
	if err != nil {
		return m, err
	}
	return decodeMark(b)
}

// flushTimeout is how long a flush may take: one for which there is no space
// is tried again, forever.
const flushTimeout = 30 * time.Second

func (s *Store) flush() error {
	flushed, err := s.db.AsyncFlush()
	if err != nil {
		return err
	}
	select {
	case <-flushed:
		return nil
	case <-time.After(flushTimeout):
		return fmt.Errorf("write the graph to disk: not done after %s; is there space?", flushTimeout)
	}
}

// View implements graph.Store. It waits for nothing: the region does.
func (s *Store) View(_ context.Context, at graph.At) (graph.View, error) {
	st, err := s.take()
	if err != nil {
		return nil, err
	}
	when := int64(graph.Forever)
	if !at.AsOf.IsZero() {
		when = at.AsOf.UnixNano()
	}
	return graph.NewView(&viewed{state: st}, when), nil
}

// Contributions implements graph.Store.
func (s *Store) Contributions(ctx context.Context, after graph.Key) iter.Seq2[graph.Record, error] {
	return func(yield func(graph.Record, error) bool) {
		start := space(spaceRecord).by(after)
		err := scan(s.db, space(spaceRecord), func(rest, v []byte) (bool, error) {
			if string(rest) <= string(start[1:]) && after != (graph.Key{}) {
				return true, ctx.Err()
			}
			r, err := graph.DecodeRecord(v)
			if err != nil {
				return false, err
			}
			return yield(r, nil), ctx.Err()
		})
		if err != nil {
			yield(graph.Record{}, err)
		}
	}
}

// Names implements graph.Store.
func (s *Store) Names(ctx context.Context) iter.Seq2[graph.Name, error] {
	return func(yield func(graph.Name, error) bool) {
		err := scan(s.db, space(spaceName), func(_, v []byte) (bool, error) {
			n, err := graph.DecodeName(v)
			if err != nil || n.Column != "" {
				return true, err // a path of columns
			}
			return yield(n, nil), ctx.Err()
		})
		if err != nil {
			yield(graph.Name{}, err)
		}
	}
}

// Compact waits for what is in memory to be on disk, and all of it compacted.
func (s *Store) Compact(ctx context.Context) error {
	if err := s.db.Flush(); err != nil {
		return err
	}
	return s.db.Compact(ctx, []byte{0}, []byte{0xff}, true)
}

// DiskBytes returns how much disk the store takes.
func (s *Store) DiskBytes() uint64 { return s.db.Metrics().DiskSpaceUsage() }

// Close closes the store. Views must have been closed before.
func (s *Store) Close() error {
	s.background.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.views.Lock()
	st := s.newest
	s.newest = nil
	s.views.Unlock()
	if st == nil {
		return nil
	}
	err := s.flush()
	if st.flows != nil && s.saved.Revision != st.rows.mark.Revision {
		if e := s.checkpoint(st); e != nil {
			s.o.Log.Warn("write a checkpoint of the flows; opening will take longer", "region", s.o.Region, "err", e)
		}
	}
	s.facts.Close()
	return errors.Join(err, st.release(), s.db.Close())
}

func hash(b []byte) uint64 { return xxhash.Sum64(b) }

// logger sends what Pebble has to say to slog: its notes are our debug.
type logger struct{ log *slog.Logger }

func (l logger) Infof(format string, args ...any) { l.log.Debug(fmt.Sprintf(format, args...)) }

func (l logger) Errorf(format string, args ...any) { l.log.Error(fmt.Sprintf(format, args...)) }

func (l logger) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
