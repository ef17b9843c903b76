package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A marquezCase is one of the cases made from the facts of Marquez' tests.
type marquezCase struct {
	ID      string
	Events  []json.RawMessage
	Queries []map[string]any
}

func marquezCases(t *testing.T) map[string]marquezCase {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(inputsDir(t, "openlineage"), "oracles/marquez_cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	var list []marquezCase
	if err := json.Unmarshal(b, &list); err != nil {
		t.Fatal(err)
	}
	cases := map[string]marquezCase{}
	for _, c := range list {
		cases[c.ID] = c
	}
	return cases
}

func (c marquezCase) post(t *testing.T, url string) {
	t.Helper()
	b, err := json.Marshal(c.Events)
	if err != nil {
		t.Fatal(err)
	}
	post(t, url, string(b))
}

// stringList reads a list of strings of a query's expectation.
func stringList(v any) []string {
	var list []string
	for _, x := range v.([]any) {
		list = append(list, x.(string))
	}
	slices.Sort(list)
	return list
}

const marquezQuery = `query ($of: NodeRef!, $direction: Direction!, $granularity: Granularity!, $depth: Int!, $asOf: DateTime, $filter: LineageFilter) {
  lineage(of: $of, direction: $direction, granularity: $granularity, depth: $depth, asOf: $asOf, filter: $filter) {
    nodes { distance node { id __typename name ... on Column { path dataStore { name } } ... on Process { lastRun { id } } } }
    edges { from to } complete
  } }`

// A graphAnswer is what the tests look at: names of nodes by type, edges.
type graphAnswer struct {
	columns, stores, processes []string
	byDistance                 []string
	edges                      []string
	runs                       map[string]string
}

func marquezAsk(t *testing.T, url string, of map[string]any, direction, granularity string, depth int, more map[string]any) (graphAnswer, string) {
	t.Helper()
	var a struct {
		Lineage struct {
			Nodes []struct {
				Distance int
				Node     struct {
					ID, Name, Path string
					Typename       string `json:"__typename"`
					DataStore      struct{ Name string }
					LastRun        *struct{ ID string }
				}
			}
			Edges    []struct{ From, To string }
			Complete bool
		}
	}
	of["namespace"] = "namespace"
	v := map[string]any{"of": of, "direction": direction, "granularity": granularity, "depth": depth}
	maps.Copy(v, more)
	if code := ask(t, url, marquezQuery, v, &a); code != "" {
		return graphAnswer{}, code
	}
	if !a.Lineage.Complete {
		t.Errorf("lineage of %v is not complete", of)
	}
	g := graphAnswer{runs: map[string]string{}}
	names := map[string]string{}
	for _, n := range a.Lineage.Nodes {
		name := n.Node.Name
		switch n.Node.Typename {
		case "Column":
			name = n.Node.DataStore.Name + "." + n.Node.Path
			g.columns = append(g.columns, name)
		case "DataStore":
			g.stores = append(g.stores, name)
		default:
			g.processes = append(g.processes, name)
			if n.Node.LastRun != nil {
				g.runs[name] = n.Node.LastRun.ID
			}
		}
		names[n.Node.ID] = name
		g.byDistance = append(g.byDistance, name)
	}
	for _, e := range a.Lineage.Edges {
		g.edges = append(g.edges, names[e.From]+" -> "+names[e.To])
	}
	for _, list := range [][]string{g.columns, g.stores, g.processes, g.edges} {
		slices.Sort(list)
	}
	return g, ""
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		t.Errorf("%s:\ngot  %s\nwant %s", what, g, w)
	}
}

