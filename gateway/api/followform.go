package api

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"headwater/graph"
)

// A follow reads where a field leads to from all nodes of a list: a method of
// the one that asks first.
type follow func(m member, ctx context.Context) (*step, error)

// A lead is a field that is followed. The step of one list is remembered,
// since its nodes are written one after the other.
type lead struct {
	to   follow
	from *list
	step *step
}

// read follows a field of a node; it returns false where that failed.
func (w *writer) read(ctx context.Context, l *lead, m member) bool {
	if l.from == m.list {
		return true
	}
	ctx = w.here(ctx)
	st, err := l.to(m, ctx)
	if err != nil {
		w.fail(ctx, err)
		return false
	}
	l.from, l.step = m.list, st
	return true
}

// nodesBehind writes the list of nodes that a field leads to.
func nodesBehind(ctx context.Context, f graphql.CollectedField, form form[member], to follow) func(*writer, member) {
	lead, spare := &lead{to: to}, new(graph.Node)
	return func(w *writer, m member) {
		w.enter(f.Field)
		if w.read(ctx, lead, m) {
			st := lead.step
			w.raw("[")
			for i, id := range st.to[m.Node.ID] {
				w.comma(i)
				w.element(i)
				form.write(w, st.member(id, spare))
				w.leave()
			}
			w.raw("]")
		}
		w.leave()
	}
}

// nodeBehind writes the one node that a field leads to, or null.
func nodeBehind(ctx context.Context, f graphql.CollectedField, form form[member], to follow) func(*writer, member) {
	lead, spare := &lead{to: to}, new(graph.Node)
	return func(w *writer, m member) {
		w.enter(f.Field)
		if w.read(ctx, lead, m) {
			if ids := lead.step.to[m.Node.ID]; len(ids) > 0 {
				form.write(w, lead.step.member(ids[0], spare))
			} else {
				w.null()
			}
		}
		w.leave()
	}
}
