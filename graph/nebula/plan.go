package nebula

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"headwater/graph"
	"headwater/graph/pebble"
)

// Prepare implements pebble.Elsewhere.
func (e *engine) Prepare(ctx context.Context, n uint64, b *graph.Batch, found *pebble.Found) ([]pebble.Note, error) {
	if n != e.last+1 {
		return nil, fmt.Errorf("batch %d comes after %d", n, e.last)
	}
	x := newBatch()
	for i := range found.Names {
		name := &found.Names[i]
		x.add(rowKey{table: nodeTable, src: found.NameIDs[i]}, nil,
			number(int64(name.Kind)), text(name.Region), text(name.Namespace), text(name.Name))
	}
	fresh := map[graph.Key]bool{}
	for i := range found.Records {
		r := &found.Records[i]
		if r.Was == r.Is {
			continue
		}
		if r.Was != 0 {
			x.close(rowKey{table: blobTable, src: recordID(r.Key, r.Was)})
		} else {
			fresh[r.Key] = true
		}
		if r.Is != 0 {
			x.add(rowKey{table: blobTable, src: recordID(r.Key, r.Is)}, r.Record)
		}
	}
	for i := range b.Changes {
		c := &b.Changes[i]
		x.change(c, sayer(c.Key))
	}
	if err := e.skipThere(ctx, x, b, fresh); err != nil {
		return nil, err
	}
	if err := e.see(ctx, x, b.Touches); err != nil {
		return nil, err
	}
	if err := e.settle(n, x); err != nil {
		return nil, err
	}
	return e.pendingNotes(), nil
}

// skipThere takes out of the batch what is put and is there: a contribution
// may be said to speak of a node again and again. Of contributions that are
// new nothing is there.
func (e *engine) skipThere(ctx context.Context, x *batch, b *graph.Batch, fresh map[graph.Key]bool) error {
	keys := map[uint8][]rowKey{}
	for i := range b.Changes {
		c := &b.Changes[i]
		if fresh[c.Key] {
			continue
		}
		by := sayerID(c.Key)
		for _, ed := range c.Index {
			k := rowKey{table: speaksTable, src: ed.Node, dst: by}
			if ed.Writes {
				k.table = wroteTable
			}
			o := &x.ops[x.at[k]]
			if !o.first {
				continue
			}
			if _, ok := e.indexed[k]; ok {
				o.first = false // as it was
				continue
			}
			keys[k.table] = append(keys[k.table], k)
		}
	}
	for t := range keys {
		if err := e.there(ctx, &tables[t], keys[t], func(k rowKey) {
			x.ops[x.at[k]].first = false
			e.index(k)
		}); err != nil {
			return fmt.Errorf("look for who speaks of nodes: %w", err)
		}
	}
	return nil
}

// keepIndexed bounds how many rows are known to be there.
const keepIndexed = 1 << 18

func (e *engine) index(k rowKey) {
	if len(e.indexed) >= keepIndexed {
		clear(e.indexed)
	}
	e.indexed[k] = struct{}{}
}

// A facetOf says which facet, or which partition, of which name.
type facetOf struct {
	name graph.ID
	text string
}

// A sight is what was seen of a facet, and when.
type sight struct {
	at   int64
	json []byte
}

// see gathers what is only seen: of a facet the newest stays, of a partition
// when it was first written.
func (e *engine) see(ctx context.Context, x *batch, touches []graph.Touch) error {
	facets, slices := map[facetOf]sight{}, map[facetOf]int64{}
	for i := range touches {
		t := &touches[i]
		for j := range t.Seen {
			s := &t.Seen[j]
			id := s.Name.ID()
			if err := graph.EachFacet(s.Facets, func(name string, facet []byte) {
				k := facetOf{id, name}
				if have, ok := facets[k]; !ok || graph.Newer(t.Time, facet, have.at, have.json) {
					facets[k] = sight{t.Time, facet}
				}
			}); err != nil {
				return err
			}
			for _, p := range s.Partitions {
				k := facetOf{id, p}
				if have, ok := slices[k]; !ok || t.Time < have {
					slices[k] = t.Time
				}
			}
		}
	}
	if err := e.seeFacets(ctx, x, facets); err != nil {
		return fmt.Errorf("read what was seen before: %w", err)
	}
	if err := e.seeSlices(ctx, x, slices); err != nil {
		return fmt.Errorf("read partitions: %w", err)
	}
	return nil
}

