package standin

import (
	"sync/atomic"

	"github.com/vesoft-inc/nebula-go/v3/nebula"
)

// A run is a statement on its way through its clauses.
type run struct {
	server  *Server
	store   *store
	session *session
	params  map[string]*nebula.Value
	read    map[string]value // of params, those that were needed
	parts   parts
}

// parts says which partitions may be written.
type parts int

const (
	every parts = iota
	even
	odd
)

func (p parts) has(part int) bool {
	return p == every || (part%2 == 0) == (p == even)
}

// all runs statements in order, up to one that fails, and returns what the
// last gave. What is known before any is run is looked at before.
func (r *run) all(statements [][]clause) (t *table, err error) {
	atomic.AddUint64(&r.store.tick, 1)
	for _, s := range statements {
		if c, ok := s[0].(*insertClause); ok && len(statements) > 1 {
			if err := r.validate(c); err != nil {
				return nil, err
			}
		}
	}
	for _, s := range statements {
		t = nil
		for _, c := range s {
			if t, err = r.clause(c, t); err != nil {
				return nil, err
			}
		}
	}
	return t, nil
}

func (r *run) clause(c clause, in *table) (*table, error) {
	switch c := c.(type) {
	case *useClause:
		return nil, r.use(c)
	case *killClause:
		r.store.sessions.kill(c.session)
		return nil, nil
	case *createSpaceClause:
		return nil, r.createSpace(c)
	case *createClause:
		return nil, r.create(c)
	case *dropClause:
		return nil, r.drop(c)
	case *alterClause:
		return nil, r.alter(c)
	case *descClause:
		return r.describe(c)
	case *insertClause:
		return nil, r.insert(c)
	case *deleteClause:
		return nil, r.delete(c, in)
	case *unwindClause:
		return r.unwind(c)
	case *yieldClause:
		return r.yield(c, in)
	case *goClause:
		return r.walk(c, in)
	case *fetchClause:
		return r.fetch(c, in)
	case *limitClause:
		return limited(c, in), nil
	case *orderClause:
		return r.order(c, in)
	}
	return nil, refuse(codeSyntax, "SyntaxError: not understood")
}

// space returns the space that the session is in. The store is locked.
func (r *run) space() (*space, error) {
	name := r.session.in()
	if name == "" {
		return nil, refuse(codeSemantic, "SemanticError: Space was not chosen.")
	}
	return r.store.space(name)
}

// An env is what an expression is about.
type env struct {
	r   *run
	in  *table
	row []value // of in
	// What is walked or fetched; nil: nothing.
	schema *schema
	record []value
	// Of an edge: where it was reached from, the other end, and its true ends.
	start, far, src, dst string
	rank                 int64
}

func (r *run) param(name string) value {
	v, ok := r.read[name]
	if !ok {
		v = fromWire(r.params[name])
		if r.read == nil {
			r.read = map[string]value{}
		}
		r.read[name] = v
	}
	return v
}

func (n *env) eval(e *expr) value {
	switch e.op {
	case opLiteral:
		return e.value
	case opParam:
		return n.r.param(e.name)
	case opInput:
		if i := n.in.column(e.name); i >= 0 {
			return n.row[i]
		}
		return value{}
	case opField:
		if m := n.eval(e.args[0]); m.kind == isMap {
			if v, ok := m.fields[e.name]; ok {
				return v
			}
		}
		return null
	case opIndex:
		list, i := n.eval(e.args[0]), n.eval(e.args[1])
		if list.kind == isList && i.kind == isInt && 0 <= i.i && i.i < int64(len(list.list)) {
			return list.list[i.i]
		}
		return null
	case opList:
		v := value{kind: isList, list: make([]value, len(e.args))}
		for i, a := range e.args {
			v.list[i] = n.eval(a)
		}
		return v
	case opAnd:
		return boolValue(n.eval(e.args[0]).isTrue() && n.eval(e.args[1]).isTrue())
	case opOr:
		return boolValue(n.eval(e.args[0]).isTrue() || n.eval(e.args[1]).isTrue())
	case opNot:
		if v := n.eval(e.args[0]); v.kind == isBool {
			return boolValue(v.i == 0)
		}
		return null
	case opProp, opProps, opSrc, opDst, opRank, opCall:
		return n.of(e)
	}
	return n.compute(e.op, n.eval(e.args[0]), n.eval(e.args[1]))
}

