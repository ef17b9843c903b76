package topology

import (
	"math/bits"

	"headwater/graph"
)

// An arena is memory for lists, in words of 32 bits, without pointers. The
// writer alone allocates and frees. A ref is the place of a block; 0 is none.
//
// Blocks of one lane lie together: a walk reads lists of one kind, which the
// processor's caches hold more of when no others lie between them.
type arena struct {
	slabs []*[slabWords]uint32
	used  uint32 // words of the last slab
	limit int    // how many slabs at most
	open  [lanes]stretch
	lists [lanes][sizeClasses][]uint32 // refs of free blocks
}

// A stretch is memory that a lane is given at once: from a ref, so many words.
type stretch struct{ ref, words uint32 }

const stretchWords = 1 << 14

const (
	slabShift = 18
	slabWords = 1 << slabShift
	maxSlabs  = 1 << (32 - slabShift)
)

// begin makes the first slab; no block is at 0.
func (a *arena) begin() {
	a.slabs, a.used, a.limit = append(a.slabs, new([slabWords]uint32)), 1, maxSlabs
}

// A lane is what blocks are of: the slot of the flows of data stores and what
// goes with them, and nodes that are not plain.
type lane uint8

const (
	laneNode lane = slotNode
	lanes         = laneNode + 1
)

// laneOf returns the lane of the lists of a class of nodes in a slot.
func laneOf(class, slot int) lane {
	if class == graph.ColumnClass {
		return lane(slotColumnDown + slot&1)
	}
	return lane(slot)
}

// A block is a piece of the arena: a ref, its lane, and how many words were
// asked for.
type block struct {
	ref, words uint32
	lane       lane
}

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

// alloc returns a block of so many words in a lane, with whatever is in it.
func (a *arena) alloc(l lane, words uint32) (uint32, []uint32, error) {
	if words > slabWords {
		return 0, nil, ErrFull
	}
	class, size := sizeClass(words)
	if free := a.lists[l][class]; len(free) > 0 {
		ref := free[len(free)-1]
		a.lists[l][class] = free[:len(free)-1]
		return ref, a.slice(ref, words), nil
	}
	if size > stretchWords/16 {
		s, err := a.stretch(size)
		return s.ref, a.slice(s.ref, words), err
	}
	if a.open[l].words < size {
		s, err := a.stretch(stretchWords)
		if err != nil {
			return 0, nil, err
		}
		a.open[l] = s
	}
	ref := a.open[l].ref
	a.open[l].ref += size
	a.open[l].words -= size
	return ref, a.slice(ref, words), nil
}

// stretch returns so many words that were not given to any lane.
func (a *arena) stretch(words uint32) (stretch, error) {
	if a.used+words > slabWords {
		if len(a.slabs) >= a.limit {
			return stretch{}, ErrFull
		}
		a.slabs = append(a.slabs, new([slabWords]uint32))
		a.used = 0
	}
	s := stretch{uint32(len(a.slabs)-1)<<slabShift | a.used, words}
	a.used += words
	return s, nil
}

func (a *arena) slice(ref, words uint32) []uint32 { return slice(a.slabs, ref, words) }

// slice returns so many words at a place.
func slice(slabs []*[slabWords]uint32, ref, words uint32) []uint32 {
	at := ref & (slabWords - 1)
	return slabs[ref>>slabShift][at : at+words : at+words]
}

func (a *arena) free(b block) {
	class, _ := sizeClass(b.words)
	a.lists[b.lane][class] = append(a.lists[b.lane][class], b.ref)
}

func (a *arena) bytes() int64 { return int64(len(a.slabs)) * slabWords * 4 }
