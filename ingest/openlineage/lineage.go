package openlineage

import (
	"strings"

	"headwater/graph"
)

// columnLineageMember reads a member of facet columnLineage 1-2-0.
func columnLineageMember(r *reader, l *graph.Lineage) {
	switch string(r.name) {
	case "fields":
		l.Columns = r.columns((*reader).column)
	case "dataset":
		l.Inputs = l.Inputs[:0]
		if r.array() {
			for r.more() {
				l.Inputs = r.source(l.Inputs, false)
			}
		}
		l.Inputs = mergeSources(unspecified(l.Inputs))
	default:
		r.skip()
	}
}

// columns reads an object whose members are output columns. Of a column that
// is there twice the last counts.
func (r *reader) columns(inputs func(*reader) []graph.Source) []graph.ColumnLineage {
	if !r.object() {
		return nil
	}
	var list []graph.ColumnLineage
	for r.member() {
		name := r.keep(r.name)
		if len(name) > graph.MaxName {
			r.fail(tooLong(len(name)))
		}
		list = append(list, graph.ColumnLineage{Column: name, Inputs: inputs(r)})
	}
	return lastOfEach(list, func(c *graph.ColumnLineage) string { return c.Column })
}

// column reads what a field of columnLineage says: where it comes from, and
// the deprecated transformation, which counts for inputs that have none.
func (r *reader) column() []graph.Source {
	if !r.object() {
		return nil
	}
	var sources []graph.Source
	var oldType, oldDescription string
	for r.member() {
		switch string(r.name) {
		case "inputFields":
			sources = nil
			if r.array() {
				for r.more() {
					sources = r.source(sources, false)
				}
			}
		case "transformationType":
			oldType = r.str()
		case "transformationDescription":
			oldDescription = r.str()
		default:
			r.skip()
		}
	}
	for i := range sources {
		s := &sources[i]
		if s.Kinds == 0 {
			s.Kinds, s.Detail, s.Masking = deprecatedKind(oldType)
		}
		if s.Expression == "" && s.Kinds&graph.DirectKinds != 0 {
			s.Expression = oldDescription
		}
	}
	return mergeSources(sources)
}

// deprecatedKind reads a transformationType. Without one, a column comes from
// its inputs, who knows how.
func deprecatedKind(s string) (k graph.Kinds, detail string, masking bool) {
	if strings.EqualFold(s, "MASKED") {
		return graph.Transformation, "", true
	}
	if k = graph.ParseKind(s); k&graph.DirectKinds != 0 {
		return k, "", false
	}
	return graph.Transformation, s, false
}

// source reads one input, of facet columnLineage or (explicit) lineage, and
// appends it: once for each expression and masking that its transformations
// give it. Kinds is 0 where there are no transformations. Name.Kind is
// ProcessKind for a job, with an empty name for the event's own.
func (r *reader) source(list []graph.Source, explicit bool) []graph.Source {
	if !r.object() {
		return list
	}
	first := len(list)
	var namespace, name, field, kind text
	for r.member() {
		switch string(r.name) {
		case "namespace":
			namespace = r.text()
		case "name":
			name = r.text()
		case "field":
			field = r.text()
		case "type":
			kind = r.text()
		case "transformations":
			list = list[:first]
			if r.array() {
				for r.more() {
					list = r.transformation(list, first)
				}
			}
		default:
			r.skip()
		}
	}
	if len(list) == first {
		list = append(list, graph.Source{})
	}
	var n graph.Name
	if explicit {
		n = r.entity(namespace, name, kind)
	} else {
		n = r.dataStore(namespace, name)
	}
	if n.Kind == graph.DataStoreKind {
		n.Column = r.may(field, "field")
	}
	for i := first; i < len(list); i++ {
		list[i].Name = n
	}
	return list
}

// dataStore names a data store by what the object that was just left says.
func (r *reader) dataStore(namespace, name text) graph.Name {
	return graph.Name{Kind: graph.DataStoreKind, Region: r.region, Namespace: r.need(namespace, "namespace"), Name: r.need(name, "name")}
}

// transformation reads one transformation of the source whose first form is
// list[first], and adds its kind to the form that has its expression and
// masking.
func (r *reader) transformation(list []graph.Source, first int) []graph.Source {
	if !r.object() {
		return list
	}
	var kind, subtype string
	var s graph.Source
	for r.member() {
		switch string(r.name) {
		case "type":
			kind = r.str()
		case "subtype":
			subtype = r.str()
		case "description":
			s.Expression = r.str()
		case "masking":
			s.Masking = r.boolean()
		default:
			r.skip()
		}
	}
	s.Kinds, s.Detail = kindOf(kind, subtype)
	if n := len(list); n > first && sameForm(&list[n-1], &s) {
		addKinds(&list[n-1], &s)
		return list
	}
	return append(list, s)
}

