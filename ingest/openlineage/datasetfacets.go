package openlineage

import (
	"fmt"
	"slices"
	"strings"

	"headwater/graph"
)

// datasetFacet reads a facet of the dataset that is being read.
func (e *event) datasetFacet(name []byte) {
	d := &e.current
	var how found
	var raw []byte
	switch string(name) {
	case "schema":
		e.r.schema.reset()
		var read struct{} // into e.r.schema
		how, raw = readFacet(e, &read, schemaMember)
		d.facts.Columns = nil
		if how == taken {
			d.facts.Columns = slices.Clone(e.r.schema.fields)
		}
		d.deletes(graph.FactSchema, how)
	case "symlinks":
		how, raw = readFacet(e, &d.symlinks, symlinksMember)
		d.deletes(graph.FactSymlinks, how)
	case "dataSource":
		how, raw = readFacet(e, &d.source, dataSourceMember)
		d.facts.Platform, d.facts.URL = d.source.platform(), withoutUser(d.source.uri)
		d.deletes(graph.FactPlatform, how)
	case "datasetType":
		how, raw = readFacet(e, &d.facts.Kind, datasetTypeMember)
		d.facts.Kind = strings.ToUpper(d.facts.Kind)
		d.deletes(graph.FactKind, how)
		// Its subType is not understood.
		e.keep(facets, name, raw)
		return
	case "documentation":
		how, raw = readFacet(e, &d.facts.Description, documentationMember)
		d.deletes(graph.FactDescription, how)
	case "ownership":
		how, raw = readFacet(e, &d.facts.Owners, ownersMember)
		d.deletes(graph.FactOwners, how)
	case "tags":
		how, raw = readFacet(e, &d.facts.Tags, tagsMember)
		d.deletes(graph.FactTags, how)
	case "lifecycleStateChange":
		how, raw = readFacet(e, &d.lifecycle, lifecycleMember)
		d.deletes(graph.FactLifecycle, how)
	case "columnLineage":
		how, raw = readFacet(e, &d.columns, columnLineageMember)
		foldWhole(&d.columns)
		d.deletes(graph.FactLineage, how)
	case "lineage":
		at := e.r.d.InputOffset()
		how, raw = readFacet(e, &d.explicit, explicitMember)
		d.more.jobs = nil
		if x := &d.explicit; len(x.jobs[0])+len(x.jobs[1]) > 0 {
			d.more.jobs, d.more.path, d.more.at = &explicit{jobs: x.jobs}, e.r.path(), at
			e.keep(facets, name, raw)
		}
		d.deletes(graph.FactLineage, how)
	default:
		e.keepUnread(facets, name)
	}
	e.keepUnless(how, facets, name, raw)
}

// deletes notes whether the facet that tells a fact was sent to delete it.
func (d *dataset) deletes(fact string, how found) {
	i := slices.Index(datasetFacts[:], fact)
	d.deleted[i] = how == deleted || d.deleted[i] && fact == graph.FactLineage
}

// inputFacet reads a facet of what a run read.
func (e *event) inputFacet(name []byte) { e.keepUnread(inputFacets, name) }

// outputFacet reads a facet of what a run wrote.
func (e *event) outputFacet(name []byte) {
	if string(name) != "subset" {
		e.keepUnread(outputFacets, name)
		return
	}
	_, raw := readFacet(e, &e.current.more.partitions, subsetMember)
	e.keep(outputFacets, name, raw)
}

func documentationMember(r *reader, v *string) { r.one("description", v) }
func datasetTypeMember(r *reader, v *string)   { r.one("datasetType", v) }

// A schema is the fields of facet schema, each after the one that it is part
// of; parents has the place of that, or -1.
type schema struct {
	fields  []graph.Field
	parents []int
}

func (s *schema) reset() { s.fields, s.parents = s.fields[:0], s.parents[:0] }

func schemaMember(r *reader, _ *struct{}) {
	if string(r.name) != "fields" {
		r.skip()
		return
	}
	s := &r.schema
	if s.fields == nil {
		s.fields, s.parents = make([]graph.Field, 0, 8), make([]int, 0, 8)
	}
	s.reset()
	s.read(r, -1)
	s.flatten(r)
}

