package graphtest

import (
	"context"
	"slices"

	"headwater/graph"
)

// Names say which names of several regions are one node.
type Names interface {
	// Target returns the name that a name stands for; false: itself.
	Target(id graph.ID) (graph.ID, bool)
	// Sources lists the names whose target is a name.
	Sources(id graph.ID) []graph.ID
}

// Joined is a Reader over a model that holds what several regions hold: what
// a federation of them answers is what it answers. A name stands for what it
// does in its own region, else for what Names say; else what other regions say
// of names that are the same is said of it.
type Joined struct {
	All     *Model
	Regions []graph.Reader
	Names   Names
	// Known are names that nodes may stand for although no region speaks of them.
	Known map[graph.ID]graph.Name
}

// View implements graph.Reader.
func (j *Joined) View(ctx context.Context, at graph.At) (graph.View, error) {
	j.All.mu.Lock()
	rows, err := j.All.derive()
	j.All.mu.Unlock()
	if err != nil {
		return nil, err
	}
	when := int64(graph.Forever)
	if !at.AsOf.IsZero() {
		when = at.AsOf.UnixNano()
	}
	joined := &joinedRows{modelRows: rows, j: j, local: map[graph.ID]graph.ID{}, from: map[graph.ID][]graph.ID{}}
	for _, r := range j.Regions {
		v, err := r.View(ctx, at)
		if err != nil {
			return nil, err
		}
		for id := range rows.names {
			if node, err := v.Resolve(ctx, id); err != nil {
				return nil, err
			} else if node != id {
				joined.local[id] = node
			}
		}
		if err := v.Close(); err != nil {
			return nil, err
		}
	}
	ids := map[graph.ID]bool{}
	for id := range rows.names {
		ids[id] = true
	}
	for id := range j.Known {
		ids[id] = true
	}
	for id := range ids {
		targets, err := joined.AliasTargets(id)
		if err != nil {
			return nil, err
		}
		for _, t := range targets {
			joined.from[t] = append(joined.from[t], id)
		}
	}
	return graph.NewView(joined, when), nil
}

// joinedRows are rows whose aliases are those of all regions.
type joinedRows struct {
	*modelRows
	j     *Joined
	local map[graph.ID]graph.ID // what names stand for in their own region
	from  map[graph.ID][]graph.ID
}

func (r *joinedRows) AliasTargets(from graph.ID) ([]graph.ID, error) {
	if to, ok := r.local[from]; ok {
		return []graph.ID{to}, nil
	}
	if to, ok := r.j.Names.Target(from); ok {
		return []graph.ID{to}, nil
	}
	var targets []graph.ID
	for _, n := range r.j.Names.Sources(from) {
		if to, ok := r.local[n]; ok && to != from && !slices.Contains(targets, to) {
			targets = append(targets, to)
		}
	}
	return targets, nil
}

func (r *joinedRows) AliasSources(to graph.ID) ([]graph.ID, error) { return r.from[to], nil }

// Life leaves out renames, which are aliases in the region alone.
func (r *joinedRows) Life(node graph.ID) (graph.Life, error) {
	if to, ok := r.local[node]; ok { // of names in a ring
		node = to
	}
	life := slices.Clone(r.lives[node])
	for i := range life {
		life[i].RenamedTo = graph.Name{}
	}
	return life, nil
}

func (r *joinedRows) Names(ctx context.Context, ids []graph.ID, emit func(graph.ID, graph.Name) error) error {
	for _, id := range ids {
		if _, spoken := r.names[id]; spoken {
			continue
		}
		if n, ok := r.j.Known[id]; ok {
			if err := emit(id, n); err != nil {
				return err
			}
		}
	}
	return r.modelRows.Names(ctx, ids, emit)
}
