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
	node, ok := r.nodes[base]
	if !ok {
		var err error
		if node, err = r.resolve(base); err != nil {
			return ID{}, err
		}
		r.nodes[base] = node
	}
	return id.WithBase(node), nil
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

// resolve follows aliases from id. Where they lead to one node, it is that;
// where they are contested, id stays itself; where they run in a ring, it is
// the ring's smallest, from wherever the ring is entered.
func (r *Resolver) resolve(id ID) (ID, error) {
	visited := map[ID]bool{}
	end, ok, err := r.follow(id, visited)
	if err != nil || ok {
		return end, err
	}
	for v := range visited {
		if v.Compare(end) < 0 {
			end = v
		}
	}
	return end, nil
}

// follow returns the end of the aliases from id, and false where they lead
// back to where they came from.
func (r *Resolver) follow(id ID, visited map[ID]bool) (ID, bool, error) {
	visited[id] = true
	targets, err := r.targets(id)
	if err != nil || len(targets) == 0 {
		return id, true, err
	}
	var end ID
	found := false
	for _, t := range targets {
		if visited[t] {
			continue
		}
		e, ok, err := r.follow(t, visited)
		if err != nil {
			return ID{}, false, err
		}
		if !ok {
			continue
		}
		if found && e != end {
			return id, true, nil // contested
		}
		end, found = e, true
	}
	if !found {
		return id, false, nil
	}
	return end, true, nil
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
