package federation

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"headwater/graph"
)

// described counts the nodes of which a view knows something.
func described(ctx context.Context, v graph.View, ids []graph.ID) (n int, gaps []graph.Gap, err error) {
	gaps, err = v.Nodes(ctx, ids, 0, func(graph.Node) error {
		n++
		return nil
	})
	return n, gaps, err
}

// The next region is asked while details of the last are still coming: what is
// waited for is the longest of them, and not their sum.
func TestDetailsComeWhileTheWalkGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChain(t, three, 8, inThree)
		c.far["r0"].rest, c.far["r1"].rest = 100*time.Millisecond, 30*time.Millisecond
		start := time.Now()
		a, nodes := c.ask(t, c.names[0], graph.Question{Depth: 8})
		if took := time.Since(start); took != 150*time.Millisecond || len(a.Nodes) != 9 || len(nodes) != 9 || !a.Complete() {
			t.Errorf("took %v, %d nodes, %d described, gaps %v; want 150ms, and 9", took, len(a.Nodes), len(nodes), a.Gaps)
		}
	})
}

// Details that do not come are a gap of who asks for them; the walk is whole.
func TestDetailsThatDoNotComeAreAGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChain(t, three, 8, inThree)
		c.far["r1"].rest = time.Hour
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		v := c.view(t, ctx)
		v.(graph.Expecting).Expect(graph.LegQuestion{Depth: 8, Details: true}, nil, c.names[:1])
		start := time.Now()
		a, err := graph.GetLineage(ctx, v, graph.Question{Root: c.names[0].ID(), Depth: 8})
		if err != nil || len(a.Nodes) != 9 || !a.Complete() || time.Since(start) != 150*time.Millisecond {
			t.Fatalf("after %v: %+v, %v", time.Since(start), a, err)
		}
		var ids []graph.ID
		for _, n := range a.Nodes {
			ids = append(ids, n.ID)
		}
		found, gaps, err := described(ctx, v, ids)
		want := []graph.Gap{{Region: "r1", Reason: "did not answer within 3s"}}
		if err != nil || found != 7 || !slices.Equal(gaps, want) { // where the walk enters r1, what it is comes with the walk
			t.Errorf("%d nodes, gaps %v, %v; want 7, %v", found, gaps, err, want)
		}
	})
}

// Who gives up waiting for details leaves them to the next, who asks again.
func TestWhoGivesUpLeavesDetailsToTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChain(t, three, 8, inThree)
		c.far["r0"].rest = time.Second
		v := c.view(t, t.Context())
		v.(graph.Expecting).Expect(graph.LegQuestion{Depth: 8, Details: true}, nil, c.names[:1])
		walk, giveUp := context.WithCancel(t.Context())
		time.AfterFunc(500*time.Millisecond, giveUp)
		ids := []graph.ID{c.names[0].ID(), c.names[1].ID()}
		if a, err := graph.GetLineage(walk, v, graph.Question{Root: ids[0], Depth: 8}); err != nil || !a.Complete() {
			t.Fatalf("%+v, %v", a, err)
		}
		if _, _, err := described(walk, v, ids); !errors.Is(err, context.Canceled) {
			t.Errorf("who gave up got %v", err)
		}
		if found, gaps, err := described(t.Context(), v, ids); err != nil || found != 2 || len(gaps) > 0 {
			t.Errorf("the next got %d nodes, gaps %v, %v; want 2", found, gaps, err)
		}
	})
}

// A view that is closed waits for nothing that was coming.
func TestAViewIsClosedWhileDetailsAreComing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChain(t, three, 8, inThree)
		c.far["r0"].rest = time.Second
		v := c.view(t, t.Context())
		v.(graph.Expecting).Expect(graph.LegQuestion{Depth: 8, Details: true}, nil, c.names[:1])
		if a, err := graph.GetLineage(t.Context(), v, graph.Question{Root: c.names[0].ID(), Depth: 8}); err != nil || !a.Complete() {
			t.Fatalf("%+v, %v", a, err)
		}
		start := time.Now()
		if err := v.Close(); err != nil || time.Since(start) != 0 {
			t.Errorf("closed after %v: %v", time.Since(start), err)
		}
	})
}
