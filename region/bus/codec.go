package bus

import (
	"encoding/binary"
	"fmt"

	"github.com/cespare/xxhash/v2"

	"headwater/graph"
)

// FormatVersion is the first byte of an entry's bytes.
const FormatVersion = 1

// ErrFormat is in the chain of errors for bytes that are no entry.
var ErrFormat = fmt.Errorf("not an entry of format version %d", FormatVersion)

// The bytes of an entry:
//
//	version   1 byte
//	hash      8 bytes, big-endian, as all that has a fixed length
//	beat      1 byte
//	sequence, position, revision   varints
//	at        8 bytes
//	epoch     length, text
//	names     number; of each the length and graph.AppendName
//	touched   number; 8 bytes each
//
// The hash is that of the hash before, in its own place, and all behind it.
const hashEnd = 9

// seal gives an entry its hash, behind one whose hash is given, and returns its
// bytes.
func (e *Entry) seal(before uint64) []byte {
	e.Hash = before
	b := AppendEntry(make([]byte, 0, 64+80*len(e.Names)+8*len(e.Touched)), e)
	e.Hash = xxhash.Sum64(b[1:])
	binary.BigEndian.PutUint64(b[1:], e.Hash)
	return b
}

// AppendEntry appends the bytes of an entry to dst.
func AppendEntry(dst []byte, e *Entry) []byte {
	dst = append(dst, FormatVersion)
	dst = binary.BigEndian.AppendUint64(dst, e.Hash)
	return appendContent(dst, e)
}

func appendContent(dst []byte, e *Entry) []byte {
	beat := byte(0)
	if e.Beat {
		beat = 1
	}
	dst = append(dst, beat)
	for _, n := range [...]uint64{e.Sequence, e.Mark.Position, e.Mark.Revision} {
		dst = binary.AppendUvarint(dst, n)
	}
	dst = binary.BigEndian.AppendUint64(dst, uint64(e.At))
	dst = append(binary.AppendUvarint(dst, uint64(len(e.Epoch))), e.Epoch...)
	dst = AppendNames(dst, e.Names)
	dst = binary.AppendUvarint(dst, uint64(len(e.Touched)))
	for _, t := range e.Touched {
		dst = binary.BigEndian.AppendUint64(dst, t)
	}
	return dst
}

// AppendNames appends a list of names to dst.
func AppendNames(dst []byte, names []graph.Name) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(names)))
	var room [256]byte
	for i := range names {
		b := graph.AppendName(room[:0], &names[i])
		dst = append(binary.AppendUvarint(dst, uint64(len(b))), b...)
	}
	return dst
}

// Sum returns the hash of an entry, all of whose names are there, behind one
// whose hash is given.
func (e *Entry) Sum(before uint64) uint64 {
	var room [1024]byte
	return xxhash.Sum64(appendContent(binary.BigEndian.AppendUint64(room[:0], before), e))
}

// follows reports whether the bytes of an entry are of one behind one whose
// hash is given.
func follows(b []byte, before uint64) bool {
	if len(b) < hashEnd {
		return false
	}
	var d xxhash.Digest
	d.Reset()
	_, _ = d.Write(binary.BigEndian.AppendUint64(nil, before)) // it never fails
	_, _ = d.Write(b[hashEnd:])
	return d.Sum64() == binary.BigEndian.Uint64(b[1:])
}

// A reader takes bytes apart; bad says that there were too few.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) bytes(n uint64) []byte {
	if r.bad || n > uint64(len(r.b)) {
		r.bad = true
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) uint() uint64 {
	v, n := binary.Uvarint(r.b)
	r.bad = r.bad || n <= 0
	r.bytes(uint64(max(n, 0)))
	return v
}

func (r *reader) fixed() uint64 {
	if b := r.bytes(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// count reads the length of a list whose elements have so many bytes at least.
func (r *reader) count(size int) int {
	n := r.uint()
	if r.bad || n > uint64(len(r.b)/size) {
		r.bad = true
		return 0
	}
	return int(n)
}

func (r *reader) names() []graph.Name {
	n := r.count(2)
	if n == 0 {
		return nil
	}
	names := make([]graph.Name, 0, min(n, 1024))
	for range n {
		name, err := graph.DecodeName(r.bytes(r.uint()))
		if r.bad = r.bad || err != nil; r.bad {
			return nil
		}
		names = append(names, name)
	}
	return names
}

// DecodeEntry reads the bytes of an entry; it keeps none of them.
func DecodeEntry(b []byte) (Entry, error) {
	var e Entry
	if len(b) < hashEnd || b[0] != FormatVersion {
		return e, fmt.Errorf("decode an entry of %d bytes: %w", len(b), ErrFormat)
	}
	r := reader{b: b[1:]}
	e.Hash = r.fixed()
	beat := r.bytes(1)
	e.Sequence, e.Mark.Position, e.Mark.Revision = r.uint(), r.uint(), r.uint()
	e.At = int64(r.fixed())
	e.Epoch = string(r.bytes(r.uint()))
	e.Names = r.names()
	if n := r.count(8); n > 0 {
		e.Touched = make([]uint64, n)
		for i := range e.Touched {
			e.Touched[i] = r.fixed()
		}
	}
	if r.bad || len(r.b) > 0 || beat[0] > 1 {
		return Entry{}, fmt.Errorf("decode an entry of %d bytes: %w", len(b), ErrFormat)
	}
	e.Beat = beat[0] == 1
	return e, nil
}

// DecodeNames reads a list of names; it keeps no bytes of it.
func DecodeNames(b []byte) ([]graph.Name, error) {
	r := reader{b: b}
	names := r.names()
	if r.bad || len(r.b) > 0 {
		return nil, fmt.Errorf("decode names of %d bytes: %w", len(b), ErrFormat)
	}
	return names, nil
}
