package api

import (
	"slices"
	"sync"

	"headwater/graph"
)

// A slab lends memory to one request after the other: what a request notes of
// a few hundred nodes would otherwise be most of the garbage that it leaves.
type slab[T any] struct {
	whole, free []T
	asked       int
}

// take returns an empty slice with room for n.
func (s *slab[T]) take(n int) []T {
	s.asked += n
	if n > len(s.free) {
		return make([]T, 0, n)
	}
	lent := s.free[:0:n]
	s.free = s.free[n:]
	return lent
}

// reset takes back what was lent. Next time there is as much as was asked for
// this time, but no more than a number.
func (s *slab[T]) reset(most int) {
	if s.asked > len(s.whole) && s.asked <= most {
		s.whole = make([]T, s.asked)
	}
	s.free, s.asked = s.whole, 0
}

// What is kept between requests at most: nodes and sources by number, and
// the bytes of an answer.
const (
	maxLent   = 4096
	maxBuffer = 1 << 20
)

// A workspace is the memory of one request.
type workspace struct {
	mu      sync.Mutex // guards the rest
	ids     slab[graph.ID]
	nodes   slab[graph.Node]
	sources slab[flowSource]
	writers []*writer // the first lent of them are in use
	lent    int
}

func (w *workspace) takeIDs(n int) []graph.ID {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ids.take(n)
}

func (w *workspace) takeNodes(n int) []graph.Node {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.nodes.take(n)
}

func (w *workspace) takeSources(n int) []flowSource {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sources.take(n)
}

func (w *workspace) takeWriter() *writer {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lent == len(w.writers) {
		w.writers = append(w.writers, &writer{})
	}
	w.lent++
	return w.writers[w.lent-1]
}

// reset takes back all that was lent: nobody may use it any more.
func (w *workspace) reset() {
	w.ids.reset(maxLent)
	w.nodes.reset(maxLent)
	w.sources.reset(maxLent)
	kept := 0
	w.writers, w.lent = slices.DeleteFunc(w.writers, func(lent *writer) bool {
		kept += cap(lent.b)
		return kept > maxBuffer
	}), 0
}
