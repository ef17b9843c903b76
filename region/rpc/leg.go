package rpc

import (
	"encoding/binary"
	"slices"

	"headwater/graph"
)

// The parts of a leg. Each item of its answer is one part, which begins with
// its kind. What refers to ids or keys comes after them.
const (
	legIDs byte = iota + 1
	legKeys
	legStands
	legAbsent
	legLists
	legStanding
	legComing
	legCount // of the nodes that follow
	legNode
	legFound // what there is so far ends as an answer does; nodes of Coming follow
)

const (
	// idsAtOnce, hopsAtOnce and listsAtOnce bound what one item has: some 200 KB.
	idsAtOnce   = 8192
	hopsAtOnce  = 8192
	listsAtOnce = 8192
	// hopSize, listSize and keySize are the least that each takes, in bytes.
	hopSize  = 4
	listSize = 3
	keySize  = 2
)

// The flags of a list: its layer, and from bit 3 on these.
const (
	listLayer    = 1<<3 - 1
	listUpstream = 1 << (iota + 2)
	listWhole
	listCoarse
	listMore // its hops are more of the list before
)

// A legWriter gives the parts of a leg to item, one by one.
type legWriter struct {
	item   func(func(*coder)) error
	ids    numberer
	places map[graph.ID]uint32 // 1 + the place in IDs
	before graph.Name
	// one is the node that code writes.
	one  *graph.Node
	code func(*coder)
}

func newLegWriter(item func(func(*coder)) error) *legWriter {
	w := &legWriter{item: item, ids: numberer{heads: map[[idHead]byte]uint64{}, origins: map[string]uint64{}}}
	w.code = func(c *coder) {
		c.b = append(c.b, legNode)
		at := uint64(w.places[w.one.ID])
		if c.uint(&at); at == 0 {
			c.id(&w.one.ID)
		}
		codeNode(c, w.one, &w.before)
	}
	return w
}

// found writes what there is of a leg that has been found.
func (w *legWriter) found(leg *graph.Leg) error {
	for _, p := range [...]struct {
		part byte
		ids  []graph.ID
	}{{legIDs, leg.IDs}, {legStands, leg.Stands}, {legAbsent, leg.Absent}} {
		for some := range slices.Chunk(p.ids, idsAtOnce) {
			if err := w.item(func(c *coder) { w.ids.ids(c, p.part, some) }); err != nil {
				return err
			}
		}
	}
	for some := range slices.Chunk(leg.Keys, idsAtOnce) {
		if err := w.item(func(c *coder) { w.ids.keys(c, some) }); err != nil {
			return err
		}
	}
	if err := writeLists(leg.Lists, w.item); err != nil {
		return err
	}
	for i := range leg.Standing {
		if err := w.item(func(c *coder) { c.b = append(c.b, legStanding); codeStanding(c, &leg.Standing[i]) }); err != nil {
			return err
		}
	}
	for some := range slices.Chunk(leg.Coming, idsAtOnce) {
		if err := w.item(func(c *coder) { writePlaces(c, some) }); err != nil {
			return err
		}
	}
	if n := uint64(len(leg.Nodes) + len(leg.Coming)); n > 0 {
		if err := w.item(func(c *coder) { c.b = append(c.b, legCount); c.uint(&n) }); err != nil {
			return err
		}
		w.places = make(map[graph.ID]uint32, len(leg.Coming))
		for _, at := range leg.Coming {
			w.places[leg.IDs[at]] = at + 1
		}
	}
	for i := range leg.Nodes {
		if err := w.node(&leg.Nodes[i]); err != nil {
			return err
		}
	}
	return w.item(func(c *coder) { c.b = append(c.b, legFound); (&ending{leg.Gaps, leg.Late}).code(c) })
}

// node writes one node.
func (w *legWriter) node(n *graph.Node) error {
	w.one = n
	return w.item(w.code)
}

// writePlaces writes places of IDs, most of which follow each other.
func writePlaces(c *coder, places []uint32) {
	b := binary.AppendUvarint(append(c.b, legComing), uint64(len(places)))
	last := int64(-1)
	for _, at := range places {
		b = binary.AppendVarint(b, int64(at)-last-1)
		last = int64(at)
	}
	c.b = b
}

func codeStanding(c *coder, s *graph.Standing) {
	c.id(&s.Node)
	slice(c, &s.Names, idSize, codeID)
	c.bool(&s.Gone)
}

