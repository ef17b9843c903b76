package graph

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf8"
)

// An ID is the identity of a name: 16 bytes that hash (kind, region,
// namespace, name) and 8 bytes that hash the column path, zero where there is
// none. The two top bits of the first byte are the kind. So the data store of
// a column, and the same column under another name of its data store, follow
// from the ID alone, and the columns of a data store are neighbours in key
// order. Its text form is base64url: 22 characters, or 32 with a column path.
type ID [24]byte

// Kind tells a data store's name from a process's. Columns carry the kind of
// their data store.
type Kind uint8

// The kinds of names.
const (
	DataStoreKind Kind = 1
	ProcessKind   Kind = 2
)

func (k Kind) String() string {
	switch k {
	case DataStoreKind:
		return "DATASTORE"
	case ProcessKind:
		return "PROCESS"
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// A Name is a name as a producer reported it. Region is the region that
// reports. Column is set for a column only: its path within the data store.
type Name struct {
	Kind      Kind
	Region    string
	Namespace string
	Name      string
	Column    string
}

// ID returns the identity of the name: names that differ only in what their
// namespace folds (see Folded) share it.
func (n Name) ID() ID {
	ns, name := n.Folded()
	var room [256]byte // most names need no memory of their own
	b := append(room[:0], byte(n.Kind))
	b = binary.AppendUvarint(b, uint64(len(n.Region)))
	b = binary.AppendUvarint(b, uint64(len(ns)))
	b = append(append(append(b, n.Region...), ns...), name...)
	sum := sha256.Sum256(b)
	var id ID
	copy(id[:16], sum[:])
	id[0] = id[0]&0x3f | byte(n.Kind)<<6
	if n.Column != "" {
		id = id.Column(n.Column)
	}
	return id
}

// Folded returns the namespace and the name under which the name is compared.
// Hive, Glue, Trino, Presto and Athena do not tell upper from lower case, and
// their producers do not agree on which they send.
func (n Name) Folded() (namespace, name string) {
	if n.Kind != DataStoreKind || !foldsCase(n.Namespace) {
		return n.Namespace, n.Name
	}
	return strings.ToLower(n.Namespace), strings.ToLower(n.Name)
}

func (n Name) folded() Name {
	n.Namespace, n.Name = n.Folded()
	return n
}

var foldingSchemes = []string{"hive:", "trino:", "presto:", "arn:aws:glue:", "awsathena:", "spark:"}

func foldsCase(namespace string) bool {
	for _, s := range foldingSchemes {
		if len(namespace) >= len(s) && strings.EqualFold(namespace[:len(s)], s) {
			return true
		}
	}
	return false
}

// IsZero reports whether the name names nothing.
func (n Name) IsZero() bool { return n == Name{} }

// DataStore returns the name of a column's data store, or n itself.
func (n Name) DataStore() Name {
	n.Column = ""
	return n
}

// Of returns the name of a column of data store n.
func (n Name) Of(column string) Name {
	n.Column = column
	return n
}

func (n Name) String() string {
	s := n.Namespace + " " + n.Name
	if n.Column != "" {
		s += "#" + n.Column
	}
	if n.Region != "" {
		s = n.Region + ": " + s
	}
	return s
}

// Compare orders names by kind, region, namespace, name and column.
func (n Name) Compare(m Name) int {
	if n.Kind != m.Kind {
		return int(n.Kind) - int(m.Kind)
	}
	for _, p := range [...][2]string{{n.Region, m.Region}, {n.Namespace, m.Namespace}, {n.Name, m.Name}, {n.Column, m.Column}} {
		if c := strings.Compare(p[0], p[1]); c != 0 {
			return c
		}
	}
	return 0
}

// MaxName bounds each part of a name, in bytes. A longer one is refused when
// its event is decoded.
const MaxName = 4096

// Check says what keeps n from being a name: an empty or overlong part, or
// text that is not UTF-8.
func (n Name) Check() error {
	for _, p := range []struct{ what, s string }{{"namespace", n.Namespace}, {"name", n.Name}} {
		switch {
		case p.s == "":
			return fmt.Errorf("%s is empty", p.what)
		case len(p.s) > MaxName:
			return fmt.Errorf("%s has %d bytes; at most %d are taken", p.what, len(p.s), MaxName)
		case !utf8.ValidString(p.s):
			return fmt.Errorf("%s is not UTF-8", p.what)
		}
	}
	if len(n.Column) > MaxName {
		return fmt.Errorf("column has %d bytes; at most %d are taken", len(n.Column), MaxName)
	}
	if strings.ContainsRune(n.Namespace+n.Name+n.Column, 0) {
		return fmt.Errorf("name %q holds a NUL", n.Name)
	}
	return nil
}

// Column returns the identity of a column of the data store that id belongs
// to. Case does not tell columns apart: producers of one table rarely agree on
// it, and a table with two columns that differ only in case is rarer still.
func (id ID) Column(path string) ID {
	sum := sha256.Sum256([]byte(strings.ToLower(path)))
	copy(id[16:], sum[:8])
	if binary.BigEndian.Uint64(id[16:]) == 0 {
		id[23] = 1
	}
	return id
}

// Kind returns the kind of the name; columns have that of their data store.
func (id ID) Kind() Kind { return Kind(id[0] >> 6) }

// IsZero reports whether id identifies nothing.
func (id ID) IsZero() bool { return id == ID{} }

// IsColumn reports whether id is a column's.
func (id ID) IsColumn() bool { return id.Kind() == DataStoreKind && id.hasTail() }

// IsHub reports whether id is a fan's: the point in a process through which
// inputs without known pairs reach the outputs, for one origin.
func (id ID) IsHub() bool { return id.Kind() == ProcessKind && id.hasTail() }

func (id ID) hasTail() bool { return id.tail() != 0 }

func (id ID) tail() uint64 { return binary.BigEndian.Uint64(id[16:]) }

// Base returns the data store of a column, the process of a fan, or id itself.
func (id ID) Base() ID {
	clear(id[16:])
	return id
}

// WithBase returns the same column under another name of its data store.
func (id ID) WithBase(base ID) ID {
	copy(id[:16], base[:16])
	return id
}

// Hub returns the fan of a process for one origin.
func (id ID) Hub(origin string) ID { return id.Column(origin) }

// prefix orders IDs as far as it goes.
func (id *ID) prefix() uint64 { return binary.BigEndian.Uint64(id[:]) }

// Compare orders IDs by their bytes.
func (id ID) Compare(other ID) int { return bytes.Compare(id[:], other[:]) }

func (id ID) String() string { return base64.RawURLEncoding.EncodeToString(id.Bytes()) }

// Bytes returns the bytes of an ID that its text form holds: those of the
// column path only where there is one.
func (id *ID) Bytes() []byte {
	if id.hasTail() {
		return id[:]
	}
	return id[:16]
}

// ParseID reads the text form of an ID. Zeros of a column path that is not
// there, which were written once, are read too.
func ParseID(s string) (ID, error) {
	var id ID
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil || len(b) != 16 && len(b) != len(id) {
		return ID{}, fmt.Errorf("id %.40q is not one of ours: 22 or 32 characters of base64url", s)
	}
	copy(id[:], b)
	if k := id.Kind(); k != DataStoreKind && k != ProcessKind {
		return ID{}, fmt.Errorf("id %q has no kind", s)
	}
	return id, nil
}
