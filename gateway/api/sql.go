package api

import (
	"context"

	"headwater/graph"
	"headwater/ingest/derive"
	"headwater/ingest/sql"
	"headwater/ingest/sql/syntax"
)

// AnalyzeSQL is Query.analyzeSql.
func (q *query) AnalyzeSQL(ctx context.Context, text, dialect string, namespace, catalog, database *string) (*SQLAnalysis, error) {
	if len(text) > maxBody {
		return nil, badInput("sql: it has %d bytes; %d are read", len(text), maxBody)
	}
	if dialect == "auto" {
		dialect = ""
	} else if syntax.Lookup(dialect) == nil {
		return nil, badInput("dialect: %q is not known; auto guesses", dialect)
	}
	s := sessionOf(ctx)
	st, err := s.view(ctx, graph.At{})
	if err != nil {
		return nil, err
	}
	reading, cancel := s.reading(ctx)
	defer cancel()
	var rules derive.Naming
	if q.o.SQL != nil {
		rules = q.o.SQL.Naming
	}
	d := derive.Deriver{Naming: rules.Within(deref(namespace), catalog, database)}
	schemas := schemas{ctx: reading, view: st}
	// The tables are those of the region that answers, where there is one.
	subject := graph.Name{Kind: graph.ProcessKind, Namespace: deref(namespace), Region: onlyRegion(st.Marks())}
	t := d.Trace(subject, &graph.Content{SQL: text, Dialect: dialect}, schemas.columns)
	if schemas.err != nil {
		return nil, schemas.err
	}
	reportGaps(ctx, schemas.gaps)
	return DescribeSQL(t, t.Analysis().Flows), nil
}

func onlyRegion(marks map[string]graph.Mark) string {
	for region := range marks {
		if len(marks) == 1 {
			return region
		}
	}
	return ""
}

// schemas read those of the graph.
type schemas struct {
	ctx  context.Context
	view graph.View
	gaps []graph.Gap
	err  error
}

func (s *schemas) columns(n graph.Name) (columns []string, known bool) {
	if s.err != nil {
		return nil, false
	}
	columns, gaps, err := graph.ColumnPaths(s.ctx, s.view, n)
	s.gaps, s.err = append(s.gaps, gaps...), err
	return columns, len(columns) > 0
}

// DescribeSQL tells an analysis as the schema does, with some of its flows.
func DescribeSQL(t *derive.Trace, flows []*sql.Target) *SQLAnalysis {
	a := t.Analysis()
	x := &SQLAnalysis{Dialect: a.Dialect, Why: a.Why, Confidence: a.Confidence, Statements: []*SQLStatement{}, Targets: []*SQLTarget{}, Unresolved: []*SQLProblem{}}
	tables := func(list []*sql.Table) []*SQLTable {
		all := []*SQLTable{}
		for _, table := range list {
			all = append(all, newTable(t, table))
		}
		return all
	}
	for _, st := range a.Statements {
		y := &SQLStatement{Verb: st.Verb, Start: int(st.Start), End: int(st.End), Reads: tables(st.Inputs), Writes: tables(st.Outputs), Confidence: st.Confidence, Warnings: []*SQLProblem{}}
		for _, w := range st.Warnings {
			y.Warnings = append(y.Warnings, &SQLProblem{Start: int(w.Start), End: int(w.End), Text: w.In(a.Text), Reason: w.Reason})
		}
		x.Statements = append(x.Statements, y)
	}
	for _, u := range a.Unresolved {
		p := &SQLProblem{Start: int(u.Start), End: int(u.End), Text: u.Name, Reason: u.Reason}
		if u.Table != nil {
			p.Table = optional(u.Table.String())
		}
		x.Unresolved = append(x.Unresolved, p)
	}
	for _, f := range flows {
		x.Targets = append(x.Targets, newTarget(t, f))
	}
	return x
}

func newTable(t *derive.Trace, table *sql.Table) *SQLTable {
	x := &SQLTable{Name: table.String(), Kind: string(table.Kind), Temporary: table.Temporary}
	if n, ok := t.Name(table); ok {
		x.Node = optional(n.ID().String())
	}
	return x
}

func newTarget(t *derive.Trace, f *sql.Target) *SQLTarget {
	a := t.Analysis()
	x := &SQLTarget{Table: newTable(t, f.Table), Mode: f.Mode, Columns: []*SQLColumn{}, Dependencies: newSources(f.Dependencies),
		Reads: []*SQLRead{}, Partitions: newBounds(f.Partitions), Via: []string{}, Plan: []*PlanNode{}}
	for i := range f.Outputs {
		out := &f.Outputs[i]
		c := &SQLColumn{Name: out.Name, Sources: newSources(out.Sources), Masked: optional(out.Masked)}
		if !out.Star {
			c.Expression = optional(out.Expression.In(a.Text))
		}
		x.Columns = append(x.Columns, c)
	}
	for _, r := range f.Reads {
		y := &SQLRead{Table: newTable(t, r.Table), Predicates: []string{}, Bounds: newBounds(r.Bounds)}
		for _, p := range r.Predicates {
			y.Predicates = append(y.Predicates, p.Text)
		}
		x.Reads = append(x.Reads, y)
	}
	for _, v := range f.Via {
		x.Via = append(x.Via, v.String())
	}
	for _, n := range t.Operators(f.Plan) {
		x.Plan = append(x.Plan, newPlanNode(n))
	}
	return x
}

func newPlanNode(o derive.Operator) *PlanNode {
	inputs := o.Inputs
	if inputs == nil {
		inputs = []int{}
	}
	return &PlanNode{ID: o.ID, Operator: o.Kind, Inputs: inputs, Snippet: optional(o.Snippet)}
}

func newSources(list []sql.Source) []*SQLSource {
	all := []*SQLSource{}
	for i := range list {
		s := &SQLSource{Column: list[i].Column, Kinds: eachOf(derive.Kinds(list[i].Kinds))}
		if list[i].Table != nil {
			s.Table = optional(list[i].Table.String())
		}
		all = append(all, s)
	}
	return all
}

func newBounds(list []sql.Bound) []*SQLBound {
	all := []*SQLBound{}
	for _, b := range list {
		x := &SQLBound{Column: b.Column, Operator: b.Op, Values: []string{}, Constant: b.Constant, Variables: []string{}, Partition: b.Partition}
		x.Values, x.Variables = append(x.Values, b.Values...), append(x.Variables, b.Variables...)
		all = append(all, x)
	}
	return all
}

// trace analyses what a process runs; nil where nothing is known of that.
func (s *session) trace(ctx context.Context, view graph.View, subject graph.Name, c *graph.Content) (*derive.Trace, []graph.Gap, error) {
	if s.o.SQL == nil || c == nil || c.SQL == "" {
		return nil, nil, nil
	}
	schemas := schemas{ctx: ctx, view: view}
	t := s.o.SQL.Trace(subject, c, schemas.columns)
	return t, schemas.gaps, schemas.err
}
