package openlineage

import (
	"slices"
	"strings"

	"headwater/graph"
)

// An explicit is what facet lineage 1-0-0 says flows into one target.
type explicit struct {
	// target is set for the entries of a job; its name is empty for the
	// event's own job.
	target graph.Name
	// said tells an entry without inputs from one that says there are none.
	said    bool
	lineage graph.Lineage
	// jobs are the sources that are jobs, those of the target first, then
	// those of its fields; an empty name is the event's own.
	jobs [2][]graph.Source
}

// explicitMember reads a member of facet lineage in the form that datasets
// have.
func explicitMember(r *reader, x *explicit) {
	switch string(r.name) {
	case "inputs":
		x.inputs(r)
	case "fields":
		x.fields(r)
	default:
		r.skip()
	}
}

func (x *explicit) inputs(r *reader) {
	if r.kind() == 'n' {
		r.skip()
		return
	}
	x.said, x.jobs[0] = true, nil
	x.lineage.Inputs = mergeSources(unspecified(split(r.sources(), &x.jobs[0])))
}

func (x *explicit) fields(r *reader) {
	if r.kind() == 'n' {
		r.skip()
		return
	}
	x.said, x.jobs[1] = true, nil
	x.lineage.Columns = r.columns(func(r *reader) []graph.Source {
		if !r.object() {
			return nil
		}
		var list []graph.Source
		for r.member() {
			if string(r.name) == "inputs" {
				list = r.sources()
			} else {
				r.skip()
			}
		}
		list = split(list, &x.jobs[1])
		for i := range list {
			if list[i].Kinds == 0 {
				list[i].Kinds = graph.Transformation
			}
		}
		return mergeSources(list)
	})
}

// sources reads an array of datasets and jobs.
func (r *reader) sources() []graph.Source {
	var list []graph.Source
	if r.array() {
		for r.more() {
			list = r.source(list, true)
		}
	}
	return list
}

// split moves the jobs in list to jobs.
func split(list []graph.Source, jobs *[]graph.Source) []graph.Source {
	stores := list[:0]
	for _, s := range list {
		if s.Name.Kind == graph.ProcessKind {
			*jobs = append(*jobs, s)
		} else {
			stores = append(stores, s)
		}
	}
	return stores
}

// upstream returns the lineage that x states, nil where it states none.
func (x *explicit) upstream() *graph.Lineage {
	if !x.said {
		return nil
	}
	return &graph.Lineage{Complete: true, Columns: x.lineage.Columns, Inputs: x.lineage.Inputs}
}

// entriesMember reads a member of facet lineage in the form that jobs have.
func entriesMember(r *reader, entries *[]explicit) {
	if string(r.name) != "entries" {
		r.skip()
		return
	}
	*entries = nil
	if r.array() {
		for r.more() {
			if x, ok := r.entry(); ok {
				*entries = append(*entries, x)
			}
		}
	}
}

func (r *reader) entry() (x explicit, ok bool) {
	if !r.object() {
		return x, false
	}
	var namespace, name, kind text
	for r.member() {
		switch string(r.name) {
		case "namespace":
			namespace = r.text()
		case "name":
			name = r.text()
		case "type":
			kind = r.text()
		case "inputs":
			x.inputs(r)
		case "fields":
			x.fields(r)
		default:
			r.skip()
		}
	}
	x.target = r.entity(namespace, name, kind)
	return x, !r.stopped()
}

// entity names what the object that was just left says: a data store, or a job
// (type JOB), whose empty name is the event's own.
func (r *reader) entity(namespace, name, kind text) graph.Name {
	switch k := r.may(kind, "type"); {
	case k == "" || strings.EqualFold(k, "DATASET"):
		return r.dataStore(namespace, name)
	case !strings.EqualFold(k, "JOB"):
		r.fail("has the type " + quote(k) + "; it must be DATASET or JOB")
		return graph.Name{}
	case namespace.kind == 0 && name.kind == 0:
		return graph.Name{Kind: graph.ProcessKind, Region: r.region}
	}
	return r.process(namespace, name)
}

// lay lays what facet lineage of the job says over what the event reads and
// writes. It reports whether something flows into another job than the event's
// own, which is that job's to say.
func lay(entries []explicit, job graph.Name, says *graph.Content) (foreign bool) {
	var writes, reads index
	for i := range says.Writes {
		writes.find(says.Writes[i].Name, i)
	}
	for i := range says.Reads {
		reads.find(says.Reads[i].Name, i)
	}
	for i := range entries {
		x := &entries[i]
		to := job
		if x.target.Kind == graph.ProcessKind && x.target.Name != "" {
			to = x.target
		}
		says.Processes = x.flows(says.Processes, job, to)
		switch l := x.upstream(); {
		case l == nil:
		case x.target.Kind == graph.DataStoreKind:
			at, ok := writes.find(x.target, len(says.Writes))
			if !ok {
				says.Writes = append(says.Writes, graph.Dataset{Name: x.target})
			}
			w := &says.Writes[at]
			if w.Lineage != nil && w.Lineage.Complete {
				w.Lineage.Inputs = append(w.Lineage.Inputs, l.Inputs...)
				w.Lineage.Columns = append(w.Lineage.Columns, l.Columns...)
			} else {
				w.Lineage = l
			}
		case to == job:
			for _, s := range l.Inputs {
				if _, ok := reads.find(s.Name.DataStore(), len(says.Reads)); !ok {
					says.Reads = append(says.Reads, graph.Dataset{Name: s.Name.DataStore()})
				}
			}
		default:
			foreign = foreign || len(l.Inputs) > 0
		}
	}
	return foreign
}

// flows adds the flows from the jobs of x to the process to. job is the
// event's own.
func (x *explicit) flows(flows []graph.ProcessFlow, job, to graph.Name) []graph.ProcessFlow {
	for _, jobs := range x.jobs {
		for _, s := range jobs {
			from := s.Name
			if from.Name == "" {
				from = job
			}
			flows = addFlow(flows, from, to, s.Kinds)
		}
	}
	return flows
}

// namesJobs reports whether a target or a source is a job.
func namesJobs(entries []explicit) bool {
	return slices.ContainsFunc(entries, func(x explicit) bool {
		return x.target.Kind == graph.ProcessKind || len(x.jobs[0])+len(x.jobs[1]) > 0
	})
}

// addFlow adds a flow between two processes that are not the same.
func addFlow(flows []graph.ProcessFlow, from, to graph.Name, kinds graph.Kinds) []graph.ProcessFlow {
	if from == to {
		return flows
	}
	if kinds == 0 {
		kinds = graph.Other
	}
	return append(flows, graph.ProcessFlow{From: from, To: to, Kinds: kinds})
}
