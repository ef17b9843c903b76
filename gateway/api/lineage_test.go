package api

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"headwater/graph"
	"headwater/graph/graphtest"
)

const lineageOf = `query($of: NodeRef!, $direction: Direction = BOTH, $granularity: Granularity = DATASTORE, $depth: Int = 3, $dependencies: [DependencyKind!],
	$filter: LineageFilter, $asOf: DateTime, $atLeast: String, $limit: Int = 1000, $after: String) {
	lineage(of: $of, direction: $direction, granularity: $granularity, depth: $depth, dependencies: $dependencies,
		filter: $filter, asOf: $asOf, atLeast: $atLeast, limit: $limit, after: $after) {
		root { id name }
		nodes { distance upstream downstream node { id name ... on Column { path } } }
		edges { from to kinds coarse crossRegion viaGlobal sources { origin kinds expression provisional operators { kind snippet } process { name } } }
		complete changed revision
		truncated { reason after } gaps { region reason } hidden { temporary unimportant filtered }
	}
}`

// edgesOf writes the edges of an answer by name, sorted.
func edgesOf(r *response) string {
	names := map[string]string{}
	for _, n := range r.at("lineage", "nodes").([]any) {
		n := n.(map[string]any)["node"].(map[string]any)
		name := n["name"].(string)
		if p, ok := n["path"]; ok {
			name += "#" + p.(string)
		}
		names[n["id"].(string)] = name
	}
	var edges []string
	for _, e := range r.at("lineage", "edges").([]any) {
		e := e.(map[string]any)
		text := names[e["from"].(string)] + " > " + names[e["to"].(string)]
		for _, k := range e["kinds"].([]any) {
			text += " " + k.(string)
		}
		if e["coarse"].(bool) {
			text += " coarse"
		}
		edges = append(edges, text)
	}
	slices.Sort(edges)
	return strings.Join(edges, "\n")
}

// nodesOf writes the nodes of an answer as distance and name, sorted.
func nodesOf(r *response) string {
	var nodes []string
	for _, n := range r.at("lineage", "nodes").([]any) {
		n := n.(map[string]any)
		node := n["node"].(map[string]any)
		text := fmt.Sprintf("%v %s", n["distance"], node["name"])
		if p, ok := node["path"]; ok {
			text += "#" + p.(string)
		}
		nodes = append(nodes, text)
	}
	slices.Sort(nodes)
	return strings.Join(nodes, ", ")
}

