// Package graphtest holds what every engine is measured with: a plain model
// store, the conformance suite, and a generator of realistic platforms.
package graphtest

import (
	"context"
	"iter"
	"maps"
	"slices"
	"sync"

	"headwater/graph"
)

// A Model is a store that keeps the write model in maps and derives all rows
// anew for each view. It ignores the differences that Plan computes, and so
// tells whether an engine that applies them ends in the same graph.
type Model struct {
	region string

	mu      sync.Mutex // guards all below
	mark    graph.Mark
	records map[graph.Key]graph.Record
	parts   map[graph.Key]map[uint64][]byte
	names   map[graph.ID]graph.Name
	seen    map[graph.ID]map[string]stamped
	slices  map[graph.ID]map[string]int64
	stream  []graph.StreamEntry
	rows    *modelRows // nil: to be derived
	cons    map[graph.Key]*lockedContribution
}

type stamped struct {
	at   int64
	json []byte
}

// NewModel returns an empty model store of one region.
func NewModel(region string) *Model {
	return &Model{region: region, records: map[graph.Key]graph.Record{}, parts: map[graph.Key]map[uint64][]byte{},
		names: map[graph.ID]graph.Name{}, seen: map[graph.ID]map[string]stamped{}, slices: map[graph.ID]map[string]int64{}, cons: map[graph.Key]*lockedContribution{}}
}

// Load implements graph.Store.
func (m *Model) Load(_ context.Context, n graph.Need, s *graph.State) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	rows, err := m.derive()
	if err != nil {
		return err
	}
	for _, k := range n.Contributions {
		r, ok := m.records[k]
		if !ok {
			s.PutContribution(k, nil, nil)
			continue
		}
		s.PutContribution(k, &r, m.parts[k])
	}
	for _, id := range n.Lives {
		s.PutLife(id, rows.lives[id])
	}
	for _, id := range n.Writers {
		var keys []graph.Key
		for k, writes := range rows.index[id] {
			if writes {
				keys = append(keys, k)
			}
		}
		s.PutWriters(id, keys)
	}
	return nil
}

// Apply implements graph.Store.
func (m *Model) Apply(_ context.Context, b graph.Batch) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if b.Mark.Position <= m.mark.Position {
		return nil
	}
	m.mark, m.rows = b.Mark, nil
	m.stream = append(m.stream, b.Stream...)
	for i := range b.Changes {
		c := &b.Changes[i]
		delete(m.cons, c.Key)
		if m.parts[c.Key] == nil {
			m.parts[c.Key] = map[uint64][]byte{}
		}
		m.parts[c.Key] = maps.Clone(m.parts[c.Key])
		maps.Copy(m.parts[c.Key], c.PutParts)
		for _, h := range c.DropParts {
			delete(m.parts[c.Key], h)
		}
		for _, n := range c.Names {
			if have, ok := m.names[n.ID()]; !ok || n.Compare(have) < 0 {
				m.names[n.ID()] = n
			}
		}
	}
	for _, t := range b.Touches {
		if t.Record != nil {
			delete(m.cons, t.Key)
			if len(t.Record.Runs) == 0 {
				delete(m.records, t.Key)
			} else {
				m.records[t.Key] = *t.Record
			}
		}
		for _, s := range t.Seen {
			if err := m.see(s, t.Time); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *Model) see(s graph.Seen, at int64) error {
	id := s.Name.ID()
	facets, err := graph.SplitFacets(s.Facets)
	if err != nil {
		return err
	}
	if m.seen[id] == nil {
		m.seen[id] = map[string]stamped{}
	}
	for name, b := range facets {
		if have := m.seen[id][name]; have.json == nil || graph.Newer(at, b, have.at, have.json) {
			m.seen[id][name] = stamped{at, b}
		}
	}
	for _, p := range s.Partitions {
		if m.slices[id] == nil {
			m.slices[id] = map[string]int64{}
		}
		if have, ok := m.slices[id][p]; !ok || at < have {
			m.slices[id][p] = at
		}
	}
	return nil
}

// Applied implements graph.Store.
func (m *Model) Applied(context.Context) (graph.Mark, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.mark, nil
}

// Contributions implements graph.Store.
func (m *Model) Contributions(_ context.Context, after graph.Key) iter.Seq2[graph.Record, error] {
	m.mu.Lock()
	records := maps.Clone(m.records)
	m.mu.Unlock()
	return func(yield func(graph.Record, error) bool) {
		for _, k := range slices.SortedFunc(maps.Keys(records), graph.Key.Compare) {
			if k.Compare(after) > 0 && !yield(records[k], nil) {
				return
			}
		}
	}
}

// Names implements graph.Store.
func (m *Model) Names(context.Context) iter.Seq2[graph.Name, error] {
	m.mu.Lock()
	names := slices.SortedFunc(maps.Values(m.names), graph.Name.Compare)
	m.mu.Unlock()
	return func(yield func(graph.Name, error) bool) {
		for _, n := range names {
			if n.Column == "" && !yield(n, nil) {
				return
			}
		}
	}
}

// Close implements graph.Store.
func (m *Model) Close() error { return nil }

// View implements graph.Store.
func (m *Model) View(_ context.Context, at graph.At) (graph.View, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	rows, err := m.derive()
	if err != nil {
		return nil, err
	}
	when := int64(graph.Forever)
	if !at.AsOf.IsZero() {
		when = at.AsOf.UnixNano()
	}
	return graph.NewView(rows, when), nil
}
