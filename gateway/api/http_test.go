package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"headwater/graph"
	"headwater/graph/graphtest"
)

func TestQueriesComeByGet(t *testing.T) {
	s := serve(t, Options{}, platform()...)
	v := url.Values{"query": {nodeOf}, "variables": {fmt.Sprintf(`{"of":{"id":%q}}`, sales.ID())}}
	r := s.do(httptest.NewRequest(http.MethodGet, "/graphql?"+v.Encode(), nil))
	r.want(`"mart.sales"`, "node", "name")
	r = s.do(httptest.NewRequest(http.MethodGet, "/graphql?query="+url.QueryEscape(`mutation { deleteNode(of: {id: "x"}) { position } }`), nil))
	if r.Status != http.StatusNotAcceptable {
		t.Errorf("a mutation by GET has the status %d", r.Status)
	}
}

func TestQueriesComeByServerSentEvents(t *testing.T) {
	s := serve(t, Options{}, platform()...)
	r := httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(`{"query":"{ regions { name } }"}`))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream")
	w := httptest.NewRecorder()
	s.h.ServeHTTP(w, r)
	if got := w.Body.String(); !strings.Contains(got, "event: next\ndata: {\"data\":{\"regions\":[{\"name\":\"eu\"}]}}\n") || !strings.Contains(got, "event: complete") {
		t.Errorf("got %q", got)
	}
}

func TestTheMediaTypeOfAResponseIsWhatTheClientAccepts(t *testing.T) {
	s := serve(t, Options{}, platform()...)
	for _, c := range []struct {
		accept, want string
		status       int // of a query that is not valid
	}{
		{"", "application/json", 422},
		{"*/*", "application/json", 422},
		{"text/html, application/*;q=0.5", "application/json", 422},
		{"application/graphql-response+json, application/json", "application/graphql-response+json", 400},
		{"application/json, application/graphql-response+json", "application/json", 422},
		{"text/html", "application/graphql-response+json", 400},
	} {
		for query, status := range map[string]int{"{ regions { name } }": 200, "{ nope }": c.status} {
			post := httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(fmt.Sprintf(`{"query":%q}`, query)))
			post.Header.Set("Content-Type", "application/json; charset=utf-8")
			for _, r := range []*http.Request{post, httptest.NewRequest(http.MethodGet, "/graphql?query="+url.QueryEscape(query), nil)} {
				if c.accept != "" {
					r.Header.Set("Accept", c.accept)
				}
				w := httptest.NewRecorder()
				s.h.ServeHTTP(w, r)
				if got := w.Header().Get("Content-Type"); got != c.want || w.Code != status || w.Header().Get("Content-Length") != fmt.Sprint(w.Body.Len()) {
					t.Errorf("%s %s, accept %q: status %d, %s; want %d, %s", r.Method, query, c.accept, w.Code, got, status, c.want)
				}
			}
		}
	}
}

func TestAMalformedGetIsRefused(t *testing.T) {
	s := serve(t, Options{})
	for query, message := range map[string]string{
		"query=%zz":               `invalid URL escape "%zz"`,
		"query={a}&variables={":   "variables could not be decoded",
		"query={a}&extensions=[]": "extensions could not be decoded",
	} {
		r := s.do(httptest.NewRequest(http.MethodGet, "/graphql?"+query, nil))
		if r.Status != http.StatusBadRequest || len(r.Errors) != 1 || r.Errors[0].Message != message {
			t.Errorf("%s: status %d, %s", query, r.Status, r.body)
		}
	}
}

