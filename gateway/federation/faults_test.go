package federation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"headwater/graph"
)

// A toldReader is a region whose legs are what tell makes of them.
type toldReader struct {
	graph.Reader
	tell func(ctx context.Context, v graph.View, q graph.LegQuestion) (*graph.Leg, error)
}

type toldView struct {
	graph.View
	r *toldReader
}

func (r *toldReader) View(ctx context.Context, at graph.At) (graph.View, error) {
	v, err := r.Reader.View(ctx, at)
	return toldView{v, r}, err
}

func (v toldView) Leg(ctx context.Context, q graph.LegQuestion, to graph.LegTaker) (*graph.Leg, error) {
	l, err := v.r.tell(ctx, v.View, q)
	if err == nil {
		err = to.Found(l)
	}
	return l, err
}

// tells makes the regions of a chain tell something else.
func (c *chain) tells(region string, tell func(ctx context.Context, v graph.View, q graph.LegQuestion) (*graph.Leg, error)) {
	regions := slices.Clone(c.federation.o.Regions())
	for i := range regions {
		if regions[i].Name == region {
			regions[i].Reader = &toldReader{regions[i].Reader, tell}
		}
	}
	c.federation.o.Regions = func() []Region { return regions }
}

var three = []string{"r0", "r1", "r2"}

func inThree(i int) string { return three[i/3] }

func (c *chain) view(t *testing.T, ctx context.Context) graph.View {
	t.Helper()
	v, err := c.federation.View(ctx, graph.At{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	})
	return v
}

// Regions that are slow in each round do not cost the answer what came before.
func TestSlowRoundsEndInTimeWithWhatThereIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChain(t, three, 8, inThree)
		for _, f := range c.far {
			f.away = 2 * time.Second
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		start := time.Now()
		a, err := graph.GetLineage(ctx, c.view(t, ctx), graph.Question{Root: c.names[0].ID(), Depth: 8})
		if err != nil {
			t.Fatal(err)
		}
		if took, want := time.Since(start), 5*time.Second-reserve; took != want {
			t.Errorf("took %v, want %v", took, want)
		}
		want := []graph.Gap{{Region: "r2", Reason: "did not answer within 750ms"}}
		if len(a.Nodes) != 6 || !slices.Equal(a.Gaps, want) {
			t.Errorf("%d nodes, gaps %v; want 6, %v", len(a.Nodes), a.Gaps, want)
		}
	})
}

// A root whose region is down is a gap however little is asked of it; a region
// that was not needed is none.
func TestARootWhoseRegionIsDownIsAGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChain(t, three, 8, inThree)
		c.far["r1"].down.Store(true)
		for _, depth := range []int{0, 1} {
			v := c.view(t, t.Context())
			v.(graph.Expecting).Expect(graph.LegQuestion{}, nil, []graph.Name{c.names[0], c.names[4]})
			a, err := graph.GetLineage(t.Context(), v, graph.Question{Root: c.names[4].ID(), Depth: depth})
			if err != nil || len(a.Gaps) != 1 || a.Gaps[0].Region != "r1" {
				t.Errorf("depth %d: gaps %v, %v; want r1", depth, a.Gaps, err)
			}
			a, err = graph.GetLineage(t.Context(), v, graph.Question{Root: c.names[0].ID(), Depth: depth})
			if err != nil || len(a.Gaps) != 0 {
				t.Errorf("depth %d from r0: gaps %v, %v; want none", depth, a.Gaps, err)
			}
		}
		p, err := graph.GetPaths(t.Context(), c.view(t, t.Context()), graph.PathQuestion{From: c.names[0].ID(), To: c.names[4].ID(), MaxDepth: 1, First: 1})
		if err != nil || p.Complete || len(p.Gaps) != 1 {
			t.Errorf("paths %+v, %v; want a gap", p, err)
		}
	})
}

// What a region sent before it went down still counts.
func TestWhatARegionSentBeforeItWentDownCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChain(t, []string{"r0", "r1"}, 9, func(i int) string { return []string{"r0", "r1"}[i/3%2] })
		asked := 0
		c.tells("r0", func(ctx context.Context, v graph.View, q graph.LegQuestion) (*graph.Leg, error) {
			if asked++; asked > 1 {
				return nil, errors.New("is restarting")
			}
			return graph.WalkLeg(ctx, v, q, graph.LegTaker{})
		})
		v := c.view(t, t.Context())
		v.(graph.Expecting).Expect(graph.LegQuestion{}, nil, c.names[:1])
		a, err := graph.GetLineage(t.Context(), v, graph.Question{Root: c.names[0].ID(), Depth: 9})
		if err != nil {
			t.Fatal(err)
		}
		want := []graph.Gap{{Region: "r0", Reason: "is restarting"}}
		if len(a.Nodes) != 6 || !slices.Equal(a.Gaps, want) {
			t.Errorf("%d nodes, gaps %v; want 6, %v", len(a.Nodes), a.Gaps, want)
		}
	})
}

