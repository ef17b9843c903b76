package topology

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"sync"

	"headwater/graph"
)

// A checkpoint is a file of little-endian words of 32 bits:
//
//	magic, format, region, position, revision
//	origins; data stores, processes: ids; columns, fans: tail, base
//	contributions: subject, origin
//	lists: number of the cell, n, n × to, n × by, n × meta of 16 bits
//	names that are not plain: number, node, members<<1 | gone, members
//	checksum (CRC-32C) of all that
//
// Strings are their length and bytes, filled up to a word.
const (
	magic  = 0x70743148 // "H1tp"
	format = 1
)

// ErrCheckpoint is in the chain of errors about a file that is no checkpoint,
// or a damaged one, or one of another graph: the topology is then built anew.
var ErrCheckpoint = errors.New("not a checkpoint that can be used")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Save writes a version of the topology, which is the graph of a region at a
// mark.
func (v *View) Save(w io.Writer, region string, mark graph.Mark) error {
	s := saver{w: w}
	s.word(magic, format)
	s.text(region)
	s.long(mark.Position)
	s.long(mark.Revision)
	s.word(uint32(len(v.origins)))
	for _, o := range v.origins {
		s.text(o)
	}
	s.word(v.stores.n)
	for i := range v.stores.n {
		s.bytes(v.stores.at(i).id[:])
	}
	s.word(v.processes.n)
	for i := range v.processes.n {
		s.bytes(v.processes.at(i).id[:])
	}
	for _, parts := range []*array[part]{&v.columns, &v.hubs} {
		s.word(parts.n)
		for i := range parts.n {
			p := parts.at(i)
			s.long(p.tail)
			s.word(p.base)
		}
	}
	s.word(v.says.n)
	for i := range v.says.n {
		s.word(uint32(v.says.at(i).subject), v.says.at(i).origin)
	}
	v.eachList(s.list(v))
	s.word(none)
	for i := range v.stores.n {
		if !v.isSpecial(graph.MakeHandle(graph.DataStoreClass, i)) {
			continue
		}
		if r := ref(v.at(v.storeCells[slotNode].at(i))); r != 0 {
			s.word(i)
			s.words(nodeWords(v.slabs, r))
		}
	}
	s.word(none)
	s.flush()
	s.word(s.sum)
	s.flush()
	return s.err
}

// none ends a list whose length is not known at its beginning.
const none = math.MaxUint32

// slotsOf lists the slots of a class that have lists.
func slotsOf(class int) []int {
	switch class {
	case graph.DataStoreClass:
		return []int{slotTableDown, slotTableUp, slotUseDown, slotUseUp, slotColumnDown, slotColumnUp}
	case graph.ProcessClass:
		return []int{slotUseDown, slotUseUp, slotControlDown, slotControlUp}
	}
	return []int{0, 1}
}

// eachList calls f with each list that is not empty.
func (v *View) eachList(f func(h graph.Handle, slot int, ref uint32)) {
	for class, n := range [...]uint32{v.stores.n, v.columns.n, v.processes.n, v.hubs.n} {
		slots := slotsOf(class)
		for i := range n {
			h := graph.MakeHandle(class, i)
			for _, slot := range slots {
				if r := ref(v.at(v.cell(h, slot))); r != 0 {
					f(h, slot, r)
				}
			}
		}
	}
}

// A saver writes the file's words, saveAtOnce bytes or more at once, and sums
// them up.
type saver struct {
	w   io.Writer
	b   []byte // not written yet
	sum uint32
	err error
}

const saveAtOnce = 1 << 20

func (s *saver) flush() {
	s.sum = crc32.Update(s.sum, castagnoli, s.b)
	if s.err == nil {
		_, s.err = s.w.Write(s.b)
	}
	s.b = s.b[:0]
}

func (s *saver) bytes(b []byte) {
	if s.b = append(s.b, b...); len(s.b) >= saveAtOnce {
		s.flush()
	}
}

func (s *saver) word(words ...uint32) { s.words(words) }

func (s *saver) words(words []uint32) {
	for _, w := range words {
		s.b = binary.LittleEndian.AppendUint32(s.b, w)
	}
	if len(s.b) >= saveAtOnce {
		s.flush()
	}
}

func (s *saver) long(v uint64) { s.word(uint32(v), uint32(v>>32)) }

func (s *saver) text(t string) {
	s.word(uint32(len(t)))
	s.bytes([]byte(t))
	s.bytes(make([]byte, -len(t)&3))
}

func (s *saver) list(v *View) func(graph.Handle, int, uint32) {
	return func(h graph.Handle, slot int, ref uint32) {
		s.word(uint32(h), uint32(slot), uint32(listLen(v.slabs, ref)))
		var one [1]uint32
		for _, r := range directory(v.slabs, ref, &one) {
			run := readRun(v.slabs, r)
			s.word(uint32(len(run.to)))
			s.words(run.to)
			s.words(run.by)
			s.words(run.meta)
		}
	}
}

