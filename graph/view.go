package graph

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
)

// Raw is what an engine reads from: rows by name, as they were reported, at
// one state. NewView makes a View of it, with aliases, deletions and history
// as the rules have it, so that every engine means the same. Lists of ids
// come sorted. A Raw may be read by many at once.
type Raw interface {
	Links
	Marks() map[string]Mark
	// Names emits the names that are known among ids. Of a column it may give
	// the path alone.
	Names(ctx context.Context, ids []ID, emit func(ID, Name) error) error
	// Flows emits the current rows of names. whole adds the rows of the
	// columns of each. The slice is the caller's only until emit returns.
	Flows(ctx context.Context, layer Layer, dir Direction, names []ID, whole bool, emit func(node ID, by Key, to []Target) error) error
	// Pieces emits what is currently said of names. Of pieces that differ
	// only in who says them the newest is enough.
	Pieces(ctx context.Context, names []ID, emit func(ID, Piece) error) error
	// Named emits the columns of a data store that current flows name.
	Named(ctx context.Context, base ID, emit func(NamedRow) error) error
	// Seen returns the last seen facets of a name.
	Seen(ctx context.Context, name ID) (map[string][]byte, error)
	// Partitions emits the partitions of a name.
	Partitions(ctx context.Context, name ID, emit func(Partition) error) error
	// Speakers emits the contributions that speak, or spoke, of names.
	Speakers(ctx context.Context, names []ID, emit func(ID, Key) error) error
	// Contributions emits contributions by key, those that there are; without
	// an origin in the key, all of its subject.
	Contributions(ctx context.Context, keys []Key, emit func(*Contribution) error) error
	// Records emits the records of a subject's contributions.
	Records(ctx context.Context, subject ID, emit func(*Record) error) error
	// Search emits the ranks of names that match a folded text, in order,
	// after a rank, until emit returns false.
	Search(ctx context.Context, text string, after Rank, emit func(Rank) (bool, error)) error
	// AliasedNames emits names that have aliases, in order, after a name.
	AliasedNames(ctx context.Context, after ID, emit func(ID) (bool, error)) error
	Close() error
}

// NewView makes a View of an engine's rows, as of a time or Forever. The View
// closes raw.
func NewView(raw Raw, at int64) View {
	return &view{raw: raw, at: at, resolver: NewResolver(raw, at), derived: map[Key]*derived{}}
}

type view struct {
	raw Raw
	at  int64

	mu       sync.Mutex // guards the two below
	resolver *Resolver
	derived  map[Key]*derived
}

// derived is what a contribution implied at the time of a view of the past.
type derived struct {
	said Said
	rows Rows
}

// keepDerived bounds how many contributions a view of the past remembers.
const keepDerived = 4096

func (v *view) Marks() map[string]Mark { return v.raw.Marks() }
func (v *view) Close() error           { return v.raw.Close() }

func (v *view) Resolve(_ context.Context, id ID) (ID, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.resolver.Node(id)
}

// names returns the names of a node: of a column, under each name of its data
// store.
func (v *view) names(id ID) ([]ID, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !id.IsColumn() {
		return v.resolver.Members(id)
	}
	bases, err := v.resolver.Members(id.Base())
	if err != nil {
		return nil, err
	}
	ids := make([]ID, len(bases))
	for i, b := range bases {
		ids[i] = id.WithBase(b)
	}
	return ids, nil
}

