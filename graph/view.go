package graph

import (
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
	// Flows emits the current rows of names in a layer and a direction. Whole
	// adds the rows of the columns of each, or of its fans; rows that CoarseOnly
	// does not want may come or not. Nothing else that is asked for counts. The
	// slice is the caller's only until emit returns.
	Flows(ctx context.Context, f Ask, names []ID, emit func(node ID, by Key, to []Target) error) error
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

// A Topology is the current flows and aliases of a Raw in memory. It is of
// the same state as the Raw.
type Topology interface {
	Numbers
	// Resolve returns the node that a name or column stands for.
	Resolve(id ID) ID
	// Members lists the names that stand for a node, itself among them, sorted.
	Members(node ID) []ID
	// Gone reports whether a node is deleted.
	Gone(node ID) bool
	// Stamp changes whenever what is said of a name changes.
	Stamp(name ID) uint32
}

// Quick is what a Raw may have besides, to answer faster.
type Quick interface {
	// Topology returns the flows in memory; nil where there are none.
	Topology() Topology
	// Remembered returns what Remember was given under a key, if it is still
	// there; size is in bytes. Both may be used by many at once.
	Remembered(key uint64) (value any, ok bool)
	Remember(key uint64, value any, size int)
}

// Ahead is what a Raw may have besides that is far away: it reads at once what
// is going to be asked of many nodes.
type Ahead interface {
	// Costly reports whether it is.
	Costly() bool
	// Ahead returns a Raw that has what the Reading says, and asks r for the
	// rest. It need not be closed.
	Ahead(ctx context.Context, r Reading) (Raw, error)
}

// A Reading says what View.Nodes is going to read: of Names all that is known
// of them, and of them and of Extras what Want says. Nodes are what the names
// stand for. Past: it reads who speaks of names, and not what is said now.
type Reading struct {
	Names, Extras, Nodes []ID
	Want                 Want
	Past                 bool
}

// NewView makes a View of an engine's rows, as of a time or Forever. The View
// closes raw.
func NewView(raw Raw, at int64) View {
	v := &view{raw: raw, at: at, resolver: NewResolver(raw, at), derived: map[Key]*derived{}}
	if quick, ok := raw.(Quick); ok && at == Forever {
		v.quick, v.topology = quick, quick.Topology()
	}
	return v
}

type view struct {
	raw Raw
	at  int64
	// topology, if not nil, has the flows and aliases of raw, and quick keeps
	// what was made of its rows.
	topology Topology
	quick    Quick

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

// Numbers returns the numbers of the nodes; nil where they have none.
func (v *view) Numbers() Numbers {
	if v.topology == nil {
		return nil
	}
	return v.topology
}

func (v *view) Resolve(_ context.Context, id ID) (ID, error) {
	if v.topology != nil {
		return v.topology.Resolve(id), nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.resolver.Node(id)
}

// names returns the names of a node: of a column, under each name of its data
// store.
func (v *view) names(id ID) ([]ID, error) {
	if v.topology != nil && !id.IsColumn() {
		return v.topology.Members(id), nil
	}
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
	if v.topology != nil {
		node := v.topology.Resolve(id)
		return node, gone || !v.topology.Gone(node), nil
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
	if v.topology != nil {
		return v.hops(ctx, frontier, f, emit)
	}
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

// hops is Flows over the topology.
func (v *view) hops(ctx context.Context, frontier []ID, f Ask, emit func([]Flow) error) ([]Gap, error) {
	t := v.topology
	handles := make([]Handle, 0, len(frontier))
	for _, id := range frontier {
		if h, ok := t.Handle(id); ok {
			handles = append(handles, h)
		}
	}
	slices.Sort(handles)
	var flows []Flow
	return t.Hops(ctx, slices.Compact(handles), &f, nil, Emit{Hops: func(hops []Hop) error {
		flows = flows[:0]
		for i := range hops {
			h := &hops[i]
			flow := Flow{To: t.ID(h.To), Kinds: h.Kinds, Coarse: h.Coarse}
			if i > 0 && hops[i-1].From == h.From {
				flow.From = flows[i-1].From
			} else {
				flow.From = t.ID(h.From)
			}
			if i > 0 && hops[i-1].By == h.By {
				flow.By = flows[i-1].By
			} else {
				flow.By = t.By(h.By)
			}
			flows = append(flows, flow)
		}
		return emit(flows)
	}})
}

// rows reads flow rows at the time of the view: the engine's own for now,
// derived ones for the past.
func (v *view) rows(ctx context.Context, f Ask, names []ID, emit func(ID, Key, []Target) error) error {
	if v.at == Forever {
		return v.raw.Flows(ctx, f, names, emit)
	}
	bases := make([]ID, len(names))
	wanted := make(map[ID]bool, len(names))
	for i, n := range names {
		bases[i] = n.Base()
		wanted[n] = true
	}
	return v.speakers(ctx, v.raw, bases, func(base ID, d *derived) error {
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
func (v *view) speakers(ctx context.Context, raw Raw, names []ID, emit func(name ID, d *derived) error) error {
	slices.SortFunc(names, ID.Compare)
	type pair struct {
		name ID
		by   Key
	}
	var pairs []pair
	err := raw.Speakers(ctx, slices.Compact(names), func(name ID, k Key) error {
		pairs = append(pairs, pair{name, k})
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	for some := range slices.Chunk(pairs, deriveAtOnce) {
		keys := make([]Key, len(some))
		for i, p := range some {
			keys[i] = p.by
		}
		said, err := v.derive(ctx, keys)
		if err != nil {
			return err
		}
		for _, p := range some {
			d := said[p.by]
			if d == nil {
				d = &derived{} // there is no such contribution any more
			}
			if err := emit(p.name, d); err != nil {
				return err
			}
		}
	}
	return nil
}

// deriveAtOnce is how many contributions are read at once.
const deriveAtOnce = 500

// derive returns what contributions say at the time of the view; those that
// there are.
func (v *view) derive(ctx context.Context, keys []Key) (map[Key]*derived, error) {
	said := make(map[Key]*derived, len(keys))
	var missing []Key
	v.mu.Lock()
	for _, k := range keys {
		if d := v.derived[k]; d != nil {
			said[k] = d
		} else {
			missing = append(missing, k)
		}
	}
	v.mu.Unlock()
	if len(missing) == 0 {
		return said, ctx.Err()
	}
	slices.SortFunc(missing, Key.Compare)
	err := v.raw.Contributions(ctx, slices.Compact(missing), func(c *Contribution) (err error) {
		d := &derived{}
		d.said, err = c.At(v.at)
		if err == nil && d.said.Content != nil {
			d.rows = Derive(c.Record.Subject, c.Record.Origin, d.said.Content)
		}
		said[c.Record.Key()] = d
		return errors.Join(err, ctx.Err())
	})
	if err != nil {
		return nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.derived) >= keepDerived {
		clear(v.derived)
	}
	for _, k := range missing {
		if d := said[k]; d != nil {
			v.derived[k] = d
		}
	}
	return said, nil
}
