// Package openlineage decodes OpenLineage events (specification 2-0-2: run,
// dataset and job events) into deltas. It does no I/O and keeps no state.
//
// The pieces: reader.go walks a message once, over jsontext; fault.go says
// where and why something cannot be taken; time.go reads event times; event.go
// reads the envelope and puts the deltas together. run.go reads runs and jobs
// with their facets; dataset.go reads datasets, datasetfacets.go and subset.go
// their facets; facet.go is what facets have in common, and keeps those that
// are only seen. lineage.go reads facet columnLineage, explicit.go facet
// lineage. DESIGN.md has the decisions that the specification left open.
//
// What is understood and stable becomes graph.Content. What changes with every
// run, or is not understood, goes to graph.Seen as it was sent.
//
// An event is taken or it is not: what is wrong with its envelope or with a
// name is fatal. A facet that is not what its schema says is kept as seen and
// reported, and the event is taken without it. Of a key that an object has
// twice the last counts.
package openlineage

import (
	"bytes"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"headwater/graph"
	"headwater/ingest"
)

// Origin is the origin of what OpenLineage events say.
const Origin = "openlineage"

// OriginInputs is the origin of the lineage that events give of their inputs:
// it is said about the dataset, and must not replace what a dataset event says
// of it, nor be replaced by that.
const OriginInputs = Origin + "/inputs"

// Decode reads one event. Its deltas begin with that of the event's subject:
// the job, or the dataset where there is no job. Those that follow state the
// lineage that an event gives of its inputs, which are no output of the job.
// The deltas do not share memory with the message.
func Decode(m ingest.Message) ingest.Decoded { return new(event).decode(m) }

// NewDecoder returns Decode for many events: what one event needed of memory
// the next uses again, and what many repeat takes memory once. It may be used
// by many at once.
func NewDecoder() ingest.Decoder {
	var events sync.Pool
	return func(m ingest.Message) ingest.Decoded {
		e, ok := events.Get().(*event)
		if !ok {
			e = new(event)
		}
		d := e.decode(m) // where it panics, e is not used again
		if e.reset() {
			events.Put(e)
		}
		return d
	}
}

func (e *event) decode(m ingest.Message) ingest.Decoded {
	if bad, deep := tooDeep(m.Body); deep {
		return ingest.Decoded{Rejected: []ingest.Rejected{bad}}
	}
	e.r.open(m.Body, m.Region)
	e.read()
	if e.r.err != nil {
		return ingest.Decoded{Rejected: []ingest.Rejected{notJSON(m.Body)}}
	}
	return e.decoded(m.Received)
}

// reset makes an event ready for the next message, but for what is worth
// keeping. It returns false where the message was so large that none is.
func (e *event) reset() bool {
	const large = 1024
	r := &e.r
	if cap(r.schema.fields) > large || cap(e.kept) > large || len(r.body) > 1<<20 {
		return false
	}
	clear(e.kept)
	clear(r.schema.fields)
	*e = event{kept: e.kept[:0], r: reader{d: r.d, recent: r.recent, arena: r.arena, schema: r.schema}}
	r.d.Reset(bytes.NewBuffer(nil), jsontext.AllowDuplicateNames(true)) // lets go of the message
	r.schema.reset()
	return true
}

// runState reads an eventType. What is not known adds to the run.
func runState(eventType string) graph.RunState {
	switch {
	case strings.EqualFold(eventType, "START"):
		return graph.Started
	case strings.EqualFold(eventType, "COMPLETE"):
		return graph.Completed
	case strings.EqualFold(eventType, "FAIL"):
		return graph.Failed
	case strings.EqualFold(eventType, "ABORT"):
		return graph.Aborted
	}
	return graph.Running
}
