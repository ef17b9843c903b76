package api

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"headwater/graph"
	"headwater/graph/graphtest"
)

func TestADataStoreShowsAllItsFields(t *testing.T) {
	s := serve(t, Options{}, platform()...)
	r := s.ask(`query($of: NodeRef!) { node(of: $of) { description owners tags { name value from } updatedAt deletedAt facets
		... on DataStore { kind platform url aliases producers { name } consumers { name }
			columns { totalCount nodes { path type ordinal description tags { name } facets dataStore { name kind } producers { name } consumers { name } } }
			partitions { nodes { name createdAt expectedBy } pageInfo { hasNextPage } } } } }`, "of", ref(sales))
	r.want(`{"description":"Sales by city.","owners":["mart"],"tags":[{"name":"tier","value":"1","from":null}],
		"updatedAt":"2026-03-01T06:30:00Z","deletedAt":null,"facets":{"rows":{"count":7},"bytes":12},
		"kind":"TABLE","platform":"hive","url":"https://catalog.example/mart.sales","aliases":["s3://lake mart/sales"],
		"producers":[{"name":"load_sales"}],"consumers":[{"name":"publish"}],
		"columns":{"totalCount":2,"nodes":[
			{"path":"city","type":"string","ordinal":1,"description":"Where it went.","tags":[{"name":"pii"}],"facets":null,"dataStore":{"name":"mart.sales","kind":"TABLE"},"producers":[{"name":"load_sales"}],"consumers":[]},
			{"path":"total","type":"decimal","ordinal":2,"description":null,"tags":[],"facets":null,"dataStore":{"name":"mart.sales","kind":"TABLE"},"producers":[{"name":"load_sales"}],"consumers":[]}]},
		"partitions":{"nodes":[{"name":"dt=2026-03-02","createdAt":"2026-03-01T07:30:00Z","expectedBy":null},{"name":"dt=2026-03-01","createdAt":"2026-03-01T07:30:00Z","expectedBy":null},{"name":"dt=2026-02-28","createdAt":"2026-03-01T07:30:00Z","expectedBy":null}],"pageInfo":{"hasNextPage":false}}}`, "node")
}

func TestAProcessShowsAllItsFields(t *testing.T) {
	s := serve(t, Options{}, platform()...)
	r := s.ask(`query($of: NodeRef!) { node(of: $of) { description owners tags { name value } facets
		... on Process { kind sql dialect provisional plan { id } parent { name kind lastRun { id state startedAt endedAt } parent { name } } reads { name } writes { name }
			lastRun { id state startedAt endedAt } } } }`, "of", ref(loadSales))
	got := r.each("name", "node", "reads")
	if !strings.Contains(got, "shop.orders") || !strings.Contains(got, "shop.customers") || len(strings.Fields(got)) != 2 {
		t.Errorf("reads %s", got)
	}
	delete(r.at("node").(map[string]any), "reads")
	r.want(`{"description":"Loads the sales.","owners":["team-a","team-b"],"tags":[{"name":"nightly","value":null}],"facets":{"spark":{"version":"3.5"}},
		"kind":"SPARK","sql":"insert into mart.sales select …","dialect":"spark","provisional":false,"plan":[],
		"parent":{"name":"dag","kind":"UNKNOWN","lastRun":{"id":"dag-1","state":"FAIL","startedAt":"2026-03-01T07:30:00Z","endedAt":"2026-03-01T07:30:00Z"},"parent":null},
		"writes":[{"name":"mart.sales"}],
		"lastRun":{"id":"run-1","state":"COMPLETE","startedAt":"2026-03-01T06:30:00Z","endedAt":"2026-03-01T07:30:00Z"}}`, "node")
	r = s.ask(`query($of: NodeRef!) { node(of: $of) { ... on Process { lastRun { state endedAt } sql dialect parent { id } } } }`, "of", ref(publish))
	r.want(`{"lastRun":{"state":"RUNNING","endedAt":null},"sql":null,"dialect":null,"parent":null}`, "node")
}

