package derive

import (
	"hash/maphash"
	"slices"
	"sync"

	"headwater/graph"
)

// Covers marks the outputs of a content whose inputs follow from its SQL
// (graph.Lineage.BySQL): that all inputs flow into all outputs is not known of
// them any more. Inputs that the SQL does not name still flow into them. The
// content is changed in place, its lists are copied.
func (d *Deriver) Covers(subject graph.Name, c *graph.Content) {
	if !wanted(c) || len(c.Writes) == 0 {
		return
	}
	covered := d.covered(subject, c)
	if len(covered.outputs) == 0 {
		return
	}
	c.Writes = slices.Clone(c.Writes)
	for _, i := range covered.outputs {
		l := &graph.Lineage{Complete: true, BySQL: true}
		for _, j := range covered.besides {
			l.Inputs = append(l.Inputs, graph.Source{Name: c.Reads[j].Name})
		}
		c.Writes[i].Lineage = l
	}
}

// A covered says which outputs of a content its SQL writes, and which inputs
// it does not name, by their index.
type covered struct{ outputs, besides []int }

// A memory holds what was found of contents: nearly all come again and again.
// The zero value is empty.
type memory struct {
	mu   sync.Mutex // guards the rest
	seed maphash.Seed
	by   map[uint64]covered
}

// memories bounds how many are kept.
const memories = 1 << 16

func (d *Deriver) covered(subject graph.Name, c *graph.Content) covered {
	m := &d.memory
	m.mu.Lock()
	if m.by == nil || len(m.by) >= memories {
		m.seed, m.by = maphash.MakeSeed(), map[uint64]covered{}
	}
	var h maphash.Hash
	h.SetSeed(m.seed)
	text := func(s string) {
		_, _ = h.WriteString(s)
		_ = h.WriteByte(0)
	}
	text(subject.Namespace)
	text(c.Dialect)
	text(c.SQL)
	for _, list := range [...][]graph.Dataset{c.Reads, c.Writes} {
		for i := range list {
			text(list[i].Name.Namespace)
			text(list[i].Name.Name)
			for _, a := range list[i].Aliases {
				text(a.To.Namespace)
				text(a.To.Name)
			}
		}
		text("")
	}
	key := h.Sum64()
	found, ok := m.by[key]
	m.mu.Unlock()
	if ok {
		return found
	}
	found = d.find(subject, c)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.by[key] = found
	return found
}

func (d *Deriver) find(subject graph.Name, c *graph.Content) (found covered) {
	a, names := d.Analyze(subject, c, nil)
	m := maker{a: a, names: names}
	var reads, writes []graph.Name
	for _, t := range a.Inputs {
		if n, ok := m.name(t); ok {
			reads = append(reads, n)
		}
	}
	for _, f := range a.Flows {
		if n, ok := m.name(f.Table); ok && !f.NoFlow {
			writes = append(writes, n)
		}
	}
	is := func(d *graph.Dataset, list []graph.Name) bool {
		return slices.Contains(list, d.Name) || slices.ContainsFunc(d.Aliases, func(a graph.Alias) bool { return slices.Contains(list, a.To) })
	}
	for i := range c.Writes {
		if is(&c.Writes[i], writes) {
			found.outputs = append(found.outputs, i)
		}
	}
	for i := range c.Reads {
		if !is(&c.Reads[i], reads) {
			found.besides = append(found.besides, i)
		}
	}
	return found
}
