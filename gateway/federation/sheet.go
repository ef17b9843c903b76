package federation

import (
	"slices"

	"headwater/gateway/border"
	"headwater/graph"
)

// A sheet is what regions have sent of the graph, by id: lists of flows, how
// nodes stand, and what is known of them. Ids are those of the regions.
type sheet struct {
	abouts map[graph.ID]*about
	// Memory for those that will be met.
	roomAbouts  []about
	roomHolders []holder
}

// An about is what is known of one id.
type about struct {
	id   graph.ID
	base *about // of a column: that of its data store; else itself
	// in are the regions that were heard or asked about it; a list.
	in *holder

	// Of data stores and processes: home is the region that has them, stands
	// what the id stands for there, and standing how that stands, where it is
	// said.
	home     *region
	stands   *about
	standing *graph.Standing
	// asked is the last epoch of the view in which it was asked what is known of
	// it, and placed what followed then.
	asked  int
	placed *placed
}

// A placed is what is known of a name at this point: what it stands for, and
// which regions have something of that.
type placed struct {
	epoch int // of the view, in which it holds
	node  *about
	// plain: no other name has to do with it.
	plain bool
	// holders are those of node, and table is the global table that it is a
	// member of. Both are found when they are first asked for.
	holders []*holder
	table   *border.Table
	held    bool
	tabled  bool
	// settled: all holders have said how they stand.
	settled bool
}

// A holder is an id as one region has it.
type holder struct {
	region *region
	of     *about
	next   *holder // in another region
	// absent: it has no flows there; known: the region has said how it stands.
	absent, known bool
	detail        detail
	lists         *list
}

// An aspect says which flows of a holder are listed.
type aspect struct {
	layer             graph.Layer
	dir               graph.Direction
	whole, coarseOnly bool
}

// A list is flows of a holder, as a leg has them.
type list struct {
	aspect
	sent *sent
	hops []graph.LegHop
	next *list // another aspect
}

// A sent is a leg that a region has sent; abouts are those of its IDs.
type sent struct {
	region *region
	leg    *graph.Leg
	abouts []*about
}

// A detail is what a region knows of a node, once it has said that; Node is nil
// where it knows of none. More of it may be coming.
type detail struct {
	*graph.Node
	want   graph.Want
	said   bool
	coming *coming
}

// allDetails is what is known of nothing: whatever is wanted of it, that is all.
const allDetails = ^graph.WantBrief

// A coming is the details that are still to come of a leg. They, or why they
// have not, have come when done is closed.
type coming struct {
	want graph.Want
	done chan struct{}
}

// atOnce is how many abouts and holders there is new memory for at least.
const atOnce = 32

func newSheet() *sheet { return &sheet{abouts: map[graph.ID]*about{}} }

// grow makes room for so many ids that will be met.
func (s *sheet) grow(n int) {
	if len(s.abouts) == 0 {
		s.abouts = make(map[graph.ID]*about, n)
	}
	if len(s.roomAbouts) < n {
		s.roomAbouts = make([]about, n)
	}
	if len(s.roomHolders) < n {
		s.roomHolders = make([]holder, n)
	}
}

// about returns what is known of an id.
func (s *sheet) about(id graph.ID) *about {
	a := s.abouts[id]
	if a != nil {
		return a
	}
	if len(s.roomAbouts) == 0 {
		s.roomAbouts = make([]about, atOnce)
	}
	a, s.roomAbouts = &s.roomAbouts[0], s.roomAbouts[1:]
	a.id, a.base = id, a
	s.abouts[id] = a
	if base := id.Base(); base != id {
		a.base = s.about(base)
	}
	return a
}

// in returns an id as a region has it.
func (s *sheet) in(r *region, a *about) *holder {
	for h := a.in; h != nil; h = h.next {
		if h.region == r {
			return h
		}
	}
	if len(s.roomHolders) == 0 {
		s.roomHolders = make([]holder, atOnce)
	}
	h := &s.roomHolders[0]
	s.roomHolders = s.roomHolders[1:]
	h.region, h.of, h.next = r, a, a.in
	a.in = h
	return h
}

// column returns a column of a holder, or the holder itself, as a is a column.
func (s *sheet) column(h *holder, a *about) *holder {
	switch {
	case a.base == a:
		return h
	case a.base == h.of:
		return s.in(h.region, a)
	}
	return s.in(h.region, s.about(a.id.WithBase(h.of.id)))
}

// base returns the data store of a column, in the same region.
func (s *sheet) base(h *holder) *holder {
	if h.of.base == h.of {
		return h
	}
	return s.in(h.region, h.of.base)
}

// list returns a list as it was sent, or nil.
func (h *holder) list(as aspect) *list {
	for l := h.lists; l != nil; l = l.next {
		if l.aspect == as {
			return l
		}
	}
	return nil
}

// find returns a list: as it was sent, or from that of the whole data store.
// An empty one may be nil.
func (s *sheet) find(h *holder, as aspect) (l *list, ok bool) {
	if l = h.list(as); l != nil {
		return l, true
	}
	base := s.base(h)
	if h.absent || base.absent {
		return nil, true
	}
	if as.layer != graph.ColumnLayer || as.whole {
		return nil, false
	}
	of := as
	of.whole = true
	if l = base.list(of); l == nil {
		return nil, false
	}
	own := &list{aspect: as, sent: l.sent, next: h.lists}
	for _, hop := range l.hops {
		if l.sent.abouts[hop.From] == h.of {
			own.hops = append(own.hops, hop)
		}
	}
	h.lists = own
	return own, true
}

// described reports whether the region has said what it knows of a node.
func (h *holder) described(want graph.Want) bool {
	d := &h.detail
	return d.said && d.want.Serves(want)
}

