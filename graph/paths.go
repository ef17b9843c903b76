package graph

import (
	"context"
	"errors"
	"maps"
	"slices"
)

// A PathQuestion asks for the shortest paths between two nodes along the flow
// of data.
type PathQuestion struct {
	From, To    ID
	Granularity Granularity
	Kinds       Kinds
	MaxDepth    int
	// First is how many paths at most.
	First int
}

// Paths are the shortest paths between two nodes, each from From to To. A
// path that enters a data store and leaves it by a column lists both.
type Paths struct {
	Paths [][]ID
	// Complete: these are all the shortest paths, or there is none.
	Complete bool
	Gaps     []Gap
}

// GetPaths answers a PathQuestion over any view.
func GetPaths(ctx context.Context, v View, q PathQuestion) (p *Paths, err error) {
	leg := LegQuestion{Granularity: q.Granularity, Depth: q.MaxDepth, Kinds: q.Kinds, Enough: pathsAhead}
	lacking, err := walking(ctx, v, leg, func(v View) error {
		p, err = paths(ctx, v, q)
		return err
	})
	for _, gap := range lacking {
		if p.Complete = false; !slices.Contains(p.Gaps, gap) {
			p.Gaps = append(p.Gaps, gap)
		}
	}
	return p, err
}

func paths(ctx context.Context, v View, q PathQuestion) (*Paths, error) {
	from, err := v.Resolve(ctx, q.From)
	if err != nil {
		return nil, err
	}
	to, err := v.Resolve(ctx, q.To)
	if err != nil {
		return nil, err
	}
	if q.Granularity == DataStores {
		from, to = from.Base(), to.Base()
	}
	if from == to {
		return &Paths{Paths: [][]ID{{from}}, Complete: true}, nil
	}
	p := &pathfinder{first: q.First, paths: &Paths{Complete: true}}
	g := numbersOf(v, from, to)
	p.from, _ = g.Handle(from)
	p.to, _ = g.Handle(to)
	p.walker = newWalker(g, []hseed{{h: p.from}}, WalkOptions{Direction: Downstream, Granularity: q.Granularity, Depth: q.MaxDepth, Kinds: q.Kinds}, newEdgeSet())
	defer p.release()
	for !p.over() {
		if _, err := p.step(ctx); err != nil {
			if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
				p.paths.Complete = false
				break
			}
			return nil, err
		}
		if ends := p.ends(); len(ends) > 0 {
			p.collect(ends)
			break
		}
	}
	p.paths.Gaps = p.gaps
	p.paths.Complete = p.paths.Complete && !p.edges.cut && len(p.gaps) == 0
	return p.paths, nil
}

type pathfinder struct {
	*walker
	from, to Handle
	first    int
	paths    *Paths
	pred     map[Handle][]Handle
}

func (p *pathfinder) sort(hs []Handle) {
	slices.SortFunc(hs, func(a, b Handle) int { return p.g.ID(a).Compare(p.g.ID(b)) })
}

// ends lists the nodes of the last level that are the destination: to itself,
// the data store that stands for it, or a column that it stands for.
func (p *pathfinder) ends() []Handle {
	var ends []Handle
	nearest := -1
	base := p.g.Base(p.to)
	p.dist.each(func(h Handle, v uint32) {
		if h != p.to && !(p.o.Granularity == Columns && base.Class() == DataStoreClass && p.g.Base(h) == base &&
			(p.to.Class() != ColumnClass || h == base && p.whole.get(h) != 0)) {
			return
		}
		switch d := int(v) - 1; {
		case nearest < 0 || d < nearest:
			nearest, ends = d, []Handle{h}
		case d == nearest:
			ends = append(ends, h)
		}
	})
	if nearest < 0 || nearest > p.level {
		return nil
	}
	p.sort(ends)
	return ends
}

func (p *pathfinder) collect(ends []Handle) {
	p.pred = map[Handle][]Handle{}
	for i := range p.edges.list {
		e := &p.edges.list[i]
		if d := p.distance(e.to); d >= 0 && p.distance(e.from)+1 == d {
			p.pred[e.to] = append(p.pred[e.to], e.from)
		}
	}
	if p.o.Granularity == Columns {
		// What a data store contains, and what stands for it, is no hop away.
		p.dist.each(func(h Handle, v uint32) {
			if h.Class() != ColumnClass {
				return
			}
			base := p.g.Base(h)
			if p.whole.get(base) == v {
				p.pred[h] = append(p.pred[h], base)
			} else if p.dist.get(base) == v {
				p.pred[base] = append(p.pred[base], h)
			}
		})
	}
	for _, hs := range p.pred {
		p.sort(hs)
	}
	for _, end := range ends {
		tail := []ID{p.g.ID(end)}
		if end != p.to && p.to.Class() == ColumnClass {
			tail = []ID{p.g.ID(p.to), tail[0]}
		}
		if !p.back(end, tail, map[Handle]bool{}) {
			p.paths.Complete = false
			return
		}
	}
}

// back walks from a node to the start and notes the paths; it returns false
// when there are more than are wanted.
func (p *pathfinder) back(h Handle, tail []ID, on map[Handle]bool) bool {
	if h == p.from {
		if len(p.paths.Paths) == p.first {
			return false
		}
		path := slices.Clone(tail)
		slices.Reverse(path)
		p.paths.Paths = append(p.paths.Paths, path)
		return true
	}
	if on[h] {
		return true
	}
	on[h] = true
	defer delete(on, h)
	for _, prev := range p.pred[h] {
		if !p.back(prev, append(slices.Clip(tail), p.g.ID(prev)), on) {
			return false
		}
	}
	return true
}

// IDs lists the nodes of all paths, sorted.
func (p *Paths) IDs() []ID {
	set := map[ID]bool{}
	for _, path := range p.Paths {
		for _, id := range path {
			set[id] = true
		}
	}
	return slices.SortedFunc(maps.Keys(set), ID.Compare)
}
