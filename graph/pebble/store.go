// Package pebble keeps a graph on a local disk, in Pebble: the default engine.
//
//	keys.go    what is stored under which key
//	open.go, store.go  open, close, marks
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
//	elsewhere.go  large rows that are kept outside of the folder, if Options say so
//	away.go, far.go, farlist.go, ahead.go  what the folder keeps of those, and how they are read
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
	"sync"
	"sync/atomic"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/cockroachdb/pebble/v2"
	"github.com/dgraph-io/ristretto/v2"

	"headwater/graph"
	"headwater/graph/topology"
)

// A Store is a graph in a folder.
type Store struct {
	db    *pebble.DB
	dir   string
	o     Options
	facts *ristretto.Cache[uint64, any]
	reads atomic.Uint64
	there there
	stats atomic.Pointer[topology.Stats] // as FlowStats returned them; nil: none

	mu       sync.Mutex // guards all below; held while a batch is applied
	mark     graph.Mark
	ordinal  uint64 // of the last batch, where rows are elsewhere
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
	// These two are there where rows are elsewhere: the folder's id, and the
	// ordinal of the last batch.
	metaFolder  = append(space(spaceMeta), "folder"...)
	metaOrdinal = append(space(spaceMeta), "ordinal"...)
)

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

// Applied implements graph.Store. It does not wait for a batch that is being
// applied, which may take long where rows are elsewhere.
func (s *Store) Applied(context.Context) (graph.Mark, error) {
	s.views.Lock()
	defer s.views.Unlock()
	if s.newest == nil {
		return graph.Mark{}, errClosed
	}
	return s.newest.rows.mark, nil
}

// Sync makes everything that was applied durable, and returns its mark.
func (s *Store) Sync() (graph.Mark, error) {
	m, err := s.Applied(context.Background())
	if err != nil {
		return m, err
	}
	if durable, err := s.Durable(); err != nil || durable == m {
		return m, err
	}
	return m, s.flush()
}

// Durable returns the mark of what was applied and can't be lost to a crash.
func (s *Store) Durable() (m graph.Mark, err error) {
	if s.o.Elsewhere != nil {
		return s.Applied(context.Background())
	}
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
	if s.o.Elsewhere != nil {
		return s.farContributions(ctx, after)
	}
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
	if s.o.Elsewhere != nil {
		return s.farNames(ctx)
	}
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
	err = errors.Join(err, st.release(), s.db.Close())
	if s.o.Elsewhere != nil {
		err = errors.Join(err, s.o.Elsewhere.Close())
	}
	return err
}

func hash(b []byte) uint64 { return xxhash.Sum64(b) }

// logger sends what Pebble has to say to slog: its notes are our debug.
type logger struct{ log *slog.Logger }

func (l logger) Infof(format string, args ...any) { l.log.Debug(fmt.Sprintf(format, args...)) }

func (l logger) Errorf(format string, args ...any) { l.log.Error(fmt.Sprintf(format, args...)) }

func (l logger) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
