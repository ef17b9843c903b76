package api

import (
	"context"
	"slices"

	"headwater/graph"
	"headwater/ingest/derive"
)

// A flowSource is FlowSource.
type flowSource struct {
	by   *speaker
	edge *graph.Edge
	// kinds are those of the source; details stand for graph.Other.
	kinds      graph.Kinds
	details    []string
	expression string
	// passed are the operators of its plan; nil: they are not known.
	passed []derive.Operator
}

// A speaker is a contribution that makes edges of an answer.
type speaker struct {
	origin      string
	process     *process // nil: a data store, or it is not selected
	provisional bool
	// asked are its flows of which the content is asked more than that they
	// are there.
	asked []*flowSource
	// runs is the content with the SQL that its flows follow from, runner whose
	// it is; nil: they do not follow from SQL.
	runs   *graph.Content
	runner graph.Name
}

// Process is FlowSource.process.
func (f *flowSource) Process() *process { return f.by.process }

// Origin is FlowSource.origin.
func (f *flowSource) Origin() string { return f.by.origin }

// Kinds is FlowSource.kinds.
func (f *flowSource) Kinds() []string {
	if len(f.details) == 0 {
		return f.kinds.Names()
	}
	return append((f.kinds &^ graph.Other).Names(), f.details...)
}

// Expression is FlowSource.expression.
func (f *flowSource) Expression() *string { return optional(f.expression) }

// Operators is FlowSource.operators.
func (f *flowSource) Operators() []*Operator {
	var passed []*Operator
	for _, o := range f.passed {
		passed = append(passed, &Operator{Kind: o.Kind, Snippet: optional(o.Snippet)})
	}
	if passed != nil {
		return passed
	}
	for _, o := range f.kinds.Operators() {
		passed = append(passed, &Operator{Kind: o})
	}
	return passed
}

// Provisional is FlowSource.provisional.
func (f *flowSource) Provisional() bool { return f.by.provisional }

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
	// operators: they are selected, and SQL can be analysed.
	operators bool

	// nodes are the ends of the edges, those of columns by data store.
	nodes *facts
	// aliases are the other names of data stores among nodes.
	aliases  map[graph.ID][]graph.ID
	speakers map[graph.Key]*speaker
	// sources are those of all edges, in order; nil: they are not selected.
	sources []flowSource
}

func newEdges(s *session, view graph.View, answer *graph.Answer, granularity graph.Granularity, sel selection) *edges {
	e := &edges{s: s, view: view, edges: answer.Edges, column: granularity == graph.Columns, sel: sel}
	sources := sel.at("sources")
	e.provisional = sources.has("provisional")
	e.expressions = e.column && sources.has("expression")
	e.operators = s.o.SQL != nil && sources.has("operators")
	other := func(s graph.EdgeSource) bool { return s.Kinds&graph.Other != 0 }
	if sources.has("kinds") {
		e.details = slices.ContainsFunc(e.edges, func(edge graph.Edge) bool { return slices.ContainsFunc(edge.Sources, other) })
	}
	return e
}

