// Package derive turns the SQL that a process runs into what a contribution
// says: the tables that it reads and writes, where their columns come from,
// with which expressions, what it creates, renames and drops.
//
//	naming.go   tables of SQL → the names that events give them
//	derive.go   analysis → content
//	covers.go   which outputs of a content follow from its SQL
//	trace.go    flow → the operators that it passes
//
// Package sql tells what a script does and knows no graph; package graph knows
// no SQL.
package derive

import (
	"slices"
	"strings"

	"headwater/graph"
	"headwater/ingest/sql"
)

// wanted reports whether a content has SQL that says more than it does itself:
// no output of it has lineage.
func wanted(c *graph.Content) bool {
	if c.SQL == "" {
		return false
	}
	for i := range c.Writes {
		if l := c.Writes[i].Lineage; l != nil && !l.BySQL {
			return false
		}
	}
	return true
}

// Columns returns the columns of a data store, nested ones as dotted paths, in
// their order; false where its schema is not known.
type Columns = func(graph.Name) ([]string, bool)

// A Deriver derives. It is safe for use by many at once.
type Deriver struct {
	// Naming names tables.
	Naming Naming

	memory memory
}

// maxExpression bounds the text of an expression that is kept beside each
// source, in bytes.
const maxExpression = 2000

// Content returns what the SQL of a content of a subject says; nil where that
// is nothing, or where the content itself says where its outputs come from.
func (d *Deriver) Content(subject graph.Name, c *graph.Content, columns Columns) *graph.Content {
	if !wanted(c) {
		return nil
	}
	a, names := d.Analyze(subject, c, columns)
	m := maker{a: a, names: names, at: map[graph.Name]int{}}
	return m.content()
}

// ContentOf returns what an analysis says of a subject; nil where that is
// nothing.
func (d *Deriver) ContentOf(subject graph.Name, a *sql.Analysis) *graph.Content {
	m := maker{a: a, names: d.Naming.names(subject, &graph.Content{}), at: map[graph.Name]int{}}
	return m.content()
}

// Analyze analyses the SQL of a content of a subject. Names tells how its
// tables are called in the graph.
func (d *Deriver) Analyze(subject graph.Name, c *graph.Content, columns Columns) (*sql.Analysis, *Names) {
	a, names, _ := d.analyze(subject, c, columns)
	return a, names
}

func (d *Deriver) analyze(subject graph.Name, c *graph.Content, columns Columns) (*sql.Analysis, *Names, sql.Options) {
	names := d.Naming.names(subject, c)
	o := sql.Options{Dialect: names.rule.dialect(c.Dialect), Catalog: catalog{names, columns}, Defaults: sql.Defaults{Catalog: names.rule.Catalog, Database: names.rule.Database}}
	return sql.Analyze(c.SQL, o), names, o
}

// A catalog knows the schemas of the graph.
type catalog struct {
	names   *Names
	columns Columns
}

func (c catalog) Columns(table []string) ([]string, bool) {
	if c.columns == nil {
		return nil, false
	}
	return c.columns(c.names.of(table))
}

// A maker makes the content of an analysis.
type maker struct {
	a     *sql.Analysis
	names *Names
	said  graph.Content
	at    map[graph.Name]int // of a written table: 1 + where in said.Writes
}

func (m *maker) content() *graph.Content {
	read := map[graph.Name]bool{}
	for _, t := range m.a.Inputs {
		if n, ok := m.name(t); ok && !read[n] {
			read[n] = true
			m.said.Reads = append(m.said.Reads, graph.Dataset{Name: n})
		}
	}
	for _, t := range m.a.Outputs {
		if n, ok := m.name(t); ok {
			m.write(n)
		}
	}
	for _, f := range m.a.Flows {
		if n, ok := m.name(f.Table); ok && !f.NoFlow {
			m.flow(m.write(n), f)
		}
	}
	for i := range m.a.Changes {
		m.change(&m.a.Changes[i])
	}
	if len(m.said.Reads)+len(m.said.Writes) == 0 {
		return nil
	}
	return &m.said
}

// name returns the name of a table; false for what is no data store of the
// graph.
func (m *maker) name(t *sql.Table) (graph.Name, bool) {
	if t == nil || t.Temporary || t.Kind == sql.QueryTable || t.Kind == sql.FunctionTable || len(t.Parts) == 0 {
		return graph.Name{}, false
	}
	return m.names.Table(t), true
}

// write returns what is said of a written table.
func (m *maker) write(n graph.Name) *graph.Dataset {
	at := m.at[n]
	if at == 0 {
		m.said.Writes = append(m.said.Writes, graph.Dataset{Name: n, Lineage: &graph.Lineage{Complete: true}})
		at = len(m.said.Writes)
		m.at[n] = at
	}
	return &m.said.Writes[at-1]
}