// read reads an array of fields that are part of the one at parent.
func (s *schema) read(r *reader, parent int) {
	if !r.array() {
		return
	}
	for position := 1; r.more(); position++ {
		if !r.object() {
			continue
		}
		var name text
		at := len(s.fields)
		s.fields, s.parents = append(s.fields, graph.Field{}), append(s.parents, parent)
		var f graph.Field
		for r.member() {
			switch string(r.name) {
			case "name":
				name = r.text()
			case "type":
				f.Type = r.str()
			case "description":
				f.Description = r.str()
			case "ordinal_position":
				f.Ordinal = r.integer()
			case "fields":
				s.fields, s.parents = s.fields[:at+1], s.parents[:at+1]
				s.read(r, at)
			default:
				r.skip()
			}
		}
		f.Path = r.need(name, "name")
		if f.Ordinal <= 0 {
			f.Ordinal = position
		}
		s.fields[at] = f
	}
}

// flatten makes paths of names. Long names of fields that many others are part
// of could make paths of many times the size of the message; such a schema is
// refused.
func (s *schema) flatten(r *reader) {
	most := 1<<20 + 8*len(r.body)
	total := 0
	for i, parent := range s.parents {
		f := &s.fields[i]
		if parent >= 0 && !r.stopped() {
			f.Path = s.fields[parent].Path + "." + f.Path
			total += len(f.Path)
		}
		switch {
		case len(f.Path) > graph.MaxName:
			r.fail("has a field whose path " + tooLong(len(f.Path)))
		case total > most:
			r.fail(fmt.Sprintf("has paths of fields that add up to more than %d bytes", most))
		}
	}
}

// A symlink is another name of a dataset.
type symlink struct {
	name graph.Name
	kind string
}

// stands reports whether the dataset stands for the symlink: the dataset is
// then a location, and the symlink its table.
func (s symlink) stands() bool {
	return strings.EqualFold(s.kind, "TABLE") || strings.EqualFold(s.kind, "DATASET") || strings.EqualFold(s.kind, "VIEW")
}

func symlinksMember(r *reader, list *[]symlink) {
	if string(r.name) != "identifiers" {
		r.skip()
		return
	}
	*list = nil
	if !r.array() {
		return
	}
	for r.more() {
		if !r.object() {
			continue
		}
		var namespace, name text
		var s symlink
		for r.member() {
			switch string(r.name) {
			case "namespace":
				namespace = r.text()
			case "name":
				name = r.text()
			case "type":
				s.kind = r.str()
			default:
				r.skip()
			}
		}
		s.name = r.dataStore(namespace, name)
		*list = append(*list, s)
	}
}

type dataSource struct{ name, uri string }

func dataSourceMember(r *reader, v *dataSource) {
	switch string(r.name) {
	case "name":
		v.name = r.str()
	case "uri":
		v.uri = r.str()
	default:
		r.skip()
	}
}

// platform is the scheme of the address, of the name, or else the name.
func (v dataSource) platform() string {
	for _, s := range [...]string{v.uri, v.name} {
		rest, jdbc := strings.CutPrefix(s, "jdbc:")
		scheme, tail, ok := strings.Cut(rest, ":")
		if ok && isScheme(scheme) && (jdbc || strings.HasPrefix(tail, "/")) {
			return strings.ToLower(scheme)
		}
	}
	return v.name
}

func isScheme(s string) bool {
	for i := range len(s) {
		c := s[i] | 0x20
		if (c < 'a' || c > 'z') && (i == 0 || strings.IndexByte("0123456789+-.", s[i]) < 0) {
			return false
		}
	}
	return s != ""
}

// withoutUser is an address without the name and the password of a user:
// producers send them, and everyone sees addresses.
func withoutUser(address string) string {
	host := strings.Index(address, "://")
	if host < 0 {
		return address
	}
	host += len("://")
	end := len(address)
	if i := strings.IndexAny(address[host:], "/?#"); i >= 0 {
		end = host + i
	}
	if at := strings.LastIndexByte(address[host:end], '@'); at >= 0 {
		return address[:host] + address[host+at+1:]
	}
	return address
}

// A lifecycle is what facet lifecycleStateChange says.
type lifecycle struct {
	change   string
	previous graph.Name
}

func lifecycleMember(r *reader, v *lifecycle) {
	switch string(r.name) {
	case "lifecycleStateChange":
		v.change = strings.ToUpper(r.str())
	case "previousIdentifier":
		v.previous = graph.Name{}
		if namespace, name, ok := r.identifier(); ok {
			v.previous = r.dataStore(namespace, name)
		}
	default:
		r.skip()
	}
}

// identifier reads an object with a namespace and a name; ok reports whether
// there is one.
func (r *reader) identifier() (namespace, name text, ok bool) {
	if !r.object() {
		return namespace, name, false
	}
	for r.member() {
		switch string(r.name) {
		case "namespace":
			namespace = r.text()
		case "name":
			name = r.text()
		default:
			r.skip()
		}
	}
	return namespace, name, !r.stopped()
}
