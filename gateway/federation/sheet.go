package federation

import (
	"slices"

	"headwater/graph"
)

// A sheet is what regions have sent of the graph: lists of flows, and how
// nodes stand. Ids are those of the regions.
type sheet struct {
	lists map[listKey]list
	// absent have no flows in a region, and how the known stand it has said;
	// details are what a region knows.
	absent  map[holder]bool
	known   map[holder]bool
	details map[holder]*detail
	// Of data stores and processes: home is the region that has them.
	home     map[graph.ID]string
	stands   map[graph.ID]graph.ID
	standing map[graph.ID]graph.Standing
}

// A listKey says whose flows are listed, and which.
type listKey struct {
	holder
	layer      graph.Layer
	dir        graph.Direction
	whole      bool
	coarseOnly bool
}

// A list is a list of a leg.
type list struct {
	leg  *graph.Leg
	hops []graph.LegHop
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

func newSheet() *sheet {
	return &sheet{lists: map[listKey]list{}, absent: map[holder]bool{}, known: map[holder]bool{}, home: map[graph.ID]string{}, stands: map[graph.ID]graph.ID{}, standing: map[graph.ID]graph.Standing{}, details: map[holder]*detail{}}
}

// find returns a list: as it was sent, or from that of the whole data store.
func (s *sheet) find(k listKey) (l list, ok bool) {
	if l, ok = s.lists[k]; ok {
		return l, true
	}
	if s.absent[k.holder] || s.absent[holder{k.region, k.id.Base()}] {
		return l, true
	}
	if k.layer == graph.ColumnLayer && !k.whole {
		of := k
		of.id, of.whole = k.id.Base(), true
		if l, ok = s.lists[of]; ok {
			l.hops = slices.DeleteFunc(slices.Clone(l.hops), func(h graph.LegHop) bool { return l.leg.IDs[h.From] != k.id })
			s.lists[k] = l
			return l, true
		}
	}
	return l, false
}

// described reports whether a region has said what it knows of a node.
func (s *sheet) described(h holder, want graph.Want) bool {
	d := s.details[h]
	return d != nil && d.said && d.want.Serves(want)
}

// expects reports whether it has, or will.
func (s *sheet) expects(h holder, want graph.Want) bool {
	d := s.details[h]
	return d != nil && (d.said && d.want.Serves(want) || d.coming != nil && d.coming.want.Serves(want))
}

// merge takes in what a region has sent in answer to a question; details that
// are coming are c's.
func (v *view) merge(region string, q *graph.LegQuestion, leg *graph.Leg, c *coming) {
	if len(v.lists)+len(v.details) == 0 { // the first leg is most of what comes
		v.lists, v.details = make(map[listKey]list, len(leg.Lists)), make(map[holder]*detail, len(leg.Nodes)+len(leg.Coming))
	}
	asked := make([]graph.ID, 0, len(q.Seeds)+1)
	if !q.Root.IsZero() {
		asked = append(asked, q.Root)
	}
	for _, s := range q.Seeds {
		asked = append(asked, s.ID)
	}
	entered := len(asked)
	for _, a := range q.Lists {
		asked = append(asked, a.ID)
	}
	for i, id := range asked[:min(len(asked), len(leg.Stands))] {
		base, node := id.Base(), leg.Stands[i].Base()
		v.known[holder{region, base}], v.known[holder{region, node}] = true, true
		if base != node {
			v.standsFor(base, node)
		}
	}
	ends := make([]bool, len(leg.IDs)) // of flows: the region knows these
	for i := range leg.Lists {
		for j := range leg.Lists[i].Hops {
			ends[leg.Lists[i].Hops[j].From], ends[leg.Lists[i].Hops[j].To] = true, true
		}
	}
	for i, id := range leg.IDs {
		if ends[i] {
			base := id.Base()
			v.livesIn(base, region)
			v.known[holder{region, base}] = true
		}
	}
	for _, k := range leg.Keys {
		v.livesIn(k.Subject.Base(), region)
	}
	for _, st := range leg.Standing {
		v.livesIn(st.Node, region)
		if before := v.standing[st.Node]; before.Gone != st.Gone || !slices.Equal(before.Names, st.Names) {
			v.standing[st.Node] = st
			v.learnt(st.Node)
		}
		for _, n := range st.Names {
			if n != st.Node {
				v.livesIn(n, region)
				v.standsFor(n, st.Node)
				v.known[holder{region, n}] = true
			}
		}
	}
	for _, id := range leg.Absent {
		v.absent[holder{region, id}] = true
	}
	for i := range leg.Lists {
		l := &leg.Lists[i]
		k := listKey{holder{region, leg.IDs[l.Node]}, l.Layer, l.Dir, l.Whole, l.CoarseOnly}
		if _, ok := v.lists[k]; !ok {
			v.lists[k] = list{leg, l.Hops}
		}
	}
	if q.Details && !leg.Late { // of lists no details were wanted
		for _, id := range leg.Stands[:min(entered, len(leg.Stands))] {
			if at := (holder{region, id}); v.details[at] == nil {
				v.details[at] = &detail{said: true, want: allDetails} // unless it is among them
			}
		}
	}
	for i := range leg.Nodes {
		v.learn(region, &leg.Nodes[i], q.Want)
	}
	room := make([]detail, len(leg.Coming))
	for i, place := range leg.Coming {
		at := holder{region, leg.IDs[place]}
		d := v.details[at]
		if d == nil {
			d = &room[i]
			v.details[at] = d
		}
		d.coming = c
	}
	if v.touched != nil {
		v.touched.add(asked...)
		v.touched.add(leg.IDs...)
		v.touched.add(leg.Stands...)
		for _, k := range leg.Keys {
			v.touched.add(k.Subject)
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

// livesIn notes the region of a data store or process, and standsFor what a
// name of a region stands for there.
func (v *view) livesIn(base graph.ID, region string) {
	before, ok := v.home[base]
	if !ok {
		before, _ = v.names.Region(base)
	}
	if v.home[base] = region; before != region {
		v.learnt(base)
	}
}

func (v *view) standsFor(name, node graph.ID) {
	if to, ok := v.stands[name]; !ok || to != node {
		v.stands[name] = node
		v.learnt(name)
	}
}

// learnt notes that something was learnt of a name. If it has been asked about
// before, what followed from that may not hold any more.
func (v *view) learnt(name graph.ID) { v.stale = v.stale || v.asked[name] }

// learn notes what a region knows of a node, besides what it said before.
func (v *view) learn(region string, n *graph.Node, want graph.Want) {
	v.livesIn(n.ID.Base(), region)
	at := holder{region, n.ID}
	d := v.details[at]
	if d == nil {
		d = &detail{}
		v.details[at] = d
	}
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
