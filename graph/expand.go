package graph

import (
	"context"
	"errors"
	"slices"
)

func (w *walker) expand(ctx context.Context, frontier []Handle) error {
	ask := &w.ask
	*ask = Ask{Dir: w.o.Direction, Kinds: w.o.Kinds, Origins: w.o.Origins, ThroughDeleted: w.o.ThroughDeleted, Level: w.level}
	switch w.o.Granularity {
	case DataStores:
		ask.Layer = TableLayer
		return w.through(ctx, frontier, ask)
	case Processes:
		ask.Layer = ControlLayer
		if err := w.hops(ctx, frontier, ask, takeDirect); err != nil {
			return err
		}
		if w.o.Kinds&^Control == 0 {
			return nil
		}
		ask.Layer, ask.Kinds = UseLayer, 0
		return w.through(ctx, frontier, ask)
	}
	return w.columns(ctx, frontier, ask)
}

// columns expands columns, and data stores that stand for their columns.
func (w *walker) columns(ctx context.Context, frontier []Handle, ask *Ask) error {
	exact, whole, tables := w.sets[0][:0], w.sets[1][:0], w.sets[2][:0]
	for _, h := range frontier {
		base := w.g.Base(h)
		flags := w.flags.at(base)
		if *flags&coarseExpanded == 0 {
			*flags |= coarseExpanded
			tables = append(tables, base)
		}
		if h != base {
			exact = append(exact, h)
			if *flags&rowsExpanded == 0 {
				*flags |= rowsExpanded
				exact = append(exact, base)
			}
			continue
		}
		*flags |= rowsExpanded
		whole = append(whole, h)
	}
	w.sets[0], w.sets[1], w.sets[2] = exact, whole, tables
	ask.Layer = ColumnLayer
	if err := w.hops(ctx, exact, ask, takeDirect); err != nil {
		return err
	}
	ask.Whole = true
	if err := w.hops(ctx, whole, ask, takeDirect); err != nil {
		return err
	}
	ask.Layer, ask.Whole, ask.CoarseOnly = TableLayer, false, true
	return w.through(ctx, tables, ask)
}

// hops asks for hops to nodes and takes those that count. Where enough is
// known of a level, and all hops count, it asks for no more.
func (w *walker) hops(ctx context.Context, from []Handle, ask *Ask, as taking) error {
	if w.enough == 0 || w.keep != nil || w.level+1 < w.afterLevel || w.first && w.level == 0 {
		return w.allHops(ctx, from, ask, nil, as)
	}
	bound := &Bound{Enough: w.enough, Known: w.known, IsKnown: w.reached}
	if w.level+1 == w.afterLevel {
		// A data store that stands before its columns may stand for more.
		bound.From = w.after.Base()
	}
	err := w.allHops(ctx, from, ask, bound, as)
	if bound.Met && w.bounded == 0 {
		w.bounded = w.level + 1
	}
	return err
}

func (w *walker) allHops(ctx context.Context, from []Handle, ask *Ask, bound *Bound, as taking) error {
	if len(from) == 0 {
		return nil
	}
	w.taking = as
	gaps, err := w.g.Hops(ctx, from, ask, bound, w.emit)
	w.gaps = append(w.gaps, gaps...)
	if err != nil {
		return errors.Join(err, ctx.Err())
	}
	return ctx.Err()
}

// ends takes hops of which only the ends are wanted.
func (w *walker) ends(from []Handle, to []uint32) error {
	if w.o.Granularity == Columns {
		for _, h := range from {
			w.settle(h, int32(w.level))
		}
		for _, t := range to {
			w.end(Handle(t))
		}
		return nil
	}
	// Most ends are data stores. Below is reach for them, with what stays the
	// same kept at hand, and without a branch on what can't be foretold.
	next := w.next.at(w.level + 1)
	found := slices.Grow(*next, len(to))
	n := len(found)
	found = found[:n+len(to)]
	words, used := w.seen.words[DataStoreClass], w.seen.used[DataStoreClass]
	others := w.others[:0]
	for _, t := range to {
		if block := int(t >> blockShift); block >= len(used) || !used[block] {
			if Handle(t).Class() != DataStoreClass {
				others = append(others, Handle(t))
				continue
			}
			w.seen.open(Handle(t), DataStoreClass, block)
			words, used = w.seen.words[DataStoreClass], w.seen.used[DataStoreClass]
		}
		word := &words[t>>6]
		was := *word
		*word = was | 1<<(t&63)
		found[n] = Handle(t)
		n += int(^was >> (t & 63) & 1)
	}
	*next = found[:n]
	w.others = others
	for _, h := range others {
		w.end(h)
	}
	return nil
}

