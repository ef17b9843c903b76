package graph

import (
	"slices"
	"strings"
	"sync"
	"time"
)

// A Key names a contribution: what one origin says about one subject.
type Key struct {
	Subject ID
	Origin  string
}

// System returns the source system of an origin: what stands before a slash.
// What stands behind it keeps apart what one system says in several ways, so
// that one way does not replace the other.
func System(origin string) string {
	system, _, _ := strings.Cut(origin, "/")
	return system
}

// Derived returns the origin of what is derived from the SQL that an origin
// says: a key of its own, so that either can be replaced without the other.
func Derived(origin string) string { return origin + bySQL }

const bySQL = "/sql"

// DerivedFrom returns the origin that a derived one is derived from; false
// where it is none.
func DerivedFrom(origin string) (string, bool) { return strings.CutSuffix(origin, bySQL) }

// Compare orders keys by subject, then origin.
func (k Key) Compare(o Key) int {
	if c := k.Subject.Compare(o.Subject); c != 0 {
		return c
	}
	switch {
	case k.Origin < o.Origin:
		return -1
	case k.Origin > o.Origin:
		return 1
	}
	return 0
}

// RunState is what an event says of the state of its run.
type RunState uint8

// The run states. Declared is for what no run says: it takes effect at once.
const (
	Declared RunState = iota
	Started
	Running
	Completed
	Failed
	Aborted
	// Deleting ends what the origin said of the subject until a newer version.
	Deleting
)

var runStateNames = [...]string{"DECLARED", "START", "RUNNING", "COMPLETE", "FAIL", "ABORT", "DELETE"}

func (s RunState) String() string {
	if int(s) < len(runStateNames) {
		return runStateNames[s]
	}
	return "UNKNOWN"
}

// A Delta is what one message says about one subject.
type Delta struct {
	Subject Name
	Origin  string // openlineage, declared …; empty with Deleting: every origin
	// Run is the run's id, empty where there is no run.
	Run   string
	State RunState
	// Time is the event's time in nanoseconds since 1970, UTC.
	Time int64
	Says Content
	// Seen is what the event only refreshes.
	Seen []Seen

	// said is Says as it is stored, once the delta is sealed, and hash the hash
	// of that, 0 where it says nothing.
	said []byte
	hash uint64
}

// Seal brings what the delta says into its normal form, in which it is stored,
// unless it speaks of one data set twice. Planning needs that; done before, it
// is out of the way of what has to be planned in order. A sealed delta must not
// be changed.
func (d *Delta) Seal() {
	if d.said != nil {
		return
	}
	if distinct(d.Says.Reads, Name.ID) && distinct(d.Says.Writes, Name.ID) {
		d.Says.normalize()
	}
	room := sealing.Get().(*[]byte)
	defer sealing.Put(room)
	*room = AppendContent((*room)[:0], &d.Says)
	d.said = slices.Clone(*room)
	d.hash = hashOf(d.said, &d.Says)
}

// hashOf is the hash of a content, 0 where it says nothing.
func hashOf(encoded []byte, c *Content) uint64 {
	if len(encoded) > len(nothingSaid) || c.Streaming {
		return hash64(encoded)
	}
	return 0
}

var nothingSaid = AppendContent(nil, &Content{})

// sealing is memory in which contents are encoded.
var sealing = sync.Pool{New: func() any { return new([]byte) }}

// A Seen is what an event only refreshes of a node: facets that change with
// every run, partitions. It never moves the revision.
type Seen struct {
	Name Name
	// Facets is a JSON object of facets as the producer sent them, or empty.
	Facets []byte
	// Partitions are the slices that the run wrote.
	Partitions []string
}

// Key returns the key of the contribution that the delta is for.
func (d *Delta) Key() Key { return Key{Subject: d.Subject.ID(), Origin: d.Origin} }

// MaxClockSkew is how far ahead of its arrival an event's time may lie.
const MaxClockSkew = time.Hour

// ClampTime returns the event time that counts for a message that arrived at
// received: one that lies more than MaxClockSkew ahead is a producer's wrong
// clock and becomes the arrival.
func ClampTime(event, received time.Time) (t time.Time, clamped bool) {
	if event.Sub(received) > MaxClockSkew {
		return received, true
	}
	return event, false
}
