package api

import (
	"context"
	"fmt"
	"slices"

	"headwater/graph"
)

// A lineage is Lineage.
type lineage struct {
	Root      node
	Nodes     []lineageNode
	Edges     []lineageEdge
	Complete  bool
	Truncated *Truncation
	Changed   bool
	Gaps      []graph.Gap
	Hidden    *Hidden
	Revision  string
}

// A lineageNode is LineageNode.
type lineageNode struct {
	Node                 node
	Distance             int
	Upstream, Downstream *int
}

// A lineageEdge is LineageEdge.
type lineageEdge struct {
	From, To    graph.ID
	Kinds       []graph.Kinds
	Coarse      bool
	Sources     []flowSource
	CrossRegion bool
	ViaGlobal   *string
}

// walkShare is the part of the time left that a walk may take: what it found
// by then has still to be described.
const walkShare = 0.8

// Lineage is Query.lineage.
func (q *query) Lineage(ctx context.Context, of NodeRef, direction graph.Direction, granularity graph.Granularity, depth int,
	dependencies []graph.Kinds, filter *LineageFilter, asOf, atLeast *string, limit int, after *string) (*lineage, error) {
	if depth < 0 {
		return nil, badInput("depth: is %d; a walk has 0 hops or more", depth)
	}
	if limit < 1 || limit > q.o.MaxLimit {
		return nil, badInput("limit: is %d; an answer holds 1 to %d nodes", limit, q.o.MaxLimit)
	}
	question := graph.Question{Direction: direction, Granularity: granularity, Depth: depth, Limit: limit, After: deref(after), Filter: nodeFilter(filter)}
	var operators []string
	if filter != nil {
		operators = filter.Operators
	}
	var err error
	if question.Kinds, err = parseKinds(dependencies, operators); err != nil {
		return nil, err
	}
	at, err := parseAt(asOf, atLeast)
	if err != nil {
		return nil, err
	}
	s := sessionOf(ctx)
	st, err := s.view(ctx, at)
	if err != nil {
		return nil, err
	}
	root, gaps, err := s.find(ctx, st, "of", of)
	if err != nil {
		return nil, err
	}
	question.Root = root.ID
	walk, cancel := s.within(ctx, walkShare)
	defer cancel()
	answer, err := graph.GetLineage(walk, st, question)
	if err != nil {
		return nil, fmt.Errorf("lineage of %s: %w", root.Name, err)
	}
	l := &lineage{Changed: answer.Changed, Hidden: &Hidden{Filtered: answer.Filtered}, Revision: revisions(answer.Marks)}
	if t := answer.Truncated; t != nil {
		l.Truncated = &Truncation{Reason: t.Reason, After: optional(t.After)}
	}
	more, err := l.describe(ctx, s, st, answer, granularity)
	if err != nil {
		return nil, fmt.Errorf("describe the lineage of %s: %w", root.Name, err)
	}
	l.Gaps = joinGaps(st.behind, gaps, answer.Gaps, more)
	l.Complete = answer.Truncated == nil && len(l.Gaps) == 0
	return l, nil
}

// describe loads what is selected of the nodes and edges of an answer: the
// nodes in one read, the processes of the edges in another, and what they say
// in a third.
func (l *lineage) describe(ctx context.Context, s *session, st *state, answer *graph.Answer, granularity graph.Granularity) ([]graph.Gap, error) {
	ctx, cancel := s.reading(ctx)
	defer cancel()
	sel := selected(ctx)
	ids := make([]graph.ID, 0, len(answer.Nodes)+1)
	for _, n := range answer.Nodes {
		ids = append(ids, n.ID)
	}
	if !slices.Contains(ids, answer.Root) {
		ids = append(ids, answer.Root)
	}
	e := newEdges(s, st, answer, granularity, sel.at("edges"))
	nodes, gaps, err := newList(ctx, s, st, sel.at("nodes", "node").and(sel.at("root")), ids, e.needs()...)
	if err != nil {
		return nil, err
	}
	l.Root = nodes.node(answer.Root)
	if sel.has("nodes") {
		l.Nodes = make([]lineageNode, len(answer.Nodes))
		for i, n := range answer.Nodes {
			l.Nodes[i] = lineageNode{Node: nodes.node(n.ID), Distance: n.Distance(), Upstream: hops(n.Upstream), Downstream: hops(n.Downstream)}
		}
	}
	if sel.has("edges") {
		more, err := e.load(ctx, nodes.facts)
		if err != nil {
			return nil, err
		}
		gaps = append(gaps, more...)
		l.Edges = e.all()
	}
	return gaps, nil
}

func hops(n int) *int {
	if n < 0 {
		return nil
	}
	return &n
}
