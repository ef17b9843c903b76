package bus

import (
	"slices"
	"strings"

	"headwater/graph"
)

// A Filter says which names a follower needs; the zero value wants none. It
// leaves out nothing but names: entries come all, with all that they touch.
// Namespaces and names are compared folded.
type Filter struct {
	// All wants every name.
	All bool `json:"all,omitempty"`
	// Namespaces want every name of a namespace; Prefixes those of a namespace
	// that begin with a text; Names single ones.
	Namespaces []string `json:"namespaces,omitempty"`
	Prefixes   []Place  `json:"prefixes,omitempty"`
	Names      []Place  `json:"names,omitempty"`
	// Each wants one name, whichever, of each namespace besides: so that it is
	// known which there are. After a connection it may be another one.
	Each bool `json:"each,omitempty"`
}

// A Place is a namespace and a name in it, or what names begin with.
type Place struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// of returns the place of a data store's name.
func of(n graph.Name) Place {
	var p Place
	p.Namespace, p.Name = n.Folded()
	return p
}

func (p Place) folded() Place {
	return of(graph.Name{Kind: graph.DataStoreKind, Namespace: p.Namespace, Name: p.Name})
}

// Wants is a filter as it is asked.
type Wants struct {
	all        bool
	namespaces map[string]bool
	// prefixes are sorted, by namespace; none is a prefix of another.
	prefixes map[string][]string
	names    map[Place]bool
	// met are the namespaces of which a name has been given; nil: it is not
	// wanted.
	met map[string]bool
}

// Wants returns the filter as it is asked.
func (f *Filter) Wants() *Wants {
	w := &Wants{all: f.All, namespaces: map[string]bool{}, prefixes: map[string][]string{}, names: map[Place]bool{}}
	if f.Each {
		w.met = map[string]bool{}
	}
	for _, ns := range f.Namespaces {
		w.namespaces[Place{Namespace: ns}.folded().Namespace] = true
	}
	for _, p := range f.Names {
		w.names[p.folded()] = true
	}
	for _, p := range f.Prefixes {
		p = p.folded()
		w.prefixes[p.Namespace] = append(w.prefixes[p.Namespace], p.Name)
	}
	for ns, list := range w.prefixes {
		slices.Sort(list)
		shortest := list[:1]
		for _, s := range list[1:] {
			if !strings.HasPrefix(s, shortest[len(shortest)-1]) {
				shortest = append(shortest, s)
			}
		}
		w.prefixes[ns] = shortest
	}
	return w
}

// Name reports whether a name is wanted. It is one follower's own.
func (w *Wants) Name(n graph.Name) bool {
	if w.all {
		return true
	}
	p := of(n)
	if w.met != nil && !w.met[p.Namespace] {
		w.met[p.Namespace] = true
		return true
	}
	if w.namespaces[p.Namespace] || w.names[p] {
		return true
	}
	list := w.prefixes[p.Namespace]
	// The one that sorts last among those not behind the name is its prefix, if
	// any is.
	i, found := slices.BinarySearch(list, p.Name)
	return found || i > 0 && strings.HasPrefix(p.Name, list[i-1])
}

// Entry takes out of an entry what is not wanted.
func (w *Wants) Entry(e *Entry) {
	if !w.all {
		e.Names = slices.DeleteFunc(e.Names, func(n graph.Name) bool { return !w.Name(n) })
	}
}

// None reports whether the filter wants no name.
func (f *Filter) None() bool {
	return !f.All && !f.Each && len(f.Namespaces)+len(f.Prefixes)+len(f.Names) == 0
}
