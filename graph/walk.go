package graph

import (
	"context"
	"errors"
)

// A Seed is where a walk begins, at a distance from the root.
type Seed struct {
	ID       ID
	Distance int
}

// WalkOptions say how to walk. The zero value walks data stores downstream,
// not at all: Depth is 0.
type WalkOptions struct {
	Direction   Direction // Downstream or Upstream
	Granularity Granularity
	// Depth is how many hops; Unlimited is all.
	Depth int
	// Kinds are the dependency kinds that count. 0: all but Control.
	Kinds          Kinds
	Origins        []string
	ThroughDeleted bool
	// First, if set, is the process whose own flows alone make the first hop.
	First ID
}

// Unlimited is a depth without end.
const Unlimited = 1 << 30

// A Reached is what a walk found at one hop. The slices are the caller's only
// until emit returns.
type Reached struct {
	// Level is the hop.
	Level int
	// Nodes are numbers in the view that was walked: IDs tells what they are,
	// to those who want to know more than how many.
	Nodes []Handle
	// Distances are those of the nodes, where one may differ from Level: that of
	// a column which an edge reached after its data store had been is less. Nil:
	// all are Level.
	Distances []int32
	walker    *walker
}

// IDs returns the ids of the nodes.
func (r *Reached) IDs() []ID {
	w := r.walker
	w.ids = sized(w.ids, len(r.Nodes))
	w.g.IDs(r.Nodes, w.ids)
	return w.ids
}

// A Summary says how a walk ended.
type Summary struct {
	// Nodes were reached, within Levels of hops.
	Nodes, Levels int
	Gaps          []Gap
	// Late: ctx ended first; what was emitted is right, and nearest first.
	Late bool
}

// Walk emits the nodes that seeds reach, seeds included, level by level; in
// no set order within a level. When ctx ends, the walk does, and says so.
func Walk(ctx context.Context, v View, seeds []Seed, o WalkOptions, emit func(Reached) error) (sum Summary, err error) {
	remote, ok := v.(Remote)
	if !ok {
		return walk(ctx, v, seeds, o, emit)
	}
	w := remote.Walking(LegQuestion{Granularity: o.Granularity, Depth: o.Depth, Kinds: o.Kinds, Origins: o.Origins})
	for more := true; more && err == nil; {
		if sum, err = walk(ctx, w, seeds, o, func(Reached) error { return nil }); err == nil {
			more, err = w.Fetch(ctx)
		}
	}
	if err != nil {
		return sum, err
	}
	return walk(ctx, w, seeds, o, emit)
}

func walk(ctx context.Context, v View, seeds []Seed, o WalkOptions, emit func(Reached) error) (Summary, error) {
	ids := make([]ID, len(seeds))
	for i, s := range seeds {
		ids[i] = s.ID
	}
	g := numbersOf(v, ids...)
	numbered := make([]hseed, len(seeds))
	for i, s := range seeds {
		h, _ := g.Handle(s.ID)
		numbered[i] = hseed{h, s.Distance}
	}
	var sum Summary
	w := newWalker(g, numbered, o, nil)
	defer w.release()
	for !w.done {
		steps, err := w.step(ctx)
		if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			sum.Late = true
			break
		}
		if err != nil {
			return sum, err
		}
		if len(steps) == 0 {
			continue
		}
		sum.Levels = w.level - 1
		sum.Nodes += len(steps)
		found := Reached{Level: w.level - 1, Nodes: steps, walker: w}
		if o.Granularity == Columns {
			w.distances = sized(w.distances, len(steps))
			for i, h := range steps {
				w.distances[i] = w.reachedAt(h)
			}
			found.Distances = w.distances
		}
		if err := emit(found); err != nil {
			return sum, err
		}
	}
	sum.Gaps = w.gaps
	return sum, nil
}

// A hseed and a hstep are a Seed and a Step by number.
type (
	hseed struct {
		h        Handle
		distance int
	}
	hstep struct {
		h        Handle
		distance int32
	}
)

// A walker is a 0–1 breadth-first search, one level a step. Hops weigh 1;
// what a data store contains, and the way out of a hub, weigh 0. A hub is the
// process of a fan when data stores are walked, and a data store when
// processes are.
type walker struct {
	g     Numbers
	o     WalkOptions
	first bool // o.First is set
	level int
	*scratch
	hubs  map[Handle]*hub // entered
	edges *edgeSet        // nil: not wanted
	// taking says what is done with the hops that come; emit does it.
	taking  taking
	emit    Emit
	entered []Handle // hubs, at this level
	ask     Ask
	// keep, if set, returns those of the nodes that are walked on from. It is
	// asked level by level, about every node of the walk.
	keep func(ctx context.Context, hs []Handle) ([]Handle, error)
	// enough, if not 0, is how many nodes of a level are wanted at most, and
	// after is the id behind which they are, at afterLevel.
	enough     int
	after      ID
	afterLevel int
	// bounded, if not 0, is the level of which nodes were left out, behind
	// those that are enough: the walk goes no further.
	bounded int
	done    bool
	gaps    []Gap
}

type hub struct {
	ins, outs []Hop
}

// A taking says what hops are.
type taking uint8

const (
	takeDirect taking = iota // one hop each
	takeIn                   // perhaps into a hub
	takeOut                  // out of one
)

