package graph

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
)

// A Contribution is a record with the contents of its parts. Its methods
// decode parts when they are first needed, so it is not safe for use by many
// at once.
type Contribution struct {
	Record Record
	parts  map[uint64]*partContent
	folded map[string]*Content // by the hashes of parts; shared, never changed
	ids    *ids
	at     atHand
}

// An atHand says which parts of a contribution are at hand.
type atHand uint8

const (
	bare   atHand = iota // none
	newest               // those that Record.Newest lists
	whole                // all
)

// NewContribution joins a record with the stored form of its parts, by hash.
func NewContribution(r Record, parts map[uint64][]byte) *Contribution {
	c := &Contribution{Record: r, ids: new(ids), at: whole}
	c.setParts(parts)
	return c
}

func (c *Contribution) setParts(parts map[uint64][]byte) {
	have := c.parts // some may not be stored yet
	c.parts = make(map[uint64]*partContent, len(parts)+len(have))
	for h, b := range parts {
		c.parts[h] = &partContent{bytes: b}
	}
	maps.Copy(c.parts, have)
}

// At returns what the contribution says at a time, Forever being now. Its
// content is nil where it says nothing.
func (c *Contribution) At(at int64) (Said, error) {
	said := Said{Record: c.Record}
	segs, err := c.segments()
	if err != nil {
		return said, err
	}
	s := SegmentAt(segs, at)
	if at == Forever {
		s = Current(segs)
	}
	if s == nil || s.Deletes {
		return said, nil
	}
	said.From, said.Provisional = s.From, s.Provisional
	said.Content, err = c.fold(s.newest)
	return said, err
}

// A partContent is a part as it is stored; it is decoded when first needed.
type partContent struct {
	bytes   []byte
	content *Content
	// alone: by itself it folds to what it is. It is known with content.
	alone bool
}

// set notes the decoded form.
func (p *partContent) set(c *Content, ids *ids) { p.content, p.alone = c, c.folded(ids) }

func (c *Contribution) part(hash uint64) (*Content, error) {
	p, ok := c.parts[hash]
	if !ok {
		return nil, &MissingPartError{Key: c.Record.Key(), Hash: hash}
	}
	if p.content == nil {
		v, err := DecodeContent(p.bytes)
		if err != nil {
			return nil, err
		}
		p.set(&v, c.ids)
	}
	return p.content, nil
}

// fold folds parts; the content is shared, and must not be changed.
func (c *Contribution) fold(hashes []uint64) (*Content, error) {
	if len(hashes) == 1 {
		if said, err := c.part(hashes[0]); err != nil || c.parts[hashes[0]].alone {
			return said, err
		}
	}
	key := make([]byte, 0, 64)
	for _, h := range hashes {
		key = binary.BigEndian.AppendUint64(key, h)
	}
	if f := c.folded[string(key)]; f != nil {
		return f, nil
	}
	parts := make([]*Content, len(hashes))
	for i, h := range hashes {
		p, err := c.part(h)
		if err != nil {
			return nil, err
		}
		parts[i] = p
	}
	f := fold(c.ids, parts...)
	if c.folded == nil {
		c.folded = map[string]*Content{}
	}
	c.folded[string(key)] = f
	return f, nil
}

// said is Run.Said of a run whose parts are at hand.
func (c *Contribution) said(run *Run) (uint64, error) {
	if !run.effective() || len(run.Parts) == 0 {
		return 0, nil
	}
	whole, err := c.fold(run.hashes(Forever))
	if err != nil {
		return 0, err
	}
	if p := c.parts[run.Parts[0].Hash]; len(run.Parts) == 1 && p.content == whole {
		return run.Parts[0].Hash, nil
	}
	return hashOf(AppendContent(nil, whole), whole), nil
}

// segments is Record.Segments with the contents at hand.
func (c *Contribution) segments() ([]Segment, error) {
	var failed error
	segs := c.Record.Segments(func(a, b []uint64) bool {
		if slices.Equal(a, b) {
			return true
		}
		x, err := c.fold(a)
		y, err2 := c.fold(b)
		if err = cmp.Or(err, err2); err != nil {
			failed = err
			return false
		}
		return x.Equal(y)
	})
	return segs, failed
}

// written lists what the run at index i wrote, and what it dropped and when.
func (c *Contribution) written(i int) (writes []ID, drops []drop, err error) {
	run := &c.Record.Runs[i]
	whole, err := c.fold(run.hashes(Forever))
	if err != nil {
		return nil, nil, err
	}
	for i := range whole.Writes {
		d := &whole.Writes[i]
		own := c.ids.of(d.Name)
		if d.Lifecycle != LifecycleDrop {
			writes = append(append(writes, own), d.standsFor(c.ids)...)
		}
		if d.drops() {
			x := drop{node: own, at: run.End}
			if d.Lifecycle != LifecycleDrop {
				x.node, x.to = c.ids.of(d.RenamedFrom), d.Name
			}
			for _, p := range run.Parts {
				said, err := c.part(p.Hash)
				if err != nil {
					return nil, nil, err
				}
				if slices.ContainsFunc(said.Writes, func(w Dataset) bool {
					return w.Lifecycle == d.Lifecycle && c.ids.of(w.Name) == own
				}) {
					x.at = p.Last
				}
			}
			drops = append(drops, x)
			if d.Lifecycle == LifecycleDrop {
				for _, id := range d.standsFor(c.ids) {
					drops = append(drops, drop{node: id, at: x.at})
				}
			}
		}
	}
	return writes, drops, nil
}

// standsFor lists the names that the dataset is said to stand for: who writes
// or drops a location writes or drops its table.
func (d *Dataset) standsFor(ids *ids) []ID {
	var others []ID
	for _, a := range d.Aliases {
		if ids.of(a.From) == ids.of(d.Name) {
			others = append(others, ids.of(a.To))
		}
	}
	return others
}

// drops reports whether the dataset, or the one that it was before, is gone.
func (d *Dataset) drops() bool { return d.Lifecycle == LifecycleDrop || !d.RenamedFrom.IsZero() }

type drop struct {
	node ID
	at   int64
	to   Name
}

// versions lists the parts of everything that the contribution said, once
// each: by its runs that count, or provisionally. A run that another hides,
// having begun at the same time, is among them.
func (c *Contribution) versions() [][]uint64 {
	var all [][]uint64
	add := func(hashes []uint64) {
		if !slices.ContainsFunc(all, func(have []uint64) bool { return slices.Equal(have, hashes) }) {
			all = append(all, hashes)
		}
	}
	for i := range c.Record.Runs {
		if run := &c.Record.Runs[i]; run.effective() {
			add(run.hashes(Forever))
		}
	}
	for _, s := range c.Record.provisional() {
		if len(all) == 0 {
			add(s.Parts)
		}
	}
	return all
}

// Contents folds everything that the contribution said, at any time.
func (c *Contribution) Contents() ([]*Content, error) {
	var contents []*Content
	for _, hashes := range c.versions() {
		whole, err := c.fold(hashes)
		if err != nil {
			return nil, err
		}
		contents = append(contents, whole)
	}
	return contents, nil
}

// Stored returns the stored form of the parts, by hash.
func (c *Contribution) Stored() map[uint64][]byte {
	m := make(map[uint64][]byte, len(c.parts))
	for h, p := range c.parts {
		m[h] = p.bytes
	}
	return m
}
