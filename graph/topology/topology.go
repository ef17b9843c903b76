// Package topology keeps the current flows of a graph in memory: what is next
// to what, by number, and who says so. Names and facets stay on disk.
//
//	topology.go    the whole: open views, versions, sizes
//	array.go       arrays that grow under readers
//	index.go       ids and pairs → numbers
//	names.go       nodes and contributions, and their numbers
//	arena.go       memory for lists, given back when no view can see it
//	cell.go        where a list stands, by version
//	list.go        lists of flows
//	edit.go        a batch of changes becomes edits of lists
//	alias.go       which node a name stands for, which are gone
//	view.go        one version: names, aliases, contributions
//	hops.go        the flows of many nodes at once, as a question wants them
//	nearest.go     the first flows of a node that has very many
//	build.go       from an engine's rows, and what has changed since
//	checkpoint.go  to a file and back
//
// One writer changes it; a view is one version of it and stands still. See
// DESIGN.md for the reasons.
package topology

import (
	"cmp"
	"errors"
	"sync"
	"sync/atomic"
)

// ErrFull is returned when the graph has outgrown what a topology can number,
// or a node has more flows than one list can hold.
var ErrFull = errors.New("the topology is full")

// A Topology is the flows of one graph. One goroutine at a time may change
// it; views may be taken and read by many meanwhile.
type Topology struct {
	names
	arena arena
	flows int // downstream entries: each flow once

	// special marks data stores that are, or once were, not plain: an alias,
	// the target of one, or gone. It is only ever set.
	special  array[atomic.Uint64]
	specials int    // how many are marked
	aliased  uint32 // the version that last changed what a name stands for
	// building is the version that is being made; cells that it has written
	// carry it.
	building           uint32
	edits              []edit // of the batch, until Publish
	retired            []retirement
	merged, spare      []entry // memory of amend
	refs               []uint32
	maxRun, boundAbove int
	limit              uint32 // of nodes of a class
	// failed is why a part of a batch was not taken: nothing is published any
	// more.
	failed error

	undo undo
	mu   sync.Mutex // guards all below
	now  *View      // published last
	live map[uint32]int
}

// A retirement is a block that views before a version may see.
type retirement struct {
	version uint32
	block   block
}

// New returns an empty topology.
func New() *Topology {
	t := &Topology{building: 1, live: map[uint32]int{}, maxRun: maxRun, boundAbove: boundAbove, limit: maxNames}
	t.undo.was = map[*cell][]uint64{}
	t.arena.begin()
	t.now = t.view(0)
	return t
}

// view is what is built so far, as a version.
func (t *Topology) view(version uint32) *View {
	return &View{t: t, version: version, tables: t.tables, special: t.special, plain: t.specials == 0, aliased: t.aliased, slabs: t.arena.slabs}
}

// Publish makes what was changed since the last Publish visible to the views
// that are taken from now on. Once it, Settle, Realias or Refresh has
// returned an error, nothing more is: the topology is of use to the views that
// there are.
func (t *Topology) Publish() error {
	if err := t.Settle(); err != nil {
		return err
	}
	next := t.view(t.building)
	t.mu.Lock()
	t.now = next
	oldest := next.version
	for v := range t.live {
		oldest = min(oldest, v)
	}
	t.mu.Unlock()
	t.building++
	t.reclaim(oldest)
	return nil
}

// fail notes an error, if it is one and the first, and returns the first.
func (t *Topology) fail(err error) error {
	t.failed = cmp.Or(t.failed, err)
	return t.failed
}

// reclaim takes back what no view can see: blocks, and what cells were.
func (t *Topology) reclaim(oldest uint32) {
	n := 0
	for n < len(t.retired) && t.retired[n].version <= oldest {
		t.arena.free(t.retired[n].block)
		n++
	}
	if n > 0 { // else all is kept, perhaps for long
		t.retired = append(t.retired[:0], t.retired[n:]...)
	}
	t.undo.forget(oldest)
}

// Stats are the sizes of a topology.
type Stats struct {
	DataStores, Columns, Processes, Hubs int
	Contributions                        int
	// Flows counts each flow once, whatever the number of its ends' lists.
	Flows int
	// NodeBytes is the memory of nodes, their numbers and the index of them;
	// FlowBytes that of lists and contributions, with what is free in it.
	NodeBytes, FlowBytes int64
	// Waiting is the memory in bytes of what only older views see.
	Waiting int64
}

// Bytes is the memory of all.
func (s Stats) Bytes() int64 { return s.NodeBytes + s.FlowBytes }

// Stats returns the sizes. It must not be called while the topology changes.
func (t *Topology) Stats() Stats {
	s := Stats{
		DataStores: int(t.stores.n), Columns: int(t.columns.n), Processes: int(t.processes.n), Hubs: int(t.hubs.n),
		Contributions: int(t.says.n), Flows: t.flows,
		NodeBytes: t.stores.bytes() + t.columns.bytes() + t.processes.bytes() + t.hubs.bytes() + t.special.bytes() +
			t.storeIndex.bytes() + t.processIndex.bytes() + t.columnIndex.bytes() + t.hubIndex.bytes(),
		FlowBytes: t.says.bytes() + t.saysIndex.bytes() + t.arena.bytes(),
	}
	for slot := range t.storeCells {
		s.NodeBytes += t.storeCells[slot].bytes()
	}
	for _, r := range t.retired {
		s.Waiting += int64(r.block.words) * 4
	}
	return s
}

// View returns the version that was published last. It must be released.
func (t *Topology) View() *View {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.live[t.now.version]++
	return t.now
}

// Release says that a view that was taken is not read any more.
func (v *View) Release() {
	v.t.mu.Lock()
	defer v.t.mu.Unlock()
	if v.t.live[v.version]--; v.t.live[v.version] == 0 {
		delete(v.t.live, v.version)
	}
}

// Tune sets from how many flows on a run is split, and a list can be asked
// for in part: tests make small lists long.
func (t *Topology) Tune(run, long int) { t.maxRun, t.boundAbove = run, long }