func TestMarquezColumnChainIsAnsweredRight(t *testing.T) {
	c := marquezCases(t)["marquez/column-chain"]
	url := serveForTest(t)
	c.post(t, url)
	column := func(store, column string) map[string]any { return map[string]any{"name": store, "column": column} }
	want := stringList(c.Queries[0]["expected_nodes"])
	var wantEdges []string
	for _, e := range c.Queries[0]["expected_edges"].([]any) {
		wantEdges = append(wantEdges, e.([]any)[0].(string)+" -> "+e.([]any)[1].(string))
	}
	slices.Sort(wantEdges)

	up, _ := marquezAsk(t, url, column("dataset_b", "col_c"), "UPSTREAM", "COLUMN", 20, nil)
	equal(t, "upstream of the column", up.columns, want)
	equal(t, "its edges", up.edges, wantEdges)
	all, _ := marquezAsk(t, url, map[string]any{"name": "dataset_b"}, "UPSTREAM", "COLUMN", 20, nil)
	equal(t, "upstream of all columns", all.columns, want)
	equal(t, "their edges", all.edges, wantEdges)
	both, _ := marquezAsk(t, url, column("dataset_b", "col_c"), "BOTH", "COLUMN", 20, nil)
	equal(t, "both ways", both.columns, stringList(c.Queries[2]["expected_nodes"]))
	if _, code := marquezAsk(t, url, column("dataset_b", "col_d"), "UPSTREAM", "COLUMN", 20, nil); code != "NOT_FOUND" {
		t.Errorf("a column that is not there: %q, want NOT_FOUND", code)
	}
	if _, code := marquezAsk(t, url, map[string]any{"name": "dataset_d"}, "UPSTREAM", "COLUMN", 20, nil); code != "NOT_FOUND" {
		t.Errorf("a data store that is not there: %q, want NOT_FOUND", code)
	}
	// Ours has the start node where Marquez' graph is empty.
	source, _ := marquezAsk(t, url, column("dataset_a", "col_a"), "UPSTREAM", "COLUMN", 20, nil)
	equal(t, "upstream of a source", source.edges, []string(nil))
	equal(t, "upstream of a source", source.columns, []string{"dataset_a.col_a"})
	job, _ := marquezAsk(t, url, map[string]any{"name": "job1"}, "BOTH", "COLUMN", 20, nil)
	store, _ := marquezAsk(t, url, map[string]any{"name": "dataset_b"}, "BOTH", "COLUMN", 20, nil)
	equal(t, "lineage of job1 and of dataset_b", job.columns, store.columns)
	equal(t, "edges of job1 and of dataset_b", job.edges, store.edges)
}

func TestMarquezLineageAtAVersionIsThatOfItsTime(t *testing.T) {
	c := marquezCases(t)["marquez/column-versions"]
	url := serveForTest(t)
	c.post(t, url)
	var second struct{ EventTime time.Time }
	if err := json.Unmarshal(c.Events[1], &second); err != nil {
		t.Fatal(err)
	}
	at := map[string]any{"asOf": second.EventTime}
	g, code := marquezAsk(t, url, map[string]any{"name": "dataset_b"}, "UPSTREAM", "COLUMN", 20, at)
	if code != "" || len(g.columns) != int(c.Queries[0]["expected_nodes_count"].(float64)) {
		t.Errorf("as of the second event: %v %s", g.columns, code)
	}
	before := map[string]any{"asOf": second.EventTime.Add(-time.Hour)}
	if g, _ := marquezAsk(t, url, map[string]any{"name": "dataset_b"}, "UPSTREAM", "COLUMN", 20, before); len(g.edges) != 0 {
		t.Errorf("as of an hour before all events: %v", g.edges)
	}
}

