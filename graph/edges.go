package graph

import (
	"maps"
	"slices"
)

func mergeEdge(edges map[edgeKey]*Edge, k edgeKey, e *Edge) {
	have := edges[k]
	if have == nil {
		c := *e
		c.Sources = slices.Clone(e.Sources)
		edges[k] = &c
		return
	}
	have.Kinds |= e.Kinds
	have.Coarse = have.Coarse && e.Coarse
	have.level = min(have.level, e.level)
	for _, s := range e.Sources {
		i := slices.IndexFunc(have.Sources, func(h EdgeSource) bool { return h.By == s.By })
		if i < 0 {
			have.Sources = append(have.Sources, s)
		} else {
			have.Sources[i].Kinds |= s.Kinds
		}
	}
}

// contract joins the edges into and out of each hidden node.
func contract(edges map[edgeKey]*Edge, hidden map[ID]bool) {
	if len(hidden) == 0 {
		return
	}
	in, out := map[ID]map[ID]bool{}, map[ID]map[ID]bool{}
	link := func(m map[ID]map[ID]bool, a, b ID) {
		if m[a] == nil {
			m[a] = map[ID]bool{}
		}
		m[a][b] = true
	}
	for k := range edges {
		link(out, k.from, k.to)
		link(in, k.to, k.from)
	}
	for _, h := range slices.SortedFunc(maps.Keys(hidden), ID.Compare) {
		for a := range in[h] {
			for b := range out[h] {
				if a == h || b == h || a == b || len(edges) >= DefaultMaxEdges {
					continue
				}
				x, y := edges[edgeKey{a, h}], edges[edgeKey{h, b}]
				joined := Edge{From: a, To: b, Kinds: x.Kinds | y.Kinds, Coarse: x.Coarse || y.Coarse, level: max(x.level, y.level)}
				joined.Sources = append(slices.Clone(x.Sources), y.Sources...)
				mergeEdge(edges, edgeKey{a, b}, &joined)
				link(out, a, b)
				link(in, b, a)
			}
		}
		for a := range in[h] {
			delete(edges, edgeKey{a, h})
			delete(out[a], h)
		}
		for b := range out[h] {
			delete(edges, edgeKey{h, b})
			delete(in[b], h)
		}
	}
}
