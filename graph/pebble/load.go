package pebble

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"headwater/graph"
)

// Load implements graph.Store.
func (s *Store) Load(ctx context.Context, n graph.Need, st *graph.State) error {
	for _, k := range n.Contributions {
		r, parts, err := readContribution(s.db, k)
		if err != nil {
			return fmt.Errorf("load contribution %s of %s: %w", k.Subject, k.Origin, err)
		}
		st.PutContribution(k, r, parts)
	}
	for _, id := range n.Lives {
		life, err := readLife(s.db, id)
		if err != nil {
			return fmt.Errorf("load life of %s: %w", id, err)
		}
		st.PutLife(id, life)
	}
	for _, id := range n.Writers {
		var keys []graph.Key
		err := scan(s.db, space(spaceIndex).id(id), func(rest, v []byte) (bool, error) {
			if len(v) == 1 && v[0] == 1 {
				keys = append(keys, cutBy(rest))
			}
			return true, ctx.Err()
		})
		if err != nil {
			return fmt.Errorf("load writers of %s: %w", id, err)
		}
		st.PutWriters(id, keys)
	}
	return ctx.Err()
}

func readContribution(r pebble.Reader, k graph.Key) (*graph.Record, map[uint64][]byte, error) {
	b, err := get(r, recordKey(k))
	if err != nil || b == nil {
		return nil, nil, err
	}
	record, err := graph.DecodeRecord(b)
	if err != nil {
		return nil, nil, err
	}
	parts := map[uint64][]byte{}
	err = scan(r, partPrefix(k), func(rest, v []byte) (bool, error) {
		if len(rest) == 8 {
			parts[binary.BigEndian.Uint64(rest)] = append([]byte(nil), v...)
		}
		return true, nil
	})
	return &record, parts, err
}

func readLife(r pebble.Reader, id graph.ID) (graph.Life, error) {
	b, err := get(r, space(spaceLife).id(id))
	if err != nil || b == nil {
		return nil, err
	}
	return graph.DecodeLife(b)
}
