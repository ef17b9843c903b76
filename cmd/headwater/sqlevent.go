package main

import (
	"time"

	"github.com/google/uuid"

	"headwater/graph"
	"headwater/ingest/derive"
	"headwater/ingest/sql"
)

const (
	sqlProducer = "https://headwater.invalid/sql"
	specEvents  = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/"
	specFacets  = "https://openlineage.io/spec/facets/"
)

type object map[string]any

// sqlFacet is an OpenLineage facet (facets/<file>.json#/$defs/<name>).
func sqlFacet(file string, o object) object {
	o["_producer"], o["_schemaURL"] = sqlProducer, specFacets+file
	return o
}

// sqlRunEvent tells what a script does as an OpenLineage run event of a job
// that has the name of the script's file.
func sqlRunEvent(file string, a *sql.Analysis, now time.Time) object {
	if file == "-" {
		file = "stdin"
	}
	d := derive.Deriver{}
	content := d.ContentOf(graph.Name{Kind: graph.ProcessKind, Namespace: "sql", Name: file}, a)
	inputs, outputs := []object{}, []object{}
	if content != nil {
		for i := range content.Reads {
			inputs = append(inputs, object{"namespace": content.Reads[i].Name.Namespace, "name": content.Reads[i].Name.Name})
		}
		for i := range content.Writes {
			outputs = append(outputs, outputDataset(&content.Writes[i]))
		}
	}
	return object{
		"eventType": "COMPLETE", "eventTime": now.UTC().Format(time.RFC3339Nano), "producer": sqlProducer, "schemaURL": specEvents + "RunEvent",
		"run": object{"runId": uuid.NewString()},
		"job": object{"namespace": "sql", "name": file, "facets": object{
			"sql":     sqlFacet("1-0-1/SQLJobFacet.json#/$defs/SQLJobFacet", object{"query": a.Text}),
			"jobType": sqlFacet("2-0-3/JobTypeJobFacet.json#/$defs/JobTypeJobFacet", object{"processingType": "BATCH", "integration": "SQL", "jobType": "QUERY"}),
		}},
		"inputs": inputs, "outputs": outputs,
	}
}

func outputDataset(w *graph.Dataset) object {
	facets := object{}
	if w.Lineage != nil {
		facets["columnLineage"] = columnLineage(w.Lineage)
	}
	if len(w.Facts.Columns) > 0 {
		var fields []object
		for _, c := range w.Facts.Columns {
			field := object{"name": c.Path}
			if c.Type != "" {
				field["type"] = c.Type
			}
			fields = append(fields, field)
		}
		facets["schema"] = sqlFacet("1-1-1/SchemaDatasetFacet.json#/$defs/SchemaDatasetFacet", object{"fields": fields})
	}
	return object{"namespace": w.Name.Namespace, "name": w.Name.Name, "facets": facets}
}

func columnLineage(l *graph.Lineage) object {
	fields := object{}
	for _, c := range l.Columns {
		inputs := []object{}
		for i := range c.Inputs {
			inputs = append(inputs, inputField(&c.Inputs[i]))
		}
		fields[c.Column] = object{"inputFields": inputs}
	}
	dataset := []object{}
	for i := range l.Inputs {
		if l.Inputs[i].Name.Column != "" {
			dataset = append(dataset, inputField(&l.Inputs[i]))
		}
	}
	return sqlFacet("1-2-0/ColumnLineageDatasetFacet.json#/$defs/ColumnLineageDatasetFacet", object{"fields": fields, "dataset": dataset})
}

func inputField(s *graph.Source) object {
	transformations := []object{}
	for _, kind := range s.Kinds.Names() {
		t := object{"type": "INDIRECT", "subtype": kind, "masking": s.Masking}
		if graph.ParseKind(kind)&graph.DirectKinds != 0 {
			t["type"] = "DIRECT"
			if s.Expression != "" {
				t["description"] = s.Expression
			}
		}
		transformations = append(transformations, t)
	}
	return object{"namespace": s.Name.Namespace, "name": s.Name.Name, "field": s.Name.Column, "transformations": transformations}
}
