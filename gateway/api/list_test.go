package api

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"headwater/graph"
	"headwater/graph/graphtest"
)

// star is one table that feeds many, each by a job of its own that reads a
// few more and runs under a parent of its own.
func star(n int) []graph.Delta {
	hub := table(postgres, "hub")
	var deltas []graph.Delta
	for i := range n {
		out := table(hive, fmt.Sprintf("mart.out%d", i))
		deltas = append(deltas, graph.Delta{Subject: job(fmt.Sprintf("job%d", i)), Origin: "openlineage", Run: "r", State: graph.Completed, Time: day1, Says: graph.Content{
			SQL: "select 1", Parent: job(fmt.Sprintf("dag%d", i)),
			Reads: []graph.Dataset{{Name: hub, Facts: graph.Facts{Columns: []graph.Field{{Path: "k", Ordinal: 1}}}}},
			Writes: []graph.Dataset{{Name: out, Facts: graph.Facts{Columns: []graph.Field{{Path: "a", Ordinal: 1}, {Path: "b", Ordinal: 2}}},
				Lineage: &graph.Lineage{Columns: []graph.ColumnLineage{{Column: "a", Inputs: []graph.Source{{Name: hub.Of("k"), Kinds: graph.Identity, Expression: "k"}}}}}}},
		}, Seen: []graph.Seen{{Name: out, Partitions: []string{"p"}}}})
	}
	return deltas
}

const allOf = `id region namespace name description owners tags { name value from } updatedAt deletedAt facets`

// everything selects every field of a lineage, and lists of lists.
const everything = `query($of: NodeRef!, $granularity: Granularity!) { lineage(of: $of, granularity: $granularity, limit: 300) {
	root { ` + allOf + ` }
	nodes { distance node { ` + allOf + `
		... on DataStore { kind platform url aliases partitions { nodes { name } } columns { nodes { ` + allOf + ` path type dataStore { name } producers { name } consumers { name } } }
			producers { ` + allOf + ` kind sql dialect provisional plan { id } lastRun { id } parent { name } reads { name producers { name } } writes { name columns { nodes { path producers { name } } } } }
			consumers { name writes { name } } }
		... on Column { path type ordinal dataStore { name columns { nodes { path } } } producers { name sql } consumers { name } }
		... on Process { kind sql dialect provisional lastRun { id } parent { name parent { name } } reads { name } writes { name } } } }
	edges { from to kinds coarse crossRegion sources { process { name sql parent { name } reads { name } } origin kinds expression operators { kind } provisional } }
	complete revision } }`

func TestALongAnswerCostsAsManyReadsAsAShortOne(t *testing.T) {
	calls := map[string]map[int]map[string]int{}
	for _, n := range []int{3, 200} {
		s := serve(t, Options{MaxComplexity: 1 << 50}, star(n)...)
		for _, c := range []struct {
			granularity string
			of          graph.Name
		}{{"DATASTORE", table(postgres, "hub")}, {"COLUMN", table(postgres, "hub").Of("k")}, {"PROCESS", table(postgres, "hub")}} {
			s.reader.calls = nil
			r := s.ask(everything, "of", ref(c.of), "granularity", c.granularity)
			if got := len(r.at("lineage", "nodes").([]any)); got != n+1 {
				t.Fatalf("%s: %d nodes, want %d", c.granularity, got, n+1)
			}
			if calls[c.granularity] == nil {
				calls[c.granularity] = map[int]map[string]int{}
			}
			calls[c.granularity][n] = s.reader.calls
		}
	}
	for granularity, by := range calls {
		if !maps.Equal(by[3], by[200]) {
			t.Errorf("%s: 4 nodes cost %v, 201 nodes %v", granularity, by[3], by[200])
		}
		total := 0
		for _, n := range by[200] {
			total += n
		}
		if total > 60 {
			t.Errorf("%s costs %d calls: %v", granularity, total, by[200])
		}
	}
}

