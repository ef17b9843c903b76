package graphtest

import (
	"strconv"
	"time"

	"headwater/graph"
)

const (
	producer = `"_producer":"https://headwater.invalid","_schemaURL":"https://openlineage.io/spec/facets/`
	envelope = `"producer":"https://headwater.invalid","schemaURL":"https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"`
)

// AppendEvent appends to b the OpenLineage event with which a task reports a
// run. It is written by hand, not marshalled, for it is made by the million.
func AppendEvent(b []byte, t Task) []byte {
	w := events{b}
	w.raw(`{"eventType":"COMPLETE","eventTime":`)
	w.text(t.Start.Format(time.RFC3339Nano))
	w.raw(`,` + envelope + `,"run":{"runId":`)
	w.text(t.Run)
	w.raw(`},"job":{"namespace":"scheduler","name":`)
	w.text(t.Name)
	w.raw(`,"facets":{"jobType":{` + producer + `2-0-3/JobTypeJobFacet.json","processingType":"BATCH","integration":`)
	w.text(t.Kind)
	w.raw(`}}},"inputs":[`)
	for i := range t.Inputs {
		w.comma(i)
		w.raw(`{`)
		w.table(&t.Inputs[i])
		w.raw(`}`)
	}
	w.raw(`],"outputs":[{`)
	w.table(&t.Output)
	w.raw(`,"facets":{"schema":{` + producer + `1-2-0/SchemaDatasetFacet.json","fields":[`)
	for i, c := range t.Output.Columns {
		w.comma(i)
		w.raw(`{"name":`)
		w.text(c)
		w.raw(`,"type":"string"}`)
	}
	w.raw(`]}`)
	if len(t.Columns) > 0 {
		w.raw(`,"columnLineage":{` + producer + `1-2-0/ColumnLineageDatasetFacet.json","fields":{`)
		for i, c := range t.Columns {
			w.comma(i)
			w.text(c.Name)
			w.raw(`:{"inputFields":`)
			w.sources(&t, c.Sources)
			w.raw(`}`)
		}
		w.raw(`},"dataset":`)
		w.sources(&t, t.Keys)
		w.raw(`}`)
	}
	w.raw(`}}]}`)
	return w.b
}

// An events writes JSON.
type events struct{ b []byte }

func (w *events) raw(s string) { w.b = append(w.b, s...) }

func (w *events) comma(i int) {
	if i > 0 {
		w.raw(`,`)
	}
}

// text writes a string. Names of a platform hold nothing that Go and JSON quote
// in different ways.
func (w *events) text(s string) { w.b = strconv.AppendQuote(w.b, s) }

func (w *events) table(t *Table) {
	w.raw(`"namespace":`)
	w.text(t.Namespace)
	w.raw(`,"name":`)
	w.text(t.Name)
}

func (w *events) sources(t *Task, list []TaskSource) {
	w.raw(`[`)
	for i, s := range list {
		w.comma(i)
		w.raw(`{`)
		w.table(&t.Inputs[s.Input])
		w.raw(`,"field":`)
		w.text(s.Column)
		w.raw(`,"transformations":[`)
		for j, k := range s.Kinds.Names() {
			w.comma(j)
			w.raw(`{"type":"`)
			if graph.ParseKind(k)&graph.DirectKinds == 0 {
				w.raw(`IN`)
			}
			w.raw(`DIRECT","subtype":`)
			w.text(k)
			w.raw(`}`)
		}
		w.raw(`]}`)
	}
	w.raw(`]`)
}
