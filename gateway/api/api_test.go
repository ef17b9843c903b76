package api

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"headwater/graph"
	"headwater/graph/graphtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Times of the events of the sample platform, in nanoseconds.
var (
	day1 = time.Date(2026, 3, 1, 6, 30, 0, 0, time.UTC).UnixNano()
	day2 = time.Date(2026, 3, 2, 6, 30, 0, 0, time.UTC).UnixNano()
	hour = int64(time.Hour)
)

const (
	postgres = "postgres://shop:5432"
	hive     = "hive://warehouse:9083"
	airflow  = "airflow"
)

func table(namespace, name string) graph.Name {
	return graph.Name{Kind: graph.DataStoreKind, Region: "eu", Namespace: namespace, Name: name}
}

func job(name string) graph.Name {
	return graph.Name{Kind: graph.ProcessKind, Region: "eu", Namespace: airflow, Name: name}
}

var (
	orders    = table(postgres, "shop.orders")
	customers = table(postgres, "shop.customers")
	sales     = table(hive, "mart.sales")
	location  = table("s3://lake", "mart/sales")
	revenue   = table("looker://bi", "revenue")
	loadSales = job("load_sales")
	publish   = job("publish")
	dag       = job("dag")
	draft     = job("draft")
)

// platform is orders and customers → load_sales → sales → publish → revenue,
// all that the schema can show of it, and a job that has not completed yet.
func platform() []graph.Delta {
	says := graph.Content{
		Facts:   graph.Facts{Kind: "SPARK", Description: "Loads the sales.", Owners: []string{"team-b", "team-a"}, Tags: []graph.Tag{{Name: "nightly"}}},
		Parent:  dag,
		SQL:     "insert into mart.sales select …",
		Dialect: "spark",
		Reads: []graph.Dataset{
			{Name: orders, Facts: graph.Facts{Columns: []graph.Field{{Path: "id", Type: "bigint", Ordinal: 1}, {Path: "amount", Type: "decimal", Ordinal: 2}, {Path: "customer_id", Type: "bigint", Ordinal: 3}, {Path: "placed", Type: "timestamp", Ordinal: 4}}}},
			{Name: customers, Facts: graph.Facts{Columns: []graph.Field{{Path: "id", Type: "bigint", Ordinal: 1}, {Path: "address.city", Type: "text", Ordinal: 2}}}},
		},
		Writes: []graph.Dataset{{
			Name: sales,
			Facts: graph.Facts{
				Kind: "TABLE", Platform: "hive", URL: "https://catalog.example/mart.sales", Description: "Sales by city.", Owners: []string{"mart"},
				Tags:    []graph.Tag{{Name: "tier", Value: "1"}, {Name: "pii", Column: "city"}},
				Columns: []graph.Field{{Path: "city", Type: "string", Ordinal: 1, Description: "Where it went."}, {Path: "total", Type: "decimal", Ordinal: 2}},
			},
			Aliases: []graph.Alias{{From: location, To: sales}},
			Lineage: &graph.Lineage{Complete: true,
				Columns: []graph.ColumnLineage{
					{Column: "city", Inputs: []graph.Source{{Name: customers.Of("address.city"), Kinds: graph.Identity}}},
					{Column: "total", Inputs: []graph.Source{
						{Name: orders.Of("amount"), Kinds: graph.Aggregation, Expression: "sum(amount)"},
						{Name: orders.Of("placed"), Kinds: graph.Other, Detail: "MASKED_BY_CLOCK"},
					}},
				},
				Inputs: []graph.Source{{Name: orders.Of("customer_id"), Kinds: graph.Join}, {Name: orders.Of("placed"), Kinds: graph.Filter}},
			},
		}},
		Processes: []graph.ProcessFlow{{From: loadSales, To: publish, Kinds: graph.Control}},
	}
	// A second origin speaks of the location, not of the table.
	audit := graph.Content{
		Reads: []graph.Dataset{{Name: orders}},
		Writes: []graph.Dataset{{Name: location, Lineage: &graph.Lineage{
			Columns: []graph.ColumnLineage{{Column: "total", Inputs: []graph.Source{{Name: orders.Of("amount"), Kinds: graph.Aggregation, Expression: "SUM(o.amount)"}}}}}}},
	}
	return []graph.Delta{
		{Subject: loadSales, Origin: "openlineage", Run: "run-1", State: graph.Started, Time: day1},
		{Subject: loadSales, Origin: "openlineage", Run: "run-1", State: graph.Completed, Time: day1 + hour, Says: says, Seen: []graph.Seen{
			{Name: sales, Facets: []byte(`{"rows":{"count":7},"bytes":12}`), Partitions: []string{"dt=2026-03-01", "dt=2026-02-28", "dt=2026-03-02"}},
			{Name: loadSales, Facets: []byte(`{"spark":{"version":"3.5"}}`)},
		}},
		{Subject: loadSales, Origin: "audit", State: graph.Declared, Time: day1, Says: audit},
		{Subject: dag, Origin: "openlineage", Run: "dag-1", State: graph.Failed, Time: day1 + hour, Says: graph.Content{Facts: graph.Facts{Kind: "DAG"}}},
		{Subject: publish, Origin: "openlineage", Run: "run-9", State: graph.Running, Time: day1, Says: graph.Content{Streaming: true,
			Reads: []graph.Dataset{{Name: sales}}, Writes: []graph.Dataset{{Name: revenue, Facts: graph.Facts{Kind: "DASHBOARD"}}}}},
		{Subject: draft, Origin: "openlineage", Run: "run-3", State: graph.Running, Time: day1, Says: graph.Content{
			Reads: []graph.Dataset{{Name: orders}}, Writes: []graph.Dataset{{Name: table(hive, "mart.draft")}}}},
		{Subject: table(hive, "mart.view"), Origin: "declared", State: graph.Declared, Time: day1, Says: graph.Content{Writes: []graph.Dataset{{Name: table(hive, "mart.view"),
			Facts:   graph.Facts{Kind: "VIEW"},
			Lineage: &graph.Lineage{Columns: []graph.ColumnLineage{{Column: "city", Inputs: []graph.Source{{Name: sales.Of("city"), Kinds: graph.Identity}}}}}}}}},
	}
}

