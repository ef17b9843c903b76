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
