// Package border is the border index of a gateway: which names of one region
// stand for data stores of another, or for global tables, by what the catalog
// decides. It is derived: from a catalog at one version, and from the names
// that the regions' streams tell of. Each gateway builds its own.
package border

import (
	"encoding/binary"
	"slices"
	"sync"

	"headwater/gateway/catalog"
	"headwater/graph"
)

// GlobalNamespace is the namespace under which every region may name a global
// table: the table itself is in no region.
const GlobalNamespace = "global"

// TableName returns the name of a global table as a node.
func TableName(table string) graph.Name {
	return graph.Name{Kind: graph.DataStoreKind, Namespace: GlobalNamespace, Name: table}
}

// An Index says what names stand for by one version of the catalog. Names can
// be added while others read; a change of the catalog makes another Index.
type Index struct {
	state *catalog.State
	// tables and members are by node, and do not change.
	tables  map[graph.ID]*Table
	members map[graph.ID]*Table

	mu     sync.RWMutex
	to     map[graph.ID]graph.ID
	from   map[graph.ID][]graph.ID
	region map[graph.ID]string
	names  map[graph.ID]graph.Name // of what others stand for, and of members
	// added counts names, and changed says at which count the names of a node
	// were last added to, by what its id begins with.
	added   uint64
	changed map[uint64]uint64
}

// A Table is a global table: Members are the nodes that its members stand for,
// by region.
type Table struct {
	ID      graph.ID
	Name    string
	Kind    catalog.TableKind
	Members []Member
}

// A Member is a node that is a part or a copy of a global table.
type Member struct {
	Region string
	ID     graph.ID
}

// New returns the index of a catalog before any name is added but those of
// which the catalog itself speaks.
func New(state *catalog.State) *Index {
	x := &Index{state: state, tables: map[graph.ID]*Table{}, members: map[graph.ID]*Table{}, to: map[graph.ID]graph.ID{}, from: map[graph.ID][]graph.ID{}, region: map[graph.ID]string{}, names: map[graph.ID]graph.Name{}, changed: map[uint64]uint64{}}
	for t := range state.Tables() {
		table := &Table{ID: TableName(t.Name).ID(), Name: t.Name, Kind: t.Kind}
		x.tables[table.ID] = table
		for _, m := range t.Members {
			x.Add(m.Graph())
			name := x.Resolve(m.Graph())
			id := name.ID()
			x.region[id], x.names[id] = name.Region, name
			x.members[id] = table
			table.Members = append(table.Members, Member{name.Region, id})
		}
		for r := range state.Regions() {
			own := TableName(t.Name)
			own.Region = r.Name
			x.Add(own)
		}
	}
	for a := range state.Aliases() {
		x.Add(a.From.Graph())
	}
	return x
}

// Catalog returns the catalog whose index this is.
func (x *Index) Catalog() *catalog.State { return x.state }

// Resolve returns the name that a name stands for: by the catalog's rules, and
// a global table's where a region names one.
func (x *Index) Resolve(n graph.Name) graph.Name {
	n = x.state.Resolve(n)
	if n.Kind == graph.DataStoreKind && n.Namespace == GlobalNamespace && n.Region != "" {
		if _, ok := x.state.Table(n.Name); ok {
			n.Region = ""
		}
	}
	return n
}

// Add notes names that a region has. Those that stand for themselves take no
// room.
func (x *Index) Add(names ...graph.Name) {
	for _, n := range names {
		if n.Kind != graph.DataStoreKind {
			continue
		}
		n.Column = ""
		target := x.Resolve(n)
		id, to := n.ID(), target.ID()
		if id == to {
			continue
		}
		x.mu.Lock()
		_, known := x.to[id]
		if have, ok := x.names[to]; !ok || target.Compare(have) < 0 { // whichever case came first
			x.names[to] = target
			known = false
		}
		if !known {
			x.added++
			x.changed[prefix(to)], x.changed[prefix(id)] = x.added, x.added
		}
		if _, ok := x.to[id]; !ok {
			x.to[id] = to
			x.region[id] = n.Region
			if target.Region != "" {
				x.region[to] = target.Region
			}
			at, _ := slices.BinarySearchFunc(x.from[to], id, graph.ID.Compare)
			// Readers may hold the list that was.
			x.from[to] = slices.Insert(slices.Clone(x.from[to]), at, id)
		}
		x.mu.Unlock()
	}
}

// Target returns the node that a name stands for by the catalog; false: none
// but itself.
func (x *Index) Target(id graph.ID) (graph.ID, bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	to, ok := x.to[id]
	return to, ok
}

// Sources lists the names that stand for a node by the catalog, sorted.
func (x *Index) Sources(id graph.ID) []graph.ID {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.from[id]
}

// Region returns the region of a name of which the index knows.
func (x *Index) Region(id graph.ID) (string, bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	r, ok := x.region[id]
	return r, ok
}

// Name returns the name of a node for which others stand, or of a member.
func (x *Index) Name(id graph.ID) (graph.Name, bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	n, ok := x.names[id.Base()]
	return n, ok
}

// Table returns the global table that a node is.
func (x *Index) Table(node graph.ID) *Table { return x.tables[node] }

// TableOf returns the global table that a node is a member of.
func (x *Index) TableOf(node graph.ID) *Table { return x.members[node] }

func prefix(id graph.ID) uint64 { return binary.BigEndian.Uint64(id[:]) }

// Added returns how many names have been added.
func (x *Index) Added() uint64 {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.added
}

// Same reports whether no name of nodes has been added after so many; nodes
// are what their ids begin with.
func (x *Index) Same(added uint64, nodes []uint64) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.added == added {
		return true
	}
	for _, n := range nodes {
		if x.changed[n] > added {
			return false
		}
	}
	return true
}

// Len returns how many names stand for another.
func (x *Index) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.to)
}

// Reads lists the members that a reader in a region reads when it reads the
// table: all parts, or the copy of its region, else all copies.
func (t *Table) Reads(region string) []Member {
	if t.Kind == catalog.Replicated {
		return t.local(region)
	}
	return t.Members
}

// Writes lists the members that a writer in a region writes when it writes the
// table: all copies, or the part of its region, else all parts.
func (t *Table) Writes(region string) []Member {
	if t.Kind == catalog.Replicated {
		return t.Members
	}
	return t.local(region)
}

func (t *Table) local(region string) []Member {
	var local []Member
	for _, m := range t.Members {
		if m.Region == region {
			local = append(local, m)
		}
	}
	if len(local) == 0 {
		return t.Members
	}
	return local
}