// idHead is how much of an id its data store or process says. What follows is
// zero, or the hash of a column.
const idHead = 16

// A numberer gives numbers to what ids begin with and to origins, as they come:
// a number that is not yet taken is followed by what it stands for.
type numberer struct {
	heads   map[[idHead]byte]uint64
	origins map[string]uint64
}

func (w *numberer) id(b []byte, id *graph.ID) []byte {
	head, tail := [idHead]byte(id[:]), id[idHead:]
	n, ok := w.heads[head]
	if !ok {
		n = uint64(len(w.heads))
		w.heads[head] = n
	}
	whole := binary.NativeEndian.Uint64(tail) == 0
	if n <<= 1; !whole {
		n |= 1
	}
	b = binary.AppendUvarint(b, n)
	if !ok {
		b = append(b, head[:]...)
	}
	if !whole {
		b = append(b, tail...)
	}
	return b
}

func (w *numberer) ids(c *coder, part byte, ids []graph.ID) {
	b := binary.AppendUvarint(append(c.b, part), uint64(len(ids)))
	for i := range ids {
		b = w.id(b, &ids[i])
	}
	c.b = b
}

func (w *numberer) keys(c *coder, keys []graph.Key) {
	b := binary.AppendUvarint(append(c.b, legKeys), uint64(len(keys)))
	for i := range keys {
		k := &keys[i]
		b = w.id(b, &k.Subject)
		n, ok := w.origins[k.Origin]
		if !ok {
			n = uint64(len(w.origins))
			w.origins[k.Origin] = n
		}
		b = binary.AppendUvarint(b, n)
		if !ok {
			b = append(binary.AppendUvarint(b, uint64(len(k.Origin))), k.Origin...)
		}
	}
	c.b = b
}

// A piece is a list, or a part of a long one.
type piece struct {
	*graph.LegList
	hops []graph.LegHop
	more bool
}

func writeLists(lists []graph.LegList, item func(func(*coder)) error) error {
	var pieces []piece
	hops := 0
	flush := func() error {
		if len(pieces) == 0 {
			return nil
		}
		err := item(func(c *coder) { writePieces(c, pieces) })
		pieces, hops = pieces[:0], 0
		return err
	}
	for i := range lists {
		p := piece{LegList: &lists[i], hops: lists[i].Hops}
		for {
			rest := p.hops
			p.hops = rest[:min(len(rest), hopsAtOnce-hops)]
			pieces = append(pieces, p)
			hops += len(p.hops)
			if hops == hopsAtOnce || len(pieces) == listsAtOnce {
				if err := flush(); err != nil {
					return err
				}
			}
			if p.hops, p.more = rest[len(p.hops):], true; len(p.hops) == 0 {
				break
			}
		}
	}
	return flush()
}

// writePieces writes hops by column: numbers that are near to each other, most
// of them of one byte.
func writePieces(c *coder, pieces []piece) {
	b := binary.AppendUvarint(append(c.b, legLists), uint64(len(pieces)))
	for _, p := range pieces {
		flags := byte(p.Layer) & listLayer
		for _, f := range [...]struct {
			is  bool
			bit byte
		}{{p.Dir == graph.Upstream, listUpstream}, {p.Whole, listWhole}, {p.CoarseOnly, listCoarse}, {p.more, listMore}} {
			if f.is {
				flags |= f.bit
			}
		}
		b = append(binary.AppendUvarint(b, uint64(p.Node)), flags)
		b = binary.AppendUvarint(b, uint64(len(p.hops)))
	}
	for _, p := range pieces {
		for i := range p.hops {
			b = binary.AppendVarint(b, int64(p.hops[i].From)-int64(p.Node))
		}
	}
	var last int64
	for _, p := range pieces {
		for i := range p.hops {
			b = binary.AppendVarint(b, int64(p.hops[i].To)-last)
			last = int64(p.hops[i].To)
		}
	}
	last = 0
	for _, p := range pieces {
		for i := range p.hops {
			b = binary.AppendVarint(b, int64(p.hops[i].By)-last)
			last = int64(p.hops[i].By)
		}
	}
	for _, p := range pieces {
		for i := range p.hops {
			x := uint64(p.hops[i].Kinds) << 1
			if p.hops[i].Coarse {
				x |= 1
			}
			b = binary.AppendUvarint(b, x)
		}
	}
	c.b = b
}
