package api

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	"headwater/graph"
)

const nodeOf = `query($of: NodeRef!) { node(of: $of) { __typename id region namespace name ... on Column { path } } }`

func TestANodeIsFoundByIdNameAliasAndColumn(t *testing.T) {
	s := serve(t, Options{}, platform()...)
	want := fmt.Sprintf(`{"__typename":"DataStore","id":%q,"region":"eu","namespace":%q,"name":"mart.sales"}`, sales.ID(), hive)
	for _, of := range []map[string]any{
		{"id": sales.ID().String()},
		{"id": location.ID().String()},
		ref(sales),
		ref(location),
		{"namespace": "HIVE://warehouse:9083", "name": "Mart.Sales"},
		{"namespace": hive, "name": "mart.sales", "region": "eu", "kind": "DATASTORE"},
	} {
		s.ask(nodeOf, "of", of).want(want, "node")
	}
	want = fmt.Sprintf(`{"__typename":"Column","id":%q,"region":"eu","namespace":%q,"name":"mart.sales","path":"city"}`, sales.Of("city").ID(), hive)
	for _, of := range []map[string]any{
		{"id": sales.Of("city").ID().String()},
		ref(sales.Of("CITY")),
		ref(location.Of("city")),
		{"namespace": hive, "name": "mart.sales", "column": "city", "kind": "COLUMN"},
	} {
		s.ask(nodeOf, "of", of).want(want, "node")
	}
	s.ask(nodeOf, "of", map[string]any{"namespace": airflow, "name": "publish", "kind": "PROCESS"}).want(`"Process"`, "node", "__typename")
	s.ask(nodeOf, "of", ref(publish)).want(`"Process"`, "node", "__typename")
}

func TestAnUnknownNodeIsNullForNodeAndNotFoundElsewhere(t *testing.T) {
	s := serve(t, Options{}, platform()...)
	hub := loadSales.ID().Hub("openlineage")
	for message, of := range map[string]map[string]any{
		`of: nothing is known of data store or process "nope" in namespace "airflow" of region "eu"`:       {"namespace": airflow, "name": "nope"},
		`of: nothing is known of data store "load_sales" in namespace "airflow" of region "eu"`:            {"namespace": airflow, "name": "load_sales", "kind": "DATASTORE"},
		`of: nothing is known of process "mart.sales" in namespace "hive://warehouse:9083" of region "eu"`: {"namespace": hive, "name": "mart.sales", "kind": "PROCESS"},
		`of: nothing is known of data store or process "mart.sales" in namespace "hive://warehouse:9083" of region "us"`: {
			"namespace": hive, "name": "mart.sales", "region": "us"},
		`of: nothing is known of column "c" of data store "nope" in namespace "airflow" of region "eu"`: {"namespace": airflow, "name": "nope", "column": "c"},
		`of: nothing is known of the id ` + hub.String():                                                {"id": hub.String()},
	} {
		s.ask(nodeOf, "of", of).want(`null`, "node")
		wantText(t, s.refused("NOT_FOUND", lineageOf, "of", of), message)
	}
	message := s.refused("NOT_FOUND", `query($a: NodeRef!, $b: NodeRef!) { paths(from: $a, to: $b) { complete } }`, "a", ref(orders), "b", ref(table("x", "y")))
	if !strings.HasPrefix(message, "to: nothing is known of ") {
		t.Errorf("got %s", message)
	}
}

func TestAMissingColumnOfAKnownTableListsCloseOnes(t *testing.T) {
	s := serve(t, Options{}, platform()...)
	r := s.post(lineageOf, "of", ref(orders.Of("amuont")))
	wantText(t, r.Errors[0].Message, `of: data store "shop.orders" in namespace "postgres://shop:5432" is known, but not its column "amuont"; close to it: amount`)
	wantText(t, fmt.Sprint(r.Errors[0].Extensions), "map[closest:[amount] code:NOT_FOUND]")
	wantText(t, s.refused("NOT_FOUND", lineageOf, "of", ref(orders.Of("zzzzzzzzz"))),
		`of: data store "shop.orders" in namespace "postgres://shop:5432" is known, but not its column "zzzzzzzzz"`)
	id := orders.Of("nope").ID().String()
	wantText(t, s.refused("NOT_FOUND", lineageOf, "of", map[string]any{"id": id}),
		`of: data store "shop.orders" in namespace "postgres://shop:5432" has no column with the id `+id)
	s.ask(nodeOf, "of", ref(orders.Of("amuont"))).want(`null`, "node")
}

