package syntax

import (
	"fmt"
	"strings"
	"testing"
)

// checkSpans returns what is wrong with the spans of a script: a child beyond
// its parent, siblings out of order, an identifier that is not its text.
func checkSpans(s *Script) (faults []string) {
	text := s.Text
	report := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	open := false // a quote that is not closed has no text to compare
	for _, st := range s.Statements {
		for _, w := range st.Warnings {
			open = open || w.Error && strings.Contains(w.Reason, "not closed")
		}
	}
	var check func(n Node)
	check = func(n Node) {
		parent := n.Range()
		if parent.Start < 0 || parent.End < parent.Start || int(parent.End) > len(text) {
			report("%T has the span %v of %d bytes", n, parent, len(text))
			return
		}
		if id, ok := n.(*Ident); ok && !open && !plain(text, id) {
			report("ident %q has the text %q", id.Text, id.In(text))
		}
		last := parent.Start
		var children []Node
		root := true
		Inspect(n, func(c Node) bool {
			if root {
				root = false
				return true
			}
			children = append(children, c)
			return false
		})
		for _, c := range children {
			r := c.Range()
			if r.Start == r.End { // what is missing stands nowhere
				continue
			}
			if r.Start < parent.Start || r.End > parent.End {
				report("%T %q is not within %T %q", c, cut(text, r), n, cut(text, parent))
			} else if r.Start < last {
				report("%T %q of %T %q comes before its sibling's end", c, cut(text, r), n, cut(text, parent))
			}
			last = r.End
			check(c)
		}
	}
	end := int32(0)
	for _, st := range s.Statements {
		if st.Start < end {
			report("statement %q begins before the one before it ends", cut(text, st.Span))
		}
		end = st.End
		check(st)
		for _, w := range st.Warnings {
			if w.Start < 0 || w.End < w.Start || int(w.End) > len(text) {
				report("warning %q has the span %v", w.Reason, w.Span)
			}
		}
	}
	return faults
}

// plain tells whether an identifier's text is its span without quotes.
func plain(text string, id *Ident) bool {
	got := id.In(text)
	if id.Start == id.End || got == id.Text || id.Quoted && strings.Contains(got, `\`) {
		return true
	}
	strip := func(s string) string {
		return strings.Map(func(r rune) rune {
			if strings.ContainsRune("`\"'[]\\$", r) {
				return -1
			}
			return r
		}, s)
	}
	return id.Quoted && strings.HasSuffix(strip(got), strip(id.Text)) // a prefix such as N belongs to the span
}

func cut(text string, s Span) string {
	if s.Start < 0 || s.End < s.Start || int(s.End) > len(text) {
		return fmt.Sprint(s)
	}
	t := s.In(text)
	if len(t) > 60 {
		return t[:60] + "…"
	}
	return t
}

// everything returns all samples of the inputs.
func everything(t testing.TB) []sample {
	all := hard(t)
	for _, f := range []string{"corpus.jsonl", "oracles.jsonl", "table_sets.jsonl", "session_oracles.jsonl"} {
		all = append(all, samples(t, f)...)
	}
	return all
}

func TestSpansNestInAllInputs(t *testing.T) {
	n := 0
	for _, s := range everything(t) {
		if s.SQL == "" {
			continue
		}
		for _, d := range []*Dialect{Lookup(s.Dialect), Lookup("ansi")} {
			for _, f := range checkSpans(Parse(s.SQL, d)) {
				if n++; n <= 40 {
					t.Errorf("%s %s: %s", d.Name, s.ID, f)
				}
			}
		}
	}
	if n > 0 {
		t.Errorf("%d faults", n)
	}
}
