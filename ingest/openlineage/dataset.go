package openlineage

import (
	"slices"

	"headwater/graph"
)

// A datasets is the inputs, the outputs, or the one dataset of an event.
type datasets struct {
	list []graph.Dataset
	// more has what else was said of some of them.
	more []more
}

// A more is what an event says of a dataset beside what it is.
type more struct {
	name       graph.Name
	kept       span
	partitions []string
	// jobs feed the dataset, by its facet lineage; nil: none do. path and at
	// say where that stands.
	jobs *explicit
	path string
	at   int64
}

// A dataset is one dataset as it is read, before its name is known.
type dataset struct {
	facts     graph.Facts
	deleted   [len(datasetFacts)]bool
	symlinks  []symlink
	source    dataSource
	lifecycle lifecycle
	columns   graph.Lineage
	explicit  explicit
	more      more
}

// datasetFacts are the facts of a dataset that a facet can delete, in the
// order in which they are told.
var datasetFacts = [...]string{graph.FactSchema, graph.FactOwners, graph.FactTags, graph.FactDescription, graph.FactKind,
	graph.FactPlatform, graph.FactSymlinks, graph.FactLifecycle, graph.FactLineage}

// readDataset reads one dataset and adds it to l.
func (e *event) readDataset(l *datasets) {
	r := &e.r
	if k := r.token(); k != '{' {
		r.wrong(k, "an object")
		return
	}
	d := &e.current
	*d, e.groups = dataset{}, [dropped]span{}
	var namespace, name text
	from := len(e.kept)
	for r.member() {
		switch string(r.name) {
		case "namespace":
			namespace = r.text()
		case "name":
			name = r.text()
		case "facets":
			*d = dataset{more: more{partitions: d.more.partitions}}
			e.readFacets(facets, e.datasetFacet)
		case "inputFacets":
			e.readFacets(inputFacets, e.inputFacet)
		case "outputFacets":
			d.more.partitions = nil
			e.readFacets(outputFacets, e.outputFacet)
		default:
			r.skip()
		}
	}
	n := r.dataStore(namespace, name)
	if r.stopped() {
		e.kept = e.kept[:from]
		return
	}
	l.list = append(l.list, d.named(n))
	if m := &d.more; len(e.kept) > from || len(m.partitions) > 0 || m.jobs != nil {
		m.name = n
		m.kept = e.keptFrom(from)
		l.more = append(l.more, *m)
	}
}

// named turns what was read into what is said of the dataset n.
func (d *dataset) named(n graph.Name) graph.Dataset {
	said := graph.Dataset{Name: n, Facts: d.facts, Lineage: d.explicit.upstream(), Lifecycle: d.lifecycle.change}
	if l := &d.columns; said.Lineage == nil && len(l.Columns)+len(l.Inputs) > 0 {
		said.Lineage = &graph.Lineage{Columns: l.Columns, Inputs: l.Inputs}
	}
	if p := d.lifecycle.previous; said.Lifecycle == "RENAME" && p != n {
		said.RenamedFrom = p
	}
	for i, deleted := range d.deleted {
		if deleted {
			said.Facts.Deleted = append(said.Facts.Deleted, datasetFacts[i])
		}
	}
	for _, s := range d.symlinks {
		a := graph.Alias{From: s.name, To: n}
		if s.stands() {
			a = graph.Alias{From: n, To: s.name}
		}
		if !sameStore(s.name, n) {
			said.Aliases = append(said.Aliases, a)
		}
	}
	return said
}

func sameStore(a, b graph.Name) bool {
	if a == b {
		return true
	}
	aNamespace, aName := a.Folded()
	bNamespace, bName := b.Folded()
	return aNamespace == bNamespace && aName == bName
}

// merge joins the datasets of l that have one name: of each facet the last
// counts, but facet lineage wins over columnLineage wherever it stands.
func (l *datasets) merge() {
	if len(l.list) < 2 {
		return
	}
	var at index
	repeated := false
	place := make([]int, len(l.list))
	for i := range l.list {
		var again bool
		place[i], again = at.find(l.list[i].Name, i)
		repeated = repeated || again
	}
	if !repeated {
		return
	}
	deleted := make([][]string, len(l.list))
	complete := make([]bool, len(l.list))
	for i := range l.list {
		d, first := &l.list[i], place[i]
		gone := slices.Contains(d.Facts.Deleted, graph.FactLineage)
		complete[first] = complete[first] && !gone
		switch {
		case d.Lineage == nil:
		case d.Lineage.Complete:
			complete[first] = true
		case complete[first]:
			d.Lineage = nil
		}
		for _, f := range d.Facts.Deleted {
			if !slices.Contains(deleted[first], f) {
				deleted[first] = append(deleted[first], f)
			}
		}
	}
	l.list = graph.Fold(&graph.Content{Reads: l.list}).Reads
	for i := range l.list {
		// Fold takes deletions as done; for the other events of the run they
		// are still to be told.
		first, _ := at.find(l.list[i].Name, 0)
		l.list[i].Facts.Deleted = deleted[first]
	}
}

// An index finds data stores by the names under which they are compared.
type index struct {
	names  [few][2]string
	places [few]int
	n      int
	all    map[[2]string]int
}

// find returns where n is. A name that is new is put at place.
func (x *index) find(n graph.Name, place int) (at int, ok bool) {
	namespace, name := n.Folded()
	k := [2]string{namespace, name}
	if x.all != nil {
		if at, ok = x.all[k]; !ok {
			x.all[k] = place
			at = place
		}
		return at, ok
	}
	for i := range x.n {
		if x.names[i] == k {
			return x.places[i], true
		}
	}
	if x.n < few {
		x.names[x.n], x.places[x.n] = k, place
		x.n++
		return place, false
	}
	x.all = make(map[[2]string]int, 2*few)
	for i := range x.n {
		x.all[x.names[i]] = x.places[i]
	}
	x.all[k] = place
	return place, false
}