func TestAResponseHasTheDataOfItsFieldsInOrder(t *testing.T) {
	s := serve(t, Options{}, world()...)
	query := fmt.Sprintf(`{ a: lineage(of: {id: %[1]q}) { nodes { node { name description } } complete } r: regions { name }
		b: node(of: {id: %[1]q}) { name } nope: node(of: {namespace: "x", name: "y"}) { id } c: search(query: "odd", first: 3) { nodes { name tags { name value } } } }`, sales.ID())
	a := s.h.(*api)
	want, _ := execute(t, a, false, query, nil)
	body, err := json.Marshal(map[string]any{"query": query})
	if err != nil {
		t.Fatal(err)
	}
	post := httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(string(body)))
	post.Header.Set("Content-Type", "application/json")
	for range 2 { // the second time in memory that was lent before
		for _, r := range []*http.Request{post.Clone(t.Context()), httptest.NewRequest(http.MethodGet, "/graphql?query="+url.QueryEscape(query), nil)} {
			if r.Method == http.MethodPost {
				r.Body = io.NopCloser(strings.NewReader(string(body)))
			}
			wantText(t, s.do(r).body, `{"data":`+want+`}`)
		}
	}
	r := s.post(strings.Replace(query, "complete }", "complete } bad: lineage(of: {id: \"x\"}) { complete }", 1))
	if r.Data != nil || len(r.Errors) != 1 || !strings.HasSuffix(r.body, `],"data":null}`) {
		t.Errorf("a field that must not be null and is: %s", r.body)
	}
	bad := s.post(strings.Replace(query, `namespace: "x", name: "y"`, `name: "y"`, 1))
	if len(bad.Errors) != 1 || !strings.Contains(bad.body, `],"data":`+want+`}`) {
		t.Errorf("a field that may be null: %s", bad.body)
	}
}

func TestOptionsListsTheMethods(t *testing.T) {
	s := serve(t, Options{})
	w := httptest.NewRecorder()
	s.h.ServeHTTP(w, httptest.NewRequest(http.MethodOptions, "/graphql", nil))
	if w.Code != http.StatusOK || w.Header().Get("Allow") != "OPTIONS, GET, POST" {
		t.Errorf("status %d, allow %q", w.Code, w.Header().Get("Allow"))
	}
}

func TestPersistedQueriesAreKept(t *testing.T) {
	s := serve(t, Options{}, platform()...)
	const query = `{ regions { name } }`
	sum := sha256.Sum256([]byte(query))
	send := func(query string) *response {
		body, err := json.Marshal(map[string]any{"query": query, "extensions": map[string]any{"persistedQuery": map[string]any{"version": 1, "sha256Hash": hex.EncodeToString(sum[:])}}})
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(string(body)))
		r.Header.Set("Content-Type", "application/json")
		return s.do(r)
	}
	if r := send(""); len(r.Errors) != 1 || r.Errors[0].Extensions["code"] != "PERSISTED_QUERY_NOT_FOUND" {
		t.Errorf("got %s", r.body)
	}
	send(query).want(`"eu"`, "regions", 0, "name")
	send("").want(`"eu"`, "regions", 0, "name")
}

