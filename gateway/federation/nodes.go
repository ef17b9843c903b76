package federation

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"headwater/graph"
)

// maxLooks is how often nodes are looked for: each look may tell of names of
// theirs that another region has.
const maxLooks = 8

// Nodes implements graph.View. Of a node that several regions have, what the
// region says whose node it is counts first, then the others by name.
func (v *view) Nodes(ctx context.Context, ids []graph.ID, want graph.Want, emit func(graph.Node) error) ([]graph.Gap, error) {
	v.unsteady(want&(graph.WantPartitions|graph.WantSeen) != 0)
	by := until(ctx)
	var nodes []*graph.Node
	var gaps []graph.Gap
	for looks := 0; nodes == nil; {
		v.mu.Lock()
		var c *coming
		var questions map[*region]*graph.LegQuestion
		if nodes, gaps, c = v.describe(ids, want, looks < maxLooks); nodes == nil {
			questions = v.unknown(ids, want)
		}
		v.mu.Unlock()
		switch {
		case nodes != nil:
		case c != nil && len(questions) == 0:
			select {
			case <-c.done:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		default:
			looks++
			if err := v.round(ctx, by, questions); err != nil {
				return nil, err
			}
		}
	}
	for _, n := range nodes {
		if err := emit(*n); err != nil {
			return gaps, err
		}
	}
	return gaps, nil
}

// unknown asks each region for the nodes of which it has not said what it
// knows, and is not about to.
func (v *view) unknown(ids []graph.ID, want graph.Want) map[*region]*graph.LegQuestion {
	questions := map[*region]*graph.LegQuestion{}
	asked := map[*holder]bool{}
	roots := map[graph.ID]bool{}
	for _, id := range v.roots {
		roots[v.node(id)] = true
	}
	for _, id := range ids {
		node := v.nodeOf(v.about(id))
		parts := v.parts(node)
		wanted := append(make([]*about, 0, 2), node)
		if node != node.base && !v.place(node.base).plain {
			wanted = append(wanted, node.base) // one of them has its name
		}
		for i := range len(parts) * len(wanted) {
			h := v.column(parts[i%len(parts)], wanted[i/len(parts)])
			if _, is := h.region.gap(); is || asked[h] || h.expects(want) {
				continue
			}
			asked[h] = true
			q := questions[h.region]
			if q == nil {
				q = &graph.LegQuestion{Details: true, Want: want}
				questions[h.region] = q
			}
			if roots[node.id] && q.Root.IsZero() && !v.base(h).known { // the walk from it comes next
				seeds := q.Seeds
				*q = *v.expected
				q.Root, q.Seeds, q.Details, q.Want = h.of.id, seeds, true, v.expected.Want.And(want)
				continue
			}
			q.Seeds = append(q.Seeds, graph.LegSeed{ID: h.of.id, Distance: graph.Unlimited})
		}
	}
	return questions
}

// parts are the holders of all that is said of a node: what is said of a global
// table is said of its members too, and the other way round.
func (v *view) parts(node *about) []*holder {
	hs := v.holders(node)
	if t := v.tableOf(node); t != nil {
		hs = append(slices.Clip(hs), v.holders(v.about(t.ID))...)
	}
	if t := v.names.Table(node.base.id); t != nil {
		for _, m := range t.Members {
			hs = append(slices.Clip(hs), v.holders(v.nodeOf(v.about(m.ID)))...)
		}
	}
	return hs
}

// describe returns the nodes that ids stand for, each once, and which regions
// could not be asked; if all is wanted, nil where a region that can be has not
// been asked yet, and what is coming of that, if anything is.
func (v *view) describe(ids []graph.ID, want graph.Want, all bool) (nodes []*graph.Node, gaps []graph.Gap, coming *coming) {
	given := make(map[*about]bool, len(ids))
	nodes = make([]*graph.Node, 0, len(ids))
	var room [4]*graph.Node
	for _, id := range ids {
		node := v.nodeOf(v.about(id))
		if given[node] {
			continue
		}
		given[node] = true
		found := room[:0]
		hs := v.parts(node)
		if len(hs) > 1 {
			hs = slices.Clone(hs)
			slices.SortStableFunc(hs, func(a, b *holder) int {
				return cmp.Or(cmp.Compare(btoi(a.of != node.base), btoi(b.of != node.base)), strings.Compare(a.region.Name, b.region.Name))
			})
		}
		base := all && node != node.base && !v.place(node.base).plain
		for _, h := range hs {
			table := h
			h = v.column(h, node)
			gaps = joined(gaps, h.region.behind)
			if !h.described(want) || base && !table.described(want) {
				g, is := h.region.gap()
				if !is && all {
					for _, at := range [...]*holder{h, table} {
						if c := at.detail.coming; c != nil && !at.described(want) {
							coming = c
						}
					}
					return nil, nil, coming
				}
				if is && !h.described(want) {
					gaps = joined(gaps, []graph.Gap{g})
				}
			}
			if n := h.detail.Node; n != nil {
				found = append(found, n)
			}
		}
		if n := v.merged(node.id, found); n != nil {
			nodes = append(nodes, n)
		}
	}
	return nodes, gaps, nil
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// merged makes one node of what regions know of it, the first of them counting
// most; nil of nothing.
func (v *view) merged(id graph.ID, found []*graph.Node) *graph.Node {
	if len(found) == 0 {
		return nil
	}
	if len(found) == 1 && found[0].ID == id {
		return found[0]
	}
	n := *found[0]
	if n.ID != id {
		n.ID = id
		column := n.Name.Column
		if name, ok := v.nameOf(id.Base()); ok {
			n.Name = name.Of(column)
		}
		n.Deleted = 0 // that is for the region to say whose node it is
		if home := v.atHome(id.Base()); home != nil {
			n.Deleted = home.Deleted
		}
	}
	columns := map[string]bool{}
	n.Facts.Columns = slices.Clone(n.Facts.Columns)
	for _, c := range n.Facts.Columns {
		columns[strings.ToLower(c.Path)] = true
	}
	tags := map[[2]string]bool{}
	n.Facts.Tags = slices.Clone(n.Facts.Tags)
	for _, t := range n.Facts.Tags {
		tags[[2]string{t.Column, t.Name}] = true
	}
	n.Seen = maps.Clone(n.Seen)
	for _, o := range found[1:] {
		n.Updated = max(n.Updated, o.Updated)
		for _, s := range [...][2]*string{{&n.Facts.Kind, &o.Facts.Kind}, {&n.Facts.Platform, &o.Facts.Platform}, {&n.Facts.URL, &o.Facts.URL},
			{&n.Facts.Description, &o.Facts.Description}} {
			*s[0] = cmp.Or(*s[0], *s[1])
		}
		if len(n.Facts.Owners) == 0 {
			n.Facts.Owners = o.Facts.Owners
		}
		if n.Column == nil {
			n.Column = o.Column
		}
		for _, c := range o.Facts.Columns {
			if p := strings.ToLower(c.Path); !columns[p] {
				columns[p] = true
				n.Facts.Columns = append(n.Facts.Columns, c)
			}
		}
		for _, t := range o.Facts.Tags {
			if k := [2]string{t.Column, t.Name}; !tags[k] {
				tags[k] = true
				n.Facts.Tags = append(n.Facts.Tags, t)
			}
		}
		for k, b := range o.Seen {
			if _, ok := n.Seen[k]; !ok {
				if n.Seen == nil {
					n.Seen = map[string][]byte{}
				}
				n.Seen[k] = b
			}
		}
		n.Partitions = append(slices.Clip(n.Partitions), o.Partitions...)
	}
	n.Aliases = nil
	for _, o := range found {
		if v.node(o.ID) != id { // a member of the global table that it is, or the other way round
			continue
		}
		n.Aliases = append(n.Aliases, o.Aliases...)
		if !id.IsColumn() && o.ID != id {
			n.Aliases = append(n.Aliases, o.Name)
		}
	}
	slices.SortFunc(n.Aliases, graph.Name.Compare)
	n.Aliases = slices.Compact(n.Aliases)
	slices.SortFunc(n.Partitions, func(a, b graph.Partition) int {
		return cmp.Or(cmp.Compare(b.Name, a.Name), cmp.Compare(a.Created, b.Created))
	})
	n.Partitions = slices.CompactFunc(n.Partitions, func(a, b graph.Partition) bool { return a.Name == b.Name })
	return &n
}

// nameOf returns the name of a data store: as its region has it, or the catalog.
func (v *view) nameOf(base graph.ID) (graph.Name, bool) {
	if home := v.atHome(base); home != nil {
		return home.Name, true
	}
	return v.names.Name(base)
}

// atHome returns a data store as its region knows it, or nil.
func (v *view) atHome(base graph.ID) *graph.Node {
	a := v.about(base)
	if a.home == nil {
		return nil
	}
	return v.in(a.home, a).detail.Node
}

// Says implements graph.View.
func (v *view) Says(ctx context.Context, subjects []graph.ID, emit func(graph.Said) error) ([]graph.Gap, error) {
	of := map[*region][]graph.ID{}
	v.mu.Lock()
	if v.touched != nil {
		v.touched.add(subjects...)
	}
	for _, s := range subjects {
		if r := v.about(s).base.home; r != nil {
			of[r] = append(of[r], s)
			continue
		}
		for _, r := range v.regions {
			of[r] = append(of[r], s)
		}
	}
	v.mu.Unlock()
	said := make(map[*region][]graph.Said, len(of))
	gaps, err := v.ask(ctx, until(ctx), slices.SortedFunc(maps.Keys(of), byName), func(ctx context.Context, r *region, opened graph.LegView) error {
		var own []graph.Said
		more, err := opened.Says(ctx, of[r], func(s graph.Said) error {
			own = append(own, s)
			return nil
		})
		v.mu.Lock()
		defer v.mu.Unlock()
		said[r] = own
		v.lags(r, more)
		return err
	})
	if err != nil {
		return gaps, err
	}
	for _, r := range slices.SortedFunc(maps.Keys(said), byName) {
		for _, s := range said[r] {
			if err := emit(s); err != nil {
				return gaps, err
			}
		}
	}
	return gaps, nil
}

func joined(gaps, more []graph.Gap) []graph.Gap {
	for _, g := range more {
		if !slices.Contains(gaps, g) {
			gaps = append(slices.Clip(gaps), g)
		}
	}
	return gaps
}
