package graph

import "context"

// A Touched is what was read of a state of the graph: as long as it is the
// same in a newer state, so is the answer that was made of it. Seen facets,
// partitions and runs, which change without moving the revision, are not told
// by it. It is one reader's own until the reading is done.
type Touched struct {
	// Of and Version say which state it is; Of is nil where the view can't
	// tell what has changed since.
	Of      any
	Version uint32
	// Lists are the lists of flows that were read, IDs the nodes of which it
	// was read what is said of them, Absent those that had no flows.
	Lists  []TouchedList
	IDs    []ID
	Absent []ID
	// Regions are what was asked of a view over many, and Nodes what the ids of
	// all that was read begin with, in place of the lists above.
	Regions []TouchedRegion
	Nodes   []uint64
	// All: there is no telling what was read.
	All bool
}

// A TouchedRegion is the state of a region that was read: a generation of its
// stream of changes, and how many it had seen.
type TouchedRegion struct {
	Name                 string
	Generation, Revision uint64
}

// A Tracking is a view that notes by itself what is read of it, and can tell
// whether that is the same now.
type Tracking interface {
	View
	Track(t *Touched) View
	Holds(t *Touched) bool
}

// A TouchedList is the flows of one node in a layer and direction; Whole: those
// of its columns too.
type TouchedList struct {
	Node  Handle
	Layer Layer
	Dir   Direction
	Whole bool
}

// Lasting are numbers that can tell whether what was read of an older state
// holds.
type Lasting interface {
	Numbers
	// Mark notes which state this is.
	Mark(t *Touched)
	// Holds reports whether all that was read then is the same now; it may say
	// no where it is.
	Holds(t *Touched) bool
}

// Track returns a view that notes in t what is read of it.
func Track(v View, t *Touched) View {
	if own, ok := v.(Tracking); ok {
		return own.Track(t)
	}
	n, ok := v.(numbered)
	if !ok {
		t.All = true
		return v
	}
	numbers, ok := n.Numbers().(Lasting)
	if !ok {
		t.All = true
		return v
	}
	numbers.Mark(t)
	return &trackedView{View: v, t: t, numbers: trackedNumbers{numbers, t}}
}

type trackedView struct {
	View
	t       *Touched
	numbers trackedNumbers
}

func (v *trackedView) Numbers() Numbers { return &v.numbers }

func (v *trackedView) Nodes(ctx context.Context, ids []ID, want Want, emit func(Node) error) ([]Gap, error) {
	v.t.said(ids)
	v.t.All = v.t.All || want&(WantPartitions|WantSeen) != 0
	return v.View.Nodes(ctx, ids, want, emit)
}

func (v *trackedView) Says(ctx context.Context, subjects []ID, emit func(Said) error) ([]Gap, error) {
	v.t.said(subjects)
	return v.View.Says(ctx, subjects, emit)
}

func (v *trackedView) Flows(ctx context.Context, frontier []ID, f Ask, emit func([]Flow) error) ([]Gap, error) {
	for _, id := range frontier {
		if h, ok := v.numbers.Handle(id); ok {
			v.t.Lists = append(v.t.Lists, TouchedList{h, f.Layer, f.Dir, f.Whole})
		}
	}
	return v.View.Flows(ctx, frontier, f, emit)
}

func (v *trackedView) Find(ctx context.Context, q Query) (Page, error) {
	v.t.All = true
	return v.View.Find(ctx, q)
}

func (v *trackedView) Conflicts(ctx context.Context, after ID, limit int) ([]Conflict, []Gap, error) {
	v.t.All = true
	return v.View.Conflicts(ctx, after, limit)
}

func (t *Touched) said(ids []ID) {
	var last ID
	for _, id := range ids {
		if id = id.Base(); id != last {
			t.IDs = append(t.IDs, id)
			last = id
		}
	}
}

type trackedNumbers struct {
	Numbers
	t *Touched
}

func (n *trackedNumbers) Handle(id ID) (Handle, bool) {
	h, ok := n.Numbers.Handle(id)
	if !ok {
		n.t.Absent = append(n.t.Absent, id)
	}
	return h, ok
}

func (n *trackedNumbers) Hops(ctx context.Context, frontier []Handle, f *Ask, bound *Bound, emit Emit) ([]Gap, error) {
	for _, h := range frontier {
		n.t.Lists = append(n.t.Lists, TouchedList{h, f.Layer, f.Dir, f.Whole})
	}
	return n.Numbers.Hops(ctx, frontier, f, bound, emit)
}
