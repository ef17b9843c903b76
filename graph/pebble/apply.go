package pebble

import (
	"context"
	"fmt"
	"strings"

	"github.com/cockroachdb/pebble/v2"

	"headwater/graph"
)

// Apply implements graph.Store: the batch and its mark are one atomic write.
func (s *Store) Apply(ctx context.Context, b graph.Batch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b.Mark.Position <= s.mark.Position {
		return nil
	}
	a := &s.applier
	followed := func() error { return nil }
	if s.o.Elsewhere == nil {
		followed = s.follow(&b)
	} else {
		a.away.begin()
	}
	done := false
	defer func() {
		_ = followed() // it is told by advance
		a.reset()
		if !done {
			a.forget()
		}
	}()
	revision := s.mark.Revision
	for i := range b.Changes {
		c := &b.Changes[i]
		if err := a.change(c); err != nil {
			return fmt.Errorf("apply change of %s by %s: %w", c.Key.Subject, c.Key.Origin, err)
		}
		if c.Visible() {
			revision++
			entry := Change{Position: b.Mark.Position, By: c.Key, Nodes: c.Nodes()}
			a.set(a.begin(spaceChange).u64(revision), entry.encode()...)
		}
	}
	for i := range b.Touches {
		if err := a.touch(&b.Touches[i]); err != nil {
			return fmt.Errorf("apply touch of %s by %s: %w", b.Touches[i].Key.Subject, b.Touches[i].Key.Origin, err)
		}
	}
	for i := range b.Stream {
		a.set(a.begin(spaceStream).u64(b.Stream[i].Sequence), b.Stream[i].Value...)
	}
	a.set(append(a.begin(spaceMeta), metaMark[1:]...), key(nil).u64(b.Mark.Position).u64(b.Mark.Revision)...)
	w := a.batch()
	defer func() { _ = w.Close() }() // it only gives its memory back
	// Cut the changes a thousand at a time.
	if keep := s.o.KeepChanges; revision > keep && revision/1000 != s.mark.Revision/1000 {
		_ = w.DeleteRange(space(spaceChange), space(spaceChange).u64(revision-keep), nil)
	}
	s.there.add(a.newNames, a.newLives)
	if err := s.commit(ctx, &b, w); err != nil {
		return fmt.Errorf("apply batch up to %d: %w", b.Mark.Position, err)
	}
	s.mark = b.Mark
	a.bound()
	done = true
	if s.o.Elsewhere != nil {
		// Not before: another batch may come in place of one that can't be
		// written.
		followed = s.follow(&b)
	}
	return s.advance(&b, followed)
}

// An applier turns edits into writes.
type applier struct {
	writer
	// What the store has for certain, or will have with the batch at hand, so
	// that it is not read or written again: paths of columns, columns, names of
	// all else, words. Not all that it has.
	paths   map[string]struct{}
	columns map[graph.ID]struct{}
	names   map[graph.ID]graph.Name
	words   map[string]struct{}
	there   *there
	// newNames and newLives are what the batch at hand adds to there.
	newNames, newLives []graph.ID
	away               *away // nil: large rows are in the folder too
}

func newApplier(db *pebble.DB, t *there) applier {
	a := applier{writer: writer{db: db, written: map[string][]byte{}}, there: t}
	a.forget()
	return a
}

func (a *applier) reset() {
	a.writer.reset()
	a.newNames, a.newLives = a.newNames[:0], a.newLives[:0]
}

// forget forgets what the store has: a batch was not written.
func (a *applier) forget() {
	a.paths, a.columns = map[string]struct{}{}, map[graph.ID]struct{}{}
	a.names, a.words = map[graph.ID]graph.Name{}, map[string]struct{}{}
	if a.away != nil {
		a.away.owners = map[graph.ID]uint16{}
	}
}

// keepKnown bounds what is remembered of each kind.
const keepKnown = 1 << 18

