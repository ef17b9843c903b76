// Package region is one region's node: it takes deltas in, keeps them in a
// log, and one writer applies them, in log order, to the region's graph.
//
//	Append  → log (one sync for many) → receipt
//	apply   → load → plan over the overlay of the batch → Store.Apply
//	derive  → what follows from the SQL of a process, and again when a schema or a name changes
//	stream  → each entry that readers can see is told to those who follow (region/bus)
//	View    → waits until what was asked for is applied
//
// What can't be planned is set aside as a dead letter. What presses back:
// entries that wait to be applied, bytes in flight, and little free space.
package region

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"headwater/graph"
	"headwater/ingest"
	"headwater/region/bus"
	"headwater/region/log"
)

// Options say how a node runs. Region is needed; the rest has defaults.
type Options struct {
	Region string
	// Retention is how long closed versions are kept. Default: 90 days; less
	// than 0 is forever.
	Retention time.Duration
	// MaxLag is how many entries may wait to be applied. Default: 200,000.
	MaxLag uint64
	// MaxBytes is how many bytes of deltas may be on their way into the log.
	// Default: 256 MiB.
	MaxBytes int64
	// MinFree is the free space, in bytes, below which intake refuses.
	// Default: 1 GiB; less than 0 is none.
	MinFree int64
	// StreamEntries and StreamAge bound how much of the change stream is kept:
	// so many entries, and none older. Default: 1,000,000 and 24 hours; less
	// than 0 is no bound.
	StreamEntries int
	StreamAge     time.Duration
	// Free returns the free space of the data's disk, in bytes. Default: asks
	// the file system of Dir.
	Free func() (int64, error)
	Dir  string
	// Rules are the aliases and naming rules of the configuration.
	Rules Rules
	// Derive finds what follows from what processes say; nil finds nothing.
	Derive Deriver
	// Plan is graph.Plan, unless a test breaks it on purpose.
	Plan func(s *graph.State, d *graph.Delta) (graph.Planned, error)
	Log  *slog.Logger
}

