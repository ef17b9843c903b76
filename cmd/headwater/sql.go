package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"headwater/gateway/api"
	"headwater/ingest/derive"
	"headwater/ingest/sql"
	"headwater/ingest/sql/score"
	"headwater/ingest/sql/syntax"
)

// sqlOptions are the flags of headwater sql.
type sqlOptions struct {
	dialect, schema, column, catalog, database string
	clip, asJSON, asOpenLineage, asTree        bool
	misses                                     int
}

func sqlCommand(in io.Reader, out io.Writer) func(*flag.FlagSet) func(context.Context, []string) error {
	return func(f *flag.FlagSet) func(context.Context, []string) error {
		var o sqlOptions
		f.StringVar(&o.dialect, "dialect", "auto", "the `dialect` of the script; auto guesses. One of "+strings.Join(dialectNames(), ", "))
		f.StringVar(&o.schema, "schema", "", "`file` with the columns of tables: CREATE TABLE statements (.sql), or {\"db.table\": [\"column\", …]} (.json)")
		f.StringVar(&o.catalog, "catalog", "", "the `catalog` in force when the script begins")
		f.StringVar(&o.database, "database", "", "the `database` in force when the script begins")
		f.StringVar(&o.column, "column", "", "only this `column`, or table.column, of what is written")
		f.BoolVar(&o.clip, "clip", false, "with --column: the smallest SQL that still computes it")
		f.BoolVar(&o.asJSON, "json", false, "as JSON, with the positions of all parts")
		f.BoolVar(&o.asOpenLineage, "openlineage", false, "as an OpenLineage run event with column lineage")
		f.BoolVar(&o.asTree, "tree", false, "the logical plans, as trees")
		f.IntVar(&o.misses, "misses", 20, "with score: how many misses are told; -1 is all")
		depth := f.Int("depth", 10, "with chain: how many `hops` upstream at most")
		connect := clientFlags(f)
		usage := f.Usage
		f.Usage = func() {
			usage()
			fmt.Fprintln(f.Output(), "\nheadwater sql FILE: the lineage of a script, without a server; - reads standard input."+
				"\nheadwater sql score FILE: scores against labelled cases, a JSON object a line: id, dialect, sql, schema, expected_tables, expected_columns."+
				"\nheadwater sql chain NAMESPACE NAME#COLUMN: asks a server for the SQL behind a column, task by task, each clipped to what the column needs.")
		}
		return func(ctx context.Context, args []string) error {
			switch {
			case len(args) == 2 && args[0] == "score":
				return o.score(out, args[1])
			case len(args) == 3 && args[0] == "chain":
				return sqlChain(ctx, connect(), out, args[1], args[2], *depth, o.asJSON)
			}
			if len(args) != 1 || o.clip && o.column == "" {
				return errUsage
			}
			return o.analyze(in, out, args[0])
		}
	}
}

func dialectNames() []string {
	var names []string
	for _, d := range syntax.Dialects() {
		names = append(names, d.Name)
	}
	slices.Sort(names)
	return names
}

func (o *sqlOptions) score(out io.Writer, file string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if first, _, _ := bytes.Cut(b, []byte("\n")); bytes.Contains(first, []byte(`"steps"`)) {
		return scoreSessions(out, file, b)
	}
	cases, err := score.Read(bytes.NewReader(b))
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if len(cases) == 0 {
		return fmt.Errorf("%s: it has no cases", file)
	}
	r := score.Run(cases)
	if o.asJSON {
		return r.WriteJSON(out)
	}
	return r.WriteText(out, o.misses)
}

// scoreSessions scores sessions: queries in order, with what they leave behind.
func scoreSessions(out io.Writer, file string, b []byte) error {
	tally, misses, err := score.RunSessions(bytes.NewReader(b))
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	w := &lineWriter{w: out}
	w.line("sessions %s", tally)
	for _, m := range misses {
		w.line("%s (%s)\n  want %s\n  got  %s", m.ID, m.What, strings.Join(m.Want, ", "), strings.Join(m.Got, ", "))
	}
	return w.err
}

func (o *sqlOptions) analyze(in io.Reader, out io.Writer, file string) error {
	var text []byte
	var err error
	if file == "-" {
		text, err = io.ReadAll(in)
	} else {
		text, err = os.ReadFile(file)
	}
	if err != nil {
		return err
	}
	if o.dialect != "auto" && syntax.Lookup(o.dialect) == nil {
		return fmt.Errorf("--dialect: %q is not one of %s", o.dialect, strings.Join(dialectNames(), ", "))
	}
	catalog, err := readSchemas(o.schema, o.dialect)
	if err != nil {
		return err
	}
	options := sql.Options{Dialect: o.dialect, Defaults: sql.Defaults{Catalog: o.catalog, Database: o.database}}
	if catalog != nil {
		options.Catalog = catalog
	}
	a := sql.Analyze(string(text), options)
	flows := a.Flows
	if o.column != "" {
		if flows = onlyColumn(flows, o.column); len(flows) == 0 {
			return fmt.Errorf("%w: the script writes no column %s", errNotFound, o.column)
		}
	}
	switch {
	case o.clip:
		return writeClips(out, a, flows, options)
	case o.asJSON:
		return writeSQLJSON(out, a, flows)
	case o.asOpenLineage:
		return writeIndented(out, sqlRunEvent(file, a, time.Now()))
	case o.asTree:
		return writeSQLPlans(out, a, flows)
	}
	return writeSQLText(out, a, flows)
}

