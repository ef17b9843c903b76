package syntax

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// hostile are texts of about n bytes that have made parsers slow, deep or dead.
var hostile = map[string]func(n int) string{
	"in list":          func(n int) string { return "SELECT 1 FROM t WHERE a IN (" + strings.Repeat("12, ", n/4) + "0)" },
	"parentheses":      func(n int) string { return "SELECT " + strings.Repeat("(", n/2) + "1" + strings.Repeat(")", n/2) },
	"open parentheses": func(n int) string { return "SELECT " + strings.Repeat("(", n) },
	"closing only":     func(n int) string { return "SELECT " + strings.Repeat(")", n) },
	"queries in parentheses": func(n int) string {
		return strings.Repeat("(", n/2) + "SELECT 1" + strings.Repeat(")", n/2)
	},
	"subqueries": func(n int) string {
		return strings.Repeat("SELECT * FROM (", n/17) + "SELECT 1" + strings.Repeat(") t", n/17)
	},
	"union":        func(n int) string { return "SELECT 1" + strings.Repeat(" UNION SELECT a FROM t", n/22) },
	"and":          func(n int) string { return "SELECT 1 FROM t WHERE a = 1" + strings.Repeat(" AND b = 2", n/10) },
	"mixed chain":  func(n int) string { return "SELECT 1" + strings.Repeat("-1+2", n/4) },
	"not":          func(n int) string { return "SELECT " + strings.Repeat("NOT ", n/4) + "a" },
	"minus":        func(n int) string { return "SELECT " + strings.Repeat("- ", n/2) + "a" },
	"joins":        func(n int) string { return "SELECT 1 FROM a" + strings.Repeat(" JOIN b ON x = y", n/16) },
	"bare joins":   func(n int) string { return "SELECT 1 FROM a" + strings.Repeat(" JOIN b", n/7) },
	"commas":       func(n int) string { return "SELECT " + strings.Repeat(",", n) },
	"case":         func(n int) string { return "SELECT " + strings.Repeat("CASE WHEN ", n/10) },
	"indexes":      func(n int) string { return "SELECT a" + strings.Repeat("[1]", n/3) },
	"open quote":   func(n int) string { return "SELECT 1; SELECT '" + strings.Repeat("x''", n/3) },
	"quotes":       func(n int) string { return strings.Repeat("'", n|1) },
	"open comment": func(n int) string { return "SELECT 1; /*" + strings.Repeat("/* ", n/3) },
	"open braces":  func(n int) string { return "SELECT " + strings.Repeat("{{", n/2) },
	"template blocks": func(n int) string {
		return "SELECT " + strings.Repeat("{%", n/4) + strings.Repeat("{#", n/4)
	},
	"dollar quotes": func(n int) string {
		var b strings.Builder
		for i := range n / 6 {
			fmt.Fprintf(&b, "$t%d$ ", i)
		}
		return b.String()
	},
	"open variables": func(n int) string { return "SELECT " + strings.Repeat("a${", n/3) },
	"open brackets":  func(n int) string { return "SELECT " + strings.Repeat("[", n) },
	"wrong brackets": func(n int) string { return "SELECT " + strings.Repeat("([{", n/6) + strings.Repeat(")", n/2) },
	"types":          func(n int) string { return "CREATE TABLE t (a " + strings.Repeat("ARRAY<", n/6) },
	"type or less":   func(n int) string { return "SELECT " + strings.Repeat("array<", n/6) },
	"begin":          func(n int) string { return strings.Repeat("BEGIN ", n/6) },
	"if":             func(n int) string { return strings.Repeat("IF a THEN ", n/10) },
	"explain":        func(n int) string { return strings.Repeat("EXPLAIN ", n/8) + "SELECT 1" },
	"labels":         func(n int) string { return strings.Repeat("<<a>> ", n/6) },
	"procedures":     func(n int) string { return "CREATE " + strings.Repeat("PROCEDURE p IS ", n/15) },
	"rollups":        func(n int) string { return "SELECT 1 FROM t GROUP BY " + strings.Repeat("ROLLUP(", n/7) },
	"with":           func(n int) string { return strings.Repeat("WITH a AS (", n/11) + "SELECT 1" },
	"lateral views":  func(n int) string { return "SELECT 1 FROM t" + strings.Repeat(" LATERAL VIEW f(a) x AS b", n/25) },
	"pivots":         func(n int) string { return "SELECT 1 FROM t" + strings.Repeat(" PIVOT (f(a) FOR b IN (1))", n/26) },
	"statements":     func(n int) string { return strings.Repeat("a;", n/2) },
	"junk words":     func(n int) string { return "SELECT 1 FROM t x " + strings.Repeat("WHERE y z ", n/10) },
	"lambdas":        func(n int) string { return "SELECT " + strings.Repeat("(a, b) -> ", n/10) },
	"arrows":         func(n int) string { return "SELECT a" + strings.Repeat(" -> 'b'", n/7) },
	"nul":            func(n int) string { return "SELECT " + strings.Repeat("\x00a", n/2) },
	"invalid UTF-8":  func(n int) string { return "SELECT " + strings.Repeat("\xff\xfe ", n/3) },
	"words":          func(n int) string { return strings.Repeat("select from where ", n/18) },
	"columns": func(n int) string {
		return "SELECT * FROM JSON_TABLE(a, '$' COLUMNS (" + strings.Repeat("NESTED PATH '' COLUMNS (", n/24)
	},
	"execute": func(n int) string { return strings.Repeat("EXECUTE IMMEDIATE 'SELECT ''", n/28) },
}

