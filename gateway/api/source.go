package api

import (
	"context"
	"slices"

	"headwater/graph"
)

// A flowSource is FlowSource.
type flowSource struct {
	Process     *process
	Origin      string
	Expression  *string
	Provisional bool

	kinds   graph.Kinds
	details []string // instead of graph.Other
}

// Kinds is FlowSource.kinds.
func (f *flowSource) Kinds() []string {
	if len(f.details) == 0 {
		return f.kinds.Names()
	}
	return append((f.kinds &^ graph.Other).Names(), f.details...)
}

// Operators is FlowSource.operators.
func (f *flowSource) Operators() []*Operator {
	var passed []*Operator
	for _, o := range f.kinds.Operators() {
		passed = append(passed, &Operator{Kind: o})
	}
	return passed
}

// edges describes the edges of an answer.
type edges struct {
	s      *session
	view   graph.View
	edges  []graph.Edge
	column bool // the granularity
	sel    selection
	// expressions, details and provisional: what is selected of what
	// contributions say, as far as some may say it.
	expressions, details, provisional bool

	// nodes are the ends of the edges, those of columns by data store.
	nodes     map[graph.ID]*graph.Node
	processes *list
	spoken    map[graph.Key]*spoken
}

// ends are the two ends of a flow.
type ends struct{ from, to graph.ID }

// spoken is what a contribution says of the flows that it is a source of.
type spoken struct {
	provisional bool
	flows       map[ends]*spokenFlow
}

type spokenFlow struct {
	expression string
	details    []string // kinds of the producer's own
}

func newEdges(s *session, view graph.View, answer *graph.Answer, granularity graph.Granularity, sel selection) *edges {
	e := &edges{s: s, view: view, edges: answer.Edges, column: granularity == graph.Columns, sel: sel, spoken: map[graph.Key]*spoken{}}
	sources := sel.at("sources")
	e.provisional = sources.has("provisional")
	e.expressions = e.column && sources.has("expression")
	kinds := sources.has("kinds")
	for i := range e.edges {
		slices.SortFunc(e.edges[i].Sources, func(a, b graph.EdgeSource) int { return a.By.Compare(b.By) })
		e.details = e.details || kinds && slices.ContainsFunc(e.edges[i].Sources, func(s graph.EdgeSource) bool { return s.Kinds&graph.Other != 0 })
	}
	return e
}

// needs lists the nodes whose facts all needs, if any.
func (e *edges) needs() []graph.ID {
	if !e.expressions && !e.details && !e.sel.has("crossRegion") {
		return nil
	}
	ids := make([]graph.ID, 0, 2*len(e.edges))
	for i := range e.edges {
		ids = append(ids, e.edges[i].From.Base(), e.edges[i].To.Base())
	}
	slices.SortFunc(ids, graph.ID.Compare)
	return slices.Compact(ids)
}

// load loads the processes that make the edges and what is said of them, as
// far as they are selected.
func (e *edges) load(ctx context.Context, nodes map[graph.ID]*graph.Node) ([]graph.Gap, error) {
	e.nodes = nodes
	sel := e.sel.at("sources")
	all := e.provisional || e.expressions
	var processes, subjects []graph.ID
	for i := range e.edges {
		edge := &e.edges[i]
		for _, src := range edge.Sources {
			if src.By.Subject.Kind() == graph.ProcessKind {
				processes = append(processes, src.By.Subject)
			}
			if !all && !(e.details && src.Kinds&graph.Other != 0) {
				continue
			}
			sp := e.spoken[src.By]
			if sp == nil {
				sp = &spoken{flows: map[ends]*spokenFlow{}}
				e.spoken[src.By] = sp
				subjects = append(subjects, src.By.Subject)
			}
			sp.flows[ends{edge.From, edge.To}] = &spokenFlow{}
		}
	}
	var gaps []graph.Gap
	if sel.has("process") {
		slices.SortFunc(processes, graph.ID.Compare)
		var err error
		if e.processes, gaps, err = newList(ctx, e.s, e.view, sel.at("process"), slices.Compact(processes)); err != nil {
			return nil, err
		}
	}
	if len(subjects) == 0 {
		return gaps, nil
	}
	slices.SortFunc(subjects, graph.ID.Compare)
	resolve := e.resolver()
	more, err := e.view.Says(ctx, slices.Compact(subjects), func(said graph.Said) error {
		if sp := e.spoken[said.Record.Key()]; sp != nil && said.Content != nil {
			sp.listen(&said, resolve)
		}
		return nil
	})
	return append(gaps, more...), err
}