// flow adds how the rows of a table are made.
func (m *maker) flow(w *graph.Dataset, f *sql.Target) {
	var named []graph.Name // inputs that something below names
	open := false          // something comes from a table that could not be told
	source := func(s *sql.Source, kinds graph.Kinds) (graph.Source, bool) {
		n, ok := m.name(s.Table)
		if !ok {
			open = open || s.Table == nil
			return graph.Source{}, false
		}
		named = append(named, n)
		if s.Column != "*" {
			n.Column = s.Column
		}
		return graph.Source{Name: n, Kinds: kinds}, true
	}
	for i := range f.Outputs {
		out := &f.Outputs[i]
		if out.Star || out.Name == "" || out.Name == "*" {
			for j := range out.Sources {
				if s, ok := source(&out.Sources[j], Kinds(out.Sources[j].Kinds)); ok {
					s.Name.Column = "" // the schema that would tell is not known
					w.Lineage.Inputs = append(w.Lineage.Inputs, s)
				}
			}
			continue
		}
		column := graph.ColumnLineage{Column: out.Name}
		for j := range out.Sources {
			s, ok := source(&out.Sources[j], Kinds(out.Sources[j].Kinds))
			if !ok {
				continue
			}
			if out.Sources[j].Kinds&sql.Direct != 0 {
				s.Expression, s.Masking = m.expression(out), out.Masked != ""
			}
			column.Inputs = append(column.Inputs, s)
		}
		w.Lineage.Columns = append(w.Lineage.Columns, column)
	}
	for i := range f.Dependencies {
		if s, ok := source(&f.Dependencies[i], Kinds(f.Dependencies[i].Kinds)); ok {
			w.Lineage.Inputs = append(w.Lineage.Inputs, s)
		}
	}
	// A table of which no column is named decides how many rows there are.
	for _, t := range f.Inputs {
		n, ok := m.name(t)
		if ok && (open || !slices.Contains(named, n)) && n != w.Name {
			w.Lineage.Inputs = append(w.Lineage.Inputs, graph.Source{Name: n})
		}
	}
	switch f.Mode {
	case "CREATE", "VIEW", "MATERIALIZED VIEW":
		m.schema(w, f)
	}
}

// expression is the text that computes a column.
func (m *maker) expression(out *sql.Output) string {
	if out.Star || out.Expression.End <= out.Expression.Start {
		return ""
	}
	text := out.Expression.In(m.a.Text)
	if len(text) > maxExpression {
		text = text[:maxExpression] + " …"
	}
	return strings.ToValidUTF8(text, "�")
}

// schema says which columns a query gives the table that it creates.
func (m *maker) schema(w *graph.Dataset, f *sql.Target) {
	switch f.Mode {
	case "VIEW":
		w.Facts.Kind = "VIEW"
	case "MATERIALIZED VIEW":
		w.Facts.Kind = "MATERIALIZED_VIEW"
	}
	var fields []graph.Field
	seen := make(map[string]bool, len(f.Outputs))
	for i := range f.Outputs {
		out := &f.Outputs[i]
		if out.Star || out.Name == "" || out.Name == "*" {
			return
		}
		if key := strings.ToLower(out.Name); !seen[key] {
			seen[key] = true
			fields = append(fields, graph.Field{Path: out.Name, Ordinal: len(fields) + 1})
		}
	}
	w.Facts.Columns = fields
}

// change adds what a script does to a table as such. What it drops and then
// creates is there.
func (m *maker) change(c *sql.Change) {
	n, ok := m.name(c.Table)
	if !ok {
		return
	}
	switch c.Verb {
	case "CREATE":
		w := m.write(n)
		w.Lifecycle, w.RenamedFrom = "CREATE", graph.Name{}
		for i, col := range c.Columns {
			if i == 0 {
				w.Facts.Columns = nil
			}
			w.Facts.Columns = append(w.Facts.Columns, graph.Field{Path: col.Name, Type: col.Type, Description: col.Comment, Ordinal: i + 1})
		}
	case "DROP":
		if !m.writtenAfter(c) {
			m.write(n).Lifecycle = graph.LifecycleDrop
		}
	case "TRUNCATE":
		if w := m.write(n); w.Lifecycle == "" {
			w.Lifecycle = "TRUNCATE"
		}
	case "RENAME":
		if to, ok := m.name(c.To); ok {
			w := m.write(to)
			w.Lifecycle, w.RenamedFrom = "RENAME", n
		}
	}
}

// writtenAfter reports whether a later statement writes the table of a change.
func (m *maker) writtenAfter(c *sql.Change) bool {
	for _, t := range m.a.Targets {
		if t.Table == c.Table && t.Mode != "DELETE" && t.Statement.Start > c.Span.Start {
			return true
		}
	}
	return false
}

// Kinds translates kinds.
func Kinds(k sql.Kind) graph.Kinds {
	var kinds graph.Kinds
	for i, to := range [...]graph.Kinds{graph.Identity, graph.Transformation, graph.Aggregation, graph.Conditional, graph.Window, graph.Join, graph.Filter, graph.GroupBy, graph.Sort} {
		if k&(1<<i) != 0 {
			kinds |= to
		}
	}
	return kinds
}
