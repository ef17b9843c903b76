package federation

import (
	"context"
	"slices"

	"headwater/graph"
)

// AliasTargets implements graph.Links over what regions have sent and what the
// catalog says. What a region says of its own names comes first, since it has
// their flows as one node's; then what the catalog says; then what another
// region says of a name that by the catalog is the same.
func (v *view) AliasTargets(from graph.ID) ([]graph.ID, error) {
	if to, ok := v.stands[from]; ok {
		return []graph.ID{to}, nil
	}
	if to, ok := v.names.Target(from); ok {
		return []graph.ID{to}, nil
	}
	var targets []graph.ID
	for _, s := range v.names.Sources(from) {
		if to, ok := v.stands[s]; ok && to != from && !slices.Contains(targets, to) {
			targets = append(targets, to)
		}
	}
	return targets, nil
}

// AliasSources implements graph.Links.
func (v *view) AliasSources(to graph.ID) ([]graph.ID, error) {
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
	if _, ok := v.stands[base]; ok {
		return false
	}
	if st, ok := v.standing[base]; ok && len(st.Names) > 1 {
		return false
	}
	if _, ok := v.names.Target(base); ok {
		return false
	}
	return len(v.names.Sources(base)) == 0
}

// node returns the node that a name or column stands for.
func (v *view) node(id graph.ID) graph.ID {
	if id.Kind() != graph.DataStoreKind || v.plain(id.Base()) {
		return id
	}
	node, _ := v.resolver.Node(id) // Links of this view have no errors
	return node
}

// A holder is a node as one region has it. No region: all that might.
type holder struct {
	region string
	id     graph.ID
}

// holders lists the regions that have something of a node, each with the node
// that it is there. Of a node of which nothing is known it is all regions.
func (v *view) holders(node graph.ID) []holder {
	base := node.Base()
	names := []graph.ID{base}
	if base.Kind() == graph.DataStoreKind && !v.plain(base) {
		names, _ = v.resolver.Members(base)
	}
	var hs []holder
	for _, n := range names {
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
	for i := range hs {
		hs[i].id = node.WithBase(hs[i].id)
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