func wantText(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestLineageOfDataStoresGoesBothWays(t *testing.T) {
	s := serve(t, Options{}, platform()...)
	r := s.ask(lineageOf, "of", ref(sales))
	wantText(t, nodesOf(r), "-1 shop.customers, -1 shop.orders, 0 mart.sales, 1 mart.view, 1 revenue")
	wantText(t, edgesOf(r), "mart.sales > mart.view\nmart.sales > revenue coarse\nshop.customers > mart.sales\nshop.orders > mart.sales")
	r.want(`"mart.sales"`, "lineage", "root", "name")
}

func TestLineageOfColumnsHasKindsExpressionsAndOperators(t *testing.T) {
	s := serve(t, Options{}, platform()...)
	r := s.ask(lineageOf, "of", ref(sales.Of("total")), "granularity", "COLUMN", "direction", "UPSTREAM")
	wantText(t, edgesOf(r), strings.Join([]string{
		"shop.orders#amount > mart.sales#total AGGREGATION",
		"shop.orders#customer_id > mart.sales JOIN",
		"shop.orders#placed > mart.sales FILTER",
		"shop.orders#placed > mart.sales#total OTHER"}, "\n"))
	amount, placed := orders.Of("amount").ID().String(), orders.Of("placed").ID().String()
	for _, e := range r.at("lineage", "edges").([]any) {
		e := &response{t: t, Data: e.(map[string]any), body: r.body}
		switch {
		case e.Data["from"] == amount:
			// Two origins, each with its own words; the second by an alias.
			e.want(`[{"origin":"audit","kinds":["AGGREGATION"],"expression":"SUM(o.amount)","provisional":false,"operators":[{"kind":"SCAN","snippet":null},{"kind":"AGGREGATE","snippet":null}],"process":{"name":"load_sales"}},
				{"origin":"openlineage","kinds":["AGGREGATION"],"expression":"sum(amount)","provisional":false,"operators":[{"kind":"SCAN","snippet":null},{"kind":"AGGREGATE","snippet":null}],"process":{"name":"load_sales"}}]`, "sources")
		case e.Data["from"] == placed && e.Data["to"] == sales.Of("total").ID().String():
			e.want(`["MASKED_BY_CLOCK"]`, "sources", 0, "kinds")
			e.want(`null`, "sources", 0, "expression")
			e.want(`[]`, "sources", 0, "operators")
		}
	}
}

func TestLineageOfProcessesHasControlWhenItIsAskedFor(t *testing.T) {
	s := serve(t, Options{}, platform()...)
	r := s.ask(lineageOf, "of", ref(loadSales), "granularity", "PROCESS")
	wantText(t, edgesOf(r), "load_sales > publish")
	r.want(`[]`, "lineage", "edges", 0, "kinds")
	r = s.ask(lineageOf, "of", ref(loadSales), "granularity", "PROCESS", "dependencies", []string{"CONTROL"})
	wantText(t, edgesOf(r), "load_sales > publish")
	r.want(`["CONTROL"]`, "lineage", "edges", 0, "sources", 0, "kinds")
}

func TestSourceOfADataStoreThatSpeaksForItselfHasNoProcess(t *testing.T) {
	s := serve(t, Options{}, platform()...)
	r := s.ask(lineageOf, "of", ref(table(hive, "mart.view")), "direction", "UPSTREAM", "depth", 1)
	r.want(`[{"origin":"declared","kinds":["IDENTITY"],"expression":null,"provisional":false,"operators":[{"kind":"SCAN","snippet":null},{"kind":"PROJECT","snippet":null}],"process":null}]`, "lineage", "edges", 0, "sources")
}

func TestSourceOfAJobThatHasNotCompletedIsProvisional(t *testing.T) {
	s := serve(t, Options{}, platform()...)
	r := s.ask(lineageOf, "of", ref(table(hive, "mart.draft")), "direction", "UPSTREAM", "depth", 1)
	r.want(`true`, "lineage", "edges", 0, "sources", 0, "provisional")
	r = s.ask(`{ a: node(of: {namespace: "airflow", name: "draft"}) { ... on Process { provisional } } b: node(of: {namespace: "airflow", name: "load_sales"}) { ... on Process { provisional } } }`)
	r.want(`{"a":{"provisional":true},"b":{"provisional":false}}`)
}

func TestDepthZeroIsTheRootAlone(t *testing.T) {
	s := serve(t, Options{}, platform()...)
	for _, g := range []string{"DATASTORE", "COLUMN", "PROCESS"} {
		r := s.ask(lineageOf, "of", ref(sales), "depth", 0, "granularity", g)
		wantText(t, nodesOf(r), "0 mart.sales")
		r.want(`true`, "lineage", "complete")
	}
}

func TestAColumnStandsForItsDataStoreAmongDataStores(t *testing.T) {
	s := serve(t, Options{}, platform()...)
	r := s.ask(lineageOf, "of", ref(sales.Of("city")), "depth", 1)
	wantText(t, nodesOf(r), "-1 shop.customers, -1 shop.orders, 0 mart.sales, 1 mart.view, 1 revenue")
	r.want(`{"id":"`+sales.ID().String()+`","name":"mart.sales"}`, "lineage", "root")
}

func TestWhatARootProcessWritesIsNoHopAway(t *testing.T) {
	s := serve(t, Options{}, platform()...)
	r := s.ask(lineageOf, "of", ref(publish))
	wantText(t, nodesOf(r), "-1 mart.sales, -2 shop.customers, -2 shop.orders, 0 publish, 0 revenue")
	r.want(`"publish"`, "lineage", "root", "name")
}

func TestAHugeDepthIsWalkedToTheEnd(t *testing.T) {
	s := serve(t, Options{}, platform()...)
	r := s.ask(lineageOf, "of", ref(revenue), "depth", 1<<21)
	wantText(t, nodesOf(r), "-1 mart.sales, -2 shop.customers, -2 shop.orders, 0 revenue")
}

func TestDirectionKeepsOneSide(t *testing.T) {
	s := serve(t, Options{}, platform()...)
	r := s.ask(lineageOf, "of", ref(sales), "direction", "DOWNSTREAM")
	wantText(t, nodesOf(r), "0 mart.sales, 1 mart.view, 1 revenue")
	r.want(`null`, "lineage", "nodes", 0, "upstream")
}

func TestDependenciesNarrowTheFlows(t *testing.T) {
	s := serve(t, Options{}, platform()...)
	r := s.ask(lineageOf, "of", ref(sales.Of("total")), "granularity", "COLUMN", "direction", "UPSTREAM", "dependencies", []string{"IDENTITY", "TRANSFORMATION", "AGGREGATION"})
	wantText(t, edgesOf(r), "shop.orders#amount > mart.sales#total AGGREGATION")
}

func TestOperatorsNarrowTheFlows(t *testing.T) {
	s := serve(t, Options{}, platform()...)
	for operator, want := range map[string]string{
		"AGGREGATE": "shop.orders#amount > mart.sales#total AGGREGATION",
		"join":      "shop.orders#customer_id > mart.sales JOIN",
		"FILTER":    "shop.orders#placed > mart.sales FILTER",
	} {
		r := s.ask(lineageOf, "of", ref(sales.Of("total")), "granularity", "COLUMN", "direction", "UPSTREAM", "filter", map[string]any{"operators": []string{operator}})
		wantText(t, edgesOf(r), want)
	}
	r := s.ask(lineageOf, "of", ref(sales.Of("total")), "granularity", "COLUMN", "direction", "UPSTREAM", "filter", map[string]any{"operators": []string{"SCAN"}})
	if n := len(r.at("lineage", "edges").([]any)); n != 4 {
		t.Errorf("SCAN leaves %d edges, want 4", n)
	}
}

func TestEachPartOfTheFilterNarrowsTheAnswer(t *testing.T) {
	s := serve(t, Options{}, platform()...)
	for _, c := range []struct {
		filter map[string]any
		want   string
	}{
		{map[string]any{"namespaces": []string{postgres}}, "-2 shop.customers, -2 shop.orders, 0 revenue"},
		{map[string]any{"namespaces": []string{postgres}, "passThrough": false}, "0 revenue"},
		{map[string]any{"regions": []string{"us"}}, "0 revenue"},
		{map[string]any{"dataStoreKinds": []string{"table"}, "namespaces": []string{hive}}, "-1 mart.sales, 0 revenue"},
		{map[string]any{"platforms": []string{"hive"}}, "-1 mart.sales, 0 revenue"},
		{map[string]any{"owners": []string{"mart"}}, "-1 mart.sales, 0 revenue"},
		{map[string]any{"tags": []string{"tier=1"}}, "-1 mart.sales, 0 revenue"},
		{map[string]any{"origins": []string{"openlineage"}}, "-1 mart.sales, -2 shop.customers, -2 shop.orders, 0 revenue"},
		{map[string]any{"origins": []string{"declared"}}, "0 revenue"},
	} {
		r := s.ask(lineageOf, "of", ref(revenue), "filter", c.filter)
		if got := nodesOf(r); got != c.want {
			t.Errorf("%v\ngot  %s\nwant %s", c.filter, got, c.want)
		}
	}
	r := s.ask(lineageOf, "of", ref(loadSales), "granularity", "PROCESS", "filter", map[string]any{"processKinds": []string{"SPARK"}})
	wantText(t, nodesOf(r), "0 load_sales")
	r.want(`{"temporary":0,"unimportant":0,"filtered":1}`, "lineage", "hidden")
}

func TestThroughDeletedWalksOnBehindADroppedTable(t *testing.T) {
	drop := graph.Delta{Subject: job("cleanup"), Origin: "openlineage", Run: "run-2", State: graph.Completed, Time: day2,
		Says: graph.Content{Writes: []graph.Dataset{{Name: sales, Lifecycle: graph.LifecycleDrop}}}}
	s := serve(t, Options{}, append(platform(), drop)...)
	r := s.ask(lineageOf, "of", ref(revenue))
	wantText(t, nodesOf(r), "0 revenue")
	r = s.ask(lineageOf, "of", ref(revenue), "filter", map[string]any{"throughDeleted": true})
	if got := nodesOf(r); !strings.Contains(got, "-2 shop.orders") || strings.Contains(got, "sales") {
		t.Errorf("through the dropped table: %s", got)
	}
	r = s.ask(`query($of: NodeRef!) { node(of: $of) { deletedAt } }`, "of", ref(sales))
	r.want(`"2026-03-02T06:30:00Z"`, "node", "deletedAt")
}

func TestAsOfReadsThePast(t *testing.T) {
	later := graph.Delta{Subject: publish, Origin: "openlineage", Run: "run-10", State: graph.Completed, Time: day2,
		Says: graph.Content{Reads: []graph.Dataset{{Name: orders}}, Writes: []graph.Dataset{{Name: revenue}}}}
	s := serve(t, Options{}, append(platform(), later)...)
	r := s.ask(lineageOf, "of", ref(revenue), "depth", 1)
	wantText(t, nodesOf(r), "-1 shop.orders, 0 revenue")
	r = s.ask(lineageOf, "of", ref(revenue), "depth", 1, "asOf", "2026-03-01T08:00:00+00:00")
	wantText(t, nodesOf(r), "-1 mart.sales, 0 revenue")
	if at := s.reader.at[len(s.reader.at)-1].AsOf; !at.Equal(time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)) {
		t.Errorf("view as of %v", at)
	}
}

