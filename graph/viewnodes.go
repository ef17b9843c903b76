package graph

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"maps"
	"slices"
)

func (v *view) pieces(ctx context.Context, raw Raw, names []ID, emit func(ID, Piece) error) error {
	if v.at == Forever {
		return raw.Pieces(ctx, names, emit)
	}
	return v.speakers(ctx, raw, slices.Clone(names), func(name ID, d *derived) error {
		for _, p := range d.rows.Pieces {
			if p.Node != name {
				continue
			}
			if err := emit(name, Piece{Rank: p.Rank, From: d.said.From, By: d.said.Record.Key(), Facts: p.Facts}); err != nil {
				return err
			}
		}
		return nil
	})
}

func (v *view) named(ctx context.Context, raw Raw, names []ID) ([]NamedRow, error) {
	var rows []NamedRow
	add := func(r NamedRow) error {
		rows = append(rows, r)
		return nil
	}
	if v.at == Forever {
		for _, n := range names {
			if err := raw.Named(ctx, n, add); err != nil {
				return nil, err
			}
		}
	} else if err := v.speakers(ctx, raw, slices.Clone(names), func(name ID, d *derived) error {
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
	bases := slices.SortedFunc(maps.Keys(groups), ID.Compare)
	for some := range slices.Chunk(bases, nodesAhead) {
		raw, err := v.ahead(ctx, some, want)
		if err != nil {
			return nil, err
		}
		for _, base := range some {
			if err := v.group(ctx, raw, base, groups[base], want, emit); err != nil {
				return nil, err
			}
		}
	}
	return nil, nil
}

// nodesAhead is of how many nodes an Ahead reads at once.
const nodesAhead = 500

// ahead returns what nodes are read from: the engine's rows, or, where it is
// costly to read them one by one, what there is of all of them.
func (v *view) ahead(ctx context.Context, bases []ID, want Want) (Raw, error) {
	if !v.costly() {
		return v.raw, nil
	}
	r := Reading{Past: v.at != Forever, Want: want}
	for _, base := range bases {
		names, err := v.names(base)
		if err != nil {
			return nil, err
		}
		r.Nodes = append(r.Nodes, base)
		if v.topology != nil {
			if k, ok := v.remembered(base, names); ok && k != nil {
				r.Extras = append(r.Extras, names...)
				continue
			}
		}
		r.Names = append(r.Names, names...)
	}
	raw, err := v.raw.(Ahead).Ahead(ctx, r)
	if err == nil && r.Past { // what they said then is kept
		err = v.speakers(ctx, raw, slices.Clone(r.Names), func(ID, *derived) error { return nil })
	}
	return raw, err
}

// costly reports whether reading many things one by one takes long.
func (v *view) costly() bool {
	a, ok := v.raw.(Ahead)
	return ok && a.Costly()
}

// group emits a data store or process, and columns of it, of which ids are
// wanted.
func (v *view) group(ctx context.Context, raw Raw, base ID, ids []ID, want Want, emit func(Node) error) error {
	names, err := v.names(base)
	if err != nil {
		return err
	}
	known, err := v.known(ctx, raw, base, names)
	if err != nil || known == nil {
		return err
	}
	for _, id := range ids {
		node, ok := known.node(id, want)
		if !ok {
			continue
		}
		if !id.IsColumn() && want&(WantSeen|WantPartitions) != 0 {
			if err := extras(ctx, raw, &node, names, want); err != nil {
				return err
			}
		}
		if err := emit(node); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// known returns what is known of a node under all of its names; nil where
// there is no such node. It is made once for a state of what is said of them.
func (v *view) known(ctx context.Context, raw Raw, base ID, names []ID) (*nodeFacts, error) {
	if v.topology == nil {
		return v.learn(ctx, raw, base, names)
	}
	if k, ok := v.remembered(base, names); ok {
		return k, nil
	}
	k, err := v.learn(ctx, raw, base, names)
	if err == nil && k != nil {
		k.stamp = v.stamp(base, names)
		v.quick.Remember(factsKey(base), k, k.size())
	}
	return k, err
}

// remembered returns what is remembered of a node, where there is a topology.
func (v *view) remembered(base ID, names []ID) (*nodeFacts, bool) {
	kept, ok := v.quick.Remembered(factsKey(base))
	if !ok {
		return nil, false
	}
	k, ok := kept.(*nodeFacts)
	return k, ok && k.base == base && k.stamp == v.stamp(base, names)
}

// factsKey is under what the facts of a node are remembered: those of one state
// of what is said of it, so that the memory they take does not grow with its
// changes.
func factsKey(base ID) uint64 { return binary.BigEndian.Uint64(base[:]) }

// stamp is a number that is another when what is said of any of names is, or
// when they are others.
func (v *view) stamp(base ID, names []ID) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(base[:])
	for _, n := range names {
		_, _ = h.Write(binary.LittleEndian.AppendUint32(n[:len(n):len(n)], v.topology.Stamp(n)))
	}
	return h.Sum64()
}

// learn reads what is known of a node.
func (v *view) learn(ctx context.Context, raw Raw, base ID, names []ID) (*nodeFacts, error) {
	k := &nodeFacts{base: base}
	found := false
	if err := raw.Names(ctx, names, func(id ID, n Name) error {
		if id == base {
			k.name, found = n, true
		} else {
			k.aliases = append(k.aliases, n)
		}
		return nil
	}); err != nil || !found {
		return nil, err
	}
	slices.SortFunc(k.aliases, Name.Compare)
	var pieces []Piece
	if err := v.pieces(ctx, raw, names, func(name ID, p Piece) error {
		if name != base {
			p.Facts.Display = "" // of another name
		}
		pieces = append(pieces, p)
		return nil
	}); err != nil {
		return nil, err
	}
	if len(pieces) == 0 {
		// Names outlive what spoke of them; nodes don't.
		if spoken, err := spoken(ctx, raw, names); err != nil || !spoken {
			return nil, err
		}
	}
	k.facts, k.updated = MergePieces(pieces)
	var err error
	if k.deleted, err = v.deleted(ctx, raw, base); err != nil {
		return nil, err
	}
	var named []NamedRow
	if base.Kind() == DataStoreKind {
		if named, err = v.named(ctx, raw, names); err != nil {
			return nil, err
		}
	}
	k.complete(named)
	return k, nil
}

// spoken reports whether any contribution speaks, or spoke, of one of names.
func spoken(ctx context.Context, raw Raw, names []ID) (bool, error) {
	err := raw.Speakers(ctx, names, func(ID, Key) error { return errStop })
	if errors.Is(err, errStop) {
		return true, nil
	}
	return false, err
}

// errStop ends a scan that has seen enough.
var errStop = errors.New("seen enough")

// extras fills in what changes with every run.
func extras(ctx context.Context, raw Raw, node *Node, names []ID, want Want) error {
	created := map[string]int64{}
	for _, n := range names {
		if want&WantSeen != 0 {
			seen, err := raw.Seen(ctx, n)
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
			if err := raw.Partitions(ctx, n, func(p Partition) error {
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
	return nil
}

// deleted returns since when a node has been deleted, or 0.
func (v *view) deleted(ctx context.Context, raw Raw, base ID) (int64, error) {
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
	err := raw.Records(ctx, base, func(r *Record) error {
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
