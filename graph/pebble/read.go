package pebble

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"headwater/graph"
)

// Reads counts what views have read of the store: rows, and scans of rows.
func (s *Store) Reads() uint64 { return s.reads.Load() }

// rows are the rows of one snapshot.
type rows struct {
	s    *Store
	snap *pebble.Snapshot
	far  Far // nil: all rows are in the folder
	mark graph.Mark

	pool sync.Mutex // guards free
	free []*pebble.Iterator
}

var _ graph.Raw = (*rows)(nil)

func (r *rows) Marks() map[string]graph.Mark { return map[string]graph.Mark{r.s.o.Region: r.mark} }

func (r *rows) Close() error {
	r.pool.Lock()
	defer r.pool.Unlock()
	var err error
	for _, it := range r.free {
		err = errors.Join(err, it.Close())
	}
	r.free = nil
	if r.far != nil {
		err = errors.Join(err, r.far.Close())
	}
	return errors.Join(err, r.snap.Close())
}

// scan is scan over the snapshot, with iterators that are used again: opening
// one costs more than a seek.
func (r *rows) scan(prefix []byte, f func(rest, value []byte) (bool, error)) error {
	return r.seek(prefix, nil, func(it *pebble.Iterator) (bool, error) {
		v, err := it.ValueAndErr()
		if err != nil {
			return false, err
		}
		if more, err := f(it.Key()[len(prefix):], v); err != nil || !more {
			return false, err
		}
		return it.Next(), nil
	})
}

// seek positions an iterator at the first key with the prefix that is not
// below from, and calls step at each place until it returns false. step moves
// the iterator on.
func (r *rows) seek(prefix, from []byte, step func(it *pebble.Iterator) (bool, error)) error {
	r.s.reads.Add(1)
	it, err := r.iterator()
	if err != nil {
		return err
	}
	it.SetBounds(prefix, after(prefix))
	if from == nil {
		from = prefix
	}
	ok := it.SeekGE(from)
	for ok && err == nil {
		ok, err = step(it)
	}
	if err = errors.Join(err, it.Error()); err != nil {
		return errors.Join(err, it.Close())
	}
	r.pool.Lock()
	r.free = append(r.free, it)
	r.pool.Unlock()
	return nil
}

func (r *rows) iterator() (*pebble.Iterator, error) {
	r.pool.Lock()
	if n := len(r.free); n > 0 {
		it := r.free[n-1]
		r.free = r.free[:n-1]
		r.pool.Unlock()
		return it, nil
	}
	r.pool.Unlock()
	return r.snap.NewIter(&pebble.IterOptions{})
}

// AliasTargets implements graph.Links.
func (r *rows) AliasTargets(from graph.ID) ([]graph.ID, error) {
	return r.ids(space(spaceAlias).id(from))
}

// AliasSources implements graph.Links.
func (r *rows) AliasSources(to graph.ID) ([]graph.ID, error) {
	return r.ids(space(spaceAliasReverse).id(to))
}

// ids lists the different ids that follow a prefix.
func (r *rows) ids(prefix key) ([]graph.ID, error) {
	var ids []graph.ID
	err := r.seek(prefix, nil, func(it *pebble.Iterator) (bool, error) {
		id, _ := cutID(it.Key()[len(prefix):])
		ids = append(ids, id)
		return it.SeekGE(after(append(prefix[:len(prefix):len(prefix)], id[:]...))), nil
	})
	return ids, err
}

// Life implements graph.Links.
func (r *rows) Life(id graph.ID) (graph.Life, error) {
	r.s.reads.Add(1)
	return readLife(r.snap, id)
}

// Names implements graph.Raw.
func (r *rows) Names(ctx context.Context, ids []graph.ID, emit func(graph.ID, graph.Name) error) error {
	var away []graph.ID
	for _, id := range ids {
		if r.far != nil && !id.IsColumn() {
			away = append(away, id)
			continue
		}
		r.s.reads.Add(1)
		k := space(spaceName).id(id)
		if id.IsColumn() {
			shared := pathID(id)
			there, err := get(r.snap, append(space(spaceColumn), shared[16:]...).id(id))
			if err != nil {
				return err
			}
			if there == nil {
				continue
			}
			k = space(spaceName).id(shared)
		}
		b, err := get(r.snap, k)
		if err != nil {
			return err
		}
		if b == nil {
			continue
		}
		n, err := graph.DecodeName(b)
		if err != nil {
			return err
		}
		if err := emit(id, n); err != nil {
			return err
		}
	}
	if len(away) > 0 {
		return r.far.Names(ctx, away, emit)
	}
	return ctx.Err()
}

