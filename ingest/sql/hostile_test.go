package sql

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// within fails if the best of three analyses takes longer than linear time
// would, ten times over, or meets a fault. Three, since other work may run.
func within(t *testing.T, limit time.Duration, q string, o Options) *Analysis {
	t.Helper()
	var a *Analysis
	best := time.Hour
	for range 3 {
		start := time.Now()
		a = Analyze(q, o)
		if best = min(best, time.Since(start)); best <= limit {
			break
		}
	}
	if best > limit && !raceEnabled {
		t.Errorf("took %s, want at most %s", best, limit)
	}
	for _, u := range a.Unresolved {
		if u.Reason == faulty {
			t.Errorf("fault: %s", u.Name)
		}
	}
	return a
}

func TestWideStarThroughCTEsIsLinear(t *testing.T) {
	q, known := wideStar(3000, 10)
	a := within(t, 50*time.Millisecond, q, Options{Dialect: "ansi", Catalog: known})
	if n := len(a.Targets[0].Outputs); n != 3000 {
		t.Errorf("got %d outputs, want 3000", n)
	}
}

func TestManyUnionBranches(t *testing.T) {
	var q strings.Builder
	for i := range 2000 {
		if i > 0 {
			q.WriteString(" UNION ALL ")
		}
		fmt.Fprintf(&q, "SELECT a%d, b FROM t%d WHERE c > %d", i, i, i)
	}
	a := within(t, time.Second, q.String(), Options{Dialect: "ansi"})
	if n := len(a.Targets[0].Outputs[0].Sources); n != 2000 {
		t.Errorf("got %d sources, want 2000", n)
	}
}

// A chain of CTEs that each read the one before twice has 2^30 paths.
func TestCTEsThatReadTheOneBeforeTwice(t *testing.T) {
	var q strings.Builder
	q.WriteString("WITH c0 AS (SELECT a, b FROM base WHERE d > 3)")
	for i := 1; i <= 30; i++ {
		fmt.Fprintf(&q, ", c%d AS (SELECT x.a + y.a AS a, x.b FROM c%d x JOIN c%d y ON x.a = y.b WHERE x.b > 1)", i, i-1, i-1)
	}
	q.WriteString(" SELECT a, b FROM c30")
	a := within(t, 100*time.Millisecond, q.String(), Options{Dialect: "ansi"})
	chain := a.Chain(a.Targets[0], 0, a.Targets[0].Outputs[0].Sources[0])
	if len(chain) < 60 {
		t.Errorf("got a chain of %d nodes, want more than 60", len(chain))
	}
}

func deep(open, middle, end string, n int) string {
	return strings.Repeat(open, n) + middle + strings.Repeat(end, n)
}

// hostile are texts that a careless analyzer needs long or much for.
func hostile() map[string]string {
	return map[string]string{
		"a long IN list":     "SELECT a FROM t WHERE a IN (" + strings.Repeat("123456, ", 130_000) + "1)",
		"many parentheses":   "SELECT " + deep("(", "a", ")", 5000) + " FROM t",
		"many subqueries":    "SELECT a FROM " + deep("(SELECT a FROM ", "t", ") x", 2000),
		"many functions":     "SELECT " + deep("f(", "a", ")", 5000) + " FROM t",
		"nested COALESCE":    "SELECT " + deep("COALESCE(", "a", ", b)", 500) + " FROM t",
		"nested CASE":        "SELECT " + deep("CASE WHEN a THEN ", "a", " ELSE b END", 1000) + " FROM t",
		"a long sum":         "SELECT " + strings.Repeat("a + ", 50_000) + "a FROM t",
		"many conjuncts":     "SELECT a FROM t WHERE " + strings.Repeat("a = 1 AND ", 10_000) + "b = 2",
		"many columns":       "SELECT " + strings.Repeat("a, ", 20_000) + "a FROM t",
		"many tables":        "SELECT 1 FROM t" + strings.Repeat(" JOIN u ON u.a = t.a", 1500),
		"many commas":        "SELECT x FROM t" + strings.Repeat(", tab", 3000),
		"many CTEs":          manyCTEs(3000),
		"many statements":    strings.Repeat("INSERT INTO t SELECT a FROM s;", 3000),
		"lambdas in lambdas": "SELECT " + deep("transform(a, x -> ", "x", ")", 300) + " FROM t",
		"aliases of aliases": aliases(2000),
		"scalar subqueries":  "SELECT " + deep("(SELECT max(b) + ", "1", " FROM t)", 800),
		"lateral views":      "SELECT a FROM t" + strings.Repeat(" LATERAL VIEW explode(a) x AS b", 1000),
		"stars of stars":     "SELECT * FROM " + deep("(SELECT *, a AS z FROM ", "t", ") x", 300),
		"recursion":          "WITH RECURSIVE r AS (SELECT a, b FROM t UNION ALL SELECT b, a FROM r UNION ALL SELECT r1.a, r2.b FROM r r1, r r2) SELECT * FROM r",
		"recursion alone":    "WITH RECURSIVE r AS (SELECT * FROM r) SELECT * FROM r",
		"mutual recursion":   "WITH RECURSIVE a AS (SELECT x FROM b), b AS (SELECT x FROM a) SELECT * FROM a",
		"sums of sums":       sums(1000),
		"stars on stars":     "SELECT * FROM " + deep("(SELECT *, * FROM ", "(SELECT 1 AS a, 2 AS b) z", ") x", 40),
		"very many joins":    "SELECT " + strings.Repeat("a, ", 20_000) + "b FROM t" + strings.Repeat(" JOIN u ON u.a = t.a", 3900),
		"many inserts":       "FROM (SELECT a FROM " + deep("(SELECT a FROM ", "t", ") x", 500) + ") s" + strings.Repeat(" INSERT INTO t SELECT a", 500),
		"nothing":            "", "semicolons": ";;;;", "nulls": "\x00\x00 SELECT \x00",
	}
}

