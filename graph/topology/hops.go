package topology

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"headwater/graph"
)

// Hops implements graph.Numbers.
func (v *View) Hops(ctx context.Context, frontier []graph.Handle, f *graph.Ask, bound *graph.Bound, emit graph.Emit) ([]graph.Gap, error) {
	h := hoppers.Get().(*hopper)
	defer h.release()
	h.begin(v, f, bound, emit)
	h.done = ctx.Done()
	for len(frontier) > 0 {
		some := frontier[:min(len(frontier), ahead)]
		frontier = frontier[len(some):]
		if err := h.nodes(some); err != nil {
			return nil, cmp.Or(ctx.Err(), err)
		}
		if len(frontier) > 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	if err := h.flush(); err != nil {
		return nil, cmp.Or(ctx.Err(), err)
	}
	return nil, nil
}

// ahead is for how many nodes the memory is asked for at once: it answers
// many questions in the time of one, but only if it is asked them together.
const ahead = 64

// nodes takes the hops from some nodes of the frontier.
func (h *hopper) nodes(some []graph.Handle) error {
	if h.f.Whole {
		for _, from := range some {
			if err := h.node(from); err != nil {
				return err
			}
		}
		return nil
	}
	v := h.v
	var refs, heads [ahead]uint32
	v.refs(some, h.f.Layer, h.slot, &refs)
	slabs := v.slabs
	for i := range some {
		r := refs[i]
		heads[i] = slabs[r>>slabShift][r&(slabWords-1)]
	}
	for i, from := range some {
		r, head := refs[i], heads[i]
		switch {
		case !v.plain && v.isSpecial(v.Base(from)):
			if err := h.node(from); err != nil {
				return err
			}
		case r == 0:
		case head&flagLong != 0:
			if err := h.long(from, r); err != nil {
				return err
			}
		case h.ends && head < few<<flagBits && head&flagControl == 0:
			at := r & (slabWords - 1)
			to := slabs[r>>slabShift][at+1 : at+1+head>>flagBits]
			if !v.plain && !v.allPlain(to) {
				if err := h.run(from, r); err != nil {
					return err
				}
				continue
			}
			h.from = append(h.from, from)
			n := len(h.to)
			h.to = h.to[:n+len(to)]
			for i, t := range to { // mostly one or two
				h.to[n+i] = t
			}
		default:
			if err := h.run(from, r); err != nil {
				return err
			}
		}
	}
	return h.flushEnds()
}

// few is how many ends are rather copied to those of others than handed on by
// themselves.
const few = 64

// refs finds the lists of nodes, 0 where there is none. It takes few steps for
// each, so that the processor asks the memory for many at once.
func (v *View) refs(some []graph.Handle, layer graph.Layer, slot int, refs *[ahead]uint32) {
	stores, has := v.storeCells[slot].chunks, hasLayer(graph.DataStoreClass, layer)
	for i, from := range some[:min(len(some), ahead)] {
		var c *cell
		switch {
		case has && from.Class() == graph.DataStoreClass:
			c = &stores[from>>chunkShift][from&(chunkLen-1)]
		case hasLayer(from.Class(), layer):
			c = v.cell(from, slot)
		default:
			continue
		}
		now := c.Load()
		if version(now) > v.version {
			now = v.at(c)
		}
		refs[i] = ref(now)
	}
}

// A hopper collects the hops of one call of Hops.
type hopper struct {
	v       *View
	f       *graph.Ask
	kinds   graph.Kinds
	origins []bool // by number; nil: all
	slot    int
	bound   *graph.Bound
	emit    graph.Emit
	buf     []graph.Hop
	// simple: each flow is asked for, but for its kinds. ends: whatever its
	// kinds, and only its end, but for those that are not plain.
	simple, ends bool
	// from have few hops each, to all their ends.
	from []graph.Handle
	to   []uint32
	one  [1]graph.Handle
	done <-chan struct{}
}

const hopsAtOnce = 1024

var hoppers = sync.Pool{New: func() any {
	return &hopper{buf: make([]graph.Hop, 0, hopsAtOnce), from: make([]graph.Handle, 0, ahead), to: make([]uint32, 0, ahead*few)}
}}

func (h *hopper) release() {
	*h = hopper{buf: h.buf[:0], from: h.from[:0], to: h.to[:0]}
	hoppers.Put(h)
}

func (h *hopper) begin(v *View, f *graph.Ask, bound *graph.Bound, emit graph.Emit) {
	h.v, h.f, h.bound, h.emit = v, f, bound, emit
	h.slot = slotOf(f.Layer, f.Dir)
	if h.kinds = f.Kinds; h.kinds == 0 {
		h.kinds = graph.AllKinds
	}
	if len(f.Origins) > 0 {
		h.origins = make([]bool, len(v.origins))
		for i, origin := range v.origins {
			for _, want := range f.Origins {
				h.origins[i] = h.origins[i] || graph.System(origin) == want
			}
		}
	}
	h.simple = v.plain && h.origins == nil && !f.CoarseOnly
	h.ends = emit.Ends != nil && h.origins == nil && !f.CoarseOnly && f.Layer != graph.ControlLayer && h.kinds|graph.Control == graph.AllKinds
}

func (h *hopper) flush() error {
	if len(h.buf) == 0 {
		return nil
	}
	err := h.emit.Hops(h.buf)
	h.buf = h.buf[:0]
	select {
	case <-h.done:
		return cmp.Or(err, errDone)
	default:
		return err
	}
}

func (h *hopper) flushEnds() error {
	if len(h.to) == 0 {
		return nil
	}
	err := h.emit.Ends(h.from, h.to)
	h.from, h.to = h.from[:0], h.to[:0]
	return err
}

var errDone = errors.New("the question's time is over")

// node takes the hops from one node of the frontier.
func (h *hopper) node(from graph.Handle) error {
	v, class := h.v, from.Class()
	if !hasLayer(class, h.f.Layer) {
		return nil
	}
	if class >= graph.ProcessClass {
		return h.list(from, v.cell(from, h.slot))
	}
	base := v.Base(from).Index()
	n := v.node(base)
	if n.gone && !h.f.ThroughDeleted {
		return nil
	}
	if n.node.Index() != base {
		from, _ = v.live(from, true)
		n = v.node(n.node.Index())
	}
	if len(n.members) == 0 {
		return h.name(from, n.node.Index(), from)
	}
	for _, m := range n.members {
		name := graph.MakeHandle(graph.DataStoreClass, m)
		if class == graph.ColumnClass {
			// A name without the column has no hops of it.
			if name = v.column(m, v.columns.at(from.Index()).tail, name); name.Class() != graph.ColumnClass {
				continue
			}
		}
		if err := h.name(from, n.node.Index(), name); err != nil {
			return err
		}
	}
	return nil
}

// name takes the hops of one name of a node; base is the node's data store.
func (h *hopper) name(from graph.Handle, base uint32, name graph.Handle) error {
	v := h.v
	if err := h.list(from, v.cell(name, h.slot)); err != nil || !h.f.Whole || h.f.Layer != graph.ColumnLayer || name.Class() != graph.DataStoreClass {
		return err
	}
	own := name.Index() == base
	for i := v.stores.at(name.Index()).first.Load(); i != 0; {
		if i > v.columns.n {
			i = v.t.newest.Load().at(i - 1).next // newer than the view
			continue
		}
		column := v.columns.at(i - 1)
		c := &column.cells[h.slot&1]
		if ref(v.at(c)) != 0 {
			as := graph.MakeHandle(graph.ColumnClass, i-1)
			if !own {
				as = v.column(base, column.tail, as)
			}
			if err := h.list(as, c); err != nil {
				return err
			}
		}
		i = column.next
	}
	return nil
}

// list takes the hops of one list.
func (h *hopper) list(from graph.Handle, c *cell) error {
	r := ref(h.v.at(c))
	switch {
	case r == 0:
		return nil
	case h.v.slabs[r>>slabShift][r&(slabWords-1)]&flagLong != 0:
		return h.long(from, r)
	}
	return h.run(from, r)
}

// long takes the hops of a long list.
func (h *hopper) long(from graph.Handle, ref uint32) error {
	dir := directory(h.v.slabs, ref, nil)
	// Of a list that is shorter than what is enough nothing would be left out.
	if h.bound != nil && listLen(h.v.slabs, ref) > max(h.v.t.boundAbove, h.bound.Enough) {
		return h.nearest(from, dir)
	}
	for _, r := range dir {
		if err := h.run(from, r); err != nil {
			return err
		}
	}
	return nil
}

// run takes the hops of a run.
func (h *hopper) run(from graph.Handle, ref uint32) error {
	slab, at := h.v.slabs[ref>>slabShift], ref&(slabWords-1)
	head := slab[at]
	if h.f.CoarseOnly && head&flagCoarse == 0 {
		return nil
	}
	n := head >> flagBits
	if h.ends && head&flagControl == 0 {
		if to := slab[at+1 : at+1+n]; h.simple || h.v.allPlain(to) {
			h.one[0] = from
			return h.emit.Ends(h.one[:], to)
		}
	}
	if !h.simple {
		r := readRun(h.v.slabs, ref)
		for i := range r.to {
			if hop, ok := h.hop(from, &r, i); ok {
				if err := h.take(hop); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if len(h.buf)+int(n) > cap(h.buf) {
		if err := h.flush(); err != nil {
			return err
		}
		h.buf = slices.Grow(h.buf, int(n))
	}
	to, by, meta := slab[at+1:at+1+n], slab[at+1+n:at+1+2*n], slab[at+1+2*n:]
	buf, k := h.buf[:len(h.buf)+int(n)], len(h.buf)
	for i := range n {
		m := uint16(meta[i>>1] >> (16 * (i & 1)))
		kinds := graph.Kinds(m &^ metaCoarse)
		if kinds != 0 && kinds&h.kinds == 0 {
			continue
		}
		hop := &buf[k]
		hop.From, hop.To, hop.By, hop.Kinds, hop.Coarse = from, graph.Handle(to[i]), by[i], kinds, m&metaCoarse != 0
		k++
	}
	h.buf = buf[:k]
	return nil
}

// allPlain reports whether none of nodes can be another than it is named.
func (v *View) allPlain(nodes []uint32) bool {
	for _, n := range nodes {
		if v.isSpecial(v.Base(graph.Handle(n))) {
			return false
		}
	}
	return true
}

// hop makes the hop of one flow; false where it is not asked for.
func (h *hopper) hop(from graph.Handle, r *run, i int) (graph.Hop, bool) {
	m := r.metaAt(i)
	hop := graph.Hop{From: from, To: graph.Handle(r.to[i]), By: r.by[i], Kinds: graph.Kinds(m &^ metaCoarse), Coarse: m&metaCoarse != 0}
	if h.f.CoarseOnly && !hop.Coarse || hop.Kinds != 0 && hop.Kinds&h.kinds == 0 {
		return hop, false
	}
	if h.origins != nil && !h.origins[h.v.says.at(hop.By).origin] {
		return hop, false
	}
	ok := true
	if !h.v.plain {
		hop.To, ok = h.v.live(hop.To, h.f.ThroughDeleted)
	}
	return hop, ok
}

func (h *hopper) take(hop graph.Hop) error {
	h.buf = append(h.buf, hop)
	if len(h.buf) == hopsAtOnce {
		return h.flush()
	}
	return nil
}
