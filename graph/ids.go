package graph

import "slices"

// An ids remembers the ids of names: contents speak of the same few over and
// over, and an id is a hash. The zero value works; it is not safe for use by
// many at once.
type ids struct {
	stores map[Name]ID
	// tails are what the ids of columns end in, by path.
	tails map[string][8]byte
	// last is the name that was asked for last, and its id.
	last   Name
	lastID ID
	// Memory that is used again, by derive and by Change.index.
	halves    []half
	mentioned mentions
}

// of is n.ID().
func (m *ids) of(n Name) ID {
	id := m.base(n)
	if n.Column != "" {
		id = m.column(id, n.Column)
	}
	return id
}

// base is n.DataStore().ID().
func (m *ids) base(n Name) ID {
	n.Column = ""
	if n == m.last {
		return m.lastID
	}
	id, ok := m.stores[n]
	if !ok {
		if m.stores == nil {
			m.stores = map[Name]ID{}
		}
		id = n.ID()
		m.stores[n] = id
	}
	m.last, m.lastID = n, id
	return id
}

// column is id.Column(path).
func (m *ids) column(id ID, path string) ID {
	tail, ok := m.tails[path]
	if !ok {
		if m.tails == nil {
			m.tails = map[string][8]byte{}
		}
		c := ID{}.Column(path)
		copy(tail[:], c[16:])
		m.tails[path] = tail
	}
	copy(id[16:], tail[:])
	return id
}

// distinct reports whether no two of the data sets have one name.
func (m *ids) distinct(list []Dataset) bool { return distinct(list, m.of) }

func distinct(list []Dataset, of func(Name) ID) bool {
	const few = 8
	if len(list) < 2 {
		return true
	}
	if len(list) > few {
		seen := make(map[ID]bool, len(list))
		for i := range list {
			seen[of(list[i].Name)] = true
		}
		return len(seen) == len(list)
	}
	var seen [few]ID
	for i := range list {
		seen[i] = of(list[i].Name)
		if slices.Contains(seen[:i], seen[i]) {
			return false
		}
	}
	return true
}
