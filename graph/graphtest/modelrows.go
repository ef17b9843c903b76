package graphtest

import (
	"context"
	"maps"
	"slices"
	"sync"

	"headwater/graph"
)

// modelRows are all rows, derived anew; they do not change afterwards.
type modelRows struct {
	marks   map[string]graph.Mark
	cons    map[graph.Key]*lockedContribution
	names   map[graph.ID]graph.Name
	flows   map[graph.Row]map[graph.Key][]graph.Target
	columns map[graph.ID][]graph.ID // rows of columns, by data store
	pieces  map[graph.ID][]graph.Piece
	named   map[graph.ID][]graph.NamedRow
	to      map[graph.ID][]graph.ID
	from    map[graph.ID][]graph.ID
	index   map[graph.ID]map[graph.Key]bool
	lives   map[graph.ID]graph.Life
	seen    map[graph.ID]map[string][]byte
	slices  map[graph.ID]map[string]int64
}

type lockedContribution struct {
	sync.Mutex
	*graph.Contribution
}

func (m *Model) derive() (*modelRows, error) {
	if m.rows != nil {
		return m.rows, nil
	}
	r := &modelRows{marks: map[string]graph.Mark{m.region: m.mark}, cons: map[graph.Key]*lockedContribution{}, names: maps.Clone(m.names),
		flows: map[graph.Row]map[graph.Key][]graph.Target{}, columns: map[graph.ID][]graph.ID{}, pieces: map[graph.ID][]graph.Piece{},
		named: map[graph.ID][]graph.NamedRow{}, to: map[graph.ID][]graph.ID{}, from: map[graph.ID][]graph.ID{},
		index: map[graph.ID]map[graph.Key]bool{}, lives: map[graph.ID]graph.Life{}, seen: map[graph.ID]map[string][]byte{}, slices: map[graph.ID]map[string]int64{}}
	for k, record := range m.records {
		if m.cons[k] == nil {
			m.cons[k] = &lockedContribution{Contribution: graph.NewContribution(record, m.parts[k])}
		}
		r.cons[k] = m.cons[k]
		c := r.cons[k].Contribution
		said, err := c.At(graph.Forever)
		if err != nil {
			return nil, err
		}
		if said.Content != nil {
			r.add(k, &said)
		}
		if err := r.speak(k, c); err != nil {
			return nil, err
		}
	}
	writers := map[graph.ID][]*graph.Contribution{}
	for id, keys := range r.index {
		for k, writes := range keys {
			if writes {
				writers[id] = append(writers[id], r.cons[k].Contribution)
			}
		}
	}
	for id, cons := range writers {
		life, err := graph.LifeOf(id, cons)
		if err != nil {
			return nil, err
		}
		if len(life) > 0 {
			r.lives[id] = life
		}
		for _, p := range life {
			if !p.RenamedTo.IsZero() {
				r.from[p.RenamedTo.ID()] = append(r.from[p.RenamedTo.ID()], id)
			}
		}
	}
	for id, facets := range m.seen {
		r.seen[id] = map[string][]byte{}
		for name, s := range facets {
			r.seen[id][name] = s.json
		}
	}
	for id, ps := range m.slices {
		r.slices[id] = maps.Clone(ps)
	}
	m.rows = r
	return r, nil
}

func (r *modelRows) add(k graph.Key, said *graph.Said) {
	rows := graph.Derive(said.Record.Subject, k.Origin, said.Content)
	for row, targets := range rows.Flows {
		if r.flows[row] == nil {
			r.flows[row] = map[graph.Key][]graph.Target{}
		}
		r.flows[row][k] = targets
		if base := row.Node.Base(); row.Node.IsColumn() && !slices.Contains(r.columns[base], row.Node) {
			r.columns[base] = append(r.columns[base], row.Node)
		}
	}
	for _, p := range rows.Pieces {
		r.pieces[p.Node] = append(r.pieces[p.Node], graph.Piece{Rank: p.Rank, From: said.From, By: k, Facts: p.Facts})
	}
	for _, n := range rows.Named {
		r.named[n.Column.Base()] = append(r.named[n.Column.Base()], n)
	}
	for _, a := range rows.Aliases {
		if !slices.Contains(r.to[a[0]], a[1]) {
			r.to[a[0]] = append(r.to[a[0]], a[1])
			r.from[a[1]] = append(r.from[a[1]], a[0])
		}
	}
}

