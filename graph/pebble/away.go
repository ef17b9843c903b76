package pebble

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2"

	"headwater/graph"
)

// An away is what an applier notes of a batch whose large rows are elsewhere.
type away struct {
	found Found
	at    map[graph.Key]int // of records in found
	// owners holds lists that the folder knows of for certain, as names does.
	owners map[graph.ID]uint16
}

func (w *away) begin() { w.found, w.at = Found{}, map[graph.Key]int{} }

// beginElsewhere tells where the large rows are what the folder has.
func (s *Store) beginElsewhere(ctx context.Context) error {
	id, err := s.get(metaFolder)
	if err != nil {
		return err
	}
	if id == nil {
		if s.mark != (graph.Mark{}) {
			return fmt.Errorf("the graph in it is whole: large rows are not elsewhere")
		}
		// Ids have kinds, so that this is none.
		id = []byte(newFolderID())
		if err := s.db.Set(metaFolder, id, pebble.Sync); err != nil {
			return err
		}
	}
	b, err := s.get(metaOrdinal)
	if err != nil {
		return err
	}
	if b != nil {
		s.ordinal = binary.BigEndian.Uint64(b)
	}
	s.applier.away = &away{owners: map[graph.ID]uint16{}}
	return s.o.Elsewhere.Begin(ctx, string(id), s.ordinal, s.notes())
}

func (s *Store) notes() iter.Seq2[Note, error] {
	return func(yield func(Note, error) bool) {
		err := scan(s.db, space(spaceNote), func(rest, v []byte) (bool, error) {
			return yield(Note{Key: bytes.Clone(rest), Value: bytes.Clone(v)}, nil), nil
		})
		if err != nil {
			yield(Note{}, err)
		}
	}
}

// commit writes a batch. Where large rows are elsewhere they are written first:
// they are not seen before the batch is in the folder, on disk.
func (s *Store) commit(ctx context.Context, b *graph.Batch, w *pebble.Batch) error {
	e := s.o.Elsewhere
	if e == nil {
		return w.Commit(pebble.NoSync)
	}
	n := s.ordinal + 1
	before, err := e.Prepare(ctx, n, b, &s.applier.away.found)
	if err != nil {
		return err
	}
	if len(before) > 0 {
		first := s.db.NewBatch()
		put(first, before)
		if err := first.Commit(pebble.Sync); err != nil {
			return err
		}
	}
	with, err := e.Write(ctx)
	if err != nil {
		return err
	}
	put(w, with)
	set(w, metaOrdinal, key(nil).u64(n))
	if err := w.Commit(pebble.Sync); err != nil {
		return err
	}
	s.ordinal = n
	e.Done()
	return nil
}

func put(w *pebble.Batch, notes []Note) {
	for _, n := range notes {
		k := append(space(spaceNote), n.Key...)
		if n.Value == nil {
			_ = w.Delete(k, nil)
		} else {
			set(w, k, n.Value)
		}
	}
}

// far returns the rows elsewhere as of what was applied last.
func (s *Store) far() Far {
	if s.o.Elsewhere == nil {
		return nil
	}
	return s.o.Elsewhere.At()
}

// now returns the rows of what was applied last.
func (s *Store) now() *rows { return &rows{s: s, snap: s.db.NewSnapshot(), far: s.far(), mark: s.mark} }

// own notes which lists the nodes of a change come to have.
func (a *applier) own(c *graph.Change) {
	for i := range c.Flows {
		e := &c.Flows[i]
		if e.Targets == nil {
			continue
		}
		lists := listOf(e.Row.Layer, e.Row.Dir, false)
		if slices.ContainsFunc(e.Targets, func(t graph.Target) bool { return t.Coarse }) {
			lists |= listOf(e.Row.Layer, e.Row.Dir, true)
		}
		if a.away.owners[e.Row.Node]&lists == lists {
			continue
		}
		a.away.owners[e.Row.Node] |= lists
		a.open(a.begin(spaceOwner).id(e.Row.Node))
		a.buf = binary.BigEndian.AppendUint16(a.buf, lists)
		a.merge()
	}
}

// listOf is the bit of one of the lists that a node may have, or of whether
// there is a coarse flow in it.
func listOf(layer graph.Layer, dir graph.Direction, coarse bool) uint16 {
	bit := 2 * (layer - graph.TableLayer)
	if dir == graph.Upstream {
		bit++
	}
	if coarse {
		bit += 8
	}
	return 1 << bit
}

// An owned is the lists of a node, merged.
type owned uint16

func newOwned(value []byte) (pebble.ValueMerger, error) {
	o := new(owned)
	return o, o.MergeNewer(value)
}

// MergeNewer implements pebble.ValueMerger.
func (o *owned) MergeNewer(value []byte) error {
	if len(value) != 2 {
		return fmt.Errorf("lists of a node in %d bytes: %w", len(value), graph.ErrFormat)
	}
	*o |= owned(binary.BigEndian.Uint16(value))
	return nil
}

// MergeOlder implements pebble.ValueMerger.
func (o *owned) MergeOlder(value []byte) error { return o.MergeNewer(value) }

// Finish implements pebble.ValueMerger.
func (o *owned) Finish(bool) ([]byte, io.Closer, error) {
	return binary.BigEndian.AppendUint16(nil, uint16(*o)), nil, nil
}

// farName is name where names are elsewhere: here it is only told whether it
// is the same.
func (a *applier) farName(n *graph.Name, id graph.ID) error {
	if have, ok := a.names[id]; ok {
		if have != *n {
			return fmt.Errorf("names %s and %s share the id %s", have, n, id)
		}
		return nil
	}
	sum := key(nil).u64(hash(graph.AppendName(nil, n)))
	var have []byte
	if a.there.hasName(id) {
		var err error
		if have, err = a.get(a.begin(spaceName).id(id)); err != nil {
			return err
		}
	}
	switch {
	case have == nil:
		a.keep(a.begin(spaceName).id(id), sum)
		a.index(graph.SearchText(*n), id)
		a.newNames = append(a.newNames, id)
		a.away.found.Names, a.away.found.NameIDs = append(a.away.found.Names, *n), append(a.away.found.NameIDs, id)
	case !bytes.Equal(have, sum):
		return fmt.Errorf("name %s and another one share the id %s", n, id)
	}
	a.names[id] = graph.Name{Kind: n.Kind, Region: strings.Clone(n.Region), Namespace: strings.Clone(n.Namespace), Name: strings.Clone(n.Name)}
	return nil
}

// record notes which record a contribution has.
func (a *applier) record(t *graph.Touch) error {
	if t.Record == nil {
		return nil
	}
	w := a.away
	i, ok := w.at[t.Key]
	if !ok {
		b, err := get(a.db, recordKey(t.Key))
		if err != nil {
			return err
		}
		e := RecordEdit{Key: t.Key}
		if b != nil {
			e.Was = binary.BigEndian.Uint64(b)
		}
		i = len(w.found.Records)
		w.at[t.Key], w.found.Records = i, append(w.found.Records, e)
	}
	e := &w.found.Records[i]
	if len(t.Record.Runs) == 0 {
		e.Record, e.Is = nil, 0
		a.unset(a.begin(spaceRecord).by(t.Key))
		return nil
	}
	e.Record = graph.AppendRecord(nil, t.Record)
	e.Is = max(hash(e.Record), 1)
	a.set(a.begin(spaceRecord).by(t.Key), key(nil).u64(e.Is)...)
	return nil
}
