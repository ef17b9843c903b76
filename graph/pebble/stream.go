package pebble

import (
	"context"
	"encoding/binary"
	"errors"
	"iter"

	"github.com/cockroachdb/pebble/v2"

	"headwater/graph"
)

// Stream yields the entries of the region's change stream from a sequence on,
// in order, with those that are applied meanwhile or without. A value is the
// caller's only until the next one.
func (s *Store) Stream(ctx context.Context, from uint64) iter.Seq2[graph.StreamEntry, error] {
	return func(yield func(graph.StreamEntry, error) bool) {
		stopped := false
		err := s.stream(func(it *pebble.Iterator) error {
			for ok := it.SeekGE(space(spaceStream).u64(from)); ok; ok = it.Next() {
				v, err := it.ValueAndErr()
				if err = errors.Join(err, ctx.Err()); err != nil {
					return err
				}
				if !yield(graph.StreamEntry{Sequence: sequenceOf(it), Value: v}, nil) {
					stopped = true
					return nil
				}
			}
			return nil
		})
		if err != nil && !stopped {
			yield(graph.StreamEntry{}, err)
		}
	}
}

// StreamBounds returns the oldest and the newest sequence that are kept, 0 and
// 0 where none is.
func (s *Store) StreamBounds(context.Context) (first, last uint64, err error) {
	err = s.stream(func(it *pebble.Iterator) error {
		if it.First() {
			first = sequenceOf(it)
		}
		if it.Last() {
			last = sequenceOf(it)
		}
		return nil
	})
	return first, last, err
}

// TrimStream forgets the entries of the change stream up to a sequence. After
// a crash some may be there again.
func (s *Store) TrimStream(_ context.Context, through uint64) error {
	return s.db.DeleteRange(space(spaceStream).u64(0), space(spaceStream).u64(through+1), pebble.NoSync)
}

func (s *Store) stream(f func(*pebble.Iterator) error) (err error) {
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: space(spaceStream), UpperBound: space(spaceStream + 1)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	return errors.Join(f(it), it.Error())
}

func sequenceOf(it *pebble.Iterator) uint64 { return binary.BigEndian.Uint64(it.Key()[1:]) }