func TestMarquezFanOutAndDeletionsAreAnsweredRight(t *testing.T) {
	c := marquezCases(t)["marquez/fan-out-depth-2"]
	q := c.Queries
	url := serveForTest(t)
	c.post(t, url)
	number := func(i int, key string) int { return int(q[i][key].(float64)) }
	ref := func(name string) map[string]any { return map[string]any{"name": name} }
	fanOut := func(what string, wantJobs, wantStores int, more map[string]any) {
		t.Helper()
		jobs, code := marquezAsk(t, url, ref("writeJob"), "DOWNSTREAM", "PROCESS", 2, more)
		if code != "" {
			t.Fatalf("%s: %s", what, code)
		}
		stores, _ := marquezAsk(t, url, ref("writeJob"), "DOWNSTREAM", "DATASTORE", 2, more)
		if len(jobs.processes) != wantJobs || len(stores.stores) != wantStores {
			t.Errorf("%s: %d jobs and %d data stores, want %d and %d", what, len(jobs.processes), len(stores.stores), wantJobs, wantStores)
		}
		for _, name := range append(jobs.processes, stores.stores...) {
			if strings.HasPrefix(name, q[0]["absent_prefix"].(string)) {
				t.Errorf("%s: %s is more than two hops away", what, name)
			}
		}
	}
	fanOut("lineage of writeJob", number(0, "expected_job_nodes"), number(0, "expected_dataset_nodes"), nil)

	var node struct {
		Node struct {
			Consumers, Reads []struct{ Name string }
			LastRun          struct{ ID string }
		}
	}
	ask(t, url, `{ node(of: {namespace: "namespace", name: "commonDataset"}) { ... on DataStore { consumers { name } } } }`, nil, &node)
	equal(t, "consumers of commonDataset", len(node.Node.Consumers), number(1, "expected_count"))
	reader := "downstreamJob0<-outputData<-readJob0<-commonDataset"
	ask(t, url, `query ($n: String!) { node(of: {namespace: "namespace", name: $n}) { ... on Process { reads { name } } } }`, map[string]any{"n": reader}, &node)
	equal(t, "inputs of "+reader, node.Node.Reads[0].Name, stringList(q[2]["expected"])[0])
	equal(t, "number of inputs", len(node.Node.Reads), 1)

	lastRun := ""
	for _, e := range c.Events {
		var event struct {
			Job struct{ Name string }
			Run struct{ RunID string }
		}
		if err := json.Unmarshal(e, &event); err != nil {
			t.Fatal(err)
		}
		if event.Job.Name == "writeJob" {
			lastRun = event.Run.RunID
		}
	}
	ask(t, url, `{ node(of: {namespace: "namespace", name: "writeJob"}) { ... on Process { lastRun { id } } } }`, nil, &node)
	equal(t, "latest run of writeJob", node.Node.LastRun.ID, lastRun)

	chain := q[4]["expected_jobs_in_order"].([]any)
	up, _ := marquezAsk(t, url, ref(chain[0].(string)), "UPSTREAM", "PROCESS", 20, nil)
	equal(t, "upstream runs in order", up.byDistance, chain)
	equal(t, "the run of writeJob among them", up.runs["writeJob"], lastRun)

	// Deletions. Ours stop connecting at once; asked to walk through what has
	// been deleted, the answer is Marquez'.
	before := map[string]any{"asOf": time.Now().UTC()}
	deleteOver(t, url, "datasets/commonDataset")
	fanOut("commonDataset deleted", 1, 0, nil)
	fanOut("as of before the deletion", number(0, "expected_job_nodes"), number(0, "expected_dataset_nodes"), before)
	through := map[string]any{"filter": map[string]any{"throughDeleted": true}}
	fanOut("commonDataset deleted, walked through", number(5, "expected_job_nodes"), number(5, "expected_dataset_nodes"), through)
	deleteOver(t, url, "jobs/"+reader)
	fanOut("the job deleted too, walked through", number(6, "expected_job_nodes"), number(6, "expected_dataset_nodes"), through)
}

func deleteOver(t *testing.T, url, what string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodDelete, url+"/api/v1/namespaces/namespace/"+what, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Fatalf("delete %s: %s", what, res.Status)
	}
}

func TestMarquezDemoSeedLoadsWhole(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(inputsDir(t, "openlineage"), "marquez/docker/metadata.template.json"))
	if err != nil {
		t.Fatal(err)
	}
	start := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	seed := strings.ReplaceAll(string(b), "{{RUN_START_TIME}}", start.Format(time.RFC3339))
	for minutes := range 60 {
		seed = strings.ReplaceAll(seed, fmt.Sprintf("{{RUN_END_TIME_AFTER_%d_MINUTES}}", minutes), start.Add(time.Duration(minutes)*time.Minute).Format(time.RFC3339))
	}
	url := serveForTest(t)
	post(t, url, seed)
	var found struct {
		DataStores, Processes struct{ Nodes []struct{ Name string } }
		Lineage               struct {
			Nodes []struct {
				Distance int
				Node     struct{ Name string }
			}
		}
	}
	ask(t, url, `{ dataStores: search(query: "public.", kinds: [DATASTORE], first: 100) { nodes { name } }
		processes: search(query: "", kinds: [PROCESS], first: 100) { nodes { name } }
		lineage(of: {namespace: "food_delivery", name: "public.popular_orders_day_of_week"}, direction: UPSTREAM, depth: 20) { nodes { distance node { name } } } }`, nil, &found)
	// 13 are inputs and outputs; public.menu_item_id is named by column lineage
	// alone (the seed means a column of public.menu_items); 8 temporary tables
	// are named by the jobs' SQL alone, which Marquez does not read.
	inSQL := 0
	for _, n := range found.DataStores.Nodes {
		if strings.HasPrefix(n.Name, "public.tmp_") {
			inSQL++
		}
	}
	equal(t, "data stores named by SQL alone", inSQL, 8)
	equal(t, "other data stores", len(found.DataStores.Nodes)-inSQL, 14)
	equal(t, "jobs", len(found.Processes.Nodes), 13)
	equal(t, "data stores upstream, itself and those named by SQL alone included", len(found.Lineage.Nodes), 13+8)
}
