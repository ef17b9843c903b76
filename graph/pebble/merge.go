package pebble

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/cockroachdb/pebble/v2"

	"headwater/graph"
)

// merger joins what was written of facets that are only seen, and of
// partitions: of a facet the newest, of a partition when it was first written.
// So they are written without being read.
var merger = &pebble.Merger{
	Merge: func(key, value []byte) (pebble.ValueMerger, error) {
		if key[0] == spaceOwner {
			return newOwned(value)
		}
		m := &seen{first: key[0] == spacePartition}
		return m, m.add(value)
	},
	// Pebble's own, so that a store from before can be opened and refused for
	// its version.
	Name: pebble.DefaultMerger.Name,
}

// A seen is a time and, for a facet, what was seen then.
type seen struct {
	first bool
	value []byte
}

func (s *seen) add(value []byte) error {
	if len(value) < 8 {
		return fmt.Errorf("seen value of %d bytes: %w", len(value), graph.ErrFormat)
	}
	if s.value == nil || s.wins(value) {
		s.value = bytes.Clone(value)
	}
	return nil
}

func (s *seen) wins(value []byte) bool {
	at, have := int64(binary.BigEndian.Uint64(value)), int64(binary.BigEndian.Uint64(s.value))
	if s.first {
		return at < have
	}
	return graph.Newer(at, value[8:], have, s.value[8:])
}

// MergeNewer implements pebble.ValueMerger.
func (s *seen) MergeNewer(value []byte) error { return s.add(value) }

// MergeOlder implements pebble.ValueMerger.
func (s *seen) MergeOlder(value []byte) error { return s.add(value) }

// Finish implements pebble.ValueMerger.
func (s *seen) Finish(bool) ([]byte, io.Closer, error) { return s.value, nil, nil }
