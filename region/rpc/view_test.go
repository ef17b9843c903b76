package rpc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"headwater/graph"
	"headwater/graph/graphtest"
)

// A switching reader reads whatever store a test has put in.
type switching struct{ graph.Reader }

// same compares what two views say to the same question.
func same(t interface{ Fatalf(string, ...any) }, what string, want, got any, wantErr, gotErr error) {
	if (wantErr == nil) != (gotErr == nil) {
		t.Fatalf("%s: %v, want %v", what, gotErr, wantErr)
	}
	contents := cmp.Comparer(func(a, b *graph.Content) bool {
		return a == b || a != nil && b != nil && bytes.Equal(graph.AppendContent(nil, a), graph.AppendContent(nil, b))
	})
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), contents); diff != "" {
		t.Fatalf("%s, want - got +:\n%s", what, diff)
	}
}

// gather returns all that is emitted, with the gaps.
func gather[T any](ask func(emit func(T) error) ([]graph.Gap, error)) (all struct {
	Items []T
	Gaps  []graph.Gap
}, err error) {
	all.Gaps, err = ask(func(item T) error {
		all.Items = append(all.Items, item)
		return nil
	})
	return all, err
}

// flows is gather of Flows, whose slices may be cut elsewhere.
func flows(ctx context.Context, v graph.View, ids []graph.ID, f graph.Ask) ([]graph.Flow, []graph.Gap, error) {
	var all []graph.Flow
	gaps, err := v.Flows(ctx, ids, f, func(fs []graph.Flow) error {
		all = append(all, fs...)
		return nil
	})
	return all, gaps, err
}

// sameViews asks both views each kind of question.
func sameViews(ctx context.Context, t interface{ Fatalf(string, ...any) }, r *graphtest.Random, near, far graph.View) {
	ids := []graph.ID{r.Any(), r.Any(), r.Any(), r.Any()}
	want, err1 := near.Resolve(ctx, ids[0])
	got, err2 := far.Resolve(ctx, ids[0])
	same(t, "resolve", want, got, err1, err2)

	for _, wanted := range []graph.Want{0, graph.WantColumns | graph.WantPartitions | graph.WantSeen} {
		nodes := func(v graph.View) (any, error) {
			return gather(func(emit func(graph.Node) error) ([]graph.Gap, error) { return v.Nodes(ctx, ids, wanted, emit) })
		}
		want, err1 := nodes(near)
		got, err2 := nodes(far)
		same(t, fmt.Sprintf("nodes %v", ids), want, got, err1, err2)
	}

	ask := graph.Ask{Layer: graph.Layer(1 + r.IntN(4)), Dir: graph.Direction(r.IntN(2)), Whole: r.IntN(2) == 0, CoarseOnly: r.IntN(4) == 0, ThroughDeleted: r.IntN(2) == 0}
	if r.IntN(3) == 0 {
		ask.Kinds, ask.Origins = graph.DirectKinds, []string{"openlineage", "atlas"}
	}
	f1, g1, err1 := flows(ctx, near, ids, ask)
	f2, g2, err2 := flows(ctx, far, ids, ask)
	same(t, fmt.Sprintf("flows %v %+v", ids, ask), f1, f2, err1, err2)
	same(t, "gaps of flows", g1, g2, nil, nil)

	said := func(v graph.View) (any, error) {
		return gather(func(emit func(graph.Said) error) ([]graph.Gap, error) { return v.Says(ctx, ids, emit) })
	}
	s1, err1 := said(near)
	s2, err2 := said(far)
	same(t, fmt.Sprintf("says %v", ids), s1, s2, err1, err2)

	query := graph.Query{Text: []string{"order", "s", "", "id", "zzz"}[r.IntN(5)], Limit: 1 + r.IntN(6), Columns: r.IntN(3) == 0}
	p1, err1 := near.Find(ctx, query)
	p2, err2 := far.Find(ctx, query)
	same(t, fmt.Sprintf("find %+v", query), p1, p2, err1, err2)
	if query.After = p1.Next; query.After != "" {
		p1, err1 = near.Find(ctx, query)
		p2, err2 = far.Find(ctx, query)
		same(t, fmt.Sprintf("find %+v", query), p1, p2, err1, err2)
	}

	c1, _, err1 := near.Conflicts(ctx, graph.ID{}, 10)
	c2, _, err2 := far.Conflicts(ctx, graph.ID{}, 10)
	same(t, "conflicts", c1, c2, err1, err2)

	q := graph.LegQuestion{Direction: graph.Direction(r.IntN(3)), Granularity: graph.Granularity(r.IntN(3)), Depth: 1 + r.IntN(5), Enough: r.IntN(20), Details: r.IntN(2) == 0}
	if r.IntN(2) == 0 {
		q.Root = ids[0]
	}
	for _, id := range ids[1:] {
		q.Seeds = append(q.Seeds, graph.LegSeed{ID: id, Distance: r.IntN(3), Dir: graph.Direction(r.IntN(2))})
	}
	l1, err1 := graph.WalkLeg(ctx, near, q, graph.LegTaker{})
	l2, err2 := far.(graph.LegView).Leg(ctx, q, graph.LegTaker{})
	same(t, fmt.Sprintf("leg %+v", q), l1, l2, err1, err2)
	var given []graph.Node
	l3, err3 := far.(graph.LegView).Leg(ctx, q, graph.LegTaker{Node: func(n *graph.Node) error {
		given = append(given, *n)
		return nil
	}})
	if err3 == nil {
		l3.Nodes = append(l3.Nodes, given...)
	}
	same(t, fmt.Sprintf("leg %+v, its nodes one by one", q), l1, l3, err1, err3)

	same(t, "marks", near.Marks(), far.Marks(), nil, nil)
}

