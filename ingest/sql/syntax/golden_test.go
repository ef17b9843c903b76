package syntax

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// The stories of testdata: `parse [dialect]` gives the tree, `split [dialect]`
// the statements alone, `warnings [dialect]` what was not understood, `guess`
// the dialect of a text, `lines [dialect]` what was not understood of many short
// scripts, one a line.
func TestStories(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var dialect *Dialect
			if len(d.CmdArgs) > 0 {
				if dialect = Lookup(d.CmdArgs[0].Key); dialect == nil {
					d.Fatalf(t, "no dialect %q", d.CmdArgs[0].Key)
				}
			}
			s := Parse(d.Input, dialect)
			for _, f := range checkSpans(s) {
				t.Errorf("%s: %s", d.Pos, f)
			}
			switch d.Cmd {
			case "parse":
				return dump(s)
			case "split":
				return split(s)
			case "warnings":
				return warnings(s)
			case "lines":
				return lines(t, d.Input, dialect)
			case "guess":
				g, why := Guess(d.Input)
				return g.Name + ": " + why + "\n"
			}
			d.Fatalf(t, "no command %q", d.Cmd)
			return ""
		})
	}
}

func lines(t *testing.T, input string, d *Dialect) string {
	var b strings.Builder
	for line := range strings.Lines(input) {
		s := Parse(strings.TrimSpace(line), d)
		for _, f := range checkSpans(s) {
			t.Errorf("%s: %s", line, f)
		}
		if w := warnings(s); w != "none\n" {
			fmt.Fprintf(&b, "%s\n  %s", s.Text, w)
		}
	}
	if b.Len() == 0 {
		return "all understood\n"
	}
	return b.String()
}

func split(s *Script) string {
	var b strings.Builder
	for _, st := range s.Statements {
		fmt.Fprintf(&b, "%s%s %q\n", strings.TrimPrefix(fmt.Sprintf("%T", st.Body), "*syntax."), says(st.Body), st.In(s.Text))
		for _, w := range st.Warnings {
			fmt.Fprintf(&b, "  %s: %s\n", w.Reason, quote(s.Text, w.Span))
		}
	}
	return b.String()
}

func warnings(s *Script) string {
	var b strings.Builder
	for _, st := range s.Statements {
		Inspect(st, func(n Node) bool {
			if st, ok := n.(*Statement); ok {
				for _, w := range st.Warnings {
					fmt.Fprintf(&b, "%v %s: %s\n", w.Error, w.Reason, quote(s.Text, w.Span))
				}
			}
			return true
		})
	}
	if b.Len() == 0 {
		return "none\n"
	}
	return b.String()
}

// goldens returns the SQL of all stories.
func goldens(t testing.TB) (all []sample) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		datadriven.RunTestAny(t, f, func(_ testing.TB, d *datadriven.TestData) string {
			s := sample{ID: d.Pos, SQL: d.Input}
			if len(d.CmdArgs) > 0 {
				s.Dialect = d.CmdArgs[0].Key
			}
			all = append(all, s)
			return d.Expected
		})
	}
	return all
}
