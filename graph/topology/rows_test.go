package topology

import (
	"context"
	"maps"
	"slices"
	"testing"

	"headwater/graph"
)

// rows are the rows that an engine would store, in maps: what a topology is
// compared with. Through graph.NewView they mean what the rules say.
type rows struct {
	graph.Raw // nil: of names and facts nothing is asked
	flows     map[graph.Row]map[graph.Key][]graph.Target
	nodes     map[graph.ID][]graph.ID // with rows, by data store or process, sorted
	aliases   map[[2]graph.ID]map[graph.Key]bool
	lives     map[graph.ID]graph.Life
	revision  uint64
}

func newRows() *rows {
	return &rows{flows: map[graph.Row]map[graph.Key][]graph.Target{}, nodes: map[graph.ID][]graph.ID{},
		aliases: map[[2]graph.ID]map[graph.Key]bool{}, lives: map[graph.ID]graph.Life{}}
}

// apply does what an engine does with a change, and lists the names whose
// links it touches.
func (r *rows) apply(c *graph.Change) (linked []graph.ID) {
	r.revision++
	for _, e := range c.Flows {
		if r.flows[e.Row] == nil {
			r.flows[e.Row] = map[graph.Key][]graph.Target{}
			base := e.Row.Node.Base()
			if at, ok := slices.BinarySearchFunc(r.nodes[base], e.Row.Node, graph.ID.Compare); !ok {
				r.nodes[base] = slices.Insert(r.nodes[base], at, e.Row.Node)
			}
		}
		if e.Targets == nil {
			delete(r.flows[e.Row], c.Key)
		} else {
			r.flows[e.Row][c.Key] = e.Targets
		}
	}
	for _, e := range c.Aliases {
		a := [2]graph.ID{e.From, e.To}
		if r.aliases[a] == nil {
			r.aliases[a] = map[graph.Key]bool{}
		}
		if e.Put {
			r.aliases[a][c.Key] = true
		} else {
			delete(r.aliases[a], c.Key)
		}
		linked = append(linked, e.From, e.To)
	}
	for _, e := range c.Lives {
		r.lives[e.Node] = e.Life
		linked = append(linked, e.Node)
	}
	return linked
}

func (r *rows) Marks() map[string]graph.Mark {
	return map[string]graph.Mark{"eu": {Position: r.revision, Revision: r.revision}}
}

func (r *rows) Close() error { return nil }

func (r *rows) AliasTargets(from graph.ID) ([]graph.ID, error) {
	return r.ends(func(a [2]graph.ID) (graph.ID, bool) { return a[1], a[0] == from }), nil
}

func (r *rows) AliasSources(to graph.ID) ([]graph.ID, error) {
	ids := r.ends(func(a [2]graph.ID) (graph.ID, bool) { return a[0], a[1] == to })
	for id, life := range r.lives {
		for _, p := range life {
			if p.RenamedTo.ID() == to && !p.RenamedTo.IsZero() {
				ids = append(ids, id)
			}
		}
	}
	slices.SortFunc(ids, graph.ID.Compare)
	return slices.Compact(ids), nil
}