// live resolves the end of a flow; it returns false where the node is gone.
func (v *view) live(id ID, gone bool) (ID, bool, error) {
	if id.Kind() != DataStoreKind {
		return id, true, nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	node, err := v.resolver.Node(id)
	if err != nil || gone {
		return node, true, err
	}
	dead, err := v.resolver.Gone(node)
	return node, !dead, err
}

func (v *view) Flows(ctx context.Context, frontier []ID, f Ask, emit func([]Flow) error) ([]Gap, error) {
	var names []ID
	for _, id := range frontier {
		node, live, err := v.live(id, f.ThroughDeleted)
		if err != nil {
			return nil, err
		}
		if !live {
			continue
		}
		ns, err := v.names(node)
		if err != nil {
			return nil, err
		}
		names = append(names, ns...)
	}
	slices.SortFunc(names, ID.Compare)
	names = slices.Compact(names)
	var batch []Flow
	err := v.rows(ctx, f, names, func(name ID, by Key, to []Target) error {
		if len(f.Origins) > 0 && !slices.Contains(f.Origins, System(by.Origin)) {
			return nil
		}
		from, _, err := v.live(name, true)
		if err != nil {
			return err
		}
		batch = batch[:0]
		for _, t := range to {
			if f.CoarseOnly && !t.Coarse || f.Kinds != 0 && t.Kinds != 0 && t.Kinds&f.Kinds == 0 {
				continue
			}
			node, live, err := v.live(t.ID, f.ThroughDeleted)
			if err != nil {
				return err
			}
			if live {
				batch = append(batch, Flow{From: from, To: node, Kinds: t.Kinds, Coarse: t.Coarse, By: by})
			}
		}
		if len(batch) == 0 {
			return nil
		}
		return emit(batch)
	})
	return nil, err
}

// rows reads flow rows at the time of the view: the engine's own for now,
// derived ones for the past.
func (v *view) rows(ctx context.Context, f Ask, names []ID, emit func(ID, Key, []Target) error) error {
	if v.at == Forever {
		return v.raw.Flows(ctx, f.Layer, f.Dir, names, f.Whole, emit)
	}
	bases := make([]ID, len(names))
	wanted := make(map[ID]bool, len(names))
	for i, n := range names {
		bases[i] = n.Base()
		wanted[n] = true
	}
	return v.speakers(ctx, bases, func(base ID, d *derived) error {
		by := d.said.Record.Key()
		for _, row := range slices.SortedFunc(maps.Keys(d.rows.Flows), Row.Compare) {
			if row.Layer != f.Layer || row.Dir != f.Dir || row.Node.Base() != base || !wanted[row.Node] && (!f.Whole || !wanted[base]) {
				continue
			}
			if err := emit(row.Node, by, d.rows.Flows[row]); err != nil {
				return err
			}
		}
		return nil
	})
}

// speakers emits what is said, at the time of the view, by each contribution
// that speaks of names.
func (v *view) speakers(ctx context.Context, names []ID, emit func(name ID, d *derived) error) error {
	slices.SortFunc(names, ID.Compare)
	type pair struct {
		name ID
		by   Key
	}
	var pairs []pair
	err := v.raw.Speakers(ctx, slices.Compact(names), func(name ID, k Key) error {
		pairs = append(pairs, pair{name, k})
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	for _, p := range pairs {
		d, err := v.derive(ctx, p.by)
		if err != nil {
			return err
		}
		if err := emit(p.name, d); err != nil {
			return err
		}
	}
	return nil
}

func (v *view) derive(ctx context.Context, k Key) (*derived, error) {
	v.mu.Lock()
	d := v.derived[k]
	v.mu.Unlock()
	if d != nil {
		return d, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	d = &derived{}
	err := v.raw.Contributions(ctx, []Key{k}, func(c *Contribution) (err error) {
		d.said, err = c.At(v.at)
		if err == nil && d.said.Content != nil {
			d.rows = Derive(c.Record.Subject, c.Record.Origin, d.said.Content)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.derived) >= keepDerived {
		clear(v.derived)
	}
	v.derived[k] = d
	return d, nil
}

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

func (v *view) Says(ctx context.Context, subjects []ID, emit func(Said) error) ([]Gap, error) {
	keys := make([]Key, 0, len(subjects))
	for _, s := range subjects {
		names, err := v.names(s.Base())
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			keys = append(keys, Key{Subject: n})
		}
	}
	slices.SortFunc(keys, Key.Compare)
	return nil, v.raw.Contributions(ctx, slices.Compact(keys), func(c *Contribution) error {
		said, err := c.At(v.at)
		if err != nil {
			return err
		}
		return emit(said)
	})
}

func (v *view) Find(ctx context.Context, q Query) (Page, error) {
	text := FoldText(q.Text)
	after, err := ParseRank(q.After)
	if err != nil {
		return Page{}, err
	}
	var page Page
	var last Rank
	given := map[ID]bool{}
	err = v.raw.Search(ctx, text, after, func(r Rank) (bool, error) {
		node, ok, err := v.found(ctx, &q, text, r, given)
		if err != nil || !ok {
			return true, err
		}
		if len(page.IDs) == q.Limit {
			page.Next = last.String()
			return false, nil
		}
		page.IDs = append(page.IDs, node)
		last = r
		return true, ctx.Err()
	})
	return page, err
}

// found returns the node that a name which matches is an answer for: the node
// itself, or, where only another name of it matches, the node it stands for.
func (v *view) found(ctx context.Context, q *Query, text string, r Rank, given map[ID]bool) (ID, bool, error) {
	if !q.Wants(r.ID) {
		return ID{}, false, nil
	}
	node, live, err := v.live(r.ID, false)
	if err != nil || !live || given[node] {
		return ID{}, false, err
	}
	match := true
	if node != r.ID {
		err := v.raw.Names(ctx, []ID{node}, func(id ID, n Name) error {
			match = RankName(SearchText(n), text, id).Class == NoMatch
			return nil
		})
		if err != nil || !match {
			return ID{}, false, err
		}
	}
	match = false
	_, err = v.Nodes(ctx, []ID{node}, 0, func(n Node) error {
		match = n.Deleted == 0 && (q.Namespace == "" || n.Name.Namespace == q.Namespace) &&
			(q.Tag == "" || slices.ContainsFunc(n.Facts.Tags, func(t Tag) bool { return FoldText(t.Name) == FoldText(q.Tag) }))
		return nil
	})
	given[node] = match
	return node, match, err
}

func (v *view) Conflicts(ctx context.Context, after ID, limit int) ([]Conflict, error) {
	var conflicts []Conflict
	err := v.raw.AliasedNames(ctx, after, func(id ID) (bool, error) {
		v.mu.Lock()
		ends, err := v.resolver.Contested(id)
		v.mu.Unlock()
		if err != nil || len(ends) == 0 {
			return true, err
		}
		names := map[ID]Name{}
		look := append([]ID{id}, ends...)
		slices.SortFunc(look, ID.Compare)
		if err := v.raw.Names(ctx, look, func(id ID, n Name) error {
			names[id] = n
			return nil
		}); err != nil {
			return false, err
		}
		c := Conflict{Name: names[id]}
		for _, e := range ends {
			c.Targets = append(c.Targets, names[e])
		}
		conflicts = append(conflicts, c)
		return len(conflicts) < limit, ctx.Err()
	})
	return conflicts, err
}