func (a *applier) bound() {
	if len(a.paths) > keepKnown {
		clear(a.paths)
	}
	if len(a.columns) > keepKnown {
		clear(a.columns)
	}
	if len(a.names) > keepKnown {
		clear(a.names)
	}
	if len(a.words) > keepKnown {
		clear(a.words)
	}
	if a.away != nil && len(a.away.owners) > keepKnown {
		clear(a.away.owners)
	}
}

func (a *applier) change(c *graph.Change) error {
	if a.away != nil {
		a.own(c)
	} else {
		a.large(c)
	}
	for _, e := range c.Aliases {
		a.put(e.Put, a.begin(spaceAlias).id(e.From).id(e.To).by(c.Key))
		a.put(e.Put, a.begin(spaceAliasReverse).id(e.To).id(e.From).by(c.Key))
	}
	for _, e := range c.Lives {
		if err := a.life(e); err != nil {
			return err
		}
	}
	for i := range c.Names {
		if err := a.name(&c.Names[i], c.NameIDs[i]); err != nil {
			return err
		}
	}
	return nil
}

// large writes the rows of a change that may be elsewhere.
func (a *applier) large(c *graph.Change) {
	for h, b := range c.PutParts {
		a.set(a.begin(spacePart).id(c.Key.Subject).text(c.Key.Origin).u64(h), b...)
	}
	for _, h := range c.DropParts {
		a.unset(a.begin(spacePart).id(c.Key.Subject).text(c.Key.Origin).u64(h))
	}
	for i := range c.Flows {
		e := &c.Flows[i]
		k := a.begin(spaceFlow).byte(byte(e.Row.Layer)).byte(byte(e.Row.Dir)).id(e.Row.Node).by(c.Key)
		if e.Targets == nil {
			a.unset(k)
			continue
		}
		a.open(k)
		a.buf = graph.AppendTargets(a.buf, e.Targets)
		a.close()
	}
	for i := range c.Pieces {
		e := &c.Pieces[i]
		if e.Was != nil {
			a.unset(a.piece(e, graph.AppendFacts(nil, e.Was), e.WasFrom, c.Key))
		}
		if e.Facts != nil {
			facts := graph.AppendFacts(nil, e.Facts)
			a.set(a.piece(e, facts, e.From, c.Key), facts...)
		}
	}
	for _, e := range c.Named {
		a.put(e.Put, a.begin(spaceNamed).id(e.Column).text(e.Display).by(c.Key))
	}
	for _, e := range c.Index {
		space := byte(spaceIndex)
		if e.Writes {
			space = spaceWriters
		}
		a.put(e.Put, a.begin(space).id(e.Node).by(c.Key))
	}
}

// piece is the key of a piece: of those that say the same the newest is first.
func (a *applier) piece(e *graph.PieceEdit, facts []byte, from int64, by graph.Key) key {
	return a.begin(spacePiece).id(e.Node).byte(e.Rank).u64(hash(facts)).u64(^uint64(from)).by(by)
}

func (a *applier) life(e graph.LifeEdit) error {
	k := a.begin(spaceLife).id(e.Node)
	b, err := a.get(k)
	if err != nil {
		return err
	}
	var was graph.Life
	if b != nil {
		if was, err = graph.DecodeLife(b); err != nil {
			return err
		}
	}
	if len(e.Life) == 0 {
		a.keep(k, nil)
	} else {
		a.keep(k, graph.AppendLife(nil, e.Life))
		a.newLives = append(a.newLives, e.Node)
	}
	for _, l := range []struct {
		life graph.Life
		put  bool
	}{{was, false}, {e.Life, true}} {
		for _, p := range l.life {
			if !p.RenamedTo.IsZero() {
				a.put(l.put, a.begin(spaceAliasReverse).id(p.RenamedTo.ID()).id(e.Node).by(renamed))
			}
		}
	}
	return nil
}