func (n *env) compute(o op, a, b value) value {
	switch o {
	case opPlus, opMinus:
		if a.kind != isInt || b.kind != isInt {
			return null
		}
		if o == opMinus {
			b.i = -b.i
		}
		return intValue(a.i + b.i)
	case opIn:
		for _, e := range b.list {
			if c, ok := a.compare(e); ok && c == 0 {
				return boolValue(true)
			}
		}
		return boolValue(false)
	}
	if a.kind <= isNull || b.kind <= isNull {
		return null
	}
	c, ok := a.compare(b)
	switch o {
	case opEqual:
		return boolValue(ok && c == 0)
	case opUnequal:
		return boolValue(!ok || c != 0)
	case opLess:
		return boolValue(ok && c < 0)
	case opLessEqual:
		return boolValue(ok && c <= 0)
	case opMore:
		return boolValue(ok && c > 0)
	default:
		return boolValue(ok && c >= 0)
	}
}

// of evaluates what is asked of the edge or vertex at hand.
func (n *env) of(e *expr) value {
	if n.schema == nil {
		return value{}
	}
	switch e.op {
	case opProp, opProps:
		if e.op == opProp && e.name != n.schema.name {
			return value{} // a property of another edge type
		}
		i, ok := n.schema.index[e.prop]
		switch {
		case !ok:
			return null
		case i < len(n.record):
			return n.record[i]
		}
		return n.schema.columns[i].absent()
	case opSrc, opDst, opRank:
		switch {
		case e.name != n.schema.name:
			return value{}
		case e.op == opSrc:
			return stringValue(n.start)
		case e.op == opDst:
			return stringValue(n.far)
		}
		return intValue(n.rank)
	}
	switch e.name {
	case "src(edge)":
		return stringValue(n.src)
	case "dst(edge)":
		return stringValue(n.dst)
	case "rank(edge)":
		return intValue(n.rank)
	case "type(edge)":
		return stringValue(n.schema.name)
	case "id($$)":
		return stringValue(n.far)
	}
	return stringValue(n.start) // id(vertex), id($^)
}

// each calls f with every part of expressions.
func each(exprs []*expr, f func(*expr) error) error {
	for _, e := range exprs {
		if e == nil {
			continue
		}
		if err := f(e); err != nil {
			return err
		}
		if err := each(e.args, f); err != nil {
			return err
		}
	}
	return nil
}

// checked sees that the columns that expressions take from the pipe are there,
// and that all they take of schemas is, and notes which properties those are.
func (r *run) checked(exprs []*expr, in *table, schemas ...*schema) (props map[*schema][]string, err error) {
	props = map[*schema][]string{}
	return props, each(exprs, func(e *expr) error {
		switch e.op {
		case opInput:
			if in == nil || in.column(e.name) < 0 {
				return refuse(codeSemantic, "SemanticError: `$-.%s', not exist prop `%s'", e.name, e.name)
			}
		case opProp, opSrc, opDst, opRank:
			for _, sc := range schemas {
				if sc.name != e.name {
					continue
				}
				if e.op == opProp {
					if !r.store.has(sc, e.prop) {
						return refuse(codeSemantic, "SemanticError: not found the property `%s'", e.prop)
					}
					props[sc] = append(props[sc], e.prop)
				}
				return nil
			}
			return refuse(codeSemantic, "SemanticError: %s not found in space [%s].", e.name, r.session.in())
		case opCall, opProps:
			if len(schemas) == 0 {
				return refuse(codeSemantic, "SemanticError: %s is not allowed here", e.name)
			}
		}
		return nil
	})
}
