package openlineage

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"headwater/graph"
)

// A found says how a facet was met.
type found uint8

const (
	absent found = iota // null
	taken
	deleted
	malformed
)

// readFacet reads the facet that comes next into v, which is where it belongs;
// member reads a member of it. raw is the facet as it was sent; it is nil where
// there is none, and is not to be changed. A facet that is not what it should
// be is reported, and v is empty.
func readFacet[T any](e *event, v *T, member func(r *reader, v *T)) (how found, raw []byte) {
	r := &e.r
	depth := r.d.StackDepth()
	how = taken
	*v = *new(T)
	k := r.token()
	start := r.from
	switch k {
	case '{':
		for r.member() {
			if string(r.name) != "_deleted" {
				member(r, v)
			} else if r.boolean() {
				how = deleted
			} else {
				how = taken
			}
		}
	case 'n':
		return absent, nil
	default:
		r.wrong(k, "an object")
	}
	if f := r.catch(depth); f != nil {
		f.reason += "; the facet is kept as it was sent, not understood"
		e.reject(e.part, false, f)
		how = malformed
	}
	if how != taken || r.err != nil {
		*v = *new(T)
	}
	if r.err != nil {
		return absent, nil
	}
	return how, r.body[start:r.d.InputOffset()]
}

// readFacets calls facet for each facet of the object that comes next, a group
// of those of the node that is being read. Where it is no object, the event is
// taken without. What an earlier object of the group had kept is dropped.
func (e *event) readFacets(g group, facet func(name []byte)) {
	r := &e.r
	for i := e.groups[g].from; i < e.groups[g].to; i++ {
		e.kept[i].group = dropped
	}
	from := len(e.kept)
	depth := r.d.StackDepth()
	if r.object() {
		for r.member() {
			facet(r.name)
		}
	}
	if f := r.catch(depth); f != nil {
		e.reject(e.part, false, f)
	}
	e.groups[g] = e.keptFrom(from)
}

// A group is the object that a facet stands in. Where two groups of one node
// have facets of one name, the name in Seen of those of the later group begins
// with the group.
type group uint8

const (
	facets group = iota
	inputFacets
	outputFacets
	runFacets
	dropped // sent again
)

var groupNames = [...]string{"facets.", "inputFacets.", "outputFacets.", "run."}

// A keptFacet is a facet that is only seen.
type keptFacet struct {
	group group
	name  string
	value []byte
}

// A span is a range of event.kept.
type span struct{ from, to int }

// keptFrom is the span of the facets kept from a place on.
func (e *event) keptFrom(from int) span {
	if len(e.kept) == from {
		return span{}
	}
	return span{from, len(e.kept)}
}

// keep keeps a facet as it was sent; nil is none.
func (e *event) keep(g group, name, value []byte) {
	if value != nil {
		e.kept = append(e.kept, keptFacet{g, e.r.keep(name), value})
	}
}

// keepUnread keeps the facet that comes next; null is none.
func (e *event) keepUnread(g group, name []byte) { e.keep(g, name, e.r.value()) }

// keepUnless keeps a facet that should have been understood and was not.
func (e *event) keepUnless(how found, g group, name, value []byte) {
	if how == malformed {
		e.keep(g, name, value)
	}
}

// A seenNode is what is seen of one node: the places of its kept facets, and
// its partitions.
type seenNode struct {
	name       graph.Name
	first      span
	further    []span
	partitions []string
}

// seen says what the event refreshes: of the job, then of its datasets.
func (e *event) seen(job graph.Name, lists ...*datasets) []graph.Seen {
	var usual [4]seenNode // no memory of its own for usual events
	nodes := usual[:0]
	if ofJob, ofRun := e.job.kept, e.run.kept; ofJob != ofRun { // both empty otherwise
		nodes = append(nodes, seenNode{name: job, first: ofJob})
		nodes[0].add(ofRun)
	}
	var at index
	for _, l := range lists {
		for i := range l.more {
			m := &l.more[i]
			if m.kept == (span{}) && len(m.partitions) == 0 {
				continue
			}
			j, ok := at.find(m.name, len(nodes))
			if !ok {
				nodes = append(nodes, seenNode{name: m.name, first: m.kept, partitions: m.partitions})
				continue
			}
			nodes[j].add(m.kept)
			nodes[j].partitions = append(nodes[j].partitions, m.partitions...)
		}
	}
	var seen []graph.Seen
	for i := range nodes {
		s := graph.Seen{Name: nodes[i].name, Facets: e.facetsOf(&nodes[i]), Partitions: nodes[i].partitions}
		if s.Facets != nil || s.Partitions != nil {
			seen = append(slices.Grow(seen, len(nodes)-i), s)
		}
	}
	return seen
}

func (n *seenNode) add(s span) {
	switch {
	case s == span{}:
	case n.first == span{}:
		n.first = s
	case n.first.to == s.from && n.further == nil:
		n.first.to = s.to
	case s.to == n.first.from && n.further == nil:
		n.first.from = s.from
	default:
		n.further = append(n.further, s)
	}
}

// facetsOf writes kept facets as one JSON object, nil if there are none. Of
// facets of one name in one group the last counts.
func (e *event) facetsOf(n *seenNode) []byte {
	list := e.kept[n.first.from:n.first.to:n.first.to]
	for _, s := range n.further {
		list = append(list, e.kept[s.from:s.to]...)
	}
	list = slices.DeleteFunc(list, func(k keptFacet) bool { return k.group == dropped })
	if len(list) == 0 {
		return nil
	}
	type key struct {
		group group
		name  string
	}
	list = lastOfEach(list, func(k *keptFacet) key { return key{k.group, k.name} })
	slices.SortStableFunc(list, func(a, b keptFacet) int { return cmp.Compare(a.group, b.group) })
	size := len("{}")
	for i := range list {
		size += len(list[i].name) + len(list[i].value) + len(`"":,`)
	}
	b := append(make([]byte, 0, size), '{')
	var names map[string]bool
	if len(list) > few {
		names = make(map[string]bool, len(list))
	}
	for i := range list {
		k := &list[i]
		for names[k.name] || names == nil && slices.ContainsFunc(list[:i], func(o keptFacet) bool { return o.name == k.name }) {
			k.name = groupNames[k.group] + k.name
		}
		if names != nil {
			names[k.name] = true
		}
		if i > 0 {
			b = append(b, ',')
		}
		b, _ = jsontext.AppendQuote(b, k.name)
		b = append(append(b, ':'), k.value...)
	}
	return append(b, '}')
}

// few is how many elements are searched one by one rather than with a map.
const few = 16

// lastOfEach drops from list, in place, the elements whose key comes again.
func lastOfEach[T any, K comparable](list []T, key func(*T) K) []T {
	kept := list[:0]
	if len(list) <= few {
	next:
		for i := range list {
			k := key(&list[i])
			for j := i + 1; j < len(list); j++ {
				if key(&list[j]) == k {
					continue next
				}
			}
			kept = append(kept, list[i])
		}
		return kept
	}
	last := make(map[K]int, len(list))
	for i := range list {
		last[key(&list[i])] = i
	}
	for i := range list {
		if last[key(&list[i])] == i {
			kept = append(kept, list[i])
		}
	}
	return kept
}

// quote shows a string that was sent, cut where it is long.
func quote(s string) string {
	const most = 60
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return strconv.Quote(s)
}
