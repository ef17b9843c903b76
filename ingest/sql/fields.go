package sql

import (
	"strings"

	"headwater/ingest/sql/syntax"
)

// A made struct is a column that an expression builds of named fields:
// STRUCT(a AS x, b AS y), named_struct('x', a, 'y', b), {'x': a}. A path into it
// is the field's own expression.
type madeStruct struct {
	names  []string
	values []syntax.Expr
	cols   []int32 // 0: not yet computed; column + 1
	scope  *scope
}

// fieldsAt notes the fields of a column whose expression builds a struct.
func (r *resolver) fieldsAt(c int32, e syntax.Expr, s *scope) {
	var m madeStruct
	switch x := e.(type) {
	case *syntax.List:
		for i := range x.Items {
			m.add(x.Items[i].Alias.Text, x.Items[i].Expr)
		}
	case *syntax.Call:
		switch strings.ToUpper(x.Func) {
		case "NAMED_STRUCT", "OBJECT_CONSTRUCT", "JSON_BUILD_OBJECT", "JSONB_BUILD_OBJECT":
			for i := 0; i+1 < len(x.Args); i += 2 {
				if l, ok := x.Args[i].(*syntax.Literal); ok {
					m.add(l.Value, x.Args[i+1])
				}
			}
		case "STRUCT", "STRUCT_PACK":
			for i, a := range x.Args {
				switch {
				case i < len(x.Names) && x.Names[i] != "":
					m.add(x.Names[i], a)
				default:
					if ref, ok := a.(*syntax.Ref); ok {
						m.add(lastPart(ref.Name), a)
					}
				}
			}
		}
	}
	if len(m.names) == 0 {
		return
	}
	m.scope = s
	m.cols = make([]int32, len(m.names))
	if r.structs == nil {
		r.structs = make(map[int32]*madeStruct)
	}
	r.structs[c] = &m
}

func (m *madeStruct) add(name string, e syntax.Expr) {
	if name == "" {
		if ref, ok := e.(*syntax.Ref); ok {
			name = lastPart(ref.Name)
		}
	}
	if name != "" {
		m.names, m.values = append(m.names, name), append(m.values, e)
	}
}

// field is the column of a field of a struct that the script builds, through
// copies of it; -1 where it is none.
func (r *resolver) field(c int32, name string) int32 {
	if r.structs == nil {
		return -1
	}
	for range 64 {
		if m := r.structs[c]; m != nil {
			return m.field(r, c, name)
		}
		col := &r.columns[c]
		if len(col.from) != 1 || col.flags&isName == 0 {
			return -1
		}
		c = col.from[0]
	}
	return -1
}

// field computes a field of the struct in a column, once.
func (m *madeStruct) field(r *resolver, in int32, name string) int32 {
	for i, n := range m.names {
		if !strings.EqualFold(n, name) {
			continue
		}
		if m.cols[i] == 0 {
			acc := r.scratch()
			r.walk(m.values[i], m.scope, Identity, inItems, acc)
			c := r.newColumn(column{
				set: r.keepSet(acc), from: r.ints.keep(append(acc.from, in)), node: r.columns[in].node, item: m.values[i],
				masked: acc.masked, flags: acc.flags &^ (isStar | isRow | unnest),
			})
			m.cols[i] = c + 1
			r.fieldsAt(c, m.values[i], m.scope)
			r.release(acc)
		}
		return m.cols[i] - 1
	}
	return -1
}