func TestMalformedRequestsGetAStatusAndACode(t *testing.T) {
	s := serve(t, Options{}, platform()...)
	for _, c := range []struct {
		contentType, body string
		status            int
		code              string
	}{
		{"application/json", `{"query":"{ regions { nope } }"}`, 422, "GRAPHQL_VALIDATION_FAILED"},
		{"application/json", `{"query":"{ regions { name }"}`, 422, "GRAPHQL_PARSE_FAILED"},
		{"application/json", `{"query":"{ lineage(of: {id: \"x\"}, depth: \"deep\") { complete } }"}`, 422, "GRAPHQL_VALIDATION_FAILED"},
		{"application/json", `{"query":"query($d: Int!) { lineage(of: {id: \"x\"}, depth: $d) { complete } }","variables":{"d":"deep"}}`, 422, "GRAPHQL_VALIDATION_FAILED"},
		{"application/json", `{"query":"{ lineage(of: {id: \"x\"}, granularity: ATOM) { complete } }"}`, 422, "GRAPHQL_VALIDATION_FAILED"},
		{"application/json", `{"query":"{ regions { ... @defer { name } } }"}`, 422, "GRAPHQL_VALIDATION_FAILED"},
		{"application/json", `{"query":"{ regions { name } }","operationName":"nope"}`, 422, "GRAPHQL_VALIDATION_FAILED"},
		{"application/json", `{"query":""}`, 422, "GRAPHQL_VALIDATION_FAILED"},
		{"application/json", `{"query":`, 400, "BAD_INPUT"},
		{"application/json", `{"query":"` + strings.Repeat("x", 2<<20) + `"}`, 200, "BAD_INPUT"},
		{"application/json", `{"query":"{` + strings.Repeat(" a", 30000) + ` }"}`, 422, "GRAPHQL_PARSE_FAILED"},
		{"text/plain", `{ regions { name } }`, 400, ""},
	} {
		r := httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(c.body))
		r.Header.Set("Content-Type", c.contentType)
		got := s.do(r)
		code := ""
		if len(got.Errors) > 0 && got.Errors[0].Extensions != nil {
			code, _ = got.Errors[0].Extensions["code"].(string)
		}
		if got.Status != c.status || code != c.code || len(got.Errors) == 0 || len(got.body) > 2000 {
			t.Errorf("%.80s: status %d, %.200s; want %d %s", c.body, got.Status, got.body, c.status, c.code)
		}
	}
	if s.reader.opened != 0 {
		t.Errorf("%d views were opened for requests that can't be answered", s.reader.opened)
	}
}

func TestABadArgumentIsNamed(t *testing.T) {
	s := serve(t, Options{MaxLimit: 5000}, platform()...)
	for _, c := range []struct {
		arg  string
		v    any
		want string
	}{
		{"depth", -1, "depth: is -1; a walk has 0 hops or more"},
		{"limit", 0, "limit: is 0; an answer holds 1 to 5000 nodes"},
		{"limit", 5001, "limit: is 5001; an answer holds 1 to 5000 nodes"},
		{"after", "zzz", "after: not a cursor of an answer to this question"},
		{"asOf", "last week", `asOf: "last week" is not a time like 2026-03-01T06:30:00Z`},
		{"asOf", "2026-03-01", `asOf: "2026-03-01" is not a time like 2026-03-01T06:30:00Z`},
		{"asOf", "0001-01-01T00:00:00Z", "asOf: the year 1 is not one of 1970 to 2261"},
		{"atLeast", "eu", `atLeast: "eu" is not a position like eu@1042`},
		{"atLeast", "eu@-1", `atLeast: "eu@-1" is not a position like eu@1042`},
		{"atLeast", "eu#77", `atLeast: "eu#77" is not a position like eu@1042`},
		{"atLeast", "@5", `atLeast: "@5" is not a position like eu@1042`},
		{"atLeast", "eu@1,", `atLeast: "" is not a position like eu@1042`},
		{"dependencies", []string{}, "dependencies: an empty list leaves no flow; leave it out for all but CONTROL"},
		{"filter", map[string]any{"operators": []string{"EXPLODE"}}, `filter.operators: "EXPLODE" is not one of SCAN, JOIN, FILTER, AGGREGATE, WINDOW, SORT, PROJECT`},
	} {
		wantText(t, s.refused("BAD_INPUT", lineageOf, "of", ref(sales), c.arg, c.v), c.want)
	}
	wantText(t, s.refused("BAD_INPUT", lineageOf, "of", ref(sales), "dependencies", []string{"SORT"}, "filter", map[string]any{"operators": []string{"JOIN", "FILTER"}}),
		"filter.operators: none of JOIN, FILTER goes with the dependencies SORT")
	// A cursor of another question.
	r := s.ask(lineageOf, "of", ref(sales), "limit", 1)
	wantText(t, s.refused("BAD_INPUT", lineageOf, "of", ref(orders), "limit", 1, "after", r.at("lineage", "truncated", "after")), "after: not a cursor of an answer to this question")
}

