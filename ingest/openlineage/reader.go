package openlineage

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"headwater/graph"
)

// A reader walks one message. What goes wrong sticks, so that callers read on
// without looking: err, where the message is not JSON, ends everything; fault,
// where a value is not what it should be, lasts until the value that it makes
// useless has been left (catch). While either is set, nothing is read, loops
// over more end, and values are zero.
type reader struct {
	d      *jsontext.Decoder
	body   []byte
	region string
	err    error
	fault  *fault
	mute   bool
	// from and to say where what was read last stands; name is the name of the
	// member that was read last.
	from, to int
	name     []byte
	// recent holds strings that were read, so that what messages repeat takes
	// memory once; arena is where short ones lie together.
	recent *[128]string
	arena  *strings.Builder
	schema schema // its memory is used again
}

// A fault says which value is not what it should be.
type fault struct {
	path   string
	offset int64
	reason string
}

func (r *reader) open(body []byte, region string) {
	r.body, r.region = body, region
	in := bytes.NewBuffer(body) // is read without a copy
	if r.d == nil {
		r.d, r.recent, r.arena = jsontext.NewDecoder(in, jsontext.AllowDuplicateNames(true)), new([128]string), new(strings.Builder)
	} else {
		r.d.Reset(in, jsontext.AllowDuplicateNames(true))
	}
}

func (r *reader) stopped() bool { return r.err != nil || r.fault != nil }

// token reads the next token and returns its first byte, '0' for a number, or
// 0 where nothing can be read. Its bytes are r.body[r.from:r.to].
func (r *reader) token() byte {
	if r.stopped() {
		return 0
	}
	i := int(r.d.InputOffset())
	if _, err := r.d.ReadToken(); err != nil {
		r.err = err
		return 0
	}
	r.to = int(r.d.InputOffset())
	for r.body[i] <= ' ' || r.body[i] == ',' || r.body[i] == ':' {
		i++
	}
	r.from = i
	if c := r.body[i]; c > '9' || c == '"' {
		return c
	}
	return '0'
}

// kind looks at the value that comes next; it is 0 where nothing can be read.
func (r *reader) kind() jsontext.Kind {
	if r.stopped() {
		return 0
	}
	k := r.d.PeekKind()
	if k == jsontext.KindInvalid {
		r.token()
		if r.err == nil {
			r.err = io.ErrUnexpectedEOF
		}
		return 0
	}
	return k
}

// value reads the value that comes next as it was sent; null is nil.
func (r *reader) value() []byte {
	if r.stopped() {
		return nil
	}
	v, err := r.d.ReadValue()
	if err != nil {
		r.err = err
		return nil
	}
	r.to = int(r.d.InputOffset())
	r.from = r.to - len(v)
	if len(v) == len("null") && v[0] == 'n' {
		return nil
	}
	return v
}

func (r *reader) skip() { r.value() }

// object enters the object that comes next and reports whether there is one:
// null is none, anything else a fault.
func (r *reader) object() bool {
	k := r.token()
	if k != '{' && k != 'n' {
		r.wrong(k, "an object")
	}
	return k == '{'
}

// array enters the array that comes next, as object does.
func (r *reader) array() bool {
	k := r.token()
	if k != '[' && k != 'n' {
		r.wrong(k, "an array")
	}
	return k == '['
}

// member reads the name of the next member of the object that was entered, into
// r.name; where there is none, the end of the object has been read. r.name is
// not to be changed.
func (r *reader) member() bool {
	if r.token() != '"' {
		return false
	}
	r.name = r.unquoted()
	return r.err == nil
}

// more reports whether the array that was entered goes on; where it does not,
// its end has been read.
func (r *reader) more() bool {
	switch r.kind() {
	case 0:
		return false
	case ']':
		r.token()
		return false
	}
	return true
}

// unquoted returns the string that was just read; it is not to be changed.
func (r *reader) unquoted() []byte {
	v := r.body[r.from:r.to]
	if bytes.IndexByte(v, '\\') < 0 {
		return v[1 : len(v)-1]
	}
	b, err := jsontext.AppendUnquote(nil, v)
	if err != nil {
		r.err = err
	}
	return b
}

// str reads a string; null reads as "".
func (r *reader) str() string {
	switch k := r.token(); k {
	case '"':
		return r.keep(r.unquoted())
	case 'n':
	default:
		r.wrong(k, "a string")
	}
	return ""
}

// one reads the member that is wanted, and skips others.
func (r *reader) one(wanted string, v *string) {
	if string(r.name) == wanted {
		*v = r.str()
	} else {
		r.skip()
	}
}

