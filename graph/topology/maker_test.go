package topology

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"headwater/graph"
)

// A maker makes changes at random, over a small world.
type maker struct {
	*rand.Rand
	stores, columns, processes []graph.ID
	keys                       []graph.Key
	names                      map[graph.ID]graph.Name
	said                       map[graph.Key]map[graph.Row][]graph.Target
}

func (m *maker) pick(ids []graph.ID) graph.ID { return ids[m.IntN(len(ids))] }

func storeName(i int) graph.Name {
	return graph.Name{Kind: graph.DataStoreKind, Namespace: "db", Name: fmt.Sprint("t", i)}
}

func processName(i int) graph.Name {
	return graph.Name{Kind: graph.ProcessKind, Namespace: "jobs", Name: fmt.Sprint("p", i)}
}

func newMaker(seed uint64, stores, processes int) *maker {
	m := &maker{Rand: rand.New(rand.NewPCG(seed, 7)), names: map[graph.ID]graph.Name{}, said: map[graph.Key]map[graph.Row][]graph.Target{}}
	for i := range stores {
		id := storeName(i).ID()
		m.names[id] = storeName(i)
		m.stores = append(m.stores, id)
		for c := range 3 {
			m.columns = append(m.columns, id.Column(fmt.Sprint("c", c)))
		}
	}
	for i := range processes {
		id := processName(i).ID()
		m.processes = append(m.processes, id)
		m.keys = append(m.keys, graph.Key{Subject: id, Origin: "a"}, graph.Key{Subject: id, Origin: "b/x"})
	}
	return m
}

// world lists all that changes may speak of.
func (m *maker) world() []graph.ID {
	ids := slices.Concat(m.stores, m.columns, m.processes)
	for _, k := range m.keys {
		ids = append(ids, k.Subject.Hub(k.Origin))
	}
	return ids
}

// content makes about n flows of a contribution, as rows of both their ends.
func (m *maker) content(k graph.Key, n int) map[graph.Row][]graph.Target {
	rows := map[graph.Row][]graph.Target{}
	hub := k.Subject.Hub(k.Origin)
	for range n {
		kinds, coarse := graph.Kinds(m.IntN(4)), m.IntN(3) == 0
		if m.IntN(10) == 0 {
			kinds = graph.Control // a producer may say so of any flow
		}
		switch m.IntN(8) {
		case 0, 1:
			m.flow(rows, graph.TableLayer, m.pick(m.stores), m.pick(m.stores), kinds, coarse)
		case 2:
			if m.IntN(2) == 0 {
				m.flow(rows, graph.TableLayer, m.pick(m.stores), hub, 0, true)
			} else {
				m.flow(rows, graph.TableLayer, hub, m.pick(m.stores), 0, true)
			}
		case 3, 4, 5:
			from, to := m.pick(m.columns), m.pick(m.columns)
			if m.IntN(4) == 0 {
				from = from.Base()
			} else if m.IntN(4) == 0 {
				to = to.Base()
			}
			m.flow(rows, graph.ColumnLayer, from, to, kinds, false)
		case 6:
			if m.IntN(2) == 0 {
				m.flow(rows, graph.UseLayer, m.pick(m.stores), k.Subject, 0, false)
			} else {
				m.flow(rows, graph.UseLayer, k.Subject, m.pick(m.stores), 0, false)
			}
		default:
			m.flow(rows, graph.ControlLayer, m.pick(m.processes), k.Subject, graph.Control, false)
		}
	}
	return rows
}

func (m *maker) flow(rows map[graph.Row][]graph.Target, layer graph.Layer, from, to graph.ID, kinds graph.Kinds, coarse bool) {
	put := func(row graph.Row, t graph.Target) {
		at, ok := slices.BinarySearchFunc(rows[row], t.ID, func(t graph.Target, id graph.ID) int { return t.ID.Compare(id) })
		if ok {
			rows[row][at] = t
		} else {
			rows[row] = slices.Insert(rows[row], at, t)
		}
	}
	put(graph.Row{Layer: layer, Dir: graph.Downstream, Node: from}, graph.Target{ID: to, Kinds: kinds, Coarse: coarse})
	put(graph.Row{Layer: layer, Dir: graph.Upstream, Node: to}, graph.Target{ID: from, Kinds: kinds, Coarse: coarse})
}

// says makes the change by which a contribution says these rows, and no
// others any more: as graph.Plan does.
func (m *maker) says(k graph.Key, rows map[graph.Row][]graph.Target) graph.Change {
	c := graph.Change{Key: k}
	was := m.said[k]
	for row, targets := range rows {
		if !slices.Equal(was[row], targets) {
			c.Flows = append(c.Flows, graph.FlowEdit{Row: row, Targets: targets, Was: was[row]})
		}
	}
	for row, targets := range was {
		if rows[row] == nil {
			c.Flows = append(c.Flows, graph.FlowEdit{Row: row, Was: targets})
		}
	}
	slices.SortFunc(c.Flows, func(a, b graph.FlowEdit) int { return a.Row.Compare(b.Row) })
	m.said[k] = rows
	return c
}

// change makes a change of some contribution: another content, a little of it
// changed, or none.
func (m *maker) change() graph.Change {
	k := m.keys[m.IntN(len(m.keys))]
	rows := map[graph.Row][]graph.Target{}
	switch m.IntN(6) {
	case 0:
	case 1:
		rows = m.content(k, 3)
	default:
		rows = m.content(k, 2+m.IntN(30))
	}
	return m.says(k, rows)
}

// link makes a change of aliases and lives.
func (m *maker) link(r *rows) graph.Change {
	c := graph.Change{Key: m.keys[m.IntN(len(m.keys))]}
	from, to := m.pick(m.stores), m.pick(m.stores)
	switch life := slices.Clone(r.lives[from]); {
	case m.IntN(3) > 0 && from != to:
		a := [2]graph.ID{from, to}
		c.Aliases = []graph.AliasEdit{{From: from, To: to, Put: !r.aliases[a][c.Key]}}
	case len(life) > 0 && life[len(life)-1].Revived == 0:
		life[len(life)-1].Revived = life[len(life)-1].Dropped + 5
		c.Lives = []graph.LifeEdit{{Node: from, Life: life}}
	default:
		p := graph.Period{Dropped: int64(1 + 10*len(life))}
		if m.IntN(2) == 0 && from != to {
			p.RenamedTo = m.names[to]
		}
		c.Lives = []graph.LifeEdit{{Node: from, Life: append(life, p)}}
	}
	return c
}

// unlink makes the change that takes some alias away.
func (m *maker) unlink(r *rows) graph.Change {
	var all []graph.Change
	for a, by := range r.aliases {
		for k := range by {
			all = append(all, graph.Change{Key: k, Aliases: []graph.AliasEdit{{From: a[0], To: a[1]}}})
		}
	}
	if len(all) == 0 {
		return m.link(r)
	}
	slices.SortFunc(all, func(a, b graph.Change) int {
		x, y := a.Aliases[0], b.Aliases[0]
		return cmp.Or(x.From.Compare(y.From), x.To.Compare(y.To), a.Key.Compare(b.Key))
	})
	return all[m.IntN(len(all))]
}