func TestViewAnswersAsTheViewItself(t *testing.T) {
	var store switching
	c, _ := connect(t, HandlerOptions{Reader: &store})
	rapid.Check(t, func(t *rapid.T) {
		ctx := t.Context()
		r := graphtest.NewRandom(rapid.Uint64().Draw(t, "seed"))
		m := graphtest.NewModel("local")
		store.Reader = m
		feeder := graphtest.Feeder{Region: "local"}
		for range rapid.IntRange(1, 6).Draw(t, "batches") {
			var deltas []graph.Delta
			for range 1 + r.IntN(8) {
				deltas = append(deltas, r.Delta())
			}
			if err := feeder.Feed(ctx, []graph.Store{m}, deltas...); err != nil {
				t.Fatal(err)
			}
		}
		var at graph.At
		if r.IntN(3) == 0 {
			at.AsOf = time.Unix(0, r.Time())
		}
		near, err := m.View(ctx, at)
		if err != nil {
			t.Fatal(err)
		}
		far, err := c.View(ctx, at)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			sameViews(ctx, t, r, near, far)
		}
		if err := errors.Join(near.Close(), far.Close()); err != nil {
			t.Fatal(err)
		}
	})
}

// TestGraphQuestionsOverTheNetwork asks what people ask, which graph makes of
// many questions to a view.
func TestGraphQuestionsOverTheNetwork(t *testing.T) {
	r := graphtest.NewRandom(11)
	m := graphtest.NewModel("local")
	for range 12 {
		graphtest.Feed(t, m, r.Delta(), r.Delta(), r.Delta())
	}
	c, _ := connect(t, HandlerOptions{Reader: m})
	for range 100 {
		question, answers, err := graphtest.Ask[graph.Reader](soon(t), r, m, far{m, c})
		if err != nil {
			t.Fatal(err)
		}
		if answers[0] != answers[1] {
			t.Fatalf("%s\ngot\n%s\nwant\n%s", question, answers[1], answers[0])
		}
	}
}

// far is a store whose views come over the network.
type far struct {
	graph.Store
	c *Client
}

func (f far) View(ctx context.Context, at graph.At) (graph.View, error) { return f.c.View(ctx, at) }

func TestManyAskAtOnceUnderOneLease(t *testing.T) {
	r := graphtest.NewRandom(5)
	m := graphtest.NewModel("local")
	for range 10 {
		graphtest.Feed(t, m, r.Delta(), r.Delta(), r.Delta())
	}
	c, h := connect(t, HandlerOptions{Reader: m, Questions: 3})
	near, v := open(t, m2{m}), open(t, c)
	var wg sync.WaitGroup
	for i := range uint64(8) {
		wg.Go(func() {
			r := graphtest.NewRandom(100 + i)
			for range 4 {
				sameViews(t.Context(), t, r, near, v)
			}
		})
	}
	wg.Wait()
	if n := h.leases.count(); n != 1 {
		t.Errorf("%d leases, want 1", n)
	}
}

// m2 gives views of a model a Leg.
type m2 struct{ graph.Reader }

type walker struct{ graph.View }

func (m m2) View(ctx context.Context, at graph.At) (graph.View, error) {
	v, err := m.Reader.View(ctx, at)
	return walker{v}, err
}

func (w walker) Leg(ctx context.Context, q graph.LegQuestion, to graph.LegTaker) (*graph.Leg, error) {
	return graph.WalkLeg(ctx, w.View, q, to)
}

