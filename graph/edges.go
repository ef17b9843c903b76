package graph

import (
	"maps"
	"slices"
)

// DefaultMaxEdges bounds the edges of one answer.
const DefaultMaxEdges = 2_000_000

// An Edge is a flow between two nodes of a walk, in the direction of the data.
type Edge struct {
	From, To ID
	Kinds    Kinds
	Coarse   bool
	// Via is the global table which all the sources speak of in place of one of
	// the ends; zero: they speak of the ends.
	Via     ID
	Sources []EdgeSource
}

// An EdgeSource is who says so.
type EdgeSource struct {
	By    Key
	Kinds Kinds
}

// A hedge is an edge by number.
type hedge struct {
	from, to Handle
	kinds    Kinds
	coarse   bool
	gone     bool
	level    int32 // at which it was found first
	sources  int32 // the newest of the list, -1: none
	count    int32 // of sources
}

// A hsource is one of the sources of an edge: what next says comes after it.
type hsource struct {
	by    uint32
	kinds Kinds
	next  int32
}

// An edgeSet is the edges of one answer, each once.
type edgeSet struct {
	list    []hedge
	sources []hsource
	at      map[uint64]int32 // by ends: where in list
	cut     bool             // there were more than maxEdges
	max     int
}

func newEdgeSet() *edgeSet { return &edgeSet{at: map[uint64]int32{}, max: DefaultMaxEdges} }

func edgeKey(from, to Handle) uint64 { return uint64(from)<<32 | uint64(to) }

// edge returns the edge between two nodes, made if need be; nil where there
// are too many.
func (s *edgeSet) edge(from, to Handle, level int32) *hedge {
	k := edgeKey(from, to)
	if i, ok := s.at[k]; ok {
		e := &s.list[i]
		e.level = min(e.level, level)
		return e
	}
	if len(s.at) >= s.max {
		s.cut = true
		return nil
	}
	s.at[k] = int32(len(s.list))
	s.list = append(s.list, hedge{from: from, to: to, coarse: true, level: level, sources: -1})
	return &s.list[len(s.list)-1]
}

// add adds what a contribution says of an edge.
func (s *edgeSet) add(from, to Handle, kinds Kinds, coarse bool, level int32, by uint32) {
	e := s.edge(from, to, level)
	if e == nil {
		return
	}
	e.kinds |= kinds
	e.coarse = e.coarse && coarse
	s.source(e, by, kinds)
}

func (s *edgeSet) source(e *hedge, by uint32, kinds Kinds) {
	for i := e.sources; i >= 0; i = s.sources[i].next {
		if s.sources[i].by == by {
			s.sources[i].kinds |= kinds
			return
		}
	}
	s.sources = append(s.sources, hsource{by: by, kinds: kinds, next: e.sources})
	e.sources = int32(len(s.sources) - 1)
	e.count++
}

func (s *edgeSet) remove(from, to Handle) {
	k := edgeKey(from, to)
	if i, ok := s.at[k]; ok {
		s.list[i].gone = true
		delete(s.at, k)
	}
}

// join adds to the edge from a to b what two edges through a hidden node say.
func (s *edgeSet) join(a, h, b Handle) {
	x, y := s.list[s.at[edgeKey(a, h)]], s.list[s.at[edgeKey(h, b)]]
	e := s.edge(a, b, max(x.level, y.level))
	if e == nil {
		return
	}
	e.kinds |= x.kinds | y.kinds
	e.coarse = e.coarse && (x.coarse || y.coarse)
	for _, first := range [...]int32{x.sources, y.sources} {
		for i := first; i >= 0; i = s.sources[i].next {
			s.source(e, s.sources[i].by, s.sources[i].kinds)
		}
	}
}

// contract joins the edges into and out of each hidden node; less orders
// nodes.
func (s *edgeSet) contract(hidden map[Handle]bool, compare func(a, b Handle) int) {
	if len(hidden) == 0 {
		return
	}
	in, out := map[Handle]map[Handle]bool{}, map[Handle]map[Handle]bool{}
	link := func(m map[Handle]map[Handle]bool, a, b Handle) {
		if m[a] == nil {
			m[a] = map[Handle]bool{}
		}
		m[a][b] = true
	}
	for i := range s.list {
		link(out, s.list[i].from, s.list[i].to)
		link(in, s.list[i].to, s.list[i].from)
	}
	for _, h := range slices.SortedFunc(maps.Keys(hidden), compare) {
		for a := range in[h] {
			for b := range out[h] {
				if a == h || b == h || a == b {
					continue
				}
				s.join(a, h, b)
				link(out, a, b)
				link(in, b, a)
			}
		}
		for a := range in[h] {
			s.remove(a, h)
			delete(out[a], h)
		}
		for b := range out[h] {
			s.remove(h, b)
			delete(in[b], h)
		}
	}
}

// sourcesOf lists the sources of an edge, sorted, into a slice that has room.
func (s *edgeSet) sourcesOf(e *hedge, key func(by uint32) Key, into []EdgeSource) []EdgeSource {
	n := len(into)
	for i := e.sources; i >= 0; i = s.sources[i].next {
		into = append(into, EdgeSource{By: key(s.sources[i].by), Kinds: s.sources[i].kinds})
	}
	own := into[n:len(into):len(into)]
	slices.SortFunc(own, func(a, b EdgeSource) int { return a.By.Compare(b.By) })
	kept := 0
	for i := range own { // one contribution may speak of an end, and of a table that has it
		if kept > 0 && own[kept-1].By == own[i].By {
			own[kept-1].Kinds |= own[i].Kinds
			continue
		}
		own[kept] = own[i]
		kept++
	}
	return into[:n+kept]
}

// viaOf returns the global table that all sources of an edge speak of.
func (s *edgeSet) viaOf(e *hedge, via func(by uint32) ID) (of ID) {
	for i := e.sources; i >= 0; i = s.sources[i].next {
		id := via(s.sources[i].by)
		if id.IsZero() {
			return id
		}
		if of.IsZero() || id.Compare(of) < 0 {
			of = id
		}
	}
	return of
}
