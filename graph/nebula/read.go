package nebula

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"headwater/graph"
	"headwater/graph/pebble"
)

// A far is the rows of one view.
type far struct {
	e       *engine
	ordinal uint64
	once    sync.Once
}

var _ pebble.Far = (*far)(nil)

// At implements pebble.Elsewhere.
func (e *engine) At() pebble.Far {
	e.closed.take(e.last)
	return &far{e: e, ordinal: e.last}
}

// Close implements pebble.Far.
func (r *far) Close() error {
	r.once.Do(func() { r.e.closed.release(r.ordinal) })
	return nil
}

// edges reads the rows of a type that are in the view, sorted by their start.
func (r *far) edges(ctx context.Context, table uint8, vids []graph.ID, f func(rows answer) error) error {
	return r.e.edges(ctx, table, false, vids, nil, func(_ []graph.ID, rows answer) error { return f(r.seen(rows)) })
}

// seen leaves of an answer what is in the view, sorted by start.
func (r *far) seen(rows answer) answer {
	r.e.closed.visible(r.ordinal, func(visible func(*rowKey, uint64) bool) {
		rows = slices.DeleteFunc(rows, func(row edgeRow) bool { return !visible(&row.key, row.opened()) })
	})
	slices.SortFunc(rows, func(a, b edgeRow) int { return a.key.src.Compare(b.key.src) })
	return rows
}