// sums are n columns, each of n others.
func sums(n int) string {
	var q strings.Builder
	q.WriteString("SELECT ")
	for i := range n {
		fmt.Fprintf(&q, "a%d + ", i)
	}
	q.WriteString("0 AS x0")
	for i := 1; i < n; i++ {
		fmt.Fprintf(&q, ", x%d + a%d AS x%d", i-1, i, i)
	}
	q.WriteString(" FROM t")
	return q.String()
}

// What an analysis holds is in proportion to the text.
func TestMemoryIsInProportionToTheText(t *testing.T) {
	if raceEnabled {
		t.Skip("skipped: memory counts otherwise under the race detector")
	}
	for name, q := range hostile() {
		if len(q) < 4000 {
			continue
		}
		for _, d := range []string{"ansi", "clickhouse"} {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			a := Analyze(q, Options{Dialect: d})
			runtime.GC()
			runtime.ReadMemStats(&after)
			if times := float64(after.HeapAlloc-before.HeapAlloc) / float64(len(q)); after.HeapAlloc > before.HeapAlloc && times > 200 {
				t.Errorf("%s in %s: holds %.0f times the text's %d bytes", name, d, times, len(q))
			}
			runtime.KeepAlive(a)
		}
	}
}

func TestHostileTexts(t *testing.T) {
	for name, q := range hostile() {
		t.Run(name, func(t *testing.T) {
			for _, d := range []string{"ansi", "clickhouse", "spark"} {
				within(t, 2*time.Second, q, Options{Dialect: d})
			}
		})
	}
}

func manyCTEs(n int) string {
	var q strings.Builder
	q.WriteString("WITH c0 AS (SELECT a FROM t)")
	for i := 1; i < n; i++ {
		fmt.Fprintf(&q, ", c%d AS (SELECT a FROM c%d)", i, i-1)
	}
	fmt.Fprintf(&q, " SELECT a FROM c%d", n-1)
	return q.String()
}

func aliases(n int) string {
	var q strings.Builder
	q.WriteString("SELECT a AS x0")
	for i := 1; i < n; i++ {
		fmt.Fprintf(&q, ", x%d + x%d AS x%d", i-1, i-1, i)
	}
	q.WriteString(" FROM t")
	return q.String()
}

// FuzzAnalyze looks for faults and for what takes long.
func FuzzAnalyze(f *testing.F) {
	for _, q := range []string{
		"SELECT a FROM t", "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT * FROM r JOIN t USING (n)",
		"MERGE INTO t USING s ON t.a = s.a WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
		"FROM s INSERT INTO t PARTITION (d) SELECT *, 1 INSERT INTO u SELECT a",
		"SELECT * FROM t PIVOT (sum(a) FOR b IN (1, 2)) UNPIVOT (v FOR n IN (x, y))",
		"UPDATE a JOIN b USING (c) SET a.x = b.y; ALTER TABLE a RENAME TO b; DROP TABLE b",
		"SELECT x.*, f(y -> y.z) FROM t LATERAL VIEW explode(a) x AS y QUALIFY row_number() OVER w = 1 WINDOW w AS (ORDER BY a)",
		"CREATE TEMP TABLE a AS SELECT 1; INSERT INTO b SELECT * FROM a; ALTER TABLE b SWAP WITH a",
	} {
		f.Add(q, uint8(0))
		f.Add(q, uint8(3))
	}
	dialects := []string{"ansi", "hive", "spark", "flink", "trino", "doris", "mysql", "clickhouse", "postgres", "snowflake", "bigquery", "duckdb", "tsql", "oracle"}
	known := schema{"t": {"a", "b", "b.c"}, "s": {"a", "x"}}
	f.Fuzz(func(t *testing.T, q string, d uint8) {
		start := time.Now()
		a := Analyze(q, Options{Dialect: dialects[int(d)%len(dialects)], Catalog: known})
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("took %s", took)
		}
		for _, u := range a.Unresolved {
			if u.Reason == faulty {
				t.Fatalf("fault: %s", u.Name)
			}
		}
		for _, x := range a.Targets {
			for i, o := range x.Outputs {
				for _, s := range o.Sources {
					a.Chain(x, i, s)
				}
			}
		}
	})
}