// resolver returns what a name stands for, as far as it is an end of an edge:
// from the aliases of the ends, so that it reads nothing.
func (e *edges) resolver() func(graph.ID) graph.ID {
	nodes := map[graph.ID]graph.ID{}
	for _, n := range e.nodes {
		for _, a := range n.Aliases {
			nodes[a.ID()] = n.ID
		}
	}
	return func(id graph.ID) graph.ID {
		if node, ok := nodes[id.Base()]; ok {
			return id.WithBase(node)
		}
		return id
	}
}

// listen notes what a contribution says of its flows.
func (sp *spoken) listen(said *graph.Said, resolve func(graph.ID) graph.ID) {
	sp.provisional = said.Provisional
	for i := range said.Content.Writes {
		w := &said.Content.Writes[i]
		if w.Lineage == nil {
			continue
		}
		to := resolve(w.Name.ID())
		for j := range w.Lineage.Inputs {
			sp.hear(&w.Lineage.Inputs[j], to, resolve)
		}
		for j := range w.Lineage.Columns {
			c := &w.Lineage.Columns[j]
			for k := range c.Inputs {
				sp.hear(&c.Inputs[k], to.Column(c.Column), resolve)
			}
		}
	}
}

func (sp *spoken) hear(src *graph.Source, to graph.ID, resolve func(graph.ID) graph.ID) {
	from := resolve(src.Name.ID())
	for _, flow := range []*spokenFlow{sp.flows[ends{from, to}], sp.flows[ends{from.Base(), to.Base()}]} {
		if flow == nil {
			continue
		}
		if flow.expression == "" {
			flow.expression = src.Expression
		}
		if src.Detail != "" && src.Kinds&graph.Other != 0 && !slices.Contains(flow.details, src.Detail) {
			flow.details = append(flow.details, src.Detail)
		}
	}
}

// all returns the edges as the schema has them.
func (e *edges) all() []lineageEdge {
	all := make([]lineageEdge, len(e.edges))
	sources := e.sel.has("sources")
	for i := range e.edges {
		edge := &e.edges[i]
		all[i] = lineageEdge{From: edge.From, To: edge.To, Coarse: edge.Coarse, CrossRegion: e.crosses(edge)}
		if e.column {
			all[i].Kinds = split(edge.Kinds)
		}
		if !sources {
			continue
		}
		all[i].Sources = make([]flowSource, len(edge.Sources))
		for j, src := range edge.Sources {
			all[i].Sources[j] = e.source(edge, src)
		}
	}
	return all
}

func (e *edges) crosses(edge *graph.Edge) bool {
	from, to := e.nodes[edge.From.Base()], e.nodes[edge.To.Base()]
	return from != nil && to != nil && from.Name.Region != to.Name.Region
}

func (e *edges) source(edge *graph.Edge, src graph.EdgeSource) flowSource {
	fs := flowSource{Origin: graph.System(src.By.Origin), kinds: src.Kinds}
	if e.processes != nil && src.By.Subject.Kind() == graph.ProcessKind {
		fs.Process = e.processes.process(src.By.Subject)
	}
	sp := e.spoken[src.By]
	if sp == nil {
		return fs
	}
	fs.Provisional = sp.provisional
	if flow := sp.flows[ends{edge.From, edge.To}]; flow != nil {
		fs.details = flow.details
		if e.column {
			fs.Expression = optional(flow.expression)
		}
	}
	return fs
}

// split lists the kinds of a set.
func split(set graph.Kinds) []graph.Kinds {
	var kinds []graph.Kinds
	for k := graph.Identity; k != 0 && k <= set; k <<= 1 {
		if set&k != 0 {
			kinds = append(kinds, k)
		}
	}
	return kinds
}
