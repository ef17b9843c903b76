package gateway

import (
	"math"
	"sync"
	"time"

	"headwater/region/bus"
)

// changes are what is known of the changes of a region: when each node did
// last. What is older than what they remember is not known.
type changes struct {
	mu         sync.Mutex // guards all below
	generation uint64
	// floor is the revision from which on all is known.
	floor uint64
	// last are the revisions of the last changes, by what ids begin with:
	// those of late, and those before, which go when late is full.
	late, before map[uint64]uint64
	beforeFloor  uint64 // the newest revision in before
	newest       uint64
	heard        time.Time
	following    bool
}

// remembered is how many nodes each of the two maps has at most.
const remembered = 1 << 19

// silence is how long what a region did last may be relied on without a word
// from it.
const silence = 15 * time.Second

// begin begins a new generation, of which all is known from a revision on.
func (c *changes) begin(revision uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.generation++
	c.floor, c.newest = revision, revision
	c.late, c.before = map[uint64]uint64{}, nil
	c.heard, c.following = time.Now(), true
}

// broke notes that the region is not followed for now.
func (c *changes) broke() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.following = false
}

// heardOf takes an entry in, or a beat.
func (c *changes) heardOf(e *bus.Entry, next bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heard, c.following = time.Now(), true
	if c.floor == math.MaxUint64 { // it could not be asked; now it says so
		c.floor, c.newest = e.Mark.Revision, e.Mark.Revision
	}
	if !next {
		return
	}
	if len(c.late)+len(e.Touched) > remembered {
		c.floor = max(c.floor, c.beforeFloor)
		c.before, c.beforeFloor, c.late = c.late, c.newest, map[uint64]uint64{}
	}
	c.newest = max(c.newest, e.Mark.Revision)
	for _, n := range e.Touched {
		c.late[n] = e.Mark.Revision
	}
}

// Generation implements federation.Changes.
func (c *changes) Generation() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.generation
}

// Same implements federation.Changes.
func (c *changes) Same(generation, revision uint64, nodes []uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if generation != c.generation || revision < c.floor || !c.following || time.Since(c.heard) > silence {
		return false
	}
	if c.newest <= revision {
		return true
	}
	for _, n := range nodes {
		if c.late[n] > revision || c.before[n] > revision {
			return false
		}
	}
	return true
}
