package rpc

import (
	"fmt"
	"math"
	"slices"

	"headwater/graph"
)

// nodesAhead is how many nodes there is memory for at most before they come.
const nodesAhead = 1024

// A legReader puts a leg together again. Whatever the bytes are, the places in
// it are within its IDs and Keys.
type legReader struct {
	leg     graph.Leg
	heads   [][idHead]byte
	origins []string
	// size is how many bytes have been read; most how many may be.
	size, most int
	before     graph.Name
	// to is given the leg as it comes. It is whole but for nodes then.
	to    graph.LegTaker
	whole bool
	one   graph.Node // what to is given
}

// read reads the parts of one frame.
func (r *legReader) read(payload []byte) error {
	if r.size += len(payload); r.size > r.most {
		return fmt.Errorf("a leg of more than %d bytes: %w", r.most, errTooLarge)
	}
	c := &coder{b: payload, decode: true}
	for len(c.b) > 0 {
		part := c.take(1)[0]
		switch part {
		case legNode:
			if err := r.node(c); err != nil {
				return err
			}
			continue
		case legIDs:
			r.ids(c, &r.leg.IDs)
		case legStands:
			r.ids(c, &r.leg.Stands)
		case legAbsent:
			r.ids(c, &r.leg.Absent)
		case legKeys:
			r.keys(c)
		case legLists:
			r.lists(c)
		case legStanding:
			var s graph.Standing
			codeStanding(c, &s)
			r.leg.Standing = append(r.leg.Standing, s)
		case legCount:
			r.leg.Nodes = slices.Grow(r.leg.Nodes, int(min(c.next(), nodesAhead)))
		case legComing:
			r.places(c, &r.leg.Coming)
		case legFound:
			var e ending
			if e.code(c); c.bad {
				return errMessage
			}
			r.leg.Gaps, r.leg.Late = e.gaps, e.late
			if r.to.Found != nil && !r.whole {
				if err := r.to.Found(&r.leg); err != nil {
					return stop{err}
				}
			}
		default:
			return fmt.Errorf("a leg's part of kind %d: %w", part, errMessage)
		}
		if r.whole { // who was given it reads it
			return fmt.Errorf("a leg's part of kind %d after all: %w", part, errMessage)
		}
		r.whole = part == legFound
	}
	return c.end()
}

// node reads a node.
func (r *legReader) node(c *coder) error {
	give := r.whole && r.to.Node != nil
	var n *graph.Node
	if give {
		n = &r.one
		*n = graph.Node{}
	} else {
		r.leg.Nodes = append(r.leg.Nodes, graph.Node{})
		n = &r.leg.Nodes[len(r.leg.Nodes)-1]
	}
	switch at := c.next(); {
	case at == 0:
		c.id(&n.ID)
	case at > uint64(len(r.leg.IDs)):
		c.fail()
	default:
		n.ID = r.leg.IDs[at-1]
	}
	if codeNode(c, n, &r.before); c.bad {
		return errMessage
	}
	if give {
		if err := r.to.Node(n); err != nil {
			return stop{err}
		}
	}
	return nil
}

// places reads what writePlaces wrote.
func (r *legReader) places(c *coder, to *[]uint32) {
	n := c.next()
	if n > uint64(len(c.b)) {
		c.fail()
		return
	}
	*to = slices.Grow(*to, int(n))
	last := int64(-1)
	for i := uint64(0); i < n && !c.bad; i++ {
		last += c.near() + 1
		if last < 0 || last >= int64(len(r.leg.IDs)) {
			c.fail()
			return
		}
		*to = append(*to, uint32(last))
	}
}

// id reads what numberer.id wrote.
func (r *legReader) id(c *coder) (id graph.ID) {
	n := c.next()
	switch head := n >> 1; {
	case head < uint64(len(r.heads)):
		copy(id[:], r.heads[head][:])
	case head == uint64(len(r.heads)):
		copy(id[:], c.take(idHead))
		r.heads = append(r.heads, [idHead]byte(id[:]))
	default:
		c.fail()
	}
	if n&1 != 0 {
		copy(id[idHead:], c.take(uint64(idSize-idHead)))
	}
	return id
}

