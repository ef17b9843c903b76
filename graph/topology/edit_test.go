package topology

import (
	"fmt"
	"testing"

	"headwater/graph"
)

// sizes are those of lists: ones that are long from a few flows on, and the
// ones that there are.
var sizes = map[string]func(*Topology){
	"short runs":   func(t *Topology) { t.Tune(3, 4) },
	"middle runs":  func(t *Topology) { t.Tune(16, 30) },
	"default runs": func(*Topology) {},
}

func TestListsAreWhatTheRowsSay(t *testing.T) {
	for name, tune := range sizes {
		for seed := range uint64(4) {
			t.Run(fmt.Sprintf("%s, seed %d", name, seed), func(t *testing.T) {
				t.Parallel()
				m, r, top := newMaker(seed, 14, 4), newRows(), New()
				tune(top)
				for range 20 / less {
					var changes []graph.Change
					for range 1 + m.IntN(5) {
						changes = append(changes, m.change())
					}
					if seed%2 == 1 && m.IntN(4) == 0 {
						changes = append(changes, m.link(r))
					}
					feed(t, top, r, changes...)
					if !settled(t, r, m.stores) {
						continue
					}
					v := top.View()
					sameAnswers(t, answers(t, over(v, r), m.world()), answers(t, r.view(), m.world()))
					v.Release()
				}
				flows := 0
				for row, by := range r.flows {
					for _, targets := range by {
						if row.Dir == graph.Downstream {
							flows += len(targets)
						}
					}
				}
				if got := top.Stats().Flows; got != flows {
					t.Errorf("%d flows are counted, want %d", got, flows)
				}
			})
		}
	}
}

func TestOfEditsToOneFlowInABatchTheLastCounts(t *testing.T) {
	for name, tune := range sizes {
		t.Run(name, func(t *testing.T) {
			m, r, top := newMaker(1, 20, 1), newRows(), New()
			tune(top)
			feed(t, top, r, m.says(m.keys[0], m.content(m.keys[0], 100)))
			for range 20 / less {
				var changes []graph.Change
				for range 1 + m.IntN(6) {
					changes = append(changes, m.says(m.keys[0], m.content(m.keys[0], m.IntN(120))))
				}
				feed(t, top, r, changes...)
				v := top.View()
				sameAnswers(t, answers(t, over(v, r), m.world()), answers(t, r.view(), m.world()))
				v.Release()
			}
		})
	}
}

func TestAChangeAppliedTwiceIsAppliedOnce(t *testing.T) {
	m, r, top := newMaker(2, 6, 3), newRows(), New()
	top.Tune(3, 4)
	for range 50 {
		c := m.change()
		feed(t, top, r, c)
		flows := top.Stats().Flows
		feed(t, top, r, c)
		if got := top.Stats().Flows; got != flows {
			t.Fatalf("%d flows, want %d", got, flows)
		}
		v := top.View()
		sameAnswers(t, answers(t, over(v, r), m.world()), answers(t, r.view(), m.world()))
		v.Release()
	}
}

func TestRunsAreSortedFullAndNotTooLong(t *testing.T) {
	m, r, top := newMaker(3, 8, 4), newRows(), New()
	top.Tune(16, 30)
	for range 300 {
		feed(t, top, r, m.change(), m.change())
		v := top.View()
		v.eachList(func(h graph.Handle, slot int, ref uint32) {
			var one [1]uint32
			var last *entry
			n := 0
			dir := directory(v.slabs, ref, &one)
			for _, ref := range dir {
				es := top.appendRun(nil, ref)
				if len(es) == 0 || len(es) > 16 {
					t.Fatalf("a run of %d flows", len(es))
				}
				for i := range es {
					if last != nil && top.compareEntries(*last, es[i]) >= 0 {
						t.Fatalf("%v stands before %v", *last, es[i])
					}
					last = &es[i]
				}
				n += len(es)
			}
			if n != listLen(v.slabs, ref) {
				t.Fatalf("a list of %d flows says that it has %d", n, listLen(v.slabs, ref))
			}
		})
		v.Release()
	}
}

func TestStampChangesWithWhatIsSaidAndWithNothingElse(t *testing.T) {
	m, r, top := newMaker(4, 4, 2), newRows(), New()
	subject, store, other := m.processes[0], m.stores[0], m.stores[1]
	stamps := func() [3]uint32 {
		v := top.View()
		defer v.Release()
		return [3]uint32{v.Stamp(subject), v.Stamp(store), v.Stamp(other)}
	}
	before := top.View()
	defer before.Release()
	feed(t, top, r, graph.Change{Key: m.keys[0], Pieces: []graph.PieceEdit{{Node: store}}})
	first := stamps()
	if first[0] == 0 || first[1] == 0 || first[2] != 0 {
		t.Errorf("stamps %d after something was said of the first two", first)
	}
	feed(t, top, r, graph.Change{Key: m.keys[2], Lives: []graph.LifeEdit{{Node: other}}})
	second := stamps()
	if second[0] != first[0] || second[1] != first[1] || second[2] == 0 {
		t.Errorf("stamps %d, then %d after something was said of the last", first, second)
	}
	for _, id := range []graph.ID{subject, store, other} {
		if got := before.Stamp(id); got != 0 {
			t.Errorf("an older view has stamp %d of %s", got, id)
		}
	}
}
