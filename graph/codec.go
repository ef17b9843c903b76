package graph

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"
)

// FormatVersion is the version of the binary form of deltas, contents and
// records. It stands in the first byte of each, and in the stores.
const FormatVersion = 3

// ErrFormat is returned for bytes that are not one of our values: cut short,
// too long, or of another version.
var ErrFormat = fmt.Errorf("not a value of format version %d", FormatVersion)

// A coder runs one field list both ways: it appends to b when it encodes, and
// reads from b when it decodes. So the two can't drift apart. Encoding writes
// to nothing but b: others may read the value.
type coder struct {
	b      []byte
	decode bool
	bad    bool
	// text ends as b does: what is decoded has its strings in one piece.
	text string
	// uuids holds those that were decoded.
	uuids strings.Builder
}

func (c *coder) fail() { c.bad, c.b = true, nil }

func (c *coder) uint(v *uint64) {
	if !c.decode {
		c.b = binary.AppendUvarint(c.b, *v)
		return
	}
	x, n := binary.Uvarint(c.b)
	if n <= 0 {
		c.fail()
		return
	}
	*v, c.b = x, c.b[n:]
}

func (c *coder) int64(v *int64) {
	if !c.decode {
		c.b = binary.AppendVarint(c.b, *v)
		return
	}
	x, n := binary.Varint(c.b)
	if n <= 0 {
		c.fail()
		return
	}
	*v, c.b = x, c.b[n:]
}

