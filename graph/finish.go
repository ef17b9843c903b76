package graph

import (
	"cmp"
	"slices"
)

// finish cuts, sorts and joins what the walks found into the answer.
func (g *gatherer) finish(a *Answer) {
	var root AnswerNode
	root.ID, root.Upstream, root.Downstream = g.q.Root, -1, -1
	if g.q.Direction != Downstream {
		root.Upstream = 0
	}
	if g.q.Direction != Upstream {
		root.Downstream = 0
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
	nodes := make([]answered, 1, len(g.nodes))
	nodes[0] = answered{AnswerNode: root, h: g.root}
	for _, n := range g.nodes[1:] {
		// Levels that one of two walks has not finished are not whole.
		if !g.hidden[n.h] && (!stopped || int(n.level) < g.level) {
			nodes = append(nodes, answered{AnswerNode{Upstream: int(n.up), Downstream: int(n.down), level: int(n.level)}, n.h})
			g.g.IDInto(n.h, &nodes[len(nodes)-1].ID)
		}
	}
	nodes = inOrder(nodes)
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
		a.Nodes[i] = nodes[from+i].AnswerNode
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

// answered is a node of an answer, and its number.
type answered struct {
	AnswerNode
	h Handle
}

func (n *answered) place() place { return place{int32(n.level), n.ID} }

// inOrder sorts nodes, which come level by level, by level and id.
func inOrder(nodes []answered) []answered {
	type key struct {
		prefix uint64
		at     int32
	}
	keys := make([]key, len(nodes))
	for i := range nodes {
		keys[i] = key{nodes[i].ID.prefix(), int32(i)}
	}
	for from := 0; from < len(nodes); {
		to := from + 1
		for to < len(nodes) && nodes[to].level == nodes[from].level {
			to++
		}
		slices.SortFunc(keys[from:to], func(a, b key) int {
			if a.prefix != b.prefix {
				return cmp.Compare(a.prefix, b.prefix)
			}
			return nodes[a.at].ID.Compare(nodes[b.at].ID)
		})
		from = to
	}
	sorted := make([]answered, len(nodes))
	for i := range keys {
		sorted[i] = nodes[keys[i].at]
	}
	return sorted
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
	for i := range g.edges.list {
		sources += int(g.edges.list[i].count)
	}
	all := make([]EdgeSource, 0, sources) // of all edges
	a.Edges = make([]Edge, 0, len(g.edges.list))
	for i := range g.edges.list {
		e := &g.edges.list[i]
		x, y := int(g.at.get(e.from))-1, int(g.at.get(e.to))-1
		if e.gone || x < 0 || y < 0 {
			continue
		}
		// An edge that closes a cycle may be found after both its ends: it
		// stands where all walks to that page have found it.
		found, _ := slices.BinarySearchFunc(nodes, int(e.level)+1, func(n answered, level int) int {
			if n.level < level {
				return -1
			}
			return 1
		})
		if e.level < g.skip.level {
			found = min(found, from-1) // on an earlier page, which may not be among nodes
		}
		pos := max(x, y, found)
		if pos >= from && pos < to || pos == len(nodes) && to == len(nodes) && !stopped {
			n := len(all)
			all = g.edges.sourcesOf(e, g.g.By, all)
			edge := Edge{From: nodes[x].ID, To: nodes[y].ID, Kinds: e.kinds, Coarse: e.coarse}
			if len(all) > n {
				edge.Sources = all[n:len(all):len(all)]
			}
			a.Edges = append(a.Edges, edge)
		}
	}
	slices.SortFunc(a.Edges, compareEdges)
}

func (g *gatherer) cursor(p place, marks map[string]Mark) string {
	return cursor{Level: int(p.level), ID: p.id.String(), Question: g.q.hash(), Marks: hashMarks(marks)}.String()
}
