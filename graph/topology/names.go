package topology

import (
	"encoding/binary"
	"math"
	"slices"
	"sync/atomic"

	"headwater/graph"
)

// The slots of a data store's cells.
const (
	slotTableDown = iota
	slotTableUp
	slotUseDown
	slotUseUp
	slotColumnDown
	slotColumnUp
	slotNode  // what the name stands for (alias.go)
	slotFacts // whose version is that of what is said of the node
	storeSlots
)

// Processes have these in place of a data store's columns. Columns and hubs
// have two cells, down and up.
const (
	slotControlDown = 4
	slotControlUp   = 5
)

type (
	// A store is a data store. Its cells are arrays of their own: a walk reads
	// one of them of very many nodes.
	store struct {
		id    [16]byte
		first atomic.Uint32 // 1 + its newest column
	}
	// A process keeps, in this order: uses down and up, control down and up,
	// facts.
	process struct {
		id    [16]byte
		cells [5]cell
	}
	// A part is a column of a data store, or the fan of a process.
	part struct {
		tail  uint64
		base  uint32
		next  uint32 // 1 + the column before it
		cells [2]cell
	}
	// A says is a contribution.
	says struct {
		subject graph.Handle
		origin  uint32
	}
)

// tables are the nodes and contributions, by number. A copy stands still.
type tables struct {
	stores     array[store]
	storeCells [storeSlots]array[cell]
	processes  array[process]
	columns    array[part]
	hubs       array[part]
	says       array[says]
	origins    []string // copied when it grows
}

// names are tables that grow, and the way from ids to numbers.
type names struct {
	tables
	// newest is where readers find columns that are newer than they are.
	newest atomic.Pointer[array[part]]
	// created are the columns that the batch made.
	created []uint32

	storeIndex, processIndex, columnIndex, hubIndex, saysIndex index
}

func head(id graph.ID) (h [16]byte) {
	copy(h[:], id[:])
	return h
}

func tail(id graph.ID) uint64 { return binary.BigEndian.Uint64(id[16:]) }

// The hashes of what is numbered. Ids are hashes themselves.
func hashHead(h *[16]byte) uint64 { return binary.LittleEndian.Uint64(h[8:]) }

func hashPart(base uint32, tail uint64) uint64 { return mix(tail ^ uint64(base)<<20) }

func hashSays(subject graph.Handle, origin uint32) uint64 {
	return mix(uint64(subject)<<16 ^ uint64(origin))
}

func findPart(x *index, parts *array[part], base uint32, tail uint64) (uint32, bool) {
	return x.find(hashPart(base, tail), func(n uint32) bool {
		if n >= parts.n {
			return false // newer than the reader
		}
		p := parts.at(n)
		return p.tail == tail && p.base == base
	})
}

func findStore(x *index, stores *array[store], h [16]byte) (uint32, bool) {
	return x.find(hashHead(&h), func(n uint32) bool { return n < stores.n && stores.at(n).id == h })
}

func findProcess(x *index, processes *array[process], h [16]byte) (uint32, bool) {
	return x.find(hashHead(&h), func(n uint32) bool { return n < processes.n && processes.at(n).id == h })
}

// handle returns the number of a name, which is given one if it has none.
func (n *names) handle(id graph.ID) graph.Handle {
	switch graph.ClassOf(id) {
	case graph.DataStoreClass:
		return graph.MakeHandle(graph.DataStoreClass, n.store(head(id)))
	case graph.ColumnClass:
		return n.column(n.store(head(id)), tail(id))
	case graph.ProcessClass:
		return graph.MakeHandle(graph.ProcessClass, n.process(head(id)))
	}
	base, t := n.process(head(id)), tail(id)
	i, ok := findPart(&n.hubIndex, &n.hubs, base, t)
	if !ok {
		var h *part
		i, h = n.hubs.add()
		h.tail, h.base = t, base
		n.hubIndex.add(i, hashPart(base, t), hashOfPart(&n.hubs))
	}
	return graph.MakeHandle(graph.HubClass, i)
}

func (n *tables) hashOfStore(i uint32) uint64   { return hashHead(&n.stores.at(i).id) }
func (n *tables) hashOfProcess(i uint32) uint64 { return hashHead(&n.processes.at(i).id) }

func (n *tables) hashOfSays(i uint32) uint64 {
	s := n.says.at(i)
	return hashSays(s.subject, s.origin)
}

func hashOfPart(parts *array[part]) func(uint32) uint64 {
	return func(n uint32) uint64 { p := parts.at(n); return hashPart(p.base, p.tail) }
}

func (n *names) store(h [16]byte) uint32 {
	i, ok := findStore(&n.storeIndex, &n.stores, h)
	if !ok {
		var s *store
		i, s = n.stores.add()
		s.id = h
		for slot := range n.storeCells {
			n.storeCells[slot].grow(i + 1)
		}
		n.storeIndex.add(i, hashHead(&h), n.hashOfStore)
	}
	return i
}

func (n *names) process(h [16]byte) uint32 {
	i, ok := findProcess(&n.processIndex, &n.processes, h)
	if !ok {
		var p *process
		i, p = n.processes.add()
		p.id = h
		n.processIndex.add(i, hashHead(&h), n.hashOfProcess)
	}
	return i
}

