package graph

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
