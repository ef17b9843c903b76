package topology

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"testing"

	"headwater/graph"
)

func TestViewsStandStill(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			m, r, top := newMaker(seed, 10, 4), newRows(), New()
			if seed%2 == 0 {
				top.Tune(3, 4)
			}
			type held struct {
				*View
				was map[asked]int
			}
			var views []held
			for batch := range 400 / less {
				if batch == 0 || m.IntN(20) == 0 {
					v := top.View()
					views = append(views, held{v, answers(t, over(v, r), m.world())})
				}
				changes := []graph.Change{m.change(), m.change()}
				if seed > 1 && m.IntN(5) == 0 {
					changes = append(changes, m.link(r))
				}
				feed(t, top, r, changes...)
			}
			if top.Stats().Waiting == 0 || len(top.undo.was) == 0 {
				t.Error("nothing is kept for the views")
			}
			m.Shuffle(len(views), func(i, j int) { views[i], views[j] = views[j], views[i] })
			for _, v := range views {
				sameAnswers(t, answers(t, over(v.View, r), m.world()), v.was)
				v.Release()
				feed(t, top, r, m.change()) // takes back what only that view saw
			}
			noneWaits(t, top)
		})
	}
}

// noneWaits fails the test where something is kept for views that there are
// not.
func noneWaits(t testing.TB, top *Topology) {
	t.Helper()
	if got := top.Stats().Waiting; got != 0 {
		t.Errorf("%d bytes wait for views", got)
	}
	if len(top.undo.was)+len(top.undo.order)+len(top.live) > 0 {
		t.Errorf("undo keeps %d cells and %d edits for %d versions", len(top.undo.was), len(top.undo.order), len(top.live))
	}
}

func TestAViewThatIsTakenTwiceIsKeptUntilItIsReleasedTwice(t *testing.T) {
	m, r, top := newMaker(1, 10, 4), newRows(), New()
	feed(t, top, r, m.change(), m.change(), m.change())
	a, b := top.View(), top.View()
	was := answers(t, over(a, r), m.world())
	a.Release()
	for range 50 {
		feed(t, top, r, m.change())
	}
	sameAnswers(t, answers(t, over(b, r), m.world()), was)
	b.Release()
	feed(t, top, r)
	noneWaits(t, top)
}

func TestWhatIsSettledIsSeenWhenItIsPublished(t *testing.T) {
	m, r, top := newMaker(7, 10, 4), newRows(), New()
	top.Tune(3, 4)
	for range 40 {
		before := top.View()
		was := answers(t, over(before, r), m.world())
		c := m.change()
		r.apply(&c)
		for range 2 { // the second time, nothing is another
			top.Change(&c)
			if err := top.Settle(); err != nil {
				t.Fatal(err)
			}
		}
		v := top.View()
		sameAnswers(t, answers(t, over(v, r), m.world()), was)
		v.Release()
		if err := top.Publish(); err != nil {
			t.Fatal(err)
		}
		v = top.View()
		sameAnswers(t, answers(t, over(v, r), m.world()), answers(t, r.view(), m.world()))
		v.Release()
		sameAnswers(t, answers(t, over(before, r), m.world()), was)
		before.Release()
	}
	feed(t, top, r)
	noneWaits(t, top)
}

func TestChurnOfEqualSizeTakesNoMemory(t *testing.T) {
	for name, tune := range sizes {
		t.Run(name, func(t *testing.T) {
			m, r, top := newMaker(3, 40, 6), newRows(), New()
			tune(top)
			// Each contribution says one thing and another in turn, and some
			// views are held for a while.
			says := map[graph.Key][2]map[graph.Row][]graph.Target{}
			for _, k := range m.keys {
				says[k] = [2]map[graph.Row][]graph.Target{m.content(k, 40), m.content(k, 40)}
			}
			var views []*View
			words := func() int { return (len(top.arena.slabs)-1)*slabWords + int(top.arena.used) }
			warm := 0
			for batch := range 1500 / less {
				k := m.keys[batch%len(m.keys)]
				feed(t, top, r, m.says(k, says[k][batch/len(m.keys)%2]))
				if views = append(views, top.View()); len(views) > 3 {
					views[0].Release()
					views = views[1:]
				}
				if batch == 500/less {
					warm = words()
				}
			}
			if grown := words() - warm; grown > 0 {
				t.Errorf("%d words grew by %d", warm, grown)
			}
			for _, v := range views {
				v.Release()
			}
			feed(t, top, r)
			noneWaits(t, top)
		})
	}
}

