package nebula

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/cespare/xxhash/v2"

	"headwater/graph"
)

// Where the tables are in tables.
const (
	claimTable = iota
	nodeTable
	blobTable
	flowTables // the first of four, by layer
	_
	_
	_
	saysTable
	namedTable
	speaksTable
	wroteTable
	seenTable
	sliceTable
)

// flowTable is where flows of a layer are.
func flowTable(l graph.Layer) uint8 { return flowTables + uint8(l-graph.TableLayer) }

// A rowKey says which row: of an edge its ends and its rank, of a vertex its id
// alone. It follows from what the row says and who says it, so that nothing
// else is ever written under it.
type rowKey struct {
	table    uint8
	src, dst graph.ID
	rank     int64
}

// rowKeyLen is the length of the binary form.
const rowKeyLen = 1 + 2*len(graph.ID{}) + 8

func (k *rowKey) append(b []byte) []byte {
	b = append(append(append(b, k.table), k.src[:]...), k.dst[:]...)
	return binary.BigEndian.AppendUint64(b, uint64(k.rank))
}

func parseRowKey(b []byte) (k rowKey, err error) {
	if len(b) != rowKeyLen || int(b[0]) >= len(tables) {
		return k, fmt.Errorf("key of a row in %d bytes: %w", len(b), graph.ErrFormat)
	}
	k.table = b[0]
	b = b[1+copy(k.src[:], b[1:]):]
	b = b[copy(k.dst[:], b):]
	k.rank = int64(binary.BigEndian.Uint64(b))
	return k, nil
}

// text appends the row as statements name it.
func (k *rowKey) text(b []byte) []byte {
	b = appendVID(b, k.src)
	if tables[k.table].edge {
		b = append(appendVID(append(b, "->"...), k.dst), '@')
		b = appendInt(b, k.rank)
	}
	return b
}

// blob is where what the row says is, where that may be long.
func (k *rowKey) blob() graph.ID { return hashID('b', k.append(nil)) }

// Vertices are named by ids, and by hashes that have no kind, so that they are
// no ids.
func hashID(kind byte, parts ...[]byte) (id graph.ID) {
	h := sha256.New()
	h.Write([]byte{kind})
	for _, p := range parts {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(p))))
		h.Write(p)
	}
	copy(id[:], h.Sum(nil))
	id[0] &= 0x3f
	return id
}

// sayerID is the vertex of a contribution.
func sayerID(k graph.Key) graph.ID { return hashID('c', k.Subject[:], []byte(k.Origin)) }

// textID is the vertex of a text: the name of a facet or a partition.
func textID(s string) graph.ID { return hashID('t', []byte(s)) }

// recordID and partID are where a record and a part are, by their hashes.
func recordID(k graph.Key, hash uint64) graph.ID { return keyedID('r', k, hash) }
func partID(k graph.Key, hash uint64) graph.ID   { return keyedID('p', k, hash) }

func keyedID(kind byte, k graph.Key, hash uint64) graph.ID {
	return hashID(kind, k.Subject[:], []byte(k.Origin), binary.BigEndian.AppendUint64(nil, hash))
}

// rankOf makes a rank of a hash. The least number can't be written.
func rankOf(b []byte) int64 { return max(int64(xxhash.Sum64(b)), -math.MaxInt64) }

// sayer is a contribution as rows have it.
func sayer(k graph.Key) string { return vid(k.Subject) + k.Origin }

func parseSayer(s []byte) (k graph.Key, err error) {
	if len(s) < vidLen {
		return k, fmt.Errorf("a contribution in %d bytes: %w", len(s), graph.ErrFormat)
	}
	k.Subject, err = parseVID(s[:vidLen])
	k.Origin = string(s[vidLen:])
	return k, err
}

// vidLen is the length of the name of a vertex.
const vidLen = 32

// vid is the name of a vertex: the text of all bytes of its id.
func vid(id graph.ID) string { return base64.RawURLEncoding.EncodeToString(id[:]) }

func parseVID(s []byte) (id graph.ID, err error) {
	if len(s) != vidLen {
		return id, fmt.Errorf("vertex %q is not one of ours: %w", s, graph.ErrFormat)
	}
	if _, err := base64.RawURLEncoding.Decode(id[:], s); err != nil {
		return id, fmt.Errorf("vertex %q is not one of ours: %w", s, graph.ErrFormat)
	}
	return id, nil
}

// appendVID appends the name of a vertex as a literal.
func appendVID(b []byte, id graph.ID) []byte {
	b = append(b, '"')
	b = base64.RawURLEncoding.AppendEncode(b, id[:])
	return append(b, '"')
}

func appendInt(b []byte, n int64) []byte { return strconv.AppendInt(b, n, 10) }
