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

// The lifecycle changes that matter to the graph.
const (
	LifecycleDrop   = "DROP"
	LifecycleRename = "RENAME"
)

// LifeOf computes the life of a data store from all that wrote or dropped it:
// a function of their records, so the order of arrival does not show in it.
func LifeOf(node ID, writers []*Contribution) (Life, error) {
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
