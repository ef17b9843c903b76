package gateway

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"go.uber.org/goleak"

	"headwater/gateway/catalog"
)

// A feeder is a gateway whose feed is asked.
type feeder struct {
	t *testing.T
	g *Gateway
	h http.Handler
}

// openFeeder opens a gateway, in memory, with the regions eu and us.
func openFeeder(t *testing.T, patience time.Duration, first ...catalog.Peer) *feeder {
	t.Helper()
	t.Cleanup(func() { goleak.VerifyNone(t) })
	_, wire := raft.NewInmemTransport("g1:7500")
	g, err := Open(Options{Catalog: catalog.Options{Self: g1, First: first, Transport: wire, Heartbeat: 50 * time.Millisecond, Patience: patience}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	f := &feeder{t, g, g.Feed(func(r *http.Request) string { return r.Header.Get("X-Who") })}
	if len(first) == 1 {
		for range g.Catalog.Watch(t.Context(), 0) {
			if state, _ := g.Catalog.Now(); state.Version() == 1 {
				break // where g1 serves
			}
		}
		for _, region := range []string{"eu", "us"} {
			f.change(catalog.SetRegion{Region: catalog.Region{Name: region, Addresses: []string{region + ":7400"}}})
		}
	}
	return f
}

var g1 = catalog.Peer{Name: "g1", Address: "g1:7500", Serves: "http://g1:8080"}

func (f *feeder) change(do catalog.Change) {
	f.t.Helper()
	if _, err := f.g.Catalog.Change(f.t.Context(), catalog.Command{Who: "test", Do: do}); err != nil {
		f.t.Fatal(err)
	}
}

// ask sends a request for a region's list and returns the answer.
func (f *feeder) ask(method, region, body string) *httptest.ResponseRecorder {
	f.t.Helper()
	r := httptest.NewRequest(method, "/api/v1/regions/"+region+"/members", strings.NewReader(body))
	r.Header.Set("X-Who", "robot")
	w := httptest.NewRecorder()
	f.h.ServeHTTP(w, r)
	if got := w.Header().Get("Content-Type"); got != "application/json" {
		f.t.Errorf("%s %s: content type %q", method, body, got)
	}
	return w
}

// takes posts a list that must be taken.
func (f *feeder) takes(region, body string, changed bool) {
	f.t.Helper()
	w := f.ask(http.MethodPost, region, body)
	state, _ := f.g.Catalog.Now()
	var got fed
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != http.StatusOK || got != (fed{state.Version(), changed}) {
		f.t.Errorf("%s: status %d, %s; want version %d, changed %t", body, w.Code, w.Body, state.Version(), changed)
	}
}

// refuses posts a list that must be refused.
func (f *feeder) refuses(region, body string, status int, want string) {
	f.t.Helper()
	w := f.ask(http.MethodPost, region, body)
	var got struct{ Error string }
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != status || !strings.Contains(got.Error, want) {
		f.t.Errorf("%.100s: status %d, %s; want %d and %q", body, w.Code, w.Body, status, want)
	}
}

// keeps fails the test unless GET answers the list.
func (f *feeder) keeps(region, want string) {
	f.t.Helper()
	if w := f.ask(http.MethodGet, region, ""); w.Code != http.StatusOK || w.Body.String() != want+"\n" {
		f.t.Errorf("%s: status %d\ngot  %swant %s", region, w.Code, w.Body, want)
	}
}

func TestARegionsDataCatalogSaysItsMembers(t *testing.T) {
	f := openFeeder(t, 30*time.Second, g1)
	f.change(catalog.DeclareTable{Name: "orders", Kind: catalog.Partitioned, Members: []catalog.Name{{Region: "eu", Namespace: "hive://m", Name: "orders_old"}}})
	f.keeps("eu", `{"members":[]}`)

	const first = `{"members":[{"table":"customers","kind":"REPLICATED","namespace":"hive://m","name":"customers"},{"table":"orders","kind":"PARTITIONED","namespace":"hive://m","name":"orders"}]}`
	f.takes("eu", first, true)
	f.keeps("eu", first)
	f.keeps("us", `{"members":[]}`)
	f.takes("eu", first, false)
	state, _ := f.g.Catalog.Now()
	for e := range state.Audit() {
		if e.Who != "robot" || e.What != "table.feed" {
			t.Errorf("the newest change is %s by %s", e.What, e.Who)
		}
		break
	}
	if orders, _ := state.Table("orders"); len(orders.Members) != 2 || orders.Members[0].Sources[0] != "catalog:eu" || orders.Members[1].Sources[0] != "declared" {
		t.Errorf("orders has %+v", orders.Members)
	}

	// The kind may be left out where the table is known. What the list does
	// not name is out, what people declared stays.
	f.takes("eu", `{"members":[{"table":"orders","namespace":"hive://m","name":"orders"}]}`, true)
	f.keeps("eu", `{"members":[{"table":"orders","kind":"PARTITIONED","namespace":"hive://m","name":"orders"}]}`)
	f.takes("eu", `{"members":[]}`, true)
	f.keeps("eu", `{"members":[]}`)
	state, _ = f.g.Catalog.Now()
	if _, ok := state.Table("customers"); ok {
		t.Error("customers outlives its last member")
	}
	if orders, _ := state.Table("orders"); len(orders.Members) != 1 {
		t.Errorf("orders has %+v", orders.Members)
	}
}

func TestAListThatCantBeTakenIsRefusedWhole(t *testing.T) {
	f := openFeeder(t, 30*time.Second, g1)
	const kept = `{"members":[{"table":"orders","kind":"PARTITIONED","namespace":"hive://m","name":"orders"}]}`
	f.takes("eu", kept, true)
	for body, want := range map[string]string{
		``:                    "the body is no list",
		`[]`:                  "the body is no list",
		`{}`:                  `the list has no "members"`,
		`{"members":null}`:    `the list has no "members"`,
		`{"member":[]}`:       `unknown field "member"`,
		`{"members":[]} more`: "something follows the list",
		`{"members":[{"table":"orders","namespace":"hive://m","name":"orders2"},{"table":"new","namespace":"hive://m","name":"new"}]}`:      `there is no global table "new"; the list must say its kind`,
		`{"members":[{"table":"orders","kind":"REPLICATED","namespace":"hive://m","name":"orders"}]}`:                                       `global table "orders" is PARTITIONED, not REPLICATED`,
		`{"members":[{"table":"orders","namespace":"hive://m","name":"orders"},{"table":"orders","namespace":"hive://m","name":"orders"}]}`: "is there twice",
	} {
		f.refuses("eu", body, http.StatusBadRequest, want)
	}
	f.refuses("mars", kept, http.StatusNotFound, `there is no region "mars"`)
	f.refuses("eu", `{"members":[{"table":"`+strings.Repeat("x", catalog.MaxCommand)+`"}]}`, http.StatusRequestEntityTooLarge, "the list has more than 8388608 bytes")
	f.keeps("eu", kept)
	if w := f.ask(http.MethodGet, "mars", ""); w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), `there is no region \"mars\"`) {
		t.Errorf("mars: status %d, %s", w.Code, w.Body)
	}
}

func TestAListIsToBeSentAgainWhereThereIsNoQuorum(t *testing.T) {
	f := openFeeder(t, 100*time.Millisecond, g1, catalog.Peer{Name: "g2", Address: "g2:7500", Serves: "http://127.0.0.1:1"})
	w := f.ask(http.MethodPost, "eu", `{"members":[]}`)
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "1" || !strings.Contains(w.Body.String(), "no quorum") {
		t.Errorf("status %d, %v, %s", w.Code, w.Header(), w.Body)
	}
}
