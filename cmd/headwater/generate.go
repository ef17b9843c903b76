package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"headwater/graph"
	"headwater/graph/graphtest"
)

func generateCommand(out, log io.Writer) func(*flag.FlagSet) func(context.Context, []string) error {
	return func(f *flag.FlagSet) func(context.Context, []string) error {
		tasks := f.Int("tasks", 1000, "how many `tasks` the platform has")
		runs := f.Int("runs", 1, "how many `runs` each task reports")
		changing := f.Int("changing", 0, "how many of 1,000 tasks change from run to run")
		seed := f.Uint64("seed", 1, "the same `seed` gives the same platform")
		file := f.String("out", "-", "`file` to write, one event a line; - is standard output")
		return func(ctx context.Context, args []string) (err error) {
			if len(args) > 0 || *tasks < 1 || *runs < 1 || *changing < 0 || *changing > 1000 {
				return errUsage
			}
			w := out
			if *file != "-" {
				f, cerr := os.Create(*file)
				if cerr != nil {
					return cerr
				}
				defer func() { err = errors.Join(err, f.Close()) }()
				w = f
			}
			b := bufio.NewWriterSize(w, 1<<20)
			p := graphtest.Platform{Tasks: *tasks, Seed: *seed, Changing: *changing}
			terminal := isTerminal(log) && *file != "-"
			shown := time.Now()
			for run := range *runs {
				for i := range *tasks {
					line, err := json.Marshal(taskEvent(p.Task(i, run)))
					if err != nil {
						return err
					}
					if _, err := b.Write(append(line, '\n')); err != nil {
						return err
					}
					if now := time.Now(); terminal && now.Sub(shown) > 200*time.Millisecond {
						shown = now
						fmt.Fprintf(log, "\r\x1b[K%3d%%", percent(int64(run**tasks+i), int64(*runs**tasks)))
					}
					if err := ctx.Err(); err != nil {
						return err
					}
				}
			}
			if terminal {
				fmt.Fprint(log, "\r\x1b[K")
			}
			return b.Flush()
		}
	}
}

type object map[string]any

// members are those of an object, in their order.
type members []member

type member struct {
	name  string
	value any
}

// MarshalJSON implements json.Marshaler.
func (m members) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, x := range m {
		if i > 0 {
			b = append(b, ',')
		}
		for _, part := range []any{x.name, x.value} {
			p, err := json.Marshal(part)
			if err != nil {
				return nil, err
			}
			b = append(append(b, p...), ':')
		}
		b = b[:len(b)-1]
	}
	return append(b, '}'), nil
}

const generatorProducer = "https://headwater.invalid/generate"

// taskEvent is the OpenLineage event with which a task reports a run.
func taskEvent(t graphtest.Task) object {
	facet := func(schema string, o object) object {
		o["_producer"] = generatorProducer
		o["_schemaURL"] = "https://openlineage.io/spec/facets/" + schema
		return o
	}
	source := func(s graphtest.TaskSource) object {
		var transformations []object
		for _, k := range s.Kinds.Names() {
			kind := "INDIRECT"
			if graph.ParseKind(k)&graph.DirectKinds != 0 {
				kind = "DIRECT"
			}
			transformations = append(transformations, object{"type": kind, "subtype": k})
		}
		in := t.Inputs[s.Input]
		return object{"namespace": in.Namespace, "name": in.Name, "field": s.Column, "transformations": transformations}
	}
	inputs := []object{}
	for _, in := range t.Inputs {
		inputs = append(inputs, object{"namespace": in.Namespace, "name": in.Name})
	}
	var fields []object
	for _, c := range t.Output.Columns {
		fields = append(fields, object{"name": c, "type": "string"})
	}
	facets := object{"schema": facet("1-2-0/SchemaDatasetFacet.json", object{"fields": fields})}
	if len(t.Columns) > 0 {
		var lineage members
		for _, c := range t.Columns {
			var from []object
			for _, s := range c.Sources {
				from = append(from, source(s))
			}
			lineage = append(lineage, member{c.Name, object{"inputFields": from}})
		}
		var keys []object
		for _, k := range t.Keys {
			keys = append(keys, source(k))
		}
		facets["columnLineage"] = facet("1-2-0/ColumnLineageDatasetFacet.json", object{"fields": lineage, "dataset": keys})
	}
	return object{
		"eventType": "COMPLETE", "eventTime": t.Start.Format(time.RFC3339Nano), "producer": generatorProducer,
		"schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
		"run":       object{"runId": t.Run},
		"job": object{"namespace": "scheduler", "name": t.Name, "facets": object{
			"jobType": facet("2-0-3/JobTypeJobFacet.json", object{"processingType": "BATCH", "integration": t.Kind, "jobType": "TASK"})}},
		"inputs":  inputs,
		"outputs": []object{{"namespace": t.Output.Namespace, "name": t.Output.Name, "facets": facets}},
	}
}
