package graph

import (
	"cmp"
	"slices"
)

// A Life lists the times when a data store was gone: it was dropped, or
// renamed, and nothing had written it since. It is empty for almost all.
type Life []Period

// A Period is the time from a drop to the next write.
type Period struct {
	Dropped int64
	// Revived is when the data store was next written; 0 is not yet.
	Revived int64
	// RenamedTo is the new name where the drop was a rename: for as long as
	// the period lasts the old name is an alias of it.
	RenamedTo Name
}

const keepPeriods = 32

// Gone returns the period that holds at a time (Forever: now), or nil.
func (l Life) Gone(at int64) *Period {
	for i := len(l) - 1; i >= 0; i-- {
		p := &l[i]
		if p.Dropped <= at && (p.Revived == 0 || at < p.Revived) {
			return p
		}
	}
	return nil
}

func (l Life) equal(o Life) bool { return slices.Equal(l, o) }

// A contribution is a record with the contents of its parts.
type contribution struct {
	Record Record
	parts  map[uint64]*partContent
}

// A partContent is a part as it is stored; it is decoded when first needed.
type partContent struct {
	bytes   []byte
	content *Content
}

func (c *contribution) part(hash uint64) (*Content, error) {
	p, ok := c.parts[hash]
	if !ok {
		return nil, &MissingPartError{Key: c.Record.Key(), Hash: hash}
	}
	if p.content == nil {
		v, err := DecodeContent(p.bytes)
		if err != nil {
			return nil, err
		}
		p.content = &v
	}
	return p.content, nil
}

func (c *contribution) fold(hashes []uint64) (*Content, error) {
	parts := make([]*Content, len(hashes))
	for i, h := range hashes {
		p, err := c.part(h)
		if err != nil {
			return nil, err
		}
		parts[i] = p
	}
	return Fold(parts...), nil
}

// segments is Record.Segments with the contents at hand.
func (c *contribution) segments() ([]Segment, error) {
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
		return slices.Equal(AppendContent(nil, x), AppendContent(nil, y))
	})
	return segs, failed
}

// written lists what the run at index i wrote, and what it dropped and when.
func (c *contribution) written(i int) (writes []ID, drops []drop, err error) {
	run := &c.Record.Runs[i]
	whole, err := c.fold(run.hashes(Forever))
	if err != nil {
		return nil, nil, err
	}
	for _, d := range whole.Writes {
		if d.Lifecycle != LifecycleDrop {
			writes = append(writes, d.Name.ID())
			writes = append(writes, d.standsFor()...)
		}
		if d.Lifecycle == LifecycleDrop || !d.RenamedFrom.IsZero() {
			x := drop{node: d.Name.ID(), at: run.End}
			if d.Lifecycle != LifecycleDrop {
				x.node, x.to = d.RenamedFrom.ID(), d.Name
			}
			for _, p := range run.Parts {
				said, err := c.part(p.Hash)
				if err != nil {
					return nil, nil, err
				}
				if slices.ContainsFunc(said.Writes, func(w Dataset) bool {
					return w.Lifecycle == d.Lifecycle && w.Name.ID() == d.Name.ID()
				}) {
					x.at = p.Last
				}
			}
			drops = append(drops, x)
			if d.Lifecycle == LifecycleDrop {
				for _, id := range d.standsFor() {
					drops = append(drops, drop{node: id, at: x.at})
				}
			}
		}
	}
	return writes, drops, nil
}

// standsFor lists the names that the dataset is said to stand for: who writes
// or drops a location writes or drops its table.
func (d *Dataset) standsFor() []ID {
	var ids []ID
	own := d.Name.ID()
	for _, a := range d.Aliases {
		if a.From.ID() == own {
			ids = append(ids, a.To.ID())
		}
	}
	return ids
}

type drop struct {
	node ID
	at   int64
	to   Name
}

// The lifecycle changes that matter to the graph.
const (
	LifecycleDrop   = "DROP"
	LifecycleRename = "RENAME"
)

// lifeOf computes the life of a data store from all that wrote or dropped it:
// a function of their records, so the order of arrival does not show in it.
func lifeOf(node ID, writers []*contribution) (Life, error) {
	var life Life
	var writes []int64
	for _, c := range writers {
		for i := range c.Record.Runs {
			run := &c.Record.Runs[i]
			if !run.effective() || run.Deletes {
				continue
			}
			wrote, drops, err := c.written(i)
			if err != nil {
				return nil, err
			}
			if slices.Contains(wrote, node) {
				writes = append(writes, run.End)
			}
			for _, d := range drops {
				if d.node == node {
					life = append(life, Period{Dropped: d.at, RenamedTo: d.to})
				}
			}
		}
	}
	slices.Sort(writes)
	slices.SortFunc(life, func(a, b Period) int {
		return cmp.Or(cmp.Compare(a.Dropped, b.Dropped), a.RenamedTo.Compare(b.RenamedTo))
	})
	life = slices.CompactFunc(life, func(a, b Period) bool { return a.Dropped == b.Dropped })
	for i := range life {
		at, _ := slices.BinarySearch(writes, life[i].Dropped+1)
		if at < len(writes) {
			life[i].Revived = writes[at]
		}
	}
	if n := len(life) - keepPeriods; n > 0 {
		life = life[n:]
	}
	return life, nil
}
