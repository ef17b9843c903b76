package sql

import (
	"slices"
	"testing"

	"headwater/ingest/sql/syntax"
)

// What one column needs: its own items and those that decide rows, and the
// named queries on the way; not the rest.
func TestUsesOfOneColumn(t *testing.T) {
	a := Analyze(`WITH paid AS (SELECT id, customer_id, total, status, placed_at FROM orders WHERE status = 'paid'),
	  seen AS (SELECT user_id, max(at) AS at FROM events GROUP BY user_id),
	  idle AS (SELECT 1 AS one)
	SELECT c.name, sum(p.total) AS total, max(p.placed_at) AS last
	FROM customers c JOIN paid p ON p.customer_id = c.id LEFT JOIN seen s ON s.user_id = c.id
	GROUP BY c.name`, Options{Dialect: "ansi"})
	used := a.Uses(a.Targets[0], 1)
	var items, ctes []string
	for it := range used.Items {
		items = append(items, it.In(a.Text))
	}
	for c := range used.CTEs {
		ctes = append(ctes, c.Name.Text)
	}
	slices.Sort(items)
	slices.Sort(ctes)
	if want := []string{"customer_id", "sum(p.total) AS total", "total", "user_id"}; !slices.Equal(items, want) {
		t.Errorf("got items %q, want %q", items, want)
	}
	if want := []string{"paid", "seen"}; !slices.Equal(ctes, want) {
		t.Errorf("got CTEs %q, want %q", ctes, want)
	}
}

// A contracted flow names its steps, each with its own chain.
func TestFlowNamesItsSteps(t *testing.T) {
	a := Analyze("CREATE TEMP TABLE a AS SELECT x FROM t; CREATE TEMP TABLE b AS SELECT x + 1 AS y FROM a; INSERT INTO c SELECT y FROM b", Options{Dialect: "postgres"})
	if len(a.Flows) != 1 || len(a.Flows[0].Steps) != 3 {
		t.Fatalf("got %d flows with %d steps, want 1 with 3", len(a.Flows), len(a.Flows[0].Steps))
	}
	for i, want := range []string{"a", "b", "c"} {
		if got := a.Flows[0].Steps[i].Table.Name; got != want {
			t.Errorf("step %d is %s, want %s", i, got, want)
		}
	}
}

func TestDialectIsGuessedAndSaid(t *testing.T) {
	a := Analyze("SELECT a FROM t LATERAL VIEW explode(b) x AS c", Options{})
	if a.Dialect == "" || a.Why == "" || a.Why == "asked for" {
		t.Errorf("got dialect %q because %q", a.Dialect, a.Why)
	}
	a = Analyze("SELECT 1", Options{Dialect: "klingon"})
	if want := "the dialect klingon is not known; "; len(a.Why) <= len(want) || a.Why[:len(want)] != want {
		t.Errorf("got %q, want it to begin with %q", a.Why, want)
	}
}

func TestNamesFoldByDialect(t *testing.T) {
	for _, c := range []struct {
		dialect, part string
		quoted        bool
		want          string
	}{
		{"postgres", "Orders", false, "orders"}, {"postgres", "Orders", true, "Orders"},
		{"snowflake", "Orders", false, "ORDERS"}, {"snowflake", "Orders", true, "Orders"},
		{"hive", "Orders", true, "orders"}, {"clickhouse", "Orders", false, "Orders"},
	} {
		if got := Fold(c.dialect, c.part, c.quoted); got != c.want {
			t.Errorf("%s of %s, quoted %v: got %s, want %s", c.part, c.dialect, c.quoted, got, c.want)
		}
	}
}

// The spans of outputs and plan nodes lie within the text.
func TestSpansLieWithinTheText(t *testing.T) {
	a := Analyze("SELECT a + 1 AS b, * FROM t WHERE c = 2 ORDER BY d", Options{Dialect: "ansi"})
	in := func(s syntax.Span) bool { return s.Start >= 0 && s.Start <= s.End && int(s.End) <= len(a.Text) }
	for _, target := range a.Targets {
		for _, o := range target.Outputs {
			if !in(o.Expression) {
				t.Errorf("output %s spans %v", o.Name, o.Expression)
			}
		}
		for _, p := range target.Plan {
			if !in(p.Span) {
				t.Errorf("node %s spans %v", p.Op, p.Span)
			}
		}
	}
	if got := a.Targets[0].Outputs[0].Expression.In(a.Text); got != "a + 1" {
		t.Errorf("got expression %q, want a + 1", got)
	}
}
