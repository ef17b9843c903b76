package federation

import (
	"context"
	"slices"

	"headwater/graph"
)

// A match is a node that a search found, and how well.
type match struct {
	node graph.ID
	rank graph.Rank
}

// Find implements graph.View: each region searches, and the best of all are
// the page. What could not be asked is left out.
func (v *view) Find(ctx context.Context, q graph.Query) (graph.Page, error) {
	v.unsteady(true)
	pages := make(map[string]graph.Page, len(v.regions))
	all := v.all()
	if _, err := v.ask(ctx, all, func(ctx context.Context, r *region, opened graph.LegView) error {
		p, err := opened.Find(ctx, q)
		if err != nil {
			return err
		}
		v.mu.Lock()
		defer v.mu.Unlock()
		pages[r.Name] = p
		for _, id := range p.IDs {
			v.home[id.Base()] = r.Name
		}
		v.forget()
		return nil
	}); err != nil {
		return graph.Page{}, err
	}
	var ids []graph.ID
	more := false
	for _, r := range all {
		ids = append(ids, pages[r].IDs...)
		more = more || pages[r].Next != ""
	}
	if _, err := v.Nodes(ctx, ids, 0, func(graph.Node) error { return nil }); err != nil {
		return graph.Page{}, err
	}
	after, err := graph.ParseRank(q.After)
	if err != nil {
		return graph.Page{}, err
	}
	found := v.matches(ids, graph.FoldText(q.Text))
	slices.SortFunc(found, func(a, b match) int { return a.rank.Compare(b.rank) })
	var page graph.Page
	for _, m := range found {
		if m.rank.Compare(after) <= 0 {
			continue
		}
		if len(page.IDs) == q.Limit {
			more = true
			break
		}
		page.IDs = append(page.IDs, m.node)
		page.Next = m.rank.String()
	}
	if !more {
		page.Next = ""
	}
	return page, nil
}

// matches ranks what regions have found. A node that several have is found
// where it is at home, unless it has another name elsewhere that alone matches.
func (v *view) matches(ids []graph.ID, text string) []match {
	v.mu.Lock()
	defer v.mu.Unlock()
	rank := func(id graph.ID) (graph.Rank, bool) {
		d := v.details[holder{v.home[id.Base()], id}]
		if d == nil || d.Node == nil {
			return graph.Rank{Class: graph.NoMatch}, false
		}
		return graph.RankName(graph.SearchText(d.Name), text, id), true
	}
	best := map[graph.ID]graph.Rank{}
	for _, id := range ids {
		node := v.node(id)
		r, ok := rank(id)
		if home, known := rank(node); node != id && known && home.Class != graph.NoMatch || !ok || r.Class == graph.NoMatch {
			continue
		}
		if was, ok := best[node]; !ok || r.Compare(was) < 0 {
			best[node] = r
		}
	}
	found := make([]match, 0, len(best))
	for node, r := range best {
		found = append(found, match{node, r})
	}
	return found
}

// all lists the regions.
func (v *view) all() []string {
	names := make([]string, len(v.regions))
	for i, r := range v.regions {
		names[i] = r.Name
	}
	return names
}

// Conflicts implements graph.View.
func (v *view) Conflicts(ctx context.Context, after graph.ID, limit int) ([]graph.Conflict, error) {
	v.unsteady(true)
	of := map[string][]graph.Conflict{}
	all := v.all()
	if _, err := v.ask(ctx, all, func(ctx context.Context, r *region, opened graph.LegView) error {
		own, err := opened.Conflicts(ctx, after, limit)
		v.mu.Lock()
		defer v.mu.Unlock()
		of[r.Name] = own
		return err
	}); err != nil {
		return nil, err
	}
	var conflicts []graph.Conflict
	for _, r := range all {
		conflicts = append(conflicts, of[r]...)
	}
	slices.SortFunc(conflicts, func(a, b graph.Conflict) int {
		return a.Name.ID().Compare(b.Name.ID())
	})
	return conflicts[:min(limit, len(conflicts))], nil
}