// A testReader is a store whose views are counted, and may be replaced.
type testReader struct {
	graph.Reader
	wrap func(graph.View) graph.View

	mu             sync.Mutex // guards the rest
	opened, closed int
	calls          map[string]int
	at             []graph.At
}

func (r *testReader) View(ctx context.Context, at graph.At) (graph.View, error) {
	v, err := r.Reader.View(ctx, at)
	if err != nil {
		return nil, err
	}
	if r.wrap != nil {
		v = r.wrap(v)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.opened++
	r.at = append(r.at, at)
	return &countedView{v, r}, nil
}

func (r *testReader) count(call string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.calls == nil {
		r.calls = map[string]int{}
	}
	r.calls[call]++
}

// A countedView counts the calls to a view.
type countedView struct {
	graph.View
	r *testReader
}

func (v *countedView) Resolve(ctx context.Context, id graph.ID) (graph.ID, error) {
	v.r.count("Resolve")
	return v.View.Resolve(ctx, id)
}

func (v *countedView) Nodes(ctx context.Context, ids []graph.ID, want graph.Want, emit func(graph.Node) error) ([]graph.Gap, error) {
	v.r.count("Nodes")
	return v.View.Nodes(ctx, ids, want, emit)
}

func (v *countedView) Flows(ctx context.Context, ids []graph.ID, ask graph.Ask, emit func([]graph.Flow) error) ([]graph.Gap, error) {
	v.r.count("Flows")
	return v.View.Flows(ctx, ids, ask, emit)
}

func (v *countedView) Says(ctx context.Context, ids []graph.ID, emit func(graph.Said) error) ([]graph.Gap, error) {
	v.r.count("Says")
	return v.View.Says(ctx, ids, emit)
}

func (v *countedView) Find(ctx context.Context, q graph.Query) (graph.Page, error) {
	v.r.count("Find")
	return v.View.Find(ctx, q)
}

func (v *countedView) Close() error {
	v.r.mu.Lock()
	v.r.closed++
	v.r.mu.Unlock()
	return v.View.Close()
}

// A server is the API over a store, under test.
type server struct {
	t      *testing.T
	h      http.Handler
	reader *testReader
	store  graph.Store
	log    *bytes.Buffer
}

// serve returns the API over a new store with the deltas. It fails the test
// if a view is left open.
func serve(t *testing.T, o Options, deltas ...graph.Delta) *server {
	t.Helper()
	s := &server{t: t, store: graphtest.NewModel("eu"), log: &bytes.Buffer{}}
	if len(deltas) > 0 {
		graphtest.Feed(t, s.store, deltas...)
	}
	s.reader = &testReader{Reader: s.store}
	if o.Reader != nil {
		s.reader.Reader = o.Reader
	}
	o.Reader = s.reader
	o.Log = slog.New(slog.NewTextHandler(s.log, nil))
	var err error
	if s.h, err = New(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if s.reader.opened != s.reader.closed {
			t.Errorf("%d views were opened, %d closed", s.reader.opened, s.reader.closed)
		}
	})
	return s
}

