package sql

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"headwater/ingest/sql/syntax"
)

// said is a target's columns and what they depend on, in one text.
func said(t *Target) string {
	var b strings.Builder
	for _, o := range t.Outputs {
		fmt.Fprintf(&b, "%s <-%s\n", o.Name, list(o.Sources))
	}
	fmt.Fprintf(&b, "* <-%s\n", list(t.Dependencies))
	return b.String()
}

// TestWrappingAQueryChangesNothing puts queries into a CTE, a derived table, a
// temporary view and an INSERT: the lineage stays the same.
func TestWrappingAQueryChangesNothing(t *testing.T) {
	n := 0
	for _, l := range lines(t, "oracles.jsonl") {
		known := schema{}
		for table, raw := range l.Schema {
			var columns []string
			if json.Unmarshal(raw, &columns) == nil {
				known[strings.ToLower(table)] = columns
			}
		}
		o := Options{Dialect: l.Dialect, Catalog: known}
		a := Analyze(l.SQL, o)
		if len(a.Statements) != 1 || len(a.Targets) != 1 || a.Targets[0].Mode != "QUERY" || a.Confidence < 1 {
			continue
		}
		q, ok := a.Script.Statements[0].Body.(*syntax.QueryStatement)
		if !ok || duplicated(a.Targets[0]) {
			continue
		}
		n++
		text := q.Query.In(a.Text)
		want := said(a.Targets[0])
		for how, wrapped := range map[string]string{
			"CTE":     "WITH wrapped AS (" + text + "\n) SELECT * FROM wrapped",
			"derived": "SELECT * FROM (" + text + "\n) wrapped",
			"twice":   "SELECT w.* FROM (SELECT * FROM (" + text + "\n) u) w",
			"insert":  "INSERT INTO wrapped_target " + text,
			"view":    "CREATE TEMPORARY VIEW wrapped AS " + text + "\n;\nSELECT * FROM wrapped",
		} {
			if how == "insert" && l.Dialect == "bigquery" {
				continue
			}
			b := Analyze(wrapped, o)
			if b.Confidence < 1 && how != "view" {
				continue
			}
			if len(b.Flows) != 1 {
				t.Errorf("%s, %s: %d flows\n%s", l.ID, how, len(b.Flows), wrapped)
				continue
			}
			if got := said(b.Flows[0]); got != want {
				t.Errorf("%s in a %s (%s)\n%s\ngot:\n%swant:\n%s", l.ID, how, l.Dialect, wrapped, got, want)
			}
		}
	}
	t.Logf("%d queries", n)
}

// duplicated reports whether two outputs share a name, so that a view of them
// would be ambiguous.
func duplicated(t *Target) bool {
	seen := make(map[string]bool)
	for _, o := range t.Outputs {
		n := strings.ToLower(o.Name)
		if seen[n] {
			return true
		}
		seen[n] = true
	}
	return false
}
