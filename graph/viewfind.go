package graph

import (
	"context"
	"slices"
)

func (v *view) Find(ctx context.Context, q Query) (Page, error) {
	text := FoldText(q.Text)
	after, err := ParseRank(q.After)
	if err != nil {
		return Page{}, err
	}
	var page Page
	var last Rank
	given := map[ID]bool{}
	err = v.raw.Search(ctx, text, after, func(r Rank) (bool, error) {
		node, ok, err := v.found(ctx, &q, text, r, given)
		if err != nil || !ok {
			return true, err
		}
		if len(page.IDs) == q.Limit {
			page.Next = last.String()
			return false, nil
		}
		page.IDs = append(page.IDs, node)
		last = r
		return true, ctx.Err()
	})
	return page, err
}

// found returns the node that a name which matches is an answer for: the node
// itself, or, where only another name of it matches, the node it stands for.
func (v *view) found(ctx context.Context, q *Query, text string, r Rank, given map[ID]bool) (ID, bool, error) {
	if !q.Wants(r.ID) {
		return ID{}, false, nil
	}
	node, live, err := v.live(r.ID, false)
	if err != nil || !live || given[node] {
		return ID{}, false, err
	}
	match := true
	if node != r.ID {
		err := v.raw.Names(ctx, []ID{node}, func(id ID, n Name) error {
			match = RankName(SearchText(n), text, id).Class == NoMatch
			return nil
		})
		if err != nil || !match {
			return ID{}, false, err
		}
	}
	match = false
	_, err = v.Nodes(ctx, []ID{node}, 0, func(n Node) error {
		match = n.Deleted == 0 && (q.Namespace == "" || n.Name.Namespace == q.Namespace) &&
			(q.Tag == "" || slices.ContainsFunc(n.Facts.Tags, func(t Tag) bool { return FoldText(t.Name) == FoldText(q.Tag) }))
		return nil
	})
	given[node] = match
	return node, match, err
}

func (v *view) Conflicts(ctx context.Context, after ID, limit int) ([]Conflict, []Gap, error) {
	var conflicts []Conflict
	err := v.raw.AliasedNames(ctx, after, func(id ID) (bool, error) {
		v.mu.Lock()
		ends, err := v.resolver.Contested(id)
		v.mu.Unlock()
		if err != nil || len(ends) == 0 {
			return true, err
		}
		names := map[ID]Name{}
		look := append([]ID{id}, ends...)
		slices.SortFunc(look, ID.Compare)
		if err := v.raw.Names(ctx, look, func(id ID, n Name) error {
			names[id] = n
			return nil
		}); err != nil {
			return false, err
		}
		c := Conflict{Name: names[id]}
		for _, e := range ends {
			c.Targets = append(c.Targets, names[e])
		}
		conflicts = append(conflicts, c)
		return len(conflicts) < limit, ctx.Err()
	})
	return conflicts, nil, err
}
