package syntax

import "testing"

// FuzzParse reads any text in any dialect: it must end, without a panic, with
// spans that nest, and with a tree in proportion to the text.
func FuzzParse(f *testing.F) {
	for _, s := range goldens(f) {
		f.Add(s.SQL, uint8(0))
		f.Add(s.SQL, uint8(len(s.SQL)))
	}
	for _, text := range hostile {
		f.Add(text(300), uint8(1))
	}
	f.Fuzz(func(t *testing.T, text string, which uint8) {
		d := dialects[int(which)%len(dialects)]
		s := Parse(text, d)
		for _, st := range s.Statements {
			for _, w := range st.Warnings {
				if w.Reason == faulty {
					t.Errorf("%s: the parser panicked at %q", d.Name, w.In(text))
				}
			}
		}
		for _, fault := range checkSpans(s) {
			t.Errorf("%s: %s", d.Name, fault)
		}
		if n := nodes(s); n > 8*len(text)+16 {
			t.Errorf("%s: %d nodes of %d bytes", d.Name, n, len(text))
		}
		if g, why := Guess(text); g == nil || why == "" {
			t.Error("no guess")
		}
	})
}
