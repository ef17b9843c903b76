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
func GetPaths(ctx context.Context, v View, q PathQuestion) (*Paths, error) {
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
	w := newWalker(v, []Seed{{ID: from}}, WalkOptions{Direction: Downstream, Granularity: q.Granularity, Depth: q.MaxDepth, Kinds: q.Kinds})
	p := &pathfinder{walker: w, from: from, to: to, first: q.First, paths: &Paths{Complete: true}}
	for !w.done {
		if _, err := w.step(ctx); err != nil {
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
	p.paths.Gaps = w.gaps
	p.paths.Complete = p.paths.Complete && !w.cut && len(w.gaps) == 0
	return p.paths, nil
}

type pathfinder struct {
	*walker
	from, to ID
	first    int
	paths    *Paths
	pred     map[ID][]ID
}

// ends lists the nodes of the last level that are the destination: to itself,
// the data store that stands for it, or a column that it stands for.
func (p *pathfinder) ends() []ID {
	var ends []ID
	nearest := -1
	note := func(id ID, d int) {
		switch {
		case nearest < 0 || d < nearest:
			nearest, ends = d, []ID{id}
		case d == nearest:
			ends = append(ends, id)
		}
	}
	for id, d := range p.dist {
		if id == p.to || p.o.Granularity == Columns && p.to.Kind() == DataStoreKind && id.Base() == p.to.Base() &&
			(!p.to.IsColumn() || !id.IsColumn() && p.isWhole(id)) {
			note(id, d)
		}
	}
	if nearest < 0 || nearest > p.level {
		return nil
	}
	slices.SortFunc(ends, ID.Compare)
	return ends
}

func (p *pathfinder) isWhole(id ID) bool { _, ok := p.whole[id]; return ok }

func (p *pathfinder) collect(ends []ID) {
	p.pred = map[ID][]ID{}
	for k := range p.edges {
		if d, ok := p.dist[k.to]; ok && p.dist[k.from]+1 == d {
			p.pred[k.to] = append(p.pred[k.to], k.from)
		}
	}
	if p.o.Granularity == Columns {
		// What a data store contains, and what stands for it, is no hop away.
		for id, d := range p.dist {
			if !id.IsColumn() {
				continue
			}
			base := id.Base()
			if since, ok := p.whole[base]; ok && since == d {
				p.pred[id] = append(p.pred[id], base)
			} else if bd, ok := p.dist[base]; ok && bd == d {
				p.pred[base] = append(p.pred[base], id)
			}
		}
	}
	for _, ids := range p.pred {
		slices.SortFunc(ids, ID.Compare)
	}
	for _, end := range ends {
		tail := []ID{end}
		if end != p.to && p.to.IsColumn() {
			tail = []ID{p.to, end}
		}
		if !p.back(end, tail, map[ID]bool{}) {
			p.paths.Complete = false
			return
		}
	}
}

// back walks from id to the start and notes the paths; it returns false when
// there are more than are wanted.
func (p *pathfinder) back(id ID, tail []ID, on map[ID]bool) bool {
	if id == p.from {
		if len(p.paths.Paths) == p.first {
			return false
		}
		path := slices.Clone(tail)
		slices.Reverse(path)
		p.paths.Paths = append(p.paths.Paths, path)
		return true
	}
	if on[id] {
		return true
	}
	on[id] = true
	defer delete(on, id)
	for _, prev := range p.pred[id] {
		if !p.back(prev, append(slices.Clip(tail), prev), on) {
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
