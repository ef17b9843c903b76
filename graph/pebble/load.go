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
	if s.o.Elsewhere != nil {
		return s.farLoad(ctx, n, st)
	}
	for _, k := range n.Contributions {
		if !s.there.hasName(k.Subject) {
			st.PutRecord(k, nil)
			continue
		}
		r, err := readRecord(s.db, k)
		if err != nil {
			return fmt.Errorf("load contribution %s of %s: %w", k.Subject, k.Origin, err)
		}
		st.PutRecord(k, r)
	}
	for _, k := range n.Newest {
		parts := map[uint64][]byte{}
		for _, h := range st.Contribution(k).Record.Newest() {
			b, err := get(s.db, partPrefix(k).u64(h))
			if err != nil {
				return fmt.Errorf("load what contribution %s of %s says last: %w", k.Subject, k.Origin, err)
			}
			if b != nil {
				parts[h] = b
			}
		}
		st.PutNewest(k, parts)
	}
	for _, k := range n.Parts {
		parts, err := readParts(s.db, k)
		if err != nil {
			return fmt.Errorf("load what contribution %s of %s says: %w", k.Subject, k.Origin, err)
		}
		st.PutParts(k, parts)
	}
	if err := s.loadLives(n.Lives, st); err != nil {
		return err
	}
	for _, id := range n.Writers {
		var keys []graph.Key
		err := scan(s.db, space(spaceWriters).id(id), func(rest, _ []byte) (bool, error) {
			keys = append(keys, cutBy(rest))
			return true, ctx.Err()
		})
		if err != nil {
			return fmt.Errorf("load writers of %s: %w", id, err)
		}
		st.PutWriters(id, keys)
	}
	return ctx.Err()
}

func (s *Store) loadLives(ids []graph.ID, st *graph.State) error {
	for _, id := range ids {
		if !s.there.hasLife(id) {
			st.PutLife(id, nil)
			continue
		}
		life, err := readLife(s.db, id)
		if err != nil {
			return fmt.Errorf("load life of %s: %w", id, err)
		}
		st.PutLife(id, life)
	}
	return nil
}

func readContribution(r pebble.Reader, k graph.Key) (*graph.Record, map[uint64][]byte, error) {
	record, err := readRecord(r, k)
	if err != nil || record == nil {
		return nil, nil, err
	}
	parts, err := readParts(r, k)
	return record, parts, err
}

func readRecord(r pebble.Reader, k graph.Key) (*graph.Record, error) {
	b, err := get(r, recordKey(k))
	if err != nil || b == nil {
		return nil, err
	}
	record, err := graph.DecodeRecord(b)
	return &record, err
}

// readParts returns the stored form of the parts of a contribution, by hash.
func readParts(r pebble.Reader, k graph.Key) (map[uint64][]byte, error) {
	parts := map[uint64][]byte{}
	err := scan(r, partPrefix(k), func(rest, v []byte) (bool, error) {
		if len(rest) == 8 {
			parts[binary.BigEndian.Uint64(rest)] = append([]byte(nil), v...)
		}
		return true, nil
	})
	return parts, err
}

func readLife(r pebble.Reader, id graph.ID) (graph.Life, error) {
	b, err := get(r, space(spaceLife).id(id))
	if err != nil || b == nil {
		return nil, err
	}
	return graph.DecodeLife(b)
}
