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
	a := v.heed(from)
	if a.stands != nil {
		return []graph.ID{a.stands.id}, nil
	}
	if to, ok := v.target(from); ok {
		return []graph.ID{to}, nil
	}
	var targets []graph.ID
	for _, s := range v.names.Sources(from) {
		if to := v.heed(s).stands; to != nil && to != a && !slices.Contains(targets, to.id) {
			targets = append(targets, to.id)
		}
	}
	return targets, nil
}

// heed returns what is known of a name, of which something will follow: if more
// is learnt of it, that does not hold any more.
func (v *view) heed(name graph.ID) *about {
	a := v.about(name)
	a.asked = v.epoch
	return a
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
	a := v.heed(to)
	sources := slices.Clone(v.names.Sources(to))
	if a.standing == nil {
		return sources, nil
	}
	for _, n := range a.standing.Names {
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
func (v *view) plain(a *about) bool {
	a.asked = v.epoch
	if a.stands != nil || a.standing != nil && len(a.standing.Names) > 1 {
		return false
	}
	if _, ok := v.target(a.id); ok {
		return false
	}
	return len(v.names.Sources(a.id)) == 0
}

// place returns what is known of a name. It holds until more is known.
func (v *view) place(a *about) *placed {
	if a.placed != nil && a.placed.epoch == v.epoch {
		return a.placed
	}
	p := &placed{epoch: v.epoch, node: a, plain: a.id.Kind() != graph.DataStoreKind || v.plain(a)}
	if !p.plain {
		node, _ := v.resolver.Node(a.id) // Links of this view have no errors
		p.node = v.about(node)
	}
	a.placed = p
	return p
}

// forget forgets what followed from what was known.
func (v *view) forget() {
	v.resolver = graph.NewResolver(v, graph.Forever)
	v.stale = false
	v.epoch++
}

// nodeOf returns the node that a name or column stands for, and node its id.
func (v *view) nodeOf(a *about) *about {
	to := v.place(a.base).node
	switch {
	case to == a.base:
		return a
	case a == a.base:
		return to
	}
	return v.about(a.id.WithBase(to.id))
}

func (v *view) node(id graph.ID) graph.ID { return v.nodeOf(v.about(id)).id }

// holders lists the regions that have something of a node, each with the data
// store or process that it is there. Of a node of which nothing is known it is
// all regions.
func (v *view) holders(node *about) []*holder {
	p := v.place(node.base)
	if !p.held {
		p.held, p.holders = true, v.hold(node.base, p)
		p.settled = true
		for _, h := range p.holders {
			p.settled = p.settled && h.known
		}
	}
	return p.holders
}

func (v *view) hold(base *about, p *placed) []*holder {
	one := [...]graph.ID{base.id}
	names := one[:]
	if !p.plain {
		names, _ = v.resolver.Members(base.id)
	}
	var hs []*holder
	for _, n := range names {
		a := v.heed(n)
		r := a.home
		if r == nil {
			if name, ok := v.names.Region(n); ok {
				r = v.region(name)
			}
		}
		if r == nil {
			continue
		}
		if a.stands != nil {
			a = a.stands
		}
		if h := v.in(r, a); !slices.Contains(hs, h) {
			hs = append(hs, h)
		}
	}
	if len(hs) == 0 && v.names.Table(base.id) == nil {
		for _, r := range v.regions {
			hs = append(hs, v.in(r, base))
		}
	}
	return hs
}

// gone reports whether a node is deleted, as the region says whose node it is.
func (v *view) gone(node *about) bool {
	a := node.base
	if a.stands != nil { // of names in a ring
		a = a.stands
	}
	return a.standing != nil && a.standing.Gone
}

// Resolve implements graph.View, as far as is known: regions say which of
// their names stand for others when they are asked about them.
func (v *view) Resolve(_ context.Context, id graph.ID) (graph.ID, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.node(id), nil
}
