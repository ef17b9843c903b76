package score

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// inputs is the folder of the shared inputs; the test is skipped where it is
// not.
func inputs(t testing.TB) string {
	if dir := os.Getenv("HEADWATER_INPUTS"); dir != "" {
		return filepath.Join(dir, "sql")
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		for _, at := range []string{"shared/inputs", "../shared/inputs"} {
			if p := filepath.Join(dir, at, "sql"); exists(p) {
				return p
			}
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Skip("skipped: no inputs")
		}
		dir = up
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func load(t testing.TB, name string) []*Case {
	f, err := os.Open(filepath.Join(inputs(t), name))
	if err != nil {
		t.Skip("skipped: no inputs: ", err)
	}
	defer f.Close()
	cases, err := Read(f)
	if err != nil {
		t.Fatal(err)
	}
	return cases
}

// report writes a report where the environment asks for one, and its tables to
// the log.
func report(t *testing.T, r *Report, env string) {
	if path := os.Getenv(env); path != "" {
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := r.WriteText(f, -1); err != nil {
			t.Fatal(err)
		}
	}
	short := *r
	short.Misses = nil
	var b strings.Builder
	if err := short.WriteText(&b, 0); err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + b.String())
}

func atLeast(t *testing.T, what string, got Tally, want float64) {
	t.Helper()
	if got.Percent() < want {
		t.Errorf("%s: %s, want at least %.0f%%", what, got, want)
	}
}

// TestOracles holds the accuracy that is promised, and every miss to a reason.
func TestOracles(t *testing.T) {
	r := Run(load(t, "oracles.jsonl"))
	report(t, r, "SCORE_REPORT")
	atLeast(t, "tables", r.All.Tables, 97)
	atLeast(t, "columns", r.All.Columns, 93)
	for d, l := range r.ByDialect {
		if l.Columns.Of >= 20 {
			atLeast(t, "columns of "+d, l.Columns, 88)
		}
	}
	for _, s := range []string{"openlineage-spark-transformations", "doris-lineage", "impala-lineage"} {
		atLeast(t, "kinds of "+s, r.BySuite[s].Kinds, 93)
	}
	for _, m := range r.Misses {
		if argued[m.ID] == "" {
			t.Errorf("no reason is given for a miss: %s (%s)\n%s\n  want %q\n  got  %q\n  notes %q", m.ID, m.What, m.SQL, m.Want, m.Got, m.Notes)
		}
	}
}

// TestTableSets scores the sets of names.
func TestTableSets(t *testing.T) {
	r := Run(load(t, "table_sets.jsonl"))
	report(t, r, "SCORE_SETS")
	atLeast(t, "table sets", r.Sets, 97)
}

func TestSessions(t *testing.T) {
	f, err := os.Open(filepath.Join(inputs(t), "session_oracles.jsonl"))
	if err != nil {
		t.Skip("skipped: no inputs: ", err)
	}
	defer f.Close()
	tally, misses, err := RunSessions(f)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range misses {
		t.Errorf("%s\n  want %q\n  got  %q", m.ID, m.Want, m.Got)
	}
	t.Logf("sessions: %s", tally)
}
