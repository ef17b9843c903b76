package graph

import (
	"cmp"
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
	switch {
	case r.Layer != o.Layer:
		return cmp.Compare(r.Layer, o.Layer)
	case r.Dir != o.Dir:
		return cmp.Compare(r.Dir, o.Dir)
	}
	return r.Node.Compare(o.Node)
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
	d := derive(new(ids), subject, origin, c)
	r := Rows{Flows: make(map[Row][]Target, len(d.flows)), Pieces: d.pieces, Named: d.named, Aliases: d.aliases}
	for _, f := range d.flows {
		r.Flows[f.row] = f.targets
	}
	return r
}

// A derivation is Rows with the flows as a sorted list.
type derivation struct {
	flows   []flowRow
	pieces  []PieceRow
	named   []NamedRow
	aliases [][2]ID
}

type flowRow struct {
	row     Row
	targets []Target
}

func derive(ids *ids, subject Name, origin string, c *Content) derivation {
	d := deriver{ids: ids, subject: ids.of(subject), origin: origin, halves: ids.halves[:0]}
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
	var named []ID // inputs that a lineage of the content names
	for i := range c.Writes {
		w := &c.Writes[i]
		rank := RankWriter
		if ids.of(w.Name) == d.subject {
			rank = RankSelf
		}
		d.dataset(w, rank)
		w.Lineage.sources(func(s *Source) {
			if id := ids.base(s.Name); len(named) == 0 || named[len(named)-1] != id {
				named = append(named, id)
			}
		})
	}
	slices.SortFunc(named, ID.Compare)
	named = slices.Compact(named)

	var all, orphans []ID // inputs; inputs of which no lineage speaks
	for i := range c.Reads {
		id := ids.of(c.Reads[i].Name)
		all = append(all, id)
		if _, ok := slices.BinarySearchFunc(named, id, ID.Compare); !ok {
			orphans = append(orphans, id)
		}
	}
	var plain []ID // outputs without lineage
	for i := range c.Writes {
		w := &c.Writes[i]
		out := ids.of(w.Name)
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
		for _, list := range [...][]ID{named, all} {
			for _, in := range list {
				d.flow(UseLayer, in, Target{ID: d.subject})
			}
		}
		d.fan(all, plain)
	}
	for _, p := range c.Processes {
		d.flow(ControlLayer, ids.of(p.From), Target{ID: ids.of(p.To), Kinds: p.Kinds})
	}
	return d.done()
}

type deriver struct {
	ids     *ids
	subject ID
	origin  string
	halves  []half
	pieces  []PieceRow
	named   []NamedRow
	aliases [][2]ID
}

// A half is a flow at one of its ends.
type half struct {
	row    Row
	target Target
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
	d.piece(d.ids.of(ds.Name), rank, f)
	for _, a := range ds.Aliases {
		if from, to := d.ids.of(a.From), d.ids.of(a.To); from != to {
			d.aliases = append(d.aliases, [2]ID{from, to})
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

// flow adds a flow at both of its ends.
func (d *deriver) flow(layer Layer, from ID, to Target) {
	d.halves = append(d.halves, half{Row{Layer: layer, Dir: Downstream, Node: from}, to})
	back := to
	back.ID = from
	d.halves = append(d.halves, half{Row{Layer: layer, Dir: Upstream, Node: to.ID}, back})
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
		from := d.ids.of(s.Name)
		table := Target{ID: out, Kinds: s.Kinds, Coarse: !from.IsColumn()}
		if from.IsColumn() {
			d.named = append(d.named, NamedRow{Column: from, Display: s.Name.Column})
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
		to := d.ids.column(out, c.Column)
		d.named = append(d.named, NamedRow{Column: to, Display: c.Column})
		for j := range c.Inputs {
			source(&c.Inputs[j], to)
		}
	}
}

func (d *deriver) done() derivation {
	slices.SortFunc(d.halves, func(a, b half) int {
		if c := a.row.Compare(b.row); c != 0 {
			return c
		}
		return a.target.ID.Compare(b.target.ID)
	})
	targets := make([]Target, 0, len(d.halves)) // of all rows
	rows := 0
	for i := range d.halves {
		if i == 0 || d.halves[i].row != d.halves[i-1].row {
			rows++
		}
	}
	r := derivation{flows: make([]flowRow, 0, rows), pieces: d.pieces}
	for i := 0; i < len(d.halves); {
		row, from := d.halves[i].row, len(targets)
		for ; i < len(d.halves) && d.halves[i].row == row; i++ {
			t := d.halves[i].target
			if n := len(targets); n > from && targets[n-1].ID == t.ID { // flows between the same two join
				targets[n-1].Kinds |= t.Kinds
				targets[n-1].Coarse = targets[n-1].Coarse && t.Coarse
				continue
			}
			targets = append(targets, t)
		}
		r.flows = append(r.flows, flowRow{row, targets[from:len(targets):len(targets)]})
	}
	d.ids.halves = d.halves
	slices.SortStableFunc(r.pieces, func(a, b PieceRow) int { return a.compare(&b) })
	slices.SortFunc(d.named, NamedRow.compare)
	r.named = slices.Compact(d.named)
	slices.SortFunc(d.aliases, compareAliases)
	r.aliases = slices.Compact(d.aliases)
	return r
}

// compare orders pieces by their place: the node and the rank.
func (p *PieceRow) compare(o *PieceRow) int {
	return cmp.Or(p.Node.Compare(o.Node), cmp.Compare(p.Rank, o.Rank))
}

func (r NamedRow) compare(o NamedRow) int {
	return cmp.Or(r.Column.Compare(o.Column), cmp.Compare(r.Display, o.Display))
}

func compareAliases(a, b [2]ID) int { return cmp.Or(a[0].Compare(b[0]), a[1].Compare(b[1])) }

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
