package api

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"headwater/graph"
	"headwater/graph/graphtest"
)

// waitingReader waits for positions until the context ends, as engines do.
type waitingReader struct{ graph.Reader }

func (r waitingReader) View(ctx context.Context, at graph.At) (graph.View, error) {
	if at.AtLeast["eu"] > 1 {
		<-ctx.Done()
		return nil, fmt.Errorf("wait for eu: %w", ctx.Err())
	}
	return r.Reader.View(ctx, at)
}

func TestAPositionThatIsNotReachedInTimeIsAGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := graphtest.NewModel("eu")
		graphtest.Feed(t, store, platform()...)
		s := serve(t, Options{Reader: waitingReader{store}, Timeout: 2 * time.Second})
		r := s.ask(lineageOf, "of", ref(sales), "atLeast", "eu@1042")
		r.want(`[{"region":"eu","reason":"is at eu@1, behind eu@1042"}]`, "lineage", "gaps")
		wantText(t, nodesOf(r), "-1 shop.customers, -1 shop.orders, 0 mart.sales, 1 mart.view, 1 revenue")
	})
}

// slowView takes its time with flows, and gives up when the context ends.
type slowView struct {
	graph.View
	after int // calls that are fast
	calls int
}

func (v *slowView) Flows(ctx context.Context, ids []graph.ID, ask graph.Ask, emit func([]graph.Flow) error) ([]graph.Gap, error) {
	if v.calls++; v.calls > v.after {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return v.View.Flows(ctx, ids, ask, emit)
}

func TestADeadlineGivesATruncatedAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, Options{}, platform()...)
		s.reader.wrap = func(v graph.View) graph.View { return &slowView{View: v, after: 1} }
		r := s.ask(lineageOf, "of", ref(revenue), "direction", "UPSTREAM")
		wantText(t, nodesOf(r), "0 revenue")
		r.want(`"DEADLINE"`, "lineage", "truncated", "reason")
		if after := r.at("lineage", "truncated", "after"); after == nil || after == "" {
			t.Errorf("truncated.after is %v", after)
		}
		r.want(`false`, "lineage", "complete")
	})
}

func TestADeadlineOutsideAWalkIsATimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, Options{}, platform()...)
		s.reader.wrap = func(v graph.View) graph.View { return &slowView{View: v} }
		r := s.post(`query($of: NodeRef!) { node(of: $of) { name ... on DataStore { producers { name } } } }`, "of", ref(sales))
		if len(r.Errors) != 1 || r.Errors[0].Extensions["code"] != "TIMEOUT" || !strings.Contains(r.Errors[0].Message, "10s") {
			t.Errorf("got %s", r.body)
		}
	})
}

// gapView can't ask a region.
type gapView struct{ graph.View }

var down = []graph.Gap{{Region: "us", Reason: "no answer in 2s; is it up?"}}

func (v gapView) Flows(ctx context.Context, ids []graph.ID, ask graph.Ask, emit func([]graph.Flow) error) ([]graph.Gap, error) {
	g, err := v.View.Flows(ctx, ids, ask, emit)
	return append(g, down...), err
}

func (v gapView) Nodes(ctx context.Context, ids []graph.ID, want graph.Want, emit func(graph.Node) error) ([]graph.Gap, error) {
	g, err := v.View.Nodes(ctx, ids, want, emit)
	return append(g, down...), err
}

func TestARegionThatIsDownIsAGapOnce(t *testing.T) {
	s := serve(t, Options{}, platform()...)
	s.reader.wrap = func(v graph.View) graph.View { return gapView{v} }
	r := s.ask(lineageOf, "of", ref(sales))
	r.want(`[{"region":"us","reason":"no answer in 2s; is it up?"}]`, "lineage", "gaps")
	r.want(`false`, "lineage", "complete")
	r = s.ask(`query($a: NodeRef!, $b: NodeRef!) { paths(from: $a, to: $b) { complete gaps { region } } }`, "a", ref(orders), "b", ref(revenue))
	r.want(`{"complete":false,"gaps":[{"region":"us"}]}`, "paths")
}

func TestAFieldWithoutGapsReportsThemBesideTheData(t *testing.T) {
	s := serve(t, Options{}, platform()...)
	s.reader.wrap = func(v graph.View) graph.View { return gapView{v} }
	r := s.post(`query($of: NodeRef!) { node(of: $of) { name ... on DataStore { producers { name } } } }`, "of", ref(sales))
	r.want(`{"name":"mart.sales","producers":[{"name":"load_sales"}]}`, "node")
	if len(r.Errors) != 2 || r.Errors[0].Extensions["code"] != "UNAVAILABLE" || r.Errors[1].Extensions["code"] != "UNAVAILABLE" {
		t.Errorf("got %s", r.body)
	}
	s.refused("UNAVAILABLE", `{ node(of: {namespace: "nowhere", name: "x"}) { name } }`)
}

func TestAnErrorOfTheViewFailsTheAnswer(t *testing.T) {
	s := serve(t, Options{}, platform()...)
	s.reader.wrap = func(v graph.View) graph.View { return failingView{v, errors.New("disk on fire")} }
	s.refused("INTERNAL", lineageOf, "of", ref(sales))
}

type failingView struct {
	graph.View
	err error
}

func (v failingView) Flows(context.Context, []graph.ID, graph.Ask, func([]graph.Flow) error) ([]graph.Gap, error) {
	return nil, v.err
}
