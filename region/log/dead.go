package log

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
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

func deadID(offset uint64, index uint32) string { return fmt.Sprintf("%d.%d", offset, index) }

func parseDeadID(id string) (offset uint64, index uint32, err error) {
	o, i, _ := strings.Cut(id, ".")
	offset, err = strconv.ParseUint(o, 10, 64)
	n, ierr := strconv.ParseUint(i, 10, 32)
	if index = uint32(n); err != nil || ierr != nil || deadID(offset, index) != id {
		return 0, 0, fmt.Errorf("%q: %w; ids look like 1042.0", id, ErrNoDeadLetter)
	}
	return offset, index, nil
}

// Bury makes a dead letter durable; its ID follows from Offset and Index, so
// that the same letter buried twice is one.
func (l *Log) Bury(d DeadLetter) error {
	b := []byte{graph.FormatVersion}
	b = binary.BigEndian.AppendUint64(b, uint64(d.At.UnixNano()))
	b = binary.AppendUvarint(b, uint64(len(d.Reason)))
	b = append(b, d.Reason...)
	b = graph.AppendDelta(b, &d.Delta)
	return l.set(deadKey(d.Offset, d.Index), b)
}

func decodeDead(k, b []byte) (DeadLetter, error) {
	if len(k) != 13 {
		return DeadLetter{}, fmt.Errorf("dead letter with a key of %d bytes: %w", len(k), graph.ErrFormat)
	}
	d := DeadLetter{Offset: binary.BigEndian.Uint64(k[1:]), Index: binary.BigEndian.Uint32(k[9:])}
	d.ID = deadID(d.Offset, d.Index)
	bad := fmt.Errorf("dead letter %s of %d bytes: %w", d.ID, len(b), graph.ErrFormat)
	if len(b) < 10 || b[0] != graph.FormatVersion {
		return DeadLetter{}, bad
	}
	d.At = time.Unix(0, int64(binary.BigEndian.Uint64(b[1:]))).UTC()
	n, size := binary.Uvarint(b[9:])
	if size <= 0 || n > uint64(len(b)-9-size) {
		return DeadLetter{}, bad
	}
	rest := b[9+size:]
	d.Reason = string(rest[:n])
	var err error
	if d.Delta, err = graph.DecodeDelta(append([]byte(nil), rest[n:]...)); err != nil {
		return DeadLetter{}, fmt.Errorf("dead letter %s: %w", d.ID, err)
	}
	return d, nil
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
	release, err := l.use()
	if err != nil {
		return nil, err
	}
	defer release()
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
	k, b, err := l.dead(id)
	if err != nil {
		return DeadLetter{}, err
	}
	return decodeDead(k, b)
}

func (l *Log) dead(id string) (k, b []byte, err error) {
	offset, index, err := parseDeadID(id)
	if err != nil {
		return nil, nil, err
	}
	k = deadKey(offset, index)
	if b, err = l.get(k); err == nil && b == nil {
		err = fmt.Errorf("%s: %w", id, ErrNoDeadLetter)
	}
	return k, b, err
}

// DropDead forgets a dead letter, or returns ErrNoDeadLetter.
func (l *Log) DropDead(id string) error {
	k, _, err := l.dead(id)
	if err != nil {
		return err
	}
	release, err := l.use()
	if err != nil {
		return err
	}
	defer release()
	return l.db.Delete(k, pebble.Sync)
}
