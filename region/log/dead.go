package log

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"headwater/graph"
)

// A DeadLetter is a delta that could not be planned, set aside so that what
// follows it is not held up.
type DeadLetter struct {
	// ID is the offset of its entry, and its place in it.
	ID     string
	Offset uint64
	Index  uint32
	At     time.Time
	Reason string
	Delta  graph.Delta
}

func deadKey(offset uint64, index uint32) []byte {
	return binary.BigEndian.AppendUint32(numbered(spaceDead, offset), index)
}

// ErrNoDeadLetter is returned for an id that is not a dead letter's.
var ErrNoDeadLetter = errors.New("no such dead letter")

func parseDeadID(id string) (offset uint64, index uint32, err error) {
	if _, err := fmt.Sscanf(id, "%d.%d", &offset, &index); err != nil {
		return 0, 0, fmt.Errorf("%q: %w; ids look like 1042.0", id, ErrNoDeadLetter)
	}
	return offset, index, nil
}

// Bury makes a dead letter durable. Its ID is set. The same letter buried
// twice is one.
func (l *Log) Bury(d DeadLetter) error {
	b := []byte{graph.FormatVersion}
	b = binary.BigEndian.AppendUint64(b, uint64(d.At.UnixNano()))
	b = binary.AppendUvarint(b, uint64(len(d.Reason)))
	b = append(b, d.Reason...)
	b = graph.AppendDelta(b, &d.Delta)
	return l.db.Set(deadKey(d.Offset, d.Index), b, pebble.Sync)
}

func decodeDead(k, b []byte) (DeadLetter, error) {
	bad := fmt.Errorf("dead letter of %d bytes: %w", len(b), graph.ErrFormat)
	if len(k) != 13 || len(b) < 10 || b[0] != graph.FormatVersion {
		return DeadLetter{}, bad
	}
	d := DeadLetter{Offset: binary.BigEndian.Uint64(k[1:]), Index: binary.BigEndian.Uint32(k[9:]), At: time.Unix(0, int64(binary.BigEndian.Uint64(b[1:]))).UTC()}
	d.ID = fmt.Sprintf("%d.%d", d.Offset, d.Index)
	n, size := binary.Uvarint(b[9:])
	if size <= 0 || n > uint64(len(b)-9-size) {
		return DeadLetter{}, bad
	}
	rest := b[9+size:]
	d.Reason = string(rest[:n])
	var err error
	d.Delta, err = graph.DecodeDelta(append([]byte(nil), rest[n:]...))
	return d, err
}

// Dead lists dead letters after an id (empty: from the first), oldest first.
func (l *Log) Dead(after string, limit int) (letters []DeadLetter, err error) {
	lower := []byte{spaceDead}
	if after != "" {
		offset, index, err := parseDeadID(after)
		if err != nil {
			return nil, err
		}
		lower = append(deadKey(offset, index), 0)
	}
	it, err := l.db.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: []byte{spaceDead + 1}})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for ok := it.First(); ok && len(letters) < limit; ok = it.Next() {
		v, err := it.ValueAndErr()
		if err != nil {
			return nil, err
		}
		d, err := decodeDead(it.Key(), v)
		if err != nil {
			return nil, err
		}
		letters = append(letters, d)
	}
	return letters, it.Error()
}

// DeadByID returns one dead letter, or ErrNoDeadLetter.
func (l *Log) DeadByID(id string) (DeadLetter, error) {
	offset, index, err := parseDeadID(id)
	if err != nil {
		return DeadLetter{}, err
	}
	k := deadKey(offset, index)
	b, err := l.get(k)
	if err != nil {
		return DeadLetter{}, err
	}
	if b == nil {
		return DeadLetter{}, fmt.Errorf("%s: %w", id, ErrNoDeadLetter)
	}
	return decodeDead(k, b)
}

// DropDead forgets a dead letter.
func (l *Log) DropDead(id string) error {
	d, err := l.DeadByID(id)
	if err != nil {
		return err
	}
	return l.db.Delete(deadKey(d.Offset, d.Index), pebble.Sync)
}
