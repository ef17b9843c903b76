// Package ingest says how lineage gets in: a Decoder turns one message of a
// format into deltas and does no I/O; a source moves bytes from a transport
// into decoders and their deltas into a Sink.
package ingest

import (
	"context"
	"fmt"
	"time"

	"headwater/graph"
)

// A Message is one message of a format: one event, one notification.
type Message struct {
	// Body is the message. Its memory is used again: deltas keep no part of it.
	Body []byte
	// Region is the region that takes the message in.
	Region string
	// Received is when it arrived.
	Received time.Time
}

// A Rejected says what of a message could not be taken, and why.
type Rejected struct {
	// Path is the JSON path of the fault, for example $.job.name; "$" is the
	// whole message.
	Path string
	// Offset is where in the message the fault was seen, in bytes.
	Offset int64
	Reason string
}

func (r Rejected) Error() string { return fmt.Sprintf("%s: %s", r.Path, r.Reason) }

// A Decoded is what a decoder made of a message. A message with something
// rejected may still have deltas: a decoder takes what is sound.
type Decoded struct {
	Deltas   []graph.Delta
	Rejected []Rejected
	// Clamped counts event times that lay too far ahead (graph.ClampTime).
	Clamped int
}

// A Decoder turns one message into deltas. It is pure: the same message gives
// the same deltas. If Fatal, nothing of the message is to be taken.
type Decoder func(m Message) Decoded

// Fatal reports whether nothing of the message could be taken.
func (d Decoded) Fatal() bool { return len(d.Deltas) == 0 && len(d.Rejected) > 0 }

// A Receipt says where in a region's log an acknowledged message stands.
type Receipt struct {
	Region string
	Offset uint64
}

func (r Receipt) String() string { return fmt.Sprintf("%s@%d", r.Region, r.Offset) }

// A Sink takes deltas in; what it has acknowledged is durable.
type Sink interface {
	// Append makes the deltas of the events durable, in order, an entry for
	// each event, and returns the receipt of the last. It takes all or none,
	// and may be called by many at once.
	Append(ctx context.Context, events [][]graph.Delta) (Receipt, error)
	// WaitApplied returns once everything up to the receipt can be read.
	WaitApplied(ctx context.Context, r Receipt) error
}

// The errors with which a Sink refuses for now; ask again later.
var (
	// ErrOverloaded is returned while too much waits to be applied.
	ErrOverloaded = fmt.Errorf("%w: too much waits to be applied", graph.ErrUnavailable)
	// ErrNoSpace is returned while the disk is nearly full.
	ErrNoSpace = fmt.Errorf("%w: the disk is nearly full", graph.ErrUnavailable)
)
