package graphtest

import (
	"context"
	"iter"
	"slices"
	"sort"

	"headwater/graph"
)

// Stream yields the entries of the change stream from a sequence on, as an
// engine does.
func (m *Model) Stream(_ context.Context, from uint64) iter.Seq2[graph.StreamEntry, error] {
	return func(yield func(graph.StreamEntry, error) bool) {
		m.mu.Lock()
		kept := m.stream[m.behind(from):]
		m.mu.Unlock()
		for _, e := range kept {
			if !yield(graph.StreamEntry{Sequence: e.Sequence, Value: slices.Clone(e.Value)}, nil) {
				return
			}
		}
	}
}

// StreamBounds returns the oldest and the newest sequence that are kept, 0 and
// 0 where none is.
func (m *Model) StreamBounds(context.Context) (first, last uint64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.stream) == 0 {
		return 0, 0, nil
	}
	return m.stream[0].Sequence, m.stream[len(m.stream)-1].Sequence, nil
}

// TrimStream forgets the entries of the change stream up to a sequence.
func (m *Model) TrimStream(_ context.Context, through uint64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stream = m.stream[m.behind(through+1):]
	return nil
}

// behind returns the index of the first entry from a sequence on; mu is held.
func (m *Model) behind(from uint64) int {
	return sort.Search(len(m.stream), func(i int) bool { return m.stream[i].Sequence >= from })
}
