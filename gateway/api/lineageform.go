package api

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"headwater/graph"
)

func lineageField(ctx context.Context, f graphql.CollectedField) func(*writer, *lineage) {
	switch f.Name {
	case "root":
		form := newNodeForm(ctx, f.Selections)
		return func(w *writer, l *lineage) {
			w.enter(f.Field)
			form.write(w, l.Root.self())
			w.leave()
		}
	case "nodes":
		form := newForm(ctx, f.Selections, lineageNodeImplementors, lineageNodeField)
		return func(w *writer, l *lineage) {
			w.enter(f.Field)
			w.raw("[")
			var shown lineageNode
			for i, n := range l.found {
				shown = lineageNode{l.nodes, n}
				w.comma(i)
				w.element(i)
				form.write(w, &shown)
				w.leave()
			}
			w.raw("]")
			w.leave()
		}
	case "edges":
		form := newForm(ctx, f.Selections, lineageEdgeImplementors, lineageEdgeField)
		return func(w *writer, l *lineage) {
			w.enter(f.Field)
			w.raw("[")
			i := 0
			l.edges.each(func(e *lineageEdge) {
				w.comma(i)
				w.element(i)
				form.write(w, e)
				w.leave()
				i++
			})
			w.raw("]")
			w.leave()
		}
	case "complete":
		return func(w *writer, l *lineage) { w.bool(l.Complete) }
	case "truncated":
		form := newForm(ctx, f.Selections, truncationImplementors, truncationField)
		return func(w *writer, l *lineage) {
			if l.Truncated == nil {
				w.null()
			} else {
				form.write(w, l.Truncated)
			}
		}
	case "changed":
		return func(w *writer, l *lineage) { w.bool(l.Changed) }
	case "gaps":
		return listOf(newForm(ctx, f.Selections, gapImplementors, gapField), func(l *lineage) []graph.Gap { return l.Gaps })
	case "hidden":
		form := newForm(ctx, f.Selections, hiddenImplementors, hiddenField)
		return func(w *writer, l *lineage) { form.write(w, l.Hidden) }
	case "revision":
		return func(w *writer, l *lineage) { w.text(l.Revision) }
	}
	panic(unknown("Lineage", f))
}

func lineageNodeField(ctx context.Context, f graphql.CollectedField) func(*writer, *lineageNode) {
	switch f.Name {
	case "node":
		form, spare := newNodeForm(ctx, f.Selections), new(graph.Node)
		return func(w *writer, n *lineageNode) {
			w.enter(f.Field)
			form.write(w, n.list.member(n.ID, spare))
			w.leave()
		}
	case "distance":
		return func(w *writer, n *lineageNode) { w.int(n.Distance()) }
	case "upstream":
		return func(w *writer, n *lineageNode) { w.optionalInt(n.Upstream()) }
	case "downstream":
		return func(w *writer, n *lineageNode) { w.optionalInt(n.Downstream()) }
	}
	panic(unknown("LineageNode", f))
}

func lineageEdgeField(ctx context.Context, f graphql.CollectedField) func(*writer, *lineageEdge) {
	switch f.Name {
	case "from":
		return func(w *writer, e *lineageEdge) { w.id(e.From) }
	case "to":
		return func(w *writer, e *lineageEdge) { w.id(e.To) }
	case "kinds":
		return func(w *writer, e *lineageEdge) { w.kinds(e.kinds, nil) }
	case "coarse":
		return func(w *writer, e *lineageEdge) { w.bool(e.Coarse) }
	case "sources":
		form := newForm(ctx, f.Selections, flowSourceImplementors, flowSourceField)
		return elementsOf(f, form, func(e *lineageEdge) []flowSource { return e.Sources })
	case "crossRegion":
		return func(w *writer, e *lineageEdge) { w.bool(e.CrossRegion) }
	case "viaGlobal":
		return func(w *writer, e *lineageEdge) { w.optional(e.ViaGlobal()) }
	}
	panic(unknown("LineageEdge", f))
}

