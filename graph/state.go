package graph

import "slices"

// A Need names what Plan has to see of the store.
type Need struct {
	Contributions []Key
	// Parts asks for all those of contributions that were loaded without, or
	// with some; Newest for those of Record.Newest.
	Parts, Newest []Key
	Lives         []ID
	// Writers asks for the contributions that ever wrote or dropped a data
	// store, whole.
	Writers []ID
}

// IsZero reports whether nothing is needed.
func (n Need) IsZero() bool {
	return len(n.Contributions)+len(n.Parts)+len(n.Newest)+len(n.Lives)+len(n.Writers) == 0
}

// A State is what Plan sees of the store: an overlay that also holds the
// changes planned before in the same batch. It is not safe for use by many at
// once.
type State struct {
	contributions map[Key]*Contribution // nil: known to be absent
	lives         map[ID]Life
	writers       map[ID]map[Key]bool
	// wrote holds what was done to the sets of writers, in order, for those
	// that are loaded only later.
	wrote map[ID][]wrote

	ids ids
	// deltas holds what was found of deltas: Missing is asked again and again.
	deltas map[*Delta]*known
}

// A wrote says whether a contribution is among the writers of a node.
type wrote struct {
	by     Key
	writes bool
}

// A known is what was found of a delta.
type known struct {
	key Key
	// What Delta.Seal makes of it.
	says Content
	said []byte
	hash uint64
	// touched and drops are what State.touches says of it.
	touched []ID
	drops   bool
	// of is the contribution for which the two below hold: what its record
	// says of whether the delta repeats, and the run that goes then.
	of      *Contribution
	repeats bool
	drop    int
}

// NewState returns a state that knows nothing yet.
func NewState() *State {
	return &State{contributions: map[Key]*Contribution{}, lives: map[ID]Life{}, writers: map[ID]map[Key]bool{},
		wrote: map[ID][]wrote{}, deltas: map[*Delta]*known{}}
}

// PutContribution tells the state what the store has under a key: nil where
// it has nothing. parts holds the stored form of each part.
func (s *State) PutContribution(k Key, r *Record, parts map[uint64][]byte) {
	s.PutRecord(k, r)
	s.PutParts(k, parts)
}

// PutRecord is PutContribution without the parts, which few deltas need:
// Missing asks for them.
func (s *State) PutRecord(k Key, r *Record) {
	if _, ok := s.contributions[k]; ok {
		return
	}
	if r == nil {
		s.contributions[k] = nil
		return
	}
	s.contributions[k] = &Contribution{Record: *r, ids: &s.ids}
}

// PutParts tells the state the parts of a contribution that it has without, or
// with some.
func (s *State) PutParts(k Key, parts map[uint64][]byte) {
	if c := s.contributions[k]; c != nil && c.at < whole {
		c.setParts(parts)
		c.at = whole
	}
}

// PutNewest tells the state the parts of a contribution that Record.Newest
// lists.
func (s *State) PutNewest(k Key, parts map[uint64][]byte) {
	if c := s.contributions[k]; c != nil && c.at == bare {
		c.setParts(parts)
		c.at = newest
	}
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
	for _, w := range s.wrote[node] {
		if w.writes {
			set[w.by] = true
		} else {
			delete(set, w.by)
		}
	}
}

func (s *State) known(d *Delta) *known {
	k := s.deltas[d]
	if k == nil {
		sealed := *d
		sealed.Seal()
		k = &known{key: Key{Subject: s.ids.of(d.Subject), Origin: d.Origin}, says: sealed.Says, said: sealed.said, hash: sealed.hash}
		k.touched, k.drops = s.touches(nil, &k.says)
		s.deltas[d] = k
	}
	return k
}

