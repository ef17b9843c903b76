package kafka

import (
	"headwater/region/bus"
)

// A place is where a follower is in a partition.
type place struct {
	at bus.Cursor
	// generation is that of the last record, 0 before the first. sure: the
	// cursor is of it.
	generation uint64
	sure       bool
	join       joiner
}

// take returns the entry that a record completes, if it is to be emitted; it
// is a CursorError if the topic can't go on from the cursor.
func (p *place) take(r *record) (*bus.Entry, error) {
	if r.generation < p.generation {
		return nil, nil // a publisher that was replaced
	}
	if r.generation > p.generation {
		p.generation, p.sure = r.generation, false
		if r.kind == beginRecord && !p.same(r.cursor) {
			if r.payload[0] == diverged {
				return nil, p.refuse(bus.ErrDiverged, r)
			}
			return nil, p.refuse(bus.ErrExpired, r)
		}
	}
	switch {
	case r.cursor.Sequence == p.at.Sequence:
		if !p.same(r.cursor) {
			return nil, p.refuse(bus.ErrDiverged, r)
		}
		p.sure = true
		if r.kind != beatRecord {
			return nil, nil
		}
	case r.cursor.Sequence == p.at.Sequence+1 && r.kind == entryRecord:
		if p.at.Sequence > 0 && (r.before != p.at.Hash || r.cursor.Epoch != p.at.Epoch) {
			return nil, p.refuse(bus.ErrDiverged, r)
		}
		p.sure = true
	case r.cursor.Sequence > p.at.Sequence:
		return nil, p.refuse(bus.ErrExpired, r)
	default:
		return nil, nil // taken in before
	}
	b := p.join.add(r)
	if b == nil {
		return nil, nil
	}
	e, err := bus.DecodeEntry(b)
	if err != nil {
		return nil, err
	}
	p.at = e.Cursor()
	return &e, nil
}

// same reports whether a cursor is the follower's.
func (p *place) same(c bus.Cursor) bool {
	return c == p.at || c.Sequence == 0 && p.at.Sequence == 0
}

func (p *place) refuse(reason error, r *record) error {
	first := r.cursor.Sequence
	if r.kind != entryRecord {
		first++
	}
	return &bus.CursorError{Reason: reason, Cursor: p.at, First: first, Last: r.cursor}
}
