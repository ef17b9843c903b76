package log

// A recent holds the newest entries of a log in memory: who follows the log
// closely reads and decodes nothing.
type recent struct {
	entries []Entry // with consecutive offsets
	sizes   []int   // of their stored form
	bytes   int
}

// keepRecent bounds the stored form of what is held.
const keepRecent = 32 << 20

// add adds the entry that follows the newest one; the oldest go.
func (r *recent) add(e Entry, size int) {
	if n := len(r.entries); n > 0 && r.entries[n-1].Offset+1 != e.Offset {
		r.drop(n)
	}
	r.entries, r.sizes, r.bytes = append(r.entries, e), append(r.sizes, size), r.bytes+size
	for r.bytes > keepRecent {
		// A quarter at once, since what is left moves when the slice grows.
		r.drop(1 + len(r.entries)/4)
	}
}

func (r *recent) drop(n int) {
	clear(r.entries[:n])
	for _, size := range r.sizes[:n] {
		r.bytes -= size
	}
	r.entries, r.sizes = r.entries[n:], r.sizes[n:]
}

// read returns entries from an offset on, as Log.Read does, and drops those
// before; none where the offset is not held.
func (r *recent) read(from uint64, max, maxBytes int) []Entry {
	if len(r.entries) == 0 || from < r.entries[0].Offset || from-r.entries[0].Offset > uint64(len(r.entries)) {
		return nil
	}
	r.drop(int(from - r.entries[0].Offset))
	if len(r.entries) == 0 {
		return nil
	}
	n := 0
	for n < len(r.entries) && (n == 0 || n < max && maxBytes > 0) {
		maxBytes -= r.sizes[n]
		n++
	}
	return append([]Entry(nil), r.entries[:n]...)
}