func TestTheNewestOfSeveralOriginsCounts(t *testing.T) {
	says := func(origin string, at int64, run, sql string, state graph.RunState) graph.Delta {
		return graph.Delta{Subject: job("two"), Origin: origin, Run: run, State: state, Time: at, Says: graph.Content{SQL: sql, Dialect: origin}}
	}
	s := serve(t, Options{}, says("a", day2, "new", "select 2", graph.Completed), says("b", day1, "old", "select 1", graph.Completed), says("c", day2+hour, "broken", "", graph.Aborted))
	s.ask(`{ node(of: {namespace: "airflow", name: "two"}) { ... on Process { sql dialect lastRun { id state endedAt } } } }`).
		want(`{"sql":"select 2","dialect":"a","lastRun":{"id":"broken","state":"ABORT","endedAt":"2026-03-02T07:30:00Z"}}`, "node")
}

func TestColumnsArePagedAndCursorsAreStable(t *testing.T) {
	var fields []graph.Field
	for i := range 25 {
		fields = append(fields, graph.Field{Path: fmt.Sprintf("c%02d", i), Ordinal: i + 1})
	}
	wide := table(postgres, "wide")
	declare := func(at int64, fields []graph.Field) graph.Delta {
		return graph.Delta{Subject: wide, Origin: "declared", State: graph.Declared, Time: at, Says: graph.Content{Writes: []graph.Dataset{{Name: wide, Facts: graph.Facts{Columns: fields}}}}}
	}
	s := serve(t, Options{}, declare(day1, fields))
	const query = `query($of: NodeRef!, $first: Int, $after: String) { node(of: $of) { ... on DataStore { columns(first: $first, after: $after) { totalCount nodes { path } pageInfo { hasNextPage endCursor } } } } }`
	page := func(first, after any) (*response, any) {
		r := s.ask(query, "of", ref(wide), "first", first, "after", after)
		return r, r.at("node", "columns", "pageInfo", "endCursor")
	}
	r, after := page(10, nil)
	wantText(t, r.each("path", "node", "columns", "nodes"), "c00 c01 c02 c03 c04 c05 c06 c07 c08 c09")
	r.want(`25`, "node", "columns", "totalCount")
	r.want(`true`, "node", "columns", "pageInfo", "hasNextPage")
	r, last := page(100, after)
	wantText(t, r.each("path", "node", "columns", "nodes"), "c10 c11 c12 c13 c14 c15 c16 c17 c18 c19 c20 c21 c22 c23 c24")
	r.want(`false`, "node", "columns", "pageInfo", "hasNextPage")
	r, _ = page(3, last)
	r.want(`{"totalCount":25,"nodes":[],"pageInfo":{"hasNextPage":false,"endCursor":null}}`, "node", "columns")
	r, _ = page(nil, nil)
	r.want(`25`, "node", "columns", "totalCount")

	// The schema loses a column before the cursor, then the one at it.
	graphtest.Feed(t, s.store, declare(day2, fields[3:]))
	r, _ = page(2, after)
	wantText(t, r.each("path", "node", "columns", "nodes"), "c10 c11")
	graphtest.Feed(t, s.store, declare(day2+hour, append(fields[:9:9], fields[10:]...)))
	r, _ = page(2, after)
	wantText(t, r.each("path", "node", "columns", "nodes"), "c10 c11")

	for _, first := range []int{0, -1, 10001} {
		wantText(t, s.refused("BAD_INPUT", query, "of", ref(wide), "first", first), fmt.Sprintf("first: is %d; a page holds 1 to 10000", first))
	}
	for _, after := range []string{"", "%%%", "Y29sdW1ucw", "cGFydGl0aW9ucwAxAGE", "Y29sdW1ucwAteABh"} {
		wantText(t, s.refused("BAD_INPUT", query, "of", ref(wide), "after", after), "after: not a cursor of columns")
	}
}

