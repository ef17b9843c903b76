// Package bus is a region's stream of changes, which gateways follow: which
// names it has come to speak of, which nodes' answers may be others now, how
// far it has come.
//
//	entry.go   what an entry says, and how it is made
//	codec.go   its bytes, and its place in the chain of hashes
//	filter.go  which names a follower needs
//	check.go   what a follower does with an entry that it is given
//	keep.go    what the region's store keeps, and how it is read
//
// embedded serves the stream from the region's own store, in process and over
// HTTP; kafka carries it over a topic. bustest holds what both must do.
package bus

import (
	"context"
	"errors"
	"fmt"

	"headwater/graph"
)

// A Stream is the stream of changes of one region. It may be used by many at
// once.
type Stream interface {
	// Follow emits the entries behind a cursor, in order, then those that come,
	// until ctx ends or emit returns an error, which it returns. An entry may
	// come again. The cursor of sequence 0 begins with the region's first
	// change. A cursor that the stream can't go on from is ErrExpired or
	// ErrDiverged, at the beginning or later on: its owner takes a Snapshot.
	// The slice, not what is in it, is the stream's again once emit returns.
	Follow(ctx context.Context, c Cursor, f Filter, emit func([]Entry) error) error
	// Snapshot emits the names that the filter wants among all that the region
	// has ever spoken of, in no order, as of the cursor that it returns: what
	// is not among them comes behind that. Names may come twice.
	Snapshot(ctx context.Context, f Filter, emit func([]graph.Name) error) (Cursor, error)
}

// A Cursor is a place in a stream: behind the entry of this sequence. The hash,
// that entry's, tells whether it is still the same stream. A follower keeps
// the cursor of the last entry that it took in.
type Cursor struct {
	// Epoch names a region's data; a copy of these has the same.
	Epoch string `json:"epoch"`
	// Sequence is 0 before the first entry.
	Sequence uint64 `json:"sequence"`
	Hash     uint64 `json:"hash"`
}

func (c Cursor) String() string {
	if c.Sequence == 0 {
		return "the beginning"
	}
	return fmt.Sprintf("%s/%d#%016x", c.Epoch, c.Sequence, c.Hash)
}

// A Head is how far a region has come.
type Head struct {
	// Cursor is behind the newest entry. Mark is what is applied, which may be
	// more than the newest entry says.
	Cursor Cursor
	Mark   graph.Mark
	// Known is the position up to which the log went when the region started:
	// up to there it may be making anew what it had made before.
	Known uint64
}

var (
	// ErrExpired is in the chain of errors of a cursor that is older than what
	// is kept.
	ErrExpired = errors.New("the stream does not go back as far")
	// ErrDiverged is in the chain of errors of a cursor of another stream: the
	// region's data were replaced, or are those of a backup that went on
	// otherwise.
	ErrDiverged = errors.New("the stream is another one")
	// ErrSilent is in the chain of errors of a following over which nothing
	// came, not even a beat, for too long: the connection is dead, or who
	// publishes is. Its owner follows again, from its cursor.
	ErrSilent = errors.New("the stream is silent")
)

// A CursorError says which cursor does not fit, and what the stream has.
type CursorError struct {
	// Reason is ErrExpired or ErrDiverged.
	Reason error
	Cursor Cursor
	// First is the oldest sequence that is kept, 0 where none is or it is not
	// known; Last is behind the newest.
	First uint64
	Last  Cursor
}

func (e *CursorError) Error() string {
	return fmt.Sprintf("follow from %s: %v: it has entries from %d to %s", e.Cursor, e.Reason, e.First, e.Last)
}

// Unwrap returns the reason.
func (e *CursorError) Unwrap() error { return e.Reason }
