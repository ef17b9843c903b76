package federation

import (
	"context"
	"slices"

	"headwater/graph"
)

// numbers are the flows of a walk by number. A row that has nothing missing is
// made once, and holds for all rounds until something is learnt of what a name
// stands for that had been asked about.
type numbers struct {
	*graph.Numbering
	walk  *walking
	epoch int // of the view, whose rows these are
	asks  []graph.Ask
	rows  map[rowKey]row
	flows []graph.Flow // memory of expansions
	hops  []graph.Hop  // what is emitted, which is who takes it's own
}

// A rowKey says whose flows a row has, and for which of the asks.
type rowKey struct {
	h   graph.Handle
	ask uint32
}

// A row is the flows of a node, and what they lack.
type row struct {
	hops    []graph.Hop
	lacking []graph.Gap
}

// Numbers gives graph's walks what they run over.
func (w *walking) Numbers() graph.Numbers { return w.numbers }

// Hops implements graph.Numbers.
func (n *numbers) Hops(ctx context.Context, frontier []graph.Handle, f *graph.Ask, _ *graph.Bound, emit graph.Emit) ([]graph.Gap, error) {
	v := n.walk.view
	v.mu.Lock()
	defer v.mu.Unlock()
	if n.epoch != v.epoch {
		n.epoch = v.epoch
		clear(n.rows)
	}
	which := n.which(f)
	gaps := v.unheard
	e := &expansion{view: v, walk: n.walk, ask: f, batch: n.flows}
	n.hops = n.hops[:0]
	for _, h := range frontier {
		r, ok := n.rows[rowKey{h, which}]
		if !ok {
			e.of(n.ID(h))
			r = row{n.Append(nil, e.batch), e.lacking}
			if !e.missed {
				n.rows[rowKey{h, which}] = r
			}
		}
		if n.hops = append(n.hops, r.hops...); len(r.lacking) > 0 {
			gaps = joined(gaps, r.lacking)
		}
	}
	n.flows = e.batch
	if len(n.hops) > 0 {
		if err := emit.Hops(n.hops); err != nil {
			return gaps, err
		}
	}
	return gaps, ctx.Err()
}

// which returns the number of an ask; its level does not alter its rows.
func (n *numbers) which(f *graph.Ask) uint32 {
	for i := range n.asks {
		a := &n.asks[i]
		if a.Layer == f.Layer && a.Dir == f.Dir && a.Whole == f.Whole && a.CoarseOnly == f.CoarseOnly && a.Kinds == f.Kinds &&
			a.ThroughDeleted == f.ThroughDeleted && slices.Equal(a.Origins, f.Origins) {
			return uint32(i)
		}
	}
	n.asks = append(n.asks, *f)
	return uint32(len(n.asks) - 1)
}