// Missing says what is still to be loaded before d can be planned. It is
// called again after each load, until it returns nothing. d must not change
// meanwhile.
func (s *State) Missing(d *Delta) (Need, error) {
	k := s.known(d)
	c, ok := s.contributions[k.key]
	if !ok {
		return Need{Contributions: []Key{k.key}}, nil
	}
	if c != nil && c.at < whole {
		if n, ok := s.repeats(c, d); ok && c.at == bare {
			return n, nil
		}
		switch {
		case !c.Record.appends(d):
			return Need{Parts: []Key{k.key}}, nil
		case c.at == bare:
			return Need{Newest: []Key{k.key}}, nil
		}
	}
	touched, drops, err := s.touched(c, d)
	if err != nil {
		return Need{}, err
	}
	var n Need
	for _, id := range touched {
		life, ok := s.lives[id]
		if !ok {
			n.Lives = append(n.Lives, id)
			continue
		}
		if len(life) == 0 && !drops {
			continue
		}
		if c != nil && c.at < whole {
			n.Parts = append(n.Parts, k.key)
		}
		set, ok := s.writers[id]
		if !ok {
			n.Writers = append(n.Writers, id)
			continue
		}
		for w := range set {
			if c, ok := s.contributions[w]; !ok {
				n.Contributions = append(n.Contributions, w)
			} else if c != nil && c.at < whole {
				n.Parts = append(n.Parts, w)
			}
		}
	}
	n.Contributions, n.Parts = sortedUnique(n.Contributions, Key.Compare), sortedUnique(n.Parts, Key.Compare)
	return n, nil
}

// repeats reports whether planning d changes nothing but the record, as far as
// is known without the parts, and what lives have to be loaded to tell.
func (s *State) repeats(c *Contribution, d *Delta) (Need, bool) {
	k := s.known(d)
	if k.of != c {
		k.of = c
		k.drop, k.repeats = c.Record.repeats(d, k.hash)
	}
	if !k.repeats || k.drops {
		return Need{}, false
	}
	var n Need
	for _, id := range k.touched {
		if life, ok := s.lives[id]; !ok {
			n.Lives = append(n.Lives, id)
		} else if len(life) > 0 {
			return Need{}, false
		}
	}
	return n, true
}

// touched lists, sorted, the data stores whose life may depend on d: all that
// its run writes. drops: the run drops or renames one, and it may be any of
// them, since what parts of a run say of one name meets only when they are
// folded.
func (s *State) touched(c *Contribution, d *Delta) (touched []ID, drops bool, err error) {
	k := s.known(d)
	touched, drops = slices.Clone(k.touched), k.drops
	if c != nil && d.Run != "" {
		for i := range c.Record.Runs {
			if c.Record.Runs[i].ID != d.Run {
				continue
			}
			for _, p := range c.Record.Runs[i].Parts {
				said, err := c.part(p.Hash)
				if err != nil {
					return nil, false, err
				}
				var more bool
				touched, more = s.touches(touched, said)
				drops = drops || more
			}
		}
	}
	slices.SortFunc(touched, ID.Compare)
	return slices.Compact(touched), drops, nil
}

// touches appends the data stores that a content writes, drops or renames.
func (s *State) touches(touched []ID, said *Content) (_ []ID, drops bool) {
	for i := range said.Writes {
		w := &said.Writes[i]
		touched = append(append(touched, s.ids.of(w.Name)), w.standsFor(&s.ids)...)
		if !w.RenamedFrom.IsZero() {
			touched = append(touched, s.ids.of(w.RenamedFrom))
		}
		drops = drops || w.drops()
	}
	return touched, drops
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
		if !e.Writes {
			continue
		}
		s.wrote[e.Node] = append(s.wrote[e.Node], wrote{k, e.Put})
		if s.writers[e.Node] != nil {
			s.PutWriters(e.Node, nil)
		}
	}
}

// Says returns what the contribution under a key says now, and the newest run
// that says it; nil where it says nothing. Its parts have to be at hand, as they
// are once a delta to it has been planned in full.
func (s *State) Says(k Key) (said *Content, run Run, provisional bool, err error) {
	c := s.contributions[k]
	if c == nil || c.at == bare {
		return nil, run, false, nil
	}
	segs, err := c.segments()
	if err != nil {
		return nil, run, false, err
	}
	now := Current(segs)
	if now == nil || now.Deletes {
		return nil, run, false, nil
	}
	said, err = c.fold(now.newest)
	return said, c.Record.Runs[now.run], now.Provisional, err
}

// Contribution returns what the state has under a key, or nil.
func (s *State) Contribution(k Key) *Contribution { return s.contributions[k] }