func TestAnIntThatDoesNotFitIsRefused(t *testing.T) {
	s := serve(t, Options{}, platform()...)
	r := s.post(fmt.Sprintf(`{ lineage(of: {id: %q}, depth: 99999999999999999999999) { complete } }`, sales.ID()))
	if len(r.Errors) == 0 || r.Errors[0].Extensions["code"] == "INTERNAL" {
		t.Errorf("got %s, log %s", r.body, s.log)
	}
}

func TestInternalErrorsAreLoggedUnderAnIdThatTheClientSees(t *testing.T) {
	s := serve(t, Options{}, platform()...)
	s.reader.wrap = func(v graph.View) graph.View { return failingView{v, errors.New("/var/lib/secret is corrupt")} }
	r := s.post(lineageOf, "of", ref(sales))
	id, _ := r.Errors[0].Extensions["id"].(string)
	if len(id) != 12 || strings.Contains(r.body, "secret") || !strings.Contains(r.Errors[0].Message, id) {
		t.Errorf("the client sees %s", r.body)
	}
	if log := s.log.String(); !strings.Contains(log, "id="+id) || !strings.Contains(log, "/var/lib/secret is corrupt") || !strings.Contains(log, "path=lineage") {
		t.Errorf("the log has %s", log)
	}
}

// panickingView has a bug.
type panickingView struct{ graph.View }

func (panickingView) Flows(context.Context, []graph.ID, graph.Ask, func([]graph.Flow) error) ([]graph.Gap, error) {
	panic("index out of range")
}

func TestAPanicIsAnInternalErrorWithItsStackInTheLog(t *testing.T) {
	s := serve(t, Options{}, platform()...)
	s.reader.wrap = func(v graph.View) graph.View { return panickingView{v} }
	s.refused("INTERNAL", lineageOf, "of", ref(sales))
	if log := s.log.String(); !strings.Contains(log, "index out of range") || !strings.Contains(log, "panickingView") {
		t.Errorf("the log has %s", log)
	}
	s.reader.wrap = nil
	s.ask(lineageOf, "of", ref(sales))
}

// deadReader can't open views.
type deadReader struct{}

func (deadReader) View(context.Context, graph.At) (graph.View, error) {
	return nil, errors.New("closed")
}

func TestEveryFieldReportsAReaderThatFails(t *testing.T) {
	s := serve(t, Options{Reader: deadReader{}, Delete: func(context.Context, graph.Name) (string, error) { return "", nil }})
	for _, q := range []string{`{ node(of: {namespace: "a", name: "b"}) { id } }`, `{ search(query: "x") { totalCount } }`, `{ regions { name } }`, `{ aliasConflicts { nodes { targets { id } } } }`,
		`{ lineage(of: {namespace: "a", name: "b"}) { complete } }`, `{ paths(from: {namespace: "a", name: "b"}, to: {namespace: "a", name: "b"}) { complete } }`,
		`mutation { deleteNode(of: {namespace: "a", name: "b"}) { position } }`} {
		s.refused("INTERNAL", q)
	}
}

// brittleView fails to close.
type brittleView struct{ graph.View }

func (brittleView) Close() error { return errors.New("iterator leaked") }

func TestViewsAreSharedAndClosedWhenTheResponseIsWritten(t *testing.T) {
	s := serve(t, Options{}, platform()...)
	q := fmt.Sprintf(`{ a: node(of: {id: %[1]q}) { id } b: lineage(of: {id: %[1]q}) { complete } c: lineage(of: {id: %[1]q}, atLeast: "eu@1") { complete } d: lineage(of: {id: %[1]q}, asOf: "2026-03-01T12:00:00Z") { complete } }`, sales.ID())
	s.ask(q)
	if s.reader.opened != 3 || s.reader.closed != 3 {
		t.Errorf("%d views opened, %d closed; want 3: now, at least eu@1, in the past", s.reader.opened, s.reader.closed)
	}
	s.reader.wrap = func(v graph.View) graph.View { return panickingView{v} }
	s.refused("INTERNAL", lineageOf, "of", ref(sales))
	s.reader.wrap = func(v graph.View) graph.View { return brittleView{v} }
	s.refused("NOT_FOUND", lineageOf, "of", ref(table("x", "y")))
	if s.reader.opened != 5 || s.reader.closed != 5 {
		t.Errorf("%d views opened, %d closed after errors", s.reader.opened, s.reader.closed)
	}
	if !strings.Contains(s.log.String(), "iterator leaked") {
		t.Errorf("the log has %s", s.log)
	}
}

