package kafka

import (
	"encoding/binary"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"headwater/region/bus"
)

const formatVersion = 1

// A kind says what a record holds.
type kind byte

const (
	// An entry, or a chunk of one.
	entryRecord kind = 'e'
	// A beat: a bus.Entry that is no part of the stream.
	beatRecord kind = 'b'
	// The beginning of a generation: entries behind its cursor follow. Its
	// payload is why there is one: 'x' where the one before had expired, 'd'
	// where it had diverged.
	beginRecord kind = 'g'
)

const (
	expired  = 'x'
	diverged = 'd'
)

// A record is the value of a Kafka record: version, kind, generation,
// sequence, hash, before, part, parts, the length of the epoch in a byte, the
// epoch, the payload. Numbers are big-endian.
type record struct {
	kind       kind
	generation uint64
	// cursor is that of the entry, beat or beginning; before is the hash of
	// the entry before it.
	cursor bus.Cursor
	before uint64
	// part counts from 0; an entry has so many parts.
	part, parts uint32
	payload     []byte
}

const recordHead = 1 + 1 + 4*8 + 2*4 + 1

// maxChunk is how many bytes of an entry a record takes: brokers take records
// of 1 MB, all in all, unless told otherwise.
const maxChunk = 900_000

func (r *record) bytes() []byte {
	b := make([]byte, 0, recordHead+len(r.cursor.Epoch)+len(r.payload))
	b = append(b, formatVersion, byte(r.kind))
	for _, n := range [...]uint64{r.generation, r.cursor.Sequence, r.cursor.Hash, r.before} {
		b = binary.BigEndian.AppendUint64(b, n)
	}
	b = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(b, r.part), r.parts)
	b = append(append(b, byte(len(r.cursor.Epoch))), r.cursor.Epoch...)
	return append(b, r.payload...)
}

// recordOf reads a record; it keeps its bytes.
func recordOf(o *Options, k *kgo.Record) (record, error) {
	b := k.Value
	if string(k.Key) != o.Region {
		return record{}, fmt.Errorf("offset %d of %s/%d is of region %q, not %q", k.Offset, k.Topic, k.Partition, k.Key, o.Region)
	}
	if len(b) < recordHead || b[0] != formatVersion || len(b) < recordHead+int(b[recordHead-1]) {
		return record{}, fmt.Errorf("offset %d of %s/%d, %d bytes: %w", k.Offset, k.Topic, k.Partition, len(b), bus.ErrFormat)
	}
	u64 := func(at int) uint64 { return binary.BigEndian.Uint64(b[at:]) }
	u32 := func(at int) uint32 { return binary.BigEndian.Uint32(b[at:]) }
	end := recordHead + int(b[recordHead-1])
	r := record{
		kind: kind(b[1]), generation: u64(2), cursor: bus.Cursor{Epoch: string(b[recordHead:end]), Sequence: u64(10), Hash: u64(18)},
		before: u64(26), part: u32(34), parts: u32(38), payload: b[end:],
	}
	if r.part >= r.parts || r.kind == beginRecord && len(r.payload) != 1 {
		return record{}, fmt.Errorf("offset %d of %s/%d, of kind %q: %w", k.Offset, k.Topic, k.Partition, r.kind, bus.ErrFormat)
	}
	return r, nil
}

// split makes the records of an entry behind one whose hash is given.
func split(generation uint64, e *bus.Entry, before uint64) []record {
	r := record{kind: entryRecord, generation: generation, cursor: e.Cursor(), before: before, parts: 1}
	if e.Beat {
		r.kind = beatRecord
	}
	b := bus.AppendEntry(nil, e)
	r.parts = uint32((len(b) + maxChunk - 1) / maxChunk)
	records := make([]record, r.parts)
	for i := range records {
		records[i] = r
		records[i].part = uint32(i)
		records[i].payload = b[i*maxChunk : min((i+1)*maxChunk, len(b))]
	}
	return records
}

// A joiner puts the chunks of entries together. Chunks may come again.
type joiner struct {
	cursor bus.Cursor
	next   uint32
	b      []byte
}

// add takes a chunk in, and returns the bytes of the entry with its last one,
// which are the joiner's until the next call.
func (j *joiner) add(r *record) []byte {
	if r.parts == 1 {
		return r.payload
	}
	if r.cursor != j.cursor {
		*j = joiner{cursor: r.cursor, b: j.b[:0]}
	}
	if r.part != j.next {
		return nil // it is there, or comes again from the first on
	}
	j.next++
	j.b = append(j.b, r.payload...)
	if j.next < r.parts {
		return nil
	}
	j.cursor = bus.Cursor{}
	return j.b
}
