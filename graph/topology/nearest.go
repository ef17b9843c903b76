package topology

import (
	"slices"

	"headwater/graph"
)

// nearest takes, of a long list, what a bound asks for. Names that are not
// plain stand elsewhere in the order than their nodes do: all of them are
// taken.
func (h *hopper) nearest(from graph.Handle, dir []uint32) error {
	v, b := h.v, h.bound
	take := func(r *run, i int) error {
		if hop, ok := h.hop(from, r, i); ok {
			return h.take(hop)
		}
		return nil
	}
	begin := seek(v, dir, b.From)
	fresh, last := 0, ^graph.Handle(0)
	for at := begin; ; at = at.next(v, dir) {
		if at.run == len(dir) {
			// There are not that many: the bound leaves nothing out.
			for at := (place{}); at != begin; at = at.next(v, dir) {
				r := readRun(v.slabs, dir[at.run])
				if err := take(&r, at.i); err != nil {
					return err
				}
			}
			return nil
		}
		r := readRun(v.slabs, dir[at.run])
		hop, ok := h.hop(from, &r, at.i)
		if fresh == b.Enough && graph.Handle(r.to[at.i]) != last {
			break
		}
		if !ok {
			continue
		}
		if to := graph.Handle(r.to[at.i]); to == hop.To && to != last && h.counts(to) {
			fresh, last = fresh+1, to
		}
		if err := h.take(hop); err != nil {
			return err
		}
	}
	b.Met = true
	for _, known := range b.Known {
		// A data store's columns stand behind it.
		for at := seek(v, dir, v.id(known)); at.run < len(dir); at = at.next(v, dir) {
			r := readRun(v.slabs, dir[at.run])
			if to := graph.Handle(r.to[at.i]); to != known && v.Base(to) != known {
				break
			}
			if err := take(&r, at.i); err != nil {
				return err
			}
		}
	}
	var processes graph.ID // come behind all data stores: fans
	processes[0] = byte(graph.ProcessKind) << 6
	for at := seek(v, dir, processes); at.run < len(dir); at = at.next(v, dir) {
		r := readRun(v.slabs, dir[at.run])
		if graph.Handle(r.to[at.i]).Class() != graph.HubClass {
			break
		}
		if err := take(&r, at.i); err != nil {
			return err
		}
	}
	if v.plain {
		return nil
	}
	for _, ref := range dir {
		r := readRun(v.slabs, ref)
		for i := range r.to {
			to := graph.Handle(r.to[i])
			if v.isSpecial(v.Base(to)) {
				if err := take(&r, i); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// counts reports whether a node is sure to be a new one at the next level,
// behind where the bound begins. Hubs are no nodes; a data store among columns
// may turn out to be nearer, and so may the columns of one that is known.
func (h *hopper) counts(to graph.Handle) bool {
	class := to.Class()
	if class == graph.HubClass || class == graph.DataStoreClass && (h.f.CoarseOnly || h.f.Layer == graph.ColumnLayer) {
		return false
	}
	base := h.v.Base(to)
	return !h.bound.IsKnown(to) && !h.bound.IsKnown(base) && h.v.id(base) != h.bound.From.Base()
}

// isSpecial reports whether a node is a data store that may not be plain.
func (v *View) isSpecial(h graph.Handle) bool {
	i := h.Index()
	return h.Class() == graph.DataStoreClass && i>>6 < v.special.n && v.special.at(i>>6).Load()&(1<<(i&63)) != 0
}

// A place is one in a list: a run, and a flow in it.
type place struct{ run, i int }

func (p place) next(v *View, dir []uint32) place {
	ref := dir[p.run]
	if p.i++; p.i == int(v.slabs[ref>>slabShift][ref&(slabWords-1)]>>flagBits) {
		return place{run: p.run + 1}
	}
	return p
}

// seek returns the first place whose node's id is not below one.
func seek(v *View, dir []uint32, id graph.ID) place {
	below := func(h graph.Handle) int {
		if v.id(h).Compare(id) < 0 {
			return -1
		}
		return 1
	}
	at, _ := slices.BinarySearchFunc(dir, id, func(ref uint32, _ graph.ID) int {
		return below(graph.Handle(readRun(v.slabs, ref).to[0]))
	})
	at = max(0, at-1)
	r := readRun(v.slabs, dir[at])
	i, _ := slices.BinarySearchFunc(r.to, id, func(to uint32, _ graph.ID) int { return below(graph.Handle(to)) })
	if i == len(r.to) {
		return place{run: at + 1}
	}
	return place{at, i}
}
