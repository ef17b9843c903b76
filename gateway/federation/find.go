package federation

import (
	"context"
	"fmt"
	"slices"
	"time"

	"headwater/graph"
)

// A match is a node that a search found, and how well.
type match struct {
	node graph.ID
	rank graph.Rank
}

// Find implements graph.View: each region searches, and the best of all are
// the page. Names that several regions
// have of one node are found once, so that a page may take several rounds.
func (v *view) Find(ctx context.Context, q graph.Query) (page graph.Page, err error) {
	v.unsteady(true)
	after, err := graph.ParseRank(q.After)
	if err != nil {
		return page, err
	}
	by := until(ctx)
	for {
		ids, upTo, more, err := v.search(ctx, by, q, after, &page)
		if err != nil {
			return graph.Page{}, err
		}
		lacking, err := v.Nodes(ctx, ids, 0, func(graph.Node) error { return nil })
		if err != nil {
			return graph.Page{}, err
		}
		page.Gaps = joined(page.Gaps, lacking)
		found := v.matches(ids, &q)
		slices.SortFunc(found, func(a, b match) int { return a.rank.Compare(b.rank) })
		for _, m := range found {
			if m.rank.Compare(after) <= 0 || more && m.rank.Compare(upTo) > 0 {
				continue
			}
			if len(page.IDs) == q.Limit {
				return page, nil // Next is of the last that has a place
			}
			page.IDs, page.Next = append(page.IDs, m.node), m.rank.String()
		}
		if !more {
			page.Next = ""
			return page, nil
		}
		if after, q.After = upTo, upTo.String(); len(page.IDs) == q.Limit {
			page.Next = q.After
			return page, nil
		}
	}
}

// search asks each region for its next matches. Up to a rank no region has any
// others; more: behind it there may be. What could not be asked becomes gaps of
// the page.
func (v *view) search(ctx context.Context, by time.Time, q graph.Query, after graph.Rank, page *graph.Page) (ids []graph.ID, upTo graph.Rank, more bool, err error) {
	pages := make(map[*region]graph.Page, len(v.regions))
	gaps, err := v.ask(ctx, by, v.regions, func(ctx context.Context, r *region, opened graph.LegView) error {
		p, err := opened.Find(ctx, q)
		if err != nil {
			return err
		}
		v.mu.Lock()
		defer v.mu.Unlock()
		pages[r] = p
		for _, id := range p.IDs {
			v.about(id).base.home = r
		}
		v.forget()
		v.lags(r, p.Gaps)
		return nil
	})
	if err != nil {
		return nil, upTo, false, err
	}
	page.Gaps = joined(page.Gaps, v.lacks(gaps))
	for _, r := range v.regions {
		p := pages[r]
		ids = append(ids, p.IDs...)
		if p.Next == "" {
			continue
		}
		last, err := graph.ParseRank(p.Next)
		if err != nil || last.Compare(after) <= 0 {
			return nil, upTo, false, fmt.Errorf("search region %q after %q: its next page begins at %q", r.Name, q.After, p.Next)
		}
		if !more || last.Compare(upTo) < 0 {
			upTo, more = last, true
		}
	}
	return ids, upTo, more, nil
}

// matches ranks what regions have found. A node that several have is found
// under its own name where that matches at home, else under the best of those
// that are found elsewhere.
func (v *view) matches(ids []graph.ID, q *graph.Query) (found []match) {
	v.mu.Lock()
	defer v.mu.Unlock()
	text := graph.FoldText(q.Text)
	ranked := map[graph.ID]bool{}
	for _, id := range ids {
		a := v.nodeOf(v.about(id))
		node := a.id
		if ranked[node] || v.gone(a) {
			continue
		}
		ranked[node] = true
		best := graph.Rank{Class: graph.NoMatch}
		for _, h := range v.holders(a) {
			h = v.column(h, a)
			n := h.detail.Node
			if n == nil || !finds(n, q) {
				continue
			}
			r := rankNode(n, text)
			if h.of.id == node && r.ID == node && r.Class != graph.NoMatch {
				best = r
				break
			}
			if r.Compare(best) < 0 {
				best = r
			}
		}
		if best.Class != graph.NoMatch {
			found = append(found, match{node, best})
		}
	}
	return found
}

// finds reports whether a region that has a node finds it, if its name matches.
func finds(n *graph.Node, q *graph.Query) bool {
	return n.Deleted == 0 && (q.Namespace == "" || n.Name.Namespace == q.Namespace) &&
		(q.Tag == "" || slices.ContainsFunc(n.Facts.Tags, func(t graph.Tag) bool { return graph.FoldText(t.Name) == graph.FoldText(q.Tag) }))
}

// rankNode ranks a node as a region does: by its own name, or where that does
// not match, by the best of its others.
func rankNode(n *graph.Node, text string) graph.Rank {
	best := graph.RankName(graph.SearchText(n.Name), text, n.ID)
	if best.Class != graph.NoMatch {
		return best
	}
	for _, a := range n.Aliases {
		if r := graph.RankName(graph.SearchText(a), text, a.ID()); r.Compare(best) < 0 {
			best = r
		}
	}
	return best
}

// Conflicts implements graph.View.
func (v *view) Conflicts(ctx context.Context, after graph.ID, limit int) ([]graph.Conflict, []graph.Gap, error) {
	v.unsteady(true)
	of := map[*region][]graph.Conflict{}
	gaps, err := v.ask(ctx, until(ctx), v.regions, func(ctx context.Context, r *region, opened graph.LegView) error {
		own, lacking, err := opened.Conflicts(ctx, after, limit)
		v.mu.Lock()
		defer v.mu.Unlock()
		of[r] = own
		v.lags(r, lacking)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	var conflicts []graph.Conflict
	for _, r := range v.regions {
		conflicts = append(conflicts, of[r]...)
	}
	slices.SortFunc(conflicts, func(a, b graph.Conflict) int {
		return a.Name.ID().Compare(b.Name.ID())
	})
	return conflicts[:min(limit, len(conflicts))], v.lacks(gaps), nil
}

// lacks is what answers of all regions lack, of whom some could not be asked.
func (v *view) lacks(gaps []graph.Gap) []graph.Gap {
	v.mu.Lock()
	defer v.mu.Unlock()
	gaps = joined(gaps, v.unheard)
	for _, r := range v.regions {
		gaps = joined(gaps, r.behind)
	}
	return gaps
}
