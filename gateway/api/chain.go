package api

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"headwater/graph"
	"headwater/ingest/derive"
)

// A sqlChain is SqlChain.
type sqlChain struct {
	Steps    []*sqlChainStep
	Complete bool
	Gaps     []graph.Gap
}

// A sqlChainStep is SqlChainStep.
type sqlChainStep struct {
	Process   *process
	DataStore *dataStore
	Column    string
	Distance  int
	SQL       string
	Assumes   []string
	Dialect   string
}

// An output is a column that one contribution writes, in an answer.
type output struct {
	by     graph.ID // the process
	column graph.ID
}

// SQLChain is Query.sqlChain.
func (q *query) SQLChain(ctx context.Context, of NodeRef, depth int, dependencies []graph.Kinds, limit int) (*sqlChain, error) {
	if err := q.bounds(depth, limit); err != nil {
		return nil, err
	}
	kinds, err := parseKinds(dependencies, nil)
	if err != nil {
		return nil, err
	}
	s := sessionOf(ctx)
	st, err := s.view(ctx, graph.At{})
	if err != nil {
		return nil, err
	}
	question := graph.Question{Direction: graph.Upstream, Granularity: graph.Columns, Depth: depth, Kinds: kinds, Limit: limit}
	s.expect(st, of, &question, 0)
	root, gaps, err := s.find(ctx, st, "of", of, 0)
	if err != nil {
		return nil, err
	}
	if root.ID.Kind() == graph.ProcessKind {
		return nil, badInput("of: %s is a process; a chain leads to a column or a data store", root.Name)
	}
	walk, cancel := s.within(ctx, walkShare)
	defer cancel()
	question.Root = root.ID
	answer, err := q.walk(walk, st.View, question)
	if err != nil {
		return nil, fmt.Errorf("SQL of %s: %w", root.Name, err)
	}
	chain := &sqlChain{Steps: []*sqlChainStep{}}
	more, err := chain.fill(ctx, s, st, answer)
	if err != nil {
		return nil, fmt.Errorf("SQL of %s: %w", root.Name, err)
	}
	chain.Gaps = joinGaps(st.behind, gaps, answer.Gaps, more)
	chain.Complete = answer.Truncated == nil && len(chain.Gaps) == 0
	return chain, nil
}

// fill finds the SQL of the tasks of an answer.
func (c *sqlChain) fill(ctx context.Context, s *session, st *state, answer *graph.Answer) ([]graph.Gap, error) {
	ctx, cancel := s.reading(ctx)
	defer cancel()
	distance := make(map[graph.ID]int, len(answer.Nodes))
	for _, n := range answer.Nodes {
		distance[n.ID] = n.Upstream
	}
	var all []output
	var subjects, stores []graph.ID
	for i := range answer.Edges {
		e := &answer.Edges[i]
		if !e.To.IsColumn() {
			continue
		}
		for _, src := range e.Sources {
			if src.By.Subject.Kind() == graph.ProcessKind {
				all = append(all, output{src.By.Subject, e.To})
				subjects, stores = append(subjects, src.By.Subject), append(stores, e.To.Base())
			}
		}
	}
	compare := func(a, b output) int {
		// Data flows from what is far to what is near.
		return cmp.Or(cmp.Compare(distance[b.column], distance[a.column]), a.column.Compare(b.column), a.by.Compare(b.by))
	}
	slices.SortFunc(all, compare)
	all = slices.Compact(all)
	sorted := func(ids []graph.ID) []graph.ID {
		slices.SortFunc(ids, graph.ID.Compare)
		return slices.Compact(ids)
	}
	sel := selected(ctx)
	processes, gaps, err := newList(ctx, s, st, sel.at("steps", "process"), sorted(subjects))
	if err != nil {
		return nil, err
	}
	if processes.says == nil {
		more, err := processes.loadSays(ctx)
		if err != nil {
			return nil, err
		}
		gaps = append(gaps, more...)
	}
	tables, more, err := newList(ctx, s, st, sel.at("steps", "dataStore"), sorted(stores))
	if err != nil {
		return nil, err
	}
	gaps = append(gaps, more...)
	traces := map[graph.ID]*derive.Trace{}
	columns, more, err := columnNames(ctx, st, all)
	if err != nil {
		return nil, err
	}
	gaps = append(gaps, more...)
	for _, w := range all {
		says := processes.says[w.by]
		if says == nil || says.runs == nil {
			continue
		}
		t, ok := traces[w.by]
		if !ok {
			if t, more, err = s.trace(ctx, st, says.runner, says.runs); err != nil {
				return nil, err
			}
			gaps, traces[w.by] = append(gaps, more...), t
		}
		if t == nil {
			continue
		}
		c.add(t, w, columns[w.column], distance[w.column], processes, tables)
	}
	return gaps, nil
}

// add adds the SQL of one column of one task.
func (c *sqlChain) add(t *derive.Trace, w output, column graph.Node, distance int, processes, tables *list) {
	names := []graph.ID{w.column.Base()}
	for _, a := range column.Aliases {
		names = append(names, a.ID())
	}
	for _, name := range names {
		clips := t.Clip(name, column.Name.Column)
		for _, clip := range clips {
			assumes := clip.Assumes
			if assumes == nil {
				assumes = []string{}
			}
			c.Steps = append(c.Steps, &sqlChainStep{
				Process: &process{processes.member(w.by, nil)}, DataStore: &dataStore{tables.member(w.column.Base(), nil)},
				Column: column.Name.Column, Distance: distance, SQL: clip.Text, Assumes: assumes, Dialect: t.Analysis().Dialect,
			})
		}
		if clips != nil {
			return
		}
	}
}

// columnNames loads the names of columns, by id.
func columnNames(ctx context.Context, view graph.View, all []output) (map[graph.ID]graph.Node, []graph.Gap, error) {
	var ids []graph.ID
	for _, w := range all {
		ids = append(ids, w.column)
	}
	slices.SortFunc(ids, graph.ID.Compare)
	nodes := make(map[graph.ID]graph.Node, len(ids))
	gaps, err := view.Nodes(ctx, slices.Compact(ids), 0, func(n graph.Node) error {
		nodes[n.ID] = n
		return nil
	})
	return nodes, gaps, err
}
