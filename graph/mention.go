package graph

import (
	"maps"
	"slices"
)

// mentions are what versions of a contribution speak of.
type mentions struct {
	ids   *ids
	known map[ID]bool // names and columns
	nodes map[ID]bool // their data stores and processes; whether they are written
}

// mentions returns an empty set, in memory that is used again.
func (m *ids) mentions() *mentions {
	x := &m.mentioned
	if len(x.known) > 1<<12 {
		x.known = nil // clearing it costs what it has held
	}
	if x.known == nil {
		x.known, x.nodes = map[ID]bool{}, map[ID]bool{}
	}
	clear(x.known)
	clear(x.nodes)
	x.ids = m
	return x
}

// add takes in what a version speaks of. What is new goes to c, if that is not
// nil.
func (m *mentions) add(con *Contribution, version []uint64, c *Change) error {
	content, err := con.fold(version)
	if err != nil {
		return err
	}
	var last ID
	content.Mentions(con.Record.Subject, func(n Name, writes bool) {
		id := m.ids.of(n)
		if id == last && !writes {
			return
		}
		last = id
		if !m.known[id] {
			m.known[id] = true
			if c != nil {
				c.Names, c.NameIDs = append(c.Names, n.folded()), append(c.NameIDs, id)
			}
		}
		base := id.Base()
		had, ok := m.nodes[base]
		if ok && (had || !writes) {
			return
		}
		m.nodes[base] = writes
		if c == nil {
			return
		}
		if !ok {
			c.Index = append(c.Index, IndexEdit{Node: base, Put: true})
		}
		if writes {
			c.Index = append(c.Index, IndexEdit{Node: base, Writes: true, Put: true})
		}
	})
	return nil
}

// index lists the nodes that come into, or fall out of, what the contribution
// speaks of at any time that is kept, and the names among them that are new.
func (c *Change) index(old, next *Contribution) error {
	was, is := old.versions(), next.versions()
	same := func(a []uint64) func([]uint64) bool { return func(b []uint64) bool { return slices.Equal(a, b) } }
	gone := slices.ContainsFunc(was, func(v []uint64) bool { return !slices.ContainsFunc(is, same(v)) }) ||
		len(next.Record.Runs) == 0 && len(old.Record.Runs) > 0
	if !gone && len(was) == len(is) {
		return nil
	}
	m := next.ids.mentions()
	for _, v := range was {
		if err := m.add(old, v, nil); err != nil {
			return err
		}
	}
	var before map[ID]bool
	if gone {
		m.subject(old)
		before = maps.Clone(m.nodes)
		clear(m.nodes)
	}
	for _, v := range is {
		if !gone && slices.ContainsFunc(was, same(v)) {
			continue
		}
		if err := m.add(next, v, c); err != nil {
			return err
		}
	}
	if gone {
		m.subject(next)
		c.Index = c.Index[:0]
		c.mention(before, m.nodes, true)
		c.mention(m.nodes, before, false)
	}
	c.sortIndex()
	return nil
}

// subject adds the subject of a contribution that has runs: it is spoken of
// although none of them may count any more.
func (m *mentions) subject(con *Contribution) {
	id := m.ids.of(con.Record.Subject)
	if _, ok := m.nodes[id]; !ok && len(con.Record.Runs) > 0 {
		m.nodes[id] = false
	}
}

// mention notes what one set of nodes has and another has not.
func (c *Change) mention(without, with map[ID]bool, put bool) {
	for node, writes := range with {
		had, ok := without[node]
		if !ok {
			c.Index = append(c.Index, IndexEdit{Node: node, Put: put})
		}
		if writes && !had {
			c.Index = append(c.Index, IndexEdit{Node: node, Writes: true, Put: put})
		}
	}
}

func (c *Change) sortIndex() {
	slices.SortFunc(c.Index, func(a, b IndexEdit) int {
		switch order := a.Node.Compare(b.Node); {
		case order != 0:
			return order
		case a.Writes:
			return 1
		}
		return -1
	})
}

// indexNewest is index for a delta that appends: it compares with what was
// said just before, and so puts what only an older version has put.
func (c *Change) indexNewest(old, next *Contribution) error {
	runs := next.Record.Runs
	run, before := &runs[len(runs)-1], old.Record.effectiveBefore(len(old.Record.Runs))
	if !run.effective() || run.Said == before.Said {
		return nil
	}
	m := next.ids.mentions()
	if err := m.add(old, before.hashes(Forever), nil); err != nil {
		return err
	}
	if err := m.add(next, run.hashes(Forever), c); err != nil {
		return err
	}
	c.sortIndex()
	return nil
}
