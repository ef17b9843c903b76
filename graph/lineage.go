package graph

import (
	"cmp"
	"context"
	"errors"
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
	level                int
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
func GetLineage(ctx context.Context, v View, q Question) (*Answer, error) {
	root, err := v.Resolve(ctx, q.Root)
	if err != nil {
		return nil, err
	}
	if q.Root = root; q.Granularity == DataStores {
		q.Root = root.Base()
	}
	a := &Answer{Root: q.Root, Marks: v.Marks()}
	skip := AnswerNode{level: -1}
	if q.After != "" {
		c, id, err := parseCursor(q.After, q.hash())
		if err != nil {
			return nil, err
		}
		skip = AnswerNode{ID: id, level: c.Level}
		a.Changed = c.Marks != hashMarks(a.Marks)
	}
	g := &gatherer{view: v, q: q, skip: skip, nodes: map[ID]*AnswerNode{}, hidden: map[ID]bool{}}
	if err := g.start(ctx); err != nil {
		return nil, err
	}
	if err := g.walk(ctx); err != nil {
		return nil, err
	}
	g.finish(a)
	return a, nil
}

// A gatherer makes one answer of one or two walks.
type gatherer struct {
	view   View
	q      Question
	skip   AnswerNode
	walks  []*walker
	nodes  map[ID]*AnswerNode
	hidden map[ID]bool
	extra  []Edge // between a process that is the root and what it uses
	gaps   []Gap
	after  int // nodes beyond skip
	level  int // levels that all running walks have finished
	late   bool
}

func compareNodes(a, b AnswerNode) int {
	return cmp.Or(cmp.Compare(a.level, b.level), a.ID.Compare(b.ID))
}

// start finds the seeds. A data store stands for its columns. A process
// stands for what it writes, and its own flows are the first hop upstream; a
// data store among processes is one hop from its producers and consumers.
func (g *gatherer) start(ctx context.Context) error {
	q := g.q
	g.nodes[q.Root] = &AnswerNode{ID: q.Root, Upstream: -1, Downstream: -1}
	for _, dir := range []Direction{Upstream, Downstream} {
		if q.Direction != Both && q.Direction != dir {
			continue
		}
		o := WalkOptions{Direction: dir, Granularity: q.Granularity, Depth: q.Depth, Kinds: q.Kinds, Origins: q.Filter.Origins, ThroughDeleted: q.Filter.ThroughDeleted}
		if q.Filter.selects() {
			o.Keep = g.keep
		}
		seeds := []Seed{{ID: q.Root}}
		switch process := q.Root.Kind() == ProcessKind; {
		case process && q.Granularity != Processes:
			written, err := g.uses(ctx, q.Root, Downstream)
			if err != nil {
				return err
			}
			seeds = seeds[:0]
			for _, id := range written {
				seeds = append(seeds, Seed{ID: id})
			}
			if len(seeds) > 0 {
				o.First = q.Root
				if dir == Downstream {
					o.First = ID{}
				}
				break
			}
			if dir == Upstream {
				read, err := g.uses(ctx, q.Root, Upstream)
				if err != nil {
					return err
				}
				for _, id := range read {
					seeds = append(seeds, Seed{ID: id, Distance: 1})
					g.extra = append(g.extra, Edge{From: id, To: q.Root, Coarse: q.Granularity == Columns})
				}
			}
		case !process && q.Granularity == Processes:
			used, err := g.uses(ctx, q.Root.Base(), dir)
			if err != nil {
				return err
			}
			seeds = seeds[:0]
			for _, id := range used {
				seeds = append(seeds, Seed{ID: id, Distance: 1})
				e := Edge{From: q.Root, To: id}
				if dir == Upstream {
					e = Edge{From: id, To: q.Root}
				}
				g.extra = append(g.extra, e)
			}
		}
		if q.Depth < 1 {
			seeds = slices.DeleteFunc(seeds, func(s Seed) bool { return s.Distance > 0 })
			g.extra = nil
		}
		g.walks = append(g.walks, newWalker(g.view, seeds, o))
	}
	return nil
}

// uses lists what one node uses, or is used by.
func (g *gatherer) uses(ctx context.Context, id ID, dir Direction) ([]ID, error) {
	to, gaps, err := Uses(ctx, g.view, []ID{id}, dir, g.q.Filter.ThroughDeleted)
	g.gaps = append(g.gaps, gaps...)
	return to[id], err
}

// walk steps the walks in turn, level by level, until each is done or has
// enough for the page.
func (g *gatherer) walk(ctx context.Context) error {
	for {
		running := false
		for _, w := range g.walks {
			if w.done || w.cut {
				continue
			}
			running = true
			steps, err := w.step(ctx)
			if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
				g.late = true
				return nil
			}
			if err != nil {
				return err
			}
			g.note(w, steps)
		}
		g.level++
		if !running || g.q.Limit > 0 && g.after > g.q.Limit {
			return nil
		}
	}
}

