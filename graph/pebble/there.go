package pebble

import (
	"encoding/binary"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"headwater/graph"
)

// A there tells, without asking the disk, of what the store may have something:
// most that is asked for when new data comes is not there. What it tells to be
// there may be missing: a batch was not written, or two ids begin the same.
type there struct {
	mu sync.RWMutex // guards the two below
	// names holds what the ids of names begin with, those of the subjects of
	// all contributions among them; lives those of data stores that were ever
	// gone.
	names, lives map[uint64]struct{}
}

// open notes what the store has.
func (t *there) open(db *pebble.DB) error {
	t.names, t.lives = map[uint64]struct{}{}, map[uint64]struct{}{}
	for begin, set := range map[byte]map[uint64]struct{}{spaceName: t.names, spaceLife: t.lives} {
		err := scan(db, space(begin), func(rest, _ []byte) (bool, error) {
			id, _ := cutID(rest)
			set[head(id)] = struct{}{}
			return true, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func head(id graph.ID) uint64 { return binary.BigEndian.Uint64(id[:8]) }

func (t *there) hasName(id graph.ID) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	_, ok := t.names[head(id)]
	return ok
}

func (t *there) hasLife(id graph.ID) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	_, ok := t.lives[head(id)]
	return ok
}

// add notes what a batch will have written, all at once: who plans the next
// one asks all the time.
func (t *there) add(names, lives []graph.ID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range names {
		t.names[head(names[i])] = struct{}{}
	}
	for i := range lives {
		t.lives[head(lives[i])] = struct{}{}
	}
}
