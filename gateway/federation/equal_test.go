package federation

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"headwater/gateway/border"
	"headwater/gateway/catalog"
	"headwater/graph"
	"headwater/graph/graphtest"
	"headwater/graph/pebble"
)

// A world is regions, and one store that has what they all have.
type world struct {
	t       *rapid.T
	r       *graphtest.Random
	names   []string
	stores  map[string]graph.Store
	feeders map[string]*graphtest.Feeder
	all     *graphtest.Model
	whole   graphtest.Feeder
	index   *border.Index
}

// newWorld makes regions and a catalog that joins some of their names.
func newWorld(t *rapid.T, engine func(region string) graph.Store, regions int) *world {
	w := &world{t: t, r: graphtest.NewRandom(rapid.Uint64().Draw(t, "seed")), stores: map[string]graph.Store{}, feeders: map[string]*graphtest.Feeder{},
		all: graphtest.NewModel("all"), whole: graphtest.Feeder{Region: "all"}}
	state := catalog.New()
	for i := range regions {
		name := fmt.Sprintf("r%d", i)
		w.names = append(w.names, name)
		w.stores[name] = engine(name)
		w.feeders[name] = &graphtest.Feeder{Region: name}
		state = changed(t, state, catalog.SetRegion{Region: catalog.Region{Name: name, Addresses: []string{name + ":1"}}})
	}
	region := func(what string) string { return rapid.SampledFrom(w.names).Draw(t, what) }
	for _, ns := range []string{"hive://meta:9083", "s3://lake", "kafka://broker:9092", "postgres://db:5432"} {
		if rapid.Bool().Draw(t, "rule for "+ns) {
			state = changed(t, state, catalog.SetNamespaceRule{NamespaceRule: catalog.NamespaceRule{Namespace: ns, Region: region(ns)}})
		}
	}
	for i := range rapid.IntRange(0, 4).Draw(t, "aliases") {
		name := func(what string) catalog.Name {
			w.r.Region = region(fmt.Sprint(what, i))
			n := w.r.Table()
			return catalog.Name{Region: n.Region, Namespace: n.Namespace, Name: n.Name}
		}
		next, _, err := state.Apply(command(state, catalog.SetAlias{Alias: catalog.Alias{From: name("from"), To: name("to")}}))
		if err == nil { // else names would go round
			state = next
		}
	}
	w.index = border.New(state)
	for _, w.r.Region = range w.names {
		w.index.Add(w.r.Names()...)
	}
	return w
}

func changed(t *rapid.T, s *catalog.State, c catalog.Change) *catalog.State {
	next, _, err := s.Apply(command(s, c))
	if err != nil {
		t.Fatal(err)
	}
	return next
}

func command(s *catalog.State, c catalog.Change) catalog.Command {
	return catalog.Command{ID: fmt.Sprint("c", s.Seq()), Who: "test", Do: c}
}

// feed tells one region, and the store that has all, something.
func (w *world) feed() {
	region := w.names[w.r.IntN(len(w.names))]
	w.r.Region = region
	d := w.r.Delta()
	w.tell(region, d, d)
}

// tell tells a region something, and the store that has all the same.
func (w *world) tell(region string, said, meant graph.Delta) {
	if err := w.feeders[region].Feed(context.Background(), []graph.Store{w.stores[region]}, said); err != nil {
		w.t.Fatal(err)
	}
	if err := w.whole.Feed(context.Background(), []graph.Store{w.all}, meant); err != nil {
		w.t.Fatal(err)
	}
}

// federation is the regions as one reader, joined the one store as one.
func (w *world) federation() (federation, joined graph.Reader) {
	var regions []Region
	j := &graphtest.Joined{All: w.all, Names: w.index, Known: map[graph.ID]graph.Name{}}
	for _, name := range w.names {
		store := w.stores[name]
		regions = append(regions, Region{Name: name, Reader: store, Mark: func() graph.Mark {
			m, _ := store.Applied(context.Background())
			return m
		}})
		j.Regions = append(j.Regions, store)
		w.r.Region = name
		for _, n := range w.r.Names() {
			j.Known[n.ID()] = n
		}
	}
	f, err := New(Options{Regions: func() []Region { return regions }, Names: func() *border.Index { return w.index }})
	if err != nil {
		w.t.Fatal(err)
	}
	return f, j
}

// ask asks both a question and compares.
func (w *world) ask(federation, joined graph.Reader) {
	w.r.Region = w.names[w.r.IntN(len(w.names))]
	q, a, err := graphtest.AskWalk(context.Background(), w.r, federation, joined)
	if err != nil {
		w.t.Fatal(err)
	}
	if a[0] != a[1] {
		w.t.Fatalf("%s\n(-one store +federation):\n%s", q, cmp.Diff(strings.Split(a[1], "\n"), strings.Split(a[0], "\n")))
	}
}

// What many regions answer together is what one store would that had all.
func TestRegionsAnswerAsOneStore(t *testing.T) {
	engines := map[string]func(t *testing.T) func(region string) graph.Store{
		"model": func(*testing.T) func(string) graph.Store {
			return func(region string) graph.Store { return graphtest.NewModel(region) }
		},
		"pebble": func(t *testing.T) func(string) graph.Store {
			return func(region string) graph.Store {
				s, err := pebble.Open(t.TempDir(), pebble.Options{Region: region})
				if err != nil {
					t.Fatal(err)
				}
				return s
			}
		},
	}
	asked := 0
	for name, engine := range engines {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				w := newWorld(rt, engine(t), rapid.SampledFrom([]int{1, 2, 3, 7}).Draw(rt, "regions"))
				defer func() {
					for _, s := range w.stores {
						if err := s.Close(); err != nil {
							t.Error(err)
						}
					}
				}()
				for round := range 3 {
					for range rapid.IntRange(1, 20).Draw(rt, "deltas") {
						w.feed()
					}
					f, j := w.federation()
					for range 8 {
						w.ask(f, j)
						asked++
					}
					if round == 2 {
						w.askNodes(f, j)
						w.search(f, j)
						w.askAtOnce(f, j)
					}
				}
			})
		})
	}
	t.Logf("%d questions", asked)
}
