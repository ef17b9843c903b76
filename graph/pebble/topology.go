package pebble

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"headwater/background"
	"headwater/graph"
	"headwater/graph/topology"
)

// The topology is built when the store is opened: from the checkpoint that
// was written last, and the rows of what has changed since, or, where there
// is none that fits, from all rows. A checkpoint is written when the store is
// closed, and now and then before, so that a crash does not cost the reading
// of all.
const (
	checkpointName = "topology"
	// checkpointChanges is after how many changes a checkpoint is written, but
	// not so often that writing takes more than a thirtieth of the time.
	checkpointChanges = 50_000
	checkpointPause   = 30
)

// load loads or builds the topology.
func (s *Store) load(ctx context.Context) error {
	began := time.Now()
	how := "checkpoint"
	t, err := s.fromCheckpoint(ctx)
	if err != nil {
		s.o.Log.Info("reading all flows anew: the checkpoint can't be used", "region", s.o.Region, "err", err.Error()) // without its stack
		how = "rows"
		if t, err = s.fromRows(ctx); err != nil {
			if errors.Is(err, topology.ErrFull) {
				s.o.Log.Warn("the graph is larger than what is kept in memory; flows are read from disk", "region", s.o.Region)
				return nil
			}
			return err
		}
	}
	stats := t.Stats()
	if s.tooLarge(stats) {
		s.o.Log.Warn("the graph is larger than what may be kept in memory; flows are read from their rows", "region", s.o.Region, "bytes", stats.Bytes())
		return nil
	}
	s.topology = t
	s.o.Log.Debug("flows are in memory", "region", s.o.Region, "from", how, "flows", stats.Flows, "bytes", stats.NodeBytes+stats.FlowBytes, "took", time.Since(began))
	return nil
}

func (s *Store) tooLarge(stats topology.Stats) bool {
	return s.o.TopologyBytes > 0 && stats.Bytes() > s.o.TopologyBytes
}

func (s *Store) fromRows(ctx context.Context) (t *topology.Topology, err error) {
	r := s.now()
	defer func() { err = errors.Join(err, r.Close()) }()
	return topology.Build(ctx, r, s.o.TopologyBytes)
}

func (s *Store) fromCheckpoint(ctx context.Context) (*topology.Topology, error) {
	if s.mark == (graph.Mark{}) {
		return topology.New(), nil // an empty store needs none
	}
	f, err := s.o.FS.Open(s.o.FS.PathJoin(s.dir, checkpointName), vfs.SequentialReadsOption)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	t, mark, err := topology.Load(io.NewSectionReader(f, 0, info.Size()), s.o.Region)
	if err != nil {
		return nil, err
	}
	if mark.Revision > s.mark.Revision {
		return nil, fmt.Errorf("it is at revision %d, the graph at %d: %w", mark.Revision, s.mark.Revision, topology.ErrCheckpoint)
	}
	s.saved = mark
	return t, s.catchUp(ctx, t, mark.Revision)
}

// catchUp reads anew what has changed after a revision.
func (s *Store) catchUp(ctx context.Context, t *topology.Topology, revision uint64) error {
	changed := map[graph.ID]bool{}
	next := revision + 1
	for c, err := range s.Changes(ctx, revision) {
		if err != nil {
			return err
		}
		if c.Revision != next {
			break
		}
		next++
		for _, id := range c.Nodes {
			changed[id] = true
		}
	}
	if next != s.mark.Revision+1 {
		return fmt.Errorf("the changes after revision %d are not all kept any more: %w", revision, topology.ErrCheckpoint)
	}
	stats := t.Stats()
	if nodes := stats.DataStores + stats.Processes; len(changed) > 1000 && len(changed) > nodes/8 {
		return fmt.Errorf("%d of %d nodes have changed since: %w", len(changed), nodes, topology.ErrCheckpoint)
	}
	if len(changed) == 0 {
		return nil
	}
	ids := make([]graph.ID, 0, len(changed))
	for id := range changed {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, graph.ID.Compare)
	r := s.now()
	err := t.Refresh(ctx, r, ids)
	if err = errors.Join(err, r.Close()); err != nil {
		return err
	}
	return t.Publish()
}

// checkpointSoon writes a checkpoint beside the work, if it is time for one.
// The caller holds Store.mu.
func (s *Store) checkpointSoon() {
	if s.topology == nil || s.mark.Revision-s.saved.Revision < checkpointChanges || time.Since(s.savedAt) < checkpointPause*s.savingTook {
		return
	}
	if !s.saving.TryLock() {
		return // one is being written
	}
	st, err := s.take()
	if err != nil {
		s.saving.Unlock()
		return
	}
	s.background.Go(func() {
		defer s.saving.Unlock()
		background.Lower()
		began := time.Now()
		err := s.checkpoint(st)
		if err = errors.Join(err, st.release()); err != nil {
			s.o.Log.Error("write a checkpoint of the flows", "region", s.o.Region, "err", err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if err == nil {
			s.saved = st.rows.mark
		}
		s.savedAt, s.savingTook = time.Now(), time.Since(began)
	})
}

// checkpoint writes the flows of a state to the checkpoint's file. What they
// are made from is made durable first: a checkpoint is never ahead of it.
func (s *Store) checkpoint(st *state) (err error) {
	if err := s.flush(); err != nil {
		return err
	}
	fs, name := s.o.FS, s.o.FS.PathJoin(s.dir, checkpointName)
	f, err := fs.Create(name+".new", vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	err = st.flows.Save(w, s.o.Region, st.rows.mark)
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := fs.Rename(name+".new", name); err != nil {
		return err
	}
	d, err := fs.OpenDir(s.dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// AllFlows implements topology.Rows.
func (r *rows) AllFlows(ctx context.Context, layer graph.Layer, dir graph.Direction, emit func(graph.ID, graph.Key, []graph.Target) error) error {
	if r.far != nil {
		return r.allFarFlows(ctx, layer, dir, emit)
	}
	n := 0
	return r.scan(flowPrefix(layer, dir), func(rest, v []byte) (bool, error) {
		node, rest := cutID(rest)
		targets, err := graph.DecodeTargets(v)
		if err != nil {
			return false, err
		}
		if n++; n&0xffff == 0 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		return true, emit(node, cutBy(rest), targets)
	})
}

// Linked implements topology.Rows.
func (r *rows) Linked(ctx context.Context, emit func(graph.ID) error) error {
	if err := r.AliasedNames(ctx, graph.ID{}, func(id graph.ID) (bool, error) { return true, emit(id) }); err != nil {
		return err
	}
	return r.scan(space(spaceLife), func(rest, _ []byte) (bool, error) {
		id, _ := cutID(rest)
		return true, emit(id)
	})
}

// FlowStats returns the sizes of the flows in memory; false where they are
// not kept there. While a batch is applied it returns those that it returned
// last.
func (s *Store) FlowStats() (topology.Stats, bool) {
	if s.mu.TryLock() {
		var now *topology.Stats
		if s.topology != nil {
			stats := s.topology.Stats()
			now = &stats
		}
		s.stats.Store(now)
		s.mu.Unlock()
	}
	if last := s.stats.Load(); last != nil {
		return *last, true
	}
	return topology.Stats{}, false
}
