package api

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"headwater/graph"
)

// A query resolves the fields of Query.
type query struct {
	o    *Options
	walk walk
}

// A walk finds the lineage of a node: graph.GetLineage, but where answers are
// prepared to be measured.
type walk func(context.Context, graph.View, graph.Question) (*graph.Answer, error)

// Node is Query.node.
func (q *query) Node(ctx context.Context, of NodeRef) (node, error) {
	s := sessionOf(ctx)
	st, err := s.view(ctx, graph.At{})
	if err != nil {
		return nil, err
	}
	found, gaps, err := s.find(ctx, st, "of", of, selected(ctx).enough())
	if f, ok := err.(*fault); ok && f.code == codeNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	l, err := q.list(ctx, s, st, selected(ctx), []graph.ID{found.ID}, gaps)
	if err != nil {
		return nil, fmt.Errorf("node %s: %w", found.Name, err)
	}
	return l.node(found.ID), nil
}

// list loads nodes, and reports what could not be asked beside the field.
func (q *query) list(ctx context.Context, s *session, st *state, sel selection, ids []graph.ID, gaps []graph.Gap) (*list, error) {
	reading, cancel := s.reading(ctx)
	defer cancel()
	l, more, err := newList(reading, s, st, sel, ids)
	if err != nil {
		return nil, err
	}
	reportGaps(ctx, append(gaps, more...))
	return l, nil
}

// Search is Query.search.
func (q *query) Search(ctx context.Context, text string, kinds []NodeKind, namespace, tag *string, first *int, after *string) (*NodeConnection, error) {
	n, err := checkFirst(first, 20)
	if err != nil {
		return nil, err
	}
	if kinds != nil && len(kinds) == 0 {
		return nil, badInput("kinds: an empty list leaves nothing to find; leave it out for all kinds")
	}
	s := sessionOf(ctx)
	st, err := s.view(ctx, graph.At{})
	if err != nil {
		return nil, err
	}
	reading, cancel := s.reading(ctx)
	defer cancel()
	found, err := st.Find(reading, graph.Query{
		Text: text, Namespace: deref(namespace), Tag: deref(tag), Limit: n, After: deref(after),
		DataStores: slices.Contains(kinds, NodeKindDatastore), Columns: slices.Contains(kinds, NodeKindColumn), Processes: slices.Contains(kinds, NodeKindProcess),
	})
	if err != nil {
		return nil, fmt.Errorf("search for %q: %w", clip(text), err)
	}
	l, err := q.list(ctx, s, st, selected(ctx).at("nodes"), found.IDs, found.Gaps)
	if err != nil {
		return nil, fmt.Errorf("search for %q: %w", clip(text), err)
	}
	return &NodeConnection{Nodes: l.nodes(found.IDs), PageInfo: &PageInfo{HasNextPage: found.Next != "", EndCursor: optional(found.Next)}}, nil
}

// A paths is Paths.
type paths struct {
	Paths    [][]graph.ID
	Nodes    []node
	Complete bool
	Gaps     []graph.Gap
}

