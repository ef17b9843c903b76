package api

import (
	"context"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"headwater/graph"
)

// A selection is what a query selects of an object, under any alias and in
// any fragment whatever its type condition: so it may say more than is needed
// of one object, never less.
type selection struct {
	op   *graphql.OperationContext
	sets []ast.SelectionSet
}

// selected returns what is selected of the value of the current field.
func selected(ctx context.Context) selection {
	return selection{op: graphql.GetOperationContext(ctx), sets: []ast.SelectionSet{graphql.GetFieldContext(ctx).Field.Selections}}
}

// each calls f with each field that is selected, until it returns false.
func (s selection) each(f func(graphql.CollectedField) bool) {
	for _, set := range s.sets {
		for _, field := range graphql.CollectFields(s.op, set, nil) {
			if !f(field) {
				return
			}
		}
	}
}

// at returns what is selected below a path of fields.
func (s selection) at(path ...string) selection {
	for _, name := range path {
		below := selection{op: s.op}
		s.each(func(f graphql.CollectedField) bool {
			if f.Name == name && len(f.Selections) > 0 {
				below.sets = append(below.sets, f.Selections)
			}
			return true
		})
		s = below
	}
	return s
}

// and returns what either selects.
func (s selection) and(o selection) selection {
	return selection{op: s.op, sets: slices.Concat(s.sets, o.sets)}
}

// has reports whether one of the fields is selected.
func (s selection) has(names ...string) bool {
	found := false
	s.each(func(f graphql.CollectedField) bool {
		found = slices.Contains(names, f.Name)
		return !found
	})
	return found
}

// hasOther reports whether a field other than these is selected.
func (s selection) hasOther(names ...string) bool {
	found := false
	s.each(func(f graphql.CollectedField) bool {
		found = !slices.Contains(names, f.Name)
		return !found
	})
	return found
}

// enough says which parts of nodes the selection needs.
func (s selection) enough() graph.Want {
	var w graph.Want
	if s.has("columns") {
		w |= graph.WantColumns
	}
	if s.has("partitions") {
		w |= graph.WantPartitions
	}
	if s.has("facets") {
		w |= graph.WantSeen
	}
	if w == 0 && !s.hasOther("__typename", "id", "dataStore", "region", "namespace", "name", "kind", "platform", "url", "path", "type") {
		w = graph.WantBrief
	}
	return w
}
