package topology

import (
	"cmp"
	"math"
	"slices"

	"headwater/graph"
)

// An edit puts a flow into a list, or takes it out.
type edit struct {
	node graph.Handle
	slot uint8
	gone bool
	meta uint16
	to   graph.Handle
	by   uint32
	seq  uint32
}

// Change takes what a change does to the flows into the batch. What it does
// to aliases and deletions is for Realias.
func (t *Topology) Change(c *graph.Change) {
	if t.failed != nil {
		return
	}
	t.touch(c)
	if len(c.Flows) == 0 {
		return
	}
	by := t.by(c.Key)
	for i := range c.Flows {
		e := &c.Flows[i]
		node, slot := t.handle(e.Row.Node), uint8(slotOf(e.Row.Layer, e.Row.Dir))
		was := e.Was
		for _, to := range e.Targets {
			for len(was) > 0 && was[0].ID.Compare(to.ID) < 0 {
				t.edit(node, slot, &was[0], by, true)
				was = was[1:]
			}
			if len(was) > 0 && was[0].ID == to.ID {
				same := was[0] == to
				was = was[1:]
				if same {
					continue
				}
			}
			t.edit(node, slot, &to, by, false)
		}
		for i := range was {
			t.edit(node, slot, &was[i], by, true)
		}
	}
}

func (t *Topology) edit(node graph.Handle, slot uint8, to *graph.Target, by uint32, gone bool) {
	t.edits = append(t.edits, edit{node: node, slot: slot, to: t.handle(to.ID), by: by, meta: meta(to.Kinds, to.Coarse), gone: gone, seq: uint32(len(t.edits))})
}

// touch notes whose facts a change may alter.
func (t *Topology) touch(c *graph.Change) {
	mark := func(id graph.ID) {
		f := t.cell(t.handle(id.Base()), slotFacts)
		t.set(f, 1)
	}
	mark(c.Key.Subject)
	for i := range c.Pieces {
		mark(c.Pieces[i].Node)
	}
	for i := range c.Named {
		mark(c.Named[i].Column)
	}
	for i := range c.Aliases {
		mark(c.Aliases[i].From)
		mark(c.Aliases[i].To)
	}
	for i := range c.Lives {
		mark(c.Lives[i].Node)
	}
	for _, id := range c.NameIDs {
		if !id.IsColumn() {
			mark(id) // it is known of now
		}
	}
	for i := range c.Index {
		if !c.Index[i].Put {
			mark(c.Index[i].Node)
		}
	}
}

// Settle does what the changes of the batch ask, list by list, ahead of
// Publish.
func (t *Topology) Settle() error {
	if t.failed != nil {
		return t.failed
	}
	return t.fail(t.settle())
}

func (t *Topology) settle() error {
	if t.full(t.limit) || t.building == math.MaxUint32 {
		return ErrFull
	}
	edits := t.edits
	t.edits = t.edits[:0]
	t.canonicalColumns()
	slices.SortFunc(edits, func(a, b edit) int {
		if a.node != b.node {
			return cmp.Compare(a.node, b.node)
		}
		if a.slot != b.slot {
			return cmp.Compare(a.slot, b.slot)
		}
		return cmp.Or(t.compare(a.to, b.to), cmp.Compare(a.by, b.by), cmp.Compare(a.seq, b.seq))
	})
	for len(edits) > 0 {
		n := 1
		for n < len(edits) && edits[n].node == edits[0].node && edits[n].slot == edits[0].slot {
			n++
		}
		if err := t.amend(t.cell(edits[0].node, int(edits[0].slot)), edits[:n]); err != nil {
			return err
		}
		edits = edits[n:]
	}
	return nil
}

// amend makes a list anew with edits, which are sorted as it is: the runs
// that they fall into.
func (t *Topology) amend(c *cell, edits []edit) error {
	slot, old := edits[0].slot, ref(c.Load())
	in := laneOf(edits[0].node.Class(), int(slot))
	var one [1]uint32
	dir := directory(t.arena.slabs, old, &one)
	had := listLen(t.arena.slabs, old)
	total := had
	refs, entries := t.refs[:0], t.merged[:0]
	for i := 0; len(edits) > 0; {
		// The run that the next edit falls into is the last that does not
		// begin behind it; edits before all runs go into the first.
		at := t.runFor(dir[i:], &edits[0])
		refs = append(refs, dir[i:i+at]...)
		i += at
		n := len(edits)
		if i+1 < len(dir) {
			next := t.first(dir[i+1])
			n = 1
			for n < len(edits) && t.compareEntries(edits[n].entry(), next) < 0 {
				n++
			}
		}
		entries = entries[:0]
		if i < len(dir) {
			entries = t.appendRun(entries, dir[i])
			t.retire(in, dir[i])
			i++
		}
		total -= len(entries)
		entries = t.merge(entries, edits[:n])
		total += len(entries)
		edits = edits[n:]
		var err error
		if refs, err = t.writeRuns(in, refs, entries); err != nil {
			return err
		}
		if len(edits) == 0 {
			refs = append(refs, dir[i:]...)
		}
	}
	t.merged = entries
	if len(dir) > 1 {
		t.retire(in, old)
	}
	refs, err := t.pack(in, refs, total)
	if err != nil {
		return err
	}
	t.refs = refs
	to, err := t.writeList(in, refs, total)
	if err != nil {
		return err
	}
	if slot&1 == 0 {
		t.flows += total - had
	}
	t.set(c, to)
	return nil
}

// sparse is how many times as many flows as it has a list has room for before
// its runs are written anew.
const sparse = 8

// pack writes runs anew, of so many flows in all, if they have become short:
// flows that go leave room that new ones may never fall into.
func (t *Topology) pack(in lane, refs []uint32, total int) ([]uint32, error) {
	if len(refs) < 2 || total*sparse >= len(refs)*t.maxRun {
		return refs, nil
	}
	entries := t.merged[:0]
	for _, r := range refs {
		entries = t.appendRun(entries, r)
		t.retire(in, r)
	}
	t.merged = entries
	return t.writeRuns(in, refs[:0], entries)
}

// retire gives a block back once no view can see it.
func (t *Topology) retire(in lane, ref uint32) {
	t.retired = append(t.retired, retirement{t.building, t.blockAt(in, ref)})
}

// runFor returns which of runs an edit falls into.
func (t *Topology) runFor(dir []uint32, e *edit) int {
	at, _ := slices.BinarySearchFunc(dir, e.entry(), func(ref uint32, e entry) int {
		if t.compareEntries(t.first(ref), e) <= 0 {
			return -1
		}
		return 1
	})
	return max(0, at-1)
}

// first returns the first flow of a run.
func (t *Topology) first(ref uint32) entry {
	r := readRun(t.arena.slabs, ref)
	return entry{graph.Handle(r.to[0]), r.by[0], r.metaAt(0)}
}

func (e *edit) entry() entry { return entry{e.to, e.by, e.meta} }

// merge does edits to entries; of several to one flow the last counts.
func (t *Topology) merge(entries []entry, edits []edit) []entry {
	out, free := t.spare[:0], entries[:0]
	for i := range edits {
		e := &edits[i]
		if i+1 < len(edits) && edits[i+1].to == e.to && edits[i+1].by == e.by {
			continue
		}
		at, found := slices.BinarySearchFunc(entries, e.entry(), t.compareEntries)
		out = append(out, entries[:at]...)
		if entries = entries[at:]; found {
			entries = entries[1:]
		}
		if !e.gone {
			out = append(out, e.entry())
		}
	}
	out = append(out, entries...)
	t.spare = free
	return out
}
