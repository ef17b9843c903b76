package nebula

import (
	"strconv"

	"headwater/graph"
)

// A batch gathers what a batch does to rows: of what is done to one row only
// the difference counts.
type batch struct {
	ops []op
	at  map[rowKey]int
	buf []byte // the values of rows, one behind the other
}

// An op is what is done to a row. first and last say whether the row is added,
// or taken away, at first and in the end.
type op struct {
	key         rowKey
	first, last bool
	// buf[from:to] are its values but opened; content is what is long.
	from, to int
	content  []byte
}

func newBatch() *batch { return &batch{at: map[rowKey]int{}} }

// adds reports whether a row that was not there is there in the end, or the
// other way round; false, false: all is as it was.
func (o *op) net() (adds, closes bool) { return o.first && o.last, !o.first && !o.last }

func (b *batch) op(k rowKey, add bool) *op {
	i, ok := b.at[k]
	if !ok {
		i = len(b.ops)
		b.at[k] = i
		b.ops = append(b.ops, op{key: k, first: add})
	}
	b.ops[i].last = add
	return &b.ops[i]
}

// add adds a row. values append its values to buf, each followed by a comma.
func (b *batch) add(k rowKey, content []byte, values ...value) {
	o := b.op(k, true)
	o.content, o.from = content, len(b.buf)
	for _, v := range values {
		b.buf = append(v.append(b.buf), ',')
	}
	o.to = len(b.buf)
}

// addWhole adds a row and the blob that belongs to it.
func (b *batch) addWhole(k rowKey, content []byte, values ...value) {
	b.add(k, nil, values...)
	b.add(rowKey{table: blobTable, src: k.blob()}, content)
}

func (b *batch) close(k rowKey) { b.op(k, false) }

func (b *batch) closeWhole(k rowKey) {
	b.close(k)
	b.close(rowKey{table: blobTable, src: k.blob()})
}

// A value is a value of a row.
type value struct {
	text string
	n    int64
	kind valueKind
}

type valueKind uint8

const (
	intValue valueKind = iota
	boolValue
	textValue
)

func number(n int64) value { return value{n: n} }
func text(s string) value  { return value{text: s, kind: textValue} }

func truth(t bool) value {
	v := value{kind: boolValue}
	if t {
		v.n = 1
	}
	return v
}

func (v *value) append(b []byte) []byte {
	switch v.kind {
	case textValue:
		return appendQuoted(b, v.text)
	case boolValue:
		return strconv.AppendBool(b, v.n == 1)
	}
	// The least number can't be written; none of ours is that small.
	return appendInt(b, v.n)
}

// change gathers what a change does, but to names and records.
func (b *batch) change(c *graph.Change, said string) {
	by := sayerID(c.Key)
	for h, part := range c.PutParts {
		b.add(rowKey{table: blobTable, src: partID(c.Key, h)}, part)
	}
	for _, h := range c.DropParts {
		b.close(rowKey{table: blobTable, src: partID(c.Key, h)})
	}
	for i := range c.Flows {
		b.flows(&c.Flows[i], said)
	}
	for i := range c.Pieces {
		e := &c.Pieces[i]
		if e.Was != nil {
			k, _, _ := pieceKey(e, e.Was, e.WasFrom, by)
			b.closeWhole(k)
		}
		if e.Facts != nil {
			k, facts, digest := pieceKey(e, e.Facts, e.From, by)
			b.addWhole(k, facts, text(said), number(int64(e.Rank)), number(digest), number(e.From))
		}
	}
	for i := range c.Named {
		e := &c.Named[i]
		k := rowKey{table: namedTable, src: e.Column.Base(), dst: e.Column, rank: rankOf([]byte(said + "\x00" + e.Display))}
		if e.Put {
			b.add(k, nil, text(e.Display))
		} else {
			b.close(k)
		}
	}
	for _, e := range c.Index {
		k := rowKey{table: speaksTable, src: e.Node, dst: by}
		if e.Writes {
			k.table = wroteTable
		}
		if e.Put {
			b.add(k, nil, text(said))
		} else {
			b.close(k)
		}
	}
}

// flows gathers what differs between the targets of a row and what they were.
// Each flow stands in the rows of both its ends, and is written once, as that
// of the end that it leaves.
func (b *batch) flows(e *graph.FlowEdit, said string) {
	if e.Row.Dir != graph.Downstream {
		return
	}
	table := flowTable(e.Row.Layer)
	room := append(make([]byte, 0, 256), said...)
	key := func(t graph.Target) rowKey {
		r := append(room, 0, byte(t.Kinds), byte(t.Kinds>>8), 0)
		if t.Coarse {
			r[len(r)-1] = 1
		}
		return rowKey{table: table, src: e.Row.Node, dst: t.ID, rank: rankOf(r)}
	}
	was, is := e.Was, e.Targets
	for len(was)+len(is) > 0 {
		order := 0
		switch {
		case len(was) == 0:
			order = 1
		case len(is) == 0:
			order = -1
		default:
			order = was[0].ID.Compare(is[0].ID)
		}
		if order == 0 && was[0] == is[0] {
			was, is = was[1:], is[1:]
			continue
		}
		if order <= 0 {
			b.close(key(was[0]))
			was = was[1:]
		}
		if order >= 0 {
			b.add(key(is[0]), nil, text(said), number(int64(is[0].Kinds)), truth(is[0].Coarse))
			is = is[1:]
		}
	}
}

// pieceKey returns the key of a piece, its facts in their binary form and a
// hash of them.
func pieceKey(e *graph.PieceEdit, f *graph.Facts, from int64, by graph.ID) (k rowKey, facts []byte, digest int64) {
	facts = graph.AppendFacts(nil, f)
	digest = rankOf(facts)
	h := append([]byte{e.Rank}, strconv.FormatInt(digest, 16)...)
	h = strconv.AppendInt(append(h, ' '), from, 16)
	return rowKey{table: saysTable, src: e.Node, dst: by, rank: rankOf(h)}, facts, digest
}
