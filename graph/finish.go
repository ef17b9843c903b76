package graph

import (
	"cmp"
	"math/bits"
	"slices"
)

// finish cuts, sorts and joins what the walks found into the answer.
func (g *gatherer) finish(a *Answer) {
	root := &g.nodes[0]
	if root.up, root.down = -1, -1; g.q.Direction != Downstream {
		root.up = 0
	}
	if g.q.Direction != Upstream {
		root.down = 0
	}
	stopped := g.late
	for _, w := range g.walks {
		g.gaps = append(g.gaps, w.gaps...)
		stopped = stopped || !w.done
	}
	for _, gap := range g.gaps {
		if !slices.Contains(a.Gaps, gap) {
			a.Gaps = append(a.Gaps, gap)
		}
	}
	// Levels that one of two walks has not finished are not whole.
	kept := slices.DeleteFunc(g.nodes, func(n gathered) bool {
		return n.h != g.root && (len(g.hidden) > 0 && g.hidden[n.h] || stopped && int(n.level) >= g.level)
	})
	nodes := g.inOrder(kept)
	from, _ := slices.BinarySearchFunc(nodes, g.skip, func(n answered, s place) int {
		return cmp.Or(n.place().compare(s), -1)
	})
	to := len(nodes)
	if g.q.Limit > 0 && to-from > g.q.Limit {
		to = from + g.q.Limit
	}
	a.Filtered = len(g.hidden)
	a.Nodes = make([]AnswerNode, to-from)
	for i := range a.Nodes {
		n := &nodes[from+i]
		a.Nodes[i] = AnswerNode{n.id, int(n.up), int(n.down)}
	}
	g.answerEdges(a, nodes, from, to, stopped)
	switch {
	case to < len(nodes):
		a.Truncated = &Truncation{Reason: CutLimit, After: g.cursor(nodes[to-1].place(), a.Marks)}
	case g.edges != nil && g.edges.cut:
		a.Truncated = &Truncation{Reason: CutEdges}
	case stopped:
		last := g.skip
		if to > 0 {
			last = nodes[to-1].place()
		}
		a.Truncated = &Truncation{Reason: CutDeadline, After: g.cursor(last, a.Marks)}
		if !g.late {
			a.Truncated.Reason = CutLimit
		}
	}
}

// answered is a node of an answer, and its id.
type answered struct {
	id ID
	gathered
}

func (n *answered) place() place { return place{n.level, n.id} }

// inOrder sorts nodes, which come level by level, by level and id.
func (g *gatherer) inOrder(nodes []gathered) []answered {
	g.hs, g.ids, g.sorted = sized(g.hs, len(nodes)), sized(g.ids, len(nodes)), sized(g.sorted, len(nodes))
	for i := range nodes {
		g.hs[i] = nodes[i].h
	}
	g.g.IDs(g.hs, g.ids)
	g.ids[0] = g.q.Root
	for from := 0; from < len(nodes); {
		to := from + 1
		for to < len(nodes) && nodes[to].level == nodes[from].level {
			to++
		}
		g.byID(g.ids[from:to])
		for i, at := range g.order {
			g.sorted[from+i] = answered{g.ids[from+int(at)], nodes[from+int(at)]}
		}
		from = to
	}
	return g.sorted
}

func sized[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// byID puts the order of ids into order. Ids are hashes, so that their first
// bits tell nearly where each belongs: what is in one place is then sorted by
// itself.
func (g *gatherer) byID(ids []ID) {
	shift := 64 - bits.Len(uint(len(ids)))
	g.order, g.begins = sized(g.order, len(ids)), sized(g.begins, 1<<(64-shift)+1)
	clear(g.begins)
	for i := range ids {
		g.begins[ids[i].prefix()>>shift+1]++
	}
	for i := range len(g.begins) - 1 {
		g.begins[i+1] += g.begins[i]
	}
	for i := range ids {
		at := &g.begins[ids[i].prefix()>>shift]
		g.order[*at] = int32(i)
		*at++
	}
	from := int32(0) // each place now begins where the one before it ended
	for _, to := range g.begins {
		if same := g.order[from:to]; len(same) > 1 {
			slices.SortFunc(same, func(a, b int32) int { return ids[a].Compare(ids[b]) })
		}
		from = to
	}
}

// answerEdges puts the edges into the answer that stand on the page of the
// nodes from…to.
func (g *gatherer) answerEdges(a *Answer, nodes []answered, from, to int, stopped bool) {
	if g.edges == nil || len(g.edges.list) == 0 {
		return
	}
	g.edges.contract(g.hidden, func(a, b Handle) int { return g.g.ID(a).Compare(g.g.ID(b)) })
	g.at.reset()
	for i := range nodes {
		*g.at.at(nodes[i].h) = uint32(i + 1)
	}
	sources := 0
	g.placed = g.placed[:0]
	for i := range g.edges.list {
		e := &g.edges.list[i]
		x, y := int(g.at.get(e.from))-1, int(g.at.get(e.to))-1
		if e.gone || x < 0 || y < 0 {
			continue
		}
		// An edge that closes a cycle may be found after both its ends: it
		// stands where all walks to that page have found it.
		found, _ := slices.BinarySearchFunc(nodes, int(e.level)+1, func(n answered, level int) int {
			if int(n.level) < level {
				return -1
			}
			return 1
		})
		if e.level < g.skip.level {
			found = min(found, from-1) // on an earlier page, which may not be among nodes
		}
		pos := max(x, y, found)
		if pos >= from && pos < to || pos == len(nodes) && to == len(nodes) && !stopped {
			sources += int(e.count)
			g.placed = append(g.placed, placedEdge{x: uint32(x), y: uint32(y), at: uint32(i)})
		}
	}
	g.orderEdges(nodes)
	own, _ := g.g.(interface{ Via(by uint32) ID })
	all := make([]EdgeSource, 0, sources) // of all edges
	a.Edges = make([]Edge, len(g.placed))
	for i, p := range g.placed {
		e, edge, n := &g.edges.list[p.at], &a.Edges[i], len(all)
		*edge = Edge{From: nodes[p.x].id, To: nodes[p.y].id, Kinds: e.kinds, Coarse: e.coarse}
		if all = g.edges.sourcesOf(e, g.g.By, all); len(all) > n {
			edge.Sources = all[n:len(all):len(all)]
		}
		if own != nil {
			edge.Via = g.edges.viaOf(e, own.Via)
		}
	}
}

// A placedEdge is an edge of the answer: its ends among the nodes, and where it
// is in the edgeSet.
type placedEdge struct{ x, y, at uint32 }

// orderEdges sorts the edges of the answer by the ids of their ends: by where
// those are in the order of the ids of all nodes.
func (g *gatherer) orderEdges(nodes []answered) {
	for i := range nodes {
		g.ids[i] = nodes[i].id
	}
	g.byID(g.ids[:len(nodes)])
	g.ranks = sized(g.ranks, len(nodes))
	for rank, i := range g.order {
		g.ranks[i] = uint32(rank)
	}
	key := func(p placedEdge) uint64 { return uint64(g.ranks[p.x])<<32 | uint64(g.ranks[p.y]) }
	slices.SortFunc(g.placed, func(a, b placedEdge) int { return cmp.Compare(key(a), key(b)) })
}

func (g *gatherer) cursor(p place, marks map[string]Mark) string {
	return cursor{Level: int(p.level), ID: p.id.String(), Question: g.q.hash(), Marks: hashMarks(marks)}.String()
}