// Paths is Query.paths.
func (q *query) Paths(ctx context.Context, from, to NodeRef, granularity graph.Granularity, dependencies []graph.Kinds, asOf *string, maxDepth, first int) (*paths, error) {
	if maxDepth < 0 {
		return nil, badInput("maxDepth: is %d; a path has 0 hops or more", maxDepth)
	}
	if _, err := checkFirst(&first, 0); err != nil {
		return nil, err
	}
	kinds, err := parseKinds(dependencies, nil)
	if err != nil {
		return nil, err
	}
	at, err := parseAt(asOf, nil)
	if err != nil {
		return nil, err
	}
	s := sessionOf(ctx)
	st, err := s.view(ctx, at)
	if err != nil {
		return nil, err
	}
	question := graph.PathQuestion{Granularity: granularity, Kinds: kinds, MaxDepth: maxDepth, First: first}
	var gaps []graph.Gap
	for _, end := range []struct {
		arg string
		ref NodeRef
		id  *graph.ID
	}{{"from", from, &question.From}, {"to", to, &question.To}} {
		n, g, err := s.find(ctx, st, end.arg, end.ref, 0)
		if err != nil {
			return nil, err
		}
		if process := n.ID.Kind() == graph.ProcessKind; process != (granularity == graph.Processes) {
			return nil, badInput("%s: is a %s; paths between processes need the granularity PROCESS, others need another", end.arg, kindOf(n.ID))
		}
		*end.id, gaps = n.ID, append(gaps, g...)
	}
	walk, cancel := s.within(ctx, walkShare)
	defer cancel()
	found, err := graph.GetPaths(walk, st.View, question)
	if err != nil {
		return nil, fmt.Errorf("paths from %s to %s: %w", question.From, question.To, err)
	}
	reading, cancel := s.reading(ctx)
	defer cancel()
	ids := found.IDs()
	l, more, err := newList(reading, s, st, selected(ctx).at("nodes"), ids)
	if err != nil {
		return nil, fmt.Errorf("paths from %s to %s: %w", question.From, question.To, err)
	}
	p := &paths{Paths: found.Paths, Nodes: l.nodes(ids), Gaps: joinGaps(gaps, found.Gaps, more)}
	if p.Complete = found.Complete && len(p.Gaps) == 0; !p.Complete {
		s.unsteady() // time may have been up
	}
	return p, nil
}

// Regions is Query.regions.
func (q *query) Regions(ctx context.Context) ([]*Region, error) {
	s := sessionOf(ctx)
	var regions []*Region
	if q.o.Regions != nil {
		reading, cancel := s.reading(ctx)
		defer cancel()
		for _, r := range q.o.Regions(reading) {
			region := newRegion(r.Name, graph.Mark{Position: r.Position, Revision: r.Revision})
			region.Healthy = r.Healthy
			if lag := r.Lag.Seconds(); r.Lag >= 0 {
				region.LagSeconds = &lag
			}
			regions = append(regions, region)
		}
		return regions, nil
	}
	st, err := s.view(ctx, graph.At{})
	if err != nil {
		return nil, err
	}
	marks := st.Marks()
	for _, name := range slices.Sorted(maps.Keys(marks)) {
		regions = append(regions, newRegion(name, marks[name]))
	}
	return regions, nil
}

func newRegion(name string, m graph.Mark) *Region {
	return &Region{Name: name, Healthy: true, Revision: fmt.Sprintf("%s#%d", name, m.Revision), Position: fmt.Sprintf("%s@%d", name, m.Position)}
}

// AliasConflicts is Query.aliasConflicts.
func (q *query) AliasConflicts(ctx context.Context, first *int, after *string) (*AliasConflictConnection, error) {
	n, err := checkFirst(first, 100)
	if err != nil {
		return nil, err
	}
	last, err := parseIDCursor(after)
	if err != nil {
		return nil, err
	}
	s := sessionOf(ctx)
	st, err := s.view(ctx, graph.At{})
	if err != nil {
		return nil, err
	}
	reading, cancel := s.reading(ctx)
	defer cancel()
	found, gaps, err := st.Conflicts(reading, last, n+1)
	if err != nil {
		return nil, fmt.Errorf("alias conflicts: %w", err)
	}
	reportGaps(ctx, gaps)
	page := &AliasConflictConnection{PageInfo: &PageInfo{HasNextPage: len(found) > n}}
	for _, c := range found[:min(n, len(found))] {
		conflict := &AliasConflict{Name: reported(c.Name)}
		for _, t := range c.Targets {
			conflict.Targets = append(conflict.Targets, reported(t))
		}
		page.Nodes = append(page.Nodes, conflict)
		page.PageInfo.EndCursor = &conflict.Name.ID
	}
	return page, nil
}

func reported(n graph.Name) *ReportedName {
	return &ReportedName{ID: n.ID().String(), Region: optional(n.Region), Namespace: n.Namespace, Name: n.Name}
}