// Flows implements graph.Raw.
func (r *rows) Flows(ctx context.Context, f graph.Ask, names []graph.ID, emit func(graph.ID, graph.Key, []graph.Target) error) error {
	if r.far != nil {
		return r.farFlows(ctx, f, names, emit)
	}
	space := flowPrefix(f.Layer, f.Dir)
	for _, name := range names {
		prefix := space.id(name)
		if f.Whole {
			prefix = space.base(name)
		}
		err := r.scan(prefix, func(rest, v []byte) (bool, error) {
			node := name
			if f.Whole {
				copy(node[16:], rest)
				rest = rest[8:]
			}
			targets, err := graph.DecodeTargets(v)
			if err != nil {
				return false, err
			}
			return true, emit(node, cutBy(rest), targets)
		})
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// Pieces implements graph.Raw: one piece for each thing that is said, however
// many say it.
func (r *rows) Pieces(ctx context.Context, names []graph.ID, emit func(graph.ID, graph.Piece) error) error {
	if r.far != nil {
		return r.far.Pieces(ctx, names, emit)
	}
	for _, name := range names {
		prefix := space(spacePiece).id(name)
		n := len(prefix)
		err := r.seek(prefix, nil, func(it *pebble.Iterator) (bool, error) {
			k := it.Key()
			v, err := it.ValueAndErr()
			if err != nil {
				return false, err
			}
			facts, err := graph.DecodeFacts(v)
			if err != nil {
				return false, err
			}
			p := graph.Piece{Rank: k[n], From: int64(^binary.BigEndian.Uint64(k[n+9:])), By: cutBy(k[n+17:]), Facts: facts}
			next := after(k[:n+9])
			if err := emit(name, p); err != nil {
				return false, err
			}
			return it.SeekGE(next), ctx.Err()
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Named implements graph.Raw: one row for each column.
func (r *rows) Named(ctx context.Context, base graph.ID, emit func(graph.NamedRow) error) error {
	if r.far != nil {
		return r.far.Named(ctx, []graph.ID{base}, func(_ graph.ID, row graph.NamedRow) error { return emit(row) })
	}
	prefix := space(spaceNamed).base(base)
	return r.seek(prefix, nil, func(it *pebble.Iterator) (bool, error) {
		column, rest := cutID(it.Key()[1:])
		display, _ := cutText(rest)
		if err := emit(graph.NamedRow{Column: column, Display: display}); err != nil {
			return false, err
		}
		return it.SeekGE(after(space(spaceNamed).id(column))), ctx.Err()
	})
}

// Seen implements graph.Raw.
func (r *rows) Seen(ctx context.Context, name graph.ID) (map[string][]byte, error) {
	seen := map[string][]byte{}
	if r.far != nil {
		return seen, r.far.Seen(ctx, []graph.ID{name}, func(_ graph.ID, facet string, json []byte) error {
			seen[facet] = json
			return nil
		})
	}
	err := r.scan(space(spaceSeen).id(name), func(rest, v []byte) (bool, error) {
		if len(v) > 8 {
			seen[string(rest)] = append([]byte(nil), v[8:]...)
		}
		return true, nil
	})
	return seen, err
}

// Partitions implements graph.Raw.
func (r *rows) Partitions(ctx context.Context, name graph.ID, emit func(graph.Partition) error) error {
	if r.far != nil {
		return r.far.Partitions(ctx, []graph.ID{name}, func(_ graph.ID, p graph.Partition) error { return emit(p) })
	}
	return r.scan(space(spacePartition).id(name), func(rest, v []byte) (bool, error) {
		if len(v) != 8 {
			return false, graph.ErrFormat
		}
		return true, errors.Join(ctx.Err(), emit(graph.Partition{Name: string(rest), Created: int64(binary.BigEndian.Uint64(v))}))
	})
}

// Speakers implements graph.Raw.
func (r *rows) Speakers(ctx context.Context, names []graph.ID, emit func(graph.ID, graph.Key) error) error {
	if r.far != nil {
		return r.far.Speakers(ctx, names, false, emit)
	}
	for _, name := range names {
		err := r.scan(space(spaceIndex).id(name), func(rest, _ []byte) (bool, error) {
			return true, emit(name, cutBy(rest))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Contributions implements graph.Raw.
func (r *rows) Contributions(ctx context.Context, keys []graph.Key, emit func(*graph.Contribution) error) error {
	if r.far != nil {
		return r.farContributions(ctx, keys, emit)
	}
	for _, want := range keys {
		found := []graph.Key{want}
		if want.Origin == "" {
			found = nil
			err := r.scan(recordKey(want), func(rest, _ []byte) (bool, error) {
				found = append(found, graph.Key{Subject: want.Subject, Origin: string(rest)})
				return true, nil
			})
			if err != nil {
				return err
			}
		}
		for _, k := range found {
			record, parts, err := readContribution(r.snap, k)
			if err != nil {
				return err
			}
			if record == nil {
				continue
			}
			if err := emit(graph.NewContribution(*record, parts)); err != nil {
				return err
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// Records implements graph.Raw.
func (r *rows) Records(ctx context.Context, subject graph.ID, emit func(*graph.Record) error) error {
	if r.far != nil {
		return r.farRecords(ctx, []graph.Key{{Subject: subject}}, emit)
	}
	return r.scan(space(spaceRecord).id(subject), func(_, v []byte) (bool, error) {
		record, err := graph.DecodeRecord(v)
		if err != nil {
			return false, err
		}
		return true, errors.Join(ctx.Err(), emit(&record))
	})
}

// AliasedNames implements graph.Raw.
func (r *rows) AliasedNames(ctx context.Context, last graph.ID, emit func(graph.ID) (bool, error)) error {
	prefix := space(spaceAlias)
	from := prefix
	if !last.IsZero() {
		from = after(prefix.id(last))
	}
	return r.seek(prefix, from, func(it *pebble.Iterator) (bool, error) {
		id, _ := cutID(it.Key()[1:])
		next := after(space(spaceAlias).id(id))
		if more, err := emit(id); err != nil || !more {
			return false, err
		}
		return it.SeekGE(next), ctx.Err()
	})
}