func (n *names) column(base uint32, tail uint64) graph.Handle {
	i, ok := findPart(&n.columnIndex, &n.columns, base, tail)
	if !ok {
		var c *part
		s := n.stores.at(base)
		i, c = n.columns.add()
		if i%chunkLen == 0 {
			columns := n.columns
			n.newest.Store(&columns)
		}
		c.tail, c.base, c.next = tail, base, s.first.Load()
		n.columnIndex.add(i, hashPart(base, tail), hashOfPart(&n.columns))
		s.first.Store(i + 1)
		n.created = append(n.created, i)
	}
	return graph.MakeHandle(graph.ColumnClass, i)
}

// by returns the number of a contribution, which is given one if it has none.
func (n *names) by(k graph.Key) uint32 {
	origin := slices.Index(n.origins, k.Origin)
	if origin < 0 {
		origin = len(n.origins)
		n.origins = append(slices.Clip(n.origins), k.Origin)
	}
	subject := n.handle(k.Subject)
	i, ok := n.saysIndex.find(hashSays(subject, uint32(origin)), func(i uint32) bool {
		s := n.says.at(i)
		return s.subject == subject && s.origin == uint32(origin)
	})
	if !ok {
		var s *says
		i, s = n.says.add()
		s.subject, s.origin = subject, uint32(origin)
		n.saysIndex.add(i, hashSays(subject, uint32(origin)), n.hashOfSays)
	}
	return i
}

// Numbers run out at maxNames nodes of a class, or maxSays contributions. That
// is looked at once a batch, which brings fewer than room.
const (
	room     = 1 << 24
	maxNames = graph.MaxHandles - room
	maxSays  = math.MaxUint32 - room
)

// full reports whether there are more nodes of a class, or contributions, than
// may be.
func (n *tables) full(names uint32) bool {
	return max(n.stores.n, n.columns.n, n.processes.n, n.hubs.n) > names || n.says.n > maxSays
}

// cell returns a cell of a node.
func (n *tables) cell(h graph.Handle, slot int) *cell {
	switch i := h.Index(); h.Class() {
	case graph.DataStoreClass:
		return n.storeCells[slot].at(i)
	case graph.ProcessClass:
		return &n.processes.at(i).cells[processSlot(slot)]
	case graph.ColumnClass:
		return &n.columns.at(i).cells[slot&1]
	default:
		return &n.hubs.at(i).cells[slot&1]
	}
}

func processSlot(slot int) int {
	switch slot {
	case slotUseDown, slotUseUp:
		return slot - slotUseDown
	case slotFacts:
		return 4
	}
	return slot - slotControlDown + 2
}

// slotOf returns the slot of the flows of a layer and direction.
func slotOf(layer graph.Layer, dir graph.Direction) int {
	slot := slotTableDown
	switch layer {
	case graph.UseLayer:
		slot = slotUseDown
	case graph.ColumnLayer:
		slot = slotColumnDown
	case graph.ControlLayer:
		slot = slotControlDown
	}
	return slot + int(dir) // Downstream is 0, Upstream 1
}

// hasLayer reports whether nodes of a class have flows in a layer.
func hasLayer(class int, layer graph.Layer) bool {
	switch class {
	case graph.DataStoreClass:
		return layer != graph.ControlLayer
	case graph.ColumnClass:
		return layer == graph.ColumnLayer
	case graph.ProcessClass:
		return layer == graph.UseLayer || layer == graph.ControlLayer
	}
	return layer == graph.TableLayer
}

// id returns the id of a name.
func (n *tables) id(h graph.Handle) (id graph.ID) {
	n.idInto(h, &id)
	return id
}

// ids fills ids with those of names. The memory is asked for those of data
// stores, which most are, together.
func (n *tables) ids(hs []graph.Handle, ids []graph.ID) {
	ids = ids[:len(hs)]
	chunks := n.stores.chunks
	for i, h := range hs {
		if h.Class() != graph.DataStoreClass {
			n.idInto(h, &ids[i])
			continue
		}
		s := &chunks[h.Index()>>chunkShift][h.Index()&(chunkLen-1)]
		*(*[16]byte)(ids[i][:]) = s.id
		*(*[8]byte)(ids[i][16:]) = [8]byte{}
	}
}

func (n *tables) idInto(h graph.Handle, id *graph.ID) {
	switch i := h.Index(); h.Class() {
	case graph.DataStoreClass:
		copy(id[:], n.stores.at(i).id[:])
		clear(id[16:])
	case graph.ProcessClass:
		copy(id[:], n.processes.at(i).id[:])
		clear(id[16:])
	case graph.ColumnClass:
		c := n.columns.at(i)
		copy(id[:], n.stores.at(c.base).id[:])
		binary.BigEndian.PutUint64(id[16:], c.tail)
	default:
		c := n.hubs.at(i)
		copy(id[:], n.processes.at(c.base).id[:])
		binary.BigEndian.PutUint64(id[16:], c.tail)
	}
}