// Names implements pebble.Far.
func (r *far) Names(ctx context.Context, ids []graph.ID, emit func(graph.ID, graph.Name) error) error {
	for len(ids) > 0 {
		some := ids[:min(len(ids), frontier)]
		ids = ids[len(some):]
		rs, err := r.e.p.run(ctx, fetchNodes, map[string]any{"ids": texted(slices.Compact(slices.Clone(some)))})
		if err != nil {
			return err
		}
		r.e.rows.Add(uint64(len(rs.GetRows())))
		for _, row := range rs.GetRows() {
			id, err := parseVID(row.Values[0].GetSVal())
			if err != nil {
				return err
			}
			v := row.Values[1:]
			n := graph.Name{Kind: graph.Kind(v[0].GetIVal()), Region: string(v[1].GetSVal()), Namespace: string(v[2].GetSVal()), Name: string(v[3].GetSVal())}
			k := rowKey{table: nodeTable, src: id}
			in := false
			r.e.closed.visible(r.ordinal, func(visible func(*rowKey, uint64) bool) { in = visible(&k, uint64(v[4].GetIVal())) })
			if !in {
				continue
			}
			if n.ID() != id {
				return fmt.Errorf("vertex %s is named %s, which is another id: the space is damaged", id, n)
			}
			if err := emit(id, n); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// Flows implements pebble.Far.
func (r *far) Flows(ctx context.Context, layer graph.Layer, dir graph.Direction, nodes []graph.ID, emit func(graph.ID, graph.Key, []graph.Target) error) error {
	a := adjacency{table: flowTable(layer), reverse: dir == graph.Upstream}
	var unknown []graph.ID
	var stamps []uint32
	for _, node := range nodes {
		a.node = node
		rows, stamp, ok := r.e.cache.get(&a)
		if !ok {
			unknown, stamps = append(unknown, node), append(stamps, stamp)
			continue
		}
		if err := r.targets(a, rows, emit); err != nil {
			return err
		}
	}
	return r.e.edges(ctx, a.table, a.reverse, unknown, nil, func(some []graph.ID, answered answer) error {
		byNode := make(map[graph.ID][]flowRow, len(some))
		sayers := map[string]graph.Key{}
		for i := range answered {
			row := &answered[i]
			by, ok := sayers[string(row.text(0))]
			if !ok {
				var err error
				if by, err = parseSayer(row.text(0)); err != nil {
					return err
				}
				sayers[string(row.text(0))] = by
			}
			node := row.start(a.reverse)
			byNode[node] = append(byNode[node], flowRow{by: by, to: row.start(!a.reverse), rank: row.key.rank,
				kinds: graph.Kinds(row.number(1)), coarse: row.truth(2), opened: row.opened()})
		}
		for i, node := range some {
			a.node = node
			rows := byNode[node]
			slices.SortFunc(rows, func(x, y flowRow) int { return compareRows(&x, &y) })
			r.e.cache.put(&a, stamps[i], rows)
			if err := r.targets(a, rows, emit); err != nil {
				return err
			}
		}
		stamps = stamps[len(some):]
		return nil
	})
}

// targets emits the flows of one node that are in the view, by who says so.
func (r *far) targets(a adjacency, rows []flowRow, emit func(graph.ID, graph.Key, []graph.Target) error) error {
	var targets []graph.Target
	var ends []int // of the targets of a contribution
	var by []graph.Key
	r.e.closed.visible(r.ordinal, func(visible func(*rowKey, uint64) bool) {
		for i := range rows {
			row := &rows[i]
			k := row.key(&a)
			if !visible(&k, row.opened) {
				continue
			}
			if n := len(by); n == 0 || by[n-1] != row.by {
				by, ends = append(by, row.by), append(ends, len(targets))
			}
			targets = append(targets, graph.Target{ID: row.to, Kinds: row.kinds, Coarse: row.coarse})
			ends[len(ends)-1] = len(targets)
		}
	})
	from := 0
	for i, k := range by {
		if err := emit(a.node, k, targets[from:ends[i]:ends[i]]); err != nil {
			return err
		}
		from = ends[i]
	}
	return nil
}

// A piece is what is light of a piece: by columns of says.
type piece struct {
	key           rowKey
	by            graph.Key
	place, digest int64
	since         int64
}

// Pieces implements pebble.Far: who says what is read first, and then what is
// said, once.
func (r *far) Pieces(ctx context.Context, names []graph.ID, emit func(graph.ID, graph.Piece) error) error {
	return r.edges(ctx, saysTable, names, func(rows answer) error {
		pieces := make([]piece, len(rows))
		for i := range rows {
			row := &rows[i]
			by, err := parseSayer(row.text(0))
			if err != nil {
				return err
			}
			pieces[i] = piece{row.key, by, row.number(1), row.number(2), row.number(3)}
		}
		slices.SortFunc(pieces, func(a, b piece) int {
			return cmp.Or(a.key.src.Compare(b.key.src), cmp.Compare(a.place, b.place), cmp.Compare(uint64(a.digest), uint64(b.digest)), cmp.Compare(b.since, a.since), a.by.Compare(b.by))
		})
		pieces = slices.CompactFunc(pieces, func(a, b piece) bool {
			return a.key.src == b.key.src && a.place == b.place && a.digest == b.digest
		})
		for some := range slices.Chunk(pieces, blobsAtOnce) {
			keys := make([]rowKey, len(some))
			for i := range some {
				keys[i] = some[i].key
			}
			said, err := r.e.blobsOf(ctx, keys)
			if err != nil {
				return err
			}
			for i, p := range some {
				facts, err := graph.DecodeFacts(said[i])
				if err != nil {
					return err
				}
				if err := emit(p.key.src, graph.Piece{Rank: uint8(p.place), From: p.since, By: p.by, Facts: facts}); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// Named implements pebble.Far: one row for each column.
func (r *far) Named(ctx context.Context, bases []graph.ID, emit func(graph.ID, graph.NamedRow) error) error {
	return r.edges(ctx, namedTable, bases, func(rows answer) error {
		slices.SortFunc(rows, func(a, b edgeRow) int {
			return cmp.Or(a.key.dst.Compare(b.key.dst), slices.Compare(a.text(0), b.text(0)))
		})
		for i := range rows {
			column := rows[i].key.dst
			if i > 0 && rows[i-1].key.dst == column {
				continue
			}
			if err := emit(rows[i].key.src, graph.NamedRow{Column: column, Display: string(rows[i].text(0))}); err != nil {
				return err
			}
		}
		return nil
	})
}

// Speakers implements pebble.Far.
func (r *far) Speakers(ctx context.Context, names []graph.ID, wrote bool, emit func(graph.ID, graph.Key) error) error {
	table := uint8(speaksTable)
	if wrote {
		table = wroteTable
	}
	type speaker struct {
		name graph.ID
		by   graph.Key
	}
	return r.edges(ctx, table, names, func(rows answer) error {
		all := make([]speaker, len(rows))
		for i := range rows {
			by, err := parseSayer(rows[i].text(0))
			if err != nil {
				return err
			}
			all[i] = speaker{rows[i].key.src, by}
		}
		slices.SortFunc(all, func(a, b speaker) int { return cmp.Or(a.name.Compare(b.name), a.by.Compare(b.by)) })
		for _, s := range all {
			if err := emit(s.name, s.by); err != nil {
				return err
			}
		}
		return nil
	})
}

// A seenRow is a facet that was seen; sliceRow is a partition.
type (
	seenRow struct {
		key   rowKey
		facet string
		at    int64
	}
	sliceRow struct {
		key     rowKey
		name    string
		created int64
	}
)

// Seen implements pebble.Far.
func (r *far) Seen(ctx context.Context, names []graph.ID, emit func(graph.ID, string, []byte) error) error {
	rows, err := r.seenRows(ctx, names)
	if err != nil {
		return err
	}
	contents, err := r.e.contents(ctx, rows)
	if err != nil {
		return err
	}
	for i, row := range rows {
		if err := emit(row.key.src, row.facet, contents[i]); err != nil {
			return err
		}
	}
	return nil
}

func (r *far) seenRows(ctx context.Context, names []graph.ID) (all []seenRow, err error) {
	err = r.edges(ctx, seenTable, names, func(rows answer) error {
		for i := range rows {
			all = append(all, seenRow{rows[i].key, string(rows[i].text(0)), rows[i].number(1)})
		}
		return nil
	})
	return all, err
}

// contents reads what was seen.
func (e *engine) contents(ctx context.Context, rows []seenRow) ([][]byte, error) {
	keys := make([]rowKey, len(rows))
	for i := range rows {
		keys[i] = rows[i].key
	}
	return e.blobsOf(ctx, keys)
}

// Partitions implements pebble.Far.
func (r *far) Partitions(ctx context.Context, names []graph.ID, emit func(graph.ID, graph.Partition) error) error {
	return r.slices(ctx, names, nil, func(row sliceRow) error {
		return emit(row.key.src, graph.Partition{Name: row.name, Created: row.created})
	})
}

// slices reads partitions; ends, if not nil, are the vertices of those that are
// wanted.
func (r *far) slices(ctx context.Context, names, ends []graph.ID, f func(sliceRow) error) error {
	return r.e.edges(ctx, sliceTable, false, names, ends, func(_ []graph.ID, rows answer) error {
		for _, row := range r.seen(rows) {
			if err := f(sliceRow{row.key, string(row.text(0)), row.number(1)}); err != nil {
				return err
			}
		}
		return nil
	})
}

// Records implements pebble.Far.
func (r *far) Records(ctx context.Context, refs []pebble.RecordRef) ([]*graph.Record, error) {
	ids := make([]graph.ID, len(refs))
	for i, ref := range refs {
		ids[i] = recordID(ref.Key, ref.Hash)
	}
	contents, err := r.e.blobs(ctx, ids)
	if err != nil {
		return nil, err
	}
	records := make([]*graph.Record, len(refs))
	for i, b := range contents {
		if b == nil {
			continue
		}
		record, err := graph.DecodeRecord(b)
		if err == nil && record.Key() != refs[i].Key {
			err = errors.New("it is another one's")
		}
		if err != nil {
			return nil, fmt.Errorf("record of %s by %s: %w", refs[i].Key.Subject, refs[i].Key.Origin, err)
		}
		records[i] = &record
	}
	return records, nil
}

// Parts implements pebble.Far.
func (r *far) Parts(ctx context.Context, refs []pebble.PartRef) ([][]byte, error) {
	ids := make([]graph.ID, len(refs))
	for i, ref := range refs {
		ids[i] = partID(ref.Key, ref.Hash)
	}
	return r.e.blobs(ctx, ids)
}