// A region that sends nothing of use, or no end of it, is a gap.
func TestARegionThatSendsNothingOrTooMuchIsAGap(t *testing.T) {
	for name, tell := range map[string]func(ctx context.Context, v graph.View, q graph.LegQuestion) (*graph.Leg, error){
		"nothing": func(context.Context, graph.View, graph.LegQuestion) (*graph.Leg, error) { return &graph.Leg{}, nil },
		"late": func(context.Context, graph.View, graph.LegQuestion) (*graph.Leg, error) {
			return &graph.Leg{Late: true}, nil
		},
		"other names": func(_ context.Context, _ graph.View, q graph.LegQuestion) (*graph.Leg, error) {
			l := &graph.Leg{}
			for range 10 {
				l.IDs = append(l.IDs, graph.Name{Kind: graph.DataStoreKind, Name: time.Now().String()}.ID())
			}
			return l, nil
		},
		"too much": func(ctx context.Context, v graph.View, q graph.LegQuestion) (*graph.Leg, error) {
			l, err := graph.WalkLeg(ctx, v, q, graph.LegTaker{})
			if err == nil && len(l.Lists) > 0 {
				l.Lists[0].Hops = slices.Repeat(l.Lists[0].Hops, 1000)
			}
			return l, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newChain(t, three, 8, inThree)
				c.federation.mostHops = 100
				c.tells("r1", tell)
				a, err := graph.GetLineage(t.Context(), c.view(t, t.Context()), graph.Question{Root: c.names[0].ID(), Depth: 8})
				if err != nil || len(a.Gaps) != 1 || a.Gaps[0].Region != "r1" || len(a.Nodes) < 3 {
					t.Fatalf("%+v, %v; want a gap", a, err)
				}
			})
		})
	}
}

// A late leg that had no time for details does not say that its nodes are none.
func TestALateLegLeavesDetailsToTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChain(t, three, 8, inThree)
		c.tells("r0", func(ctx context.Context, v graph.View, q graph.LegQuestion) (*graph.Leg, error) {
			late := !q.Root.IsZero() && q.Depth > 0
			q.Details = q.Details && !late
			l, err := graph.WalkLeg(ctx, v, q, graph.LegTaker{})
			l.Late = late
			return l, err
		})
		v := c.view(t, t.Context())
		v.(graph.Expecting).Expect(graph.LegQuestion{Depth: 8, Details: true}, nil, c.names[:1])
		a, err := graph.GetLineage(t.Context(), v, graph.Question{Root: c.names[0].ID(), Depth: 8})
		if err != nil || len(a.Nodes) != 9 || len(a.Gaps) != 0 {
			t.Fatalf("%+v, %v", a, err)
		}
		found := 0
		if _, err := v.Nodes(t.Context(), []graph.ID{c.names[0].ID(), c.names[1].ID()}, 0, func(graph.Node) error {
			found++
			return nil
		}); err != nil || found != 2 {
			t.Errorf("%d nodes, %v; want 2", found, err)
		}
	})
}

// One who gives up leaves the view as it was to the others, and what is wrong
// with a question is no gap of the regions.
func TestOneQuestionDoesNotSpoilTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChain(t, three, 8, inThree)
		slow := &slowReader{Reader: c.far["r0"]}
		regions := slices.Clone(c.federation.o.Regions())
		regions[0].Reader = slow
		c.federation.o.Regions = func() []Region { return regions }
		v := c.view(t, t.Context())
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		stop, gaveUp := context.WithCancel(ctx)
		time.AfterFunc(10*time.Millisecond, gaveUp)
		if _, err := v.Nodes(stop, []graph.ID{c.names[0].ID()}, 0, func(graph.Node) error { return nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("who gave up got %v", err)
		}
		if _, err := v.Find(t.Context(), graph.Query{Text: "t", After: "?", Limit: 1}); err == nil {
			t.Error("a cursor of nothing was taken")
		}
		a, err := graph.GetLineage(t.Context(), v, graph.Question{Root: c.names[0].ID(), Depth: 8})
		if err != nil || len(a.Nodes) != 9 || len(a.Gaps) != 0 {
			t.Errorf("afterwards: %+v, %v", a, err)
		}
	})
}

// A slowReader takes long to open its first view.
type slowReader struct {
	graph.Reader
	once sync.Once
}

func (s *slowReader) View(ctx context.Context, at graph.At) (v graph.View, err error) {
	s.once.Do(func() { <-ctx.Done(); err = ctx.Err() })
	if err != nil {
		return nil, err
	}
	return s.Reader.View(ctx, at)
}