// name notes a name, and what searches find it by.
func (a *applier) name(n *graph.Name, id graph.ID) error {
	if id.IsColumn() {
		return a.column(n.Column, id)
	}
	if a.away != nil {
		return a.farName(n, id)
	}
	have, ok := a.names[id]
	if !ok && a.there.hasName(id) {
		b, err := a.get(a.begin(spaceName).id(id))
		if err != nil {
			return err
		}
		if ok = b != nil; ok {
			if have, err = graph.DecodeName(b); err != nil {
				return err
			}
		}
	}
	switch {
	case !ok:
		a.keep(a.begin(spaceName).id(id), graph.AppendName(nil, n))
		a.index(graph.SearchText(*n), id)
		a.newNames = append(a.newNames, id)
	case have != *n:
		return fmt.Errorf("names %s and %s share the id %s", have, n, id)
	}
	if _, kept := a.names[id]; kept {
		return nil
	}
	// The strings of a delta share the memory of all that its event said.
	a.names[id] = graph.Name{Kind: n.Kind, Region: strings.Clone(n.Region), Namespace: strings.Clone(n.Namespace), Name: strings.Clone(n.Name)}
	return nil
}

// column notes a column. All columns of one path share its name and what
// searches find it by, so that a path that is known costs one write. Of two
// paths that share an id the one that sorts first stays.
func (a *applier) column(path string, id graph.ID) error {
	if _, ok := a.columns[id]; !ok {
		a.set(append(a.begin(spaceColumn), id[16:]...).id(id))
		a.columns[id] = struct{}{}
	}
	if _, ok := a.paths[path]; ok {
		return nil
	}
	n := graph.Name{Kind: graph.DataStoreKind, Column: path}
	shared := pathID(id)
	k := a.begin(spaceName).id(shared)
	b, err := a.get(k)
	if err != nil {
		return err
	}
	if b != nil {
		have, err := graph.DecodeName(b)
		if err != nil {
			return err
		}
		if have.Column < path {
			n = have
		}
	}
	a.keep(k, graph.AppendName(nil, &n))
	if b == nil {
		a.index(graph.SearchText(n), shared)
	}
	a.paths[strings.Clone(path)] = struct{}{}
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

func (a *applier) index(text string, id graph.ID) {
	a.set(a.begin(spaceText).text(text).id(id))
	starts := graph.Tokens(text)
	for _, at := range starts[:min(len(starts), maxTokens)] {
		word := graph.Word(text[at:])
		if _, ok := a.words[word]; !ok {
			for i := 1; i < len(word) && i < maxWord; i++ {
				a.set(append(a.begin(spaceWord).text(word[i:]), word[:i]...))
			}
			a.words[strings.Clone(word)] = struct{}{}
		}
		if at > 0 {
			a.open(a.begin(spaceSuffix).text(text[at:]).id(id))
			a.buf = append(a.buf, text[:at]...)
			a.close()
		}
	}
}

func (a *applier) touch(t *graph.Touch) error {
	if a.away != nil {
		return a.record(t)
	}
	if t.Record != nil {
		k := a.begin(spaceRecord).by(t.Key)
		if len(t.Record.Runs) == 0 {
			a.unset(k)
		} else {
			a.open(k)
			a.buf = graph.AppendRecord(a.buf, t.Record)
			a.close()
		}
	}
	for i := range t.Seen {
		s := &t.Seen[i]
		id := s.Name.ID()
		err := graph.EachFacet(s.Facets, func(name string, facet []byte) {
			a.open(append(a.begin(spaceSeen).id(id), name...))
			a.buf = append(a.buf.u64(uint64(t.Time)), facet...)
			a.merge()
		})
		if err != nil {
			return err
		}
		for _, p := range s.Partitions {
			a.open(append(a.begin(spacePartition).id(id), p...))
			a.buf = a.buf.u64(uint64(t.Time))
			a.merge()
		}
	}
	return nil
}