// needs lists the nodes whose facts are needed of the ends, if any.
func (e *edges) needs() []graph.ID {
	if !e.expressions && !e.details && !e.operators && !e.sel.has("crossRegion", "viaGlobal") {
		return nil
	}
	seen := map[graph.ID]bool{{}: true} // no table is via none
	var ids []graph.ID
	for i := range e.edges {
		for _, id := range [...]graph.ID{e.edges[i].From.Base(), e.edges[i].To.Base(), e.edges[i].Via} {
			if !seen[id] {
				seen[id] = true
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// load loads the processes that make the edges and what is said of them, as
// far as they are selected. nodes are those that it needs.
func (e *edges) load(ctx context.Context, nodes *facts) ([]graph.Gap, error) {
	e.nodes = nodes
	if !e.sel.has("sources") {
		return nil, nil
	}
	subjects := e.addSources()
	gaps, err := e.loadProcesses(ctx)
	if err != nil || len(subjects) == 0 {
		return gaps, err
	}
	e.loadAliases()
	more, err := e.view.Says(ctx, subjects, func(said graph.Said) error {
		key := said.Record.Key()
		key.Origin = graph.Derived(key.Origin)
		if sp := e.speakers[key]; sp != nil && e.operators {
			sp.runs, sp.runner = said.Content, said.Record.Subject
		}
		if sp := e.speakers[said.Record.Key()]; sp != nil && said.Content != nil {
			sp.provisional = said.Provisional
			if e.expressions || e.details {
				e.listen(sp, e.s.phrases.of(said.Content))
			}
		}
		return nil
	})
	if gaps = append(gaps, more...); err != nil || !e.operators {
		return gaps, err
	}
	more, err = e.follow(ctx)
	return append(gaps, more...), err
}

// follow finds the operators that flows pass which follow from SQL.
func (e *edges) follow(ctx context.Context) (gaps []graph.Gap, err error) {
	for _, sp := range e.speakers {
		t, more, err := e.s.trace(ctx, e.view, sp.runner, sp.runs)
		if err != nil {
			return nil, err
		}
		if gaps = append(gaps, more...); t == nil {
			continue
		}
		for _, f := range sp.asked {
			froms, tos := e.otherNames(f.edge)
			eachName(f.edge, froms, tos, func(under ends) bool {
				f.passed = t.Passed(under.from, under.to)
				return f.passed == nil
			})
		}
	}
	return gaps, nil
}

// each calls f with each edge as the schema has it. The edge is the caller's
// only until f returns.
func (e *edges) each(f func(*lineageEdge)) {
	crossRegion := e.sel.has("crossRegion")
	var shown lineageEdge
	next := 0
	for i := range e.edges {
		edge := &e.edges[i]
		shown = lineageEdge{Edge: edge, CrossRegion: crossRegion && e.crosses(edge)}
		if via := e.nodes.get(edge.Via); via != nil && e.sel.has("viaGlobal") {
			shown.viaGlobal = &via.Name.Name
		}
		if e.column {
			shown.kinds = edge.Kinds
		}
		if e.sources != nil {
			shown.Sources = e.sources[next : next+len(edge.Sources)]
			next += len(edge.Sources)
		}
		f(&shown)
	}
}

func (e *edges) crosses(edge *graph.Edge) bool {
	from, to := e.nodes.get(edge.From.Base()), e.nodes.get(edge.To.Base())
	return from != nil && to != nil && from.Name.Region != to.Name.Region
}

// addSources lists the sources of the edges, and the subjects of those of
// which more is asked.
func (e *edges) addSources() (subjects []graph.ID) {
	n := 0
	for i := range e.edges {
		n += len(e.edges[i].Sources)
	}
	e.sources = e.s.work.takeSources(n)
	e.speakers = map[graph.Key]*speaker{}
	all := e.provisional || e.expressions
	for i := range e.edges {
		edge := &e.edges[i]
		for _, src := range edge.Sources {
			sp := e.speakers[src.By]
			if sp == nil {
				sp = &speaker{origin: graph.System(src.By.Origin)}
				e.speakers[src.By] = sp
			}
			e.sources = append(e.sources, flowSource{by: sp, edge: edge, kinds: src.Kinds})
			_, derived := graph.DerivedFrom(src.By.Origin)
			if all || e.details && src.Kinds&graph.Other != 0 || e.operators && derived {
				if sp.asked == nil {
					subjects = append(subjects, src.By.Subject)
				}
				sp.asked = append(sp.asked, &e.sources[len(e.sources)-1])
			}
		}
	}
	slices.SortFunc(subjects, graph.ID.Compare)
	return slices.Compact(subjects)
}

// loadProcesses loads the processes that make the edges.
func (e *edges) loadProcesses(ctx context.Context) ([]graph.Gap, error) {
	sel := e.sel.at("sources")
	if !sel.has("process") {
		return nil, nil
	}
	var ids []graph.ID
	for by := range e.speakers {
		if by.Subject.Kind() == graph.ProcessKind {
			ids = append(ids, by.Subject)
		}
	}
	slices.SortFunc(ids, graph.ID.Compare)
	l, gaps, err := newList(ctx, e.s, e.view, sel.at("process"), slices.Compact(ids))
	if err != nil {
		return nil, err
	}
	for by, sp := range e.speakers {
		if by.Subject.Kind() == graph.ProcessKind {
			sp.process = &process{l.member(by.Subject, nil)}
		}
	}
	return gaps, nil
}

// loadAliases notes the other names of the ends of the edges: contributions
// may use any. They come with the nodes, so nothing is read.
func (e *edges) loadAliases() {
	e.aliases = map[graph.ID][]graph.ID{}
	for _, n := range e.nodes.nodes {
		for _, a := range n.Aliases {
			e.aliases[n.ID] = append(e.aliases[n.ID], a.ID())
		}
	}
}

// otherNames lists the other names of the ends of an edge. What is said of a
// global table is said of its members under its names.
func (e *edges) otherNames(edge *graph.Edge) (froms, tos []graph.ID) {
	froms, tos = e.aliases[edge.From.Base()], e.aliases[edge.To.Base()]
	if table := e.aliases[edge.Via]; !edge.Via.IsZero() && table != nil {
		froms, tos = append(slices.Clip(froms), table...), append(slices.Clip(tos), table...)
	}
	return froms, tos
}

// listen notes what a contribution says of its flows. Of several expressions
// the first in its content counts.
func (e *edges) listen(sp *speaker, ps *phrases) {
	if ps == nil {
		return
	}
	for _, f := range sp.asked {
		said := ps.by[ends{f.edge.From, f.edge.To}]
		if froms, tos := e.otherNames(f.edge); froms != nil || tos != nil {
			said = ps.under(f.edge, froms, tos)
		}
		for _, n := range said {
			p := &ps.all[n]
			if f.expression == "" && e.column {
				f.expression = p.expression
			}
			if p.detail != "" && !slices.Contains(f.details, p.detail) {
				f.details = append(f.details, p.detail)
			}
		}
	}
}