// A response is what a client gets.
type response struct {
	t      *testing.T
	Status int
	Data   map[string]any
	Errors []struct {
		Message    string
		Path       []any
		Extensions map[string]any
	}
	body string
}

func (s *server) do(r *http.Request) *response {
	s.t.Helper()
	w := httptest.NewRecorder()
	s.h.ServeHTTP(w, r)
	resp := &response{t: s.t, Status: w.Code, body: w.Body.String()}
	d := json.NewDecoder(strings.NewReader(resp.body))
	if err := d.Decode(resp); err != nil && err != io.EOF {
		s.t.Fatalf("response %q: %v", resp.body, err)
	}
	return resp
}

// post asks by POST; vars are names and values in turn.
func (s *server) post(query string, vars ...any) *response {
	s.t.Helper()
	variables := map[string]any{}
	for i := 0; i < len(vars); i += 2 {
		variables[vars[i].(string)] = vars[i+1]
	}
	body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	if err != nil {
		s.t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, "/graphql", bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	return s.do(r)
}

// ask is post for a question that must be answered without errors.
func (s *server) ask(query string, vars ...any) *response {
	s.t.Helper()
	r := s.post(query, vars...)
	if len(r.Errors) > 0 || r.Status != http.StatusOK {
		s.t.Fatalf("%s\nstatus %d, errors %+v", query, r.Status, r.Errors)
	}
	return r
}

// refused is post for a question that must be refused with a code; it returns
// the message.
func (s *server) refused(code, query string, vars ...any) string {
	s.t.Helper()
	r := s.post(query, vars...)
	if len(r.Errors) != 1 || r.Errors[0].Extensions["code"] != code {
		s.t.Fatalf("%s\ngot %s\nwant one error with the code %s", query, r.body, code)
	}
	return r.Errors[0].Message
}

// at returns what stands at a path of the data: keys and indexes.
func (r *response) at(path ...any) any {
	r.t.Helper()
	var v any = r.Data
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, ok := v.(map[string]any)
			if !ok {
				r.t.Fatalf("no %v at %v of %s", p, path, r.body)
			}
			v = m[p]
		case int:
			l, ok := v.([]any)
			if !ok || p >= len(l) {
				r.t.Fatalf("no %v at %v of %s", p, path, r.body)
			}
			v = l[p]
		}
	}
	return v
}

// want fails the test unless the value at the path is the JSON.
func (r *response) want(want string, path ...any) {
	r.t.Helper()
	var w any
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		r.t.Fatalf("want %s: %v", want, err)
	}
	a, _ := json.Marshal(r.at(path...))
	b, _ := json.Marshal(w)
	if !bytes.Equal(a, b) {
		r.t.Errorf("at %v\ngot  %s\nwant %s", path, a, b)
	}
}

// column lists a field of each element of a list, joined by blanks.
func (r *response) each(field string, path ...any) string {
	r.t.Helper()
	list, ok := r.at(path...).([]any)
	if !ok {
		r.t.Fatalf("no list at %v of %s", path, r.body)
	}
	var parts []string
	for _, e := range list {
		v := e
		for f := range strings.SplitSeq(field, ".") {
			v = v.(map[string]any)[f]
		}
		b, _ := json.Marshal(v)
		parts = append(parts, strings.Trim(string(b), `"`))
	}
	return strings.Join(parts, " ")
}

// ref is a NodeRef as a variable.
func ref(n graph.Name) map[string]any {
	r := map[string]any{"namespace": n.Namespace, "name": n.Name}
	if n.Column != "" {
		r["column"] = n.Column
	}
	return r
}