func TestOnlyWhatIsSelectedIsRead(t *testing.T) {
	s := serve(t, Options{}, star(5)...)
	for selection, want := range map[string]map[string]int{
		`complete`: {"Nodes": 1, "Flows": 1},
		`root { id } nodes { distance node { id __typename } } edges { from to kinds coarse sources { origin } }`: {"Nodes": 1, "Flows": 1},
		`nodes { node { name } }`: {"Nodes": 2, "Flows": 1},
		`root { name } nodes { node { owners } } edges { from crossRegion }`:                     {"Nodes": 2, "Flows": 1},
		`edges { sources { process { id } } }`:                                                   {"Nodes": 1, "Flows": 1},
		`edges { sources { process { name } } }`:                                                 {"Nodes": 2, "Flows": 1},
		`edges { sources { provisional } }`:                                                      {"Nodes": 1, "Flows": 1, "Says": 1},
		`nodes { node { ... on DataStore { producers { name } } } }`:                             {"Nodes": 3, "Flows": 2},
		`nodes { node { ... on DataStore { columns { nodes { path } } } } }`:                     {"Nodes": 2, "Flows": 1},
		`nodes { node { ... on DataStore { producers { sql lastRun { id } parent { id } } } } }`: {"Nodes": 3, "Flows": 2, "Says": 1},
	} {
		s.reader.calls = nil
		s.ask(`query($id: ID!) { lineage(of: {id: $id}, direction: DOWNSTREAM, depth: 1) { `+selection+` } }`, "id", table(postgres, "hub").ID().String())
		delete(s.reader.calls, "Resolve") // reads nothing but aliases
		if !maps.Equal(s.reader.calls, want) {
			t.Errorf("%s\ncosts %v\nwant  %v", selection, s.reader.calls, want)
		}
	}
}

func TestASkippedFieldIsNotRead(t *testing.T) {
	s := serve(t, Options{}, star(5)...)
	const query = `query($id: ID!, $deep: Boolean!) { lineage(of: {id: $id}, direction: DOWNSTREAM, depth: 1) { nodes { ...names } } }
		fragment names on LineageNode { node @include(if: $deep) { name } }`
	s.ask(query, "id", table(postgres, "hub").ID().String(), "deep", false)
	if s.reader.calls["Nodes"] != 1 {
		t.Errorf("costs %v", s.reader.calls)
	}
	s.ask(query, "id", table(postgres, "hub").ID().String(), "deep", true).want(`"hub"`, "lineage", "nodes", 0, "node", "name")
}

func TestTwoAliasesOfAFieldSeeWhatEachSelects(t *testing.T) {
	s := serve(t, Options{}, platform()...)
	s.ask(`query($of: NodeRef!) { node(of: $of) { ... on DataStore { a: producers { id } b: producers { name reads { id } } c: columns(first: 1) { nodes { path } } d: columns { nodes { path dataStore { name } } } } } }`, "of", ref(revenue)).
		want(fmt.Sprintf(`{"a":[{"id":%q}],"b":[{"name":"publish","reads":[{"id":%q}]}],"c":{"nodes":[]},"d":{"nodes":[]}}`, publish.ID(), sales.ID()), "node")
}

func TestTheWalkLeavesOutEdgesThatAreNotSelected(t *testing.T) {
	store := graphtest.NewModel("eu")
	graphtest.Feed(t, store, platform()...)
	var asked []bool
	a := newAPI(Options{Reader: store}.withDefaults(), func(ctx context.Context, v graph.View, q graph.Question) (*graph.Answer, error) {
		asked = append(asked, q.NodesOnly)
		return graph.GetLineage(ctx, v, q)
	})
	for _, selection := range []string{"complete", "nodes { distance }", "edges { from }", "edges @skip(if: true) { from }"} {
		execute(t, a, true, fmt.Sprintf(`{ lineage(of: {id: %q}) { %s } }`, sales.ID(), selection), nil)
	}
	if want := []bool{true, true, false, true}; !slices.Equal(asked, want) {
		t.Errorf("only nodes: %v, want %v", asked, want)
	}
}
