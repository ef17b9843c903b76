package api

import (
	"context"
	"math/bits"
	"slices"
	"strconv"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"headwater/graph"
)

// A writer takes the JSON of the value of one field of Query. Its bytes are
// those that gqlgen would write.
type writer struct {
	op *graphql.OperationContext
	b  []byte
	// path leads from the value to the one that is being written: errors of
	// fields that read tell it.
	path []segment
	// void: what is being written cannot be, since a field within it that
	// must not be null has none; the next value outwards that may be null is
	// null for it. Writing goes on, so that every error is told.
	void bool

	lastTime int64
	lastText []byte
}

// A segment is a step of a path: to a field, or to an element of a list.
type segment struct {
	field *ast.Field // nil: an element
	index int
}

// start makes the writer ready for a value.
func (w *writer) start(op *graphql.OperationContext) {
	*w = writer{op: op, b: w.b[:0], path: w.path[:0], lastText: w.lastText[:0]}
}

func (w *writer) enter(f *ast.Field) { w.path = append(w.path, segment{field: f}) }
func (w *writer) leave()             { w.path = w.path[:len(w.path)-1] }

// element enters an element of a list. It makes room for it first: append by
// itself grows a long buffer by a quarter, and so copies it often.
func (w *writer) element(i int) {
	w.path = append(w.path, segment{index: i})
	if cap(w.b)-len(w.b) < 1024 {
		w.b = slices.Grow(w.b, len(w.b)+1024)
	}
}

// here is the context of the value that is being written, below that of the
// field of Query.
func (w *writer) here(ctx context.Context) context.Context {
	for _, p := range w.path {
		at := &graphql.FieldContext{Field: graphql.CollectedField{Field: p.field}}
		if p.field == nil {
			at.Index = &p.index
		}
		ctx = graphql.WithFieldContext(ctx, at)
	}
	return ctx
}

// fail reports why the field that is being written has no value.
func (w *writer) fail(ctx context.Context, err error) {
	w.op.Error(ctx, graphql.AddFieldLocationToError(ctx, err))
	w.void = true
}

// nullable writes a value that may be null: what write writes, or null where
// that must not be.
func (w *writer) nullable(write func()) {
	start, void := len(w.b), w.void
	w.void = false
	if write(); w.void {
		w.b = w.b[:start]
		w.null()
	}
	w.void = void
}

func (w *writer) raw(s string) { w.b = append(w.b, s...) }
func (w *writer) null()        { w.b = append(w.b, "null"...) }
func (w *writer) bool(v bool)  { w.b = strconv.AppendBool(w.b, v) }
func (w *writer) int(v int)    { w.b = strconv.AppendInt(w.b, int64(v), 10) }

func (w *writer) text(s string) {
	if !plain(s) {
		w.b = appendQuoted(w.b, s)
		return
	}
	w.b = append(w.b, '"')
	w.b = append(w.b, s...)
	w.b = append(w.b, '"')
}

// id writes an id as graph.ID.String does.
func (w *writer) id(id graph.ID) {
	text := [2 + 32]byte{0: '"'}
	triples, end := 8, 33
	if len(id.Bytes()) == 16 {
		triples, end = 6, 23 // the last two characters stand for zeros
	}
	for i := range triples {
		v := uint(id[3*i])<<16 | uint(id[3*i+1])<<8 | uint(id[3*i+2])
		copy(text[1+4*i:], pairs[v>>12][:])
		copy(text[3+4*i:], pairs[v&4095][:])
	}
	text[end] = '"'
	w.b = append(w.b, text[:end+1]...)
}

// time writes nanoseconds since 1970; 0 is null. Columns of one table share
// theirs, so the last one is remembered.
func (w *writer) time(ns int64) {
	if ns == 0 {
		w.null()
		return
	}
	if ns != w.lastTime {
		w.lastTime, w.lastText = ns, append(appendTime(append(w.lastText[:0], '"'), ns), '"')
	}
	w.b = append(w.b, w.lastText...)
}

// comma comes before all elements of a list but the first.
func (w *writer) comma(i int) {
	if i > 0 {
		w.b = append(w.b, ',')
	}
}

func (w *writer) optional(s *string) {
	if s == nil {
		w.null()
	} else {
		w.text(*s)
	}
}

func (w *writer) optionalInt(n *int) {
	if n == nil {
		w.null()
	} else {
		w.int(*n)
	}
}

func (w *writer) texts(list []string) {
	w.b = append(w.b, '[')
	for i, s := range list {
		w.comma(i)
		w.text(s)
	}
	w.b = append(w.b, ']')
}

func (w *writer) ints(list []int) {
	w.raw("[")
	for i, n := range list {
		w.comma(i)
		w.int(n)
	}
	w.raw("]")
}

func (w *writer) json(j JSON) {
	if j == nil {
		w.null()
	} else {
		w.b = append(w.b, j...)
	}
}

// kinds writes a set of kinds; details stand for graph.Other where there are
// any.
func (w *writer) kinds(set graph.Kinds, details []string) {
	if len(details) > 0 {
		set &^= graph.Other
	}
	w.raw("[")
	n := 0
	for ; set != 0; set &= set - 1 {
		w.comma(n)
		w.raw(quotedKinds[bits.TrailingZeros16(uint16(set))])
		n++
	}
	for _, d := range details {
		w.comma(n)
		w.text(d)
		n++
	}
	w.raw("]")
}

// quotedKinds are the names of the kinds, by bit.
var quotedKinds = func() (quoted [16]string) {
	for i, name := range graph.AllKinds.Names() {
		quoted[i] = `"` + name + `"`
	}
	return quoted
}()

// appendQuoted writes a string of JSON; what is not UTF-8 stays as it is.
func appendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	if plain(s) {
		return append(append(b, s...), '"')
	}
	const hex = "0123456789ABCDEF"
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c >= ' ':
			b = append(b, c)
		case c == '\t':
			b = append(b, `\t`...)
		case c == '\r':
			b = append(b, `\r`...)
		case c == '\n':
			b = append(b, `\n`...)
		default:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(b, '"')
}

// plain reports whether a string needs no escapes, eight bytes at a time: a
// subtraction borrows into the top bit of a byte that is smaller.
func plain(s string) bool {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for len(s) >= 8 {
		v := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
		quote, slash := v^ones*'"', v^ones*'\\'
		if ((v-ones*' ')&^v|(quote-ones)&^quote|(slash-ones)&^slash)&tops != 0 {
			return false
		}
		s = s[8:]
	}
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// pairs are the two characters of base64url for each twelve bits.
var pairs = func() (t [1 << 12][2]byte) {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	for i := range t {
		t[i] = [2]byte{digits[i>>6], digits[i&63]}
	}
	return t
}()

// appendTime writes nanoseconds since 1970.
func appendTime(b []byte, ns int64) []byte {
	return time.Unix(0, ns).UTC().AppendFormat(b, time.RFC3339Nano)
}
