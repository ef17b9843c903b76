package nebula

import (
	"math"
	"sync"
)

// A closed set says which rows are hidden from which views: those that a batch
// has taken away stay where they are until no view sees them any more. It may
// be read by many while one changes it.
type closed struct {
	mu   sync.RWMutex // guards all below
	rows map[rowKey]hidden
	// views counts those that are read, by ordinal; the newest is among them.
	views map[uint64]int
}

// A hidden row is in no view whose ordinal is in a span. Only the last span may
// be without end.
type hidden struct {
	spans []span
	// gone is the ordinal of the batch that deleted the row, 0: it is there.
	// The spans stay for answers that were read before.
	gone uint64
	// tried: it may be that a deletion of the row comes yet.
	tried bool
	// stray: no view ever saw the row, and it may not be there at all.
	stray bool
}

// A span is from ≤ ordinal < to.
type span struct{ from, to uint64 }

const forever = math.MaxUint64

func newClosed() *closed { return &closed{rows: map[rowKey]hidden{}, views: map[uint64]int{}} }

// since returns when a row was closed for good, if it was and is still there.
func (h *hidden) since() (uint64, bool) {
	if n := len(h.spans); n > 0 && h.spans[n-1].to == forever && h.gone == 0 {
		return h.spans[n-1].from, true
	}
	return 0, false
}

// visible calls f with a function that tells whether a row is seen by views of
// an ordinal.
func (c *closed) visible(ordinal uint64, f func(seen func(k *rowKey, opened uint64) bool)) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	f(func(k *rowKey, opened uint64) bool {
		if opened > ordinal {
			return false
		}
		if len(c.rows) == 0 {
			return true
		}
		h, ok := c.rows[*k]
		if !ok {
			return true
		}
		for _, s := range h.spans {
			if s.from <= ordinal && ordinal < s.to {
				return false
			}
		}
		return true
	})
}

// take notes a view; release ends it.
func (c *closed) take(ordinal uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.views[ordinal]++
}

func (c *closed) release(ordinal uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.views[ordinal]--; c.views[ordinal] == 0 {
		delete(c.views, ordinal)
	}
}

// oldest returns the ordinal of the oldest view; only later ones come.
func (c *closed) oldest() uint64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	oldest := uint64(forever)
	for v := range c.views {
		oldest = min(oldest, v)
	}
	return oldest
}

// get returns what is known of a row. Only the writer may call it.
func (c *closed) get(k rowKey) (hidden, bool) {
	h, ok := c.rows[k]
	return h, ok
}

// deletable lists rows that no view sees, at most so many.
func (c *closed) deletable(oldest uint64, most int, but func(rowKey) bool) (keys []rowKey) {
	for k, h := range c.rows {
		if len(keys) == most {
			break
		}
		if from, ok := h.since(); ok && from <= oldest && !but(k) {
			keys = append(keys, k)
		}
	}
	return keys
}

// done takes in what a batch did.
func (c *closed) done(p *plan) {
	oldest := c.oldest()
	c.mu.Lock()
	defer c.mu.Unlock()
	for k, h := range c.rows {
		if last := h.spans[len(h.spans)-1]; last.to <= oldest || h.gone > 0 && h.gone <= oldest {
			delete(c.rows, k)
		}
	}
	for _, k := range p.deleted {
		h := c.rows[k]
		h.gone = p.n
		c.rows[k] = h
	}
	for _, k := range p.reopens {
		h, ok := c.rows[k]
		if !ok {
			continue // no view sees what it was
		}
		spans := append([]span(nil), h.spans...) // readers may be in the old ones
		spans[len(spans)-1].to = p.n
		c.rows[k] = hidden{spans: spans}
	}
	for _, k := range p.closes {
		c.shut(k, hidden{}, p.n)
	}
	for _, k := range p.strays {
		c.shut(k, hidden{stray: true}, p.n)
	}
}

// shut closes a row for good.
func (c *closed) shut(k rowKey, h hidden, from uint64) {
	spans := c.rows[k].spans // readers may be in them
	h.spans = append(spans[:len(spans):len(spans)], span{from, forever})
	c.rows[k] = h
}

// try notes that rows are about to be deleted.
func (c *closed) try(keys []rowKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range keys {
		h := c.rows[k]
		h.tried = true
		c.rows[k] = h
	}
}

// Notes of the folder: C and the key of a row that is closed for good → from
// which ordinal on; P and a number → keys of rows that the batch which is being
// written may have written.
const (
	noteClosed  = 'C'
	notePending = 'P'
)

func closedNote(k rowKey) []byte { return k.append([]byte{noteClosed}) }
