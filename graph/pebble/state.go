package pebble

import (
	"errors"
	"fmt"
	"sync"

	"headwater/background"
	"headwater/graph"
	"headwater/graph/topology"
)

// A state is the graph after one batch: what all views that were taken until
// the next batch share.
type state struct {
	rows
	// flows is the topology of the same state; nil where there is none.
	flows *topology.View

	mu   *sync.Mutex // the store's; guards refs
	refs int         // views, and one while it is the newest
}

// publish makes what has been applied the newest state. The caller holds
// Store.mu, or is opening the store.
func (s *Store) publish() error {
	st := &state{mu: &s.views, refs: 1}
	st.rows.s, st.rows.snap, st.rows.far, st.rows.mark = s, s.db.NewSnapshot(), s.far(), s.mark
	if s.topology != nil {
		st.flows = s.topology.View()
	}
	s.views.Lock()
	old := s.newest
	s.newest = st
	s.views.Unlock()
	if old == nil {
		return nil
	}
	return old.release()
}

// take returns the newest state; it must be released.
func (s *Store) take() (*state, error) {
	s.views.Lock()
	defer s.views.Unlock()
	if s.newest == nil {
		return nil, errClosed
	}
	s.newest.refs++
	return s.newest, nil
}

var errClosed = errors.New("the graph store is closed")

func (st *state) release() error {
	st.mu.Lock()
	st.refs--
	last := st.refs == 0
	st.mu.Unlock()
	if !last {
		return nil
	}
	if st.flows != nil {
		st.flows.Release()
	}
	return st.rows.Close()
}

// A viewed state is one view's hold on a state.
type viewed struct {
	*state
	once sync.Once
}

var (
	_ graph.Raw   = (*viewed)(nil)
	_ graph.Quick = (*viewed)(nil)
)

// Close implements graph.Raw.
func (v *viewed) Close() (err error) {
	v.once.Do(func() { err = v.state.release() })
	return err
}

// Topology implements graph.Quick.
func (v *viewed) Topology() graph.Topology {
	if v.flows == nil {
		return nil
	}
	return v.flows
}

// Remembered implements graph.Quick.
func (v *viewed) Remembered(key uint64) (any, bool) { return v.s.facts.Get(key) }

// Remember implements graph.Quick.
func (v *viewed) Remember(key uint64, value any, size int) { v.s.facts.Set(key, value, int64(size)) }

// advance makes a batch that has been committed visible, once the topology has
// followed it. The caller holds Store.mu.
func (s *Store) advance(b *graph.Batch, followed func() error) error {
	err := followed()
	if err == nil && s.topology != nil {
		err = s.relink(b)
	}
	if err != nil {
		// Where the topology can't hold the graph any more, the store goes on
		// without it, from its rows.
		s.o.Log.Error("the flows in memory can't follow; they are read from disk from now on, which is slower", "region", s.o.Region, "err", err)
		s.topology = nil
	}
	if err := s.publish(); err != nil {
		return err
	}
	s.checkpointSoon()
	return nil
}

// follow brings the topology after a batch, beside the writing of it, and
// returns what to wait with. Doing so again does no harm.
func (s *Store) follow(b *graph.Batch) (followed func() error) {
	t := s.topology
	if t == nil || len(b.Changes) == 0 {
		return func() error { return nil }
	}
	done := make(chan error, 1)
	go func() {
		background.Lower()
		for i := range b.Changes {
			t.Change(&b.Changes[i])
		}
		done <- t.Settle()
	}()
	return sync.OnceValue(func() error { return <-done })
}

// relink brings the aliases of the topology after a batch that has been
// committed, and publishes it.
func (s *Store) relink(b *graph.Batch) error {
	if len(b.Changes) == 0 {
		return nil
	}
	var linked []graph.ID
	for i := range b.Changes {
		c := &b.Changes[i]
		for _, e := range c.Aliases {
			linked = append(linked, e.From, e.To)
		}
		for _, e := range c.Lives {
			linked = append(linked, e.Node)
		}
	}
	if len(linked) > 0 {
		links := rows{s: s, snap: s.db.NewSnapshot()}
		if err := errors.Join(s.topology.Realias(&links, linked), links.Close()); err != nil {
			return err
		}
	}
	if err := s.topology.Publish(); err != nil {
		return err
	}
	if s.o.TopologyBytes == 0 {
		return nil
	}
	if stats := s.topology.Stats(); s.tooLarge(stats) {
		return fmt.Errorf("they take %d bytes, of %d: %w", stats.Bytes(), s.o.TopologyBytes, topology.ErrFull)
	}
	return nil
}
