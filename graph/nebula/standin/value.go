package standin

import (
	"errors"
	"fmt"
	"strings"

	"github.com/vesoft-inc/nebula-go/v3/nebula"
	"github.com/vesoft-inc/nebula-go/v3/nebula/graph"
)

// The kinds of values. The zero one is what a property of another edge type
// is: no value, which is not NULL.
type kind uint8

const (
	isEmpty kind = iota
	isNull
	isBool
	isInt
	isString
	isList
	isMap
)

// A value is what expressions give and records hold.
type value struct {
	kind   kind
	i      int64 // of a bool: 0 or 1
	s      string
	list   []value
	fields map[string]value
}

var null = value{kind: isNull}

func intValue(i int64) value     { return value{kind: isInt, i: i} }
func stringValue(s string) value { return value{kind: isString, s: s} }

func boolValue(b bool) value {
	v := value{kind: isBool}
	if b {
		v.i = 1
	}
	return v
}

func (v value) isTrue() bool { return v.kind == isBool && v.i == 1 }

// compare orders values of one kind; ok is false where they are of two.
func (v value) compare(w value) (c int, ok bool) {
	if v.kind != w.kind {
		return 0, false
	}
	switch v.kind {
	case isInt, isBool:
		switch {
		case v.i < w.i:
			return -1, true
		case v.i > w.i:
			return 1, true
		}
		return 0, true
	case isString:
		return strings.Compare(v.s, w.s), true
	}
	return 0, false
}

// fromWire reads a parameter.
func fromWire(v *nebula.Value) value {
	switch {
	case v.IsSetSVal():
		return stringValue(string(v.SVal))
	case v.IsSetIVal():
		return intValue(v.GetIVal())
	case v.IsSetBVal():
		return boolValue(v.GetBVal())
	case v.IsSetLVal():
		list := make([]value, len(v.LVal.Values))
		for i, e := range v.LVal.Values {
			list[i] = fromWire(e)
		}
		return value{kind: isList, list: list}
	case v.IsSetMVal():
		fields := make(map[string]value, len(v.MVal.Kvs))
		for k, e := range v.MVal.Kvs {
			fields[k] = fromWire(e)
		}
		return value{kind: isMap, fields: fields}
	case v.IsSetNVal():
		return null
	}
	return value{}
}

// A table is the result of a clause.
type table struct {
	columns []string
	rows    [][]value
}

func (t *table) column(name string) int {
	for i, c := range t.columns {
		if c == name {
			return i
		}
	}
	return -1
}

// A refusal is an error that is answered.
type refusal struct {
	code    int
	message string
}

func (r *refusal) Error() string { return fmt.Sprintf("%d: %s", r.code, r.message) }

func refuse(code int, format string, args ...any) *refusal {
	return &refusal{code, fmt.Sprintf(format, args...)}
}

// The codes.
const (
	codeSession   = int(nebula.ErrorCode_E_SESSION_INVALID)
	codeSyntax    = int(nebula.ErrorCode_E_SYNTAX_ERROR)
	codeExecution = int(nebula.ErrorCode_E_EXECUTION_ERROR)
	codeEmpty     = int(nebula.ErrorCode_E_STATEMENT_EMPTY)
	codeSemantic  = int(nebula.ErrorCode_E_SEMANTIC_ERROR)
)

// reply makes the answer of a result or an error.
func reply(t *table, err error, space string) *graph.ExecutionResponse {
	r := &graph.ExecutionResponse{SpaceName: []byte(space)}
	if err != nil {
		r.ErrorCode, r.ErrorMsg = nebula.ErrorCode(codeExecution), []byte(err.Error())
		var e *refusal
		if errors.As(err, &e) {
			r.ErrorCode, r.ErrorMsg = nebula.ErrorCode(e.code), []byte(e.message)
		}
		return r
	}
	if t == nil {
		return r
	}
	data := &nebula.DataSet{ColumnNames: make([][]byte, len(t.columns)), Rows: make([]*nebula.Row, len(t.rows))}
	for i, c := range t.columns {
		data.ColumnNames[i] = []byte(c)
	}
	// All the values are one piece of memory.
	cells := make([]nebula.Value, len(t.rows)*len(t.columns))
	refs := make([]*nebula.Value, len(cells))
	rows := make([]nebula.Row, len(t.rows))
	for i, row := range t.rows {
		at := i * len(t.columns)
		for j := range row {
			cells[at+j] = toWire(&row[j])
			refs[at+j] = &cells[at+j]
		}
		rows[i].Values = refs[at : at+len(row)]
		data.Rows[i] = &rows[i]
	}
	r.Data = data
	return r
}

func toWire(v *value) (w nebula.Value) {
	switch v.kind {
	case isNull:
		n := nebula.NullType___NULL__
		w.NVal = &n
	case isBool:
		b := v.i == 1
		w.BVal = &b
	case isInt:
		w.IVal = &v.i
	case isString:
		w.SVal = []byte(v.s)
	case isList:
		w.LVal = &nebula.NList{Values: make([]*nebula.Value, len(v.list))}
		for i := range v.list {
			e := toWire(&v.list[i])
			w.LVal.Values[i] = &e
		}
	case isMap:
		w.MVal = &nebula.NMap{Kvs: make(map[string]*nebula.Value, len(v.fields))}
		for k, e := range v.fields {
			x := toWire(&e)
			w.MVal.Kvs[k] = &x
		}
	}
	return w
}
