package graph

import "slices"

// A Need names what Plan has to see of the store.
type Need struct {
	Contributions []Key
	Lives         []ID
	// Writers asks for the contributions that ever wrote or dropped a data
	// store, whole.
	Writers []ID
}

// IsZero reports whether nothing is needed.
func (n Need) IsZero() bool { return len(n.Contributions)+len(n.Lives)+len(n.Writers) == 0 }

// A State is what Plan sees of the store: an overlay that also holds the
// changes planned before in the same batch. It is not safe for use by many at
// once.
type State struct {
	contributions map[Key]*Contribution // nil: known to be absent
	lives         map[ID]Life
	writers       map[ID]map[Key]bool
	// wrote holds what the batch did to the sets of writers, for those that
	// are loaded only later.
	wrote map[ID]map[Key]bool
}

// NewState returns a state that knows nothing yet.
func NewState() *State {
	return &State{contributions: map[Key]*Contribution{}, lives: map[ID]Life{}, writers: map[ID]map[Key]bool{}, wrote: map[ID]map[Key]bool{}}
}

// PutContribution tells the state what the store has under a key: nil where
// it has nothing. parts holds the stored form of each part.
func (s *State) PutContribution(k Key, r *Record, parts map[uint64][]byte) {
	if _, ok := s.contributions[k]; ok {
		return
	}
	if r == nil {
		s.contributions[k] = nil
		return
	}
	s.contributions[k] = NewContribution(*r, parts)
}

// PutLife tells the state the life of a data store, nil where it never died.
func (s *State) PutLife(node ID, l Life) {
	if _, ok := s.lives[node]; !ok {
		s.lives[node] = l
	}
}

// PutWriters tells the state which contributions ever wrote a data store.
func (s *State) PutWriters(node ID, keys []Key) {
	set := s.writers[node]
	if set == nil {
		set = map[Key]bool{}
		s.writers[node] = set
	}
	for _, k := range keys {
		set[k] = true
	}
	for k, writes := range s.wrote[node] {
		if writes {
			set[k] = true
		} else {
			delete(set, k)
		}
	}
}

// Missing says what is still to be loaded before d can be planned. It is
// called again after each load, until it returns nothing.
func (s *State) Missing(d *Delta) (Need, error) {
	k := d.Key()
	c, ok := s.contributions[k]
	if !ok {
		return Need{Contributions: []Key{k}}, nil
	}
	touched, err := s.touched(c, d)
	if err != nil {
		return Need{}, err
	}
	var n Need
	for id, drops := range touched {
		life, ok := s.lives[id]
		if !ok {
			n.Lives = append(n.Lives, id)
			continue
		}
		if len(life) == 0 && !drops {
			continue
		}
		set, ok := s.writers[id]
		if !ok {
			n.Writers = append(n.Writers, id)
			continue
		}
		for w := range set {
			if _, ok := s.contributions[w]; !ok {
				n.Contributions = append(n.Contributions, w)
			}
		}
	}
	slices.SortFunc(n.Lives, ID.Compare)
	slices.SortFunc(n.Writers, ID.Compare)
	slices.SortFunc(n.Contributions, Key.Compare)
	n.Contributions = slices.Compact(n.Contributions)
	return n, nil
}

// touched lists the data stores whose life may depend on d: all that its run
// writes; with true if the run drops or renames anything, since what parts of
// a run say of one name meets only when they are folded.
func (s *State) touched(c *Contribution, d *Delta) (map[ID]bool, error) {
	touched := map[ID]bool{}
	drops := false
	look := func(said *Content) {
		for i := range said.Writes {
			w := &said.Writes[i]
			touched[w.Name.ID()] = false
			for _, id := range w.standsFor() {
				touched[id] = false
			}
			if !w.RenamedFrom.IsZero() {
				touched[w.RenamedFrom.ID()] = false
			}
			drops = drops || w.Lifecycle == LifecycleDrop || !w.RenamedFrom.IsZero()
		}
	}
	look(&d.Says)
	if c != nil && d.Run != "" {
		for i := range c.Record.Runs {
			if c.Record.Runs[i].ID != d.Run {
				continue
			}
			for _, p := range c.Record.Runs[i].Parts {
				said, err := c.part(p.Hash)
				if err != nil {
					return nil, err
				}
				look(said)
			}
		}
	}
	if drops {
		for id := range touched {
			touched[id] = true
		}
	}
	return touched, nil
}

func (s *State) commit(k Key, next *Contribution, c *Change) {
	s.contributions[k] = next
	if c == nil {
		return
	}
	for _, e := range c.Lives {
		s.lives[e.Node] = e.Life
	}
	for _, e := range c.Index {
		if s.wrote[e.Node] == nil {
			s.wrote[e.Node] = map[Key]bool{}
		}
		s.wrote[e.Node][k] = e.Writes
		if s.writers[e.Node] != nil {
			s.PutWriters(e.Node, nil)
		}
	}
}

// Contribution returns what the state has under a key, or nil.
func (s *State) Contribution(k Key) *Contribution { return s.contributions[k] }
