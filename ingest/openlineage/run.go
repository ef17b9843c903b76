package openlineage

import (
	"strings"

	"headwater/graph"
)

// A run is what an event says of its run.
type run struct {
	id     string
	parent parent
	// engine is what runs the job: the kind of a job that says none.
	engine  string
	waits   dependencies
	deleted []string
	kept    span
}

func (e *event) readRun() {
	r := &e.r
	if !r.object() {
		return
	}
	var id text
	from := len(e.kept)
	for r.member() {
		switch string(r.name) {
		case "runId":
			id = r.text()
		case "facets":
			e.run = run{}
			e.readFacets(runFacets, e.runFacet)
		default:
			r.skip()
		}
	}
	e.run.id = r.need(id, "runId")
	e.run.kept = e.keptFrom(from)
}

// runFacet reads a facet of a run. All are kept: even those that are
// understood tell something of this run alone.
func (e *event) runFacet(name []byte) {
	var how found
	var raw []byte
	switch string(name) {
	case "parent":
		how, raw = readFacet(e, &e.run.parent, parentMember)
		e.run.deletes(graph.FactParent, how)
	case "jobDependencies":
		how, raw = readFacet(e, &e.run.waits, dependenciesMember)
		e.run.deletes(graph.FactProcesses, how)
	case "processing_engine":
		_, raw = readFacet(e, &e.run.engine, engineMember)
	default:
		e.keepUnread(runFacets, name)
	}
	e.keep(runFacets, name, raw)
}

func (x *run) deletes(fact string, how found) {
	if how == deleted {
		x.deleted = append(x.deleted, fact)
	}
}

// lay adds what the run says to what its job says.
func (x *run) lay(job graph.Name, says *graph.Content) {
	if says.Parent = x.parent.job; says.Parent.IsZero() {
		says.Parent = x.parent.root
	}
	for _, n := range x.waits.upstream {
		says.Processes = addFlow(says.Processes, n, job, graph.Control)
	}
	for _, n := range x.waits.downstream {
		says.Processes = addFlow(says.Processes, job, n, graph.Control)
	}
	if says.Facts.Kind == "" {
		says.Facts.Kind = strings.ToUpper(x.engine)
	}
	says.Facts.Deleted = append(says.Facts.Deleted, x.deleted...)
}

// A parent is what facet parent says: the job that this one runs under, and
// the one that all run under.
type parent struct{ job, root graph.Name }

func parentMember(r *reader, v *parent) {
	switch string(r.name) {
	case "job":
		v.job = r.jobName()
	case "root":
		v.root = graph.Name{}
		if r.object() {
			for r.member() {
				if string(r.name) == "job" {
					v.root = r.jobName()
				} else {
					r.skip()
				}
			}
		}
	default:
		r.skip()
	}
}

// jobName reads an object that names a job; null names none.
func (r *reader) jobName() graph.Name {
	namespace, name, ok := r.identifier()
	if !ok {
		return graph.Name{}
	}
	return r.process(namespace, name)
}

// process names a process by what the object that was just left says.
func (r *reader) process(namespace, name text) graph.Name {
	return graph.Name{Kind: graph.ProcessKind, Region: r.region, Namespace: r.need(namespace, "namespace"), Name: r.need(name, "name")}
}

func engineMember(r *reader, v *string) { r.one("name", v) }

// A dependencies is what facet jobDependencies says: the jobs that this one
// waits for, and those that wait for it.
type dependencies struct{ upstream, downstream []graph.Name }

func dependenciesMember(r *reader, v *dependencies) {
	switch string(r.name) {
	case "upstream":
		v.upstream = r.dependencies()
	case "downstream":
		v.downstream = r.dependencies()
	default:
		r.skip()
	}
}

func (r *reader) dependencies() []graph.Name {
	var list []graph.Name
	if !r.array() {
		return nil
	}
	for r.more() {
		if !r.object() {
			continue
		}
		var n graph.Name
		for r.member() {
			if string(r.name) == "job" {
				n = r.jobName()
			} else {
				r.skip()
			}
		}
		if n.IsZero() {
			r.fail("names no job")
		}
		list = append(list, n)
	}
	return list
}

// A job is what an event says of its job.
type job struct {
	name graph.Name
	says graph.Content
	kind jobType
	sql  sql
	// entries are those of facet lineage.
	entries   []explicit
	lineageAt int64
	deleted   [len(jobFacts)]bool
	kept      span
}

// jobFacts are the facts of a job that a facet can delete, in the order in
// which they are told.
var jobFacts = [...]string{graph.FactKind, graph.FactSQL, graph.FactDescription, graph.FactOwners, graph.FactTags, graph.FactPlatform, graph.FactLineage}