// nodes counts what Parse has made.
func nodes(s *Script) (n int) {
	for _, st := range s.Statements {
		Inspect(st, func(Node) bool { n++; return true })
		n += len(st.Warnings)
	}
	return n
}

func TestHostileTextIsReadInLinearTime(t *testing.T) {
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			for _, name := range []string{"ansi", "tsql", "postgres", "mysql", "clickhouse"} {
				d := Lookup(name)
				small, large := Parse(text(20_000), d), Parse(text(80_000), d)
				if n := nodes(large); n > 8*len(large.Text)+100 {
					t.Errorf("%s: %d nodes of %d bytes", name, n, len(large.Text))
				}
				// Nesting is looked at once for each level, up to its limit.
				if large.work > 5*small.work+3*maxDepth*maxDepth {
					t.Errorf("%s: %d steps for 20 kB, %d for 80 kB", name, small.work, large.work)
				}
			}
		})
	}
}

func TestDeepNestingIsAnErrorOfItsStatement(t *testing.T) {
	text := "SELECT " + strings.Repeat("(", 5000) + "1" + strings.Repeat(")", 5000) + "; SELECT 2"
	s := Parse(text, nil)
	if len(s.Statements) != 2 {
		t.Fatalf("%d statements, want 2", len(s.Statements))
	}
	w := s.Statements[0].Warnings
	if len(w) != 1 || !w[0].Error || !strings.Contains(w[0].Reason, "nested deeper") {
		t.Errorf("warnings %v, want one of the nesting", w)
	}
	if !s.Statements[1].Whole() {
		t.Errorf("the second statement has warnings: %v", s.Statements[1].Warnings)
	}
}

func TestLongChainsAreFlat(t *testing.T) {
	s := Parse("SELECT 1 FROM t WHERE a = 1"+strings.Repeat(" AND b = 2", 10_000), nil)
	where := s.Statements[0].Body.(*QueryStatement).Query.Body.(*Select).Where.(*Op)
	if where.Op != "AND" || len(where.Args) != 10_001 {
		t.Errorf("%s of %d terms, want AND of 10001", where.Op, len(where.Args))
	}
	if s := Parse("SELECT 1"+strings.Repeat(" UNION SELECT 2", 2000), nil); !s.Statements[0].Whole() {
		t.Errorf("2,000 branches: %v", s.Statements[0].Warnings)
	}
}

func TestTextBeyondTheLimitIsAnError(t *testing.T) {
	s := Parse(strings.Repeat(" ", MaxText+1), nil)
	if len(s.Statements) != 1 || !s.Statements[0].Warnings[0].Error {
		t.Errorf("no error for a text of %d bytes", MaxText+1)
	}
}

func TestHostileTextCostsBoundedMemory(t *testing.T) {
	var before, after runtime.MemStats
	for name, text := range hostile {
		for _, d := range []string{"ansi", "mysql", "clickhouse"} {
			s := text(80_000)
			runtime.ReadMemStats(&before)
			Parse(s, Lookup(d))
			runtime.ReadMemStats(&after)
			if ratio := (after.TotalAlloc - before.TotalAlloc) / uint64(len(s)); ratio > 200 {
				t.Errorf("%s in %s: %d bytes allocated for each of the text", name, d, ratio)
			}
		}
	}
}
