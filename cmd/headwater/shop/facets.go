package shop

import (
	"strings"
	"time"

	"headwater/ingest/sql"
)

// facet completes a facet. spec names its schema by version and name.
func facet(spec string, f object) object {
	_, name, _ := strings.Cut(spec, "/")
	f["_producer"] = producer
	f["_schemaURL"] = "https://openlineage.io/spec/facets/" + spec + ".json#/$defs/" + name
	return f
}

func ownership(spec, owner string) object {
	return facet(spec, object{"owners": []object{{"name": owner, "type": "MAINTAINER"}}})
}

// facets are those of the run.
func (r *run) facets(state string) object {
	by := airflow
	if r.task != nil {
		by = r.task.engine
	}
	f := object{
		"nominalTime":       facet("1-0-1/NominalTimeRunFacet", object{"nominalStartTime": r.nominal.Format(time.RFC3339)}),
		"processing_engine": facet("1-1-1/ProcessingEngineRunFacet", object{"name": by.name, "version": by.version, "openlineageAdapterVersion": "1.39.0"}),
	}
	if p := r.parent; p != nil {
		namespace, name := p.job()
		parent := object{"run": object{"runId": p.id()}, "job": object{"namespace": namespace, "name": name}}
		f["parent"] = facet("1-1-0/ParentRunFacet", object{"run": parent["run"], "job": parent["job"], "root": parent})
	}
	if r.task != nil && len(r.task.after) > 0 {
		var upstream []object
		for _, t := range r.task.after {
			upstream = append(upstream, object{"job": object{"namespace": t.engine.namespace, "name": t.name}, "dependency_type": "IMPLICIT_DEPENDENCY"})
		}
		f["jobDependencies"] = facet("1-0-1/JobDependenciesRunFacet", object{"upstream": upstream, "downstream": []object{}})
	}
	if state == "FAIL" {
		f["errorMessage"] = facet("1-0-1/ErrorMessageRunFacet", object{"message": r.failed(), "programmingLanguage": "JAVA"})
	}
	return f
}

// jobFacets are those of the job.
func (r *run) jobFacets() object {
	by, about, owner, sql := airflow, "", "", ""
	if t := r.task; t != nil {
		by, about, owner, sql = t.engine, t.about, t.owner, r.does.sql
	} else {
		about, owner = r.dag.about, r.dag.owner
	}
	f := object{"jobType": facet("2-0-3/JobTypeJobFacet", object{"processingType": by.processing, "integration": by.integration, "jobType": by.job})}
	if about != "" {
		f["documentation"] = facet("1-1-0/DocumentationJobFacet", object{"description": about})
	}
	if owner != "" {
		f["ownership"] = ownership("1-0-1/OwnershipJobFacet", owner)
	}
	if sql != "" {
		f["sql"] = facet("1-1-0/SQLJobFacet", object{"query": sql, "dialect": by.dialect})
	}
	if r.task != nil && r.task.dag != nil && sql != "" {
		url := "https://git.shop.example/data/" + strings.ReplaceAll(r.task.name, ".", "/") + ".sql"
		f["sourceCodeLocation"] = facet("1-0-1/SourceCodeLocationJobFacet", object{"type": "git", "url": url})
	}
	return f
}

// schema is the facet that lists columns.
func (t *table) schema(columns []column) object {
	fields := []object{}
	for _, c := range columns {
		field := object{"name": c.name, "type": c.typ}
		if note := t.notes[c.name]; note != "" {
			field["description"] = note
		}
		fields = append(fields, field)
	}
	return facet("1-2-0/SchemaDatasetFacet", object{"fields": fields})
}

// lineage is the facet that says where columns come from.
func (w *write) lineage(located bool) object {
	fields := object{}
	for _, c := range w.results {
		from := []object{}
		for _, s := range c.sources {
			from = append(from, s.field(c.expression, located))
		}
		fields[c.name] = object{"inputFields": from}
	}
	whole := []object{}
	for _, s := range w.whole {
		whole = append(whole, s.field("", located))
	}
	return facet("1-2-0/ColumnLineageDatasetFacet", object{"fields": fields, "dataset": whole})
}

// field is a source as an input field, with a transformation for each kind.
func (s *source) field(expression string, located bool) object {
	var how []object
	for k := sql.Identity; k <= sql.Sort; k <<= 1 {
		if s.kinds&k == 0 {
			continue
		}
		t := object{"type": "INDIRECT", "subtype": k.String(), "masking": s.masked}
		if k&sql.Direct != 0 {
			t["type"] = "DIRECT"
		}
		if expression != "" {
			t["description"] = expression
		}
		how = append(how, t)
	}
	in := s.table.dataset(located)
	return object{"namespace": in["namespace"], "name": in["name"], "field": s.column, "transformations": how}
}

// inputFacets are what a run found out of a table that it read: where it
// checks something, the numbers and whether they hold.
func (r *run) inputFacets(t *table, state string) object {
	if len(r.task.checks) == 0 || state == "START" {
		return nil
	}
	var assertions []object
	columns := object{}
	for _, c := range r.task.checks {
		assertions = append(assertions, object{"assertion": c.assertion, "column": c.column, "success": !c.failed || !r.yesterday})
		columns[c.column] = object{"nullCount": 0, "distinctCount": 20 + chance(c.column, r.id())%80}
	}
	return object{
		"dataQualityAssertions": facet("1-0-1/DataQualityAssertionsDatasetFacet", object{"assertions": assertions}),
		"dataQualityMetrics": facet("1-0-2/DataQualityMetricsInputDatasetFacet", object{
			"rowCount": 100 + chance(t.ref, r.id())%900, "columnMetrics": columns}),
	}
}

// outputFacets are what a run tells of what it wrote: how much, and which
// partition.
func (r *run) outputFacets(w *write) object {
	rows := 10_000 + chance(w.table.ref, r.id())%90_000
	f := object{"outputStatistics": facet("1-0-2/OutputStatisticsOutputDatasetFacet", object{"rowCount": rows, "size": rows * 96})}
	if _, ok := w.table.column("dt"); ok {
		f["subset"] = facet("1-0-0/OutputSubsetOutputDatasetFacet", object{"outputCondition": object{
			"type": "partition", "partitions": []object{{"dimensions": object{"dt": r.partition()}}}}})
	}
	return f
}