func flowSourceField(ctx context.Context, f graphql.CollectedField) func(*writer, *flowSource) {
	switch f.Name {
	case "process":
		form := newProcessForm(ctx, f.Selections)
		return func(w *writer, s *flowSource) {
			p := s.Process()
			if p == nil {
				w.null()
				return
			}
			w.enter(f.Field)
			w.nullable(func() { form.write(w, p.member) })
			w.leave()
		}
	case "origin":
		return func(w *writer, s *flowSource) { w.text(s.Origin()) }
	case "kinds":
		return func(w *writer, s *flowSource) { w.kinds(s.kinds, s.details) }
	case "expression":
		return func(w *writer, s *flowSource) { w.optional(s.Expression()) }
	case "operators":
		return operatorsField(ctx, f)
	case "provisional":
		return func(w *writer, s *flowSource) { w.bool(s.Provisional()) }
	}
	panic(unknown("FlowSource", f))
}

// operatorsField writes FlowSource.operators, which follow from the kinds: of
// each set of kinds once.
func operatorsField(ctx context.Context, f graphql.CollectedField) func(*writer, *flowSource) {
	write := listOf(newForm(ctx, f.Selections, operatorImplementors, operatorField), (*flowSource).Operators)
	known := map[graph.Kinds]string{}
	return func(w *writer, s *flowSource) {
		if s.passed != nil {
			write(w, s)
			return
		}
		text, ok := known[s.kinds]
		if !ok {
			start := len(w.b)
			write(w, s)
			known[s.kinds] = string(w.b[start:])
			return
		}
		w.raw(text)
	}
}

func operatorField(_ context.Context, f graphql.CollectedField) func(*writer, *Operator) {
	switch f.Name {
	case "kind":
		return func(w *writer, o *Operator) { w.text(o.Kind) }
	case "snippet":
		return func(w *writer, o *Operator) { w.optional(o.Snippet) }
	}
	panic(unknown("Operator", f))
}

func truncationField(_ context.Context, f graphql.CollectedField) func(*writer, *Truncation) {
	switch f.Name {
	case "reason":
		return func(w *writer, t *Truncation) { w.text(t.Reason) }
	case "after":
		return func(w *writer, t *Truncation) { w.optional(t.After) }
	}
	panic(unknown("Truncation", f))
}

func gapField(_ context.Context, f graphql.CollectedField) func(*writer, graph.Gap) {
	switch f.Name {
	case "region":
		return func(w *writer, g graph.Gap) { w.text(g.Region) }
	case "reason":
		return func(w *writer, g graph.Gap) { w.text(g.Reason) }
	}
	panic(unknown("Gap", f))
}

func hiddenField(_ context.Context, f graphql.CollectedField) func(*writer, *Hidden) {
	switch f.Name {
	case "temporary":
		return func(w *writer, h *Hidden) { w.int(h.Temporary) }
	case "unimportant":
		return func(w *writer, h *Hidden) { w.int(h.Unimportant) }
	case "filtered":
		return func(w *writer, h *Hidden) { w.int(h.Filtered) }
	}
	panic(unknown("Hidden", f))
}

func pathsField(ctx context.Context, f graphql.CollectedField) func(*writer, *paths) {
	switch f.Name {
	case "paths":
		return func(w *writer, p *paths) {
			w.raw("[")
			for i, path := range p.Paths {
				w.comma(i)
				w.raw("[")
				for j, id := range path {
					w.comma(j)
					w.id(id)
				}
				w.raw("]")
			}
			w.raw("]")
		}
	case "nodes":
		return membersOf(f, newNodeForm(ctx, f.Selections).write, func(p *paths) []node { return p.Nodes }, node.self)
	case "complete":
		return func(w *writer, p *paths) { w.bool(p.Complete) }
	case "gaps":
		return listOf(newForm(ctx, f.Selections, gapImplementors, gapField), func(p *paths) []graph.Gap { return p.Gaps })
	}
	panic(unknown("Paths", f))
}