func (e *engine) seeFacets(ctx context.Context, x *batch, facets map[facetOf]sight) error {
	if len(facets) == 0 {
		return nil
	}
	key := func(k facetOf, s sight) rowKey {
		h := binary.BigEndian.AppendUint64(nil, uint64(s.at))
		return rowKey{table: seenTable, src: k.name, dst: textID(k.text), rank: rankOf(append(h, s.json...))}
	}
	now := far{e: e, ordinal: e.last}
	rows, err := now.seenRows(ctx, names(facets))
	if err != nil {
		return err
	}
	var even []seenRow // as new as what is seen now
	for _, r := range rows {
		k := facetOf{r.key.src, r.facet}
		s, ok := facets[k]
		switch {
		case !ok:
		case key(k, s) == r.key || s.at < r.at:
			delete(facets, k)
		case s.at == r.at:
			even = append(even, r)
		default:
			x.closeWhole(r.key)
		}
	}
	contents, err := e.contents(ctx, even)
	if err != nil {
		return err
	}
	for i, r := range even {
		k := facetOf{r.key.src, r.facet}
		if s, ok := facets[k]; ok && graph.Newer(s.at, s.json, r.at, contents[i]) {
			x.closeWhole(r.key)
		} else {
			delete(facets, k)
		}
	}
	for k, s := range facets {
		x.addWhole(key(k, s), s.json, text(k.text), number(s.at))
	}
	return nil
}

func (e *engine) seeSlices(ctx context.Context, x *batch, slices map[facetOf]int64) error {
	if len(slices) == 0 {
		return nil
	}
	var ends []graph.ID
	for k := range slices {
		ends = append(ends, textID(k.text))
	}
	now := far{e: e, ordinal: e.last}
	if err := now.slices(ctx, names(slices), ends, func(r sliceRow) error {
		k := facetOf{r.key.src, r.name}
		at, ok := slices[k]
		switch {
		case !ok:
		case at < r.created:
			x.close(r.key)
		default:
			delete(slices, k)
		}
		return nil
	}); err != nil {
		return err
	}
	for k, at := range slices {
		x.add(rowKey{table: sliceTable, src: k.name, dst: textID(k.text), rank: max(at, -(1<<63 - 1))}, nil, text(k.text), number(at))
	}
	return nil
}

func names[V any](of map[facetOf]V) []graph.ID {
	seen := map[graph.ID]bool{}
	var ids []graph.ID
	for k := range of {
		if !seen[k.name] {
			seen[k.name] = true
			ids = append(ids, k.name)
		}
	}
	return ids
}

// errSettling says that a row can't be written before it is certain that its
// deletion is over.
func (e *engine) errSettling(until time.Time) error {
	return fmt.Errorf("a row is to be written whose deletion may come yet, until %s: %w", until.Format(time.RFC3339), graph.ErrUnavailable)
}

// settle decides what is to be written for batch n.
func (e *engine) settle(n uint64, x *batch) error {
	p := plan{n: n, b: x}
	oldest := e.closed.oldest()
	writes := make(map[rowKey]struct{}, len(x.ops))
	for i := range x.ops {
		o := &x.ops[i]
		adds, closes := o.net()
		h, known := e.closed.get(o.key)
		since, shut := h.since()
		switch {
		case closes && !shut:
			p.closes = append(p.closes, o.key)
		case adds && known:
			if h.spans[len(h.spans)-1].to == forever {
				p.reopens = append(p.reopens, o.key)
			}
			if shut && since > oldest && !h.stray {
				// Older views see the row as it is.
				writes[o.key] = struct{}{}
				continue
			}
			if until := e.unsettled(); shut && h.tried && !until.IsZero() {
				return e.errSettling(until)
			}
			fallthrough
		case adds:
			p.puts = append(p.puts, i)
			writes[o.key] = struct{}{}
		}
	}
	for k := range e.pending {
		h, _ := e.closed.get(k)
		_, shut := h.since()
		if _, ok := writes[k]; !ok && !shut {
			p.strays = append(p.strays, k)
		}
	}
	if e.unsettled().IsZero() {
		p.deletes = e.closed.deletable(oldest, deleteAtOnce+len(p.closes)+len(p.strays), func(k rowKey) bool {
			_, ok := writes[k]
			return ok
		})
	}
	e.plan = p
	return nil
}

// deleteAtOnce is how many rows a batch deletes, beside as many as it closes.
const deleteAtOnce = 20_000

// pendingNotes notes the rows that are about to be written.
func (e *engine) pendingNotes() []pebble.Note {
	var notes []pebble.Note
	var b []byte
	add := func() {
		if len(b) > 0 {
			notes = append(notes, pebble.Note{Key: pendingKey(e.noted), Value: b})
			e.noted++
			b = nil
		}
	}
	for _, i := range e.plan.puts {
		k := e.plan.b.ops[i].key
		if _, ok := e.pending[k]; ok {
			continue
		}
		e.pending[k] = struct{}{}
		if b = k.append(b); len(b) > pendingBytes {
			add()
		}
	}
	add()
	if e.noted == 0 {
		// That a batch was begun is told by a note, even of no rows.
		notes = append(notes, pebble.Note{Key: pendingKey(0), Value: []byte{}})
		e.noted++
	}
	return notes
}

const pendingBytes = 1 << 20

func pendingKey(i int) []byte { return binary.BigEndian.AppendUint32([]byte{notePending}, uint32(i)) }

func toBytes(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

func fromBytes(b []byte) uint64 { return binary.BigEndian.Uint64(b) }