// readSchemas reads a file of --schema; nil where there is none.
func readSchemas(file, dialect string) (sql.Catalog, error) {
	if file == "" {
		return nil, nil
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(file, ".sql") {
		schema := score.Schema{}
		a := sql.Analyze(string(b), sql.Options{Dialect: dialect})
		for _, t := range a.Tables {
			if t.Known {
				schema[strings.Join(t.Parts, ".")] = t.Columns
			}
		}
		if len(schema) == 0 {
			return nil, fmt.Errorf("%s: no statement in it creates a table with columns", file)
		}
		return schema, nil
	}
	var schema score.Schema
	if err := json.Unmarshal(b, &schema); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return schema, nil
}

// onlyColumn leaves of targets those that write a column, and of their outputs
// that one.
func onlyColumn(flows []*sql.Target, column string) []*sql.Target {
	var some []*sql.Target
	for _, f := range flows {
		for i := range f.Outputs {
			name := f.Outputs[i].Name
			if strings.EqualFold(name, column) || strings.EqualFold(f.Table.String()+"."+name, column) {
				one := *f
				one.Outputs = f.Outputs[i : i+1]
				some = append(some, &one)
			}
		}
	}
	return some
}

func writeSQLText(out io.Writer, a *sql.Analysis, flows []*sql.Target) error {
	w := &lineWriter{w: out}
	w.line("%s (%s), %d statements, confidence %.2f", a.Dialect, a.Why, len(a.Statements), a.Confidence)
	for _, f := range flows {
		w.line("")
		w.line("%s %s", f.Mode, f.Table)
		for i := range f.Outputs {
			o := &f.Outputs[i]
			name := o.Name
			if name == "" {
				name = fmt.Sprintf("(column %d)", i+1)
			}
			expression := ""
			if text := oneLine(o.Expression.In(a.Text)); !o.Star && text != "" {
				expression = "  = " + text
			}
			w.line("  %s%s", name, expression)
			for _, s := range o.Sources {
				w.line("    <- %s.%s %s", s.Table, s.Column, s.Kinds)
			}
		}
		for _, d := range f.Dependencies {
			w.line("  rows <- %s.%s %s", d.Table, d.Column, d.Kinds)
		}
		for _, r := range f.Reads {
			for _, p := range r.Predicates {
				w.line("  of %s where %s", r.Table, p.Text)
			}
		}
		for _, p := range f.Partitions {
			w.line("  partition %s %s %s", p.Column, p.Op, strings.Join(p.Values, ", "))
		}
		for _, v := range f.Via {
			w.line("  via %s", v)
		}
	}
	for _, c := range a.Changes {
		if c.To != nil {
			w.line("%s %s to %s", c.Verb, c.Table, c.To)
		} else {
			w.line("%s %s", c.Verb, c.Table)
		}
	}
	for _, u := range a.Unresolved {
		w.line("not resolved: %s at %s: %s", u.Name, position(a.Text, int(u.Start)), u.Reason)
	}
	for _, s := range a.Statements {
		for _, p := range s.Warnings {
			w.line("not understood: %q at %s: %s", oneLine(p.In(a.Text)), position(a.Text, int(p.Start)), p.Reason)
		}
	}
	return w.err
}

// A lineWriter writes lines until one can't be written.
type lineWriter struct {
	w   io.Writer
	err error
}

func (w *lineWriter) line(format string, args ...any) {
	if w.err == nil {
		_, w.err = fmt.Fprintf(w.w, format+"\n", args...)
	}
}

// oneLine is a text on one line, cut at 120 bytes.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > 120 {
		text = strings.ToValidUTF8(text[:120], "") + " …"
	}
	return text
}

// position tells a byte of a text by line and column, both from 1.
func position(text string, at int) string {
	before := text[:min(at, len(text))]
	line := strings.Count(before, "\n")
	return fmt.Sprintf("%d:%d", line+1, at-strings.LastIndexByte(before, '\n'))
}

func writeSQLPlans(out io.Writer, a *sql.Analysis, flows []*sql.Target) error {
	w := &lineWriter{w: out}
	for n, f := range flows {
		if n > 0 {
			w.line("")
		}
		nodes := map[int]sql.PlanNode{}
		for _, p := range f.Plan {
			nodes[p.ID] = p
		}
		shown := map[int]bool{}
		var show func(id, depth int)
		show = func(id, depth int) {
			p, ok := nodes[id]
			if !ok {
				return
			}
			again := ""
			if shown[id] {
				again = " (above)"
			}
			w.line("%s%s %s  %s%s", strings.Repeat("  ", depth), p.Op, p.Label, oneLine(a.Snippet(p, 200)), again)
			if shown[id] {
				return
			}
			shown[id] = true
			for _, in := range p.Inputs {
				show(in, depth+1)
			}
		}
		if len(f.Plan) > 0 {
			show(f.Plan[len(f.Plan)-1].ID, 0)
		}
	}
	return w.err
}

// writeClips writes what is left of the statements that write a column, clipped
// to it.
func writeClips(out io.Writer, a *sql.Analysis, flows []*sql.Target, options sql.Options) error {
	w := &lineWriter{w: out}
	for n, f := range flows {
		if n > 0 {
			w.line("")
		}
		for _, clip := range a.ClipSteps(f, 0, options) {
			if clip.Target != nil && clip.Target.Table != f.Table {
				w.line("-- for it, %s.%s", clip.Target.Table, strings.Join(clip.Columns, ", "))
			} else {
				w.line("-- %s.%s", f.Table, f.Outputs[0].Name)
			}
			for _, assumed := range clip.Assumes {
				w.line("-- if %s", assumed)
			}
			w.line("%s;", clip.Text)
		}
	}
	return w.err
}

func writeSQLJSON(out io.Writer, a *sql.Analysis, flows []*sql.Target) error {
	return writeIndented(out, api.DescribeSQL(derive.TraceOf(a), flows))
}

func writeIndented(out io.Writer, v any) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