func newWalker(g Numbers, seeds []hseed, o WalkOptions, edges *edgeSet) *walker {
	w := &walker{g: g, o: o, first: !o.First.IsZero(), scratch: scratches.Get().(*scratch), edges: edges, afterLevel: -1}
	if o.Kinds == 0 {
		w.o.Kinds = AllKinds &^ Control
	}
	w.emit.Hops = w.taken
	if edges == nil && !w.first && o.Granularity != Processes {
		w.emit.Ends = w.ends
	}
	for _, s := range seeds {
		w.reach(s.h, int32(s.distance))
	}
	return w
}

// over reports whether there is nothing more to be had from the walk.
func (w *walker) over() bool {
	return w.done || w.edges != nil && w.edges.cut || w.bounded != 0 && w.level > w.bounded
}

// release gives the memory of the walk back.
func (w *walker) release() {
	if w.scratch == nil || len(w.dist.words)+len(w.whole.words) > keepWords {
		return
	}
	w.seen.reset()
	w.dist.reset()
	w.whole.reset()
	w.flags.reset()
	w.next.reset()
	w.found.reset()
	w.known = w.known[:0]
	scratches.Put(w.scratch)
	w.scratch = nil
}

// distance returns how far a node is, -1 where it was not reached. It is known
// of columns, and where edges are wanted.
func (w *walker) distance(h Handle) int { return int(w.dist.get(h)) - 1 }

// reachedAt is the distance of a node that step has just returned.
func (w *walker) reachedAt(h Handle) int32 {
	if w.o.Granularity == Columns {
		return int32(w.dist.get(h)) - 1
	}
	return int32(w.level - 1)
}

// reached reports whether a node was.
func (w *walker) reached(h Handle) bool {
	if w.o.Granularity == Columns {
		return w.dist.get(h) != 0
	}
	return w.seen.has(h)
}

// reach notes that a node is at most so far, unless it is known to be nearer.
func (w *walker) reach(h Handle, distance int32) {
	if w.o.Granularity == Columns {
		switch h.Class() {
		case ColumnClass:
			if since := int32(w.whole.get(w.g.Base(h))) - 1; since >= 0 && since < distance {
				w.settle(h, since)
				return
			}
		case DataStoreClass:
			since := w.whole.at(h)
			if *since != 0 {
				return
			}
			*since = uint32(distance + 1)
			w.next.add(int(distance), h)
			if d := w.dist.at(h); *d == 0 {
				*d = uint32(distance + 1)
				w.found.add(int(distance), hstep{h, distance})
			}
			return
		}
	}
	if w.o.Granularity != Columns {
		if w.seen.add(h) {
			w.next.add(int(distance), h)
			if w.edges != nil {
				*w.dist.at(h) = uint32(distance + 1)
			}
		}
		return
	}
	d := w.dist.at(h)
	if *d != 0 {
		return
	}
	*d = uint32(distance + 1)
	w.found.add(int(distance), hstep{h, distance})
	w.next.add(int(distance), h)
}

// settle notes a node that is emitted because an edge leaves it at this level.
// A data store may have been reached one level on before: its own rows, which
// the edge is one of, are nearer than what it stands for. What was noted then
// has a distance that does not hold any more, and is passed over.
func (w *walker) settle(h Handle, distance int32) {
	d := w.dist.at(h)
	if *d != 0 && *d <= uint32(distance+1) {
		return
	}
	*d = uint32(distance + 1)
	w.found.add(max(int(distance), w.level), hstep{h, distance})
}

// step expands one level and returns its nodes, in no set order; the slice is
// the caller's until the next step. When ctx ends meanwhile it returns ctx's
// error, and the level does not count.
func (w *walker) step(ctx context.Context) ([]Handle, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	all := w.next.take(w.level)
	frontier := all
	var asked map[Handle]bool
	if w.keep != nil && len(frontier) > 0 {
		asked = make(map[Handle]bool, len(frontier))
		for _, h := range frontier {
			asked[h] = true
		}
		kept, err := w.keep(ctx, frontier)
		if err != nil {
			return nil, err
		}
		frontier = kept
	}
	noted := w.note(all, 0)
	if w.level < w.o.Depth && len(frontier) > 0 {
		if err := w.expand(ctx, frontier); err != nil {
			return nil, err
		}
	}
	w.note(all, noted)
	steps := all
	if w.o.Granularity == Columns {
		steps = w.sets[3][:0]
		for _, s := range w.found.take(w.level) {
			if w.dist.get(s.h) == uint32(s.distance+1) {
				steps = append(steps, s.h)
			}
		}
		w.sets[3] = steps
	}
	if w.keep != nil {
		// Nodes that only an edge touches are asked about too.
		var touched []Handle
		for _, h := range steps {
			if !asked[h] {
				touched = append(touched, h)
			}
		}
		if len(touched) > 0 {
			if _, err := w.keep(ctx, touched); err != nil {
				return nil, err
			}
		}
	}
	w.level++
	w.done = w.bounded == 0 && (w.level > w.o.Depth || w.next.empty(w.level) && w.found.empty(w.level))
	return steps, nil
}

// note makes known, for bounds, what was found at this level after the first
// so many.
func (w *walker) note(all []Handle, from int) int {
	if w.enough == 0 {
		return 0
	}
	if w.o.Granularity != Columns {
		w.known = append(w.known, all[from:]...)
		return len(all)
	}
	if w.level >= len(w.found.lists) {
		return 0
	}
	found := w.found.lists[w.level]
	for _, s := range found[from:] {
		w.known = append(w.known, s.h)
	}
	return len(found)
}
