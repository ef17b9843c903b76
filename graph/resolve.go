package graph

import "slices"

// Links are the aliases that a store holds, by name.
type Links interface {
	// AliasTargets lists the names that a name is said to stand for.
	AliasTargets(from ID) ([]ID, error)
	// AliasSources lists the names that are, or were by a rename, said to
	// stand for a name.
	AliasSources(to ID) ([]ID, error)
	// Life returns the life of a data store's name.
	Life(node ID) (Life, error)
}

// A Resolver finds the node that a name stands for, when read: an alias that
// comes or goes costs nothing elsewhere. It keeps what it found, and belongs
// to one view. It is not safe for use by many at once.
type Resolver struct {
	links   Links
	nodes   map[ID]ID
	members map[ID][]ID
	gone    map[ID]bool
	at      int64
}

// NewResolver returns a resolver over links, for a view at a time: Forever is
// now. Aliases are always today's.
func NewResolver(l Links, at int64) *Resolver {
	return &Resolver{links: l, at: at, nodes: map[ID]ID{}, members: map[ID][]ID{}, gone: map[ID]bool{}}
}

// Node returns the node that id stands for: a column's under the name that
// its data store stands for.
func (r *Resolver) Node(id ID) (ID, error) {
	if id.Kind() != DataStoreKind {
		return id, nil
	}
	base := id.Base()
	if _, ok := r.nodes[base]; !ok {
		if err := r.resolve(base); err != nil {
			return ID{}, err
		}
	}
	return id.WithBase(r.nodes[base]), nil
}

func (r *Resolver) targets(id ID) ([]ID, error) {
	targets, err := r.links.AliasTargets(id)
	if err != nil {
		return nil, err
	}
	life, err := r.links.Life(id)
	if err != nil {
		return nil, err
	}
	if p := life.Gone(Forever); p != nil && !p.RenamedTo.IsZero() {
		targets = append(slices.Clip(targets), p.RenamedTo.ID())
	}
	return targets, nil
}

// resolve follows aliases from id and notes the nodes of all names that it
// meets. Names that stand for each other in a ring are taken as one: where
// aliases lead out of it to one node, all are that; where they lead nowhere,
// all are its smallest; where they are contested, each stays itself. So it
// does not matter from where a ring is entered, and a node stands for itself.
func (r *Resolver) resolve(id ID) error {
	f := follower{r: r, at: map[ID]int{}}
	_, err := f.visit(id)
	return err
}

// A follower finds rings: Tarjan's strongly connected components.
type follower struct {
	r     *Resolver
	at    map[ID]int // when a name was met, from 1
	stack []ID       // names whose ring is not known yet
}

// visit returns when the earliest name of the ring of id was met, as far as
// is known.
func (f *follower) visit(id ID) (int, error) {
	at := len(f.at) + 1
	first := at
	f.at[id] = at
	f.stack = append(f.stack, id)
	targets, err := f.r.targets(id)
	if err != nil {
		return 0, err
	}
	for _, t := range targets {
		if _, done := f.r.nodes[t]; done {
			continue
		}
		met := f.at[t]
		if met == 0 {
			if met, err = f.visit(t); err != nil {
				return 0, err
			}
		}
		first = min(first, met)
	}
	if first == at {
		err = f.ring(slices.Index(f.stack, id))
	}
	return first, err
}

// ring notes the node of the names on the stack from a place on.
func (f *follower) ring(from int) error {
	names := f.stack[from:]
	f.stack = f.stack[:from]
	var ends []ID
	for _, n := range names {
		targets, err := f.r.targets(n)
		if err != nil {
			return err
		}
		for _, t := range targets {
			if end := f.r.nodes[t]; !slices.Contains(names, t) && !slices.Contains(ends, end) {
				ends = append(ends, end)
			}
		}
	}
	for _, n := range names {
		switch len(ends) {
		case 0:
			f.r.nodes[n] = slices.MinFunc(names, ID.Compare)
		case 1:
			f.r.nodes[n] = ends[0]
		default:
			f.r.nodes[n] = n
		}
	}
	return nil
}

// Members lists the names that stand for a node, itself included, sorted.
// node is a data store's, a process's or a hub's.
func (r *Resolver) Members(node ID) ([]ID, error) {
	if node.Kind() != DataStoreKind {
		return []ID{node}, nil
	}
	if m, ok := r.members[node]; ok {
		return m, nil
	}
	members := []ID{node}
	seen := map[ID]bool{node: true}
	for i := 0; i < len(members); i++ {
		sources, err := r.links.AliasSources(members[i])
		if err != nil {
			return nil, err
		}
		for _, s := range sources {
			if seen[s] {
				continue
			}
			seen[s] = true
			n, err := r.Node(s)
			if err != nil {
				return nil, err
			}
			if n == node {
				members = append(members, s)
			}
		}
	}
	slices.SortFunc(members, ID.Compare)
	r.members[node] = members
	return members, nil
}

// Gone reports whether a node is deleted at the time of the view: its own
// name is, and no name of it lives.
func (r *Resolver) Gone(node ID) (bool, error) {
	node = node.Base()
	if node.Kind() != DataStoreKind {
		return false, nil
	}
	if g, ok := r.gone[node]; ok {
		return g, nil
	}
	life, err := r.links.Life(node)
	if err != nil {
		return false, err
	}
	g := life.Gone(r.at) != nil
	r.gone[node] = g
	return g, nil
}

// Contested lists the nodes that the aliases of a name lead to, where they
// are several.
func (r *Resolver) Contested(id ID) ([]ID, error) {
	targets, err := r.targets(id)
	if err != nil {
		return nil, err
	}
	var ends []ID
	for _, t := range targets {
		n, err := r.Node(t)
		if err != nil {
			return nil, err
		}
		if n != id && !slices.Contains(ends, n) {
			ends = append(ends, n)
		}
	}
	if len(ends) < 2 {
		return nil, nil
	}
	slices.SortFunc(ends, ID.Compare)
	return ends, nil
}