// expects reports whether it has, or will.
func (h *holder) expects(want graph.Want) bool {
	return h.described(want) || h.detail.coming != nil && h.detail.coming.want.Serves(want)
}

// asked lists what a question is asked of, as a leg's Stands do; the first so
// many are where walks begin or enter.
func asked(q *graph.LegQuestion) (ids []graph.ID, entered int) {
	ids = make([]graph.ID, 0, 1+len(q.Seeds)+len(q.Lists))
	if !q.Root.IsZero() {
		ids = append(ids, q.Root)
	}
	for _, s := range q.Seeds {
		ids = append(ids, s.ID)
	}
	entered = len(ids)
	for _, a := range q.Lists {
		ids = append(ids, a.ID)
	}
	return ids, entered
}

// merge takes in what a region has sent in answer to a question; details that
// are coming are c's.
func (v *view) merge(r *region, q *graph.LegQuestion, leg *graph.Leg, c *coming) {
	v.told = true
	v.grow(len(leg.IDs) + len(leg.Keys)/2)
	s := &sent{r, leg, make([]*about, len(leg.IDs))}
	for i := range leg.IDs {
		s.abouts[i] = v.about(leg.IDs[i])
	}
	ids, entered := asked(q)
	for i, id := range ids[:min(len(ids), len(leg.Stands))] {
		base, node := v.about(id).base, v.about(leg.Stands[i]).base
		v.in(r, base).known, v.in(r, node).known = true, true
		if base != node {
			v.standsFor(base, node)
		}
	}
	for i := range leg.Lists { // the region knows the ends of flows
		for j := range leg.Lists[i].Hops {
			h := &leg.Lists[i].Hops[j]
			v.knows(r, s.abouts[h.From])
			v.knows(r, s.abouts[h.To])
		}
	}
	for i := range leg.Keys {
		v.livesIn(v.about(leg.Keys[i].Subject).base, r)
	}
	for i := range leg.Standing {
		st := &leg.Standing[i]
		a := v.about(st.Node)
		v.livesIn(a, r)
		if before := a.standing; before == nil || before.Gone != st.Gone || !slices.Equal(before.Names, st.Names) {
			a.standing = st
			v.learnt(a)
		}
		for _, n := range st.Names {
			if n != st.Node {
				name := v.about(n)
				v.livesIn(name, r)
				v.standsFor(name, a)
				v.in(r, name).known = true
			}
		}
	}
	for _, id := range leg.Absent {
		v.in(r, v.about(id)).absent = true
	}
	room := make([]list, len(leg.Lists))
	for i := range leg.Lists {
		l := &leg.Lists[i]
		h := v.in(r, s.abouts[l.Node])
		if as := (aspect{l.Layer, l.Dir, l.Whole, l.CoarseOnly}); h.list(as) == nil {
			room[i] = list{as, s, l.Hops, h.lists}
			h.lists = &room[i]
		}
	}
	if q.Details && !leg.Late { // of lists no details were wanted
		for _, id := range leg.Stands[:min(entered, len(leg.Stands))] {
			if d := &v.in(r, v.about(id)).detail; !d.said {
				d.want, d.said = allDetails, true // unless it is among them
			}
		}
	}
	for i := range leg.Nodes {
		v.learn(r, v.about(leg.Nodes[i].ID), &leg.Nodes[i], q.Want)
	}
	for _, place := range leg.Coming {
		v.in(r, s.abouts[place]).detail.coming = c
	}
	if v.touched != nil {
		v.touched.add(ids...)
		v.touched.add(leg.IDs...)
		v.touched.add(leg.Stands...)
		for i := range leg.Keys {
			v.touched.add(leg.Keys[i].Subject)
		}
		for i := range leg.Nodes {
			v.touched.add(leg.Nodes[i].ID)
		}
	}
	if added := v.names.Added(); v.stale || added != v.followed {
		v.followed = added
		v.forget()
	}
}

// knows notes that a region knows an end of a flow.
func (v *view) knows(r *region, a *about) {
	h := v.in(r, a.base)
	if h.known && a.base.home == r {
		return
	}
	v.livesIn(a.base, r)
	h.known = true
}

// livesIn notes the region of a data store or process, and standsFor what a
// name of a region stands for there.
func (v *view) livesIn(a *about, r *region) {
	if a.home == r {
		return
	}
	before := a.home
	if before == nil {
		if name, ok := v.names.Region(a.id); ok {
			before = v.region(name)
		}
	}
	if a.home = r; before != r {
		v.learnt(a)
	}
}

func (v *view) standsFor(name, node *about) {
	if name.stands != node {
		name.stands = node
		v.learnt(name)
	}
}

// learnt notes that something was learnt of a name. If it has been asked about
// before, what followed from that may not hold any more.
func (v *view) learnt(a *about) { v.stale = v.stale || a.asked == v.epoch }

// learn notes what a region knows of a node, besides what it said before.
func (v *view) learn(r *region, a *about, n *graph.Node, want graph.Want) {
	v.livesIn(a.base, r)
	d := &v.in(r, a).detail
	switch {
	case d.Node != nil && want == graph.WantBrief:
	case d.Node == nil || d.want&^want&^graph.WantBrief == 0:
		d.Node, d.want, d.said = n, want, true
	case d.want|want != d.want:
		both := *n
		if d.want&^want&graph.WantColumns != 0 {
			both.Facts.Columns = d.Facts.Columns
		}
		if d.want&^want&graph.WantPartitions != 0 {
			both.Partitions = d.Partitions
		}
		if d.want&^want&graph.WantSeen != 0 {
			both.Seen = d.Seen
		}
		d.Node, d.want = &both, d.want|want
	}
}