func TestAtLeastIsHandedToTheReaderAndChecked(t *testing.T) {
	s := serve(t, Options{}, platform()...)
	r := s.ask(lineageOf, "of", ref(sales), "atLeast", "eu@1")
	r.want(`true`, "lineage", "complete")
	if at := s.reader.at[0].AtLeast; len(at) != 1 || at["eu"] != 1 {
		t.Errorf("view at least %v", at)
	}
	r = s.ask(lineageOf, "of", ref(sales), "atLeast", "eu@9, mars@4")
	r.want(`[{"region":"eu","reason":"is at eu@1, behind eu@9"},{"region":"mars","reason":"is not a region that is known here"}]`, "lineage", "gaps")
	r.want(`false`, "lineage", "complete")
}

func TestLimitCutsNearestFirstAndTheCursorGoesOn(t *testing.T) {
	s := serve(t, Options{}, platform()...)
	whole := s.ask(lineageOf, "of", ref(revenue))
	var names, edges []string
	var after any
	for range 10 {
		r := s.ask(lineageOf, "of", ref(revenue), "limit", 1, "after", after)
		names = append(names, strings.Fields(r.each("node.name", "lineage", "nodes"))...)
		edges = append(edges, strings.Fields(r.each("from", "lineage", "edges"))...)
		r.want(`"revenue"`, "lineage", "root", "name")
		r.want(`false`, "lineage", "changed")
		if r.at("lineage", "truncated") == nil {
			break
		}
		r.want(`"LIMIT"`, "lineage", "truncated", "reason")
		r.want(`false`, "lineage", "complete")
		after = r.at("lineage", "truncated", "after")
	}
	wantText(t, strings.Join(names, " "), whole.each("node.name", "lineage", "nodes"))
	slices.Sort(edges)
	all := strings.Fields(whole.each("from", "lineage", "edges"))
	slices.Sort(all)
	wantText(t, strings.Join(edges, " "), strings.Join(all, " "))
}

