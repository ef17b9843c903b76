package bus

import (
	"crypto/rand"
	"encoding/binary"
	"slices"

	"headwater/graph"
)

// An Entry tells what one entry of the region's log has changed, if readers
// can see it.
type Entry struct {
	// Epoch, Sequence and Hash are the cursor behind the entry. Sequences count
	// from 1 without a gap.
	Epoch    string
	Sequence uint64
	Hash     uint64
	// Mark is the state after the entry, or a later one: a view at that
	// position shows the change. After a crash of the region it may be less
	// than it has been, until the log is applied again.
	Mark graph.Mark
	// At is when the region acknowledged what made the change, in nanoseconds
	// since 1970.
	At int64
	// Beat: nothing has changed. The entry is no part of the stream; it has the
	// cursor of the one before it and says how far the region is by now.
	Beat bool
	// Names are data stores that a contribution has come to speak of, folded,
	// sorted: those that the follower's filter wants.
	Names []graph.Name
	// Touched tell the nodes whose answers may be others now: what their ids
	// begin with (Touch), sorted.
	Touched []uint64
}

// Cursor returns the place behind the entry.
func (e *Entry) Cursor() Cursor { return Cursor{e.Epoch, e.Sequence, e.Hash} }

// Touch returns what stands for a node in Entry.Touched: the first 8 bytes of
// its id. A column stands under its data store.
func Touch(id graph.ID) uint64 { return binary.BigEndian.Uint64(id[:8]) }

// NewEpoch returns a name for a region's data that no others have.
func NewEpoch() string { return rand.Text()[:12] }

// Make makes the entry that follows a cursor, of the changes among some that
// readers can see, and the form in which it is kept.
func Make(c Cursor, mark graph.Mark, at int64, changes []graph.Change) (Entry, graph.StreamEntry) {
	e := Entry{Epoch: c.Epoch, Sequence: c.Sequence + 1, Mark: mark, At: at}
	for i := range changes {
		change := &changes[i]
		if !change.Visible() {
			continue
		}
		for _, id := range change.Nodes() {
			e.Touched = append(e.Touched, Touch(id))
		}
		for j := range change.Names {
			// A data store is spoken of beside its columns.
			if n := &change.Names[j]; n.Kind == graph.DataStoreKind && n.Column == "" {
				e.Names = append(e.Names, *n)
			}
		}
	}
	slices.Sort(e.Touched)
	e.Touched = slices.Compact(e.Touched)
	slices.SortFunc(e.Names, graph.Name.Compare)
	e.Names = slices.Compact(e.Names)
	kept := graph.StreamEntry{Sequence: e.Sequence, Value: e.seal(c.Hash)}
	return e, kept
}
