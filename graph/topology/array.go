package topology

import "unsafe"

// An array grows in chunks that never move: a copy of it is what it was, and
// stays readable while the writer, who alone appends, goes on.
type array[T any] struct {
	chunks []*[chunkLen]T
	n      uint32
}

const (
	chunkShift = 12
	chunkLen   = 1 << chunkShift
)

func (a *array[T]) at(i uint32) *T { return &a.chunks[i>>chunkShift][i&(chunkLen-1)] }

// add appends a zero element and returns its place.
func (a *array[T]) add() (uint32, *T) {
	i := a.n
	a.grow(i + 1)
	return i, a.at(i)
}

// grow makes room for n elements in all.
func (a *array[T]) grow(n uint32) {
	for uint32(len(a.chunks))<<chunkShift < n {
		a.chunks = append(a.chunks, new([chunkLen]T))
	}
	a.n = max(a.n, n)
}

func (a *array[T]) bytes() int64 {
	var v T
	return int64(len(a.chunks)) * chunkLen * int64(unsafe.Sizeof(v))
}
