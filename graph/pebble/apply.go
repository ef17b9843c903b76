package pebble

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"

	"github.com/cockroachdb/pebble/v2"

	"headwater/graph"
)

// Apply implements graph.Store: the batch and its mark are one atomic write.
func (s *Store) Apply(_ context.Context, b graph.Batch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b.Mark.Position <= s.mark.Position {
		return nil
	}
	w := &writer{Batch: s.db.NewBatch(), db: s.db, written: map[string][]byte{}, known: s.paths, paths: map[string]bool{}}
	defer func() { _ = w.Close() }()
	revision := s.mark.Revision
	for i := range b.Changes {
		c := &b.Changes[i]
		if err := w.change(c); err != nil {
			return fmt.Errorf("apply change of %s by %s: %w", c.Key.Subject, c.Key.Origin, err)
		}
		if c.Visible() {
			revision++
			entry := Change{Position: b.Mark.Position, By: c.Key, Nodes: c.Nodes()}
			set(w.Batch, space(spaceStream).u64(revision), entry.encode())
		}
	}
	for i := range b.Touches {
		if err := w.touch(&b.Touches[i]); err != nil {
			return fmt.Errorf("apply touch of %s by %s: %w", b.Touches[i].Key.Subject, b.Touches[i].Key.Origin, err)
		}
	}
	// Cut the stream a thousand at a time.
	if keep := s.o.KeepChanges; revision > keep && revision/1000 != s.mark.Revision/1000 {
		_ = w.DeleteRange(space(spaceStream), space(spaceStream).u64(revision-keep), nil)
	}
	set(w.Batch, metaMark, key(nil).u64(b.Mark.Position).u64(b.Mark.Revision))
	if err := w.Commit(pebble.NoSync); err != nil {
		return fmt.Errorf("apply batch up to %d: %w", b.Mark.Position, err)
	}
	s.mark = b.Mark
	if len(s.paths)+len(w.paths) > keepPaths {
		clear(s.paths)
	}
	maps.Copy(s.paths, w.paths)
	return s.advance(&b)
}

// A writer turns edits into writes. written holds what it wrote under the few
// keys that it also reads: an indexed batch would order them all.
type writer struct {
	*pebble.Batch
	db      *pebble.DB
	written map[string][]byte
	// known are paths of columns that the store has; paths are those that the
	// batch has added.
	known, paths map[string]bool
}

// get returns the value of a key that is only written by keep.
func (w *writer) get(k key) ([]byte, error) {
	if v, ok := w.written[string(k)]; ok {
		return v, nil
	}
	return get(w.db, k)
}

// keep writes a key that get may be asked for; nil deletes it.
func (w *writer) keep(k key, v []byte) {
	w.written[string(k)] = v
	w.put(v != nil, k, v)
}

func (w *writer) put(present bool, k, v []byte) {
	if present {
		set(w.Batch, k, v)
	} else {
		unset(w.Batch, k)
	}
}

