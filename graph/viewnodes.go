package graph

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
)

func (v *view) pieces(ctx context.Context, names []ID, emit func(Piece) error) error {
	if v.at == Forever {
		return v.raw.Pieces(ctx, names, func(_ ID, p Piece) error { return emit(p) })
	}
	return v.speakers(ctx, slices.Clone(names), func(name ID, d *derived) error {
		for _, p := range d.rows.Pieces {
			if p.Node != name {
				continue
			}
			if err := emit(Piece{Rank: p.Rank, From: d.said.From, By: d.said.Record.Key(), Facts: p.Facts}); err != nil {
				return err
			}
		}
		return nil
	})
}

func (v *view) named(ctx context.Context, names []ID) ([]NamedRow, error) {
	var rows []NamedRow
	add := func(r NamedRow) error {
		rows = append(rows, r)
		return nil
	}
	if v.at == Forever {
		for _, n := range names {
			if err := v.raw.Named(ctx, n, add); err != nil {
				return nil, err
			}
		}
	} else if err := v.speakers(ctx, slices.Clone(names), func(name ID, d *derived) error {
		for _, r := range d.rows.Named {
			if r.Column.Base() == name {
				rows = append(rows, r)
			}
		}
		return nil
	}); err != nil {
		return nil, err
	}
	// One row a column: the same whichever name it is under.
	slices.SortFunc(rows, func(a, b NamedRow) int {
		return cmp.Or(cmp.Compare(a.Display, b.Display), a.Column.Compare(b.Column))
	})
	return rows, nil
}

func (v *view) Nodes(ctx context.Context, ids []ID, want Want, emit func(Node) error) ([]Gap, error) {
	groups := map[ID][]ID{}
	for _, id := range ids {
		node, err := v.Resolve(ctx, id)
		if err != nil {
			return nil, err
		}
		if g := groups[node.Base()]; !slices.Contains(g, node) {
			groups[node.Base()] = append(g, node)
		}
	}
	for _, base := range slices.SortedFunc(maps.Keys(groups), ID.Compare) {
		if err := v.group(ctx, base, groups[base], want, emit); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// group emits a data store or process, and columns of it, of which ids are
// wanted.
func (v *view) group(ctx context.Context, base ID, ids []ID, want Want, emit func(Node) error) error {
	names, err := v.names(base)
	if err != nil {
		return err
	}
	known := map[ID]Name{}
	if err := v.raw.Names(ctx, names, func(id ID, n Name) error {
		known[id] = n
		return nil
	}); err != nil {
		return err
	}
	name, ok := known[base]
	if !ok {
		return nil
	}
	var pieces []Piece
	if err := v.pieces(ctx, names, func(p Piece) error {
		pieces = append(pieces, p)
		return nil
	}); err != nil {
		return err
	}
	if len(pieces) == 0 {
		// Names outlive what spoke of them; nodes don't.
		spoken, err := v.spoken(ctx, names)
		if err != nil || !spoken {
			return err
		}
	}
	facts, updated := MergePieces(pieces)
	deleted, err := v.deleted(ctx, base)
	if err != nil {
		return err
	}
	var named []NamedRow
	inSchema := func(id ID) bool {
		return slices.ContainsFunc(facts.Columns, func(f Field) bool { return id.Column(f.Path) == id })
	}
	if base.Kind() == DataStoreKind && (want&WantColumns != 0 || slices.ContainsFunc(ids, func(id ID) bool { return id.IsColumn() && !inSchema(id) })) {
		if named, err = v.named(ctx, names); err != nil {
			return err
		}
	}
	for _, id := range ids {
		node, ok := makeNode(id, name, facts, named)
		if !ok {
			continue
		}
		node.Updated, node.Deleted = updated, deleted
		if !id.IsColumn() {
			if err := v.extras(ctx, &node, names, known, want); err != nil {
				return err
			}
		}
		if err := emit(node); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// spoken reports whether any contribution speaks, or spoke, of one of names.
func (v *view) spoken(ctx context.Context, names []ID) (bool, error) {
	err := v.raw.Speakers(ctx, names, func(ID, Key) error { return errStop })
	if errors.Is(err, errStop) {
		return true, nil
	}
	return false, err
}

// errStop ends a scan that has seen enough.
var errStop = errors.New("seen enough")

// extras fills in what belongs to a whole node, not to a column.
func (v *view) extras(ctx context.Context, node *Node, names []ID, known map[ID]Name, want Want) error {
	created := map[string]int64{}
	for _, n := range names {
		if n != node.ID {
			node.Aliases = append(node.Aliases, known[n])
		}
		if want&WantSeen != 0 {
			seen, err := v.raw.Seen(ctx, n)
			if err != nil {
				return err
			}
			if node.Seen == nil {
				node.Seen = map[string][]byte{}
			}
			for k, b := range seen {
				if _, ok := node.Seen[k]; !ok || n == node.ID {
					node.Seen[k] = b
				}
			}
		}
		if want&WantPartitions != 0 {
			if err := v.raw.Partitions(ctx, n, func(p Partition) error {
				if at, ok := created[p.Name]; !ok || p.Created < at {
					created[p.Name] = p.Created
				}
				return nil
			}); err != nil {
				return err
			}
		}
	}
	for name, at := range created {
		node.Partitions = append(node.Partitions, Partition{Name: name, Created: at})
	}
	slices.SortFunc(node.Partitions, func(a, b Partition) int { return cmp.Compare(b.Name, a.Name) })
	slices.SortFunc(node.Aliases, Name.Compare)
	return nil
}

// deleted returns since when a node has been deleted, or 0.
func (v *view) deleted(ctx context.Context, base ID) (int64, error) {
	if base.Kind() == DataStoreKind {
		life, err := v.raw.Life(base)
		if err != nil {
			return 0, err
		}
		if p := life.Gone(v.at); p != nil {
			return p.Dropped, nil
		}
		return 0, nil
	}
	var deleted int64
	alive := false
	err := v.raw.Records(ctx, base, func(r *Record) error {
		at := r.DeletedAt()
		alive = alive || at == 0 || at > v.at
		deleted = max(deleted, at)
		return nil
	})
	if alive {
		deleted = 0
	}
	return deleted, err
}
