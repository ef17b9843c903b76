package sql

import (
	"strings"

	"headwater/ingest/sql/syntax"
)

// windowTables are the functions that assign the rows of a table to windows of
// time.
var windowTables = words(`TUMBLE HOP CUMULATE SESSION TUMBLE_TABLE HOP_TABLE`)

// windowTable binds TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), …)): the table's
// columns with the window's bounds.
func (f *from) windowTable(x *syntax.TableFunc) (int32, bool) {
	call := inTable(x.Call)
	if !windowTables[strings.ToUpper(call.Func)] {
		return 0, false
	}
	r := f.r
	inner := &scope{parent: f.scope.parent}
	g := r.newFrom(inner)
	switch {
	case tableArg(call) != nil:
		g.tableRef(tableArg(call))
	case queryArg(call) != nil:
		rel := r.query(queryArg(call), f.scope.parent)
		g.bind(rel, syntax.Alias{}, nil)
	case len(call.Args) > 0:
		// RisingWave and Materialize: TUMBLE(t, ts, …).
		ref, ok := call.Args[0].(*syntax.Ref)
		if !ok {
			r.release(g.acc)
			return 0, false
		}
		g.tableRef(&syntax.Table{Span: ref.Span, Name: ref.Name})
	default:
		r.release(g.acc)
		return 0, false
	}
	node := r.node(OpWindow, call.Func, x)
	r.input(node, g.node)
	list := r.expandStar(&syntax.Star{Span: call.Span}, inner, r.columnList())
	acc := r.scratch()
	for _, a := range call.Args {
		f.descriptor(a, inner, acc)
	}
	deps := normal(acc.deps)
	for i := range deps {
		deps[i].kinds = compose(Transformation, deps[i].kinds)
	}
	bound := r.newColumn(column{set: r.deps.keep(deps), from: r.ints.keep(acc.from), node: node, item: call})
	r.release(acc)
	for _, n := range [...]string{"window_start", "window_end", "window_time"} {
		list = append(list, outColumn{n, bound, false})
	}
	rel := r.build(list, node)
	r.openStar(rel, inner, nil)
	r.releaseList(list)
	rel.deps = g.done()
	return f.bind(rel, x.Alias, nil), true
}

// inTable looks into TABLE(…).
func inTable(call *syntax.Call) *syntax.Call {
	for strings.EqualFold(call.Func, "TABLE") && len(call.Args) == 1 {
		inner, ok := call.Args[0].(*syntax.Call)
		if !ok {
			break
		}
		call = inner
	}
	return call
}

func tableArg(call *syntax.Call) *syntax.Table {
	if call.Table != nil {
		return call.Table
	}
	for _, a := range call.Args {
		if c, ok := a.(*syntax.Call); ok && c.Table != nil {
			return c.Table
		}
	}
	return nil
}

func queryArg(call *syntax.Call) *syntax.Query {
	if call.Query != nil {
		return call.Query
	}
	for _, a := range call.Args {
		if c, ok := a.(*syntax.Call); ok && c.Query != nil {
			return c.Query
		}
		if s, ok := a.(*syntax.Sub); ok && s.Kind == "SCALAR" {
			return s.Query
		}
	}
	return nil
}

// descriptor gathers the time column of a window: DESCRIPTOR(ts), TIMECOL =>
// DESCRIPTOR(ts), or the column itself.
func (f *from) descriptor(e syntax.Expr, s *scope, acc *acc) {
	switch x := e.(type) {
	case *syntax.Call:
		if strings.EqualFold(x.Func, "DESCRIPTOR") && len(acc.deps) == 0 {
			for _, a := range x.Args {
				f.r.walk(a, s, Identity, inFrom, acc)
			}
		}
	case *syntax.Ref:
		if len(x.Parts) == 1 && len(s.tables) == 1 && s.tables[0].name != nil && !f.r.named(&s.tables[0], x.Parts) && len(acc.deps) == 0 {
			f.r.walk(x, s, Identity, inFrom, acc)
		}
	}
}

// tableArgument binds a function of a table: what it yields is made of the
// table's columns; columns of the same name are copies.
func (f *from) tableArgument(call *syntax.Call, alias syntax.Alias) int32 {
	r := f.r
	inner := &scope{parent: f.scope.parent}
	g := r.newFrom(inner)
	g.tableRef(call.Table)
	node := r.node(OpTableFunction, call.Func, call)
	r.input(node, g.node)
	list := r.expandStar(&syntax.Star{Span: call.Span}, inner, r.columnList())
	rel := r.build(list, node)
	r.openStar(rel, inner, nil)
	r.releaseList(list)
	rel.deps = g.done()
	return f.bind(rel, alias, nil)
}
