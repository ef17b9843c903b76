package rpc

import (
	"encoding/binary"
	"maps"
	"slices"

	"headwater/graph"
)

// A coder runs one list of fields both ways: it appends to b when it encodes
// and reads from b when it decodes, as graph's own does. What is decoded may
// keep parts of b.
type coder struct {
	b           []byte
	decode, bad bool
	scratch     []byte
	// texts are those that shared has decoded.
	texts map[string]string
	// fields are memory for columns that come.
	fields []graph.Field
}

// fieldsAtOnce is for how many columns there is memory at a time.
const fieldsAtOnce = 32

// field returns memory for a column.
func (c *coder) field() *graph.Field {
	if len(c.fields) == 0 {
		c.fields = make([]graph.Field, fieldsAtOnce)
	}
	f := &c.fields[0]
	c.fields = c.fields[1:]
	return f
}

func (c *coder) fail() { c.bad, c.b = true, nil }

// end returns errMessage if something was wrong, or is left over.
func (c *coder) end() error {
	if c.bad || len(c.b) > 0 {
		return errMessage
	}
	return nil
}

func (c *coder) uint(v *uint64) {
	if !c.decode {
		c.b = binary.AppendUvarint(c.b, *v)
		return
	}
	*v = c.next()
}

// next decodes a number.
func (c *coder) next() uint64 {
	if len(c.b) > 0 && c.b[0] < 1<<7 { // most are
		x := uint64(c.b[0])
		c.b = c.b[1:]
		return x
	}
	x, n := binary.Uvarint(c.b)
	if n <= 0 {
		c.fail()
		return 0
	}
	c.b = c.b[n:]
	return x
}

// near decodes a difference, as binary.AppendVarint writes it.
func (c *coder) near() int64 {
	x := c.next()
	return int64(x>>1) ^ -int64(x&1)
}

// number codes a whole number that is mostly small.
func number[T ~int | ~int64](c *coder, v *T) {
	if !c.decode {
		c.b = binary.AppendVarint(c.b, int64(*v))
		return
	}
	x := c.near()
	if int64(T(x)) != x {
		c.fail()
	}
	*v = T(x)
}

// small codes a number that may not fill its type.
func small[T ~uint8 | ~uint16 | ~uint32](c *coder, v *T) {
	x := uint64(*v)
	if c.uint(&x); !c.decode {
		return
	}
	if uint64(T(x)) != x {
		c.fail()
		x = 0
	}
	*v = T(x)
}

func (c *coder) bool(v *bool) {
	var x uint64
	if *v {
		x = 1
	}
	if c.uint(&x); c.decode {
		if x > 1 {
			c.fail()
		}
		*v = x == 1
	}
}

// take cuts n bytes off what there is to decode.
func (c *coder) take(n uint64) []byte {
	if n > uint64(len(c.b)) {
		c.fail()
		return nil
	}
	b := c.b[:n:n]
	c.b = c.b[n:]
	return b
}

// bytes keeps a part of the input when it decodes; nil is as good as empty.
func (c *coder) bytes(v *[]byte) {
	n := uint64(len(*v))
	if c.uint(&n); c.decode {
		*v = c.take(n)
	} else {
		c.b = append(c.b, *v...)
	}
}

func (c *coder) string(v *string) {
	n := uint64(len(*v))
	if c.uint(&n); c.decode {
		*v = string(c.take(n))
	} else {
		c.b = append(c.b, *v...)
	}
}

// shared is string for texts that come again and again: they have one memory.
func (c *coder) shared(v *string) {
	if !c.decode {
		c.string(v)
		return
	}
	n := c.next()
	if n == 0 {
		*v = ""
		return
	}
	b := c.take(n)
	s, ok := c.texts[string(b)]
	if !ok {
		if c.texts == nil {
			c.texts = map[string]string{}
		}
		s = string(b)
		c.texts[s] = s
	}
	*v = s
}

func (c *coder) id(v *graph.ID) {
	if c.decode {
		copy(v[:], c.take(uint64(len(v))))
	} else {
		c.b = append(c.b, v[:]...)
	}
}

func codeID(c *coder, v *graph.ID) { c.id(v) }

const idSize = len(graph.ID{})

// value codes one of the values that graph has a binary form of.
func value[T any](c *coder, v *T, encode func([]byte, *T) []byte, decode func([]byte) (T, error)) {
	if !c.decode {
		c.scratch = encode(c.scratch[:0], v)
		c.bytes(&c.scratch)
		return
	}
	var b []byte
	c.bytes(&b)
	var err error
	if *v, err = decode(b); err != nil {
		c.fail()
	}
}

// slice codes a slice whose elements take least bytes or more, so that a length
// that the bytes can't hold is refused before there is memory for it. An empty
// one comes back nil.
func slice[T any](c *coder, s *[]T, least int, each func(*coder, *T)) {
	n := uint64(len(*s))
	c.uint(&n)
	if !c.decode {
		for i := range *s {
			each(c, &(*s)[i])
		}
		return
	}
	*s = nil
	if n == 0 {
		return
	}
	if n > uint64(len(c.b)/least) {
		c.fail()
		return
	}
	const ahead = 256 // elements may be many times as large in memory
	*s = make([]T, 0, min(n, ahead))
	for range n {
		var v T
		if each(c, &v); c.bad {
			*s = nil
			return
		}
		*s = append(*s, v)
	}
}

// dict codes a map in the order of its keys; nil comes back nil.
func dict[T any](c *coder, m *map[string]T, each func(*coder, *T)) {
	type entry struct {
		key   string
		value T
	}
	has := *m != nil
	if c.bool(&has); !has {
		*m = nil
		return
	}
	var entries []entry
	if !c.decode {
		for _, k := range slices.Sorted(maps.Keys(*m)) {
			entries = append(entries, entry{k, (*m)[k]})
		}
	}
	slice(c, &entries, 2, func(c *coder, e *entry) {
		c.string(&e.key)
		each(c, &e.value)
	})
	if c.decode {
		*m = map[string]T{}
		for _, e := range entries {
			(*m)[e.key] = e.value
		}
	}
}
