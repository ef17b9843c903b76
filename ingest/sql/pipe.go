package sql

import (
	"strings"

	"headwater/ingest/sql/syntax"
)

// pipe resolves one step of BigQuery's pipe syntax over the rows before it.
func (r *resolver) pipe(rel *relation, p *syntax.Pipe, outer *scope) *relation {
	s := &scope{parent: outer, tables: []binding{{rel: rel}}}
	f := r.newFrom(s)
	f.node = rel.node
	f.acc.deps = append(f.acc.deps, rel.deps...)
	same := func() *relation {
		out := *rel
		out.node, out.deps = f.node, f.done()
		return &out
	}
	switch verb := strings.ToUpper(p.Verb); {
	case p.SetOp != nil:
		rels := []*relation{rel}
		for _, q := range p.Queries {
			rels = append(rels, r.setExpr(q, outer))
		}
		r.release(f.acc)
		return r.combine(rels, p.SetOp.Op, p.SetOp)
	case verb == "AS":
		return same()
	case p.Select != nil && (verb == "PIVOT" || verb == "UNPIVOT"):
		return r.pipePivot(rel, p, s, f)
	case p.Join != nil:
		join := *p.Join
		f.join(&join)
		return r.starOf(f, p)
	case p.Limit != nil:
		node := r.node(OpLimit, "", p)
		r.input(node, f.node)
		f.node = node
		return same()
	case len(p.Order) > 0:
		r.release(f.acc)
		return r.sortOutput(rel, p.Order, outer)
	case p.Select != nil && (verb == "WHERE" || p.Select.Where != nil && len(p.Select.Items) == 0):
		if p.Select.Where != nil {
			f.filter(p.Select.Where, inWhere)
		}
		return same()
	case p.Select != nil:
		return r.pipeSelect(rel, p, verb, s, f)
	}
	return same()
}

// pipePivot is PIVOT or UNPIVOT over the rows before it.
func (r *resolver) pipePivot(rel *relation, p *syntax.Pipe, s *scope, f *from) *relation {
	if len(p.Select.From) != 1 {
		out := *rel
		out.deps = f.done()
		return &out
	}
	inner := &scope{parent: s.parent}
	g := r.newFrom(inner)
	g.before = rel
	r.release(f.acc)
	g.tableRef(p.Select.From[0])
	return r.starOf(g, p)
}

// pipeSelect is SELECT, EXTEND, SET, DROP, RENAME or AGGREGATE.
func (r *resolver) pipeSelect(rel *relation, p *syntax.Pipe, verb string, s *scope, f *from) *relation {
	sel := &selection{tree: p.Select, scope: s, now: len(p.Select.Items)}
	s.sel = sel
	sel.cols = make([]int32, len(p.Select.Items))
	for i := range sel.cols {
		sel.cols[i] = notYet
	}
	switch verb {
	case "EXTEND", "SET", "WINDOW":
		star := r.expandStar(&syntax.Star{Span: p.Span}, s, nil)
		made := sel.items(r, nil)
		node := r.node(OpProject, verb, p)
		r.input(node, f.node)
		r.inputs(node, sel.subs)
		for _, c := range sel.made {
			r.columns[c].node = node
		}
		for _, m := range made {
			replaced := false
			for i := range star {
				if verb == "SET" && strings.EqualFold(star[i].name, m.name) {
					star[i].col, replaced = m.col, true
				}
			}
			if !replaced {
				star = append(star, m)
			}
		}
		out := r.build(star, node)
		out.open, out.deps = rel.open, f.done()
		return out
	case "DROP", "RENAME":
		out := *rel
		list := r.expandStar(&syntax.Star{Span: p.Span}, s, nil)
		kept := list[:0]
		for _, o := range list {
			gone := false
			for i := range p.Select.Items {
				it := &p.Select.Items[i]
				ref, ok := it.Expr.(*syntax.Ref)
				if !ok || !strings.EqualFold(lastPart(ref.Name), o.name) {
					continue
				}
				if verb == "DROP" {
					gone = true
				} else {
					o.name = it.Alias.Text
				}
			}
			if !gone {
				kept = append(kept, o)
			}
		}
		out = *r.build(kept, rel.node)
		out.open, out.deps = rel.open, f.done()
		return &out
	case "AGGREGATE":
		if p.Select.GroupBy != nil {
			// The keys come first in what AGGREGATE yields.
			tree := *p.Select
			var items []syntax.SelectItem
			for _, k := range p.Select.GroupBy.Keys {
				items = append(items, syntax.SelectItem{Span: k.Range(), Expr: k})
			}
			tree.Items = append(items, p.Select.Items...)
			sel.tree = &tree
			sel.now = len(tree.Items)
			sel.cols = make([]int32, len(tree.Items))
			for i := range sel.cols {
				sel.cols[i] = notYet
			}
		}
		sel.flags |= aggregated
	}
	return r.project(sel, f, nil)
}
