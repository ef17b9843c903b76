package api

import (
	"context"
	"io"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// A form is how the values of one type of the schema are written: the fields
// that a query selects of it, in its order. It is made of the selection once
// and filled in for each value, so that fragments, aliases, @skip and @include
// cost nothing for a value.
type form[T any] []blank[T]

// A blank is one field of a form.
type blank[T any] struct {
	key   string // as it stands before the value: ,"name":
	write func(*writer, T)
}

// A fieldWriter returns how a field of a type is written, for a selection of
// it. What it returns lives as long as ctx, that of the field of Query.
type fieldWriter[T any] func(ctx context.Context, f graphql.CollectedField) func(*writer, T)

// newForm makes the form of a selection. types are the name of the type and of
// the interfaces that it has.
func newForm[T any](ctx context.Context, selected ast.SelectionSet, types []string, field fieldWriter[T]) form[T] {
	fields := graphql.CollectFields(graphql.GetOperationContext(ctx), selected, types)
	form := make(form[T], 0, len(fields))
	for i, f := range fields {
		if slices.ContainsFunc(fields[:i], func(before graphql.CollectedField) bool { return before.Alias == f.Alias }) {
			continue
		}
		key := make([]byte, 0, len(f.Alias)+4)
		if len(form) > 0 {
			key = append(key, ',')
		}
		b := blank[T]{key: string(append(appendQuoted(key, f.Alias), ':'))}
		if f.Name == "__typename" {
			b.write = func(w *writer, _ T) { w.text(types[0]) }
		} else {
			b.write = field(ctx, f)
		}
		form = append(form, b)
	}
	return form
}

// write fills the form in.
func (f form[T]) write(w *writer, v T) {
	w.raw("{")
	for i := range f {
		w.raw(f[i].key)
		f[i].write(w, v)
	}
	w.raw("}")
}

// unknown is for a field that the schema has and a fieldWriter has not.
func unknown(object string, f graphql.CollectedField) string {
	return "no way to write " + object + "." + f.Name
}

// encode writes what has nodes in it with forms: gqlgen's executor takes a
// microsecond and more for each field of each node, and a form some
// nanoseconds. It stands between a field of Query and the executor, which
// takes a graphql.Marshaler for any value.
func encode(ctx context.Context, next graphql.Resolver) (any, error) {
	v, err := next(ctx)
	if err != nil {
		return nil, err
	}
	selected := graphql.GetFieldContext(ctx).Field.Selections
	switch v := v.(type) {
	case *lineage:
		return written(ctx, v, newForm(ctx, selected, lineageImplementors, lineageField)), nil
	case *paths:
		return written(ctx, v, newForm(ctx, selected, pathsImplementors, pathsField)), nil
	case *NodeConnection:
		return written(ctx, v, newForm(ctx, selected, nodeConnectionImplementors, nodeConnectionField)), nil
	case node:
		return written(ctx, v.self(), newNodeForm(ctx, selected)), nil
	}
	return v, nil
}

// written writes the value of a field of Query.
func written[T any](ctx context.Context, v T, form interface{ write(*writer, T) }) graphql.Marshaler {
	s := sessionOf(ctx)
	w := s.work.takeWriter()
	w.start(graphql.GetOperationContext(ctx))
	if form.write(w, v); w.void {
		return graphql.Null
	}
	return graphql.WriterFunc(func(out io.Writer) { s.insert(out, w.b) })
}

// listOf writes a list of values that nothing is read for.
func listOf[T, E any](form form[E], list func(T) []E) func(*writer, T) {
	return func(w *writer, v T) {
		w.raw("[")
		for i, e := range list(v) {
			w.comma(i)
			form.write(w, e)
		}
		w.raw("]")
	}
}

// elementsOf writes a list of values that have nodes in them.
func elementsOf[T, E any](f graphql.CollectedField, form form[*E], list func(T) []E) func(*writer, T) {
	return func(w *writer, v T) {
		w.enter(f.Field)
		w.raw("[")
		elements := list(v)
		for i := range elements {
			w.comma(i)
			w.element(i)
			form.write(w, &elements[i])
			w.leave()
		}
		w.raw("]")
		w.leave()
	}
}

// membersOf writes a list of nodes.
func membersOf[T, E any](f graphql.CollectedField, write func(*writer, member), list func(T) []E, self func(E) member) func(*writer, T) {
	return func(w *writer, v T) {
		w.enter(f.Field)
		w.raw("[")
		for i, n := range list(v) {
			w.comma(i)
			w.element(i)
			write(w, self(n))
			w.leave()
		}
		w.raw("]")
		w.leave()
	}
}