// readTwice reads what a view answers twice, and says where it does not answer alike.
func readTwice(ctx context.Context, top *Topology, m *maker, n int) error {
	v := top.View()
	defer v.Release()
	g := over(v, newRows())
	o := graph.WalkOptions{Depth: graph.Unlimited, Direction: graph.Direction(n % 2), Granularity: graph.Granularity(n % 3)}
	root := m.stores[n%len(m.stores)]
	type step struct {
		id              graph.ID
		distance, level int
	}
	var was map[step]bool
	for time := range 2 {
		if o.Granularity == graph.Processes {
			root = m.processes[n%len(m.processes)]
		}
		steps := map[step]bool{}
		if _, err := graph.Walk(ctx, g, []graph.Seed{{ID: root}}, o, func(found graph.Reached) error {
			for i, id := range found.IDs() {
				s := step{id, found.Level, found.Level}
				if found.Distances != nil {
					s.distance = int(found.Distances[i])
				}
				steps[s] = true
			}
			return nil
		}); err != nil {
			return err
		}
		names := v.Members(v.Resolve(root))
		for i, name := range names {
			if got := v.Resolve(name); got != v.Resolve(root) {
				return fmt.Errorf("member %d of %s stands for %s", i, v.Resolve(root), got)
			}
		}
		if time == 1 && !maps.Equal(steps, was) {
			return fmt.Errorf("a walk from %s, %+v, gave %d nodes, then %d", root, o, len(was), len(steps))
		}
		was = steps
	}
	return nil
}

func TestReadersGetTheSameAnswerTwiceWhileTheWriterGoesOn(t *testing.T) {
	for _, tuned := range []bool{false, true} {
		m, r, top := newMaker(5, 12, 6), newRows(), New()
		if tuned {
			top.Tune(3, 4)
		}
		for range 20 {
			feed(t, top, r, m.change())
		}
		var readers sync.WaitGroup
		done := make(chan struct{})
		errs := make(chan error, 3)
		reads := make(chan int, 3)
		for reader := range 3 {
			readers.Go(func() {
				n := reader
				for ; ; n += 3 {
					select {
					case <-done:
						reads <- n / 3
						return
					default:
					}
					if err := readTwice(t.Context(), top, m, n); err != nil {
						errs <- err
						return
					}
				}
			})
		}
		for batch := range 200 / less {
			if batch%4 == 3 {
				feed(t, top, r, m.change(), m.link(r))
				continue
			}
			// New nodes too, so that arrays and indexes grow under readers.
			k := m.keys[m.IntN(len(m.keys))]
			rows, fresh := m.content(k, 20), storeName(1000+batch).ID()
			for i := range 40 {
				m.flow(rows, graph.ColumnLayer, fresh.Column(fmt.Sprint(i)), m.pick(m.columns), 0, false)
			}
			feed(t, top, r, m.says(k, rows))
		}
		close(done)
		readers.Wait()
		close(errs)
		for err := range errs {
			t.Error(err)
		}
		close(reads)
		for n := range reads {
			t.Logf("%d walks", n)
		}
		feed(t, top, r)
		noneWaits(t, top)
	}
}

func TestAQuestionWhoseTimeIsOverEndsWithTheErrorOfItsContext(t *testing.T) {
	m, r, top := newMaker(6, 4, 2), newRows(), New()
	feed(t, top, r, m.says(m.keys[0], m.content(m.keys[0], 60)))
	v := top.View()
	defer v.Release()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	emitted := 0
	_, err := over(v, r).Flows(ctx, m.world(), graph.Ask{Layer: graph.TableLayer}, func(flows []graph.Flow) error {
		emitted += len(flows)
		cancel()
		return nil
	})
	if emitted == 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("after %d flows: got %v, want the error of the context", emitted, err)
	}
}
