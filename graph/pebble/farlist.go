package pebble

import (
	"context"
	"encoding/binary"
	"errors"
	"iter"
	"maps"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"headwater/graph"
)

// errEnough ends a list that the caller reads no further.
var errEnough = errors.New("enough is read")

// farContributions is Store.Contributions.
func (s *Store) farContributions(ctx context.Context, after graph.Key) iter.Seq2[graph.Record, error] {
	return func(yield func(graph.Record, error) bool) {
		from := space(spaceRecord)
		if after != (graph.Key{}) {
			from = recordKey(after).byte(0)
		}
		err := s.list(ctx, spaceRecord, from, contributionsAtOnce, func(r *rows, keys, values [][]byte) error {
			refs := make([]RecordRef, len(keys))
			for i := range keys {
				refs[i] = RecordRef{cutBy(keys[i]), binary.BigEndian.Uint64(values[i])}
			}
			records, err := r.records(ctx, refs)
			if err != nil {
				return err
			}
			for _, record := range records {
				if !yield(*record, nil) {
					return errEnough
				}
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(graph.Record{}, err)
		}
	}
}

// farNames is Store.Names.
func (s *Store) farNames(ctx context.Context) iter.Seq2[graph.Name, error] {
	return func(yield func(graph.Name, error) bool) {
		// Ids of paths of columns have no kind, and come before all others.
		err := s.list(ctx, spaceName, space(spaceName).byte(1<<6), chunk, func(r *rows, keys, _ [][]byte) error {
			ids := make([]graph.ID, len(keys))
			for i := range keys {
				ids[i], _ = cutID(keys[i])
			}
			names := make(map[graph.ID]graph.Name, len(ids))
			if err := r.far.Names(ctx, ids, func(id graph.ID, n graph.Name) error {
				names[id] = n
				return nil
			}); err != nil {
				return err
			}
			for _, id := range slices.SortedFunc(maps.Keys(names), graph.ID.Compare) {
				if !yield(names[id], nil) {
					return errEnough
				}
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(graph.Name{}, err)
		}
	}
}

// list calls f with what stands in a space from a key on, so many at a time, as
// of the newest state. The keys come without the space.
func (s *Store) list(ctx context.Context, in byte, from key, most int, f func(r *rows, keys, values [][]byte) error) (err error) {
	st, err := s.take()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.release()) }()
	for {
		var keys, values [][]byte
		if err := st.seek(space(in), from, func(it *pebble.Iterator) (bool, error) {
			v, err := it.ValueAndErr()
			if err != nil {
				return false, err
			}
			keys, values = append(keys, slices.Clone(it.Key()[1:])), append(values, slices.Clone(v))
			return len(keys) < most && it.Next(), nil
		}); err != nil {
			return err
		}
		if len(keys) == 0 {
			return ctx.Err()
		}
		if err := f(&st.rows, keys, values); err != nil {
			return err
		}
		if len(keys) < most {
			return ctx.Err()
		}
		from = append(space(in), keys[len(keys)-1]...).byte(0)
	}
}