// speak notes what a contribution speaks of, in any of its versions.
func (r *modelRows) speak(k graph.Key, c *graph.Contribution) error {
	note := func(n graph.Name, writes bool) {
		base := n.ID().Base()
		if r.index[base] == nil {
			r.index[base] = map[graph.Key]bool{}
		}
		r.index[base][k] = r.index[base][k] || writes
	}
	note(c.Record.Subject, false)
	contents, err := c.Contents()
	for _, content := range contents {
		content.Mentions(c.Record.Subject, note)
	}
	return err
}

func sorted[V any](m map[graph.Key]V) []graph.Key {
	return slices.SortedFunc(maps.Keys(m), graph.Key.Compare)
}

// The methods below implement graph.Raw.

func (r *modelRows) Marks() map[string]graph.Mark { return r.marks }

func (r *modelRows) Close() error { return nil }

func (r *modelRows) AliasTargets(from graph.ID) ([]graph.ID, error) {
	return slices.SortedFunc(slices.Values(r.to[from]), graph.ID.Compare), nil
}

func (r *modelRows) AliasSources(to graph.ID) ([]graph.ID, error) {
	return slices.SortedFunc(slices.Values(r.from[to]), graph.ID.Compare), nil
}

func (r *modelRows) Life(node graph.ID) (graph.Life, error) { return r.lives[node], nil }

func (r *modelRows) Names(_ context.Context, ids []graph.ID, emit func(graph.ID, graph.Name) error) error {
	for _, id := range ids {
		if n, ok := r.names[id]; ok {
			if err := emit(id, n); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *modelRows) Flows(_ context.Context, f graph.Ask, names []graph.ID, emit func(graph.ID, graph.Key, []graph.Target) error) error {
	for _, name := range names {
		nodes := []graph.ID{name}
		if f.Whole {
			nodes = append(nodes, r.columns[name]...)
		}
		for _, node := range nodes {
			row := r.flows[graph.Row{Layer: f.Layer, Dir: f.Dir, Node: node}]
			for _, k := range sorted(row) {
				if err := emit(node, k, row[k]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (r *modelRows) Pieces(_ context.Context, names []graph.ID, emit func(graph.ID, graph.Piece) error) error {
	for _, name := range names {
		for _, p := range r.pieces[name] {
			if err := emit(name, p); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *modelRows) Named(_ context.Context, base graph.ID, emit func(graph.NamedRow) error) error {
	for _, n := range r.named[base] {
		if err := emit(n); err != nil {
			return err
		}
	}
	return nil
}

func (r *modelRows) Seen(_ context.Context, name graph.ID) (map[string][]byte, error) {
	return r.seen[name], nil
}

func (r *modelRows) Partitions(_ context.Context, name graph.ID, emit func(graph.Partition) error) error {
	for p, at := range r.slices[name] {
		if err := emit(graph.Partition{Name: p, Created: at}); err != nil {
			return err
		}
	}
	return nil
}

func (r *modelRows) Speakers(_ context.Context, names []graph.ID, emit func(graph.ID, graph.Key) error) error {
	for _, name := range names {
		for _, k := range sorted(r.index[name]) {
			if err := emit(name, k); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *modelRows) Contributions(_ context.Context, keys []graph.Key, emit func(*graph.Contribution) error) error {
	for _, want := range keys {
		for _, k := range sorted(r.cons) {
			if k.Subject != want.Subject || want.Origin != "" && k.Origin != want.Origin {
				continue
			}
			c := r.cons[k]
			c.Lock()
			err := emit(c.Contribution)
			c.Unlock()
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *modelRows) Records(ctx context.Context, subject graph.ID, emit func(*graph.Record) error) error {
	return r.Contributions(ctx, []graph.Key{{Subject: subject}}, func(c *graph.Contribution) error { return emit(&c.Record) })
}

func (r *modelRows) Search(_ context.Context, text string, after graph.Rank, emit func(graph.Rank) (bool, error)) error {
	var ranks []graph.Rank
	for id, n := range r.names {
		if rank := graph.RankName(graph.SearchText(n), text, id); rank.Class != graph.NoMatch && rank.Compare(after) > 0 {
			ranks = append(ranks, rank)
		}
	}
	slices.SortFunc(ranks, graph.Rank.Compare)
	for _, rank := range ranks {
		if more, err := emit(rank); err != nil || !more {
			return err
		}
	}
	return nil
}

func (r *modelRows) AliasedNames(_ context.Context, after graph.ID, emit func(graph.ID) (bool, error)) error {
	for _, id := range slices.SortedFunc(maps.Keys(r.to), graph.ID.Compare) {
		if id.Compare(after) <= 0 {
			continue
		}
		if more, err := emit(id); err != nil || !more {
			return err
		}
	}
	return nil
}
