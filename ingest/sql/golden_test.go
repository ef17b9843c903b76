package sql

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// A schema is a Catalog of tests.
type schema map[string][]string

func (s schema) Columns(table []string) ([]string, bool) {
	for i := range table {
		if c, ok := s[strings.ToLower(strings.Join(table[i:], "."))]; ok {
			return c, true
		}
	}
	return nil, false
}

// read takes lines such as t(a, b, c).
func (s schema) read(text string) {
	for line := range strings.Lines(text) {
		name, columns, ok := strings.Cut(strings.TrimSpace(line), "(")
		if !ok {
			continue
		}
		var list []string
		for _, c := range strings.Split(strings.TrimSuffix(columns, ")"), ",") {
			list = append(list, strings.TrimSpace(c))
		}
		s[strings.ToLower(name)] = list
	}
}

// TestStories reads testdata/*.txt: schemas and scripts, and what is said of
// them. Rewrite with -rewrite and read the diff.
func TestStories(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		if strings.Contains(path, "fuzz") || strings.Contains(path, "clip") {
			t.Skip("seeds of FuzzAnalyze, and stories of the clipper")
		}
		known := schema{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "schema" {
				known = schema{}
				known.read(d.Input)
				return ""
			}
			o := Options{Dialect: "ansi", Catalog: known}
			d.MaybeScanArgs(t, "dialect", &o.Dialect)
			d.MaybeScanArgs(t, "catalog", &o.Defaults.Catalog)
			d.MaybeScanArgs(t, "database", &o.Defaults.Database)
			a := Analyze(d.Input, o)
			switch d.Cmd {
			case "lineage":
				return lineageText(a, a.Targets)
			case "flows":
				return lineageText(a, a.Flows)
			case "plan":
				return planText(a)
			case "reads":
				return readsText(a)
			case "changes":
				return changesText(a)
			case "chains":
				return chainsText(a)
			}
			return "unknown command " + d.Cmd
		})
	})
}

func (s Source) String() string {
	return fmt.Sprintf("%s.%s %s", s.Table, s.Column, s.Kinds)
}

// lineageText lists targets, their outputs with sources, and what could not be
// told.
func lineageText(a *Analysis, targets []*Target) string {
	var b strings.Builder
	for _, t := range targets {
		fmt.Fprintf(&b, "%s %s", t.Mode, t.Table)
		if len(t.Inputs) > 0 {
			fmt.Fprintf(&b, " from %s", join(t.Inputs))
		}
		if len(t.Via) > 0 {
			fmt.Fprintf(&b, " via %s", join(t.Via))
		}
		if t.NoFlow {
			b.WriteString(" (no flow)")
		}
		b.WriteString("\n")
		for _, o := range t.Outputs {
			fmt.Fprintf(&b, "  %s <-%s", o.Name, list(o.Sources))
			if o.Masked != "" {
				fmt.Fprintf(&b, " masked by %s", o.Masked)
			}
			b.WriteString("\n")
		}
		if len(t.Dependencies) > 0 {
			fmt.Fprintf(&b, "  * <-%s\n", list(t.Dependencies))
		}
		for _, p := range t.Partitions {
			fmt.Fprintf(&b, "  partition %s %s %s\n", p.Column, p.Op, strings.Join(p.Values, ", "))
		}
	}
	for _, u := range a.Unresolved {
		fmt.Fprintf(&b, "unresolved %s: %s", u.Name, u.Reason)
		if len(u.Candidates) > 0 {
			fmt.Fprintf(&b, " (%s)", join(u.Candidates))
		}
		b.WriteString("\n")
	}
	for _, s := range a.Statements {
		for _, w := range s.Warnings {
			fmt.Fprintf(&b, "warning %s\n", w.Reason)
		}
	}
	if b.Len() == 0 {
		return "nothing\n"
	}
	return b.String()
}

func join(tables []*Table) string {
	names := make([]string, len(tables))
	for i, t := range tables {
		names[i] = t.String()
	}
	return strings.Join(names, ", ")
}

func list(sources []Source) string {
	lines := make([]string, len(sources))
	for i, s := range sources {
		lines[i] = s.String()
	}
	slices.Sort(lines)
	if len(lines) == 0 {
		return ""
	}
	return " " + strings.Join(lines, ", ")
}

func planText(a *Analysis) string {
	var b strings.Builder
	for _, t := range a.Targets {
		number := make(map[int]int)
		for i, p := range t.Plan {
			number[p.ID] = i + 1
			fmt.Fprintf(&b, "%d %s", i+1, p.Op)
			if p.Label != "" {
				fmt.Fprintf(&b, " %s", p.Label)
			}
			for _, in := range p.Inputs {
				fmt.Fprintf(&b, " <%d", number[in])
			}
			fmt.Fprintf(&b, "  %s\n", a.Snippet(p, 60))
		}
	}
	return b.String()
}

func readsText(a *Analysis) string {
	var b strings.Builder
	for _, t := range a.Targets {
		fmt.Fprintf(&b, "%s %s\n", t.Mode, t.Table)
		for _, r := range t.Reads {
			fmt.Fprintf(&b, "  %s", r.Table)
			for i, p := range r.Predicates {
				sep := " where "
				if i > 0 {
					sep = " and "
				}
				b.WriteString(sep + p.Text)
			}
			b.WriteString("\n")
			for _, x := range r.Bounds {
				fmt.Fprintf(&b, "    %s %s %s", x.Column, x.Op, strings.Join(x.Values, ", "))
				if x.Constant {
					b.WriteString(" constant")
				}
				if len(x.Variables) > 0 {
					fmt.Fprintf(&b, " of %s", strings.Join(x.Variables, ", "))
				}
				if x.Partition {
					b.WriteString(" partition")
				}
				b.WriteString("\n")
			}
		}
		for _, x := range t.Partitions {
			fmt.Fprintf(&b, "  writes %s %s %s constant=%v %s\n", x.Column, x.Op, strings.Join(x.Values, ", "), x.Constant, strings.Join(x.Variables, ", "))
		}
	}
	return b.String()
}

func changesText(a *Analysis) string {
	var b strings.Builder
	for _, c := range a.Changes {
		fmt.Fprintf(&b, "%s %s", c.Verb, c.Table)
		if c.To != nil {
			fmt.Fprintf(&b, " to %s", c.To)
		}
		for _, col := range c.Columns {
			fmt.Fprintf(&b, " %s:%s", col.Name, col.Type)
		}
		b.WriteString("\n")
	}
	for _, v := range a.Views {
		fmt.Fprintf(&b, "view %s materialized=%v of %s", v.Table, v.Materialized, join(v.Bases))
		if len(v.PartitionedBy) > 0 {
			fmt.Fprintf(&b, " partitioned by %s", strings.Join(v.PartitionedBy, ", "))
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "in %s; out %s\n", join(a.Inputs), join(a.Outputs))
	return b.String()
}

func chainsText(a *Analysis) string {
	var b strings.Builder
	for _, t := range a.Targets {
		for i, o := range t.Outputs {
			for _, s := range o.Sources {
				fmt.Fprintf(&b, "%s.%s -> %s:", s.Table, s.Column, o.Name)
				for _, p := range a.Chain(t, i, s) {
					fmt.Fprintf(&b, " %s", p.Op)
				}
				b.WriteString("\n")
			}
		}
	}
	return b.String()
}
