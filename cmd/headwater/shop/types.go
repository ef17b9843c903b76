package shop

import (
	"strings"

	"headwater/ingest/sql"
	"headwater/ingest/sql/syntax"
)

// returns has the types of what functions return; that of others is the type
// of what they are given.
var returns = invert(map[string]string{
	"bigint":    "count approx_distinct row_number rank datediff date_diff",
	"int":       "year month hour",
	"date":      "to_date date date_sub date_add date_trunc",
	"string":    "sha2 lower upper concat date_format",
	"timestamp": "session_start session_end",
	"double":    "avg",
})

func invert(lists map[string]string) map[string]string {
	m := map[string]string{}
	for value, list := range lists {
		for key := range strings.FieldsSeq(list) {
			m[key] = value
		}
	}
	return m
}

// A typing guesses types of expressions over sources: well enough for what the
// text has.
type typing struct {
	text    string
	sources []source
}

// of is the type of an expression; nil is a column that is handed on.
func (t typing) of(e syntax.Expr) string {
	switch x := e.(type) {
	case *syntax.Cast:
		return strings.Join(strings.Fields(x.Type.Range().In(t.text)), "")
	case *syntax.Literal:
		if x.Kind == "NUMBER" {
			return "int"
		}
		return strings.ToLower(x.Kind)
	case *syntax.Case:
		branches := []syntax.Expr{}
		for _, w := range x.Whens {
			branches = append(branches, w.Then)
		}
		return t.first(append(branches, x.Else))
	case *syntax.Call:
		name := strings.ToLower(x.Func)
		if k := returns[name]; k != "" {
			return k
		}
		if name == "if" && len(x.Args) > 1 {
			return t.of(x.Args[1])
		}
		if len(x.Args) > 0 {
			return t.of(x.Args[0])
		}
	case *syntax.Op:
		switch x.Op {
		case "=", "<>", "<", ">", "<=", ">=", "IS", "IS NULL", "IN", "AND", "OR", "NOT", "BETWEEN", "LIKE":
			return "boolean"
		case "/":
			return "double"
		}
		return t.widest(x)
	case *syntax.Ref:
		if n := len(x.Parts); n > 0 {
			for _, s := range t.sources {
				if c, ok := s.table.column(s.column); ok && s.column == x.Parts[n-1].Text {
					return c.typ
				}
			}
		}
	}
	return t.widest(e)
}

// first is the type of the first branch that is not just a number.
func (t typing) first(branches []syntax.Expr) string {
	for _, b := range branches {
		if l, ok := b.(*syntax.Literal); b == nil || ok && (l.Kind == "NUMBER" || l.Kind == "NULL") {
			continue
		}
		return t.of(b)
	}
	return "int"
}

// widest is the type of the first column with a fraction among those that an
// expression names, or else of the first; nil names all.
func (t typing) widest(e syntax.Expr) string {
	named := map[string]bool{}
	if e != nil {
		syntax.Inspect(e, func(n syntax.Node) bool {
			if r, ok := n.(*syntax.Ref); ok && len(r.Parts) > 0 {
				named[r.Parts[len(r.Parts)-1].Text] = true
			}
			return true
		})
	}
	first := ""
	for _, some := range []bool{true, false} { // columns of a subquery have other names there
		for _, s := range t.sources {
			c, ok := s.table.column(s.column)
			if !ok || s.kinds&sql.Direct == 0 || some && e != nil && !named[s.column] {
				continue
			}
			if strings.HasPrefix(c.typ, "decimal") || c.typ == "double" {
				return c.typ
			}
			if first == "" {
				first = c.typ
			}
		}
		if first != "" {
			break
		}
	}
	return first
}
