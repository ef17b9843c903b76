package topology

import (
	"bytes"
	"cmp"

	"headwater/graph"
)

// A list is the flows of one node in one layer and direction, in the order of
// the ids of their other ends, then of the contributions' numbers. A short
// one is a run:
//
//	n<<3 | flags, n × to, n × by, n × meta of 16 bits
//
// A long one is a directory of runs, none of them empty:
//
//	m<<3 | flagLong, how many flows in all, m × ref of a run
//
// Blocks that a view may see are never written to.
const (
	flagLong    = 1 // a directory
	flagCoarse  = 2 // some flow of a run is coarse
	flagControl = 4 // some flow of a run is of the kind CONTROL alone
	flagBits    = 3
)

// A run that would be longer than maxRun is split. Of a list that is longer
// than boundAbove a view may be asked for a part.
const (
	maxRun     = 256
	boundAbove = 1024
)

// The meta of a flow: its kinds, and whether it is coarse.
const metaCoarse = 1 << 15

func meta(kinds graph.Kinds, coarse bool) uint16 {
	if coarse {
		return uint16(kinds) | metaCoarse
	}
	return uint16(kinds)
}

// flagsOf returns what the meta of a flow makes of its run.
func flagsOf(meta uint16) (flags uint32) {
	if meta&metaCoarse != 0 {
		flags = flagCoarse
	}
	if meta&^metaCoarse == uint16(graph.Control) {
		flags |= flagControl
	}
	return flags
}

func runWords(n int) uint32 { return uint32(1 + 2*n + (n+1)/2) }

// A run is flows in the form of a block.
type run struct {
	coarse       bool
	to, by, meta []uint32
}

func (r *run) metaAt(i int) uint16 { return uint16(r.meta[i>>1] >> (16 * (i & 1))) }

func readRun(slabs []*[slabWords]uint32, ref uint32) run {
	head := slabs[ref>>slabShift][ref&(slabWords-1)]
	n := head >> flagBits
	b := slice(slabs, ref+1, runWords(int(n))-1)
	return run{coarse: head&flagCoarse != 0, to: b[:n:n], by: b[n : 2*n : 2*n], meta: b[2*n:]}
}

// directory returns the runs of a list; one as a directory of its own would
// hold it, in one.
func directory(slabs []*[slabWords]uint32, ref uint32, one *[1]uint32) []uint32 {
	if ref == 0 {
		return nil
	}
	head := slabs[ref>>slabShift][ref&(slabWords-1)]
	if head&flagLong == 0 {
		one[0] = ref
		return one[:]
	}
	return slice(slabs, ref+2, head>>flagBits)
}

// An entry is a flow in a list that is being made.
type entry struct {
	to   graph.Handle
	by   uint32
	meta uint16
}

// compare orders nodes by their ids.
func (n *tables) compare(a, b graph.Handle) int {
	if a == b {
		return 0
	}
	x, s := n.parts(a)
	y, t := n.parts(b)
	if x != y {
		if c := bytes.Compare(x[:], y[:]); c != 0 {
			return c
		}
	}
	return cmp.Compare(s, t)
}

// parts returns the two parts of an id.
func (n *tables) parts(h graph.Handle) (head *[16]byte, tail uint64) {
	switch i := h.Index(); h.Class() {
	case graph.DataStoreClass:
		return &n.stores.at(i).id, 0
	case graph.ProcessClass:
		return &n.processes.at(i).id, 0
	case graph.ColumnClass:
		c := n.columns.at(i)
		return &n.stores.at(c.base).id, c.tail
	default:
		c := n.hubs.at(i)
		return &n.processes.at(c.base).id, c.tail
	}
}

func (n *tables) compareEntries(a, b entry) int {
	return cmp.Or(n.compare(a.to, b.to), cmp.Compare(a.by, b.by))
}

// writeRun writes entries as one run, in a lane.
func (t *Topology) writeRun(in lane, es []entry) (uint32, error) {
	n := len(es)
	ref, b, err := t.arena.alloc(in, runWords(n))
	if err != nil {
		return 0, err
	}
	b[0] = uint32(n) << flagBits
	clear(b[1+2*n:])
	for i := range es {
		e := &es[i]
		b[1+i], b[1+n+i] = uint32(e.to), e.by
		b[1+2*n+i>>1] |= uint32(e.meta) << (16 * (i & 1))
		b[0] |= flagsOf(e.meta)
	}
	return ref, nil
}

// appendRun appends the flows of a run to entries.
func (t *Topology) appendRun(es []entry, ref uint32) []entry {
	r := readRun(t.arena.slabs, ref)
	for i := range r.to {
		es = append(es, entry{graph.Handle(r.to[i]), r.by[i], r.metaAt(i)})
	}
	return es
}

// writeRuns writes entries as runs and appends their refs.
func (t *Topology) writeRuns(in lane, refs []uint32, es []entry) ([]uint32, error) {
	parts := 1
	if len(es) > t.maxRun {
		parts = (2*len(es) + t.maxRun - 1) / t.maxRun // room to grow
	}
	for i := range parts {
		part := es[i*len(es)/parts : (i+1)*len(es)/parts]
		if len(part) == 0 {
			continue
		}
		ref, err := t.writeRun(in, part)
		if err != nil {
			return nil, err
		}
		refs = append(refs, ref)
	}
	return refs, nil
}

// writeList writes runs, of so many flows in all, as a list.
func (t *Topology) writeList(in lane, refs []uint32, total int) (uint32, error) {
	switch len(refs) {
	case 0:
		return 0, nil
	case 1:
		return refs[0], nil
	}
	ref, b, err := t.arena.alloc(in, uint32(2+len(refs)))
	if err != nil {
		return 0, err
	}
	b[0], b[1] = uint32(len(refs))<<flagBits|flagLong, uint32(total)
	copy(b[2:], refs)
	return ref, nil
}

// blockAt returns the block at a ref, that of a run or of a directory.
func (t *Topology) blockAt(in lane, ref uint32) block {
	head := t.arena.slice(ref, 1)[0]
	if head&flagLong != 0 {
		return block{ref, 2 + head>>flagBits, in}
	}
	return block{ref, runWords(int(head >> flagBits)), in}
}

// listLen returns how many flows a list has.
func listLen(slabs []*[slabWords]uint32, ref uint32) int {
	if ref == 0 {
		return 0
	}
	s, at := slabs[ref>>slabShift], ref&(slabWords-1)
	if s[at]&flagLong != 0 {
		return int(s[at+1])
	}
	return int(s[at] >> flagBits)
}