func (e *event) readJob() {
	r := &e.r
	if !r.object() {
		return
	}
	var namespace, name text
	from := len(e.kept)
	for r.member() {
		switch string(r.name) {
		case "namespace":
			namespace = r.text()
		case "name":
			name = r.text()
		case "facets":
			e.job = job{}
			e.readFacets(facets, e.jobFacet)
		default:
			r.skip()
		}
	}
	e.job.name = r.process(namespace, name)
	e.job.kept = e.keptFrom(from)
	for i, deleted := range e.job.deleted {
		if deleted {
			e.job.says.Facts.Deleted = append(e.job.says.Facts.Deleted, jobFacts[i])
		}
	}
}

// jobFacet reads a facet of a job.
func (e *event) jobFacet(name []byte) {
	var how found
	var raw []byte
	says := &e.job.says
	fact := ""
	switch string(name) {
	case "jobType":
		v := &e.job.kind
		how, raw = readFacet(e, v, jobTypeMember)
		says.Facts.Kind = strings.ToUpper(v.integration)
		says.Streaming = strings.EqualFold(v.processing, "STREAMING") || strings.EqualFold(v.processing, "SERVICE")
		fact = graph.FactKind
	case "sql":
		v := &e.job.sql
		how, raw = readFacet(e, v, sqlMember)
		says.SQL, says.Dialect = v.query, strings.ToLower(v.dialect)
		fact = graph.FactSQL
	case "documentation":
		how, raw = readFacet(e, &says.Facts.Description, documentationMember)
		fact = graph.FactDescription
	case "ownership":
		how, raw = readFacet(e, &says.Facts.Owners, ownersMember)
		fact = graph.FactOwners
	case "tags":
		how, raw = readFacet(e, &says.Facts.Tags, tagsMember)
		fact = graph.FactTags
	case "sourceCodeLocation":
		how, raw = readFacet(e, &says.Facts.URL, codeMember)
		says.Facts.URL = withoutUser(says.Facts.URL)
		fact = graph.FactPlatform
	case "lineage":
		e.job.lineageAt = e.r.d.InputOffset()
		how, raw = readFacet(e, &e.job.entries, entriesMember)
		fact = graph.FactLineage
	default:
		e.keepUnread(facets, name)
		return
	}
	for i := range jobFacts {
		if jobFacts[i] == fact {
			e.job.deleted[i] = how == deleted
		}
	}
	switch string(name) {
	case "jobType", "sourceCodeLocation":
		e.keep(facets, name, raw) // it holds more than is understood
	case "lineage":
		if how == deleted || namesJobs(e.job.entries) {
			e.keep(facets, name, raw) // so does this: runs, transformations
			break
		}
		fallthrough
	default:
		e.keepUnless(how, facets, name, raw)
	}
}

type jobType struct{ processing, integration string }

func jobTypeMember(r *reader, v *jobType) {
	switch string(r.name) {
	case "processingType":
		v.processing = r.str()
	case "integration":
		v.integration = r.str()
	default:
		r.skip()
	}
}

func codeMember(r *reader, v *string) { r.one("url", v) }

type sql struct{ query, dialect string }

func sqlMember(r *reader, v *sql) {
	switch string(r.name) {
	case "query":
		v.query = r.str()
	case "dialect":
		v.dialect = r.str()
	default:
		r.skip()
	}
}

// ownersMember reads facet ownership of a job or a dataset.
func ownersMember(r *reader, owners *[]string) {
	if string(r.name) != "owners" {
		r.skip()
		return
	}
	*owners = nil
	if !r.array() {
		return
	}
	for r.more() {
		if !r.object() {
			continue
		}
		var name text
		for r.member() {
			if string(r.name) == "name" {
				name = r.text()
			} else {
				r.skip()
			}
		}
		*owners = append(*owners, r.need(name, "name"))
	}
}

// tagsMember reads facet tags of a job or a dataset.
func tagsMember(r *reader, tags *[]graph.Tag) {
	if string(r.name) != "tags" {
		r.skip()
		return
	}
	*tags = nil
	if !r.array() {
		return
	}
	for r.more() {
		if !r.object() {
			continue
		}
		var name, column text
		var t graph.Tag
		for r.member() {
			switch string(r.name) {
			case "key":
				name = r.text()
			case "value":
				t.Value = r.str()
			case "field":
				column = r.text()
			default:
				r.skip()
			}
		}
		t.Name, t.Column = r.need(name, "key"), r.may(column, "field")
		*tags = append(*tags, t)
	}
}
