package graph

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"
)

// A MissingPartError says that a record refers to a content that its store
// does not have: the store is damaged.
type MissingPartError struct {
	Key  Key
	Hash uint64
}

func (e *MissingPartError) Error() string {
	return fmt.Sprintf("contribution %s of %s refers to content %016x, which the store does not have", e.Key.Subject, e.Key.Origin, e.Hash)
}

// Expiring, as the state of a delta, asks that what ended by the delta's time
// be forgotten. Retention speaks it, not producers.
const Expiring RunState = 255

// Plan computes what d does to the store that s shows, and does it to s.
// Missing must have returned nothing for d. It is pure but for s; on an error
// s is as it was.
func Plan(s *State, d *Delta) (Planned, error) {
	k := d.Key()
	old := s.contributions[k]
	if old == nil {
		if d.State == Expiring {
			return Planned{}, nil
		}
		old = &Contribution{Record: Record{Subject: d.Subject, Origin: d.Origin}}
	}
	next := &Contribution{Record: old.Record, parts: maps.Clone(old.parts), folded: maps.Clone(old.folded)}
	if next.parts == nil {
		next.parts = map[uint64]*partContent{}
	}
	horizon := int64(math.MinInt64)
	if d.State == Expiring {
		horizon = d.Time
	} else {
		var part uint64
		if b := AppendContent(nil, &d.Says); len(b) > len(nothingSaid) || d.Says.Streaming {
			part = hash64(b)
			if _, ok := next.parts[part]; !ok {
				next.parts[part] = &partContent{bytes: b}
			}
			if p := next.parts[part]; p.content == nil {
				p.content = &d.Says // what decoding would give
			}
		}
		next.Record.add(d, part)
	}
	was, err := old.segments()
	if err != nil {
		return Planned{}, err
	}
	is, err := next.segments()
	if err != nil {
		return Planned{}, err
	}
	next.Record.prune(is, horizon)
	if is, err = next.segments(); err != nil {
		return Planned{}, err
	}
	p := Planned{Touch: Touch{Key: k, Time: d.Time, Seen: d.Seen}}
	if !next.Record.equal(&old.Record) || len(old.Record.Runs) == 0 {
		p.Touch.Record = &next.Record
	}
	ch := &Change{Key: k}
	ch.parts(old, next)
	lives, err := s.liveEdits(k, next, d)
	if err != nil {
		return Planned{}, err
	}
	ch.Lives = lives
	if !slices.EqualFunc(old.versions(), next.versions(), slices.Equal) {
		if err := ch.index(old, next); err != nil {
			return Planned{}, err
		}
	}
	if ch.History = !sameSegments(was, is); ch.History {
		if err := ch.rows(old, was, next, is); err != nil {
			return Planned{}, err
		}
	}
	if len(old.Record.Runs) == 0 && len(ch.Index) == 0 {
		// A subject that has said nothing yet is known by its name.
		ch.Names = []Name{d.Subject.folded()}
		ch.Index = []IndexEdit{{Node: k.Subject, Put: true}}
	}
	if len(ch.PutParts)+len(ch.DropParts) == 0 && !ch.Visible() {
		ch = nil
	}
	p.Change = ch
	s.commit(k, next, ch)
	return p, nil
}

var nothingSaid = AppendContent(nil, &Content{})

func (c *Change) parts(old, next *Contribution) {
	refs := map[uint64]bool{}
	for i := range next.Record.Runs {
		for _, p := range next.Record.Runs[i].Parts {
			refs[p.Hash] = true
		}
	}
	for h, p := range next.parts {
		if !refs[h] {
			delete(next.parts, h)
			if _, stored := old.parts[h]; stored {
				c.DropParts = append(c.DropParts, h)
			}
			continue
		}
		if _, stored := old.parts[h]; !stored {
			if c.PutParts == nil {
				c.PutParts = map[uint64][]byte{}
			}
			c.PutParts[h] = p.bytes
		}
	}
	slices.Sort(c.DropParts)
}

func sameSegments(a, b []Segment) bool {
	return slices.EqualFunc(a, b, func(x, y Segment) bool {
		return x.From == y.From && x.To == y.To && x.Provisional == y.Provisional && x.Deletes == y.Deletes && slices.Equal(x.Parts, y.Parts)
	})
}

