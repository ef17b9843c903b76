package pebble

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"headwater/graph"
	"headwater/graph/graphtest"
)

func TestChangeStreamTellsWhichNodesEachRevisionTouched(t *testing.T) {
	s := open(t)
	name := func(kind graph.Kind, n string) graph.Name {
		return graph.Name{Kind: kind, Region: "local", Namespace: "ns", Name: n}
	}
	for i := range 3 {
		d := graph.Delta{Subject: name(graph.ProcessKind, fmt.Sprint("job", i)), Origin: "openlineage", Run: "r", State: graph.Completed, Time: 1}
		d.Says.Reads = []graph.Dataset{{Name: name(graph.DataStoreKind, "in")}}
		d.Says.Writes = []graph.Dataset{{Name: name(graph.DataStoreKind, fmt.Sprint("out", i))}}
		again := d
		again.Run, again.Time = "r2", 2 // unchanged: no entry
		graphtest.Feed(t, s, d, again)
	}
	var got []Change
	for c, err := range s.Changes(context.Background(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, c)
	}
	if len(got) != 2 {
		t.Fatalf("%d entries after revision 1, want 2: %+v", len(got), got)
	}
	for i, c := range got {
		out := name(graph.DataStoreKind, fmt.Sprint("out", i+1)).ID()
		if c.Revision != uint64(i+2) || c.Position != uint64(i+2) || c.By.Subject != name(graph.ProcessKind, fmt.Sprint("job", i+1)).ID() || !slices.Contains(c.Nodes, out) {
			t.Errorf("entry %+v is not of job%d, which writes %s", c, i+1, out)
		}
	}
}
