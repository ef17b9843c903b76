package graph

import (
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

// Deriving, as the state of a delta, asks that what follows from what its
// subject says be found again: from the SQL of a process, or from that of all
// processes that use a data store. The region answers it; Plan is not asked.
const Deriving RunState = 254

// Plan computes what d does to the store that s shows, and does it to s.
// Missing must have returned nothing for d. It is pure but for s; on an error
// s is as it was.
func Plan(s *State, d *Delta) (Planned, error) {
	old := s.contributions[s.known(d).key]
	if old != nil {
		if n, ok := s.repeats(old, d); ok && n.IsZero() {
			return s.repeat(old, d), nil
		}
	}
	return s.plan(old, d)
}

// plan is Plan for all deltas.
func (s *State) plan(old *Contribution, d *Delta) (Planned, error) {
	know := s.known(d)
	k := know.key
	if old == nil {
		if d.State == Expiring {
			return Planned{}, nil
		}
		old = &Contribution{Record: Record{Subject: d.Subject, Origin: d.Origin}, ids: &s.ids, at: whole}
	}
	appends := old.Record.appends(d)
	if old.at == bare || old.at == newest && !appends {
		return Planned{}, fmt.Errorf("plan %s of %s without its parts", d.Subject, d.Origin)
	}
	next := &Contribution{Record: old.Record, parts: maps.Clone(old.parts), folded: maps.Clone(old.folded), ids: &s.ids, at: old.at}
	if next.parts == nil {
		next.parts = map[uint64]*partContent{}
	}
	horizon := int64(math.MinInt64)
	if d.State == Expiring {
		horizon = d.Time
	} else {
		part := know.hash
		if part != 0 {
			if _, ok := next.parts[part]; !ok {
				next.parts[part] = &partContent{bytes: know.said}
			}
			if p := next.parts[part]; p.content == nil {
				p.set(&know.says, &s.ids) // what decoding would give
			}
		}
		run := next.Record.add(d, part)
		var err error
		if run.Said, err = next.said(run); err != nil {
			return Planned{}, err
		}
	}
	was, err := old.segments()
	if err != nil {
		return Planned{}, err
	}
	is, err := next.segments()
	if err != nil {
		return Planned{}, err
	}
	if runs := len(next.Record.Runs); runs > 0 {
		if next.Record.prune(is, horizon); len(next.Record.Runs) < runs {
			if is, err = next.segments(); err != nil {
				return Planned{}, err
			}
		}
	}
	p := Planned{Touch: Touch{Key: k, Time: d.Time, Seen: d.Seen}}
	if !next.Record.equal(&old.Record) || len(old.Record.Runs) == 0 {
		p.Touch.Record = &next.Record
	}
	ch := &Change{Key: k}
	ch.parts(&old.Record, &next.Record, know.hash, know.said)
	for _, h := range ch.DropParts {
		delete(next.parts, h)
	}
	lives, err := s.liveEdits(k, next, d)
	if err != nil {
		return Planned{}, err
	}
	ch.Lives = lives
	index := ch.index
	if appends {
		index = ch.indexNewest
	}
	if err := index(old, next); err != nil {
		return Planned{}, err
	}
	if ch.History = !sameSegments(was, is); ch.History {
		if err := ch.rows(old, was, next, is); err != nil {
			return Planned{}, err
		}
	}
	if len(old.Record.Runs) == 0 && len(ch.Index) == 0 {
		// A subject that has said nothing yet is known by its name.
		ch.Names, ch.NameIDs = []Name{d.Subject.folded()}, []ID{k.Subject}
		ch.Index = []IndexEdit{{Node: k.Subject, Put: true}}
	}
	if len(ch.PutParts)+len(ch.DropParts) == 0 && !ch.Visible() {
		ch = nil
	}
	p.Change = ch
	s.commit(k, next, ch)
	return p, nil
}

// repeat plans a delta that repeats what the contribution says.
func (s *State) repeat(old *Contribution, d *Delta) Planned {
	k := s.known(d)
	next := *old
	run := next.Record.add(d, k.hash)
	if run.effective() && run.Said == 0 && len(run.Parts) > 0 {
		n := len(next.Record.Runs) - 1 // where the run is: it is the newest
		run.Said = next.Record.effectiveBefore(n).Said
	}
	if k.drop >= 0 {
		next.Record.Runs = slices.Delete(next.Record.Runs, k.drop, k.drop+1)
	}
	p := Planned{Touch: Touch{Key: k.key, Time: d.Time, Seen: d.Seen}}
	if !next.Record.equal(&old.Record) {
		p.Touch.Record = &next.Record
	}
	s.commit(k.key, &next, nil)
	return p
}

// parts finds the parts that only one of two records refers to. part is that
// of the delta, as it is stored.
func (c *Change) parts(old, next *Record, part uint64, stored []byte) {
	refers := func(r *Record, hash uint64) bool {
		return slices.ContainsFunc(r.Runs, func(run Run) bool {
			return slices.ContainsFunc(run.Parts, func(p Part) bool { return p.Hash == hash })
		})
	}
	if part != 0 && refers(next, part) && !refers(old, part) {
		c.PutParts = map[uint64][]byte{part: stored}
	}
	at := 0 // runs that stayed are in order
	for i := range old.Runs {
		was := &old.Runs[i]
		for at < len(next.Runs) && next.Runs[at].Start < was.Start {
			at++
		}
		if at < len(next.Runs) && samePartHashes(next.Runs[at].Parts, was.Parts) {
			continue // most are
		}
		for _, p := range was.Parts {
			if !refers(next, p.Hash) && !slices.Contains(c.DropParts, p.Hash) {
				c.DropParts = append(c.DropParts, p.Hash)
			}
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
	c.flows(before.flows, after.flows)
	c.pieces(before.pieces, from1, after.pieces, from2)
	difference(before.named, after.named, NamedRow.compare, func(r NamedRow, put bool) { c.Named = append(c.Named, NamedEdit{r, put}) })
	difference(before.aliases, after.aliases, compareAliases, func(a [2]ID, put bool) {
		c.Aliases = append(c.Aliases, AliasEdit{From: a[0], To: a[1], Put: put})
	})
	return nil
}

// flows adds what differs between two sorted lists of flows.
func (c *Change) flows(before, after []flowRow) {
	if len(before) == 0 {
		c.Flows = make([]FlowEdit, 0, len(after))
	}
	for len(before)+len(after) > 0 {
		switch order := firstOf(before, after, func(a, b flowRow) int { return a.row.Compare(b.row) }); {
		case order < 0:
			c.Flows = append(c.Flows, FlowEdit{Row: before[0].row, Was: before[0].targets})
			before = before[1:]
		case order > 0:
			c.Flows = append(c.Flows, FlowEdit{Row: after[0].row, Targets: after[0].targets})
			after = after[1:]
		default:
			if !slices.Equal(before[0].targets, after[0].targets) {
				c.Flows = append(c.Flows, FlowEdit{Row: after[0].row, Targets: after[0].targets, Was: before[0].targets})
			}
			before, after = before[1:], after[1:]
		}
	}
}

// pieces adds what differs between two sorted lists of pieces, said since two
// times.
func (c *Change) pieces(before []PieceRow, since1 int64, after []PieceRow, since2 int64) {
	for len(before)+len(after) > 0 {
		switch order := firstOf(before, after, func(a, b PieceRow) int { return a.compare(&b) }); {
		case order < 0:
			p := &before[0]
			c.Pieces = append(c.Pieces, PieceEdit{Node: p.Node, Rank: p.Rank, Was: &p.Facts, WasFrom: since1})
			before = before[1:]
		case order > 0:
			p := &after[0]
			c.Pieces = append(c.Pieces, PieceEdit{Node: p.Node, Rank: p.Rank, Facts: &p.Facts, From: since2, WasFrom: since1})
			after = after[1:]
		default:
			p, was := &after[0], &before[0]
			if since1 != since2 || !p.Facts.equal(&was.Facts) {
				c.Pieces = append(c.Pieces, PieceEdit{Node: p.Node, Rank: p.Rank, Facts: &p.Facts, From: since2, Was: &was.Facts, WasFrom: since1})
			}
			before, after = before[1:], after[1:]
		}
	}
}

// firstOf compares the first elements of two sorted lists, one of which may be
// empty: less than 0 if that of a comes first.
func firstOf[T any](a, b []T, compare func(a, b T) int) int {
	switch {
	case len(a) == 0:
		return 1
	case len(b) == 0:
		return -1
	}
	return compare(a[0], b[0])
}

// difference calls f with what only one of two sorted lists has.
func difference[T any](before, after []T, compare func(a, b T) int, f func(v T, put bool)) {
	for len(before)+len(after) > 0 {
		switch order := firstOf(before, after, compare); {
		case order < 0:
			f(before[0], false)
			before = before[1:]
		case order > 0:
			f(after[0], true)
			after = after[1:]
		default:
			before, after = before[1:], after[1:]
		}
	}
}

// current derives the rows that hold now.
func (c *Contribution) current(segs []Segment) (derivation, int64, error) {
	s := Current(segs)
	if s == nil || s.Deletes {
		return derivation{}, 0, nil
	}
	whole, err := c.fold(s.newest)
	if err != nil {
		return derivation{}, 0, err
	}
	return derive(c.ids, c.Record.Subject, c.Record.Origin, whole), s.From, nil
}

// liveEdits recomputes the lives that d may alter.
func (s *State) liveEdits(k Key, next *Contribution, d *Delta) ([]LifeEdit, error) {
	touched, drops, err := s.touched(next, d)
	if err != nil {
		return nil, err
	}
	var edits []LifeEdit
	for _, node := range touched {
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
	return edits, nil
}
