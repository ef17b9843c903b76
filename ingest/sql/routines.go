package sql

import (
	"strings"

	"headwater/ingest/sql/syntax"
)

// routines are the SQL functions and macros that the script defines, by the last
// part of their names: a call of one means its body.
type routines struct {
	defined map[string]*syntax.CreateFunction
	inside  []*syntax.CreateFunction // whose bodies are being resolved
	spent   int                      // bytes of bodies resolved for calls
}

func (r *resolver) defineFunction(x *syntax.CreateFunction) {
	name := lower(lastPart(x.Name))
	if name == "" {
		return
	}
	if x.Body == nil && x.Query == nil {
		delete(r.routines.defined, name) // now it is code that is not read
		return
	}
	if r.routines.defined == nil {
		r.routines.defined = make(map[string]*syntax.CreateFunction)
	}
	r.routines.defined[name] = x
}

// routine returns the function that a call calls, nil where its body is not
// known, or is not to be resolved once more: one that calls itself, or bodies
// that have come to more than the text of the script several times over.
func (r *resolver) routine(x *syntax.Call) *syntax.CreateFunction {
	if len(r.routines.defined) == 0 || x.Over != nil {
		return nil
	}
	def := r.routines.defined[lower(lastPartOr(x.Name, x.Func))]
	if def == nil || len(x.Args) > len(def.Params) {
		return nil
	}
	for _, d := range r.routines.inside {
		if d == def {
			return nil
		}
	}
	r.routines.spent += int(def.End-def.Start) + 16
	if r.routines.spent > 1<<16+4*len(r.text) {
		return nil
	}
	return def
}

// routineScope is where the parameters of a function mean its call's arguments.
func (r *resolver) routineScope(def *syntax.CreateFunction, x *syntax.Call, s *scope, in place, to *acc) *scope {
	inner := &scope{routine: true}
	for i, p := range def.Params {
		inner.params = append(inner.params, param{p.Text, -1})
		arg := argumentOf(x, p.Text, i)
		if arg == nil {
			continue
		}
		acc := r.scratch()
		r.walk(arg, s, Identity, in, acc)
		to.subs = append(to.subs, acc.subs...)
		to.flags |= acc.flags & (aggregated | windowed)
		c := r.newColumn(column{set: r.keepSet(acc), from: r.ints.keep(acc.from), node: -1, item: arg, masked: acc.masked, flags: acc.flags & (isRow | unnest)})
		r.release(acc)
		inner.params[i].col = c
	}
	return inner
}

// argumentOf is the argument for a parameter, by its name or its place.
func argumentOf(x *syntax.Call, name string, place int) syntax.Expr {
	for i, n := range x.Names {
		if n != "" && strings.EqualFold(n, name) && i < len(x.Args) {
			return x.Args[i]
		}
	}
	if place < len(x.Args) && (place >= len(x.Names) || x.Names[place] == "") {
		return x.Args[place]
	}
	return nil
}

// walkRoutine follows the body of a function in the place of its call.
func (r *resolver) walkRoutine(def *syntax.CreateFunction, x *syntax.Call, s *scope, role Kind, in place, to *acc) {
	inner := r.routineScope(def, x, s, in, to)
	r.routines.inside = append(r.routines.inside, def)
	noting := r.noting
	r.noting = false
	defer func() {
		r.noting = noting
		r.routines.inside = r.routines.inside[:len(r.routines.inside)-1]
	}()
	if def.Body != nil {
		r.walk(def.Body, inner, role, inItems, to)
		return
	}
	rel := r.query(def.Query, inner)
	to.subs = append(to.subs, rel.node)
	to.deps = indirect(to.deps, rel.deps, rowRole(role))
	for _, c := range r.all(rel) {
		r.use(c, role, to)
	}
}

// routineTable binds what a function that is a query yields; false where the
// call is of none.
func (f *from) routineTable(x *syntax.Call, alias syntax.Alias) (int32, bool) {
	r := f.r
	def := r.routine(x)
	if def == nil || def.Query == nil {
		return 0, false
	}
	inner := r.routineScope(def, x, f.scope, inFrom, f.acc)
	r.routines.inside = append(r.routines.inside, def)
	rel := r.query(def.Query, inner)
	r.routines.inside = r.routines.inside[:len(r.routines.inside)-1]
	if alias.Name.Text == "" {
		alias.Name.Text = lastPartOr(x.Name, x.Func)
	}
	left := f.node
	node := f.bind(rel, alias, nil)
	if left >= 0 {
		r.input(node, left)
	}
	return node, true
}
