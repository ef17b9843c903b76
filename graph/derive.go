package graph

import (
	"cmp"
	"maps"
	"slices"
)

// A Layer separates the flows that different questions ask for.
type Layer uint8

// The layers. Within each, a flow is stored at both of its ends.
const (
	// TableLayer: DataStore to DataStore, and through hubs.
	TableLayer Layer = 1
	// ColumnLayer: Column to Column, Column to DataStore and back.
	ColumnLayer Layer = 2
	// UseLayer: DataStore to Process (read), Process to DataStore (write).
	UseLayer Layer = 3
	// ControlLayer: Process to Process.
	ControlLayer Layer = 4
)

// A Row is the place in the read model of the flows that one contribution
// gives one node in one direction.
type Row struct {
	Layer Layer
	Dir   Direction // Downstream or Upstream
	Node  ID
}

// Compare orders rows by layer, direction and node.
func (r Row) Compare(o Row) int {
	return cmp.Or(cmp.Compare(r.Layer, o.Layer), cmp.Compare(r.Dir, o.Dir), r.Node.Compare(o.Node))
}

// A Target is the other end of a flow.
type Target struct {
	ID    ID
	Kinds Kinds
	// Coarse: known between the data stores only (TableLayer).
	Coarse bool
}

// The ranks of what is said of a node, best first.
const (
	RankSelf uint8 = iota
	RankWriter
	RankReader
)

// A PieceRow is what a contribution says of one node.
type PieceRow struct {
	Node  ID
	Rank  uint8
	Facts Facts
}

// A NamedRow says that a live flow names a column.
type NamedRow struct {
	Column  ID
	Display string
}

// Rows are all that a content implies in the read model. Each list is sorted
// and without repetition.
type Rows struct {
	Flows   map[Row][]Target
	Pieces  []PieceRow
	Named   []NamedRow
	Aliases [][2]ID // from, to
}

// Derive computes the rows that the content of a contribution implies. It is
// pure; the engines, the plan and asOf readers share it.
func Derive(subject Name, origin string, c *Content) Rows {
	d := deriver{subject: subject.ID(), origin: origin, rows: map[Row]map[ID]Target{}, named: map[NamedRow]bool{}, aliases: map[[2]ID]bool{}}
	process := subject.Kind == ProcessKind
	if process {
		f := c.Facts
		if f.Kind == "" && c.SQL != "" {
			f.Kind = "SQL"
		}
		d.piece(d.subject, RankSelf, f)
	}
	for i := range c.Reads {
		d.dataset(&c.Reads[i], RankReader)
	}
	named := map[ID]bool{} // inputs that a lineage of the content names
	for i := range c.Writes {
		w := &c.Writes[i]
		rank := RankWriter
		if w.Name.ID() == d.subject {
			rank = RankSelf
		}
		d.dataset(w, rank)
		w.Lineage.sources(func(s *Source) { named[s.Name.DataStore().ID()] = true })
	}

	var all, orphans []ID // inputs; inputs of which no lineage speaks
	for i := range c.Reads {
		id := c.Reads[i].Name.ID()
		all = append(all, id)
		if !named[id] {
			orphans = append(orphans, id)
		}
	}
	var plain []ID // outputs without lineage
	for i := range c.Writes {
		w := &c.Writes[i]
		out := w.Name.ID()
		switch {
		case w.Lifecycle == LifecycleDrop:
			continue
		case w.Lineage == nil && process:
			plain = append(plain, out)
		case w.Lineage != nil:
			d.lineage(out, w.Lineage)
			if !w.Lineage.Complete {
				for _, in := range orphans {
					d.flow(TableLayer, in, Target{ID: out, Coarse: true})
				}
			}
		}
		if process {
			d.flow(UseLayer, d.subject, Target{ID: out})
		}
	}
	if process {
		for _, in := range all {
			named[in] = true
		}
		for _, in := range slices.SortedFunc(maps.Keys(named), ID.Compare) {
			d.flow(UseLayer, in, Target{ID: d.subject})
		}
		d.fan(all, plain)
	}
	for _, p := range c.Processes {
		d.flow(ControlLayer, p.From.ID(), Target{ID: p.To.ID(), Kinds: p.Kinds})
	}
	return d.done()
}

type deriver struct {
	subject ID
	origin  string
	rows    map[Row]map[ID]Target
	pieces  []PieceRow
	named   map[NamedRow]bool
	aliases map[[2]ID]bool
}

func (d *deriver) piece(node ID, rank uint8, f Facts) {
	if !f.IsZero() {
		d.pieces = append(d.pieces, PieceRow{Node: node, Rank: rank, Facts: f})
	}
}

func (d *deriver) dataset(ds *Dataset, rank uint8) {
	if ds.Lifecycle == LifecycleDrop {
		return
	}
	f := ds.Facts
	if _, folded := ds.Name.Folded(); folded != ds.Name.Name {
		f.Display = cmp.Or(f.Display, ds.Name.Name)
	}
	d.piece(ds.Name.ID(), rank, f)
	for _, a := range ds.Aliases {
		if from, to := a.From.ID(), a.To.ID(); from != to {
			d.aliases[[2]ID{from, to}] = true
		}
	}
}

