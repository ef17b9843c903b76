package sql

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// inputs is the folder of the shared SQL inputs; what needs it is skipped where
// it is not.
func inputs(t testing.TB) string {
	if dir := os.Getenv("HEADWATER_INPUTS"); dir != "" {
		return filepath.Join(dir, "sql")
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		p := filepath.Join(dir, "..", "shared", "inputs", "sql")
		if _, err := os.Stat(p); err == nil {
			return p
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Skip("skipped: no inputs")
		}
		dir = up
	}
}

type statementLine struct {
	ID      string                     `json:"id"`
	Suite   string                     `json:"suite"`
	Dialect string                     `json:"dialect"`
	SQL     string                     `json:"sql"`
	Schema  map[string]json.RawMessage `json:"schema"`
}

func lines(t testing.TB, name string) []statementLine {
	f, err := os.Open(filepath.Join(inputs(t), name))
	if err != nil {
		t.Skip("skipped: no inputs: ", err)
	}
	defer f.Close()
	var all []statementLine
	scan := bufio.NewScanner(f)
	scan.Buffer(nil, 64<<20)
	for scan.Scan() {
		var l statementLine
		if err := json.Unmarshal(scan.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		all = append(all, l)
	}
	return all
}

// BenchmarkAnalyzeCorpus reads the corpus, statement by statement; the median
// is that of one more round.
func BenchmarkAnalyzeCorpus(b *testing.B) {
	corpus := lines(b, "corpus.jsonl")
	b.ReportAllocs()
	for b.Loop() {
		for _, l := range corpus {
			Analyze(l.SQL, Options{Dialect: l.Dialect})
		}
	}
	times := make([]time.Duration, len(corpus))
	for i, l := range corpus {
		best := time.Hour
		for range 3 {
			start := time.Now()
			Analyze(l.SQL, Options{Dialect: l.Dialect})
			best = min(best, time.Since(start))
		}
		times[i] = best
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Nanoseconds()), "median-ns/stmt")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(corpus)), "mean-ns/stmt")
}

// BenchmarkTPCDS analyzes the TPC-DS queries with their schemas.
func BenchmarkTPCDS(b *testing.B) {
	type query struct {
		sql     string
		catalog schema
	}
	var queries []query
	for _, l := range lines(b, "oracles.jsonl") {
		if l.Suite != "tpcds" {
			continue
		}
		known := schema{}
		for table, raw := range l.Schema {
			var columns []string
			if err := json.Unmarshal(raw, &columns); err != nil {
				b.Fatal(err)
			}
			known[strings.ToLower(table)] = columns
		}
		queries = append(queries, query{l.SQL, known})
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, q := range queries {
			Analyze(q.sql, Options{Dialect: "ansi", Catalog: q.catalog})
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(queries)), "ns/query")
}

// wideStar is a star over a wide table through a chain of CTEs.
func wideStar(columns, ctes int) (string, schema) {
	names := make([]string, columns)
	for i := range names {
		names[i] = fmt.Sprintf("c%d", i)
	}
	var q strings.Builder
	q.WriteString("WITH t0 AS (SELECT * FROM wide)")
	for i := 1; i < ctes; i++ {
		fmt.Fprintf(&q, ", t%d AS (SELECT * FROM t%d)", i, i-1)
	}
	fmt.Fprintf(&q, " SELECT * FROM t%d", ctes-1)
	return q.String(), schema{"wide": names}
}

// BenchmarkWideStar reads 3,000 columns through 10 CTEs.
func BenchmarkWideStar(b *testing.B) {
	q, known := wideStar(3000, 10)
	b.ReportAllocs()
	for b.Loop() {
		Analyze(q, Options{Dialect: "ansi", Catalog: known})
	}
}
