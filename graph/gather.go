package graph

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
)

// A place is where a node stands in an answer: by level, then id.
type place struct {
	level int32
	id    ID
}

func (p place) compare(o place) int {
	return cmp.Or(cmp.Compare(p.level, o.level), p.id.Compare(o.id))
}

// A gathered node is one of an answer, and its hops from the root, -1 where
// it lies not that way.
type gathered struct {
	h        Handle
	level    int32
	up, down int32
}

// A gatherer makes one answer of one or two walks.
type gatherer struct {
	view  View
	g     Numbers
	q     Question
	skip  place
	root  Handle
	walks []*walker
	edges *edgeSet // nil: not wanted
	*gatherings
	hidden map[Handle]bool
	gaps   []Gap
	after  int // nodes beyond skip
	level  int // levels that all running walks have finished
	late   bool
}

func newGatherer(v View, q Question) *gatherer {
	g := &gatherer{view: v, g: numbersOf(v, q.Root), q: q, skip: place{level: -1}, gatherings: gatheringsPool.Get().(*gatherings), hidden: map[Handle]bool{}}
	if !q.NodesOnly {
		g.edges = newEdgeSet()
	}
	return g
}

func (g *gatherer) release() {
	for _, w := range g.walks {
		w.release()
	}
	if len(g.at.words)+cap(g.sorted) <= keepWords {
		g.at.reset()
		g.nodes = g.nodes[:0]
		gatheringsPool.Put(g.gatherings)
	}
}

// gatherings is the memory of a gatherer, which another one uses again.
type gatherings struct {
	nodes  []gathered
	at     marks // 1 + where in nodes, of two walks; at the end, in those of the answer
	hs     []Handle
	ids    []ID
	sorted []answered
	order  []int32
	begins []int32
	ranks  []uint32
	placed []placedEdge
}

var gatheringsPool = sync.Pool{New: func() any { return new(gatherings) }}

// start finds the seeds. A data store stands for its columns. A process
// stands for what it writes, and its own flows are the first hop upstream; a
// data store among processes is one hop from its producers and consumers.
func (g *gatherer) start(ctx context.Context) error {
	q := g.q
	root, _ := g.g.Handle(q.Root)
	g.root = root
	g.nodes = append(g.nodes, gathered{h: root, up: -1, down: -1})
	*g.at.at(root) = 1
	for _, dir := range []Direction{Upstream, Downstream} {
		if q.Direction != Both && q.Direction != dir {
			continue
		}
		o := WalkOptions{Direction: dir, Granularity: q.Granularity, Depth: q.Depth, Kinds: q.Kinds, Origins: q.Filter.Origins, ThroughDeleted: q.Filter.ThroughDeleted}
		seeds := []hseed{{h: root}}
		switch process := q.Root.Kind() == ProcessKind; {
		case process && q.Granularity != Processes:
			written, err := g.uses(ctx, root, Downstream)
			if err != nil {
				return err
			}
			seeds = seeds[:0]
			for _, h := range written {
				seeds = append(seeds, hseed{h: h})
			}
			if len(seeds) > 0 {
				if dir == Upstream {
					o.First = q.Root
				}
				break
			}
			if dir == Upstream {
				read, err := g.uses(ctx, root, Upstream)
				if err != nil {
					return err
				}
				for _, h := range read {
					seeds = append(seeds, hseed{h: h, distance: 1})
					g.extra(h, root, q.Granularity == Columns)
				}
			}
		case !process && q.Granularity == Processes:
			used, err := g.uses(ctx, g.g.Base(root), dir)
			if err != nil {
				return err
			}
			seeds = seeds[:0]
			for _, h := range used {
				seeds = append(seeds, hseed{h: h, distance: 1})
				if dir == Upstream {
					g.extra(h, root, false)
				} else {
					g.extra(root, h, false)
				}
			}
		}
		if q.Depth < 1 {
			seeds = slices.DeleteFunc(seeds, func(s hseed) bool { return s.distance > 0 })
		}
		w := newWalker(g.g, seeds, o, g.edges)
		if q.Filter.selects() {
			w.keep = g.keep
		}
		g.walks = append(g.walks, w)
	}
	return nil
}

// extra notes an edge between a process that is the root, or next to it, and
// what it uses.
func (g *gatherer) extra(from, to Handle, coarse bool) {
	if g.edges == nil || g.q.Depth < 1 {
		return
	}
	if e := g.edges.edge(from, to, 0); e != nil {
		e.coarse = e.coarse && coarse
	}
}

// uses lists what one node uses, or is used by.
func (g *gatherer) uses(ctx context.Context, h Handle, dir Direction) ([]Handle, error) {
	var to []Handle
	ask := Ask{Layer: UseLayer, Dir: dir, ThroughDeleted: g.q.Filter.ThroughDeleted}
	gaps, err := g.g.Hops(ctx, []Handle{h}, &ask, nil, Emit{Hops: func(hops []Hop) error {
		for _, f := range hops {
			to = append(to, f.To)
		}
		return nil
	}})
	g.gaps = append(g.gaps, gaps...)
	slices.Sort(to)
	return slices.Compact(to), err
}

// walk steps the walks in turn, level by level, until each is done or has
// enough for the page.
func (g *gatherer) walk(ctx context.Context) error {
	for {
		running := false
		for _, w := range g.walks {
			if w.over() {
				continue
			}
			running = true
			if g.q.Limit > 0 && len(g.walks) == 1 { // two walks need what each other leave out
				w.enough, w.after, w.afterLevel = g.q.Limit+1, g.skip.id, int(g.skip.level)
			}
			steps, err := w.step(ctx)
			if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
				g.late = true
				return nil
			}
			if err != nil {
				return err
			}
			g.note(w, steps)
		}
		g.level++
		if !running || g.q.Limit > 0 && g.after > g.q.Limit {
			return nil
		}
	}
}

func (g *gatherer) note(w *walker, steps []Handle) {
	level := int32(w.level - 1)
	g.nodes = slices.Grow(g.nodes, len(steps))
	for _, h := range steps {
		i := g.place(h, level)
		if distance := w.reachedAt(h); w.o.Direction == Upstream {
			g.nodes[i].up = distance
		} else {
			g.nodes[i].down = distance
		}
	}
}

// place returns where a node stands in nodes; it is put there if it does not
// yet. One walk returns each node once.
func (g *gatherer) place(h Handle, level int32) int {
	if len(g.walks) > 1 || h == g.root {
		at := g.at.at(h)
		if *at != 0 {
			return int(*at - 1)
		}
		*at = uint32(len(g.nodes) + 1)
	}
	g.nodes = append(g.nodes, gathered{h: h, level: level, up: -1, down: -1})
	if (len(g.hidden) == 0 || !g.hidden[h]) && (g.skip.level < level || g.skip.compare(place{level, g.g.ID(h)}) < 0) {
		g.after++
	}
	return len(g.nodes) - 1
}

// keep hides what the filter does not let through.
func (g *gatherer) keep(ctx context.Context, hs []Handle) ([]Handle, error) {
	ids := make([]ID, len(hs))
	for i, h := range hs {
		ids[i] = g.g.ID(h)
	}
	match, err := g.q.Filter.match(ctx, g.view, ids)
	if err != nil {
		return nil, err
	}
	var kept []Handle
	for i, h := range hs {
		if h == g.root || match[ids[i]] {
			kept = append(kept, h)
			continue
		}
		g.hidden[h] = true
		if g.q.Filter.PassThrough {
			kept = append(kept, h)
		}
	}
	return kept, nil
}
