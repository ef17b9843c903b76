package pebble

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/dgraph-io/ristretto/v2"

	"headwater/background"
	"headwater/graph"
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
	// Elsewhere, if not nil, keeps the large rows. The folder then has a
	// write-ahead log, and a batch is on disk when it is applied.
	Elsewhere Elsewhere
	// TopologyBytes is how large the flows in memory may be. Default: as large
	// as they can be.
	TopologyBytes int64
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

// Open opens the store in a folder, or makes one there.
func Open(dir string, o Options) (*Store, error) {
	return OpenContext(context.Background(), dir, o)
}

// OpenContext is Open that gives up when ctx ends. The store closes
// Options.Elsewhere, also when it can't be opened.
func OpenContext(ctx context.Context, dir string, o Options) (s *Store, err error) {
	if o.Elsewhere != nil {
		defer func() {
			if err != nil {
				err = errors.Join(err, o.Elsewhere.Close())
			}
		}()
	}
	o.defaults()
	if o.Region == "" {
		return nil, errors.New("open graph store: Options.Region is empty")
	}
	db, err := pebble.Open(dir, pebbleOptions(&o))
	if err != nil {
		return nil, fmt.Errorf("open graph store in %s: %w", dir, err)
	}
	s = &Store{db: db, dir: dir, o: o}
	s.applier = newApplier(db, &s.there)
	if err := s.begin(dir); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	looked := make(chan error, 1)
	go func() { looked <- s.there.open(db) }() // while the flows are read
	if err := errors.Join(s.beginFlows(ctx), <-looked); err != nil {
		return nil, errors.Join(fmt.Errorf("open graph store in %s: %w", dir, err), db.Close())
	}
	s.facts, err = ristretto.NewCache(&ristretto.Config[uint64, any]{
		NumCounters: max(1024, o.FactsBytes/512), MaxCost: o.FactsBytes, BufferItems: 64, IgnoreInternalCost: true,
	})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, s.publish()
}

// beginFlows brings the flows into memory, from here or from elsewhere.
func (s *Store) beginFlows(ctx context.Context) error {
	if s.o.Elsewhere != nil {
		if err := s.beginElsewhere(ctx); err != nil {
			return err
		}
	}
	if s.o.OnDisk {
		return nil
	}
	return s.load(ctx)
}

func pebbleOptions(o *Options) *pebble.Options {
	p := &pebble.Options{
		CacheSize:          o.CacheBytes,
		MemTableSize:       o.MemTableBytes,
		FS:                 o.FS,
		FormatMajorVersion: pebble.FormatNewest,
		Logger:             logger{o.Log},
		DisableWAL:         o.Elsewhere == nil,
		Merger:             merger,
	}
	for i := range p.Levels {
		p.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
		p.Levels[i].Compression = func() *block.CompressionProfile { return block.SnappyCompression }
	}
	// What is written is small and much. What is new is merged with the rest in
	// large pieces, so that it is rewritten seldom, and compressed then.
	p.Levels[0].Compression = func() *block.CompressionProfile { return block.NoCompression }
	// Each runs on a goroutine of its own.
	p.EventListener = &pebble.EventListener{
		FlushBegin:      func(pebble.FlushInfo) { background.Lower() },
		CompactionBegin: func(pebble.CompactionInfo) { background.Lower() },
	}
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
		return s.flush()
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
	if s.o.Elsewhere == nil {
		if id, err := s.get(metaFolder); err != nil || id != nil {
			return errors.Join(err, fmt.Errorf("the large rows of the graph in %s are in NebulaGraph: open it with its store", dir))
		}
	}
	s.mark, err = readMark(s.db)
	return err
}
