package embedded

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"headwater/graph"
	"headwater/region/bus"
)

// FollowPath and SnapshotPath are where a handler answers, below its root.
const (
	FollowPath   = "/internal/region/v1/bus/follow"
	SnapshotPath = "/internal/region/v1/bus/snapshot"
)

// A request asks to follow or for a snapshot, as JSON.
type request struct {
	Cursor bus.Cursor `json:"cursor"`
	Filter bus.Filter `json:"filter"`
}

// An answer is a row of frames: their length in 4 bytes, big-endian, their
// kind in one, and as many bytes as the length says.
const (
	entryFrames  = 'e' // entries, each with its length before it
	nameFrame    = 'n' // names
	cursorFrame  = 'c' // the cursor of a snapshot, as JSON; the last
	refusalFrame = 'x' // why it ends, as JSON; the last
)

// maxFrame bounds a frame. An entry is not larger than the event that it is
// of, and those have 256 MiB at most.
const maxFrame = 512 << 20

// A refusal is an error as it is sent.
type refusal struct {
	// Reason is "expired", "diverged" or empty.
	Reason string     `json:"reason,omitempty"`
	Text   string     `json:"text"`
	Cursor bus.Cursor `json:"cursor"`
	First  uint64     `json:"first"`
	Last   bus.Cursor `json:"last"`
}

func refusalOf(err error) refusal {
	r := refusal{Text: err.Error()}
	var c *bus.CursorError
	if errors.As(err, &c) {
		r.Cursor, r.First, r.Last, r.Reason = c.Cursor, c.First, c.Last, "expired"
		if errors.Is(err, bus.ErrDiverged) {
			r.Reason = "diverged"
		}
	}
	return r
}

func (r *refusal) err() error {
	c := &bus.CursorError{Cursor: r.Cursor, First: r.First, Last: r.Last}
	switch r.Reason {
	case "expired":
		c.Reason = bus.ErrExpired
	case "diverged":
		c.Reason = bus.ErrDiverged
	default:
		return fmt.Errorf("the region says: %s", r.Text)
	}
	return c
}

// A framer makes frames in memory that is used again.
type framer struct{ b []byte }

// begin begins a frame, end returns it.
func (f *framer) begin(kind byte) { f.b = append(f.b[:0], 0, 0, 0, 0, kind) }

func (f *framer) end() ([]byte, error) {
	if len(f.b)-5 > maxFrame {
		return nil, fmt.Errorf("a frame of %d bytes: more than %d are not sent", len(f.b)-5, maxFrame)
	}
	binary.BigEndian.PutUint32(f.b, uint32(len(f.b)-5))
	return f.b, nil
}

func (f *framer) entries(entries []bus.Entry) ([]byte, error) {
	f.begin(entryFrames)
	for i := range entries {
		at := len(f.b)
		f.b = bus.AppendEntry(append(f.b, 0, 0, 0, 0), &entries[i])
		binary.BigEndian.PutUint32(f.b[at:], uint32(len(f.b)-at-4))
	}
	return f.end()
}

func (f *framer) names(names []graph.Name) ([]byte, error) {
	f.begin(nameFrame)
	f.b = bus.AppendNames(f.b, names)
	return f.end()
}

func (f *framer) json(kind byte, v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	f.begin(kind)
	f.b = append(f.b, b...)
	return f.end()
}

// readFrame reads a frame into memory that it may use, and returns it.
func readFrame(r io.Reader, room []byte) (kind byte, b []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, room, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > maxFrame {
		return 0, room, fmt.Errorf("a frame of %d bytes: %w", n, bus.ErrFormat)
	}
	b = room[:0]
	for len(b) < int(n) {
		// Not all at once: the length may be a lie.
		more := min(int(n)-len(b), 1<<20)
		at := len(b)
		b = append(b, make([]byte, more)...)
		if _, err := io.ReadFull(r, b[at:]); err != nil {
			return 0, b, err
		}
	}
	return head[4], b, nil
}

func entriesOf(b []byte) ([]bus.Entry, error) {
	var entries []bus.Entry
	for len(b) > 0 {
		if len(b) < 4 || uint64(binary.BigEndian.Uint32(b)) > uint64(len(b)-4) {
			return nil, fmt.Errorf("entries cut short: %w", bus.ErrFormat)
		}
		n := binary.BigEndian.Uint32(b)
		e, err := bus.DecodeEntry(b[4:][:n])
		if err != nil {
			return nil, err
		}
		entries, b = append(entries, e), b[4+n:]
	}
	return entries, nil
}
