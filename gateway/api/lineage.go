package api

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"headwater/graph"
)

// A lineage is Lineage.
type lineage struct {
	Root      node
	nodes     *list
	found     []graph.AnswerNode
	edges     *edges
	Complete  bool
	Truncated *Truncation
	Changed   bool
	Gaps      []graph.Gap
	Hidden    *Hidden
	Revision  string
}

// Nodes is Lineage.nodes.
func (l *lineage) Nodes() []lineageNode {
	nodes := make([]lineageNode, len(l.found))
	for i, n := range l.found {
		nodes[i] = lineageNode{l.nodes, n}
	}
	return nodes
}

// Edges is Lineage.edges.
func (l *lineage) Edges() []lineageEdge {
	edges := make([]lineageEdge, 0, len(l.edges.edges))
	l.edges.each(func(e *lineageEdge) { edges = append(edges, *e) })
	return edges
}

// A lineageNode is LineageNode.
type lineageNode struct {
	list *list
	graph.AnswerNode
}

// Node is LineageNode.node.
func (n *lineageNode) Node() node { return n.list.node(n.ID) }

// Upstream is LineageNode.upstream.
func (n *lineageNode) Upstream() *int { return hops(n.AnswerNode.Upstream) }

// Downstream is LineageNode.downstream.
func (n *lineageNode) Downstream() *int { return hops(n.AnswerNode.Downstream) }

func hops(n int) *int {
	if n < 0 {
		return nil
	}
	return &n
}

// A lineageEdge is LineageEdge.
type lineageEdge struct {
	*graph.Edge
	kinds       graph.Kinds // to show
	viaGlobal   *string
	CrossRegion bool
	Sources     []flowSource
}

// Kinds is LineageEdge.kinds.
func (e *lineageEdge) Kinds() []graph.Kinds { return eachOf(e.kinds) }

// eachOf lists the kinds of a set.
func eachOf(set graph.Kinds) (kinds []graph.Kinds) {
	for ; set != 0; set &= set - 1 {
		kinds = append(kinds, set&-set)
	}
	return kinds
}

// ViaGlobal is LineageEdge.viaGlobal.
func (e *lineageEdge) ViaGlobal() *string { return e.viaGlobal }

// walkShare is the part of the time left that a walk may take: what it found
// by then has still to be described.
const walkShare = 0.8

// bounds says what is wrong with how far a walk is to go.
func (q *query) bounds(depth, limit int) error {
	if depth < 0 {
		return badInput("depth: is %d; a walk has 0 hops or more", depth)
	}
	if limit < 1 || limit > q.o.MaxLimit {
		return badInput("limit: is %d; an answer holds 1 to %d nodes", limit, q.o.MaxLimit)
	}
	return nil
}

// Lineage is Query.lineage.
func (q *query) Lineage(ctx context.Context, of NodeRef, direction graph.Direction, granularity graph.Granularity, depth int,
	dependencies []graph.Kinds, filter *LineageFilter, asOf, atLeast *string, limit int, after *string) (*lineage, error) {
	if err := q.bounds(depth, limit); err != nil {
		return nil, err
	}
	question := graph.Question{Direction: direction, Granularity: granularity, Depth: depth, Limit: limit, After: deref(after), Filter: nodeFilter(filter),
		NodesOnly: !selected(ctx).has("edges")}
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
	sel := selected(ctx)
	want := sel.at("nodes", "node").and(sel.at("root")).enough()
	if sel.at("edges").hasOther("__typename", "from", "to", "kinds", "coarse") {
		want &^= graph.WantBrief
	}
	s.expect(st, of, &question, want)
	root, gaps, err := s.find(ctx, st, "of", of, want)
	if err != nil {
		return nil, err
	}
	question.Root = root.ID
	walk, cancel := s.within(ctx, walkShare)
	defer cancel()
	answer, err := q.walk(walk, st.View, question)
	if err != nil {
		return nil, fmt.Errorf("lineage of %s: %w", root.Name, err)
	}
	l := &lineage{Changed: answer.Changed, Hidden: &Hidden{Filtered: answer.Filtered}, Revision: revisions(answer.Marks)}
	if t := answer.Truncated; t != nil && t.Reason == graph.CutDeadline || selected(ctx).has("revision") {
		s.unsteady()
	}
	if t := answer.Truncated; t != nil {
		l.Truncated = &Truncation{Reason: t.Reason, After: optional(t.After)}
	}
	more, err := l.describe(ctx, s, st, answer, granularity)
	if err != nil {
		return nil, fmt.Errorf("describe the lineage of %s: %w", root.Name, err)
	}
	l.Gaps = joinGaps(st.behind, gaps, answer.Gaps, more)
	if len(l.Gaps) > 0 {
		s.unsteady()
	}
	l.Complete = answer.Truncated == nil && len(l.Gaps) == 0
	return l, nil
}

// expect tells a view over regions what will be asked, before its root is
// looked for: so that root, walk and details come in the same rounds.
func (s *session) expect(st *state, of NodeRef, q *graph.Question, want graph.Want) {
	remote, ok := st.View.(graph.Expecting)
	if !ok {
		return
	}
	w, err := parseRef("of", of, slices.Sorted(maps.Keys(st.Marks())))
	if err != nil {
		return // find says so
	}
	leg := q.Leg()
	leg.Details, leg.Want = true, want
	if w.names != nil {
		remote.Expect(leg, nil, w.names)
	} else {
		remote.Expect(leg, []graph.ID{w.id}, nil)
	}
}

// describe loads what is selected of the nodes and edges of an answer: the
// nodes in one read, the processes of the edges in another, and what they say
// in a third.
func (l *lineage) describe(ctx context.Context, s *session, st *state, answer *graph.Answer, granularity graph.Granularity) ([]graph.Gap, error) {
	ctx, cancel := s.reading(ctx)
	defer cancel()
	sel := selected(ctx)
	ids := s.work.takeIDs(len(answer.Nodes) + 1)
	for _, n := range answer.Nodes {
		ids = append(ids, n.ID)
	}
	if !slices.Contains(ids, answer.Root) { // of which another page has it
		ids = append(ids, answer.Root)
	}
	e := newEdges(s, st, answer, granularity, sel.at("edges"))
	nodes, gaps, err := newList(ctx, s, st, sel.at("nodes", "node").and(sel.at("root")), ids, e.needs()...)
	if err != nil {
		return nil, err
	}
	l.Root = nodes.node(answer.Root)
	if l.nodes, l.found, l.edges = nodes, answer.Nodes, e; sel.has("edges") {
		more, err := e.load(ctx, nodes.facts)
		if err != nil {
			return nil, err
		}
		gaps = append(gaps, more...)
	}
	return gaps, nil
}
