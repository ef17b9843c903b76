package api

import (
	"slices"
	"testing"
)

// Whatever a cursor says, a page lies within its list, and pages one after
// the other give the list.
func FuzzPages(f *testing.F) {
	f.Add("", 3)
	f.Add("Y29sdW1ucwAxAGI", 2)
	f.Add("Y29sdW1ucwA5OTk5AHo", 1)
	all := []string{"a", "b", "c", "d", "e"}
	key := func(s string) string { return s }
	f.Fuzz(func(t *testing.T, after string, first int) {
		p, err := newPage("columns", &first, &after, 100)
		if err != nil {
			return
		}
		from, to := bounds(p, all, key)
		if from < 0 || to < from || to > len(all) {
			t.Fatalf("bounds %d to %d of %d", from, to, len(all))
		}
		rest := slices.Clone(all[from:to])
		for i := info(p, all, key); i.HasNextPage; i = info(p, all, key) {
			if p, err = newPage("columns", &first, i.EndCursor, 100); err != nil {
				t.Fatal(err)
			}
			from, to := bounds(p, all, key)
			rest = append(rest, all[from:to]...)
		}
		if !slices.Equal(rest, all[from:]) {
			t.Fatalf("pages from %d give %v", from, rest)
		}
	})
}
