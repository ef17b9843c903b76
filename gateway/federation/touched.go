package federation

import (
	"encoding/binary"

	"headwater/graph"
)

// touched notes in a graph.Touched what is read of a view.
type touched struct {
	*graph.Touched
	seen map[uint64]bool
}

func (t *touched) add(ids ...graph.ID) {
	for i := range ids {
		n := binary.BigEndian.Uint64(ids[i][:])
		if !t.seen[n] {
			t.seen[n] = true
			t.Nodes = append(t.Nodes, n)
		}
	}
}

// Track implements graph.Tracking. What was read before is among it.
func (v *view) Track(t *graph.Touched) graph.View {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.told || len(v.unheard) > 0 || !v.at.AsOf.IsZero() {
		t.All = true // it is not known, or not any more, what was
		return v
	}
	t.Of = v.names
	v.touched = &touched{t, map[uint64]bool{}}
	t.Regions = append(t.Regions, graph.TouchedRegion{Revision: v.added}) // the names
	return v
}

// unsteady notes that something was read of which it is not told when it
// changes.
func (v *view) unsteady(so bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if so && v.touched != nil {
		v.touched.All = true
	}
}

// noteRegion notes which state of a region was read, once.
func (v *view) noteRegion(r *region) {
	if v.touched == nil {
		return
	}
	for _, t := range v.touched.Regions {
		if t.Name == r.Name {
			return
		}
	}
	if r.Changes == nil {
		v.touched.All = true
		return
	}
	v.touched.Regions = append(v.touched.Regions, graph.TouchedRegion{Name: r.Name, Generation: r.generation, Revision: r.view.Marks()[r.Name].Revision})
}

// Holds implements graph.Tracking.
func (v *view) Holds(t *graph.Touched) bool {
	if t.Of != v.names {
		return false
	}
	for _, at := range t.Regions {
		if at.Name == "" {
			if !v.names.Same(at.Revision, t.Nodes) {
				return false
			}
			continue
		}
		r := v.named(at.Name)
		if r == nil || r.Changes == nil || !r.Changes.Same(at.Generation, at.Revision, t.Nodes) {
			return false
		}
	}
	return true
}
