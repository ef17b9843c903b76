package openlineage

import (
	"cmp"
	"slices"
	"time"

	"headwater/graph"
	"headwater/ingest"
)

// An event is what was read of a message.
type event struct {
	r      reader
	faults faults
	part   part
	// has says which parts are there and not null, at where they begin.
	has [inOutputs + 1]bool
	at  [inOutputs + 1]int64

	eventType, eventTime text
	run                  run
	job                  job
	dataset              datasets // one at most
	inputs, outputs      datasets
	// current is the dataset that is being read.
	current dataset
	// kept holds the facets of all of them; each has a range of it, and so has
	// each group of the node that is being read.
	kept   []keptFacet
	groups [dropped]span
}

func (e *event) read() {
	r := &e.r
	if e.kept == nil {
		e.kept = make([]keptFacet, 0, 8)
	}
	if k := r.token(); k != '{' {
		if r.err == nil {
			reason := "is " + kindName(k) + "; an event is an object"
			if k == '[' {
				reason += "; send the events of a batch one by one"
			}
			e.reject(inEnvelope, true, &fault{path: "$", reason: reason})
		}
		return
	}
	for r.member() {
		switch string(r.name) {
		case "eventType":
			e.eventType = r.text()
		case "eventTime":
			e.eventTime = r.text()
		case "run":
			e.readPart(inRun, e.readRun)
		case "job":
			e.readPart(inJob, e.readJob)
		case "dataset":
			e.readPart(inDataset, func() { e.readDataset(&e.dataset) })
		case "inputs":
			e.readPart(inInputs, func() { e.readDatasets(&e.inputs) })
		case "outputs":
			e.readPart(inOutputs, func() { e.readDatasets(&e.outputs) })
		default:
			r.skip()
		}
	}
	r.end()
}

// readPart reads a part of the event; null is none. A fault in it is fatal for
// the events that need the part. What the part said before is forgotten.
func (e *event) readPart(p part, read func()) {
	r := &e.r
	e.part, e.at[p], e.groups = p, int64(r.to), [dropped]span{}
	e.forget(p)
	switch p {
	case inRun:
		e.run = run{}
	case inJob:
		e.job = job{}
	case inDataset:
		e.dataset = datasets{}
	case inInputs:
		e.inputs = datasets{}
	case inOutputs:
		e.outputs = datasets{}
	}
	if e.has[p] = r.kind() != 'n'; !e.has[p] {
		r.skip()
		return
	}
	depth := r.d.StackDepth()
	read()
	if f := r.catch(depth); f != nil {
		e.reject(p, true, f)
	}
}

// readDatasets reads the inputs or the outputs: each that has no name is told.
func (e *event) readDatasets(l *datasets) {
	r := &e.r
	if !r.array() {
		return
	}
	depth := r.d.StackDepth()
	for r.more() {
		e.readDataset(l)
		if f := r.catch(depth); f != nil {
			e.reject(e.part, true, f)
		}
	}
}

// matters reports whether this kind of event needs the part: a run event and a
// job event do not look at dataset, a dataset event looks at nothing else.
func (e *event) matters(p part) bool {
	process := e.has[inRun] || e.has[inJob]
	return p == inEnvelope || process != (p == inDataset)
}

func (e *event) decoded(received time.Time) ingest.Decoded {
	at, clamped := e.envelope(received)
	e.unread()
	if rejected, fatal := e.faults.rejected(e.matters); fatal {
		return ingest.Decoded{Rejected: rejected}
	}
	var deltas []graph.Delta
	if e.has[inJob] {
		deltas = e.jobDeltas()
	} else {
		deltas = e.datasetDeltas()
	}
	for i := range deltas {
		deltas[i].Origin, deltas[i].Time = cmp.Or(deltas[i].Origin, Origin), at
	}
	d := ingest.Decoded{Deltas: deltas}
	d.Rejected, _ = e.faults.rejected(e.matters)
	if clamped {
		d.Clamped = 1
	}
	return d
}

