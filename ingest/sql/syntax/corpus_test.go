package syntax

import (
	"strings"
	"testing"
)

// notWhole are the statements of the corpus that are not understood as a whole,
// by how they begin (white space folded), and why. They are faults of the corpus
// where the reason says so.
var notWhole = map[string]map[string]string{
	"spark": {
		"CREATE TABLE clustered_by_test1 (ID INT, AGE STRING)": "two statements, no delimiter between them",
	},
	"flink": {
		"SELECT user, amount FROM Orders WHERE product IN (":                  "two statements, no delimiter; the second has `product EXISTS (`, which is no SQL",
		"INSERT INTO sink_table SELECT * FROM source_table --***":             "two statements, no delimiter between them",
		"INSERT INTO sink_table SELECT s1.account_number, s1. channel_id ,":   "two statements, no delimiter between them",
		"SELECT order_id, tag FROM Orders CROSS JOIN UNNEST(tags) AS t (tag)": "two statements, no delimiter between them",
	},
	"trino": {
		"SELECT orderkey, clerk, totalprice, rank() OVER w AS rnk FROM orders": "two statements, no delimiter between them",
	},
	"mysql": {
		"CREATE TABLE new_tbl [AS] SELECT * FROM orig_tbl":             "the brackets of a manual's grammar stand in the text",
		"CREATE TABLE t1 (c1 INT NOT NULL AUTO_INCREMENT PRIMARY KEY,": "two statements, no delimiter between them",
	},
	"postgresql": {
		"WITH query_name (id) AS (SELECT id FROM table_expression) SELECT random()": "two statements, no delimiter between them",
	},
}

// goals are the least shares of statements understood as a whole, in percent.
var goals = map[string]float64{"hive": 98, "spark": 98, "flink": 98, "trino": 98, "mysql": 98, "postgresql": 96}

func TestCorpusIsUnderstood(t *testing.T) {
	all, whole := map[string]int{}, map[string]int{}
	for _, s := range samples(t, "corpus.jsonl") {
		all[s.Dialect]++
		var faults []Warning
		for _, st := range Parse(s.SQL, Lookup(s.Dialect)).Statements {
			faults = append(faults, st.Warnings...)
		}
		text := strings.Join(strings.Fields(s.SQL), " ")
		listed := ""
		for begin, reason := range notWhole[s.Dialect] {
			if strings.HasPrefix(text, begin) {
				listed = reason
			}
		}
		switch {
		case len(faults) == 0:
			whole[s.Dialect]++
		case listed == "":
			t.Errorf("%s: %.100s: %s: %.60q", s.Dialect, text, faults[0].Reason, faults[0].In(s.SQL))
		}
	}
	for d, goal := range goals {
		got := 100 * float64(whole[d]) / float64(all[d])
		t.Logf("%s: %d of %d (%.1f%%)", d, whole[d], all[d], got)
		if got < goal {
			t.Errorf("%s: %.1f%% understood, want %.1f%%", d, got, goal)
		}
	}
}

func TestHardScriptsAreUnderstood(t *testing.T) {
	for _, s := range hard(t) {
		for _, st := range Parse(s.SQL, Lookup(s.Dialect)).Statements {
			for _, w := range st.Warnings {
				t.Errorf("%s: %s: %.60q", s.ID, w.Reason, w.In(s.SQL))
			}
		}
	}
}

// TestOtherInputsAreUnderstood covers what was written for other tools: much of
// it is DDL, procedures and dialects of one vendor.
func TestOtherInputsAreUnderstood(t *testing.T) {
	all, whole := map[string]int{}, map[string]int{}
	for _, file := range []string{"oracles.jsonl", "table_sets.jsonl", "session_oracles.jsonl"} {
		for _, s := range samples(t, file) {
			if s.SQL == "" {
				continue
			}
			all[s.Dialect]++
			ok := true
			for _, st := range Parse(s.SQL, Lookup(s.Dialect)).Statements {
				ok = ok && st.Whole()
			}
			if ok {
				whole[s.Dialect]++
			}
		}
	}
	for d, n := range all {
		got := 100 * float64(whole[d]) / float64(n)
		t.Logf("%s: %d of %d (%.1f%%)", d, whole[d], n, got)
		if n >= 20 && got < 97 {
			t.Errorf("%s: %.1f%% understood, want 97%%", d, got)
		}
	}
}

func TestEveryNameOfADialectIsKnown(t *testing.T) {
	for _, name := range strings.Fields(`presto athena trino postgresql postgres starrocks doris databricks sparksql spark redshift
		impala odps maxcompute hive oceanbase mysql db2 teradata vertica h2 sqlite ansi generic tsql mssql sqlserver bigquery snowflake
		duckdb clickhouse oracle exasol greenplum materialize dremio informix phoenix FLINK Trino`) {
		if Lookup(name) == nil {
			t.Errorf("%s is not known", name)
		}
	}
	if Lookup("cobol") != nil {
		t.Error("cobol is known")
	}
}

func TestInspectAllocatesNothing(t *testing.T) {
	s := Parse("SELECT a.b, f(x) OVER (PARTITION BY y ORDER BY z) FROM t JOIN u ON a = b WHERE c IN (1, 2) ORDER BY 1 LIMIT 3; CREATE TABLE t (a ROW<b INT>, c INT) WITH ('k' = 'v'); BEGIN DECLARE a INT; IF a THEN SELECT 1; END IF; END", nil)
	n := 0
	count := func(Node) bool { n++; return true }
	if allocs := testing.AllocsPerRun(100, func() {
		for _, st := range s.Statements {
			Inspect(st, count)
		}
	}); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}
