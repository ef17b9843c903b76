package api

import (
	"slices"
	"sync"
	"weak"

	"headwater/graph"
)

// ends are the two ends of a flow.
type ends struct{ from, to graph.ID }

// bases are the data stores of the ends.
func (e ends) bases() ends { return ends{e.from.Base(), e.to.Base()} }

// A phrases is what a content says of flows beyond that they are there, by
// their ends as it names them: a flow between columns stands under their data
// stores, too. They do not change.
type phrases struct {
	all []phrase // in the order of the content
	by  map[ends][]int32
}

// A phrase is what a content says of one flow.
type phrase struct {
	expression string
	detail     string // a kind of the producer's own
}

// newPhrases reads a content. Nil: it has nothing to say.
func newPhrases(c *graph.Content) *phrases {
	var ps *phrases
	for i := range c.Writes {
		w := &c.Writes[i]
		if w.Lineage == nil {
			continue
		}
		table := w.Name.ID()
		ps = ps.note(w.Lineage.Inputs, table)
		for j := range w.Lineage.Columns {
			if c := &w.Lineage.Columns[j]; slices.ContainsFunc(c.Inputs, speaks) {
				ps = ps.note(c.Inputs, table.Column(c.Column))
			}
		}
	}
	return ps
}

// speaks reports whether a source has a phrase.
func speaks(src graph.Source) bool {
	return src.Expression != "" || src.Detail != "" && src.Kinds&graph.Other != 0
}

func (ps *phrases) note(sources []graph.Source, to graph.ID) *phrases {
	for i := range sources {
		src := &sources[i]
		if !speaks(*src) {
			continue
		}
		p := phrase{expression: src.Expression}
		if src.Kinds&graph.Other != 0 {
			p.detail = src.Detail
		}
		if ps == nil {
			ps = &phrases{by: map[ends][]int32{}}
		}
		n := int32(len(ps.all))
		ps.all = append(ps.all, p)
		e := ends{src.Name.ID(), to}
		ps.by[e] = append(ps.by[e], n)
		if b := e.bases(); b != e {
			ps.by[b] = append(ps.by[b], n)
		}
	}
	return ps
}

// under lists the phrases of a flow under any name of its ends: their own, or
// one of these.
func (ps *phrases) under(edge *graph.Edge, froms, tos []graph.ID) []int32 {
	var all []int32
	eachName(edge, froms, tos, func(e ends) bool {
		all = append(all, ps.by[e]...)
		return true
	})
	slices.Sort(all)
	return slices.Compact(all)
}

// eachName calls f with the ends of an edge under their own names and under
// each other name of theirs, until it returns false.
func eachName(edge *graph.Edge, froms, tos []graph.ID, f func(ends) bool) {
	for i := range len(froms) + 1 {
		from := edge.From
		if i > 0 {
			from = from.WithBase(froms[i-1])
		}
		for j := range len(tos) + 1 {
			to := edge.To
			if j > 0 {
				to = to.WithBase(tos[j-1])
			}
			if !f(ends{from, to}) {
				return
			}
		}
	}
}

// A phrasebook remembers the phrases of contents, since to find them hashes
// every name of a content. Contents are known by their address, which the
// phrasebook does not keep alive: a content that is made anew is read anew.
type phrasebook struct {
	mu sync.Mutex // guards the rest
	// What was used since young began is in young; when that is full, old is
	// forgotten and young becomes old.
	young, old map[weak.Pointer[graph.Content]]*phrases
	size       int // phrases in young
}

// maxPhrases bounds young, and so the phrasebook by twice as much.
const maxPhrases = 1 << 16

// of returns the phrases of a content; nil: it has nothing to say.
func (b *phrasebook) of(c *graph.Content) *phrases {
	key := weak.Make(c)
	ps, ok := b.lookup(key)
	if !ok {
		ps = newPhrases(c)
		b.keep(key, ps)
	}
	return ps
}

func (b *phrasebook) lookup(key weak.Pointer[graph.Content]) (*phrases, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if ps, ok := b.young[key]; ok {
		return ps, true
	}
	ps, ok := b.old[key]
	if ok {
		b.put(key, ps)
	}
	return ps, ok
}

func (b *phrasebook) keep(key weak.Pointer[graph.Content], ps *phrases) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.put(key, ps)
}

// put needs mu.
func (b *phrasebook) put(key weak.Pointer[graph.Content], ps *phrases) {
	if b.size >= maxPhrases || b.young == nil {
		b.young, b.old, b.size = map[weak.Pointer[graph.Content]]*phrases{}, b.young, 0
	}
	b.young[key] = ps
	b.size++
	if ps != nil {
		b.size += len(ps.all)
	}
}