// sources calls f for each source of the lineage; l may be nil.
func (l *Lineage) sources(f func(*Source)) {
	if l == nil {
		return
	}
	for i := range l.Inputs {
		f(&l.Inputs[i])
	}
	for i := range l.Columns {
		for j := range l.Columns[i].Inputs {
			f(&l.Columns[i].Inputs[j])
		}
	}
}

// flow adds a flow at both of its ends; flows between the same two join.
func (d *deriver) flow(layer Layer, from ID, to Target) {
	d.half(Row{Layer: layer, Dir: Downstream, Node: from}, to)
	back := to
	back.ID = from
	d.half(Row{Layer: layer, Dir: Upstream, Node: to.ID}, back)
}

func (d *deriver) half(r Row, t Target) {
	targets := d.rows[r]
	if targets == nil {
		targets = map[ID]Target{}
		d.rows[r] = targets
	}
	if have, ok := targets[t.ID]; ok {
		t.Kinds |= have.Kinds
		t.Coarse = t.Coarse && have.Coarse
	}
	targets[t.ID] = t
}

// fan connects inputs to outputs where no pairs are known: directly where one
// side has one member at most, else through a hub, so that thousands by
// thousands are stored as thousands plus thousands.
func (d *deriver) fan(ins, outs []ID) {
	if len(ins) > 1 && len(outs) > 1 {
		hub := d.subject.Hub(d.origin)
		for _, in := range ins {
			d.flow(TableLayer, in, Target{ID: hub, Coarse: true})
		}
		for _, out := range outs {
			d.flow(TableLayer, hub, Target{ID: out, Coarse: true})
		}
		return
	}
	for _, in := range ins {
		for _, out := range outs {
			d.flow(TableLayer, in, Target{ID: out, Coarse: true})
		}
	}
}

func (d *deriver) lineage(out ID, l *Lineage) {
	source := func(s *Source, to ID) {
		from := s.Name.ID()
		table := Target{ID: out, Kinds: s.Kinds, Coarse: !from.IsColumn()}
		if from.IsColumn() {
			d.named[NamedRow{Column: from, Display: s.Name.Column}] = true
		}
		if from.IsColumn() || to.IsColumn() {
			d.flow(ColumnLayer, from, Target{ID: to, Kinds: s.Kinds})
			table.Coarse = false
		}
		d.flow(TableLayer, from.Base(), table)
	}
	for i := range l.Inputs {
		source(&l.Inputs[i], out)
	}
	for i := range l.Columns {
		c := &l.Columns[i]
		to := out.Column(c.Column)
		d.named[NamedRow{Column: to, Display: c.Column}] = true
		for j := range c.Inputs {
			source(&c.Inputs[j], to)
		}
	}
}

func (d *deriver) done() Rows {
	r := Rows{Flows: make(map[Row][]Target, len(d.rows))}
	for row, targets := range d.rows {
		r.Flows[row] = slices.SortedFunc(maps.Values(targets), func(a, b Target) int { return a.ID.Compare(b.ID) })
	}
	r.Pieces = d.pieces
	slices.SortStableFunc(r.Pieces, func(a, b PieceRow) int {
		return cmp.Or(a.Node.Compare(b.Node), cmp.Compare(a.Rank, b.Rank))
	})
	r.Named = slices.SortedFunc(maps.Keys(d.named), func(a, b NamedRow) int {
		return cmp.Or(a.Column.Compare(b.Column), cmp.Compare(a.Display, b.Display))
	})
	r.Aliases = slices.SortedFunc(maps.Keys(d.aliases), func(a, b [2]ID) int {
		return cmp.Or(a[0].Compare(b[0]), a[1].Compare(b[1]))
	})
	return r
}

// Mentions calls f with every name that a content speaks of; writes is true
// for data stores that it writes or drops.
func (c *Content) Mentions(subject Name, f func(n Name, writes bool)) {
	name := func(n Name, writes bool) {
		if !n.IsZero() {
			f(n, writes)
		}
	}
	name(subject, false)
	name(c.Parent, false)
	for _, list := range [...]struct {
		ds     []Dataset
		writes bool
	}{{c.Reads, false}, {c.Writes, true}} {
		for i := range list.ds {
			d := &list.ds[i]
			name(d.Name, list.writes)
			name(d.RenamedFrom, list.writes)
			for _, a := range d.Aliases {
				name(a.From, list.writes)
				name(a.To, list.writes)
			}
			for j := range d.Facts.Columns {
				name(d.Name.Of(d.Facts.Columns[j].Path), false)
			}
			if d.Lineage != nil {
				d.Lineage.sources(func(s *Source) {
					name(s.Name.DataStore(), false)
					name(s.Name, false)
				})
				for j := range d.Lineage.Columns {
					name(d.Name.Of(d.Lineage.Columns[j].Column), false)
				}
			}
		}
	}
	for _, p := range c.Processes {
		name(p.From, false)
		name(p.To, false)
	}
}
