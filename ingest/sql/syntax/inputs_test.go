package syntax

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A sample is one text of the shared inputs.
type sample struct {
	ID      string `json:"id"`
	Dialect string `json:"dialect"`
	SQL     string `json:"sql"`
}

// inputs returns the folder of the shared SQL inputs, or skips.
func inputs(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("HEADWATER_INPUTS")
	if dir == "" {
		wd, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		for wd != filepath.Dir(wd) {
			if _, err := os.Stat(filepath.Join(wd, "go.mod")); err == nil {
				dir = filepath.Join(wd, "..", "shared", "inputs")
				break
			}
			wd = filepath.Dir(wd)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "sql")); err != nil {
		t.Skip("skipped: no inputs")
	}
	return filepath.Join(dir, "sql")
}

// samples reads a file of one JSON object a line.
func samples(t testing.TB, file string) []sample {
	t.Helper()
	f, err := os.Open(filepath.Join(inputs(t), file))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []sample
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 16<<20)
	for sc.Scan() {
		var s sample
		if err := json.Unmarshal(sc.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// hard returns the scripts of the hard folder by file name.
func hard(t testing.TB) []sample {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(inputs(t), "hard", "*.sql"))
	if err != nil {
		t.Fatal(err)
	}
	prefixes := map[string]string{"bq": "bigquery", "ch": "clickhouse", "pg": "postgres", "snow": "snowflake"}
	var all []sample
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(f)
		prefix, _, _ := strings.Cut(name, "_")
		if d := prefixes[prefix]; d != "" {
			prefix = d
		}
		all = append(all, sample{ID: name, Dialect: prefix, SQL: string(text)})
	}
	return all
}