func TestPartitionsArePagedNewestFirst(t *testing.T) {
	s := serve(t, Options{}, platform()...)
	const query = `query($of: NodeRef!, $after: String) { node(of: $of) { ... on DataStore { partitions(first: 2, after: $after) { nodes { name } pageInfo { hasNextPage endCursor } } } } }`
	r := s.ask(query, "of", ref(sales))
	wantText(t, r.each("name", "node", "partitions", "nodes"), "dt=2026-03-02 dt=2026-03-01")
	r = s.ask(query, "of", ref(sales), "after", r.at("node", "partitions", "pageInfo", "endCursor"))
	wantText(t, r.each("name", "node", "partitions", "nodes"), "dt=2026-02-28")
	r.want(`false`, "node", "partitions", "pageInfo", "hasNextPage")
	wantText(t, s.refused("BAD_INPUT", query, "of", ref(sales), "after", "x"), "after: not a cursor of partitions")
}

func TestSearchFindsByTextKindNamespaceAndTag(t *testing.T) {
	s := serve(t, Options{}, platform()...)
	const query = `query($text: String!, $kinds: [NodeKind!], $namespace: String, $tag: String, $first: Int, $after: String) {
		search(query: $text, kinds: $kinds, namespace: $namespace, tag: $tag, first: $first, after: $after) { totalCount nodes { __typename name ... on Column { path } } pageInfo { hasNextPage endCursor } } }`
	r := s.ask(query, "text", "Sales", "kinds", []string{"DATASTORE", "PROCESS"})
	wantText(t, r.each("name", "search", "nodes"), "mart.sales load_sales")
	r.want(`null`, "search", "totalCount")
	r.want(`{"hasNextPage":false,"endCursor":null}`, "search", "pageInfo")
	r = s.ask(query, "text", "sales", "kinds", []string{"PROCESS"})
	wantText(t, r.each("__typename", "search", "nodes"), "Process")
	r = s.ask(query, "text", "city", "kinds", []string{"COLUMN"}, "namespace", hive)
	if got := r.each("path", "search", "nodes"); !strings.HasPrefix(got, "city") {
		t.Errorf("columns %q", got)
	}
	r = s.ask(query, "text", "", "tag", "nightly")
	wantText(t, r.each("name", "search", "nodes"), "load_sales")
	r = s.ask(query, "text", "shop", "namespace", postgres, "first", 1)
	wantText(t, r.each("name", "search", "nodes"), "shop.customers")
	r.want(`true`, "search", "pageInfo", "hasNextPage")
	r = s.ask(query, "text", "shop", "namespace", postgres, "first", 1, "after", r.at("search", "pageInfo", "endCursor"))
	wantText(t, r.each("name", "search", "nodes"), "shop.orders")

	wantText(t, s.refused("BAD_INPUT", query, "text", "x", "first", 0), "first: is 0; a page holds 1 to 10000")
	wantText(t, s.refused("BAD_INPUT", query, "text", "x", "after", "!"), "after: not a cursor of a search")
	wantText(t, s.refused("BAD_INPUT", query, "text", "x", "kinds", []string{}), "kinds: an empty list leaves nothing to find; leave it out for all kinds")
}

