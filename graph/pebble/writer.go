package pebble

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/cockroachdb/pebble/v2"
)

// A writer gathers the writes of one batch and commits them in the order of
// their keys, which a memtable takes several times faster than keys at random.
// Of writes of one key the last counts, but for merges. It is used again for the next batch.
type writer struct {
	db *pebble.DB
	// buf holds keys and values, one behind the other; a key is built at its
	// end.
	buf   key
	ops   []op
	order []place
	spare []place // for sort
	// written holds what was written under the few keys that are also read.
	written map[string][]byte
}

// An op is one write: buf[key:value] and buf[value:end].
type op struct {
	key, value, end int
	kind            opKind
}

// A place is an op as it is sorted: by what its key begins with, which mostly
// tells, by the rest, by its index.
type place struct {
	head uint64
	op   int
}

type opKind uint8

const (
	opSet opKind = iota
	opUnset
	opMerge
)

// keepBytes bounds the memory that a writer keeps for the next batch.
const keepBytes = 64 << 20

func (w *writer) reset() {
	w.buf, w.ops, w.order = w.buf[:0], w.ops[:0], w.order[:0]
	if cap(w.buf) > keepBytes {
		w.buf, w.ops, w.order, w.spare = nil, nil, nil, nil
	}
	clear(w.written)
}

// begin begins a key. What is appended to it has to be given back, at once, to
// one of the methods below.
func (w *writer) begin(space byte) key { return append(w.buf, space) }

// open ends a key and begins its value, which is appended to buf; close ends
// that.
func (w *writer) open(k key) {
	var head [8]byte
	copy(head[:], k[len(w.buf):])
	w.order = append(w.order, place{binary.BigEndian.Uint64(head[:]), len(w.ops)})
	w.ops = append(w.ops, op{key: len(w.buf), value: len(k)})
	w.buf = k
}

func (w *writer) close() { w.ops[len(w.ops)-1].end = len(w.buf) }

// merge ends a value that is to be merged with what is there.
func (w *writer) merge() {
	w.close()
	w.ops[len(w.ops)-1].kind = opMerge
}

// set writes a value, which may be empty, under a key.
func (w *writer) set(k key, value ...byte) {
	w.open(k)
	w.buf = append(w.buf, value...)
	w.close()
}

func (w *writer) unset(k key) {
	w.set(k)
	w.ops[len(w.ops)-1].kind = opUnset
}

// put writes an empty value or deletes it.
func (w *writer) put(present bool, k key) {
	if present {
		w.set(k)
	} else {
		w.unset(k)
	}
}

// get returns the value of a key that is only written by keep; the key is not
// used up.
func (w *writer) get(k key) ([]byte, error) {
	k = k[len(w.buf):]
	if v, ok := w.written[string(k)]; ok {
		return v, nil
	}
	return get(w.db, k)
}

// keep writes a key that get may be asked for; nil deletes it.
func (w *writer) keep(k key, v []byte) {
	w.written[string(k[len(w.buf):])] = v
	if v == nil {
		w.unset(k)
	} else {
		w.set(k, v...)
	}
}

func (w *writer) keyOf(p place) []byte { return w.buf[w.ops[p.op].key:w.ops[p.op].value] }

// sort brings the writes into the order of their keys, and those of one key in
// that in which they came: by what keys begin with, digit by digit from the
// last, since that needs no comparing, then what begins the same.
func (w *writer) sort() {
	const bits, digits = 11, 6
	w.spare = slices.Grow(w.spare[:0], len(w.order))[:len(w.order)]
	from, to := w.order, w.spare
	var counts [digits][1 << bits]int32
	for i := range from {
		for d := range digits {
			counts[d][from[i].head>>(d*bits)&(1<<bits-1)]++
		}
	}
	for d := range digits {
		at := int32(0)
		for i, n := range &counts[d] {
			counts[d][i] = at
			at += n
		}
		for i := range from {
			c := &counts[d][from[i].head>>(d*bits)&(1<<bits-1)]
			to[*c] = from[i]
			*c++
		}
		from, to = to, from
	}
	w.order, w.spare = from, to // six times there and back
	for i := 0; i < len(from); {
		j := i + 1
		for j < len(from) && from[j].head == from[i].head {
			j++
		}
		if j-i > 1 {
			slices.SortStableFunc(from[i:j], func(a, b place) int { return bytes.Compare(w.keyOf(a), w.keyOf(b)) })
		}
		i = j
	}
}

// batch makes a batch of what was gathered.
func (w *writer) batch() *pebble.Batch {
	w.sort()
	b := w.db.NewBatchWithSize(len(w.buf) + 16*len(w.ops) + 64)
	for i, at := range w.order {
		o := &w.ops[at.op]
		if i+1 < len(w.order) && o.kind != opMerge && at.head == w.order[i+1].head && bytes.Equal(w.keyOf(at), w.keyOf(w.order[i+1])) {
			continue
		}
		var d *pebble.DeferredBatchOp
		switch k, v := o.value-o.key, o.end-o.value; o.kind {
		case opUnset:
			d = b.DeleteDeferred(k)
		case opMerge:
			d = b.MergeDeferred(k, v)
		default:
			d = b.SetDeferred(k, v)
		}
		copy(d.Key, w.keyOf(at))
		copy(d.Value, w.buf[o.value:o.end])
		_ = d.Finish()
	}
	return b
}