// boolean reads true or false; null reads as false.
func (r *reader) boolean() bool {
	switch k := r.token(); k {
	case 't':
		return true
	case 'f', 'n':
	default:
		r.wrong(k, "true or false")
	}
	return false
}

// integer reads a number; null, and what an int does not hold, reads as 0.
func (r *reader) integer() int {
	switch k := r.token(); k {
	case '0':
		f, err := strconv.ParseFloat(string(r.body[r.from:r.to]), 64)
		if err != nil || f < -1<<31 || f > 1<<31 {
			return 0
		}
		return int(f)
	case 'n':
	default:
		r.wrong(k, "a number")
	}
	return 0
}

// A text is a string that need looks at later: where it is not a string, or is
// there twice, it is not yet a fault.
type text struct {
	s    string
	kind byte // 0: absent, or null
	at   int
}

func (r *reader) text() text {
	depth := r.d.StackDepth()
	var t text
	t.kind = r.token()
	t.at = r.from
	switch t.kind {
	case '"':
		t.s = r.keep(r.unquoted())
	case 'n':
		t.kind = 0
	case '{', '[':
		r.leave(depth)
	}
	return t
}

// need returns the string that the object that was just left has to have under
// a key.
func (r *reader) need(t text, key string) string {
	s := r.may(t, key)
	if s == "" && !r.stopped() {
		at, reason := t.at, "is empty"
		if t.kind == 0 {
			at, reason = int(r.d.InputOffset()), "is missing"
		}
		r.fault = &fault{r.path() + "." + key, int64(at), reason}
	}
	return s
}

// may returns the string that the object that was just left may have under a
// key.
func (r *reader) may(t text, key string) string {
	switch {
	case r.stopped():
		return ""
	case t.kind != 0 && t.kind != '"':
		r.fault = &fault{r.path() + "." + key, int64(t.at), "is " + kindName(t.kind) + "; it must be a string"}
		return ""
	case len(t.s) > graph.MaxName:
		r.fault = &fault{r.path() + "." + key, int64(t.at), tooLong(len(t.s))}
		return ""
	}
	return t.s
}

func tooLong(n int) string {
	return fmt.Sprintf("has %d bytes; at most %d are taken", n, graph.MaxName)
}

// wrong makes the token that was just read, which began with k, a fault.
func (r *reader) wrong(k byte, want string) {
	if !r.stopped() {
		r.fault = &fault{r.path(), int64(r.from), "is " + kindName(k) + "; it must be " + want}
	}
}

// fail makes the value that was just read a fault.
func (r *reader) fail(reason string) {
	if !r.stopped() {
		r.fault = &fault{r.path(), int64(r.from), reason}
	}
}

// catch takes the fault, if there is one, after reading to the end of the value
// that it makes useless. depth is that of the object or array that the value is
// in.
func (r *reader) catch(depth int) *fault {
	f := r.fault
	r.fault = nil
	if f != nil {
		r.leave(depth)
	}
	return f
}

// leave reads on to where depth objects and arrays are open.
func (r *reader) leave(depth int) {
	for r.err == nil && r.d.StackDepth() > depth {
		r.token()
	}
}

// keep returns b as a string that outlives the message.
func (r *reader) keep(b []byte) string {
	n := len(b)
	if n == 0 {
		return ""
	}
	if n > 128 {
		return string(b)
	}
	var head, tail uint64
	if n >= 8 {
		head, tail = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[n-8:])
	} else {
		for _, c := range b {
			head = head<<8 | uint64(c)
		}
	}
	const prime1, prime2 = 0x9e3779b185ebca87, 0xc2b2ae3d27d4eb4f
	h := (head ^ tail*prime1 ^ uint64(n)) * prime2
	s := &r.recent[h>>57]
	if *s != string(b) {
		const chunk = 512
		if r.arena.Cap()-r.arena.Len() < n {
			r.arena = new(strings.Builder)
			r.arena.Grow(chunk)
		}
		at := r.arena.Len()
		r.arena.Write(b)
		*s = r.arena.String()[at:]
	}
	return *s
}

func kindName(k byte) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '{':
		return "an object"
	case '[':
		return "an array"
	}
	return "not JSON"
}

// end makes sure that nothing follows.
func (r *reader) end() {
	if r.err != nil {
		return
	}
	if _, err := r.d.ReadToken(); err != io.EOF {
		r.err = errors.Join(errMore, err)
	}
}

var errMore = errors.New("more follows after the event")
