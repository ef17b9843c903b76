package sql

import (
	"headwater/ingest/sql/syntax"
)

// walk gathers what an expression depends on when its value is used in role.
func (r *resolver) walk(e syntax.Expr, s *scope, role Kind, in place, to *acc) {
	if r.depth++; r.depth > maxDepth {
		r.depth--
		r.tooDeep(e)
		return
	}
	defer func() { r.depth-- }()
	for {
		switch x := e.(type) {
		case nil:
		case *syntax.Ref:
			if x != nil {
				r.walkRef(x, s, role, in, to)
			}
		case *syntax.Op:
			role = transformed(role)
			if len(x.Args) == 0 {
				return
			}
			// Chains lean to the left and are long: no recursion there.
			for _, a := range x.Args[1:] {
				r.walk(a, s, role, in, to)
			}
			e = x.Args[0]
			continue
		case *syntax.Cast:
			role = transformed(role)
			e = x.X
			continue
		case *syntax.Field:
			r.walkField(x, s, role, in, to)
		case *syntax.Index:
			if x.At != nil {
				r.walk(x.At, s, transformed(role), in, to)
			}
			if x.To != nil {
				r.walk(x.To, s, transformed(role), in, to)
			}
			role = transformed(role)
			e = x.X
			continue
		case *syntax.Call:
			r.walkCall(x, s, role, in, to)
		case *syntax.Case:
			r.walkCase(x, s, role, in, to)
		case *syntax.Sub:
			r.walkSub(x, s, role, in, to)
		case *syntax.List:
			inner := role
			if len(x.Items) != 1 || x.Kind != "ROW" {
				inner = transformed(role)
			}
			for i := range x.Items {
				r.walk(x.Items[i].Expr, s, inner, in, to)
			}
		case *syntax.Lambda:
			// A lambda that is no argument: its parameters mean nothing.
			inner := &scope{parent: s}
			for _, p := range x.Params {
				inner.params = append(inner.params, param{p.Text, -1})
			}
			r.walk(x.Body, inner, transformed(role), in, to)
		case *syntax.Star:
			r.walkStar(x, s, role, to)
		}
		return
	}
}

// transformed is the role of an operand of something computed in role.
func transformed(role Kind) Kind {
	if role == Identity {
		return Transformation
	}
	return role
}

// use adds a column to what is gathered.
func (r *resolver) use(c int32, role Kind, to *acc) {
	if c < 0 {
		return
	}
	col := &r.columns[c]
	to.deps = add(to.deps, col.set, role)
	to.compact()
	to.from = append(to.from, c)
	if role&Direct != 0 {
		to.flags |= col.flags & (isStar | unnest | isRow)
		if to.masked == "" {
			to.masked = col.masked
		}
	}
}

func (r *resolver) walkRef(x *syntax.Ref, s *scope, role Kind, in place, to *acc) {
	m := r.resolve(x, s, in)
	if !m.ok || m.col < 0 {
		return
	}
	c := m.col
	for i := m.used; i < len(x.Parts); i++ {
		c = r.extend(c, x.Parts[i].Text, x)
	}
	if r.noting {
		r.noteRef(x.Span, c)
	}
	r.use(c, role, to)
}

// walkField follows (x).f, f(x).g and v:a.b: a path into a column where x is
// one.
func (r *resolver) walkField(x *syntax.Field, s *scope, role Kind, in place, to *acc) {
	var path []string
	var e syntax.Expr = x
	for {
		f, ok := e.(*syntax.Field)
		if !ok {
			break
		}
		if !f.Star {
			path = append(path, f.Name.Text)
		}
		e = f.X
	}
	// An element of an array of structs is as the array: a[0].f.
	indexed := false
	for {
		i, ok := e.(*syntax.Index)
		if !ok {
			break
		}
		if i.At != nil {
			r.walk(i.At, s, transformed(role), in, to)
		}
		e, indexed = i.X, true
	}
	if ref, ok := e.(*syntax.Ref); ok && !r.rules.variant {
		if m := r.resolve(ref, s, in); m.ok && m.col >= 0 {
			c := m.col
			for i := m.used; i < len(ref.Parts); i++ {
				c = r.extend(c, ref.Parts[i].Text, ref)
			}
			for i := len(path) - 1; i >= 0; i-- {
				c = r.extend(c, path[i], x)
			}
			if indexed {
				role = transformed(role)
			}
			r.use(c, role, to)
		}
		return
	}
	r.walk(e, s, transformed(role), in, to)
}

func (r *resolver) walkCase(x *syntax.Case, s *scope, role Kind, in place, to *acc) {
	cond := conditional(role)
	if x.Operand != nil {
		r.walk(x.Operand, s, cond, in, to)
	}
	role = transformed(role)
	for i := range x.Whens {
		r.walk(x.Whens[i].Cond, s, cond, in, to)
		r.walk(x.Whens[i].Then, s, role, in, to)
	}
	if x.Else != nil {
		r.walk(x.Else, s, role, in, to)
	}
}

// conditional is the role of a condition of something computed in role.
func conditional(role Kind) Kind {
	if role&Indirect != 0 {
		return role
	}
	return Conditional
}

// walkSub follows a query in an expression. Its output is what the value is;
// its filters and joins decide it.
func (r *resolver) walkSub(x *syntax.Sub, s *scope, role Kind, in place, to *acc) {
	if x.Left != nil {
		r.walk(x.Left, s, transformed(role), in, to)
	}
	if x.Query == nil {
		return
	}
	rel := r.query(x.Query, s)
	to.subs = append(to.subs, rel.node)
	to.deps = indirect(to.deps, rel.deps, rowRole(role))
	switch x.Kind {
	case "EXISTS":
		return
	case "SCALAR":
	default:
		role = transformed(role)
	}
	for _, c := range r.all(rel) {
		r.use(c, role, to)
	}
}

// rowRole is the role of what decides the rows of a query in an expression: of
// one column it keeps its own kind.
func rowRole(role Kind) Kind {
	if role&(Conditional|Window) != 0 {
		return Identity
	}
	return role
}

// walkStar follows a star inside an expression: struct(t.*), f(*).
func (r *resolver) walkStar(x *syntax.Star, s *scope, role Kind, to *acc) {
	if s == nil {
		return // no query stands around it
	}
	buf := r.columnList()
	buf = r.expandStar(x, s, buf)
	for _, o := range buf {
		r.use(o.col, transformed(role), to)
	}
	r.releaseList(buf)
}
