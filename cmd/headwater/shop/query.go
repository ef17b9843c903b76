package shop

import (
	"errors"
	"fmt"
	"strings"

	"headwater/ingest/sql"
	"headwater/ingest/sql/syntax"
)

// A result is a column that a statement writes, and how it is made.
type result struct {
	name, typ string
	// expression makes it, where it is more than another column.
	expression string
	sources    []source
}

// A source is a column that an output, or every row of it, depends on.
type source struct {
	table  *table
	column string
	kinds  sql.Kind
	// masked: the value cannot be read from the output.
	masked bool
}

// statement reads a statement of SQL: an INSERT, or a SELECT whose result goes
// into a table that the text names.
func (p *platform) statement(text, dialect string, into *table) (*statement, error) {
	a := sql.Analyze(text, sql.Options{Dialect: dialect, Catalog: p})
	wrong := func(at syntax.Span, format string, args ...any) error {
		return fmt.Errorf("at line %d of the SQL: %w", 1+strings.Count(text[:at.Start], "\n"), fmt.Errorf(format, args...))
	}
	for _, st := range a.Statements {
		for _, w := range st.Warnings {
			return nil, wrong(w.Span, "%s: %s", w.In(text), w.Reason)
		}
	}
	s := &statement{sql: text}
	for _, in := range a.Inputs {
		t, err := p.lookUp(in.String())
		if err != nil {
			return nil, fmt.Errorf("the SQL: %w", err)
		}
		s.reads = append(s.reads, t)
	}
	for _, u := range a.Unresolved {
		return nil, wrong(u.Span, "%s: %s", u.Name, u.Reason)
	}
	if len(a.Targets) != 1 {
		return nil, fmt.Errorf("the SQL writes %d tables", len(a.Targets))
	}
	target := a.Targets[0]
	if target.Table.Kind != sql.QueryTable {
		var err error
		if into, err = p.tableFor(target.Table.String()); err != nil {
			return nil, fmt.Errorf("the SQL: %w", err)
		}
	}
	if into == nil {
		return nil, errors.New("the result of the SQL goes nowhere")
	}
	w := write{table: into, whole: p.sources(target.Dependencies, false)}
	for i := range target.Outputs {
		out := &target.Outputs[i]
		if strings.ContainsAny(out.Name, " ()*") || out.Name == "" { // an expression without an alias goes by its text
			return nil, wrong(out.Expression, "%q has no name", out.Expression.In(text))
		}
		r := result{name: out.Name, sources: p.sources(out.Sources, out.Masked != "")}
		made := a.Computed(target, i)
		if made != nil {
			r.expression = strings.Join(strings.Fields(made.Range().In(text)), " ")
		}
		r.typ = typing{text, r.sources}.of(made)
		into.add(column{r.name, r.typ})
		w.results = append(w.results, r)
	}
	s.writes = []write{w}
	return s, nil
}

// sources finds the tables of sources.
func (p *platform) sources(list []sql.Source, masked bool) []source {
	var all []source
	for _, s := range list {
		if t, err := p.lookUp(s.Table.String()); err == nil { // those that are read were looked up
			all = append(all, source{t, s.Column, s.Kinds, masked && s.Kinds&sql.Direct != 0})
		}
	}
	return all
}

// Columns implements sql.Catalog.
func (p *platform) Columns(name []string) ([]string, bool) {
	t, err := p.lookUp(strings.Join(name, "."))
	if err != nil {
		return nil, false
	}
	var names []string
	for _, c := range t.columns {
		names = append(names, c.name)
	}
	return names, len(names) > 0
}

// add adds a column that the table does not have yet.
func (t *table) add(c column) {
	if _, ok := t.column(c.name); !ok && !t.listed {
		t.columns = append(t.columns, c)
	}
}

// copied returns all columns of a table as they are.
func (t *table) copied() []result {
	var all []result
	for _, c := range t.columns {
		all = append(all, result{name: c.name, typ: c.typ, sources: []source{{table: t, column: c.name, kinds: sql.Identity}}})
	}
	return all
}
