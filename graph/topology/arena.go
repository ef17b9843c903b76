package topology

import "math/bits"

// An arena is memory for lists, in words of 32 bits, without pointers. The
// writer alone allocates and frees. A ref is the place of a block; 0 is none.
type arena struct {
	slabs []*[slabWords]uint32
	used  uint32                // words of the last slab
	limit int                   // how many slabs at most
	lists [sizeClasses][]uint32 // refs of free blocks
}

const (
	slabShift = 18
	slabWords = 1 << slabShift
	maxSlabs  = 1 << (32 - slabShift)
)

// begin makes the first slab; no block is at 0.
func (a *arena) begin() {
	a.slabs, a.used, a.limit = append(a.slabs, new([slabWords]uint32)), 1, maxSlabs
}

// A block is a piece of the arena: a ref, and how many words were asked for.
type block struct{ ref, words uint32 }

// Sizes up to exact words have a class of their own; above, eight classes
// share a power of two.
const (
	exact       = 64
	sizeClasses = exact + 1 + 8*(slabShift-6)
)

// sizeClass returns the class of blocks of so many words, a slab at most, and
// their size.
func sizeClass(words uint32) (class int, size uint32) {
	if words <= exact {
		return int(words), words
	}
	shift := bits.Len32(words-1) - 4
	step := (words - 1) >> shift // 8…15
	return exact + 1 + 8*(shift-3) + int(step) - 8, (step + 1) << shift
}

// alloc returns a block of so many words, with whatever is in it.
func (a *arena) alloc(words uint32) (uint32, []uint32, error) {
	if words > slabWords {
		return 0, nil, ErrFull
	}
	class, size := sizeClass(words)
	if free := a.lists[class]; len(free) > 0 {
		ref := free[len(free)-1]
		a.lists[class] = free[:len(free)-1]
		return ref, a.slice(ref, words), nil
	}
	if a.used+size > slabWords {
		if len(a.slabs) >= a.limit {
			return 0, nil, ErrFull
		}
		a.slabs = append(a.slabs, new([slabWords]uint32))
		a.used = 0
	}
	ref := uint32(len(a.slabs)-1)<<slabShift | a.used
	a.used += size
	return ref, a.slice(ref, words), nil
}

func (a *arena) slice(ref, words uint32) []uint32 { return slice(a.slabs, ref, words) }

// slice returns so many words at a place.
func slice(slabs []*[slabWords]uint32, ref, words uint32) []uint32 {
	at := ref & (slabWords - 1)
	return slabs[ref>>slabShift][at : at+words : at+words]
}

func (a *arena) free(b block) {
	class, _ := sizeClass(b.words)
	a.lists[class] = append(a.lists[class], b.ref)
}

func (a *arena) bytes() int64 { return int64(len(a.slabs)) * slabWords * 4 }