func TestCloseColumnsAreRankedByDistance(t *testing.T) {
	tables := []graph.Node{{Facts: graph.Facts{Columns: []graph.Field{{Path: "customer_id"}, {Path: "customer"}, {Path: "costumer"}, {Path: "total"}, {Path: "Customer_Name"}, {Path: strings.Repeat("x", 200)}}}}}
	wantText(t, strings.Join(closest("custumer", tables), " "), "costumer customer customer_id")
	wantText(t, strings.Join(closest("name", tables), " "), "Customer_Name")
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// markedView is a view of more regions than its store has.
type markedView struct {
	graph.View
	regions []string
}

func (v markedView) Marks() map[string]graph.Mark {
	marks := maps.Clone(v.View.Marks())
	for _, r := range v.regions {
		marks[r] = graph.Mark{}
	}
	return marks
}

// twins is a table that two regions report, and a process of the same name.
func twins() []graph.Delta {
	us, twin := sales, sales
	us.Region, twin.Kind = "us", graph.ProcessKind
	return append(platform(),
		graph.Delta{Subject: us, Origin: "declared", State: graph.Declared, Time: day1, Says: graph.Content{Writes: []graph.Dataset{{Name: us, Facts: graph.Facts{Kind: "VIEW", Columns: []graph.Field{{Path: "city"}}}}}}},
		graph.Delta{Subject: twin, Origin: "declared", State: graph.Declared, Time: day1, Says: graph.Content{SQL: "select 1"}})
}

func TestANameThatFitsSeveralNodesListsThem(t *testing.T) {
	s := serve(t, Options{}, twins()...)
	s.reader.wrap = func(v graph.View) graph.View { return markedView{v, []string{"us", "mars"}} }
	us, twin := sales, sales
	us.Region, twin.Kind = "us", graph.ProcessKind
	for _, query := range []string{nodeOf, lineageOf} {
		r := s.post(query, "of", ref(sales))
		wantText(t, r.Errors[0].Message, fmt.Sprintf(`of: data store or process "mart.sales" in namespace "hive://warehouse:9083" fits 3 nodes; add a region or a kind, or use an id: `+
			`DATASTORE %s of region "eu", DATASTORE %s of region "us", PROCESS %s of region "eu"`, sales.ID(), us.ID(), twin.ID()))
		if r.Errors[0].Extensions["code"] != "AMBIGUOUS" {
			t.Errorf("code %v", r.Errors[0].Extensions["code"])
		}
		candidates := r.Errors[0].Extensions["candidates"].([]any)
		if len(candidates) != 3 {
			t.Fatalf("candidates %v", candidates)
		}
		wantText(t, fmt.Sprint(candidates[1]), fmt.Sprintf("map[id:%s kind:DATASTORE name:mart.sales namespace:%s region:us]", us.ID(), hive))
	}
	r := s.post(nodeOf, "of", ref(sales.Of("city")))
	if len(r.Errors) != 1 || len(r.Errors[0].Extensions["candidates"].([]any)) != 2 {
		t.Errorf("a column of two tables: %s", r.body)
	}
	of := ref(sales)
	of["region"] = "us"
	s.ask(nodeOf, "of", of).want(`"us"`, "node", "region")
	of = ref(sales)
	of["kind"] = "PROCESS"
	s.ask(nodeOf, "of", of).want(`"Process"`, "node", "__typename")
}

func TestANodeRefThatMakesNoSenseIsBadInput(t *testing.T) {
	s := serve(t, Options{}, platform()...)
	for message, of := range map[string]map[string]any{
		`of: needs an id, or a namespace and a name`:                           {"name": "x"},
		`of: give the id alone, or namespace and name; not both`:               {"id": sales.ID().String(), "name": "x"},
		`of.id: id "zzz" is not one of ours: 22 or 32 characters of base64url`: {"id": "zzz"},
		`of.column: is empty`:                        {"namespace": "a", "name": "b", "column": ""},
		`of.kind: COLUMN needs a column`:             {"namespace": "a", "name": "b", "kind": "COLUMN"},
		`of.kind: is PROCESS, but a column is given`: {"namespace": "a", "name": "b", "kind": "PROCESS", "column": "c"},
		`of: name is empty`:                          {"namespace": "a", "name": ""},
		`of: namespace is empty`:                     {"namespace": "", "name": "b"},
		fmt.Sprintf(`of: name has 5000 bytes; at most %d are taken`, graph.MaxName): {"namespace": "a", "name": strings.Repeat("x", 5000)},
	} {
		wantText(t, s.refused("BAD_INPUT", nodeOf, "of", of), message)
		wantText(t, s.refused("BAD_INPUT", lineageOf, "of", of), message)
	}
}

// resolvelessView can't resolve.
type resolvelessView struct{ graph.View }

func (resolvelessView) Resolve(context.Context, graph.ID) (graph.ID, error) {
	return graph.ID{}, fmt.Errorf("catalog has no leader: %w", graph.ErrUnavailable)
}

func TestAnErrorThatSaysUnavailableKeepsItsText(t *testing.T) {
	s := serve(t, Options{}, platform()...)
	s.reader.wrap = func(v graph.View) graph.View { return resolvelessView{v} }
	message := s.refused("UNAVAILABLE", nodeOf, "of", ref(sales))
	if !strings.Contains(message, "catalog has no leader") {
		t.Errorf("got %q", message)
	}
}
