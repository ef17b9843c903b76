package graph

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"
)

// At says which state of the graph a reader wants; the zero value is now,
// with whatever has been applied.
type At struct {
	// AtLeast holds positions that must have been applied, by region.
	AtLeast map[string]uint64
	// AsOf is a time in the past; names and aliases are today's all the same.
	AsOf time.Time
}

// A Reader answers questions about lineage: an engine, and later a remote
// region, the federation of all, a cache.
type Reader interface {
	// View returns the state asked for. It may be read by many at once.
	View(ctx context.Context, at At) (View, error)
}

// A View is one state of the graph; it stands still until it is closed. The
// nodes it speaks of are what names stand for after aliases; the rows below
// them are stored by name.
type View interface {
	// Marks says, by region, which state this is.
	Marks() map[string]Mark
	// Resolve returns the node that a name or column stands for. It is the
	// id itself where nothing is known of it.
	Resolve(ctx context.Context, id ID) (ID, error)
	// Nodes emits the nodes among ids that exist, in no set order, each once.
	// Ids that stand for one node give it once.
	Nodes(ctx context.Context, ids []ID, want Want, emit func(Node) error) ([]Gap, error)
	// Flows emits the flows that leave the frontier's nodes in one direction.
	// The slice is the caller's only until emit returns.
	Flows(ctx context.Context, frontier []ID, f Ask, emit func([]Flow) error) ([]Gap, error)
	// Says emits what is said by the contributions of subjects, whole.
	Says(ctx context.Context, subjects []ID, emit func(Said) error) ([]Gap, error)
	// Find answers a search.
	Find(ctx context.Context, q Query) (Page, error)
	// Conflicts lists names with contested aliases, after a given one.
	Conflicts(ctx context.Context, after ID, limit int) ([]Conflict, []Gap, error)
	Close() error
}

// A Gap says which part of the graph could not be asked, and why.
type Gap struct{ Region, Reason string }

// A Mark is how far a region has come: the position in its log up to which
// all is applied, and the number of changes that readers could see. The two
// are written differently: eu@1042 and eu#77.
type Mark struct{ Position, Revision uint64 }

// Want says which costly parts of nodes are wanted, or how little is enough.
type Want uint8

// The parts. Columns that only flows name, partitions, and what was seen last
// are lists of their own in the stores.
const (
	WantColumns Want = 1 << iota
	WantPartitions
	WantSeen
	// WantBrief, by itself: of the facts, kind, platform, URL and display name
	// are enough. What is elsewhere is then sent sooner.
	WantBrief
)

// And returns what is wanted by either.
func (w Want) And(o Want) Want { return (w|o)&^WantBrief | w&o&WantBrief }

// Serves reports whether what was loaded for w is enough for o.
func (w Want) Serves(o Want) bool {
	return o == WantBrief || w&WantBrief == 0 && w|o == w
}

// A Node is what one or more names stand for. Its lists may be shared: they
// are not to be changed.
type Node struct {
	ID ID
	// Name is the name in the case in which it was reported.
	Name Name
	// Facts are merged over all that live contributions say. Columns are the
	// schema; with WantColumns also those that only live flows name.
	Facts Facts
	// Aliases are the other names of the node.
	Aliases []Name
	// Column describes the node where it is a column.
	Column *Field
	// Seen holds the facets that change with every run, by facet name: JSON.
	Seen map[string][]byte
	// Partitions are newest name first.
	Partitions []Partition
	// Updated is when the newest contribution began to say what it says;
	// Deleted is when the node was deleted. Nanoseconds since 1970, 0: none.
	Updated, Deleted int64
}

// A Partition is a slice of a data store. Created is in nanoseconds.
type Partition struct {
	Name    string
	Created int64
}

// An Ask says which flows are wanted.
type Ask struct {
	Layer Layer
	Dir   Direction // Downstream or Upstream
	// Whole: a data store of the frontier stands for its columns too.
	Whole bool
	// CoarseOnly leaves out table flows that are known by column.
	CoarseOnly bool
	// Kinds leaves out flows that are of none of these kinds; flows whose
	// kinds are not known stay. 0 is all.
	Kinds Kinds
	// Origins leaves out what other origins say. Empty is all.
	Origins []string
	// ThroughDeleted walks through data stores that are gone.
	ThroughDeleted bool
	// Level is how far from its root a walk is that asks.
	Level int
}

// A Flow is one direct edge as one contribution says it, between nodes.
// From is always the end in the frontier, whichever the direction.
type Flow struct {
	From, To ID
	Kinds    Kinds
	Coarse   bool
	// By says whose contribution this is: its subject may be a data store.
	By Key
	// Via is the global table that the contribution speaks of in place of From
	// or To, which is one of its members; zero: none.
	Via ID
}

// A Said is one contribution as it holds at the time of the view.
type Said struct {
	Record      Record
	Content     *Content // nil: nothing holds
	Provisional bool
	From        int64
}

// A Store is a graph that one writer changes. Reads may go on meanwhile.
type Store interface {
	Reader
	// Load tells s what the store has of what is needed, in one batch.
	Load(ctx context.Context, n Need, s *State) error
	// Apply makes a batch visible, whole or not at all, and durable before a
	// later one. A batch that is applied already is ignored.
	Apply(ctx context.Context, b Batch) error
	// Applied returns the mark of the last batch and the revision.
	Applied(ctx context.Context) (Mark, error)
	// Contributions yields the records after a key, in key order.
	Contributions(ctx context.Context, after Key) iter.Seq2[Record, error]
	// Names yields every name that was ever spoken of, columns aside.
	Names(ctx context.Context) iter.Seq2[Name, error]
	Close() error
}

// A Batch is what a range of the log does.
type Batch struct {
	// Mark is the state after the batch.
	Mark Mark
	// Region is the region whose log this is.
	Region  string
	Changes []Change
	Touches []Touch
	// Stream are the entries of the region's change stream that tell of the
	// changes, for stores that keep one.
	Stream []StreamEntry
}

// A StreamEntry is one entry of a region's change stream as stores keep it.
// They know no more of it than that entries count up from the one before; the
// first may have any number but 0.
type StreamEntry struct {
	Sequence uint64
	Value    []byte
}

// A Query is a search: which names have the text as a prefix, or in them.
type Query struct {
	Text string
	// DataStores, Columns, Processes: which kinds are wanted; none is all.
	DataStores, Columns, Processes bool
	Namespace                      string
	Tag                            string
	// Limit is how many at most; After is Page.Next of the page before.
	Limit int
	After string
}

// A Page is one page of a search, best first.
type Page struct {
	IDs []ID
	// Next asks for the page after this one; empty: there is none.
	Next string
	// Gaps are what could not be searched.
	Gaps []Gap
}

// A Conflict is a name that aliases would send to several nodes; it stays a
// node of its own.
type Conflict struct {
	Name    Name
	Targets []Name
}

// A NotFoundError says that nothing is known under a name.
type NotFoundError struct{ What string }

func (e *NotFoundError) Error() string { return fmt.Sprintf("nothing is known of %s", e.What) }

// ErrUnavailable is in the chain of errors that may pass when the question is
// asked again later.
var ErrUnavailable = errors.New("unavailable")
