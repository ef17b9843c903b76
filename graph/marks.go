package graph

// marks are a number for each node, 0 at first. They take memory for the
// nodes that were marked, in pages, and are used again after a reset, which
// costs as much as was marked.
type marks struct {
	dirs    [Classes][]uint32 // by page of handles: where it is in words, in pages from 1
	words   []uint32
	touched []Handle // the first handle of each page
}

const (
	pageShift = 4 // a page is a cache line
	pageSize  = 1 << pageShift
)

func (m *marks) get(h Handle) uint32 {
	dir := m.dirs[h>>classShift]
	page := int(h&(1<<classShift-1)) >> pageShift
	if page >= len(dir) {
		return 0
	}
	return m.words[dir[page]<<pageShift|uint32(h)&(pageSize-1)]
}

// at returns the place of a node's number, until the next call of at.
func (m *marks) at(h Handle) *uint32 {
	class := h >> classShift
	page := int(h&(1<<classShift-1)) >> pageShift
	if page >= len(m.dirs[class]) || m.dirs[class][page] == 0 {
		m.add(h, class, page)
	}
	return &m.words[m.dirs[class][page]<<pageShift|uint32(h)&(pageSize-1)]
}

func (m *marks) add(h, class Handle, page int) {
	if len(m.words) == 0 {
		m.words = append(m.words, zeroPage[:]...) // of all that has no page
	}
	if more := page + 1 - len(m.dirs[class]); more > 0 {
		m.dirs[class] = append(m.dirs[class], make([]uint32, more+more/4)...)
	}
	m.dirs[class][page] = uint32(len(m.words) >> pageShift)
	m.words = append(m.words, zeroPage[:]...)
	m.touched = append(m.touched, h&^(pageSize-1))
}

var zeroPage [pageSize]uint32

func (m *marks) reset() {
	for _, h := range m.touched {
		m.dirs[h>>classShift][int(h&(1<<classShift-1))>>pageShift] = 0
	}
	m.touched = m.touched[:0]
	m.words = m.words[:min(len(m.words), pageSize)]
}

// each calls f with each node that has a number.
func (m *marks) each(f func(h Handle, v uint32)) {
	for _, first := range m.touched {
		for i := range Handle(pageSize) {
			if v := m.get(first + i); v != 0 {
				f(first+i, v)
			}
		}
	}
}

// A bitmap is a set of nodes, eight to the byte, so that what a walk asks of each
// flow's end stays in the processor's nearest cache. A reset costs as much as
// the blocks of it that were used.
type bitmap struct {
	words [Classes][]uint64
	used  [Classes][]bool // by block
	dirty []Handle        // the first handle of each used block
}

const (
	blockShift = 12 // of nodes
	blockWords = 1 << blockShift / 64
)

func (b *bitmap) has(h Handle) bool {
	words, i := b.words[h>>classShift], int(h&(1<<classShift-1))
	return i>>6 < len(words) && words[i>>6]>>(i&63)&1 != 0
}

// add puts a node into the set, and reports whether it was not there.
func (b *bitmap) add(h Handle) bool {
	class, i := h>>classShift, int(h&(1<<classShift-1))
	if block := i >> blockShift; block >= len(b.used[class]) || !b.used[class][block] {
		b.open(h, class, block)
	}
	word, bit := &b.words[class][i>>6], uint64(1)<<(i&63)
	was := *word
	*word = was | bit
	return was&bit == 0
}

func (b *bitmap) open(h, class Handle, block int) {
	if more := block + 1 - len(b.used[class]); more > 0 {
		more += more / 4
		b.used[class] = append(b.used[class], make([]bool, more)...)
		b.words[class] = append(b.words[class], make([]uint64, more*blockWords)...)
	}
	b.used[class][block] = true
	b.dirty = append(b.dirty, h&^(1<<blockShift-1))
}

func (b *bitmap) reset() {
	for _, h := range b.dirty {
		class, block := h>>classShift, int(h&(1<<classShift-1))>>blockShift
		clear(b.words[class][block*blockWords:][:blockWords])
		b.used[class][block] = false
	}
	b.dirty = b.dirty[:0]
}