func TestAClientThatHasGoneGetsNothingAndLeavesNoView(t *testing.T) {
	s := serve(t, Options{}, platform()...)
	ctx, cancel := context.WithCancel(context.Background())
	s.reader.wrap = func(v graph.View) graph.View {
		cancel()
		return &slowView{View: v}
	}
	body, err := json.Marshal(map[string]any{"query": lineageOf, "variables": map[string]any{"of": ref(sales)}})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/graphql", strings.NewReader(string(body)))
	r.Header.Set("Content-Type", "application/json")
	s.h.ServeHTTP(httptest.NewRecorder(), r)
	if s.log.Len() > 0 {
		t.Errorf("the log has %s", s.log)
	}
}

func TestComplexityCountsTheLimitsOfLists(t *testing.T) {
	s := serve(t, Options{MaxComplexity: 3000}, platform()...)
	small := fmt.Sprintf(`{ lineage(of: {id: %q}, limit: 100) { nodes { node { id name } } } }`, sales.ID())
	s.ask(small)
	for _, q := range []string{
		strings.Replace(small, "100", "1000", 1),
		strings.Replace(small, "{ id name }", "{ id ... on DataStore { columns(first: 50) { nodes { path } } } }", 1),
		strings.Replace(small, "{ id name }", "{ id ... on DataStore { producers { reads { producers { id } } } } }", 1),
		`{ search(query: "", first: 9000) { nodes { id } } }`,
		`{ aliasConflicts(first: 9000) { nodes { name { id } } } }`,
		`{ ` + strings.Repeat(`... on Query { a: regions { name } } `, 1) + strings.Repeat(`x: paths(from: {}, to: {}, first: 1000) { paths } `, 1) + `}`,
	} {
		r := s.post(q)
		if len(r.Errors) != 1 || r.Errors[0].Extensions["code"] != "COMPLEXITY_LIMIT_EXCEEDED" {
			t.Errorf("%s: got %s", q, r.body)
		}
	}
	if got := times(1<<40, 1<<40); got < 0 || got < 1<<62 {
		t.Errorf("times overflows to %d", got)
	}
}

func TestTheLargestAnswerPassesTheDefaultComplexity(t *testing.T) {
	s := serve(t, Options{}, platform()...)
	s.ask(lineageOf, "of", ref(sales), "limit", 100_000)
}

func TestObserveSeesEachFieldOfTheQuery(t *testing.T) {
	type seen struct {
		field string
		err   bool
	}
	got := make(chan seen, 10)
	s := serve(t, Options{Observe: func(field string, d time.Duration, err error) {
		if d <= 0 {
			t.Errorf("%s took %v", field, d)
		}
		got <- seen{field, err != nil}
	}}, platform()...)
	s.post(`{ a: regions { name } b: lineage(of: {namespace: "x", name: "y"}) { complete } }`)
	one, two := <-got, <-got
	if one.field == "lineage" {
		one, two = two, one
	}
	if one != (seen{"regions", false}) || two != (seen{"lineage", true}) {
		t.Errorf("seen %v and %v", one, two)
	}
}

func TestOptionsThatMakeNoSenseAreRefused(t *testing.T) {
	store := graphtest.NewModel("eu")
	for _, o := range []Options{{}, {Reader: store, Timeout: -1}, {Reader: store, MaxComplexity: -1}, {Reader: store, MaxLimit: -1}} {
		if _, err := New(o); err == nil || !strings.HasPrefix(err.Error(), "api: Options.") {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if _, err := New(Options{Reader: store}); err != nil {
		t.Errorf("the zero options: %v", err)
	}
}