// rows fills in the difference between what the two lists of segments imply.
func (c *Change) rows(old *Contribution, was []Segment, next *Contribution, is []Segment) error {
	before, from1, err := old.current(was)
	if err != nil {
		return err
	}
	after, from2, err := next.current(is)
	if err != nil {
		return err
	}
	for row, targets := range after.Flows {
		if !slices.Equal(before.Flows[row], targets) {
			c.Flows = append(c.Flows, FlowEdit{Row: row, Targets: targets, Was: before.Flows[row]})
		}
	}
	for row, targets := range before.Flows {
		if _, ok := after.Flows[row]; !ok {
			c.Flows = append(c.Flows, FlowEdit{Row: row, Was: targets})
		}
	}
	slices.SortFunc(c.Flows, func(a, b FlowEdit) int { return a.Row.Compare(b.Row) })
	type place struct {
		node ID
		rank uint8
	}
	hadFacts := map[place]*Facts{}
	for i := range before.Pieces {
		p := &before.Pieces[i]
		hadFacts[place{p.Node, p.Rank}] = &p.Facts
	}
	for i := range after.Pieces {
		p := &after.Pieces[i]
		at := place{p.Node, p.Rank}
		had := hadFacts[at]
		delete(hadFacts, at)
		if had == nil || from1 != from2 || !bytes.Equal(AppendFacts(nil, had), AppendFacts(nil, &p.Facts)) {
			c.Pieces = append(c.Pieces, PieceEdit{Node: p.Node, Rank: p.Rank, Facts: &p.Facts, From: from2, Was: had, WasFrom: from1})
		}
	}
	for i := range before.Pieces {
		p := &before.Pieces[i]
		if had := hadFacts[place{p.Node, p.Rank}]; had != nil {
			c.Pieces = append(c.Pieces, PieceEdit{Node: p.Node, Rank: p.Rank, Was: had, WasFrom: from1})
		}
	}
	difference(before.Named, after.Named, func(r NamedRow, put bool) { c.Named = append(c.Named, NamedEdit{r, put}) })
	difference(before.Aliases, after.Aliases, func(a [2]ID, put bool) {
		c.Aliases = append(c.Aliases, AliasEdit{From: a[0], To: a[1], Put: put})
	})
	return nil
}

// difference calls f with what only one of two lists has.
func difference[T comparable](before, after []T, f func(v T, put bool)) {
	had := make(map[T]bool, len(before))
	for _, v := range before {
		had[v] = true
	}
	for _, v := range after {
		if !had[v] {
			f(v, true)
		}
		delete(had, v)
	}
	for _, v := range before {
		if had[v] {
			f(v, false)
		}
	}
}

// current derives the rows that hold now.
func (c *Contribution) current(segs []Segment) (Rows, int64, error) {
	s := Current(segs)
	if s == nil || s.Deletes {
		return Rows{}, 0, nil
	}
	whole, err := c.fold(s.Parts)
	if err != nil {
		return Rows{}, 0, err
	}
	return Derive(c.Record.Subject, c.Record.Origin, whole), s.From, nil
}

// index lists the nodes that come into, or fall out of, what the contribution
// speaks of at any time that is kept, and the names among them that are new.
func (c *Change) index(old, next *Contribution) error {
	mentioned := func(con *Contribution, each func(Name)) (map[ID]bool, error) {
		nodes := map[ID]bool{}
		contents, err := con.Contents()
		for _, whole := range contents {
			whole.Mentions(con.Record.Subject, func(n Name, writes bool) {
				each(n)
				base := n.ID().Base()
				nodes[base] = nodes[base] || writes
			})
		}
		return nodes, err
	}
	known := map[ID]bool{}
	before, err := mentioned(old, func(n Name) { known[n.ID()] = true })
	if err != nil {
		return err
	}
	after, err := mentioned(next, func(n Name) {
		if id := n.ID(); !known[id] {
			known[id] = true
			c.Names = append(c.Names, n.folded())
		}
	})
	if err != nil {
		return err
	}
	for node, writes := range after {
		if had, ok := before[node]; !ok || had != writes {
			c.Index = append(c.Index, IndexEdit{Node: node, Writes: writes, Put: true})
		}
	}
	for node := range before {
		if _, ok := after[node]; !ok {
			c.Index = append(c.Index, IndexEdit{Node: node})
		}
	}
	slices.SortFunc(c.Index, func(a, b IndexEdit) int { return a.Node.Compare(b.Node) })
	return nil
}

// liveEdits recomputes the lives that d may alter.
func (s *State) liveEdits(k Key, next *Contribution, d *Delta) ([]LifeEdit, error) {
	touched, err := s.touched(next, d)
	if err != nil {
		return nil, err
	}
	var edits []LifeEdit
	for node, drops := range touched {
		was := s.lives[node]
		if len(was) == 0 && !drops {
			continue
		}
		writers := []*Contribution{next}
		for w := range s.writers[node] {
			if c := s.contributions[w]; c != nil && w != k {
				writers = append(writers, c)
			}
		}
		life, err := LifeOf(node, writers)
		if err != nil {
			return nil, err
		}
		if !life.equal(was) {
			edits = append(edits, LifeEdit{Node: node, Life: life})
		}
	}
	slices.SortFunc(edits, func(a, b LifeEdit) int { return a.Node.Compare(b.Node) })
	return edits, nil
}