func (o *Options) defaults() {
	if o.Retention == 0 {
		o.Retention = 90 * 24 * time.Hour
	}
	if o.MaxLag == 0 {
		o.MaxLag = 200_000
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = 256 << 20
	}
	if o.MinFree == 0 {
		o.MinFree = 1 << 30
	}
	if o.StreamEntries == 0 {
		o.StreamEntries = 1_000_000
	}
	if o.StreamAge == 0 {
		o.StreamAge = 24 * time.Hour
	}
	if o.Plan == nil {
		o.Plan = graph.Plan
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Free == nil {
		dir := o.Dir
		o.Free = func() (int64, error) {
			u, err := vfs.Default.GetDiskUsage(filepath.Clean(dir))
			return int64(min(u.AvailBytes, math.MaxInt64)), err
		}
	}
}

// Stats count what a node has done since it started.
type Stats struct {
	// Events and Deltas were acknowledged.
	Events, Deltas atomic.Uint64
	// Changes moved the revision; Touches only refreshed; Dead were set aside.
	Changes, Touches, Dead atomic.Uint64
	// Refused is how often intake was refused for load or space.
	Refused atomic.Uint64
	// Batches were applied.
	Batches atomic.Uint64
}

// A Node is a region. It is safe for use by many at once.
type Node struct {
	o     Options
	store graph.Store
	// keeper is the store if it keeps the change stream, else nil.
	keeper bus.Keeper
	log    *log.Log
	// known is the end of the log when the node was made.
	known uint64
	Stats Stats

	inFlight atomic.Int64
	asked    atomic.Int64 // when a view was last opened, in nanoseconds since 1970
	free     freeSpace
	named    sync.Map // ids of names that rules have been applied to
	derived  derived

	mu       sync.Mutex // guards all below
	applied  graph.Mark
	cursor   bus.Cursor    // behind the newest entry of the change stream
	moved    chan struct{} // closed, and made anew, when applied moves
	oldest   time.Time     // when the oldest entry that waits was appended
	trouble  error         // why applying stands still, if it does
	finished bool
}

var (
	_ ingest.Sink  = (*Node)(nil)
	_ graph.Reader = (*Node)(nil)
)

// New returns a node over an open store and log. Run applies.
func New(store graph.Store, l *log.Log, o Options) (*Node, error) {
	if o.Region == "" {
		return nil, errors.New("region: Options.Region is empty")
	}
	o.defaults()
	n := &Node{o: o, store: store, log: l, moved: make(chan struct{})}
	mark, err := store.Applied(context.Background())
	if err != nil {
		return nil, err
	}
	n.applied = mark
	if err := n.openStream(); err != nil {
		return nil, fmt.Errorf("region %q: %w", o.Region, err)
	}
	derives, err := l.Kept(keptDerives)
	if err != nil {
		return nil, err
	}
	n.derived.any = derives != nil
	first, last := l.Bounds()
	if mark.Position+1 < first {
		return nil, fmt.Errorf("region %q: the graph is at %d, but the log begins at %d: the graph's folder is older than the log's; restore both from one backup", o.Region, mark.Position, first)
	}
	if mark.Position > last {
		o.Log.Warn("the log is behind the graph, as if it had been lost; going on from the graph", "region", o.Region, "graph", mark.Position, "log", last)
		if err := l.Advance(mark.Position); err != nil {
			return nil, err
		}
	}
	n.known = last
	return n, nil
}

// Append implements ingest.Sink.
func (n *Node) Append(ctx context.Context, events [][]graph.Delta) (ingest.Receipt, error) {
	if len(events) == 0 {
		// Nothing to admit: the receipt of what came before.
		return n.append(ctx, nil)
	}
	events = n.withRules(events)
	size := sizeOf(events)
	if err := n.admit(size); err != nil {
		n.Stats.Refused.Add(1)
		return ingest.Receipt{}, err
	}
	defer n.inFlight.Add(-size)
	return n.append(ctx, events)
}

func (n *Node) append(ctx context.Context, events [][]graph.Delta) (ingest.Receipt, error) {
	offset, err := n.log.Append(ctx, events)
	if err != nil {
		return ingest.Receipt{}, err
	}
	n.Stats.Events.Add(uint64(len(events)))
	for _, e := range events {
		n.Stats.Deltas.Add(uint64(len(e)))
	}
	return ingest.Receipt{Region: n.o.Region, Offset: offset}, nil
}

// sizeOf returns about how many bytes events are.
func sizeOf(events [][]graph.Delta) (size int64) {
	name := func(n *graph.Name) { size += int64(len(n.Namespace)+len(n.Name)+len(n.Column)) + 64 }
	sources := func(list []graph.Source) {
		for i := range list {
			name(&list[i].Name)
			size += int64(len(list[i].Expression))
		}
	}
	for _, deltas := range events {
		for i := range deltas {
			d := &deltas[i]
			name(&d.Subject)
			size += int64(len(d.Says.SQL) + len(d.Says.Facts.Description))
			for _, list := range [...][]graph.Dataset{d.Says.Reads, d.Says.Writes} {
				for j := range list {
					name(&list[j].Name)
					for k := range list[j].Facts.Columns {
						size += int64(len(list[j].Facts.Columns[k].Path)) + 64
					}
					if l := list[j].Lineage; l != nil {
						sources(l.Inputs)
						for k := range l.Columns {
							size += int64(len(l.Columns[k].Column)) + 64
							sources(l.Columns[k].Inputs)
						}
					}
				}
			}
			for j := range d.Seen {
				size += int64(len(d.Seen[j].Facets))
			}
		}
	}
	return size
}

// admit reserves size bytes in flight, or says why not.
func (n *Node) admit(size int64) error {
	if err := n.Intake(); err != nil {
		return err
	}
	if total := n.inFlight.Add(size); total > n.o.MaxBytes && total != size {
		n.inFlight.Add(-size)
		return fmt.Errorf("%d MiB are in flight: %w", total>>20, ingest.ErrOverloaded)
	}
	return nil
}

// Intake returns why the node takes nothing in for now, or nil.
func (n *Node) Intake() error {
	if err := n.free.check(&n.o); err != nil {
		return err
	}
	_, last := n.log.Bounds()
	n.mu.Lock()
	defer n.mu.Unlock()
	if lag := last - n.applied.Position; last > n.applied.Position && lag > n.o.MaxLag {
		return fmt.Errorf("%d entries wait: %w", lag, ingest.ErrOverloaded)
	}
	return nil
}

// WaitApplied implements ingest.Sink.
func (n *Node) WaitApplied(ctx context.Context, r ingest.Receipt) error {
	if r.Region != n.o.Region {
		return fmt.Errorf("%s is of another region than %q", r, n.o.Region)
	}
	for {
		n.mu.Lock()
		applied, moved, finished := n.applied.Position, n.moved, n.finished
		n.mu.Unlock()
		if applied >= r.Offset {
			return nil
		}
		if finished {
			return log.ErrClosed
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return fmt.Errorf("%s is not applied yet, %s@%d is: %w", r, n.o.Region, applied, ctx.Err())
		}
	}
}

// A Status is how a node is.
type Status struct {
	Region string
	// Mark is what is applied; Last is the newest entry of the log.
	Mark graph.Mark
	Last uint64
	// Lag is how long the oldest entry has waited to be applied.
	Lag time.Duration
	// Trouble is why applying stands still, or nil. Intake is why nothing is
	// taken in, or nil.
	Trouble, Intake error
}

// Status returns how the node is.
func (n *Node) Status() Status {
	_, last := n.log.Bounds()
	intake := n.Intake()
	n.mu.Lock()
	defer n.mu.Unlock()
	s := Status{Region: n.o.Region, Mark: n.applied, Last: last, Trouble: n.trouble, Intake: intake}
	s.Lag = n.lag(last)
	return s
}

// lag is how long the oldest entry up to last has waited; mu is held.
func (n *Node) lag(last uint64) time.Duration {
	if last <= n.applied.Position || n.oldest.IsZero() {
		return 0
	}
	return time.Since(n.oldest)
}

// Delete ends what is said of a data store or process, until something newer
// is said. It returns once that is applied.
func (n *Node) Delete(ctx context.Context, name graph.Name) (ingest.Receipt, error) {
	name = name.DataStore()
	now := time.Now().UnixNano()
	var deltas []graph.Delta
	_, last := n.log.Bounds()
	if err := n.WaitApplied(ctx, ingest.Receipt{Region: n.o.Region, Offset: last}); err != nil {
		return ingest.Receipt{}, err
	}
	v, err := n.store.View(ctx, graph.At{})
	if err != nil {
		return ingest.Receipt{}, err
	}
	if name.Kind == graph.DataStoreKind {
		_, err = v.Nodes(ctx, []graph.ID{name.ID()}, 0, func(node graph.Node) error {
			deltas = []graph.Delta{{Subject: node.Name, Origin: OriginDeclared, Time: now,
				Says: graph.Content{Writes: []graph.Dataset{{Name: node.Name, Lifecycle: graph.LifecycleDrop}}}}}
			return nil
		})
	} else {
		_, err = v.Says(ctx, []graph.ID{name.ID()}, func(s graph.Said) error {
			deltas = append(deltas, graph.Delta{Subject: s.Record.Subject, Origin: s.Record.Origin, State: graph.Deleting, Time: now})
			return nil
		})
	}
	if err = errors.Join(err, v.Close()); err != nil {
		return ingest.Receipt{}, err
	}
	if len(deltas) == 0 {
		return ingest.Receipt{}, &graph.NotFoundError{What: name.String()}
	}
	r, err := n.Append(ctx, [][]graph.Delta{deltas})
	if err != nil {
		return r, err
	}
	return r, n.WaitApplied(ctx, r)
}

// Store returns the node's graph, for those that read all of it.
func (n *Node) Store() graph.Store { return n.store }

// Dead returns the log, which keeps the dead letters.
func (n *Node) Dead() *log.Log { return n.log }

// Replay plans a dead letter again: it goes into the log anew, and its dead
// letter goes.
func (n *Node) Replay(ctx context.Context, id string) (ingest.Receipt, error) {
	d, err := n.log.DeadByID(id)
	if err != nil {
		return ingest.Receipt{}, err
	}
	r, err := n.append(ctx, [][]graph.Delta{{d.Delta}})
	if err != nil {
		return r, err
	}
	return r, n.log.DropDead(id)
}
