package graph

import (
	"context"
	"slices"
)

// A Question asks for the lineage of one node.
type Question struct {
	Root        ID
	Direction   Direction
	Granularity Granularity
	Depth       int
	Kinds       Kinds // 0: all but Control
	Filter      NodeFilter
	// Limit is how many nodes at most, nearest first; 0 is no limit.
	Limit int
	// After goes on after a truncated answer.
	After string
	// NodesOnly leaves out the edges.
	NodesOnly bool
}

// An Answer is the lineage of a node.
type Answer struct {
	Root ID
	// Nodes are sorted by distance, then id.
	Nodes []AnswerNode
	// Edges are sorted by their ends. An edge stands on the page of its later
	// end, or on a later one where it closes a cycle; on one page in any case.
	// An edge through hidden nodes may have sources that only a later page
	// would find.
	Edges     []Edge
	Truncated *Truncation
	// Changed: the graph moved between this page and the one before.
	Changed bool
	Gaps    []Gap
	// Filtered counts the nodes that the filter hid.
	Filtered int
	Marks    map[string]Mark
}

// Complete reports whether nothing was cut or out of reach.
func (a *Answer) Complete() bool { return a.Truncated == nil && len(a.Gaps) == 0 }

// An AnswerNode is a node and its hops from the root: Upstream and Downstream
// are -1 where it lies not that way. Of a node that lies both ways an answer
// that was cut may have one of them alone.
type AnswerNode struct {
	ID                   ID
	Upstream, Downstream int
}

// Distance is negative upstream and positive downstream; the smaller where
// both, downstream on ties.
func (n AnswerNode) Distance() int {
	if n.Downstream >= 0 && (n.Upstream < 0 || n.Downstream <= n.Upstream) {
		return n.Downstream
	}
	return -n.Upstream
}

// A Truncation says why an answer was cut, and how to go on where one can.
type Truncation struct{ Reason, After string }

// The reasons of truncations.
const (
	CutLimit    = "LIMIT"
	CutDeadline = "DEADLINE"
	CutEdges    = "EDGES"
)

// GetLineage answers a question over any view. When ctx ends before the
// answer is whole, what was found so far, nearest first, is the answer, and
// it says so.
func GetLineage(ctx context.Context, v View, q Question) (a *Answer, err error) {
	lacking, err := walking(ctx, v, q.Leg(), func(v View) error {
		a, err = lineage(ctx, v, q)
		return err
	})
	for _, gap := range lacking {
		if !slices.Contains(a.Gaps, gap) {
			a.Gaps = append(a.Gaps, gap)
		}
	}
	return a, err
}

func lineage(ctx context.Context, v View, q Question) (*Answer, error) {
	root, err := v.Resolve(ctx, q.Root)
	if err != nil {
		return nil, err
	}
	if q.Root = root; q.Granularity == DataStores {
		q.Root = root.Base()
	}
	a := &Answer{Root: q.Root, Marks: v.Marks()}
	g := newGatherer(v, q)
	defer g.release()
	if q.After != "" {
		c, id, err := parseCursor(q.After, q.hash())
		if err != nil {
			return nil, err
		}
		g.skip = place{int32(c.Level), id}
		a.Changed = c.Marks != hashMarks(a.Marks)
	}
	if err := g.start(ctx); err != nil {
		return nil, err
	}
	if err := g.walk(ctx); err != nil {
		return nil, err
	}
	if w, ok := v.(Walking); ok && w.Missed(ctx) {
		return a, nil // it is asked again, with more
	}
	g.finish(a)
	return a, nil
}
