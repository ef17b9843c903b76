package api

import (
	"fmt"
	"testing"
	"weak"

	"headwater/graph"
)

// spoken is what the flow from a column to another is said to be.
func spoken(expressions ...string) *graph.Content {
	c := &graph.Content{}
	for i, e := range expressions {
		c.Writes = append(c.Writes, graph.Dataset{Name: sales, Lineage: &graph.Lineage{Columns: []graph.ColumnLineage{
			{Column: fmt.Sprintf("c%d", i), Inputs: []graph.Source{{Name: orders.Of("amount"), Kinds: graph.Transformation, Expression: e}}}}}})
	}
	return c
}

func TestAContentIsReadOnce(t *testing.T) {
	var b phrasebook
	c, silent := spoken("a", "b"), spoken("")
	ps := b.of(c)
	if ps != b.of(c) || b.of(spoken("a", "b")) == ps {
		t.Error("phrases do not go by the content")
	}
	for flow, want := range map[ends]int{
		{orders.Of("amount").ID(), sales.Of("c1").ID()}: 1,
		{orders.ID(), sales.ID()}:                       2,
		{orders.Of("amount").ID(), sales.ID()}:          0,
	} {
		if got := len(ps.by[flow]); got != want {
			t.Errorf("%d phrases of %v, want %d", got, flow, want)
		}
	}
	for range 2 {
		if b.of(silent) != nil {
			t.Error("silence is a phrase")
		}
	}
	if _, known := b.lookup(weak.Make(silent)); !known {
		t.Error("silence is listened to twice")
	}
}

func TestAPhrasebookForgetsWhatIsNotUsed(t *testing.T) {
	var b phrasebook
	used, unused := spoken("used"), spoken("unused")
	b.of(used)
	b.of(unused)
	var kept []*graph.Content // or their addresses would be used again
	for range 4 * maxPhrases {
		c := &graph.Content{}
		kept = append(kept, c)
		b.of(c)
		b.of(used)
	}
	if _, known := b.lookup(weak.Make(used)); !known {
		t.Error("what is used was forgotten")
	}
	if _, known := b.lookup(weak.Make(unused)); known {
		t.Error("what is not used was kept")
	}
	if n := len(b.young) + len(b.old); n > 2*maxPhrases+2 {
		t.Errorf("%d contents are kept", n)
	}
	_ = kept
}