// kindOf reads a transformation: a kind of ours, or Other and what was sent.
// Where type and subtype contradict each other the subtype counts, for it says
// more; what was sent is kept.
func kindOf(kind, subtype string) (k graph.Kinds, detail string) {
	direct, indirect := strings.EqualFold(kind, "DIRECT"), strings.EqualFold(kind, "INDIRECT")
	known := graph.ParseKind(subtype) & (graph.DirectKinds | indirectKinds)
	switch {
	case subtype == "" && (direct || kind == ""):
		return graph.Transformation, ""
	case subtype == "":
		return graph.Other, kind
	case kind == "" && known != 0, direct && known&graph.DirectKinds != 0, indirect && known&indirectKinds != 0:
		return known, ""
	case kind == "":
		return graph.Other, subtype
	case known != 0 && (direct || indirect):
		return known, kind + "/" + subtype
	}
	return graph.Other, kind + "/" + subtype
}

const indirectKinds = graph.WholeKinds | graph.Window | graph.Conditional

// unspecified gives a kind to sources of a whole data store that have none: a
// column that affects every row does so in a way that was not told; a data
// store flows in.
func unspecified(list []graph.Source) []graph.Source {
	for i := range list {
		if s := &list[i]; s.Kinds == 0 {
			s.Kinds = graph.Transformation
			if s.Name.Column != "" {
				s.Kinds = graph.Other
			}
		}
	}
	return list
}

func sameForm(a, b *graph.Source) bool {
	return a.Masking == b.Masking && a.Expression == b.Expression && a.Name == b.Name
}

// addKinds joins two sources of the same form. Of many kinds that are not ours
// the first are kept.
func addKinds(s, more *graph.Source) {
	const most = 256
	s.Kinds |= more.Kinds
	switch {
	case more.Detail == "":
	case s.Detail == "":
		s.Detail = more.Detail
	case len(s.Detail)+len(more.Detail) < most:
		for d := range strings.SplitSeq(s.Detail, ", ") {
			if d == more.Detail {
				return
			}
		}
		s.Detail += ", " + more.Detail
	}
}

// A form is what tells sources of one output apart.
type form struct {
	name       graph.Name
	expression string
	masking    bool
}

// mergeSources joins the sources of one output that have the same form, in
// place.
func mergeSources(list []graph.Source) []graph.Source {
	if len(list) < 2 {
		return list
	}
	var at map[form]int
	if len(list) > few {
		at = make(map[form]int, len(list))
	}
	kept := list[:0]
next:
	for i := range list {
		s := list[i]
		if at != nil {
			f := form{s.Name, s.Expression, s.Masking}
			if j, ok := at[f]; ok {
				addKinds(&kept[j], &s)
				continue
			}
			at[f] = len(kept)
		} else {
			for j := range kept {
				if sameForm(&kept[j], &s) {
					addKinds(&kept[j], &s)
					continue next
				}
			}
		}
		kept = append(kept, s)
	}
	return kept
}

// foldWhole moves to l.Inputs, once, each dependency that every column of l
// has and that concerns whole rows: Spark copies such a dependency of the data
// store to each of its columns. What else a source does stays where it is.
func foldWhole(l *graph.Lineage) {
	if len(l.Columns) == 0 {
		return
	}
	wholeKinds := [...]graph.Kinds{graph.Join, graph.Filter, graph.GroupBy, graph.Sort}
	// had counts, by form and kind, the columns from the first on that have
	// the dependency.
	var had map[form]*[len(wholeKinds)]int
	for i := range l.Columns {
		for j := range l.Columns[i].Inputs {
			s := &l.Columns[i].Inputs[j]
			if s.Kinds&graph.WholeKinds == 0 {
				continue
			}
			f := form{s.Name, s.Expression, s.Masking}
			n := had[f]
			if n == nil {
				if i > 0 {
					continue
				}
				if had == nil {
					had = map[form]*[len(wholeKinds)]int{}
				}
				n = new([len(wholeKinds)]int)
				had[f] = n
			}
			for b, k := range wholeKinds {
				if s.Kinds&k != 0 && n[b] == i {
					n[b]++
				}
			}
		}
		if had == nil {
			return
		}
	}
	for i := range l.Columns {
		c := &l.Columns[i]
		kept := c.Inputs[:0]
		for _, s := range c.Inputs {
			var whole graph.Kinds
			if s.Kinds&graph.WholeKinds != 0 {
				if n := had[form{s.Name, s.Expression, s.Masking}]; n != nil {
					for b, k := range wholeKinds {
						if n[b] == len(l.Columns) {
							whole |= k & s.Kinds
						}
					}
				}
			}
			if i == 0 && whole != 0 {
				l.Inputs = append(l.Inputs, graph.Source{Name: s.Name, Kinds: whole, Expression: s.Expression, Masking: s.Masking})
			}
			if s.Kinds &^= whole; s.Kinds != 0 {
				kept = append(kept, s)
			}
		}
		c.Inputs = kept
	}
	l.Inputs = mergeSources(l.Inputs)
}
