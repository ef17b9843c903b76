package derive

import (
	"slices"
	"strings"
	"sync"

	"headwater/graph"
	"headwater/ingest/sql"
)

// maxSnippet bounds the text of an operator, in bytes.
const maxSnippet = 300

// An Operator is one step of a plan, and the text that it stands for.
type Operator struct {
	// ID is its number; Inputs are those that feed it.
	ID      int
	Inputs  []int
	Kind    string
	Snippet string
}

// A Trace tells by which operators the flows of one process pass. It is safe
// for use by many at once.
type Trace struct {
	a       *sql.Analysis
	names   *Names
	options sql.Options

	mu    sync.Mutex // guards all below, and a
	flows map[[2]graph.ID][]traced
}

// A traced is where a flow comes from: an output of a target, or, with output
// -1, the whole of it.
type traced struct {
	target *sql.Target
	output int
	source sql.Source
}

// Trace analyses the SQL of a content of a subject.
func (d *Deriver) Trace(subject graph.Name, c *graph.Content, columns Columns) *Trace {
	a, names, o := d.analyze(subject, c, columns)
	return &Trace{a: a, names: names, options: o}
}

// Clip returns the smallest SQL found that computes a column of a data store,
// for each statement that writes it, behind those of the temporary tables that
// it takes from. The data store is told under a name that
// the process gives it.
func (t *Trace) Clip(to graph.ID, column string) []sql.Clip {
	t.mu.Lock()
	defer t.mu.Unlock()
	var clips []sql.Clip
	for _, f := range t.a.Flows {
		if n, ok := t.Name(f.Table); !ok || n.ID() != to {
			continue
		}
		for i := range f.Outputs {
			if f.Outputs[i].Star || strings.EqualFold(f.Outputs[i].Name, column) {
				clips = append(clips, t.a.ClipSteps(f, i, t.options)...)
			}
		}
	}
	return clips
}

// TraceOf returns the trace of an analysis whose tables have no names in a
// graph.
func TraceOf(a *sql.Analysis) *Trace { return &Trace{a: a} }

// Analysis returns what the trace rests on.
func (t *Trace) Analysis() *sql.Analysis { return t.a }

// Name returns the name of a table of the analysis; false where it is no data
// store of the graph.
func (t *Trace) Name(table *sql.Table) (graph.Name, bool) {
	if t.names == nil {
		return graph.Name{}, false
	}
	m := maker{names: t.names}
	return m.name(table)
}

// Plan lists the operators of all that the SQL writes, inputs first.
func (t *Trace) Plan() []Operator {
	var all []sql.PlanNode
	for _, target := range t.a.Targets {
		all = append(all, target.Plan...)
	}
	return t.Operators(all)
}

// Operators tells the nodes of a plan as operators, each once.
func (t *Trace) Operators(plan []sql.PlanNode) []Operator {
	var all []Operator
	seen := map[int]bool{}
	for _, n := range plan {
		if !seen[n.ID] {
			seen[n.ID] = true
			all = append(all, Operator{ID: n.ID, Inputs: n.Inputs, Kind: string(n.Op), Snippet: t.a.Snippet(n, maxSnippet)})
		}
	}
	return all
}

// Passed lists the operators between the two ends of a flow, the source first:
// nil where the SQL does not say that there is one. The ends are told under the
// names that the process gives them.
func (t *Trace) Passed(from, to graph.ID) []Operator {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.flows == nil {
		t.index()
	}
	var passed []sql.PlanNode
	for _, f := range t.flows[[2]graph.ID{from, to}] {
		passed = append(passed, t.passed(f)...)
	}
	return t.Operators(slices.DeleteFunc(passed, func(n sql.PlanNode) bool { return n.Op == sql.OpWrite }))
}

// index lists the flows by their ends: columns, and data stores.
func (t *Trace) index() {
	t.flows = map[[2]graph.ID][]traced{}
	put := func(from *sql.Table, to graph.ID, f traced) {
		n, ok := t.Name(from)
		if !ok {
			return
		}
		id := n.ID()
		if f.source.Column != "" && f.source.Column != "*" {
			id = n.Of(f.source.Column).ID()
		}
		t.flows[[2]graph.ID{id, to}] = append(t.flows[[2]graph.ID{id, to}], f)
	}
	for _, target := range t.a.Flows {
		to, ok := t.Name(target.Table)
		if !ok {
			continue
		}
		for i := range target.Outputs {
			out := &target.Outputs[i]
			for _, s := range out.Sources {
				put(s.Table, to.Of(out.Name).ID(), traced{target, i, s})
			}
		}
		for _, s := range target.Dependencies {
			put(s.Table, to.ID(), traced{target, -1, s})
		}
		for _, table := range target.Inputs {
			put(table, to.ID(), traced{target, -1, sql.Source{Table: table}})
		}
	}
}

func (t *Trace) passed(f traced) []sql.PlanNode {
	switch {
	case f.output >= 0:
		return t.a.Chain(f.target, f.output, f.source)
	case f.source.Kinds != 0:
		return t.deciding(f)
	}
	// Whatever is behind a scan of the table.
	var behind []sql.PlanNode
	reached := map[int]bool{}
	for _, n := range f.target.Plan {
		if n.Table != nil && n.Op == sql.OpScan && n.Table == f.source.Table || slices.ContainsFunc(n.Inputs, func(i int) bool { return reached[i] }) {
			reached[n.ID] = true
			behind = append(behind, n)
		}
	}
	return behind
}

// deciding lists the scan of a column and the operators that it decides, as a
// key or in a condition.
func (t *Trace) deciding(f traced) []sql.PlanNode {
	var all, some []sql.PlanNode
	column := f.source.Column[strings.LastIndexByte(f.source.Column, '.')+1:]
	for _, n := range f.target.Plan {
		switch {
		case n.Op == sql.OpScan && n.Table == f.source.Table:
			some = append(some, n)
		case n.Op == sql.OpJoin && f.source.Kinds&sql.Join != 0, n.Op == sql.OpFilter && f.source.Kinds&sql.Filter != 0,
			n.Op == sql.OpAggregate && f.source.Kinds&sql.GroupBy != 0, n.Op == sql.OpSort && f.source.Kinds&sql.Sort != 0:
			all = append(all, n)
		}
	}
	named := 0
	for _, n := range all {
		if strings.Contains(strings.ToLower(n.Span.In(t.a.Text)), strings.ToLower(column)) {
			some = append(some, n)
			named++
		}
	}
	if named == 0 {
		return append(some, all...)
	}
	return some
}
