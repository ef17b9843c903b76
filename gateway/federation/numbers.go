package federation

import (
	"context"
	"slices"

	"headwater/gateway/border"
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
	told  map[*sent]*told
	free  []graph.Hop // empty, with room for rows
	hops  []graph.Hop // what is emitted, which is who takes it's own
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

// A told is the ids and contributions of a leg by the numbers of the walk, as
// far as they have been met.
type told struct {
	sent *sent
	ends []end
	bys  []uint32 // 1 + the number
}

// An end is what an id of a leg is.
type end struct {
	node *about // nil: not met yet
	h    graph.Handle
	// table, if not nil, is the global table that it stands for, which has
	// members.
	table *border.Table
	gone  bool
	// settled: in that direction nothing is missed of it, in any region.
	settled [2]bool
}

// hopsAtOnce is how many hops there is new memory for at least.
const hopsAtOnce = 256

// Numbers gives graph's walks what they run over.
func (w *walking) Numbers() graph.Numbers { return w.numbers }

// Hops implements graph.Numbers.
func (n *numbers) Hops(ctx context.Context, frontier []graph.Handle, f *graph.Ask, _ *graph.Bound, emit graph.Emit) ([]graph.Gap, error) {
	v := n.walk.view
	v.mu.Lock()
	defer v.mu.Unlock()
	e := n.expansion(f)
	which := n.which(f)
	gaps := v.unheard
	n.hops = n.hops[:0]
	for _, h := range frontier {
		r, ok := n.rows[rowKey{h, which}]
		if !ok {
			e.of(n.ID(h))
			if r = (row{e.batch, e.lacking}); !e.missed {
				n.rows[rowKey{h, which}] = r
				n.free = e.batch[len(e.batch):]
			}
		}
		if n.hops = append(n.hops, r.hops...); len(r.lacking) > 0 {
			gaps = joined(gaps, r.lacking)
		}
	}
	if len(n.hops) > 0 {
		if err := emit.Hops(n.hops); err != nil {
			return gaps, err
		}
	}
	return gaps, ctx.Err()
}

// expansion returns what makes rows of what is known at this point.
func (n *numbers) expansion(f *graph.Ask) *expansion {
	if v := n.walk.view; n.epoch != v.epoch {
		n.epoch = v.epoch
		clear(n.rows)
		clear(n.told)
	}
	return &expansion{view: n.walk.view, walk: n.walk, numbers: n, ask: f}
}

// of returns what a leg tells.
func (n *numbers) of(s *sent) *told {
	t := n.told[s]
	if t == nil {
		t = &told{s, make([]end, len(s.leg.IDs)), make([]uint32, len(s.leg.Keys))}
		n.told[s] = t
	}
	return t
}

// by returns the number of a contribution of a leg.
func (n *numbers) by(t *told, by uint32) uint32 {
	if t.bys[by] == 0 {
		t.bys[by] = n.Number(t.sent.leg.Keys[by], graph.ID{}) + 1
	}
	return t.bys[by] - 1
}

// end returns what an id of a leg is.
func (n *numbers) end(t *told, i uint32) *end {
	d := &t.ends[i]
	if d.node != nil {
		return d
	}
	v := n.walk.view
	d.node = v.nodeOf(t.sent.abouts[i])
	d.h, _ = n.Handle(d.node.id)
	d.gone = v.gone(d.node)
	if g := v.names.Table(d.node.base.id); g != nil && len(g.Members) > 0 {
		d.table = g
	}
	return d
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
