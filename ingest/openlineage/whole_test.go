package openlineage

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"headwater/graph"
)

// TestFoldWholeMovesOnlyWhatEveryColumnHas shows lineage before and after.
func TestFoldWholeMovesOnlyWhatEveryColumnHas(t *testing.T) {
	k := func(column string, kinds graph.Kinds) graph.Source {
		return graph.Source{Name: graph.Name{Kind: graph.DataStoreKind, Region: "eu", Namespace: "n", Name: "a", Column: column}, Kinds: kinds}
	}
	expr := func(s graph.Source, e string) graph.Source { s.Expression = e; return s }
	for _, c := range []struct {
		what    string
		columns [][]graph.Source
		inputs  []graph.Source
		want    string
	}{
		{"no columns", nil, []graph.Source{k("x", graph.Join)}, "* n a#x JOIN"},
		{"one column", [][]graph.Source{{k("x", graph.Join|graph.Identity), k("y", graph.Window)}}, nil, "* n a#x JOIN, 0 n a#x IDENTITY, 0 n a#y WINDOW"},
		{"not in the last", [][]graph.Source{{k("x", graph.Join)}, {k("x", graph.Join)}, {k("y", graph.Join)}}, nil, "0 n a#x JOIN, 1 n a#x JOIN, 2 n a#y JOIN"},
		{"not in the first", [][]graph.Source{{}, {k("x", graph.Join)}}, nil, "1 n a#x JOIN"},
		{"some kinds", [][]graph.Source{{k("x", graph.Join|graph.Sort)}, {k("x", graph.Join|graph.Filter)}}, nil, "* n a#x JOIN, 0 n a#x SORT, 1 n a#x FILTER"},
		{"with what is there", [][]graph.Source{{k("x", graph.GroupBy)}, {k("x", graph.GroupBy)}}, []graph.Source{k("x", graph.Filter)}, "* n a#x FILTER|GROUP_BY"},
		{"another expression", [][]graph.Source{{expr(k("x", graph.Join), "1")}, {expr(k("x", graph.Join), "2")}}, nil, "0 n a#x JOIN, 1 n a#x JOIN"},
		{"only whole kinds", [][]graph.Source{{k("x", graph.Conditional|graph.Window)}, {k("x", graph.Conditional|graph.Window)}}, nil, "0 n a#x WINDOW|CONDITIONAL, 1 n a#x WINDOW|CONDITIONAL"},
	} {
		l := graph.Lineage{Inputs: c.inputs}
		for i, s := range c.columns {
			l.Columns = append(l.Columns, graph.ColumnLineage{Column: fmt.Sprint(i), Inputs: s})
		}
		foldWhole(&l)
		var got []string
		for _, s := range l.Inputs {
			got = append(got, "* "+s.Name.DataStore().Namespace+" a#"+s.Name.Column+" "+s.Kinds.String())
		}
		for _, col := range l.Columns {
			for _, s := range col.Inputs {
				got = append(got, col.Column+" "+s.Name.Namespace+" a#"+s.Name.Column+" "+s.Kinds.String())
			}
		}
		if g := strings.Join(got, ", "); g != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.what, g, c.want)
		}
	}
}

// TestFoldWholeLosesNothing compares random lineage with what it is when folded
// and unfolded again, and checks that no more could have been folded.
func TestFoldWholeLosesNothing(t *testing.T) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	type edge struct {
		column, source int
		kind           graph.Kinds
	}
	kinds := []graph.Kinds{graph.Identity, graph.Join, graph.Filter, graph.GroupBy, graph.Sort, graph.Window}
	for range 2000 {
		columns := 1 + random.IntN(3)
		want := map[edge]bool{}
		var l graph.Lineage
		for c := range columns {
			var list []graph.Source
			for s := range 3 {
				var of graph.Kinds
				for _, k := range kinds {
					if random.IntN(3) > 0 {
						of |= k
						want[edge{c, s, k}] = true
					}
				}
				if of != 0 {
					list = append(list, graph.Source{Name: graph.Name{Column: fmt.Sprint(s)}, Kinds: of})
				}
			}
			l.Columns = append(l.Columns, graph.ColumnLineage{Column: fmt.Sprint(c), Inputs: list})
		}
		foldWhole(&l)
		got := map[edge]bool{}
		add := func(c int, list []graph.Source) {
			for _, s := range list {
				for _, k := range kinds {
					if s.Kinds&k != 0 {
						got[edge{c, int(s.Name.Column[0] - '0'), k}] = true
					}
				}
			}
		}
		for c := range l.Columns {
			add(c, l.Columns[c].Inputs)
		}
		for e := range got {
			if e.kind&graph.WholeKinds != 0 && !slices.ContainsFunc(l.Columns, func(c graph.ColumnLineage) bool { return !got[edge{int(c.Column[0] - '0'), e.source, e.kind}] }) {
				t.Fatalf("seed %d: every column still has %v", seed, e)
			}
		}
		for c := range l.Columns {
			add(c, l.Inputs)
		}
		if !maps.Equal(got, want) {
			t.Fatalf("seed %d:\n got %v\nwant %v", seed, got, want)
		}
	}
}
