package pebble

import (
	"context"
	"iter"

	"headwater/graph"
)

// An Elsewhere keeps the large rows of a store outside of its folder: names,
// flows, pieces, columns that flows name, who speaks of what, records, parts,
// facets and partitions. The folder keeps the rest, and what it takes to find
// rows elsewhere:
//
//	n id                → a hash of the name
//	c subject origin    → a hash of the record
//	e node              → which lists of flows the node has ever had
//	h key               → what Elsewhere notes
//
// Batches have ordinals that count up by one. Rows that a batch writes are not
// seen before Done is called, and what it closes is seen by views taken before.
// Prepare, Write and Done are called by one at a time.
type Elsewhere interface {
	// Begin is called once, before all else: with the id of the folder, the
	// ordinal of the last batch in it, and what was noted.
	Begin(ctx context.Context, folder string, last uint64, notes iter.Seq2[Note, error]) error
	// Prepare plans batch n, and returns what is to be noted before Write is
	// called. The batch may be another one than that for which Write failed
	// under this ordinal before.
	Prepare(ctx context.Context, n uint64, b *graph.Batch, found *Found) ([]Note, error)
	// Write writes what was prepared last, and returns what is to be noted with
	// the batch.
	Write(ctx context.Context) ([]Note, error)
	// Done tells that what was written is in the folder.
	Done()
	// At returns the rows as of the newest batch that is done.
	At() Far
	// Close closes it; all rows have been closed before.
	Close() error
}

// A Note is what an Elsewhere keeps in the folder under a key. Nil: nothing
// any more.
type Note struct{ Key, Value []byte }

// Found is what the folder knows of a batch.
type Found struct {
	// Names are those that are new. Columns are not among them.
	Names   []graph.Name
	NameIDs []graph.ID
	Records []RecordEdit
}

// A RecordEdit replaces a record. Was and Is are hashes of what it was and is,
// in its binary form; 0 is none.
type RecordEdit struct {
	Key     graph.Key
	Was, Is uint64
	Record  []byte
}

// A RecordRef says which record: that of a contribution which has a hash.
type RecordRef struct {
	Key  graph.Key
	Hash uint64
}

// A PartRef says which part of which contribution.
type PartRef struct {
	Key  graph.Key
	Hash uint64
}

// Far are the rows of one state that are elsewhere. Methods that are those of
// graph.Raw mean the same. It may be read by many at once.
type Far interface {
	// Names emits the names among ids, none of which is a column's.
	Names(ctx context.Context, ids []graph.ID, emit func(graph.ID, graph.Name) error) error
	// Flows emits the rows of nodes, those of one node one after the other.
	Flows(ctx context.Context, layer graph.Layer, dir graph.Direction, nodes []graph.ID, emit func(graph.ID, graph.Key, []graph.Target) error) error
	Pieces(ctx context.Context, names []graph.ID, emit func(graph.ID, graph.Piece) error) error
	Named(ctx context.Context, bases []graph.ID, emit func(base graph.ID, row graph.NamedRow) error) error
	Seen(ctx context.Context, names []graph.ID, emit func(name graph.ID, facet string, json []byte) error) error
	Partitions(ctx context.Context, names []graph.ID, emit func(graph.ID, graph.Partition) error) error
	// Speakers emits who speaks, or spoke, of names; wrote: who wrote them.
	Speakers(ctx context.Context, names []graph.ID, wrote bool, emit func(graph.ID, graph.Key) error) error
	// Records and Parts return what refs refer to; nil where it is not there.
	Records(ctx context.Context, refs []RecordRef) ([]*graph.Record, error)
	Parts(ctx context.Context, refs []PartRef) ([][]byte, error)
	Close() error
}

// chunk is of how many rows elsewhere are asked at once.
const chunk = 10_000
