package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"headwater/graph"
	"headwater/graph/nebula/standin"
)

// A watch is a log that tells when something is said.
type watch struct {
	slog.Handler
	message string
	said    chan struct{}
}

func (w watch) Enabled(context.Context, slog.Level) bool { return true }

func (w watch) Handle(_ context.Context, r slog.Record) error {
	if r.Message == w.message {
		select {
		case w.said <- struct{}{}:
		default: // it has been told, and nobody has asked since
		}
	}
	return nil
}

// get returns the status and the text of a page.
func get(t *testing.T, address string) (status int, text string) {
	t.Helper()
	res, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

// While NebulaGraph is down events are acknowledged and wait, questions are
// answered as far as that goes, and when it is back all is applied, once.
func TestIntakeGoesOnWhileNebulaGraphIsDown(t *testing.T) {
	stand := startStandIn(t)
	still := make(chan struct{}, 1)
	c := defaultConfig()
	c.Listen, c.Data, c.MinFree, c.Cache, c.Answers = "127.0.0.1:0", t.TempDir(), -1, 8<<20, 0
	c.Store, c.Init = "nebula://"+stand.Addr()+"/outage", true
	s, err := open(t.Context(), c, slog.New(watch{slog.DiscardHandler, "applying stands still; trying again", still}))
	if err != nil {
		t.Fatal(err)
	}
	url, stop, err := started(s.run)
	if err != nil {
		t.Fatal(err)
	}
	var acked []acknowledged
	send := func(query string) {
		t.Helper()
		var bodies []string
		for range 40 {
			a, body := killEvent(len(acked))
			acked, bodies = append(acked, a), append(bodies, body)
		}
		res, err := http.Post(url+"/api/v1/lineage/batch"+query, "application/json", bytes.NewBufferString("["+strings.Join(bodies, ",")+"]"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		if body, err := io.ReadAll(res.Body); err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%d events have been sent: %s %s, %v", len(acked), res.Status, body, err)
		}
	}
	// lineage is where the hub flows to: every event adds to it.
	lineage := func() (code string, nodes int) {
		t.Helper()
		var a struct {
			Lineage struct {
				Complete bool
				Nodes    []struct{ Distance int }
			}
		}
		code = ask(t, url, `{ lineage(of: {namespace: "db", name: "hub"}, direction: DOWNSTREAM, depth: 1) { complete nodes { distance } } }`, nil, &a)
		if code == "" && !a.Lineage.Complete {
			t.Error("an answer is not complete, and no error")
		}
		return code, len(a.Lineage.Nodes)
	}
	send("?wait=applied")
	if code, nodes := lineage(); code != "" || nodes != 41 {
		t.Errorf("before: %q, %d nodes", code, nodes)
	}
	for round := range 2 {
		stand.Stop()
		send("")
		<-still
		<-still // what is in the way is told once it has been logged
		if status, text := get(t, url+"/readyz"); status != http.StatusServiceUnavailable || !strings.Contains(text, stand.Addr()) {
			t.Errorf("round %d: ready: %d %s", round, status, text)
		}
		if status, _ := get(t, url+"/healthz"); status != http.StatusOK {
			t.Errorf("round %d: alive: %d", round, status)
		}
		if code, nodes := lineage(); code != "UNAVAILABLE" && (code != "" || nodes == 0) {
			t.Errorf("round %d: %q, %d nodes", round, code, nodes)
		}
		send("") // it goes on
		if err := stand.Resume(); err != nil {
			t.Fatal(err)
		}
		send("?wait=applied")
		select {
		case <-still:
		default:
		}
		if status, text := get(t, url+"/readyz"); status != http.StatusOK {
			t.Errorf("round %d: ready again: %d %s", round, status, text)
		}
		// killEvent writes to 97 tables in turn.
		if code, nodes := lineage(); code != "" || nodes != min(len(acked), 97)+1 {
			t.Errorf("round %d: again: %q, %d nodes of %d events", round, code, nodes, len(acked))
		}
	}
	if n := metric(t, url, "headwater_dead_letters_total"); n > 0 {
		t.Errorf("%d dead letters", n)
	}
	for _, name := range []string{"headwater_nebula_statements_total", "headwater_nebula_rows_read_total", "headwater_flows_in_memory"} {
		if metric(t, url, name) == 0 {
			t.Errorf("%s is 0", name)
		}
	}
	// One that is stopped meanwhile says so, and the next one goes on.
	stand.Stop()
	send("")
	<-still
	if err := stop(); !errors.Is(err, graph.ErrUnavailable) {
		t.Errorf("stopped while it is down: %v", err)
	}
	if err := stand.Resume(); err != nil {
		t.Fatal(err)
	}
	checkKilled(t, c.Data, c.Store, acked)
}

// While a statement hangs a server tells how it is, and answers from what is
// whole.
func TestNobodyWaitsForAWriteThatHangs(t *testing.T) {
	stand := startStandIn(t)
	url := serveForTest(t, func(c *config) { c.Store, c.Init, c.Answers = "nebula://"+stand.Addr()+"/hangs", true, 0 })
	_, first := killEvent(0)
	post(t, url, "["+first+"]")
	hangs := make(chan struct{})
	var once sync.Once
	stand.Fail(func(_ uint64, text string) (f standin.Fault) {
		if strings.HasPrefix(text, "INSERT") {
			once.Do(func() {
				f.How = standin.Torn
				close(hangs)
			})
		}
		return f
	})
	_, second := killEvent(1)
	res, err := http.Post(url+"/api/v1/lineage/batch", "application/json", strings.NewReader("["+second+"]"))
	if err != nil {
		t.Fatal(err)
	}
	if err := res.Body.Close(); err != nil || res.StatusCode != http.StatusOK {
		t.Fatal(res.Status, err)
	}
	<-hangs
	tables := func() int {
		t.Helper()
		var a struct {
			Lineage struct{ Nodes []struct{ Distance int } }
		}
		if code := ask(t, url, `{ lineage(of: {namespace: "db", name: "hub"}, direction: DOWNSTREAM, depth: 1) { nodes { distance } } }`, nil, &a); code != "" {
			t.Errorf("it answers %s", code)
		}
		return len(a.Lineage.Nodes)
	}
	if n := tables(); n != 2 {
		t.Errorf("%d tables while a batch is half written, want 2", n)
	}
	if status, text := get(t, url+"/readyz"); status != http.StatusOK {
		t.Errorf("ready: %d %s", status, text)
	}
	if metric(t, url, "headwater_applied_position") != 1 {
		t.Error("the batch that hangs is applied")
	}
	stand.Release()
	post(t, url, "[]")
	if n := tables(); n != 3 {
		t.Errorf("%d tables at last, want 3", n)
	}
}

// A region whose NebulaGraph is down is a gap; the other one answers.
func TestARegionWithoutItsNebulaGraphIsAGap(t *testing.T) {
	stand := startStandIn(t)
	regions := map[string]string{}
	for name, store := range map[string]string{"eu": "nebula://" + stand.Addr() + "/gap", "us": ""} {
		base := serveForTest(t, func(c *config) { c.asRegion, c.Region, c.Store, c.Init = true, name, store, truth(store != "") })
		regions[name] = strings.TrimPrefix(base, "http://")
	}
	for i, e := range []struct{ region, reads, writes string }{{"us", "shop-us", "lake-us"}, {"eu", "lake-us", "mart-eu"}} {
		post(t, "http://"+regions[e.region], fmt.Sprintf(`[{"eventType":"COMPLETE","eventTime":"2026-03-01T00:00:00Z","run":{"runId":"00000000-0000-4000-8000-%012d"},"job":{"namespace":"jobs-%s","name":"copy"},
"inputs":[{"namespace":%q,"name":"orders"}],"outputs":[{"namespace":%q,"name":"orders"}]}]`, i, e.region, e.reads, e.writes))
	}
	cluster, err := gatewaysForBench(t.TempDir(), regions, []string{"shop-us", "lake-us", "mart-eu"}, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Stop(); err != nil {
			t.Error(err)
		}
	})
	lineage := func() (namespaces, gaps []string, complete bool) {
		t.Helper()
		var a struct {
			Lineage struct {
				Complete bool
				Gaps     []struct{ Region string }
				Nodes    []struct{ Node struct{ Namespace string } }
			}
		}
		if code := ask(t, cluster.URLs[0], `{ lineage(of: {namespace: "shop-us", name: "orders"}, direction: DOWNSTREAM, depth: 5) { complete gaps { region } nodes { node { namespace } } } }`, nil, &a); code != "" {
			t.Errorf("it answers %s", code)
		}
		for _, n := range a.Lineage.Nodes {
			namespaces = append(namespaces, n.Node.Namespace)
		}
		for _, g := range a.Lineage.Gaps {
			gaps = append(gaps, g.Region)
		}
		return namespaces, gaps, a.Lineage.Complete
	}
	// An answer may be late on a machine that has other things to do; the next
	// ones are not.
	last := ""
	defer func() {
		if t.Failed() {
			t.Log("answered last:", last)
		}
	}()
	becomes := func(when string, wantGaps []string, want ...string) {
		t.Helper()
		eventually(t, when, func() bool {
			namespaces, gaps, complete := lineage()
			last = fmt.Sprint(namespaces, " with gaps ", gaps, ", complete ", complete)
			return complete == (len(gaps) == 0) && slices.Equal(gaps, wantGaps) && slices.Equal(namespaces, want)
		})
	}
	whole := []string{"shop-us", "lake-us", "mart-eu"}
	becomes("before, the answer is whole", nil, whole...) // the gateway has heard of both
	stand.Stop()
	becomes("while it is down it is a gap, and the other answers", []string{"eu"}, "shop-us", "lake-us")
	if err := stand.Resume(); err != nil {
		t.Fatal(err)
	}
	becomes("when it is back the answer is whole", nil, whole...)
}
