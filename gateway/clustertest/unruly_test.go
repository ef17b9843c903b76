package clustertest

import (
	"context"
	"io"
	"slices"
	"sync"

	"headwater/graph"
	"headwater/region/bus"
)

// The manners of a region's change stream.
type manners struct {
	mu sync.Mutex // guards all below
	// twice: what was sent is sent again, with what came before it. swapped:
	// each third time what is sent is in the wrong order, or comes after what
	// follows. broken: each second time the stream ends in the middle.
	twice, swapped, broken bool
	// sent counts what was sent, snapshots those taken, by gateway.
	sent, snapshots map[string]int
}

// An unruly stream is a region's as one gateway is sent it.
type unruly struct {
	bus.Stream
	to      string
	manners *manners
}

// Snapshot counts.
func (u *unruly) Snapshot(ctx context.Context, f bus.Filter, emit func([]graph.Name) error) (bus.Cursor, error) {
	at, err := u.Stream.Snapshot(ctx, f, emit)
	if err == nil {
		u.manners.mu.Lock()
		defer u.manners.mu.Unlock()
		u.manners.snapshots[u.to]++
	}
	return at, err
}

// Follow hands over entries as the stream's manners are.
func (u *unruly) Follow(ctx context.Context, c bus.Cursor, f bus.Filter, emit func([]bus.Entry) error) error {
	var before, held []bus.Entry
	return u.Stream.Follow(ctx, c, f, func(entries []bus.Entry) error {
		m := u.manners
		m.mu.Lock()
		m.sent[u.to]++
		n := m.sent[u.to]
		twice, swapped, broken := m.twice, m.swapped && n%3 == 0, m.broken && n%2 == 0
		m.mu.Unlock()
		entries = slices.Clone(entries)
		switch {
		case broken:
			if err := emit(entries[:len(entries)/2]); err != nil {
				return err
			}
			return io.ErrUnexpectedEOF
		case swapped && len(entries) > 1:
			slices.Reverse(entries)
		case swapped && len(held) == 0:
			held = entries
			return nil
		}
		entries, held = append(entries, held...), nil
		if err := emit(entries); err != nil || !twice {
			return err
		}
		again := slices.Concat(before, entries)
		before = entries
		return emit(again)
	})
}
