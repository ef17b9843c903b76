package score

import (
	"slices"
	"strings"

	"headwater/ingest/sql"
)

// An edge is one expected edge with its kind, and whether we give it so.
type edge struct {
	what  string
	right bool
}

// edges compares the kinds that a case lists: OpenLineage's edges with their
// subtype; Doris' direct type of an output (either of A|B) and its indirect
// types, which must be there; Impala's pairs as direct (conditions among them)
// or through predicates.
func edges(c *Case, a *sql.Analysis) []edge {
	var out []edge
	for _, t := range c.Transformations {
		k := kindOf(t.Subtype)
		out = append(out, edge{t.Source + " -> " + t.Output + " " + t.Subtype, has(a, t.Source, t.Output, k)})
	}
	for _, t := range c.Dataset {
		out = append(out, edge{t.Source + " -> * " + t.Subtype, depends(a, t.Source, kindOf(t.Subtype))})
	}
	for _, o := range sortedKeys(c.DirectTypes) {
		if direct := strongest(a, o); direct != 0 {
			out = append(out, edge{o + " " + c.DirectTypes[o], slices.Contains(strings.Split(c.DirectTypes[o], "|"), direct.String())})
		}
	}
	for _, o := range sortedKeys(c.IndirectTypes) {
		for _, t := range c.IndirectTypes[o] {
			out = append(out, edge{o + " " + t, indirectly(a, o)&kindOf(t) != 0})
		}
	}
	if c.Suite == "impala-lineage" {
		for _, p := range c.ExpectedColumns {
			out = append(out, edge{p[0] + " -> " + p[1] + " PROJECTION", has(a, p[0], p[1], conditions)})
		}
		for _, p := range c.IndirectColumns {
			out = append(out, edge{p[0] + " -> " + p[1] + " PREDICATE", has(a, p[0], p[1], sql.Indirect) || depends(a, p[0], sql.Indirect)})
		}
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

var kindByName = map[string]sql.Kind{
	"IDENTITY": sql.Identity, "TRANSFORMATION": sql.Transformation, "AGGREGATION": sql.Aggregation,
	"CONDITIONAL": sql.Conditional, "WINDOW": sql.Window, "JOIN": sql.Join, "FILTER": sql.Filter,
	"GROUP_BY": sql.GroupBy, "SORT": sql.Sort,
}

func kindOf(name string) sql.Kind { return kindByName[name] }

// match calls f for the outputs of a name. Where there is none, unnamed ones are
// asked, then all: the target's columns may have names that no schema tells.
func match(a *sql.Analysis, name string, f func(*sql.Target, *sql.Output) bool) bool {
	name = fold(name)
	for pass := range 3 {
		found := false
		for _, t := range a.Flows {
			for i := range t.Outputs {
				full := fold(t.Table.String() + "." + t.Outputs[i].Name)
				if pass == 0 && sameName(full, name) || pass == 1 && !named(t, i) && sameTable(full, name) || pass == 2 && sameTable(full, name) {
					found = true
					if f(t, &t.Outputs[i]) {
						return true
					}
				}
			}
		}
		if found && pass == 0 {
			return false
		}
	}
	return false
}

func has(a *sql.Analysis, source, name string, k sql.Kind) bool {
	return match(a, name, func(_ *sql.Target, o *sql.Output) bool {
		for _, s := range o.Sources {
			if s.Kinds&k != 0 && sameSource(fold(source), fold(s.Table.String()+"."+s.Column)) {
				return true
			}
		}
		return false
	})
}

func depends(a *sql.Analysis, source string, k sql.Kind) bool {
	for _, t := range a.Flows {
		for _, s := range t.Dependencies {
			if s.Kinds&k != 0 && fold(source) == fold(s.Table.String()+"."+s.Column) {
				return true
			}
		}
	}
	return false
}

// strongest is the strongest direct kind of an output, 0 without direct
// sources.
func strongest(a *sql.Analysis, name string) sql.Kind {
	var all sql.Kind
	match(a, name, func(_ *sql.Target, o *sql.Output) bool {
		for _, s := range o.Sources {
			all |= s.Kinds
		}
		return true
	})
	return all.Strongest()
}

// indirectly are the indirect kinds of an output and of all its rows.
func indirectly(a *sql.Analysis, name string) sql.Kind {
	var all sql.Kind
	match(a, name, func(t *sql.Target, o *sql.Output) bool {
		for _, s := range o.Sources {
			all |= s.Kinds
		}
		for _, s := range t.Dependencies {
			all |= s.Kinds
		}
		return true
	})
	return all & sql.Indirect
}
