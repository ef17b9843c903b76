package pebble

import (
	"context"
	"encoding/binary"
	"fmt"
	"iter"

	"headwater/graph"
)

// A Change tells which contribution made which revision, and the nodes whose
// answers it may alter.
type Change struct {
	Revision, Position uint64
	By                 graph.Key
	Nodes              []graph.ID
}

// Changes yields the changes after a revision, in order. They are cut at
// Options.KeepChanges: a first one that does not follow the revision asked for
// tells that some are gone.
func (s *Store) Changes(ctx context.Context, after uint64) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		err := scan(s.db, space(spaceChange), func(rest, v []byte) (bool, error) {
			c := Change{Revision: binary.BigEndian.Uint64(rest)}
			if c.Revision <= after {
				return true, nil
			}
			if err := c.decode(v); err != nil {
				return false, err
			}
			return yield(c, nil), ctx.Err()
		})
		if err != nil {
			yield(Change{}, err)
		}
	}
}

func (c *Change) encode() []byte {
	b := binary.BigEndian.AppendUint64([]byte{graph.FormatVersion}, c.Position)
	b = binary.AppendUvarint(b, uint64(len(c.Nodes)))
	for _, n := range c.Nodes {
		b = append(b, n[:]...)
	}
	return append(key(b).id(c.By.Subject), c.By.Origin...)
}

func (c *Change) decode(b []byte) error {
	bad := fmt.Errorf("change %d of %d bytes: %w", c.Revision, len(b), graph.ErrFormat)
	if len(b) < 9 || b[0] != graph.FormatVersion {
		return bad
	}
	c.Position = binary.BigEndian.Uint64(b[1:])
	n, size := binary.Uvarint(b[9:])
	if size <= 0 || n > uint64(len(b)) || len(b) < 9+size+(int(n)+1)*idLen {
		return bad
	}
	b = b[9+size:]
	for range n {
		var id graph.ID
		id, b = cutID(b)
		c.Nodes = append(c.Nodes, id)
	}
	c.By = cutBy(b)
	return nil
}