func (c *coder) int(v *int) {
	x := int64(*v)
	if c.int64(&x); c.decode {
		*v = int(x)
	}
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

// near codes a number that is mostly near to another one.
func (c *coder) near(v *int64, base int64) {
	x := *v - base
	if c.int64(&x); c.decode {
		*v = base + x
	}
}

func (c *coder) string(v *string) {
	n := uint64(len(*v))
	c.uint(&n)
	if !c.decode {
		c.b = append(c.b, *v...)
		return
	}
	if n > uint64(len(c.b)) {
		c.fail()
		return
	}
	if *v = ""; n == 0 {
		return
	}
	if c.text == "" {
		c.text = string(c.b)
	}
	*v = c.text[len(c.text)-len(c.b):][:n]
	c.b = c.b[n:]
}

// bytes aliases the input when it decodes.
func (c *coder) bytes(v *[]byte) {
	n := uint64(len(*v))
	c.uint(&n)
	if !c.decode {
		c.b = append(c.b, *v...)
		return
	}
	if n > uint64(len(c.b)) {
		c.fail()
		return
	}
	*v = nil
	if n > 0 {
		*v, c.b = c.b[:n:n], c.b[n:]
	}
}

func (c *coder) id(v *ID) {
	if !c.decode {
		c.b = append(c.b, v[:]...)
		return
	}
	if len(c.b) < len(v) {
		c.fail()
		return
	}
	copy(v[:], c.b)
	c.b = c.b[len(v):]
}

func small[T ~uint8 | ~uint16](c *coder, v *T) {
	x := uint64(*v)
	if c.uint(&x); !c.decode {
		return
	}
	if uint64(T(x)) != x {
		c.fail()
		return
	}
	*v = T(x)
}

func list[T any](c *coder, s *[]T, each func(*coder, *T)) {
	n := uint64(len(*s))
	c.uint(&n)
	if c.decode {
		*s = nil
		// Each element takes a byte at least, so a hostile length can't make
		// us allocate more than a few times the input.
		if n > uint64(len(c.b)) {
			c.fail()
			return
		}
		if n == 0 {
			return
		}
		*s = make([]T, 0, min(n, 64))
		for range n {
			if c.bad {
				return
			}
			var v T
			*s = append(*s, v)
			each(c, &(*s)[len(*s)-1])
		}
		return
	}
	for i := range *s {
		each(c, &(*s)[i])
	}
}

func codeString(c *coder, s *string) { c.string(s) }

func (c *coder) name(n *Name) {
	small(c, &n.Kind)
	if n.Kind == 0 {
		if c.decode {
			*n = Name{}
		}
		return
	}
	c.string(&n.Region)
	c.string(&n.Namespace)
	c.string(&n.Name)
	c.string(&n.Column)
}

func codeContent(c *coder, v *Content) {
	codeFacts(c, &v.Facts)
	c.bool(&v.Streaming)
	c.name(&v.Parent)
	c.string(&v.SQL)
	c.string(&v.Dialect)
	list(c, &v.Reads, codeDataset)
	list(c, &v.Writes, codeDataset)
	list(c, &v.Processes, func(c *coder, p *ProcessFlow) {
		c.name(&p.From)
		c.name(&p.To)
		small(c, &p.Kinds)
	})
}

func codeFacts(c *coder, v *Facts) {
	for _, s := range [...]*string{&v.Kind, &v.Platform, &v.URL, &v.Description, &v.Display} {
		c.string(s)
	}
	list(c, &v.Owners, codeString)
	list(c, &v.Tags, func(c *coder, t *Tag) { c.string(&t.Name); c.string(&t.Value); c.string(&t.Column) })
	list(c, &v.Columns, func(c *coder, f *Field) {
		c.string(&f.Path)
		c.string(&f.Type)
		c.string(&f.Description)
		c.int(&f.Ordinal)
	})
	list(c, &v.Deleted, codeString)
}

func codeDataset(c *coder, v *Dataset) {
	c.name(&v.Name)
	codeFacts(c, &v.Facts)
	list(c, &v.Aliases, func(c *coder, a *Alias) { c.name(&a.From); c.name(&a.To) })
	c.string(&v.Lifecycle)
	c.name(&v.RenamedFrom)
	has := v.Lineage != nil
	c.bool(&has)
	if !has {
		return
	}
	if c.decode {
		v.Lineage = &Lineage{}
	}
	c.bool(&v.Lineage.Complete)
	c.bool(&v.Lineage.BySQL)
	list(c, &v.Lineage.Columns, func(c *coder, l *ColumnLineage) {
		c.string(&l.Column)
		list(c, &l.Inputs, codeSource)
	})
	list(c, &v.Lineage.Inputs, codeSource)
}

func codeSource(c *coder, s *Source) {
	c.name(&s.Name)
	small(c, &s.Kinds)
	c.string(&s.Detail)
	c.string(&s.Expression)
	c.bool(&s.Masking)
}

func codeDelta(c *coder, d *Delta) {
	c.name(&d.Subject)
	c.string(&d.Origin)
	c.string(&d.Run)
	small(c, &d.State)
	c.int64(&d.Time)
	if !c.decode && d.said != nil {
		c.b = append(c.b, d.said[1:]...) // but for its version
	} else {
		codeContent(c, &d.Says)
	}
	list(c, &d.Seen, func(c *coder, s *Seen) {
		c.name(&s.Name)
		c.bytes(&s.Facets)
		list(c, &s.Partitions, codeString)
	})
}

func codeTarget(c *coder, t *Target) {
	c.id(&t.ID)
	small(c, &t.Kinds)
	c.bool(&t.Coarse)
}

func codePeriod(c *coder, p *Period) {
	c.int64(&p.Dropped)
	c.int64(&p.Revived)
	c.name(&p.RenamedTo)
}

func encode[T any](dst []byte, v *T, code func(*coder, *T)) []byte {
	c := coder{b: append(dst, FormatVersion)}
	code(&c, v)
	return c.b
}

func decode[T any](b []byte, what string, code func(*coder, *T)) (T, error) {
	var v T
	if len(b) == 0 || b[0] != FormatVersion {
		return v, fmt.Errorf("decode %s of %d bytes: %w", what, len(b), ErrFormat)
	}
	c := coder{b: b[1:], decode: true}
	code(&c, &v)
	if c.bad || len(c.b) != 0 {
		return *new(T), fmt.Errorf("decode %s of %d bytes: %w", what, len(b), ErrFormat)
	}
	return v, nil
}

// AppendDelta appends the binary form of d to dst.
func AppendDelta(dst []byte, d *Delta) []byte { return encode(dst, d, codeDelta) }

// DecodeDelta reads the binary form of a delta; it keeps parts of b.
func DecodeDelta(b []byte) (Delta, error) { return decode(b, "delta", codeDelta) }

// AppendContent appends the binary form of c to dst.
func AppendContent(dst []byte, c *Content) []byte { return encode(dst, c, codeContent) }

// DecodeContent reads the binary form of a content.
func DecodeContent(b []byte) (Content, error) { return decode(b, "content", codeContent) }

// AppendRecord appends the binary form of r to dst.
func AppendRecord(dst []byte, r *Record) []byte { return encode(dst, r, codeRecord) }

// DecodeRecord reads the binary form of a record.
func DecodeRecord(b []byte) (Record, error) { return decode(b, "record", codeRecord) }

// AppendTargets appends the binary form of the targets of a row to dst.
func AppendTargets(dst []byte, t []Target) []byte {
	return encode(dst, &t, func(c *coder, t *[]Target) { list(c, t, codeTarget) })
}

// DecodeTargets reads the binary form of the targets of a row.
func DecodeTargets(b []byte) ([]Target, error) {
	return decode(b, "targets", func(c *coder, t *[]Target) { list(c, t, codeTarget) })
}

// AppendFacts appends the binary form of f to dst.
func AppendFacts(dst []byte, f *Facts) []byte { return encode(dst, f, codeFacts) }

// DecodeFacts reads the binary form of facts.
func DecodeFacts(b []byte) (Facts, error) { return decode(b, "facts", codeFacts) }

// AppendName appends the binary form of n to dst.
func AppendName(dst []byte, n *Name) []byte {
	return encode(dst, n, func(c *coder, n *Name) { c.name(n) })
}

// DecodeName reads the binary form of a name.
func DecodeName(b []byte) (Name, error) {
	return decode(b, "name", func(c *coder, n *Name) { c.name(n) })
}

// AppendLife appends the binary form of l to dst.
func AppendLife(dst []byte, l Life) []byte {
	return encode(dst, &l, func(c *coder, l *Life) { list(c, (*[]Period)(l), codePeriod) })
}

// DecodeLife reads the binary form of a life.
func DecodeLife(b []byte) (Life, error) {
	return decode(b, "life", func(c *coder, l *Life) { list(c, (*[]Period)(l), codePeriod) })
}

// hash64 names a content by its binary form.
func hash64(b []byte) uint64 {
	sum := sha256.Sum256(b)
	return binary.BigEndian.Uint64(sum[:8])
}
