package federation

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/google/go-cmp/cmp"

	"headwater/graph"
)

// both opens a view of the federation and one of the store that has all.
func (w *world) both(federation, joined graph.Reader) (views [2]graph.View) {
	for i, r := range [...]graph.Reader{federation, joined} {
		v, err := r.View(context.Background(), graph.At{})
		if err != nil {
			w.t.Fatal(err)
		}
		views[i] = v
	}
	return views
}

// nodeText is what one store and many regions have to agree on of a node. What
// they say of its facets may differ: a store knows who said each, regions are
// heard in their order.
func nodeText(n graph.Node) string { return fmt.Sprintln(n.ID, "deleted", n.Deleted) }

// askNodes compares what is known of some nodes.
func (w *world) askNodes(federation, joined graph.Reader) {
	var ids []graph.ID
	for range 6 {
		w.r.Region = w.names[w.r.IntN(len(w.names))]
		ids = append(ids, w.r.Any().Base()) // of a column the schemas tell, which are facets
	}
	var texts [2][]string
	for i, v := range w.both(federation, joined) {
		// One look for each, so that nothing is known of the others.
		for _, id := range ids {
			gaps, err := v.Nodes(context.Background(), []graph.ID{id}, graph.WantColumns|graph.WantPartitions, func(n graph.Node) error {
				texts[i] = append(texts[i], nodeText(n))
				return nil
			})
			if err != nil || len(gaps) > 0 {
				w.t.Fatal(gaps, err)
			}
		}
		if err := v.Close(); err != nil {
			w.t.Fatal(err)
		}
	}
	// What only facets of many regions together make a node of, they do not have.
	for _, text := range texts[0] {
		if !slices.Contains(texts[1], text) {
			w.t.Fatalf("nodes %v: %s is not among those of one store:\n%s", ids, text, strings.Join(texts[1], ""))
		}
	}
}

// search looks whether a search finds, over all its pages, the nodes that the
// one store finds, each once, on pages that are full.
func (w *world) search(federation, joined graph.Reader) {
	texts := []string{"order", "s", "rder", "user_id", "id", "", "x", "EVENTS"}
	q := graph.Query{Text: texts[w.r.IntN(len(texts))], Limit: 1 + w.r.IntN(6), DataStores: true, Processes: w.r.IntN(2) == 0}
	views := w.both(federation, joined)
	given := map[graph.ID]bool{}
	for page := 0; ; page++ {
		p, err := views[0].Find(context.Background(), q)
		if err != nil || page > 500 {
			w.t.Fatalf("search %+v, page %d: %v", q, page, err)
		}
		if len(p.IDs) > q.Limit || p.Next != "" && len(p.IDs) < q.Limit {
			w.t.Fatalf("search %+v: a page of %d, and more", q, len(p.IDs))
		}
		for _, id := range p.IDs {
			if given[id] {
				w.t.Fatalf("search %+v finds %s twice", q, id)
			}
			given[id] = true
			known := false
			if _, err := views[1].Nodes(context.Background(), []graph.ID{id}, 0, func(n graph.Node) error {
				known = n.ID == id && n.Deleted == 0
				return nil
			}); err != nil || !known {
				w.t.Fatalf("search %+v finds %s, of which one store knows nothing: %v", q, id, err)
			}
		}
		if p.Next == "" {
			break
		}
		q.After = p.Next
	}
	for q.After = ""; ; {
		p, err := views[1].Find(context.Background(), q)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, id := range p.IDs {
			if name, found := w.regionFinds(views[1], id, q.Text); found && !given[id] {
				w.t.Fatalf("search %+v does not find %s, which %v stands for", q, id, name)
			}
		}
		if q.After = p.Next; p.Next == "" {
			break
		}
	}
	for _, v := range views {
		if err := v.Close(); err != nil {
			w.t.Fatal(err)
		}
	}
}

// regionFinds reports whether a name that matches and stands for a node is that
// of a node which its own region still has. One store finds a node by the names
// that regions have dropped too.
func (w *world) regionFinds(joined graph.View, node graph.ID, text string) (name graph.Name, found bool) {
	for n, err := range w.all.Names(context.Background()) {
		if err != nil {
			w.t.Fatal(err)
		}
		to, err := joined.Resolve(context.Background(), n.ID())
		if err != nil {
			w.t.Fatal(err)
		}
		if to != node || !strings.Contains(graph.SearchText(n), graph.FoldText(text)) {
			continue
		}
		v, err := w.stores[n.Region].View(context.Background(), graph.At{})
		if err != nil {
			w.t.Fatal(err)
		}
		if _, err = v.Nodes(context.Background(), []graph.ID{n.ID()}, 0, func(at graph.Node) error {
			if at.Deleted == 0 {
				name, found = n, true
			}
			return nil
		}); err != nil {
			w.t.Fatal(err)
		}
		if err := v.Close(); err != nil {
			w.t.Fatal(err)
		}
	}
	return name, found
}

// askAtOnce asks several walks of one view at once.
func (w *world) askAtOnce(federation, joined graph.Reader) {
	questions := make([]graph.Question, 4)
	for i := range questions {
		w.r.Region = w.names[w.r.IntN(len(w.names))]
		questions[i] = graph.Question{Root: w.r.Any(), Direction: graph.Direction(w.r.IntN(3)), Granularity: graph.Granularity(w.r.IntN(3)), Depth: 1 + w.r.IntN(5)}
	}
	views := w.both(federation, joined)
	var wg sync.WaitGroup
	var answers [2][4]string
	for i := range questions {
		for j, v := range views {
			wg.Go(func() {
				a, err := graph.GetLineage(context.Background(), v, questions[i])
				if err != nil {
					answers[j][i] = err.Error()
					return
				}
				answers[j][i] = fmt.Sprintf("%v\n%v\ngaps %v", a.Nodes, a.Edges, a.Gaps)
			})
		}
	}
	wg.Wait()
	for _, v := range views {
		if err := v.Close(); err != nil {
			w.t.Fatal(err)
		}
	}
	if diff := cmp.Diff(answers[1], answers[0]); diff != "" {
		w.t.Fatalf("%+v at once (-one store +federation):\n%s", questions, diff)
	}
}