func (r *legReader) ids(c *coder, to *[]graph.ID) {
	n := c.next()
	if n > uint64(len(c.b)) || uint64(len(*to))+n > math.MaxUint32 {
		c.fail()
		return
	}
	*to = slices.Grow(*to, int(n))
	for i := uint64(0); i < n && !c.bad; i++ {
		*to = append(*to, r.id(c))
	}
}

func (r *legReader) keys(c *coder) {
	n := c.next()
	if n > uint64(len(c.b)/keySize) || uint64(len(r.leg.Keys))+n > math.MaxUint32 {
		c.fail()
		return
	}
	r.leg.Keys = slices.Grow(r.leg.Keys, int(n))
	for range n {
		subject, origin := r.id(c), c.next()
		if origin == uint64(len(r.origins)) {
			var s string
			c.string(&s)
			r.origins = append(r.origins, s)
		}
		if c.bad || origin >= uint64(len(r.origins)) {
			c.fail()
			return
		}
		r.leg.Keys = append(r.leg.Keys, graph.Key{Subject: subject, Origin: r.origins[origin]})
	}
}

func (r *legReader) lists(c *coder) {
	n := c.next()
	if n > uint64(len(c.b)/listSize) {
		c.fail()
		return
	}
	first := len(r.leg.Lists)
	r.leg.Lists = append(r.leg.Lists, make([]graph.LegList, n)...) // 48 bytes each, for 3
	pieces := r.leg.Lists[first:]
	more := false
	total := uint64(0)
	counts := make([]uint64, n)
	for i := range pieces {
		node, flags := c.next(), c.next()
		counts[i] = c.next()
		p := &pieces[i]
		*p = graph.LegList{Node: uint32(node), Layer: graph.Layer(flags & listLayer), Whole: flags&listWhole != 0, CoarseOnly: flags&listCoarse != 0}
		if flags&listUpstream != 0 {
			p.Dir = graph.Upstream
		}
		if flags&listMore != 0 {
			// Only the first can go on with what another item began.
			if more = i == 0 && first > 0 && r.leg.Lists[first-1].Node == p.Node; !more {
				c.fail()
			}
		}
		if c.bad || node >= uint64(len(r.leg.IDs)) || p.Layer < graph.TableLayer || p.Layer > graph.ControlLayer || flags >= listMore<<1 || counts[i] > uint64(len(c.b)) {
			c.fail()
			return
		}
		total += counts[i]
	}
	if total > uint64(len(c.b)/hopSize) {
		c.fail()
		return
	}
	hops := make([]graph.LegHop, total) // 16 bytes each, for 4
	rest := hops
	for i := range pieces {
		pieces[i].Hops, rest = rest[:counts[i]:counts[i]], rest[counts[i]:]
		if len(pieces[i].Hops) == 0 {
			pieces[i].Hops = nil
		}
	}
	r.hops(c, pieces, hops)
	if c.bad {
		return
	}
	if more {
		last := &r.leg.Lists[first-1]
		last.Hops = append(last.Hops, pieces[0].Hops...)
		r.leg.Lists = slices.Delete(r.leg.Lists, first, first+1)
	}
}

// hops reads the columns of the hops of pieces, which lie one after another in
// hops.
func (r *legReader) hops(c *coder, pieces []graph.LegList, hops []graph.LegHop) {
	ids, keys := int64(len(r.leg.IDs)), int64(len(r.leg.Keys))
	ok := true
	for i := range pieces {
		node := int64(pieces[i].Node)
		for j := range pieces[i].Hops {
			from := node + c.near()
			ok = ok && from >= 0 && from < ids
			pieces[i].Hops[j].From = uint32(from)
		}
	}
	var last int64
	for i := range hops {
		last += c.near()
		ok = ok && last >= 0 && last < ids
		hops[i].To = uint32(last)
	}
	last = 0
	for i := range hops {
		last += c.near()
		ok = ok && last >= 0 && last < keys
		hops[i].By = uint32(last)
	}
	for i := range hops {
		x := c.next()
		ok = ok && x>>1 <= math.MaxUint16
		hops[i].Kinds, hops[i].Coarse = graph.Kinds(x>>1), x&1 != 0
	}
	if !ok {
		c.fail()
	}
}
