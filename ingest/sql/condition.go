package sql

import (
	"math"
	"slices"
	"strings"

	"headwater/ingest/sql/syntax"
)

const maxStep = math.MaxInt32

// A conjunct is a part of a condition that speaks of one scan only.
type conjunct struct {
	expr syntax.Expr
	scan int32
	refs []conjunctRef
}

// A conjunctRef is a column in a conjunct, and where it stands.
type conjunctRef struct {
	span syntax.Span
	col  int32
}

// condition gathers what a condition depends on, and notes the conjuncts that
// speak of one scan, if its number is in [lo, hi).
func (f *from) condition(e syntax.Expr, role Kind, in place, node, lo, hi int32) {
	r := f.r
	acc := r.scratch()
	defer r.release(acc)
	outer := r.refs
	stack := []syntax.Expr{e}
	for len(stack) > 0 {
		e := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if l, ok := e.(*syntax.List); ok && l.Kind == "ROW" && len(l.Items) == 1 {
			stack = append(stack, l.Items[0].Expr)
			continue
		}
		if op, ok := e.(*syntax.Op); ok && op.Op == "AND" && !op.Not {
			for _, arg := range slices.Backward(op.Args) {
				stack = append(stack, arg)
			}
			continue
		}
		acc.deps, acc.from, acc.flags = acc.deps[:0], acc.from[:0], 0
		subs := len(acc.subs)
		r.refs = r.refs[:len(outer)]
		r.noting = true
		r.walk(e, f.scope, role, in, acc)
		r.noting = false
		if role == Filter && f.comma && r.joins(e, acc) {
			for i := range acc.deps {
				acc.deps[i].kinds = Join
			}
		} else if len(acc.subs) == subs && acc.flags&(aggregated|windowed) == 0 {
			f.note(e, acc, node, lo, hi, r.refs[len(outer):])
		}
		f.acc.deps = append(f.acc.deps, acc.deps...)
		f.acc.compact()
		r.using(node, acc.from)
	}
	r.refs = outer
	r.inputs(node, acc.subs)
}

// joins reports whether a conjunct of WHERE is a join's condition: an equality
// of columns of two tables.
func (r *resolver) joins(e syntax.Expr, acc *acc) bool {
	op, ok := e.(*syntax.Op)
	if !ok || op.Op != "=" || len(op.Args) != 2 || len(acc.from) != 2 {
		return false
	}
	for _, a := range op.Args {
		if _, ok := a.(*syntax.Ref); !ok {
			return false
		}
	}
	a, b := &r.columns[acc.from[0]], &r.columns[acc.from[1]]
	return a.scan != b.scan || a.scan == 0 && a.node != b.node
}

// note keeps a conjunct whose columns are all copies of one scan's; of a UNION's
// columns, for each of its branches.
func (f *from) note(e syntax.Expr, acc *acc, node, lo, hi int32, refs []conjunctRef) {
	if len(refs) == 0 || len(refs) > 64 || len(refs) != len(acc.from) {
		return
	}
	for i := range refs {
		refs[i].col = f.r.origin(refs[i].col)
	}
	f.noteRefs(e, node, lo, hi, refs, 0)
}

func (f *from) noteRefs(e syntax.Expr, node, lo, hi int32, refs []conjunctRef, depth int) {
	r := f.r
	first := &r.columns[refs[0].col]
	for _, ref := range refs {
		if c := &r.columns[ref.col]; c.scan != first.scan || c.scan == 0 && c.node != first.node {
			return
		}
	}
	if scan := first.scan - 1; scan >= 0 {
		if scan >= lo && scan < hi {
			c := r.clauseOf(node)
			c.conds = append(c.conds, conjunct{e, scan, slices.Clone(refs)})
		}
		return
	}
	if first.node < 0 || depth == 3 {
		return
	}
	union := &r.steps[first.node]
	n := len(union.inputs)
	if union.op != OpSetOp || !strings.HasPrefix(union.label, "UNION") || n > 32 {
		return
	}
	for _, ref := range refs {
		if len(r.columns[ref.col].from) != n {
			return
		}
	}
	for k := range n {
		branch := make([]conjunctRef, len(refs))
		for i, ref := range refs {
			branch[i] = conjunctRef{ref.span, r.origin(r.columns[ref.col].from[k])}
		}
		f.noteRefs(e, node, lo, hi, branch, depth+1)
	}
}

