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
	take := func(raw Raw, r Rank) (bool, error) {
		node, ok, err := v.found(ctx, raw, &q, text, r, given)
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
	}
	if !v.costly() {
		err = v.raw.Search(ctx, text, after, func(r Rank) (bool, error) { return take(v.raw, r) })
		return page, err
	}
	var ranks []Rank // to be looked at together
	more := true
	look := func() (bool, error) {
		raw, err := v.aheadOf(ctx, &q, ranks)
		for i := 0; i < len(ranks) && more && err == nil; i++ {
			more, err = take(raw, ranks[i])
		}
		ranks = ranks[:0]
		return more, err
	}
	err = v.raw.Search(ctx, text, after, func(r Rank) (bool, error) {
		if ranks = append(ranks, r); len(ranks) <= q.Limit {
			return true, nil
		}
		return look()
	})
	if err == nil && more && len(ranks) > 0 {
		_, err = look()
	}
	return page, err
}

// aheadOf reads what is known of all that ranks may be answers for.
func (v *view) aheadOf(ctx context.Context, q *Query, ranks []Rank) (Raw, error) {
	var bases []ID
	for _, r := range ranks {
		if !q.Wants(r.ID) {
			continue
		}
		node, live, err := v.live(r.ID, false)
		if err != nil {
			return nil, err
		}
		if live {
			bases = append(bases, node.Base())
		}
	}
	slices.SortFunc(bases, ID.Compare)
	return v.ahead(ctx, slices.Compact(bases), 0)
}

// found returns the node that a name which matches is an answer for: the node
// itself, or, where only another name of it matches, the node it stands for.
func (v *view) found(ctx context.Context, raw Raw, q *Query, text string, r Rank, given map[ID]bool) (ID, bool, error) {
	if !q.Wants(r.ID) {
		return ID{}, false, nil
	}
	node, live, err := v.live(r.ID, false)
	if err != nil || !live || given[node] {
		return ID{}, false, err
	}
	match := true
	if node != r.ID {
		err := raw.Names(ctx, []ID{node}, func(id ID, n Name) error {
			match = RankName(SearchText(n), text, id).Class == NoMatch
			return nil
		})
		if err != nil || !match {
			return ID{}, false, err
		}
	}
	match = false
	err = v.group(ctx, raw, node.Base(), []ID{node}, 0, func(n Node) error {
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
