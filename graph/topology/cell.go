package topology

import (
	"sync"
	"sync/atomic"
)

// A cell says where something of a node stands in the arena, and since which
// version: the version in the high half, the ref in the low one. Readers of
// older versions find what it was in undo.
type cell struct{ atomic.Uint64 }

func version(v uint64) uint32 { return uint32(v >> 32) }
func ref(v uint64) uint32     { return uint32(v) }

// undo holds what cells were before, as long as a view may want it.
type undo struct {
	mu    sync.RWMutex // guards was
	was   map[*cell][]uint64
	order []replaced // oldest first; the writer's own
}

type replaced struct {
	cell    *cell
	version uint32 // which replaced
}

// set points a cell elsewhere, for the version that is being built. What it
// was is kept if an older version has it.
func (t *Topology) set(c *cell, to uint32) {
	was := c.Load()
	if version(was) != t.building && was != 0 {
		t.undo.mu.Lock()
		t.undo.was[c] = append(t.undo.was[c], was)
		t.undo.mu.Unlock()
		t.undo.order = append(t.undo.order, replaced{c, t.building})
	}
	c.Store(uint64(t.building)<<32 | uint64(to))
}

// before returns the newest value of a cell that a version sees.
func (u *undo) before(c *cell, at uint32) uint64 {
	u.mu.RLock()
	defer u.mu.RUnlock()
	was := u.was[c]
	for i := len(was) - 1; i >= 0; i-- {
		if version(was[i]) <= at {
			return was[i]
		}
	}
	return 0
}

// forget drops what no view from a version on can see.
func (u *undo) forget(oldest uint32) {
	n := 0
	for n < len(u.order) && u.order[n].version <= oldest {
		n++
	}
	if n == 0 {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, r := range u.order[:n] {
		// The oldest of the cell's values goes first.
		if was := u.was[r.cell]; len(was) > 1 {
			u.was[r.cell] = was[1:]
		} else {
			delete(u.was, r.cell)
		}
	}
	u.order = append(u.order[:0], u.order[n:]...)
}

// at returns the value of a cell that the view sees.
func (v *View) at(c *cell) uint64 {
	now := c.Load()
	if version(now) <= v.version {
		return now
	}
	return v.t.undo.before(c, v.version)
}