func (r *rows) ends(f func([2]graph.ID) (graph.ID, bool)) (ids []graph.ID) {
	for a, by := range r.aliases {
		if id, ok := f(a); ok && len(by) > 0 {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, graph.ID.Compare)
	return ids
}

func (r *rows) Life(node graph.ID) (graph.Life, error) { return r.lives[node], nil }

func (r *rows) Flows(_ context.Context, f graph.Ask, names []graph.ID, emit func(graph.ID, graph.Key, []graph.Target) error) error {
	for _, name := range names {
		nodes := []graph.ID{name}
		if all := r.nodes[name]; f.Whole && len(all) > 0 {
			nodes = all
		}
		for _, node := range nodes {
			by := r.flows[graph.Row{Layer: f.Layer, Dir: f.Dir, Node: node}]
			for _, k := range slices.SortedFunc(maps.Keys(by), graph.Key.Compare) {
				if err := emit(node, k, by[k]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (r *rows) AllFlows(ctx context.Context, layer graph.Layer, dir graph.Direction, emit func(graph.ID, graph.Key, []graph.Target) error) error {
	return r.Flows(ctx, graph.Ask{Layer: layer, Dir: dir, Whole: true}, slices.SortedFunc(maps.Keys(r.nodes), graph.ID.Compare), emit)
}

func (r *rows) Linked(_ context.Context, emit func(graph.ID) error) error {
	for a := range r.aliases {
		if err := emit(a[0]); err != nil {
			return err
		}
	}
	for id := range r.lives {
		if err := emit(id); err != nil {
			return err
		}
	}
	return nil
}

// only is a Raw with a topology.
type only struct {
	graph.Raw
	v *View
}

func (o only) Topology() graph.Topology      { return o.v }
func (o only) Remembered(uint64) (any, bool) { return nil, false }
func (o only) Remember(uint64, any, int)     {}
func over(v *View, raw graph.Raw) graph.View { return graph.NewView(only{raw, v}, graph.Forever) }
func (r *rows) view() graph.View             { return graph.NewView(r, graph.Forever) }

// feed brings rows and topology to the state after changes.
func feed(t testing.TB, top *Topology, r *rows, changes ...graph.Change) {
	t.Helper()
	var linked []graph.ID
	for i := range changes {
		linked = append(linked, r.apply(&changes[i])...)
		top.Change(&changes[i])
	}
	if len(linked) > 0 {
		if err := top.Realias(r, linked); err != nil {
			t.Fatal(err)
		}
	}
	if err := top.Publish(); err != nil {
		t.Fatal(err)
	}
}

// An asked flow is a flow, and the question that it answers.
type asked struct {
	question int
	flow     graph.Flow
}

// questions are those that lists are read with: in each layer and direction,
// and with each of the ways to ask for a part.
var questions = func() (all []graph.Ask) {
	for _, r := range allRows {
		ask := graph.Ask{Layer: r.layer, Dir: r.dir}
		all = append(all, ask)
		for _, change := range []func(*graph.Ask){
			func(a *graph.Ask) { a.Whole = true },
			func(a *graph.Ask) { a.CoarseOnly = true },
			func(a *graph.Ask) { a.Kinds = graph.Identity },
			func(a *graph.Ask) { a.Origins = []string{"b"} },
			func(a *graph.Ask) { a.ThroughDeleted = true },
			func(a *graph.Ask) { a.Whole, a.ThroughDeleted, a.Kinds = true, true, graph.Transformation|graph.Join },
		} {
			some := ask
			change(&some)
			all = append(all, some)
		}
	}
	return all
}()

// answers reads all flows of ids, in every way, and how often each came.
func answers(t testing.TB, v graph.View, ids []graph.ID) map[asked]int {
	t.Helper()
	all := map[asked]int{}
	for i, q := range questions {
		// Only data stores and columns stand for more than themselves.
		some := ids
		if q.Whole {
			some = slices.DeleteFunc(slices.Clone(ids), func(id graph.ID) bool { return id.Kind() != graph.DataStoreKind })
		}
		if _, err := v.Flows(t.Context(), some, q, func(flows []graph.Flow) error {
			for _, f := range flows {
				all[asked{i, f}]++
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// sameAnswers fails the test where two views do not answer alike.
func sameAnswers(t testing.TB, got, want map[asked]int) {
	t.Helper()
	for k, n := range want {
		if got[k] != n {
			t.Fatalf("%+v: got %d of %+v, want %d", questions[k.question], got[k], k.flow, n)
		}
	}
	for k, n := range got {
		if want[k] == 0 {
			t.Fatalf("%+v: got %d of %+v, want none", questions[k.question], n, k.flow)
		}
	}
}