// end takes one hop.
func (w *walker) end(to Handle) {
	if w.taking != takeIn || to.Class() != HubClass {
		w.reach(to, int32(w.level+1))
	} else if w.hubs[to] == nil {
		w.enterHub(to)
		w.entered = append(w.entered, to)
	}
}

func (w *walker) taken(hops []Hop) error {
	if w.first && w.level == 0 {
		own := hops[:0]
		for _, f := range hops {
			if w.g.By(f.By).Subject == w.o.First {
				own = append(own, f)
			}
		}
		hops = own
	}
	switch w.taking {
	case takeDirect:
		w.direct(hops)
	case takeIn:
		w.in(hops)
	case takeOut:
		w.out(hops)
	}
	return nil
}

// direct takes each flow as one hop.
func (w *walker) direct(hops []Hop) {
	level := int32(w.level)
	from := ^Handle(0)
	whole := w.o.Granularity == Columns // else what is walked from is settled
	for i := range hops {
		f := &hops[i]
		if whole && f.From != from {
			from = f.From
			w.settle(from, level)
		}
		w.reach(f.To, level+1)
		if w.edges != nil {
			w.edge(f.From, f.To, f.Kinds, f.Coarse, f.By)
		}
	}
}

// through takes flows as hops, and those into a hub as hops to all that leave
// the hub.
func (w *walker) through(ctx context.Context, frontier []Handle, ask *Ask) error {
	w.entered = w.entered[:0]
	var err error
	if w.o.Granularity == Processes {
		err = w.allHops(ctx, frontier, ask, nil, takeIn) // to hubs alone
	} else {
		err = w.hops(ctx, frontier, ask, takeIn)
	}
	if err != nil {
		return err
	}
	return w.hops(ctx, w.entered, ask, takeOut)
}

func (w *walker) in(hops []Hop) {
	class := HubClass
	if w.o.Granularity == Processes {
		class = DataStoreClass
	}
	begin := 0 // of a run of hops that enter no hub
	for i := range hops {
		if hops[i].To.Class() != class {
			continue
		}
		w.direct(hops[begin:i])
		begin = i + 1
		if w.enter(hops[i]) {
			w.entered = append(w.entered, hops[i].To)
		}
	}
	w.direct(hops[begin:])
}

func (w *walker) out(hops []Hop) {
	for _, out := range hops {
		w.reach(out.To, int32(w.level+1))
		if w.edges == nil {
			continue
		}
		h := w.hubs[out.From]
		if h == nil {
			continue // what it stood for is another node by now, so that the view has it walked again
		}
		h.outs = append(h.outs, out)
		for _, in := range h.ins {
			w.pair(in, out)
		}
	}
}

// enter takes a flow into a hub, and reports whether it is the first.
func (w *walker) enter(in Hop) bool {
	if w.o.Granularity == Columns {
		w.settle(in.From, int32(w.level))
	}
	h := w.hubs[in.To]
	first := h == nil
	if first {
		h = w.enterHub(in.To)
	}
	if w.edges != nil {
		h.ins = append(h.ins, in)
		for _, out := range h.outs {
			w.pair(in, out)
		}
	}
	return first
}

func (w *walker) enterHub(to Handle) *hub {
	if w.hubs == nil {
		w.hubs = map[Handle]*hub{}
	}
	h := &hub{}
	w.hubs[to] = h
	return h
}

func (w *walker) pair(in, out Hop) {
	if w.o.Granularity != Processes {
		w.edge(in.From, out.To, in.Kinds|out.Kinds, true, out.By)
		return
	}
	if in.From == out.To {
		return // a process that reads what it writes does not feed itself
	}
	// Who writes and who reads both make the flow, whichever way it is walked.
	w.edge(in.From, out.To, 0, false, in.By)
	w.edge(in.From, out.To, 0, false, out.By)
}

func (w *walker) edge(near, far Handle, kinds Kinds, coarse bool, by uint32) {
	if w.o.Direction == Upstream {
		near, far = far, near
	}
	w.edges.add(near, far, kinds, coarse, int32(w.level), by)
}