// origin is the column that a column is a copy of, through names.
func (r *resolver) origin(c int32) int32 {
	for range 64 {
		col := &r.columns[c]
		if col.scan > 0 || len(col.from) != 1 || col.flags&isName == 0 {
			break
		}
		c = col.from[0]
	}
	return c
}

// noteRef notes where a column stands in the conjunct being read.
func (r *resolver) noteRef(span syntax.Span, c int32) {
	r.refs = append(r.refs, conjunctRef{span, c})
}

// baseName is the name of the base column that a column is a copy of.
func (r *resolver) baseName(c int32) string {
	if set := r.columns[c].set; len(set) == 1 {
		return r.base[set[0].base].path
	}
	return "?"
}

// predicate renders a conjunct with the base names of its columns.
func (r *resolver) predicate(c conjunct) Predicate {
	span := c.expr.Range()
	p := Predicate{Span: span}
	var b strings.Builder
	at := span.Start
	refs := c.refs
	slices.SortFunc(refs, func(a, b conjunctRef) int { return int(a.span.Start) - int(b.span.Start) })
	for _, ref := range refs {
		name := r.baseName(ref.col)
		if !slices.Contains(p.Columns, name) {
			p.Columns = append(p.Columns, name)
		}
		if ref.span.Start < at || ref.span.End > span.End {
			continue
		}
		b.WriteString(r.text[at:ref.span.Start])
		b.WriteString(name)
		at = ref.span.End
	}
	if at == span.Start {
		p.Text = oneLine(span.In(r.text), 400)
		return p
	}
	b.WriteString(r.text[at:span.End])
	p.Text = oneLine(b.String(), 400)
	return p
}

// bound reads a conjunct as a comparison of a column with constants or with
// functions of variables.
func (r *resolver) bound(c conjunct) (Bound, bool) {
	op, ok := c.expr.(*syntax.Op)
	if !ok || op.Not || len(op.Args) < 2 || len(c.refs) != 1 {
		return Bound{}, false
	}
	switch op.Op {
	case "=", "<", "<=", ">", ">=", "IN", "BETWEEN", "==":
	default:
		return Bound{}, false
	}
	name := op.Op
	if name == "==" {
		name = "="
	}
	values := op.Args[1:]
	if _, ok := op.Args[0].(*syntax.Ref); !ok {
		if _, ok := op.Args[1].(*syntax.Ref); !ok || len(op.Args) != 2 || name == "IN" {
			return Bound{}, false
		}
		values = op.Args[:1]
		name = turned(name)
	}
	b := Bound{Column: r.baseName(c.refs[0].col), Op: name, Constant: true}
	for _, v := range values {
		if len(b.Values) < 64 {
			b.Values = append(b.Values, oneLine(v.Range().In(r.text), 200))
		}
		constant, variables := r.fixed(v)
		b.Constant = b.Constant && constant
		b.Variables = append(b.Variables, variables...)
	}
	return b, true
}

// turned is a comparison with its sides exchanged.
func turned(op string) string {
	switch op {
	case "<":
		return ">"
	case "<=":
		return ">="
	case ">":
		return "<"
	case ">=":
		return "<="
	}
	return op
}

// fixed says whether an expression is made of literals only, and lists the
// variables in it.
func (r *resolver) fixed(e syntax.Expr) (constant bool, variables []string) {
	constant = true
	syntax.Inspect(e, func(n syntax.Node) bool {
		switch x := n.(type) {
		case *syntax.Variable:
			constant = false
			variables = append(variables, x.Name)
		case *syntax.Literal:
			// Templates stand inside of quotes, too: '${day}', '{{ ds }}'.
			if names := templates(x.Value); len(names) > 0 {
				constant = false
				variables = append(variables, names...)
			}
		case *syntax.Call:
			constant = false
		case *syntax.Ref:
			constant = false
			if len(x.Parts) == 1 && r.isVariable(x.Parts[0].Text) {
				variables = append(variables, x.Parts[0].Text)
			}
		}
		return true
	})
	return constant, variables
}

// templates are the names between ${ and }, {{ and }} in a text.
func templates(text string) []string {
	var names []string
	for _, marks := range [...][2]string{{"${", "}"}, {"{{", "}}"}} {
		rest := text
		for {
			_, after, ok := strings.Cut(rest, marks[0])
			if !ok {
				break
			}
			name, tail, ok := strings.Cut(after, marks[1])
			if !ok {
				break
			}
			names = append(names, strings.TrimSpace(name))
			rest = tail
		}
	}
	return names
}