func TestACursorOverAGraphThatMovedSaysChanged(t *testing.T) {
	s := serve(t, Options{}, platform()...)
	r := s.ask(lineageOf, "of", ref(revenue), "limit", 1)
	r.want(`"eu#7"`, "lineage", "revision")
	after := r.at("lineage", "truncated", "after")
	graphtest.Feed(t, s.store, graph.Delta{Subject: job("new"), Origin: "declared", State: graph.Declared, Time: day2, Says: graph.Content{Reads: []graph.Dataset{{Name: revenue}}}})
	r = s.ask(lineageOf, "of", ref(revenue), "limit", 1, "after", after)
	r.want(`true`, "lineage", "changed")
	r.want(`"eu#8"`, "lineage", "revision")
}

func TestCrossRegionEdgesAreMarked(t *testing.T) {
	us := sales
	us.Region = "us"
	copies := graph.Delta{Subject: job("copy"), Origin: "declared", State: graph.Declared, Time: day1,
		Says: graph.Content{Reads: []graph.Dataset{{Name: sales}}, Writes: []graph.Dataset{{Name: us, Lineage: &graph.Lineage{Columns: []graph.ColumnLineage{
			{Column: "city", Inputs: []graph.Source{{Name: sales.Of("city"), Kinds: graph.Identity}}}}}}}}}
	s := serve(t, Options{}, append(platform(), copies)...)
	for _, g := range []string{"DATASTORE", "COLUMN"} {
		of := map[string]any{"id": sales.ID().String()}
		r := s.ask(lineageOf, "of", of, "direction", "DOWNSTREAM", "depth", 1, "granularity", g)
		crossing := 0
		for _, e := range r.at("lineage", "edges").([]any) {
			e := e.(map[string]any)
			to, err := graph.ParseID(e["to"].(string))
			if err != nil {
				t.Fatal(err)
			}
			if want := to.Base() == us.ID(); e["crossRegion"] != want {
				t.Errorf("%s: crossRegion of the edge to %s is %v", g, to, e["crossRegion"])
			} else if want {
				crossing++
			}
		}
		if crossing != 1 {
			t.Errorf("%s: %d edges cross regions, want 1", g, crossing)
		}
	}
}
