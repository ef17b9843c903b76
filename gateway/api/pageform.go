package api

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
)

// pagedField writes a field of a data store that is read in pages: write is
// given the page that the field asks for.
func pagedField(ctx context.Context, f graphql.CollectedField, otherwise int,
	arguments func(context.Context, map[string]any) (map[string]any, error), write func(*writer, member, page)) func(*writer, member) {
	args, err := arguments(ctx, f.ArgumentMap(graphql.GetOperationContext(ctx).Variables))
	var p page
	if err == nil {
		p, err = newPage(f.Name, args["first"].(*int), args["after"].(*string), otherwise)
	}
	return func(w *writer, m member) {
		w.enter(f.Field)
		if err != nil {
			w.fail(w.here(ctx), err)
		} else {
			write(w, m, p)
		}
		w.leave()
	}
}

func columnsField(ctx context.Context, f graphql.CollectedField) func(*writer, member) {
	form := newForm(ctx, f.Selections, columnConnectionImplementors, columnConnectionField)
	return pagedField(ctx, f, usualColumns, new(executionContext).field_DataStore_columns_args, func(w *writer, m member, p page) {
		form.write(w, dataStore{m}.columns(p))
	})
}

func columnConnectionField(ctx context.Context, f graphql.CollectedField) func(*writer, *columnConnection) {
	switch f.Name {
	case "nodes":
		form := newForm(ctx, f.Selections, columnImplementors, columnField)
		return membersOf(f, form.write, func(c *columnConnection) []column { return c.Nodes }, column.self)
	case "pageInfo":
		form := newForm(ctx, f.Selections, pageInfoImplementors, pageInfoField)
		return func(w *writer, c *columnConnection) { form.write(w, c.PageInfo) }
	case "totalCount":
		return func(w *writer, c *columnConnection) { w.int(c.TotalCount) }
	}
	panic(unknown("ColumnConnection", f))
}

func partitionsField(ctx context.Context, f graphql.CollectedField) func(*writer, member) {
	form := newForm(ctx, f.Selections, partitionConnectionImplementors, partitionConnectionField)
	return pagedField(ctx, f, usualPartitions, new(executionContext).field_DataStore_partitions_args, func(w *writer, m member, p page) {
		form.write(w, dataStore{m}.partitions(p))
	})
}

func partitionConnectionField(ctx context.Context, f graphql.CollectedField) func(*writer, *PartitionConnection) {
	switch f.Name {
	case "nodes":
		return listOf(newForm(ctx, f.Selections, partitionImplementors, partitionField), func(c *PartitionConnection) []*Partition { return c.Nodes })
	case "pageInfo":
		form := newForm(ctx, f.Selections, pageInfoImplementors, pageInfoField)
		return func(w *writer, c *PartitionConnection) { form.write(w, c.PageInfo) }
	}
	panic(unknown("PartitionConnection", f))
}

func nodeConnectionField(ctx context.Context, f graphql.CollectedField) func(*writer, *NodeConnection) {
	switch f.Name {
	case "nodes":
		return membersOf(f, newNodeForm(ctx, f.Selections).write, func(c *NodeConnection) []node { return c.Nodes }, node.self)
	case "pageInfo":
		form := newForm(ctx, f.Selections, pageInfoImplementors, pageInfoField)
		return func(w *writer, c *NodeConnection) { form.write(w, c.PageInfo) }
	case "totalCount":
		return func(w *writer, c *NodeConnection) { w.optionalInt(c.TotalCount) }
	}
	panic(unknown("NodeConnection", f))
}

func partitionField(_ context.Context, f graphql.CollectedField) func(*writer, *Partition) {
	switch f.Name {
	case "name":
		return func(w *writer, p *Partition) { w.text(p.Name) }
	case "createdAt":
		return func(w *writer, p *Partition) { w.optional(p.CreatedAt) }
	case "expectedBy":
		return func(w *writer, p *Partition) { w.optional(p.ExpectedBy) }
	}
	panic(unknown("Partition", f))
}

func pageInfoField(_ context.Context, f graphql.CollectedField) func(*writer, *PageInfo) {
	switch f.Name {
	case "hasNextPage":
		return func(w *writer, i *PageInfo) { w.bool(i.HasNextPage) }
	case "endCursor":
		return func(w *writer, i *PageInfo) { w.optional(i.EndCursor) }
	}
	panic(unknown("PageInfo", f))
}