func (w *writer) change(c *graph.Change) error {
	for h, b := range c.PutParts {
		set(w.Batch, partKey(c.Key, h), b)
	}
	for _, h := range c.DropParts {
		unset(w.Batch, partKey(c.Key, h))
	}
	for _, e := range c.Flows {
		var v []byte
		if e.Targets != nil {
			v = graph.AppendTargets(nil, e.Targets)
		}
		w.put(e.Targets != nil, flowKey(e.Row, c.Key), v)
	}
	for _, e := range c.Pieces {
		if e.Was != nil {
			unset(w.Batch, pieceKey(e.Node, e.Rank, graph.AppendFacts(nil, e.Was), e.WasFrom, c.Key))
		}
		if e.Facts != nil {
			v := graph.AppendFacts(nil, e.Facts)
			set(w.Batch, pieceKey(e.Node, e.Rank, v, e.From, c.Key), v)
		}
	}
	for _, e := range c.Named {
		w.put(e.Put, namedKey(e.NamedRow, c.Key), nil)
	}
	for _, e := range c.Aliases {
		w.put(e.Put, aliasKey(e.From, e.To, c.Key), nil)
		w.put(e.Put, aliasReverseKey(e.From, e.To, c.Key), nil)
	}
	for _, e := range c.Index {
		v := []byte{0}
		if e.Writes {
			v[0] = 1
		}
		w.put(e.Put, indexKey(e.Node, c.Key), v)
	}
	for _, e := range c.Lives {
		if err := w.life(e); err != nil {
			return err
		}
	}
	for i := range c.Names {
		if err := w.name(&c.Names[i]); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) life(e graph.LifeEdit) error {
	k := space(spaceLife).id(e.Node)
	b, err := w.get(k)
	if err != nil {
		return err
	}
	var was graph.Life
	if b != nil {
		if was, err = graph.DecodeLife(b); err != nil {
			return err
		}
	}
	for _, l := range []struct {
		life graph.Life
		put  bool
	}{{was, false}, {e.Life, true}} {
		for _, p := range l.life {
			if !p.RenamedTo.IsZero() {
				w.put(l.put, aliasReverseKey(e.Node, p.RenamedTo.ID(), renamed), nil)
			}
		}
	}
	if len(e.Life) == 0 {
		w.keep(k, nil)
	} else {
		w.keep(k, graph.AppendLife(nil, e.Life))
	}
	return nil
}

// name notes a name, and what searches find it by. Of two that share an id
// the one that sorts first stays.
func (w *writer) name(n *graph.Name) error {
	id := n.ID()
	if id.IsColumn() {
		return w.column(n.Column, id)
	}
	k := space(spaceName).id(id)
	b, err := w.get(k)
	if err != nil {
		return err
	}
	if b != nil {
		have, err := graph.DecodeName(b)
		if err == nil && have != *n {
			err = fmt.Errorf("names %s and %s share the id %s", have, n, id)
		}
		return err
	}
	w.keep(k, graph.AppendName(nil, n))
	w.index(graph.SearchText(*n), id)
	return nil
}

// column notes a column. All columns of one path share its name and what
// searches find it by, so that a path that is known costs one write.
func (w *writer) column(path string, id graph.ID) error {
	shared := pathID(id)
	set(w.Batch, append(space(spaceColumn), shared[16:]...).id(id), nil)
	if w.known[path] || w.paths[path] {
		return nil
	}
	n := graph.Name{Kind: graph.DataStoreKind, Column: path}
	k := space(spaceName).id(shared)
	b, err := w.get(k)
	if err != nil {
		return err
	}
	if b == nil {
		w.index(graph.SearchText(n), shared)
	} else {
		have, err := graph.DecodeName(b)
		if err != nil {
			return err
		}
		if have.Column < path {
			n = have
		}
	}
	w.keep(k, graph.AppendName(nil, &n))
	w.paths[path] = true
	return nil
}

// pathID is the id under which a column's path is kept.
func pathID(column graph.ID) graph.ID {
	var id graph.ID
	copy(id[16:], column[16:])
	return id
}

// Names are searched by their first maxTokens words, and inside the first
// maxWord bytes of a word: a name of megabytes must not become gigabytes.
const (
	maxTokens = 64
	maxWord   = 128
)

func (w *writer) index(text string, id graph.ID) {
	set(w.Batch, space(spaceText).text(text).id(id), nil)
	starts := graph.Tokens(text)
	for _, at := range starts[:min(len(starts), maxTokens)] {
		word := graph.Word(text[at:])
		for i := 1; i < len(word) && i < maxWord; i++ {
			set(w.Batch, append(space(spaceWord).text(word[i:]), word[:i]...), nil)
		}
		if at > 0 {
			set(w.Batch, space(spaceSuffix).text(text[at:]).id(id), []byte(text[:at]))
		}
	}
}

func (w *writer) touch(t *graph.Touch) error {
	if t.Record != nil {
		w.put(len(t.Record.Runs) > 0, recordKey(t.Key), graph.AppendRecord(nil, t.Record))
	}
	for _, s := range t.Seen {
		facets, err := graph.SplitFacets(s.Facets)
		if err != nil {
			return err
		}
		id := s.Name.ID()
		for name, facet := range facets {
			k := append(space(spaceSeen).id(id), name...)
			have, err := w.get(k)
			if err != nil {
				return err
			}
			if len(have) < 8 || graph.Newer(t.Time, facet, int64(binary.BigEndian.Uint64(have)), have[8:]) {
				w.keep(k, append(key(nil).u64(uint64(t.Time)), facet...))
			}
		}
		for _, p := range s.Partitions {
			k := append(space(spacePartition).id(id), p...)
			have, err := w.get(k)
			if err != nil {
				return err
			}
			if len(have) != 8 || t.Time < int64(binary.BigEndian.Uint64(have)) {
				w.keep(k, key(nil).u64(uint64(t.Time)))
			}
		}
	}
	return nil
}