// A view that is closed says so; one that is closed while a region is being
// opened does not wait for it.
func TestAClosedViewSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChain(t, three, 8, inThree)
		regions := slices.Clone(c.federation.o.Regions())
		regions[0].Reader = &slowReader{Reader: c.far["r0"]}
		c.federation.o.Regions = func() []Region { return regions }
		v := c.view(t, t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := v.Nodes(t.Context(), []graph.ID{c.names[0].ID()}, 0, func(graph.Node) error { return nil })
			done <- err
		}()
		synctest.Wait()
		start := time.Now()
		if err := v.Close(); err != nil || time.Since(start) != 0 {
			t.Errorf("closed after %v: %v", time.Since(start), err)
		}
		<-done
		for name, err := range map[string]error{
			"nodes": second(v.Nodes(t.Context(), []graph.ID{c.names[4].ID()}, 0, func(graph.Node) error { return nil })),
			"find":  second(v.Find(t.Context(), graph.Query{Limit: 1})),
			"says":  second(v.Says(t.Context(), []graph.ID{c.names[4].ID()}, func(graph.Said) error { return nil })),
			"walk":  second(graph.GetLineage(t.Context(), v, graph.Question{Root: c.names[4].ID(), Depth: 1})),
		} {
			if !errors.Is(err, errClosed) {
				t.Errorf("%s: %v; want %v", name, err, errClosed)
			}
		}
	})
}

func second[T any](_ T, err error) error { return err }

// Fields of one request share a view: what each asks is answered as if it were
// alone, whatever the others want of the same nodes.
func TestManyMayAskOneView(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChain(t, three, 8, inThree)
		v := c.view(t, t.Context())
		leg := graph.LegQuestion{Depth: 8, Details: true}
		var wg sync.WaitGroup
		for i := range 24 {
			wg.Go(func() {
				root := c.names[i%3]
				if i%5 == 0 {
					v.(graph.Expecting).Expect(leg, nil, []graph.Name{root})
				}
				want := []graph.Want{0, graph.WantColumns, graph.WantPartitions, graph.WantSeen}[i%4]
				seen := 0
				if _, err := v.Nodes(t.Context(), []graph.ID{root.ID(), c.names[8].ID()}, want, func(graph.Node) error {
					seen++
					return nil
				}); err != nil || seen != 2 {
					t.Errorf("%d: %d nodes, %v", i, seen, err)
				}
				a, err := graph.GetLineage(t.Context(), v, graph.Question{Root: root.ID(), Depth: 8})
				if err != nil || len(a.Nodes) != 9-i%3 || len(a.Gaps) != 0 {
					t.Errorf("%d: %d nodes, gaps %v, %v", i, len(a.Nodes), a.Gaps, err)
				}
				flows := 0
				if _, err := v.Flows(t.Context(), []graph.ID{root.ID()}, graph.Ask{Layer: graph.TableLayer}, func(fs []graph.Flow) error {
					flows += len(fs)
					_, err := v.Resolve(t.Context(), fs[0].To) // emit may use the view
					return err
				}); err != nil || flows != 1 {
					t.Errorf("%d: %d flows, %v", i, flows, err)
				}
				p, err := v.Find(t.Context(), graph.Query{Text: fmt.Sprint("t", i%9), Limit: 3})
				if err != nil || len(p.IDs) != 1 || p.IDs[0] != c.names[i%9].ID() {
					t.Errorf("%d: found %v, %v", i, p, err)
				}
				_ = v.Marks()
			})
		}
		wg.Wait()
	})
}

// What another walk over the view has learnt of what names stand for may have
// come in the middle of a walk: it is done once more.
func TestAWalkIsDoneAgainWhenNamesHaveComeToStandForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChain(t, three, 8, inThree)
		v := c.view(t, t.Context()).(*view)
		w := v.Walking(graph.LegQuestion{Root: c.names[0].ID(), Depth: 8})
		again := func(want bool) {
			t.Helper()
			if more, err := w.Fetch(t.Context()); more != want || err != nil {
				t.Errorf("it is walked again: %v, %v; want %v", more, err, want)
			}
		}
		again(false) // nothing was missed
		v.mu.Lock()
		v.forget()
		v.mu.Unlock()
		again(true)
		again(false)
	})
}

// A position of a region that nobody knows can't be waited for, and is a gap.
func TestAPositionOfAnUnknownRegionIsAGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChain(t, three, 3, inThree)
		v, err := c.federation.View(t.Context(), graph.At{AtLeast: map[string]uint64{"nowhere": 3}})
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		a, err := graph.GetLineage(t.Context(), v, graph.Question{Root: c.names[0].ID(), Depth: 3})
		if err != nil || len(a.Nodes) != 4 || len(a.Gaps) != 1 || a.Gaps[0] != (graph.Gap{Region: "nowhere", Reason: unknownRegion}) {
			t.Errorf("%d nodes, gaps %v, %v; want 4 nodes and a gap", len(a.Nodes), a.Gaps, err)
		}
	})
}

// A search says which regions it could not ask.
func TestASearchHasGaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChain(t, three, 8, inThree)
		c.far["r1"].down.Store(true)
		v := c.view(t, t.Context())
		p, err := v.Find(t.Context(), graph.Query{Text: "t", Limit: 100})
		if err != nil || len(p.IDs) == 0 || len(p.Gaps) != 1 || p.Gaps[0].Region != "r1" {
			t.Errorf("%d found, gaps %v, %v; want r1", len(p.IDs), p.Gaps, err)
		}
		if _, gaps, err := v.Conflicts(t.Context(), graph.ID{}, 10); err != nil || len(gaps) != 1 || gaps[0].Region != "r1" {
			t.Errorf("conflicts: gaps %v, %v; want r1", gaps, err)
		}
	})
}