func TestAViewCostsNoQuestionAndMarksAreThoseSeenLast(t *testing.T) {
	marks := map[string]graph.Mark{"eu": {Position: 42, Revision: 7}}
	var asked []string
	c, _ := connect(t, HandlerOptions{Reader: of(&fake{marks: marks}), Observe: func(method string, _ time.Duration, in, out int, err error) {
		asked = append(asked, fmt.Sprintln(method, in > 0, out > 0, err))
	}})
	first, second := open(t, c), open(t, c)
	if got := first.Marks(); len(got) != 0 {
		t.Errorf("marks %v before the region was ever asked, want none", got)
	}
	if _, err := first.Resolve(soon(t), graph.ID{1}); err != nil {
		t.Fatal(err)
	}
	for _, v := range []graph.View{first, second} {
		if got := v.Marks(); !maps.Equal(got, marks) {
			t.Errorf("marks %v, want %v", got, marks)
		}
	}
	s, err := c.Status(soon(t))
	if want := (Status{Region: "eu", Marks: marks, Healthy: true}); err != nil || !cmp.Equal(s, want) {
		t.Errorf("status %+v, %v, want %+v", s, err, want)
	}
	if want := []string{"resolve true true <nil>\n", "status true true <nil>\n"}; !slices.Equal(asked, want) {
		t.Errorf("asked %q, want %q", asked, want)
	}
}

func TestTheFirstQuestionTakesAlongWhichStateIsWanted(t *testing.T) {
	var got []graph.At
	c, _ := connect(t, HandlerOptions{Reader: reader(func(_ context.Context, at graph.At) (graph.View, error) {
		got = append(got, at)
		return &fake{}, nil
	})})
	for _, want := range []graph.At{
		{}, {AtLeast: map[string]uint64{"eu": 42, "us": 7}}, {AsOf: time.Date(2026, 3, 1, 12, 0, 0, 5, time.UTC)}, {AsOf: time.Unix(0, 0)},
	} {
		v, err := c.View(t.Context(), want)
		if err != nil {
			t.Fatal(err)
		}
		resolve(t, v, nil)
		resolve(t, v, nil)
		if err := v.Close(); err != nil {
			t.Fatal(err)
		}
		if len(got) != 1 || !maps.Equal(got[0].AtLeast, want.AtLeast) || !got[0].AsOf.Equal(want.AsOf) || got[0].AsOf.IsZero() != want.AsOf.IsZero() {
			t.Errorf("the region was asked for %+v, want %+v", got, want)
		}
		got = nil
	}
}

func TestEmitMayStopAnAnswerWithItsOwnError(t *testing.T) {
	stopped := make(chan error, 1)
	random := rand.New(rand.NewPCG(1, 2))
	c, _ := connect(t, HandlerOptions{Reader: of(&fake{nodes: func(ctx context.Context, emit func(graph.Node) error) ([]graph.Gap, error) {
		for {
			n := graph.Node{Name: graph.Name{Kind: graph.DataStoreKind, Name: fmt.Sprint(random.Uint64())}}
			if err := emit(n); err != nil {
				stopped <- err
				return nil, err
			}
		}
	}})})
	for _, mine := range []error{io.EOF, &graph.NotFoundError{What: "what I look for"}} {
		count := 0
		// The answer has no end: that something comes shows that it streams.
		_, err := open(t, c).Nodes(soon(t), nil, 0, func(graph.Node) error {
			if count++; count == 1000 {
				return mine
			}
			return nil
		})
		if err != mine {
			t.Errorf("%v, want the very error of emit", err)
		}
		if err := <-stopped; err == nil {
			t.Error("the region was not stopped")
		}
	}
}

func TestAnAnswerBeginsBeforeItEnds(t *testing.T) {
	seen := make(chan bool)
	c, _ := connect(t, HandlerOptions{Reader: of(&fake{nodes: func(ctx context.Context, emit func(graph.Node) error) ([]graph.Gap, error) {
		for range 1000 {
			if err := emit(graph.Node{Facts: graph.Facts{Description: fmt.Sprint(ctx)}}); err != nil {
				return nil, err
			}
		}
		select {
		case <-seen:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		return []graph.Gap{{Region: "us", Reason: "behind"}}, nil
	}})})
	count := 0
	gaps, err := open(t, c).Nodes(soon(t), nil, 0, func(graph.Node) error {
		if count++; count == 1 {
			close(seen)
		}
		return nil
	})
	if want := []graph.Gap{{Region: "us", Reason: "behind"}}; err != nil || count != 1000 || !slices.Equal(gaps, want) {
		t.Errorf("%d nodes, gaps %v, %v", count, gaps, err)
	}
}
