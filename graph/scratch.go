package graph

import "sync"

// scratch is the memory of a walk, which another walk uses again.
type scratch struct {
	// seen are the nodes that were reached, where nothing but that is asked of
	// them: where columns are not walked, a node's distance is the level at
	// which it is found, which is the one at which it is expanded.
	seen      bitmap
	dist      marks // 1 + the distance of each node that was reached
	whole     marks // of data stores that stand for their columns: 1 + since when
	flags     marks // of data stores: what was expanded
	next      buckets[Handle]
	found     buckets[hstep] // of columns
	known     []Handle       // for bounds
	sets      [4][]Handle
	others    []Handle
	ids       []ID
	distances []int32
}

// The flags of data stores: their own column rows, and their coarse flows,
// were expanded.
const (
	rowsExpanded = 1 << iota
	coarseExpanded
)

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// keepWords bounds the memory, in words, that one scratch brings back.
const keepWords = 1 << 22

// buckets are lists by level.
type buckets[T any] struct{ lists [][]T }

func (b *buckets[T]) add(level int, v T) {
	l := b.at(level)
	*l = append(*l, v)
}

// at returns the list of a level, until another level's is asked for.
func (b *buckets[T]) at(level int) *[]T {
	for len(b.lists) <= level {
		if cap(b.lists) > len(b.lists) {
			b.lists = b.lists[:len(b.lists)+1]
		} else {
			b.lists = append(b.lists, nil)
		}
	}
	return &b.lists[level]
}

// take empties a list and returns what was in it, for as long as nothing is
// put there.
func (b *buckets[T]) take(level int) []T {
	if level >= len(b.lists) {
		return nil
	}
	l := b.lists[level]
	b.lists[level] = l[:0]
	return l
}

func (b *buckets[T]) empty(from int) bool {
	for i := from; i < len(b.lists); i++ {
		if len(b.lists[i]) > 0 {
			return false
		}
	}
	return true
}

func (b *buckets[T]) reset() {
	for i := range b.lists {
		b.lists[i] = b.lists[i][:0]
	}
	b.lists = b.lists[:0]
}
