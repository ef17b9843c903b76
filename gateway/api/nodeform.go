package api

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"headwater/graph"
)

// A nodeForm is the form of a Node: of each type that there is one of, made
// when the first of them comes.
type nodeForm struct {
	dataStore, column, process          form[member]
	newDataStore, newColumn, newProcess func() form[member]
}

func newNodeForm(ctx context.Context, selected ast.SelectionSet) *nodeForm {
	return &nodeForm{
		newDataStore: func() form[member] { return newDataStoreForm(ctx, selected) },
		newColumn:    func() form[member] { return newForm(ctx, selected, columnImplementors, columnField) },
		newProcess:   func() form[member] { return newProcessForm(ctx, selected) },
	}
}

func newDataStoreForm(ctx context.Context, selected ast.SelectionSet) form[member] {
	return newForm(ctx, selected, dataStoreImplementors, dataStoreField)
}

func newProcessForm(ctx context.Context, selected ast.SelectionSet) form[member] {
	return newForm(ctx, selected, processImplementors, processField)
}

func (f *nodeForm) write(w *writer, m member) {
	form, fresh := &f.dataStore, f.newDataStore
	switch {
	case m.Node.ID.IsColumn():
		form, fresh = &f.column, f.newColumn
	case m.Node.ID.Kind() == graph.ProcessKind:
		form, fresh = &f.process, f.newProcess
	}
	if *form == nil {
		*form = fresh()
	}
	form.write(w, m)
}

// nodeField writes the fields that all nodes share.
func nodeField(ctx context.Context, f graphql.CollectedField) func(*writer, member) {
	switch f.Name {
	case "id":
		return func(w *writer, m member) { w.id(m.ID()) }
	case "region":
		return func(w *writer, m member) { w.optional(m.Region()) }
	case "namespace":
		return func(w *writer, m member) { w.text(m.Namespace()) }
	case "name":
		return func(w *writer, m member) { w.text(m.Name()) }
	case "description":
		return func(w *writer, m member) { w.optional(m.Description()) }
	case "owners":
		return func(w *writer, m member) { w.texts(m.Owners()) }
	case "tags":
		return listOf(newForm(ctx, f.Selections, tagImplementors, tagField), member.Tags)
	case "updatedAt":
		return func(w *writer, m member) { w.time(m.Node.Updated) }
	case "deletedAt":
		return func(w *writer, m member) { w.time(m.Node.Deleted) }
	case "facets":
		return func(w *writer, m member) { w.json(m.Facets()) }
	}
	panic(unknown("Node", f))
}

func dataStoreField(ctx context.Context, f graphql.CollectedField) func(*writer, member) {
	switch f.Name {
	case "kind":
		return func(w *writer, m member) { w.text(dataStore{m}.Kind()) }
	case "platform":
		return func(w *writer, m member) { w.optional(dataStore{m}.Platform()) }
	case "url":
		return func(w *writer, m member) { w.optional(dataStore{m}.URL()) }
	case "aliases":
		return func(w *writer, m member) { w.texts(dataStore{m}.Aliases()) }
	case "columns":
		return columnsField(ctx, f)
	case "partitions":
		return partitionsField(ctx, f)
	case "producers":
		return nodesBehind(ctx, f, newProcessForm(ctx, f.Selections), member.producers)
	case "consumers":
		return nodesBehind(ctx, f, newProcessForm(ctx, f.Selections), member.consumers)
	}
	return nodeField(ctx, f)
}

func columnField(ctx context.Context, f graphql.CollectedField) func(*writer, member) {
	switch f.Name {
	case "path":
		return func(w *writer, m member) { w.text(column{m}.Path()) }
	case "type":
		return func(w *writer, m member) { w.optional(column{m}.Type()) }
	case "ordinal":
		return func(w *writer, m member) { w.optionalInt(column{m}.Ordinal()) }
	case "dataStore":
		return nodeBehind(ctx, f, newDataStoreForm(ctx, f.Selections), member.base)
	case "producers":
		return nodesBehind(ctx, f, newProcessForm(ctx, f.Selections), member.producers)
	case "consumers":
		return nodesBehind(ctx, f, newProcessForm(ctx, f.Selections), member.consumers)
	}
	return nodeField(ctx, f)
}

func processField(ctx context.Context, f graphql.CollectedField) func(*writer, member) {
	switch f.Name {
	case "kind":
		return func(w *writer, m member) { w.text(process{m}.Kind()) }
	case "parent":
		write := nodeBehind(ctx, f, newProcessForm(ctx, f.Selections), member.parent)
		return func(w *writer, m member) { w.nullable(func() { write(w, m) }) }
	case "sql":
		return func(w *writer, m member) { w.optional(process{m}.SQL()) }
	case "dialect":
		return func(w *writer, m member) { w.optional(process{m}.Dialect()) }
	case "plan":
		return planField(ctx, f)
	case "reads":
		return nodesBehind(ctx, f, newDataStoreForm(ctx, f.Selections), member.reads)
	case "writes":
		return nodesBehind(ctx, f, newDataStoreForm(ctx, f.Selections), member.writes)
	case "lastRun":
		run := newForm(ctx, f.Selections, runImplementors, runField)
		return func(w *writer, m member) {
			if r := (process{m}).LastRun(); r != nil {
				run.write(w, r)
			} else {
				w.null()
			}
		}
	case "provisional":
		return func(w *writer, m member) { w.bool(process{m}.Provisional()) }
	}
	return nodeField(ctx, f)
}

func tagField(_ context.Context, f graphql.CollectedField) func(*writer, *Tag) {
	switch f.Name {
	case "name":
		return func(w *writer, t *Tag) { w.text(t.Name) }
	case "value":
		return func(w *writer, t *Tag) { w.optional(t.Value) }
	case "from":
		return func(w *writer, t *Tag) { w.optional(t.From) }
	}
	panic(unknown("Tag", f))
}

func planNodeField(_ context.Context, f graphql.CollectedField) func(*writer, *PlanNode) {
	switch f.Name {
	case "id":
		return func(w *writer, n *PlanNode) { w.int(n.ID) }
	case "operator":
		return func(w *writer, n *PlanNode) { w.text(n.Operator) }
	case "inputs":
		return func(w *writer, n *PlanNode) { w.ints(n.Inputs) }
	case "snippet":
		return func(w *writer, n *PlanNode) { w.optional(n.Snippet) }
	}
	panic(unknown("PlanNode", f))
}

func runField(_ context.Context, f graphql.CollectedField) func(*writer, *Run) {
	switch f.Name {
	case "id":
		return func(w *writer, r *Run) { w.text(r.ID) }
	case "state":
		return func(w *writer, r *Run) { w.text(r.State) }
	case "startedAt":
		return func(w *writer, r *Run) { w.optional(r.StartedAt) }
	case "endedAt":
		return func(w *writer, r *Run) { w.optional(r.EndedAt) }
	}
	panic(unknown("Run", f))
}

// planField writes Process.plan, which reads schemas.
func planField(ctx context.Context, f graphql.CollectedField) func(*writer, member) {
	form := newForm(ctx, f.Selections, planNodeImplementors, planNodeField)
	return func(w *writer, m member) {
		w.enter(f.Field)
		defer w.leave()
		here := w.here(ctx)
		plan, err := process{m}.Plan(here)
		if err != nil {
			w.fail(here, err)
			return
		}
		listOf(form, func(member) []*PlanNode { return plan })(w, m)
	}
}
