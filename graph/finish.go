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
	nodes := []answered{{AnswerNode: root, h: g.root}}
	if len(g.nodes) > 1 {
		nodes = append(make([]answered, 0, len(g.nodes)), nodes...)
		for _, n := range g.nodes[1:] {
			// Levels that one of two walks has not finished are not whole.
			if !g.hidden[n.h] && (!stopped || int(n.level) < g.level) {
				nodes = append(nodes, answered{AnswerNode{ID: g.g.ID(n.h), Upstream: int(n.up), Downstream: int(n.down), level: int(n.level)}, n.h})
			}
		}
	}
	slices.SortFunc(nodes, func(a, b answered) int { return a.place().compare(b.place()) })
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

// answerEdges puts the edges into the answer that stand on the page of the
// nodes from…to.
func (g *gatherer) answerEdges(a *Answer, nodes []answered, from, to int, stopped bool) {
	if g.edges == nil || len(g.edges.list) == 0 {
		return
	}
	g.edges.contract(g.hidden, func(a, b Handle) int { return g.g.ID(a).Compare(g.g.ID(b)) })
	at := make(map[Handle]int32, len(nodes))
	for i := range nodes {
		at[nodes[i].h] = int32(i)
	}
	sources := 0
	for i := range g.edges.list {
		sources += int(g.edges.list[i].count)
	}
	all := make([]EdgeSource, 0, sources) // of all edges
	a.Edges = make([]Edge, 0, len(g.edges.list))
	for i := range g.edges.list {
		e := &g.edges.list[i]
		x, ok := at[e.from]
		y, ok2 := at[e.to]
		if e.gone || !ok || !ok2 {
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
		pos := max(int(x), int(y), found)
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
