package sql

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCorpusHasNoFaults analyzes every statement of the shared inputs.
func TestCorpusHasNoFaults(t *testing.T) {
	n := 0
	check := func(name, q, dialect string) {
		n++
		for _, u := range Analyze(q, Options{Dialect: dialect}).Unresolved {
			if u.Reason == faulty {
				t.Errorf("%s: %s", name, u.Name)
			}
		}
	}
	for _, file := range []string{"corpus.jsonl", "oracles.jsonl", "table_sets.jsonl"} {
		for _, l := range lines(t, file) {
			check(file+" "+l.ID, l.SQL, l.Dialect)
		}
	}
	scripts, err := filepath.Glob(filepath.Join(inputs(t), "hard", "*.sql"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range scripts {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		d, _, _ := strings.Cut(filepath.Base(path), "_")
		check(path, string(text), map[string]string{"bq": "bigquery", "ch": "clickhouse", "pg": "postgres", "snow": "snowflake"}[d])
	}
	t.Logf("%d texts", n)
}

// Every source of every output has a chain of operators: from the scan of its
// table to the write.
func TestEverySourceHasAChain(t *testing.T) {
	n := 0
	for _, l := range lines(t, "oracles.jsonl") {
		known := schema{}
		for table, raw := range l.Schema {
			var columns []string
			if json.Unmarshal(raw, &columns) == nil {
				known[strings.ToLower(table)] = columns
			}
		}
		a := Analyze(l.SQL, Options{Dialect: l.Dialect, Catalog: known})
		for _, x := range a.Targets {
			for i, o := range x.Outputs {
				for _, s := range o.Sources {
					if s.Table == nil || s.Kinds&Direct == 0 || s.Table == x.Table {
						continue
					}
					n++
					chain := a.Chain(x, i, s)
					if len(chain) < 2 || chain[0].Op != OpScan || chain[0].Table != s.Table || chain[len(chain)-1].Op != OpWrite {
						t.Errorf("%s: %s of %s: chain %v", l.ID, s, o.Name, operators(chain))
					}
				}
			}
		}
	}
	t.Logf("%d sources", n)
}

func operators(chain []PlanNode) []Op {
	var ops []Op
	for _, p := range chain {
		ops = append(ops, p.Op)
	}
	return ops
}