func TestPathsAreTheShortestAlongTheFlow(t *testing.T) {
	s := serve(t, Options{}, platform()...)
	const query = `query($from: NodeRef!, $to: NodeRef!, $granularity: Granularity = DATASTORE, $dependencies: [DependencyKind!], $asOf: DateTime, $maxDepth: Int = 20, $first: Int = 10) {
		paths(from: $from, to: $to, granularity: $granularity, dependencies: $dependencies, asOf: $asOf, maxDepth: $maxDepth, first: $first) { paths nodes { id name } complete gaps { region } } }`
	ids := func(names ...graph.Name) string {
		var list []string
		for _, n := range names {
			list = append(list, `"`+n.ID().String()+`"`)
		}
		return "[" + strings.Join(list, ",") + "]"
	}
	r := s.ask(query, "from", ref(orders), "to", ref(revenue))
	r.want("["+ids(orders, sales, revenue)+"]", "paths", "paths")
	r.want("true", "paths", "complete")
	for _, n := range r.at("paths", "nodes").([]any) {
		if n := n.(map[string]any); len(n["name"].(string)) > 20 {
			t.Errorf("node %v has no facts", n)
		}
	}
	s.ask(query, "from", ref(revenue), "to", ref(orders)).want(`{"paths":[],"nodes":[],"complete":true,"gaps":[]}`, "paths")
	s.ask(query, "from", ref(orders), "to", ref(revenue), "maxDepth", 1).want(`[]`, "paths", "paths")
	s.ask(query, "from", ref(orders), "to", ref(orders), "maxDepth", 0).want("["+ids(orders)+"]", "paths", "paths")
	s.ask(query, "from", ref(loadSales), "to", ref(publish), "granularity", "PROCESS").want("["+ids(loadSales, publish)+"]", "paths", "paths")
	s.ask(query, "from", ref(orders.Of("amount")), "to", ref(sales.Of("total")), "granularity", "COLUMN").want("["+ids(orders.Of("amount"), sales.Of("total"))+"]", "paths", "paths")
	s.ask(query, "from", ref(orders.Of("amount")), "to", ref(sales.Of("total")), "granularity", "COLUMN", "dependencies", []string{"IDENTITY"}).want("[]", "paths", "paths")
	s.ask(query, "from", ref(orders), "to", ref(revenue), "asOf", "2020-01-01T00:00:00Z").want("[]", "paths", "paths")

	wantText(t, s.refused("BAD_INPUT", query, "from", ref(orders), "to", ref(revenue), "maxDepth", -1), "maxDepth: is -1; a path has 0 hops or more")
	wantText(t, s.refused("BAD_INPUT", query, "from", ref(orders), "to", ref(revenue), "first", 0), "first: is 0; a page holds 1 to 10000")
	wantText(t, s.refused("BAD_INPUT", query, "from", ref(orders), "to", ref(revenue), "asOf", "yesterday"), `asOf: "yesterday" is not a time like 2026-03-01T06:30:00Z`)
	wantText(t, s.refused("BAD_INPUT", query, "from", ref(orders), "to", ref(publish)), "to: is a PROCESS; paths between processes need the granularity PROCESS, others need another")
	wantText(t, s.refused("BAD_INPUT", query, "from", ref(orders), "to", ref(publish), "granularity", "PROCESS"), "from: is a DATASTORE; paths between processes need the granularity PROCESS, others need another")
}

func TestRegionsComeFromTheOptionsOrTheMarks(t *testing.T) {
	const query = `{ regions { name healthy revision position lagSeconds } }`
	s := serve(t, Options{}, platform()...)
	s.ask(query).want(`[{"name":"eu","healthy":true,"revision":"eu#7","position":"eu@1","lagSeconds":null}]`, "regions")
	s = serve(t, Options{Regions: func(context.Context) []RegionStatus {
		return []RegionStatus{{Name: "eu", Healthy: true, Position: 1042, Revision: 77, Lag: 1500 * time.Millisecond}, {Name: "us", Lag: -1}}
	}})
	s.ask(query).want(`[{"name":"eu","healthy":true,"revision":"eu#77","position":"eu@1042","lagSeconds":1.5},{"name":"us","healthy":false,"revision":"us#0","position":"us@0","lagSeconds":null}]`, "regions")
}

