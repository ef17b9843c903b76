package federation

import (
	"context"
	"slices"

	"headwater/gateway/border"
	"headwater/graph"
)

// AliasTargets implements graph.Links over what regions have sent and what the
// catalog says. What a region says of its own names comes first, since it has
// their flows as one node's; then what the catalog says; then what another
// region says of a name that by the catalog is the same.
func (v *view) AliasTargets(from graph.ID) ([]graph.ID, error) {
	v.asked[from] = true
	if to, ok := v.stands[from]; ok {
		return []graph.ID{to}, nil
	}
	if to, ok := v.target(from); ok {
		return []graph.ID{to}, nil
	}
	var targets []graph.ID
	for _, s := range v.names.Sources(from) {
		v.asked[s] = true
		if to, ok := v.stands[s]; ok && to != from && !slices.Contains(targets, to) {
			targets = append(targets, to)
		}
	}
	return targets, nil
}

// target returns what a name stands for by the catalog.
func (v *view) target(name graph.ID) (graph.ID, bool) {
	if to, ok := v.names.Target(name); ok {
		return to, ok
	}
	to, ok := v.ruled[name]
	return to, ok
}

// AliasSources implements graph.Links.
func (v *view) AliasSources(to graph.ID) ([]graph.ID, error) {
	v.asked[to] = true
	sources := slices.Clone(v.names.Sources(to))
	for _, n := range v.standing[to].Names {
		if n == to {
			continue
		}
		sources = append(sources, n)
		if same, ok := v.names.Target(n); ok {
			sources = append(sources, same)
		}
	}
	return sources, nil
}

// Life implements graph.Links: renames are the regions' own matter.
func (v *view) Life(graph.ID) (graph.Life, error) { return graph.Life{}, nil }

// plain reports whether a name has nothing to do with any other.
func (v *view) plain(base graph.ID) bool {
	v.asked[base] = true
	if _, ok := v.stands[base]; ok {
		return false
	}
	if st, ok := v.standing[base]; ok && len(st.Names) > 1 {
		return false
	}
	if _, ok := v.target(base); ok {
		return false
	}
	return len(v.names.Sources(base)) == 0
}

// A placed is what is known of a name at this point: what it stands for, and
// which regions have something of that.
type placed struct {
	node graph.ID
	// plain: no other name has to do with it.
	plain bool
	// holders are those of node, and table is the global table that it is a
	// member of. Both are found when they are first asked for.
	holders []holder
	table   *border.Table
	held    bool
	tabled  bool
	// settled: all holders have said how they stand.
	settled bool
}

// placeOf returns what is known of a name. It holds until more is known.
func (v *view) placeOf(base graph.ID) *placed {
	if p := v.places[base]; p != nil {
		return p
	}
	p := &placed{node: base, plain: base.Kind() != graph.DataStoreKind || v.plain(base)}
	if !p.plain {
		p.node, _ = v.resolver.Node(base) // Links of this view have no errors
	}
	v.places[base] = p
	return p
}

// forget forgets what followed from what was known.
func (v *view) forget() {
	v.resolver = graph.NewResolver(v, graph.Forever)
	clear(v.places)
	clear(v.asked)
	v.stale = false
	v.epoch++
}

// node returns the node that a name or column stands for.
func (v *view) node(id graph.ID) graph.ID { return id.WithBase(v.placeOf(id.Base()).node) }

// A holder is a node as one region has it.
type holder struct {
	region string
	id     graph.ID
}

// of returns the holder of a column of the node, or the node itself.
func (h holder) of(id graph.ID) holder { return holder{h.region, id.WithBase(h.id)} }

// holders lists the regions that have something of a node, each with the data
// store or process that it is there. Of a node of which nothing is known it is
// all regions.
func (v *view) holders(base graph.ID) []holder {
	p := v.placeOf(base)
	if !p.held {
		p.held, p.holders = true, v.hold(base, p)
		p.settled = true
		for _, h := range p.holders {
			p.settled = p.settled && v.known[h]
		}
	}
	return p.holders
}

func (v *view) hold(base graph.ID, p *placed) []holder {
	names := []graph.ID{base}
	if !p.plain {
		names, _ = v.resolver.Members(base)
	}
	var hs []holder
	for _, n := range names {
		v.asked[n] = true
		region, ok := v.home[n]
		if !ok {
			region, ok = v.names.Region(n)
		}
		if !ok {
			continue
		}
		if to, ok := v.stands[n]; ok {
			n = to
		}
		h := holder{region, n}
		if !slices.Contains(hs, h) {
			hs = append(hs, h)
		}
	}
	if len(hs) == 0 && v.names.Table(base) == nil {
		for _, r := range v.regions {
			hs = append(hs, holder{r.Name, base})
		}
	}
	return hs
}

// gone reports whether a node is deleted, as the region says whose node it is.
func (v *view) gone(node graph.ID) bool {
	base := node.Base()
	if to, ok := v.stands[base]; ok { // of names in a ring
		base = to
	}
	return v.standing[base].Gone
}

// Resolve implements graph.View, as far as is known: regions say which of
// their names stand for others when they are asked about them.
func (v *view) Resolve(_ context.Context, id graph.ID) (graph.ID, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.node(id), nil
}
