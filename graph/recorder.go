package graph

import (
	"context"
	"slices"
	"sync"
)

// A recorder is the numbers of a view that notes the lists which are read. It
// reads them whole, and gives the walk what it asked for.
type recorder struct {
	Numbers
	l      *legWalk
	places *marks // 1 + the place of a node in the leg
	bys    map[uint32]uint32
	kept   []Hop
}

func (r *recorder) place(h Handle) uint32 {
	at := r.places.at(h)
	if *at == 0 {
		*at = r.l.place(r.ID(h)) + 1
	}
	return *at - 1
}

func (r *recorder) by(by uint32) uint32 {
	i, ok := r.bys[by]
	if !ok {
		key := r.By(by)
		if i, ok = r.l.keys[key]; !ok {
			i = uint32(len(r.l.leg.Keys))
			r.l.keys[key] = i
			r.l.leg.Keys = append(r.l.leg.Keys, key)
		}
		r.bys[by] = i
	}
	return i
}

func (r *recorder) Hops(ctx context.Context, frontier []Handle, f *Ask, _ *Bound, emit Emit) ([]Gap, error) {
	lists := make(map[Handle]*LegList, len(frontier))
	for _, h := range frontier {
		key := legListKey{r.place(h), f.Layer, f.Dir, f.Whole, f.CoarseOnly}
		if r.l.lists[key] { // by a walk before this one
			continue
		}
		lists[h] = &LegList{Node: key.node, Layer: f.Layer, Dir: f.Dir, Whole: f.Whole, CoarseOnly: f.CoarseOnly}
	}
	ask := Ask{Layer: f.Layer, Dir: f.Dir, Whole: f.Whole, CoarseOnly: f.CoarseOnly, ThroughDeleted: true}
	gaps, err := r.Numbers.Hops(ctx, frontier, &ask, nil, Emit{Hops: func(hops []Hop) error {
		if r.l.hops += len(hops); r.l.hops > r.l.most {
			return errFull
		}
		r.kept = r.kept[:0]
		for i := range hops {
			h := hops[i]
			of := h.From
			if f.Whole {
				of = r.Base(of)
			}
			if list := lists[of]; list != nil {
				list.Hops = append(list.Hops, LegHop{From: r.place(h.From), To: r.place(h.To), By: r.by(h.By), Kinds: h.Kinds, Coarse: h.Coarse})
			}
			if f.wants(h.Kinds, r.By(h.By).Origin) {
				r.kept = append(r.kept, h)
			}
		}
		if len(r.kept) == 0 {
			return nil
		}
		return emit.Hops(r.kept)
	}})
	if err != nil {
		return gaps, err // what was read of the lists is not whole
	}
	for _, h := range frontier {
		if list := lists[h]; list != nil {
			r.l.leg.Lists = append(r.l.leg.Lists, *list)
			r.l.lists[legListKey{list.Node, f.Layer, f.Dir, f.Whole, f.CoarseOnly}] = true
		}
	}
	return gaps, nil
}

// wants reports whether a hop of these kinds is asked for.
func (f *Ask) wants(kinds Kinds, origin string) bool {
	return (f.Kinds == 0 || kinds == 0 || kinds&f.Kinds != 0) && (len(f.Origins) == 0 || slices.Contains(f.Origins, System(origin)))
}

// recording returns numbers that put into the leg what is read of them.
func (l *legWalk) recording(n Numbers) *recorder {
	r := &recorder{Numbers: n, l: l, places: placesPool.Get().(*marks), bys: map[uint32]uint32{}}
	l.recorders = append(l.recorders, r)
	return r
}

// placesPool has the memory of recorders, which is as large as the graph.
var placesPool = sync.Pool{New: func() any { return new(marks) }}

// release gives the memory of the walk back.
func (l *legWalk) release() {
	for _, r := range l.recorders {
		if len(r.places.words) <= keepWords {
			r.places.reset()
			placesPool.Put(r.places)
		}
	}
	if len(l.at) <= keepPlaces { // what is emptied later is as large as it ever was
		clear(l.at)
		clear(l.keys)
		clear(l.lists)
		l.reached = l.reached[:0]
		legMemories.Put(l.legMemory)
	}
}

// keepPlaces is how many nodes a leg may have whose memory is used again.
const keepPlaces = 1024
