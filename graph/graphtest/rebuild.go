package graphtest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"headwater/graph"
)

// Rebuild makes a model of nothing but the contributions of a store.
func Rebuild(ctx context.Context, store graph.Store, region string) (*Model, error) {
	m := NewModel(region)
	var err error
	if m.mark, err = store.Applied(ctx); err != nil {
		return nil, err
	}
	for r, err := range store.Contributions(ctx, graph.Key{}) {
		if err != nil {
			return nil, err
		}
		s := graph.NewState()
		k := r.Key()
		if err := store.Load(ctx, graph.Need{Contributions: []graph.Key{k}, Parts: []graph.Key{k}}, s); err != nil {
			return nil, err
		}
		c := s.Contribution(k)
		if c == nil {
			return nil, fmt.Errorf("%s of %s is listed, but can't be loaded", r.Subject, r.Origin)
		}
		m.records[k], m.parts[k] = c.Record, c.Stored()
	}
	return m, nil
}

// SameFlows says where the flows of two stores differ, in any layer, now. It
// asks for the nodes that either has names or rows for.
func SameFlows(ctx context.Context, got, want graph.Store) error {
	ids := map[graph.ID]bool{}
	for _, s := range []graph.Store{got, want} {
		for n, err := range s.Names(ctx) {
			if err != nil {
				return err
			}
			ids[n.ID()] = true
		}
	}
	if m, ok := want.(*Model); ok {
		rows, err := m.derive()
		if err != nil {
			return err
		}
		for row := range rows.flows {
			ids[row.Node.Base()] = true
			if row.Node.IsHub() {
				ids[row.Node] = true
			}
		}
	}
	all := slices.SortedFunc(maps.Keys(ids), graph.ID.Compare)
	var texts [2][]string
	for i, s := range []graph.Store{got, want} {
		v, err := s.View(ctx, graph.At{})
		if err != nil {
			return err
		}
		for layer := graph.TableLayer; layer <= graph.ControlLayer; layer++ {
			for _, dir := range []graph.Direction{graph.Upstream, graph.Downstream} {
				ask := graph.Ask{Layer: layer, Dir: dir, Whole: layer == graph.ColumnLayer}
				if _, err := v.Flows(ctx, all, ask, func(fs []graph.Flow) error {
					for _, f := range fs {
						texts[i] = append(texts[i], fmt.Sprintf("%d %d %s %s %s %v %v", layer, dir, f.From, f.To, f.Kinds, f.Coarse, f.By))
					}
					return nil
				}); err != nil {
					return err
				}
			}
		}
		if err := v.Close(); err != nil {
			return err
		}
		slices.Sort(texts[i])
	}
	if len(texts[1]) == 0 {
		return fmt.Errorf("there are no flows to compare")
	}
	if !slices.Equal(texts[0], texts[1]) {
		only := func(a, b []string) string {
			var list []string
			for _, line := range a {
				if _, ok := slices.BinarySearch(b, line); !ok && len(list) < 5 {
					list = append(list, line)
				}
			}
			return strings.Join(list, "\n")
		}
		return fmt.Errorf("flows differ: %d and %d; only in the first:\n%s\nonly in the second:\n%s", len(texts[0]), len(texts[1]), only(texts[0], texts[1]), only(texts[1], texts[0]))
	}
	return nil
}
