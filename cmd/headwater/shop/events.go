package shop

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

type object map[string]any

const (
	producer   = "https://headwater.invalid/shop"
	specEvents = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/"
)

// An event is an event with its time, of a table or of a run.
type event struct {
	at   time.Time
	body object
	of   *table
	run  *run
}

// events renders all that the platform reports before the day of now.
func (p *platform) events(now time.Time) ([][]byte, error) {
	list, err := p.list(now)
	if err != nil {
		return nil, err
	}
	bodies := make([][]byte, len(list))
	for i, e := range list {
		if bodies[i], err = json.Marshal(e.body); err != nil {
			return nil, err
		}
	}
	return bodies, nil
}

// list makes all that the platform reports before the day of now.
func (p *platform) list(now time.Time) ([]event, error) {
	today := now.UTC().Truncate(24 * time.Hour)
	var list []event
	for _, t := range p.tables {
		if t.own {
			list = append(list, event{at: today.AddDate(0, 0, -days-1), body: t.event(), of: t})
		}
	}
	for _, r := range p.runs(today) {
		if r.task != nil && r.task.when.streaming {
			list = append(list, event{at: r.start, body: r.event("START"), run: r})
			for _, at := range r.reports {
				list = append(list, event{at: at, body: r.event("RUNNING"), run: r})
			}
			continue
		}
		last := "COMPLETE"
		if r.failed() != "" {
			last = "FAIL"
		}
		list = append(list, event{at: r.start, body: r.event("START"), run: r}, event{at: r.end, body: r.event(last), run: r})
	}
	slices.SortStableFunc(list, func(a, b event) int { return a.at.Compare(b.at) })
	for i, e := range list {
		if e.at.After(now) {
			return nil, fmt.Errorf("event %d lies at %s, later than %s", i, e.at, now)
		}
		e.body["eventTime"], e.body["producer"] = e.at.Format("2006-01-02T15:04:05.000Z"), producer
	}
	return list, nil
}

// event is the dataset event with which a table reports itself.
func (t *table) event() object {
	facets := object{"datasetType": facet("1-0-0/DatasetTypeDatasetFacet", object{"datasetType": t.kind})}
	if t.about != "" {
		facets["documentation"] = facet("1-1-0/DocumentationDatasetFacet", object{"description": t.about})
	}
	if t.owner != "" {
		facets["ownership"] = ownership("1-0-1/OwnershipDatasetFacet", t.owner)
	}
	var tags []object
	for _, g := range t.tags {
		tag := object{"key": g.key, "value": "true", "source": "USER"}
		if g.column != "" {
			tag["field"] = g.column
		}
		tags = append(tags, tag)
	}
	if tags != nil {
		facets["tags"] = facet("1-0-0/TagsDatasetFacet", object{"tags": tags})
	}
	if t.listed {
		facets["schema"] = t.schema(t.columns)
	}
	return object{"schemaURL": specEvents + "DatasetEvent", "dataset": object{"namespace": t.namespace, "name": t.name, "facets": facets}}
}

// event is the event with which a run reports a state. What is read and
// written is told at its end; a streaming task tells it at once.
func (r *run) event(state string) object {
	namespace, name := r.job()
	e := object{
		"schemaURL": specEvents + "RunEvent", "eventType": state,
		"run":    object{"runId": r.id(), "facets": r.facets(state)},
		"job":    object{"namespace": namespace, "name": name, "facets": r.jobFacets()},
		"inputs": []object{}, "outputs": []object{},
	}
	if r.task == nil || state == "START" && !r.task.when.streaming {
		return e
	}
	located := r.task.engine.located
	inputs, outputs := []object{}, []object{}
	for _, t := range r.does.reads {
		in := t.dataset(located)
		if f := r.inputFacets(t, state); len(f) > 0 {
			in["inputFacets"] = f
		}
		inputs = append(inputs, in)
	}
	for i := range r.does.writes {
		outputs = append(outputs, r.output(&r.does.writes[i], located, state))
	}
	e["inputs"], e["outputs"] = inputs, outputs
	return e
}

// dataset names a table, by its location where the engine reports that.
func (t *table) dataset(located bool) object {
	if t.location == nil || !located {
		return object{"namespace": t.namespace, "name": t.name, "facets": object{}}
	}
	link := object{"namespace": t.namespace, "name": t.name, "type": "TABLE"}
	return object{"namespace": t.location.namespace, "name": t.location.name, "facets": object{
		"symlinks": facet("1-0-1/SymlinksDatasetFacet", object{"identifiers": []object{link}})}}
}

// output is what a run tells of a table that it writes.
func (r *run) output(w *write, located bool, state string) object {
	t := w.table
	out := t.dataset(located)
	facets := out["facets"].(object)
	if w.lifecycle != "" {
		change := object{"lifecycleStateChange": w.lifecycle}
		if w.previous != nil {
			change["previousIdentifier"] = object{"namespace": w.previous.namespace, "name": w.previous.name}
		}
		facets["lifecycleStateChange"] = facet("1-0-1/LifecycleStateChangeDatasetFacet", change)
		return out
	}
	facets["datasetType"] = facet("1-0-0/DatasetTypeDatasetFacet", object{"datasetType": t.kind})
	if w.results != nil {
		columns := make([]column, len(w.results))
		for i, c := range w.results {
			columns[i] = column{c.name, c.typ}
		}
		facets["schema"] = t.schema(columns)
		facets["columnLineage"] = w.lineage(located)
	}
	if state == "COMPLETE" {
		out["outputFacets"] = r.outputFacets(w)
	}
	return out
}
