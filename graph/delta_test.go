package graph_test

import (
	"bytes"
	"reflect"
	"testing"

	"headwater/graph"
	"headwater/graph/graphtest"
)

// A delta says the same sealed and not, in memory and stored: it is planned to
// the same, and what is stored of it decodes to what is sealed.
func TestASealedDeltaIsPlannedToTheSame(t *testing.T) {
	r := graphtest.NewRandom(5)
	s1, s2 := graph.NewState(), graph.NewState()
	plan := func(s *graph.State, d *graph.Delta) graph.Planned {
		t.Helper()
		for {
			n, err := s.Missing(d)
			if err != nil {
				t.Fatal(err)
			}
			if n.IsZero() {
				p, err := graph.Plan(s, d)
				if err != nil {
					t.Fatal(err)
				}
				return p
			}
			for _, k := range n.Contributions {
				s.PutContribution(k, nil, nil)
			}
			for _, id := range n.Lives {
				s.PutLife(id, nil)
			}
			for _, id := range n.Writers {
				s.PutWriters(id, nil)
			}
		}
	}
	changes := 0
	for range 500 {
		plain := r.Delta()
		sealed := plain
		sealed.Seal()
		stored := graph.AppendDelta(nil, &sealed)
		back, err := graph.DecodeDelta(stored)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(graph.AppendContent(nil, &back.Says), graph.AppendContent(nil, &sealed.Says)) {
			t.Fatalf("stored %+v, read back %+v", sealed.Says, back.Says)
		}
		if back.Seal(); !bytes.Equal(graph.AppendDelta(nil, &back), stored) {
			t.Fatalf("sealed again %+v is %+v", sealed, back)
		}
		p1, p2 := plan(s1, &plain), plan(s2, &sealed)
		if !reflect.DeepEqual(p1, p2) {
			t.Fatalf("%+v is planned to %+v, sealed to %+v", plain, p1, p2)
		}
		if p1.Change != nil {
			changes++
		}
	}
	if changes < 50 {
		t.Errorf("%d deltas changed something", changes)
	}
}
