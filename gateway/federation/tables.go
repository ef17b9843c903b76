package federation

import (
	"slices"

	"headwater/gateway/border"
	"headwater/graph"
)

// tableOf returns the global table that a node is a member of, under any of
// its names.
func (v *view) tableOf(node *about) *border.Table {
	base := node.base.id
	p := v.place(node.base)
	if p.tabled {
		return p.table
	}
	p.tabled = true
	if p.table = v.names.TableOf(base); p.table != nil || p.plain {
		return p.table
	}
	names, _ := v.resolver.Members(base) // Links of this view have no errors
	for _, n := range names {
		if p.table = v.names.TableOf(n); p.table != nil {
			break
		}
	}
	return p.table
}

// spokenOf lists the members of a global table that a flow is about which a
// region reports of the table itself: downstream such a flow writes it, and
// upstream it reads it, seen from its other end.
func (e *expansion) spokenOf(t *border.Table, r *region) []border.Member {
	if e.ask.Dir == graph.Downstream {
		return t.Writes(r.Name)
	}
	return t.Reads(r.Name)
}

// table adds the flows of a global table to those of a member, as far as they
// are about it: downstream who reads the table, upstream who writes it.
func (e *expansion) table(as graph.Handle, node *about, t *border.Table) {
	for _, h := range e.holders(e.about(t.ID)) {
		h = e.column(h, node)
		members := t.Reads(h.region.Name)
		if e.ask.Dir == graph.Upstream {
			members = t.Writes(h.region.Name)
		}
		if !slices.ContainsFunc(members, func(m border.Member) bool { return e.nodeOf(e.about(m.ID)) == node.base }) {
			continue
		}
		e.listed(as, h, t)
	}
}