func (g *gatherer) note(w *walker, steps []Step) {
	for _, s := range steps {
		n := g.nodes[s.ID]
		if n == nil {
			n = &AnswerNode{ID: s.ID, Upstream: -1, Downstream: -1, level: s.Level}
			g.nodes[s.ID] = n
			if compareNodes(*n, g.skip) > 0 && !g.hidden[s.ID] {
				g.after++
			}
		}
		if w.o.Direction == Upstream {
			n.Upstream = s.Distance
		} else {
			n.Downstream = s.Distance
		}
	}
}

// keep hides what the filter does not let through.
func (g *gatherer) keep(ctx context.Context, ids []ID) ([]ID, error) {
	match, err := g.q.Filter.match(ctx, g.view, ids)
	if err != nil {
		return nil, err
	}
	var kept []ID
	for _, id := range ids {
		if id == g.q.Root || match[id] {
			kept = append(kept, id)
			continue
		}
		g.hidden[id] = true
		if g.q.Filter.PassThrough {
			kept = append(kept, id)
		}
	}
	return kept, nil
}

// finish cuts, sorts and joins what the walks found into the answer.
func (g *gatherer) finish(a *Answer) {
	if root := g.nodes[g.q.Root]; root.Upstream < 0 && root.Downstream < 0 || root.level == 0 {
		root.level = 0
		if g.q.Direction != Downstream {
			root.Upstream = 0
		}
		if g.q.Direction != Upstream {
			root.Downstream = 0
		}
	}
	var nodes []AnswerNode
	var edges map[edgeKey]*Edge
	cutEdges := false
	for i, w := range g.walks {
		cutEdges = cutEdges || w.cut
		g.gaps = append(g.gaps, w.gaps...)
		if i == 0 {
			edges = w.edges
			continue
		}
		for k, e := range w.edges {
			mergeEdge(edges, k, e)
		}
	}
	for _, gap := range g.gaps {
		if !slices.Contains(a.Gaps, gap) {
			a.Gaps = append(a.Gaps, gap)
		}
	}
	for i := range g.extra {
		mergeEdge(edges, edgeKey{g.extra[i].From, g.extra[i].To}, &g.extra[i])
	}
	stopped := g.late
	for _, w := range g.walks {
		stopped = stopped || !w.done
	}
	for _, n := range g.nodes {
		// Levels that one of two walks has not finished are not whole.
		if !g.hidden[n.ID] && (!stopped || n.level < g.level) {
			nodes = append(nodes, *n)
		}
	}
	a.Filtered = len(g.hidden)
	contract(edges, g.hidden)
	slices.SortFunc(nodes, compareNodes)
	at := map[ID]int{}
	for i, n := range nodes {
		at[n.ID] = i
	}
	from, _ := slices.BinarySearchFunc(nodes, g.skip, func(n, s AnswerNode) int {
		if c := compareNodes(n, s); c != 0 {
			return c
		}
		return -1
	})
	to := len(nodes)
	if g.q.Limit > 0 && to-from > g.q.Limit {
		to = from + g.q.Limit
	}
	a.Nodes = nodes[from:to]
	for k, e := range edges {
		i, ok := at[k.from]
		j, ok2 := at[k.to]
		if !ok || !ok2 {
			continue
		}
		// An edge that closes a cycle may be found after both its ends: it
		// stands where all walks to that page have found it.
		found, _ := slices.BinarySearchFunc(nodes, e.level+1, func(n AnswerNode, level int) int {
			if n.level < level {
				return -1
			}
			return 1
		})
		pos := max(i, j, found)
		if pos >= from && pos < to || pos == len(nodes) && to == len(nodes) && !stopped {
			slices.SortFunc(e.Sources, func(a, b EdgeSource) int { return a.By.Compare(b.By) })
			a.Edges = append(a.Edges, *e)
		}
	}
	slices.SortFunc(a.Edges, compareEdges)
	if g.q.NodesOnly {
		a.Edges = nil
	}
	switch {
	case to < len(nodes):
		a.Truncated = &Truncation{Reason: CutLimit, After: g.cursor(nodes[to-1], a.Marks)}
	case cutEdges:
		a.Truncated = &Truncation{Reason: CutEdges}
	case stopped:
		last := g.skip
		if len(nodes) > 0 && to > 0 {
			last = nodes[to-1]
		}
		a.Truncated = &Truncation{Reason: CutDeadline, After: g.cursor(last, a.Marks)}
		if !g.late {
			a.Truncated.Reason = CutLimit
		}
	}
}

func (g *gatherer) cursor(n AnswerNode, marks map[string]Mark) string {
	return cursor{Level: n.level, ID: n.ID.String(), Question: g.q.hash(), Marks: hashMarks(marks)}.String()
}