// envelope checks what every event of its kind has, and returns the time that
// counts.
func (e *event) envelope(received time.Time) (at int64, clamped bool) {
	if e.faults.fatal[inEnvelope] {
		return 0, false // not an object
	}
	r := &e.r
	bad := func(key string, t text, reason string) {
		offset := int64(t.at)
		if t.kind == 0 {
			offset = r.d.InputOffset()
		}
		e.reject(inEnvelope, true, &fault{"$." + key, offset, reason})
	}
	switch {
	case e.has[inRun] && !e.has[inJob]:
		bad("job", text{}, "is missing; a run event names its job")
	case !e.has[inJob] && !e.has[inDataset]:
		e.reject(inEnvelope, true, &fault{path: "$", reason: "has none of run, job and dataset; one of them says what the event is about"})
	}
	if t := e.eventType; e.has[inRun] && t.kind != 0 && t.kind != '"' {
		bad("eventType", t, "is "+kindName(t.kind)+"; it must be a string")
	}
	switch t := e.eventTime; t.kind {
	case 0:
		bad("eventTime", t, "is missing")
	case '"':
		when, err := parseTime(t.s)
		if err != nil {
			bad("eventTime", t, quote(t.s)+" "+err.Error())
			return 0, false
		}
		if !received.IsZero() {
			when, clamped = graph.ClampTime(when, received)
		}
		return when.UnixNano(), clamped
	default:
		bad("eventTime", t, "is "+kindName(t.kind)+"; it must be a string")
	}
	return 0, false
}

// unread reports what this kind of event has no place for.
func (e *event) unread() {
	unread := func(p part, path, reason string) {
		if e.has[p] {
			e.forget(p)
			e.reject(inEnvelope, false, &fault{path, e.at[p], reason})
		}
	}
	if e.has[inRun] || e.has[inJob] {
		unread(inDataset, "$.dataset", "is not read: the event is about a job; send a dataset event")
		return
	}
	unread(inInputs, "$.inputs", "is not read: the event names no job")
	unread(inOutputs, "$.outputs", "is not read: the event names no job")
}

// datasetDeltas says what a dataset event says: the dataset stands in Writes.
func (e *event) datasetDeltas() []graph.Delta {
	e.foreignJobs(&e.dataset)
	d := graph.Delta{Subject: e.dataset.list[0].Name, State: graph.Declared}
	d.Says.Writes = e.dataset.list
	d.Seen = e.seen(graph.Name{}, &e.dataset)
	return []graph.Delta{d}
}

// jobDeltas says what a run event or a job event says.
func (e *event) jobDeltas() []graph.Delta {
	d := graph.Delta{Subject: e.job.name, Says: e.job.says}
	if e.has[inRun] {
		d.Run, d.State = e.run.id, runState(e.eventType.s)
		e.run.lay(d.Subject, &d.Says)
	}
	e.foreignJobs(&e.inputs)
	e.inputs.merge()
	e.outputs.merge()
	d.Says.Reads, d.Says.Writes = e.inputs.list, e.outputs.list
	for i := range e.outputs.more {
		if x := e.outputs.more[i].jobs; x != nil {
			d.Says.Processes = x.flows(d.Says.Processes, d.Subject, d.Subject)
		}
	}
	if len(e.job.entries) > 0 && lay(e.job.entries, d.Subject, &d.Says) {
		e.reject(inJob, false, &fault{path: "$.job.facets.lineage", offset: e.job.lineageAt,
			reason: "datasets that flow into another job are not taken; send them as inputs of an event of that job"})
	}
	deltas := []graph.Delta{d}
	for i := range d.Says.Reads {
		if said, ok := ofInput(&d.Says.Reads[i]); ok {
			deltas = append(deltas, said)
		}
	}
	deltas[0].Seen = e.seen(d.Subject, &e.inputs, &e.outputs)
	return deltas
}

// ofInput takes from an input what is said of its own lineage: the dataset
// says so, not the job that reads it.
func ofInput(in *graph.Dataset) (graph.Delta, bool) {
	deleted := slices.Index(in.Facts.Deleted, graph.FactLineage)
	if in.Lineage == nil && deleted < 0 {
		return graph.Delta{}, false
	}
	says := graph.Dataset{Name: in.Name, Lineage: in.Lineage}
	in.Lineage = nil
	if deleted >= 0 {
		in.Facts.Deleted = slices.Delete(in.Facts.Deleted, deleted, deleted+1)
		says.Facts.Deleted = []string{graph.FactLineage}
	}
	return graph.Delta{Subject: in.Name, Origin: OriginInputs, State: graph.Declared, Says: graph.Content{Writes: []graph.Dataset{says}}}, true
}

// foreignJobs reports the jobs that facet lineage of datasets names where the
// event's job writes none of them.
func (e *event) foreignJobs(l *datasets) {
	for i := range l.more {
		if m := &l.more[i]; m.jobs != nil {
			e.reject(inEnvelope, false, &fault{path: m.path, offset: m.at,
				reason: "a job that feeds the dataset is not taken from its facet lineage; send an event of that job"})
		}
	}
}
