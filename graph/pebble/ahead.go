package pebble

import (
	"context"

	"headwater/graph"
)

var _ graph.Ahead = (*viewed)(nil)

// Costly implements graph.Ahead.
func (v *viewed) Costly() bool { return v.far != nil }

// Ahead implements graph.Ahead.
func (v *viewed) Ahead(ctx context.Context, r graph.Reading) (graph.Raw, error) {
	a := &ahead{Raw: v, names: map[graph.ID]*graph.Name{}, pieces: map[graph.ID][]graph.Piece{}, named: map[graph.ID][]graph.NamedRow{},
		speakers: map[graph.ID][]graph.Key{}, records: map[graph.ID][]*graph.Record{}, seen: map[graph.ID]map[string][]byte{}, partitions: map[graph.ID][]graph.Partition{}}
	if err := a.known(ctx, v, &r); err != nil {
		return nil, err
	}
	return a, a.extras(ctx, v.far, &r)
}

// An ahead is a Raw of which some has been read: what is in its maps.
type ahead struct {
	graph.Raw
	names      map[graph.ID]*graph.Name // nil: there is none
	pieces     map[graph.ID][]graph.Piece
	named      map[graph.ID][]graph.NamedRow
	speakers   map[graph.ID][]graph.Key
	records    map[graph.ID][]*graph.Record
	seen       map[graph.ID]map[string][]byte
	partitions map[graph.ID][]graph.Partition
}

// known reads what is known of names.
func (a *ahead) known(ctx context.Context, v *viewed, r *graph.Reading) error {
	if len(r.Names) == 0 {
		return nil
	}
	for _, id := range r.Names {
		a.names[id] = nil
	}
	if err := v.far.Names(ctx, r.Names, func(id graph.ID, n graph.Name) error {
		a.names[id] = &n
		return nil
	}); err != nil {
		return err
	}
	silent := r.Names // of which nothing is said
	if !r.Past {
		var err error
		if silent, err = a.said(ctx, v.far, r.Names); err != nil {
			return err
		}
	}
	for _, id := range silent {
		a.speakers[id] = nil
	}
	if len(silent) > 0 {
		if err := v.far.Speakers(ctx, silent, false, func(id graph.ID, k graph.Key) error {
			a.speakers[id] = append(a.speakers[id], k)
			return nil
		}); err != nil {
			return err
		}
	}
	var subjects []graph.Key
	for _, id := range r.Nodes {
		if _, ok := a.names[id]; ok && id.Kind() == graph.ProcessKind {
			subjects = append(subjects, graph.Key{Subject: id})
			a.records[id] = nil
		}
	}
	return v.farRecords(ctx, subjects, func(record *graph.Record) error {
		id := record.Subject.ID()
		a.records[id] = append(a.records[id], record)
		return nil
	})
}

// said reads what is said of names now, and lists those of which nothing is.
func (a *ahead) said(ctx context.Context, far Far, names []graph.ID) (silent []graph.ID, err error) {
	var bases []graph.ID
	for _, id := range names {
		a.pieces[id] = nil
		if id.Kind() == graph.DataStoreKind {
			a.named[id] = nil
			bases = append(bases, id)
		}
	}
	if err := far.Pieces(ctx, names, func(id graph.ID, p graph.Piece) error {
		a.pieces[id] = append(a.pieces[id], p)
		return nil
	}); err != nil {
		return nil, err
	}
	if len(bases) > 0 {
		if err := far.Named(ctx, bases, func(id graph.ID, row graph.NamedRow) error {
			a.named[id] = append(a.named[id], row)
			return nil
		}); err != nil {
			return nil, err
		}
	}
	for _, id := range names {
		if len(a.pieces[id]) == 0 {
			silent = append(silent, id)
		}
	}
	return silent, nil
}

// extras reads what changes with every run.
func (a *ahead) extras(ctx context.Context, far Far, r *graph.Reading) error {
	all := append(append([]graph.ID(nil), r.Names...), r.Extras...)
	if len(all) == 0 {
		return nil
	}
	if r.Want&graph.WantSeen != 0 {
		for _, id := range all {
			a.seen[id] = map[string][]byte{}
		}
		if err := far.Seen(ctx, all, func(id graph.ID, facet string, json []byte) error {
			a.seen[id][facet] = json
			return nil
		}); err != nil {
			return err
		}
	}
	if r.Want&graph.WantPartitions == 0 {
		return nil
	}
	for _, id := range all {
		a.partitions[id] = nil
	}
	return far.Partitions(ctx, all, func(id graph.ID, p graph.Partition) error {
		a.partitions[id] = append(a.partitions[id], p)
		return nil
	})
}

// allIn reports whether a map has all of some keys.
func allIn[V any](m map[graph.ID]V, ids []graph.ID) bool {
	for _, id := range ids {
		if _, ok := m[id]; !ok {
			return false
		}
	}
	return true
}

// each emits what a map has under keys.
func each[V any](m map[graph.ID][]V, ids []graph.ID, emit func(graph.ID, V) error) error {
	for _, id := range ids {
		for _, v := range m[id] {
			if err := emit(id, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// The methods below implement graph.Raw.

func (a *ahead) Names(ctx context.Context, ids []graph.ID, emit func(graph.ID, graph.Name) error) error {
	if !allIn(a.names, ids) {
		return a.Raw.Names(ctx, ids, emit)
	}
	for _, id := range ids {
		if n := a.names[id]; n != nil {
			if err := emit(id, *n); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *ahead) Pieces(ctx context.Context, ids []graph.ID, emit func(graph.ID, graph.Piece) error) error {
	if !allIn(a.pieces, ids) {
		return a.Raw.Pieces(ctx, ids, emit)
	}
	return each(a.pieces, ids, emit)
}

func (a *ahead) Named(ctx context.Context, base graph.ID, emit func(graph.NamedRow) error) error {
	ids := []graph.ID{base}
	if !allIn(a.named, ids) {
		return a.Raw.Named(ctx, base, emit)
	}
	return each(a.named, ids, func(_ graph.ID, row graph.NamedRow) error { return emit(row) })
}

func (a *ahead) Speakers(ctx context.Context, ids []graph.ID, emit func(graph.ID, graph.Key) error) error {
	if !allIn(a.speakers, ids) {
		return a.Raw.Speakers(ctx, ids, emit)
	}
	return each(a.speakers, ids, emit)
}

func (a *ahead) Records(ctx context.Context, subject graph.ID, emit func(*graph.Record) error) error {
	ids := []graph.ID{subject}
	if !allIn(a.records, ids) {
		return a.Raw.Records(ctx, subject, emit)
	}
	return each(a.records, ids, func(_ graph.ID, record *graph.Record) error { return emit(record) })
}

func (a *ahead) Seen(ctx context.Context, name graph.ID) (map[string][]byte, error) {
	if seen, ok := a.seen[name]; ok {
		return seen, nil
	}
	return a.Raw.Seen(ctx, name)
}

func (a *ahead) Partitions(ctx context.Context, name graph.ID, emit func(graph.Partition) error) error {
	ids := []graph.ID{name}
	if !allIn(a.partitions, ids) {
		return a.Raw.Partitions(ctx, name, emit)
	}
	return each(a.partitions, ids, func(_ graph.ID, p graph.Partition) error { return emit(p) })
}