func TestContestedNamesAreListedInPages(t *testing.T) {
	var deltas []graph.Delta
	for i := range 3 {
		path := table("s3://lake", fmt.Sprintf("shared%d", i))
		for _, to := range []string{"a", "b"} {
			target := table(postgres, fmt.Sprintf("%s%d", to, i))
			deltas = append(deltas, graph.Delta{Subject: job(fmt.Sprintf("%s%d", to, i)), Origin: "declared", State: graph.Declared, Time: day1,
				Says: graph.Content{Writes: []graph.Dataset{{Name: target, Aliases: []graph.Alias{{From: path, To: target}}}}}})
		}
	}
	s := serve(t, Options{}, deltas...)
	const query = `query($first: Int, $after: String) { aliasConflicts(first: $first, after: $after) { nodes { name { id region namespace name } targets { name } } pageInfo { hasNextPage endCursor } } }`
	r := s.ask(query)
	all := r.each("name.name", "aliasConflicts", "nodes")
	if len(strings.Fields(all)) != 3 || len(r.at("aliasConflicts", "nodes", 0, "targets").([]any)) != 2 {
		t.Errorf("conflicts %s", r.body)
	}
	r.want(`false`, "aliasConflicts", "pageInfo", "hasNextPage")
	var paged []string
	var after any
	for {
		r := s.ask(query, "first", 2, "after", after)
		paged = append(paged, r.each("name.name", "aliasConflicts", "nodes"))
		after = r.at("aliasConflicts", "pageInfo", "endCursor")
		if r.at("aliasConflicts", "pageInfo", "hasNextPage") == false {
			break
		}
	}
	wantText(t, strings.Join(paged, " "), all)
	wantText(t, s.refused("BAD_INPUT", query, "after", "x"), "after: not a cursor of alias conflicts")
	wantText(t, s.refused("BAD_INPUT", query, "first", -5), "first: is -5; a page holds 1 to 10000")
}

const deleteOf = `mutation($of: NodeRef!) { deleteNode(of: $of) { position } }`

func TestDeleteNodeWaitsUntilItIsApplied(t *testing.T) {
	var s *server
	s = serve(t, Options{Delete: func(_ context.Context, n graph.Name) (string, error) {
		graphtest.Feed(t, s.store, graph.Delta{Subject: n, Origin: "openlineage", State: graph.Deleting, Time: day2})
		return "eu@2", nil
	}}, platform()...)
	s.ask(deleteOf, "of", ref(publish)).want(`{"position":"eu@2"}`, "deleteNode")
	if at := s.reader.at[len(s.reader.at)-1]; at.AtLeast["eu"] != 2 {
		t.Errorf("waited for %v", at.AtLeast)
	}
	r := s.ask(lineageOf, "of", ref(revenue))
	wantText(t, nodesOf(r), "0 revenue")
}

func TestDeleteNodeIsRefusedWithAReason(t *testing.T) {
	s := serve(t, Options{}, platform()...)
	wantText(t, s.refused("UNAVAILABLE", deleteOf, "of", ref(sales)), "deleteNode: this server takes no changes; ask one that is started to")

	var receipt string
	var fails error
	s = serve(t, Options{Delete: func(context.Context, graph.Name) (string, error) { return receipt, fails }}, platform()...)
	s.refused("NOT_FOUND", deleteOf, "of", ref(table("x", "y")))
	wantText(t, s.refused("BAD_INPUT", deleteOf, "of", ref(sales.Of("city"))), "of: is a column; delete its data store, or report a schema without it")
	receipt = "eu@99"
	r := s.post(deleteOf, "of", ref(sales))
	wantText(t, r.Errors[0].Message, "the deletion was taken at eu@99 but is not applied yet")
	wantText(t, fmt.Sprint(r.Errors[0].Extensions), "map[code:TIMEOUT position:eu@99]")
	receipt = "nonsense"
	s.refused("INTERNAL", deleteOf, "of", ref(sales))
	fails = fmt.Errorf("region eu: disk is full: %w", graph.ErrUnavailable)
	if m := s.refused("UNAVAILABLE", deleteOf, "of", ref(sales)); !strings.Contains(m, "disk is full") {
		t.Errorf("got %q", m)
	}
	fails = errors.New("secret path /x/y")
	if m := s.refused("INTERNAL", deleteOf, "of", ref(sales)); strings.Contains(m, "secret") {
		t.Errorf("got %q", m)
	}
	s.reader.wrap = func(v graph.View) graph.View { return gapView{v} }
	s.refused("UNAVAILABLE", deleteOf, "of", ref(sales))
}

func TestDeleteNodeThatIsNotAppliedInTimeIsATimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := graphtest.NewModel("eu")
		graphtest.Feed(t, store, platform()...)
		s := serve(t, Options{Reader: waitingReader{store}, Delete: func(context.Context, graph.Name) (string, error) { return "eu@5", nil }})
		s.refused("TIMEOUT", deleteOf, "of", ref(sales))
	})
}