// Load reads a checkpoint of a region's graph and returns the mark that it
// was written at. The file is read twice: what is damaged is known before
// anything is made of it.
func Load(file io.ReadSeeker, region string) (*Topology, graph.Mark, error) {
	if err := check(file); err != nil {
		return nil, graph.Mark{}, err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, graph.Mark{}, err
	}
	t := New()
	l := loader{r: bufio.NewReaderSize(file, 1<<20), t: t}
	if l.word() != magic || l.word() != format {
		return nil, graph.Mark{}, fmt.Errorf("of another format: %w", ErrCheckpoint)
	}
	if of := l.text(); of != region {
		return nil, graph.Mark{}, fmt.Errorf("of region %q, not %q: %w", of, region, ErrCheckpoint)
	}
	mark := graph.Mark{Position: l.long(), Revision: l.long()}
	l.names()
	var indexing sync.WaitGroup
	indexing.Go(t.index) // lists name what they are of by number
	l.lists()
	l.special()
	indexing.Wait()
	if l.err != nil {
		return nil, graph.Mark{}, l.err
	}
	return t, mark, t.Publish()
}

// check reads the checksum of a file.
func check(file io.ReadSeeker) error {
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if _, err = file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if size < 8 {
		return fmt.Errorf("%d bytes: %w", size, ErrCheckpoint)
	}
	sum := crc32.New(castagnoli)
	if _, err := io.CopyBuffer(struct{ io.Writer }{sum}, io.LimitReader(file, size-4), make([]byte, min(size, 1<<20))); err != nil {
		return err
	}
	var b [4]byte
	if _, err := io.ReadFull(file, b[:]); err != nil {
		return err
	}
	if binary.LittleEndian.Uint32(b[:]) != sum.Sum32() {
		return fmt.Errorf("its checksum does not fit: %w", ErrCheckpoint)
	}
	return nil
}

type loader struct {
	r   *bufio.Reader
	t   *Topology
	err error
}

func (l *loader) take(n int) []byte {
	if l.err != nil {
		return make([]byte, n)
	}
	b, err := l.r.Peek(n)
	if err != nil {
		l.err = err
		return make([]byte, n)
	}
	_, l.err = l.r.Discard(n)
	return b
}

func (l *loader) word() uint32 { return binary.LittleEndian.Uint32(l.take(4)) }
func (l *loader) long() uint64 { return binary.LittleEndian.Uint64(l.take(8)) }

func (l *loader) text() string {
	n := int(l.word())
	return string(l.take(n + -n&3)[:n])
}

func (l *loader) names() {
	t := l.t
	for range l.word() {
		t.origins = append(t.origins, l.text())
	}
	n := l.word()
	t.stores.grow(n)
	for slot := range t.storeCells {
		t.storeCells[slot].grow(n)
	}
	for i := range n {
		copy(t.stores.at(i).id[:], l.take(16))
	}
	n = l.word()
	t.processes.grow(n)
	for i := range n {
		copy(t.processes.at(i).id[:], l.take(16))
	}
	for _, parts := range []*array[part]{&t.columns, &t.hubs} {
		n := l.word()
		parts.grow(n)
		for i := range n {
			c := parts.at(i)
			c.tail, c.base = l.long(), l.word()
			if parts == &t.columns {
				first := &t.stores.at(c.base).first
				c.next = first.Load()
				first.Store(i + 1)
			}
		}
	}
	columns := t.columns
	t.newest.Store(&columns)
	n = l.word()
	t.says.grow(n)
	for i := range n {
		s := t.says.at(i)
		s.subject, s.origin = graph.Handle(l.word()), l.word()
	}
}

// index makes the indexes of all names.
func (n *names) index() {
	n.storeIndex.fill(n.stores.n, n.hashOfStore)
	n.processIndex.fill(n.processes.n, n.hashOfProcess)
	n.columnIndex.fill(n.columns.n, hashOfPart(&n.columns))
	n.hubIndex.fill(n.hubs.n, hashOfPart(&n.hubs))
	n.saysIndex.fill(n.says.n, n.hashOfSays)
}

func (l *loader) lists() {
	t := l.t
	for l.err == nil {
		h := l.word()
		if h == none {
			return
		}
		slot, total := int(l.word()), int(l.word())
		refs, in := t.refs[:0], laneOf(graph.Handle(h).Class(), slot)
		for n := 0; n < total && l.err == nil; {
			k := int(l.word())
			r, err := l.block(in, k)
			if err != nil {
				l.err = err
				return
			}
			refs = append(refs, r)
			n += k
		}
		t.refs = refs
		to, err := t.writeList(in, refs, total)
		if l.err == nil {
			l.err = err
		}
		if l.err != nil {
			return
		}
		if slot&1 == 0 {
			t.flows += total
		}
		t.cell(graph.Handle(h), slot).Store(uint64(to))
	}
}

// block reads a run of n flows, of a lane.
func (l *loader) block(in lane, n int) (uint32, error) {
	ref, b, err := l.t.arena.alloc(in, runWords(n))
	if err != nil {
		return 0, err
	}
	raw := l.take(int(runWords(n)-1) * 4)
	b[0] = uint32(n) << flagBits
	for i := range b[1:] {
		b[1+i] = binary.LittleEndian.Uint32(raw[4*i:])
	}
	for i := range n {
		b[0] |= flagsOf(uint16(b[1+2*n+i>>1] >> (16 * (i & 1))))
	}
	return ref, nil
}

func (l *loader) special() {
	t := l.t
	for l.err == nil {
		i := l.word()
		if i == none {
			return
		}
		node, flags := l.word(), l.word()
		ref, b, err := t.arena.alloc(laneNode, wordsOfNode+flags>>1)
		if err != nil {
			l.err = err
			return
		}
		b[0], b[1] = node, flags
		for j := range flags >> 1 {
			b[wordsOfNode+j] = l.word()
		}
		if l.err != nil {
			return
		}
		t.markSpecial(i)
		t.storeCells[slotNode].at(i).Store(uint64(ref))
	}
}
