package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"headwater/cmd/headwater/shop"
)

// demoForTest runs a demo until stop is called, which waits for its end.
func demoForTest(t *testing.T, d *demo) (base string, stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	up, done := make(chan string, 1), make(chan error, 1)
	d.listen, d.log, d.up = "127.0.0.1:0", t.Output(), func(base string) { up <- base }
	if d.now == nil {
		d.now = time.Now
	}
	go func() { done <- d.run(ctx) }()
	ended := false
	stop = func() error {
		cancel()
		if ended {
			return nil
		}
		ended = true
		return <-done
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	select {
	case base = <-up:
	case err := <-done:
		ended = true
		t.Fatalf("the demo ended: %v", err)
	}
	return base, stop
}

// fetch gets a page and fails the test unless it is there and holds a text.
func fetch(t *testing.T, address, want string) {
	t.Helper()
	res, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK || !bytes.Contains(body, []byte(want)) {
		t.Errorf("%s answers %s %.200q, %v; want %q", address, res.Status, body, err, want)
	}
}

// An upstream is what shop.Question answers.
type upstream struct {
	Lineage struct {
		Nodes []struct {
			Distance int
			Node     struct{ ID, Namespace, Name, Path string }
		}
		Edges []struct {
			From, To string
			Kinds    []string
			Sources  []struct {
				Expression *string
				Process    struct{ Name, Kind string }
			}
		}
		Complete bool
	}
}

func TestTheDemoAnswersItsQuestion(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	var out bytes.Buffer
	base, stop := demoForTest(t, &demo{out: &out})
	checkQuestion(t, base)

	fetch(t, base+"/healthz", "ok")
	fetch(t, base+"/readyz", "ok g1")
	fetch(t, base+"/metrics", `headwater_region_followed{region="us"} 1`)
	fetch(t, base+"/graphiql/", "<html")
	fetch(t, base+"/graphql?query="+url.QueryEscape(shop.Question), `"net_revenue"`) // as the printed curl asks
	for _, want := range []string{base + "/graphiql", "83 tasks", "550 events", "internal.report.daily_revenue#net_revenue", "--server " + base} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the demo does not say %q:\n%s", want, &out)
		}
	}

	if err := stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(tmp, "*")); err != nil || len(left) > 0 {
		t.Errorf("the demo leaves %q, %v", left, err)
	}
	if res, err := http.Get(base + "/healthz"); err == nil {
		_ = res.Body.Close()
		t.Errorf("it still answers: %s", res.Status)
	}
}

// checkQuestion asks a demo shop.Question.
func checkQuestion(t *testing.T, base string) {
	t.Helper()
	var a upstream
	if code := ask(t, base, shop.Question, nil, &a); code != "" {
		t.Fatalf("the question gives %s", code)
	}
	names, distances := map[string]string{}, map[string]int{}
	for _, n := range a.Lineage.Nodes {
		names[n.Node.ID] = n.Node.Namespace + " " + n.Node.Name + "#" + n.Node.Path
		distances[names[n.Node.ID]] = n.Distance
	}
	flows := map[string]string{}
	for _, e := range a.Lineage.Edges {
		for _, s := range e.Sources {
			how := strings.Join(e.Kinds, " ") + " by " + s.Process.Kind + " " + s.Process.Name
			if s.Expression != nil {
				how += ": " + *s.Expression
			}
			flows[names[e.From]+" -> "+names[e.To]] = how
		}
	}
	to := shop.Namespace + " " + shop.Table + "#" + shop.Column
	for i, hop := range []struct{ from, how string }{
		{"doris://doris.shop.example:9030 internal.report.order_revenue#net_amount", "AGGREGATION by DORIS reports_daily.daily_revenue: sum(r.net_amount)"},
		{"hive://metastore.shop.example:9083 dws.order_revenue#net_amount", "IDENTITY by SYNC reports_daily.load_order_revenue"},
		{"hive://metastore.shop.example:9083 dwd.order_items#gross_amount", "AGGREGATION by TRINO orders_daily.dws_order_revenue: sum(case when i.order_status = 'CANCELLED' then 0 " +
			"else i.gross_amount - i.discount_amount - coalesce(f.refund_amount, 0) end)"},
		{"hive://metastore.shop.example:9083 ods.order_items#unit_price", "TRANSFORMATION by SPARK orders_daily.dwd_order_items: i.quantity * i.unit_price * x.rate"},
		{"hive://metastore-us.shop.example:9083 stg.order_items_cdc#unit_price", "IDENTITY by HIVE orders_daily.ods_order_items"},
		{"kafka://kafka.shop.example:9092 cdc.order_items#unit_price", "IDENTITY by FLINK land_order_items"},
		{"postgres://orders-db.shop.example:5432 shop.public.order_items#unit_price", "IDENTITY by SYNC cdc_order_items"},
	} {
		if got := distances[hop.from]; got != -1-i {
			t.Errorf("%s lies at %d, want %d", hop.from, got, -1-i)
		}
		if got := flows[hop.from+" -> "+to]; got != hop.how {
			t.Errorf("%s -> %s\ngot  %s\nwant %s", hop.from, to, got, hop.how)
		}
		to = hop.from
	}
	if !a.Lineage.Complete || len(a.Lineage.Nodes) != 42 || len(a.Lineage.Edges) != 43 {
		t.Errorf("%d nodes, %d edges, complete %v", len(a.Lineage.Nodes), len(a.Lineage.Edges), a.Lineage.Complete)
	}
}

// The flows between regions, and of global tables, are those that the demo
// tells of.
func TestTheDemoCrossesBorders(t *testing.T) {
	base, _ := demoForTest(t, &demo{out: io.Discard})
	const question = `{ lineage(of: {namespace: "` + shop.Namespace + `", name: "` + shop.Table + `"}, direction: UPSTREAM, depth: 10) {
		complete gaps { region reason } nodes { node { region name } } edges { crossRegion viaGlobal } } }`
	type answer struct {
		Lineage struct {
			Complete bool
			Gaps     []struct{ Region, Reason string }
			Nodes    []struct{ Node struct{ Region, Name string } }
			Edges    []struct {
				CrossRegion bool
				ViaGlobal   string
			}
		}
	}
	ask := func() (a answer, regions, via map[string]int) {
		t.Helper()
		if code := ask(t, base, question, nil, &a); code != "" && code != "UNAVAILABLE" {
			t.Fatalf("the question gives %s", code)
		}
		regions, via = map[string]int{}, map[string]int{}
		for _, n := range a.Lineage.Nodes {
			regions[n.Node.Region]++
		}
		for _, e := range a.Lineage.Edges {
			if e.CrossRegion {
				via["border"]++
			}
			via[e.ViaGlobal]++
		}
		return a, regions, via
	}
	whole, regions, via := ask()
	if !whole.Lineage.Complete || regions[shop.Apps] == 0 || regions[shop.Lake] == 0 || regions[shop.Reports] == 0 {
		t.Errorf("complete %v, nodes %v", whole.Lineage.Complete, regions)
	}
	if via["border"] == 0 || via["stg.order_items_cdc"] != 2 || via["dim.dim_fx_rate"] != 4 {
		t.Errorf("edges via %v", via)
	}
	switchTo := func(what string) {
		t.Helper()
		res, err := http.Post(base+"/demo/regions/"+shop.Apps+"/"+what, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		if body, err := io.ReadAll(res.Body); err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s %s, %v", what, res.Status, body, err)
		}
	}
	switchTo("stop")
	part, some, _ := ask()
	if part.Lineage.Complete || len(part.Lineage.Gaps) != 1 || part.Lineage.Gaps[0].Region != shop.Apps {
		t.Errorf("without %s: complete %v, gaps %v", shop.Apps, part.Lineage.Complete, part.Lineage.Gaps)
	}
	if some[shop.Lake] != regions[shop.Lake] || some[shop.Reports] == 0 || some[shop.Apps] >= regions[shop.Apps] {
		t.Errorf("without %s: nodes %v, before %v", shop.Apps, some, regions)
	}
	switchTo("start")
	if again, _, _ := ask(); !again.Lineage.Complete || len(again.Lineage.Nodes) != len(whole.Lineage.Nodes) {
		t.Errorf("with it again: complete %v, %d nodes; gaps %v", again.Lineage.Complete, len(again.Lineage.Nodes), again.Lineage.Gaps)
	}
}

func TestTheDemoKeepsItsDataInAFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	var revisions []string
	began := time.Now()
	for range 2 { // the second time the same events come again
		base, stop := demoForTest(t, &demo{out: io.Discard, data: dir, now: func() time.Time { return began }})
		var a struct{ Regions []struct{ Revision string } }
		ask(t, base, "{ regions { revision } }", nil, &a)
		revisions = append(revisions, a.Regions[0].Revision)
		if err := stop(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, shop.Lake, "graph")); err != nil || revisions[0] != revisions[1] {
		t.Errorf("revisions %q, %v", revisions, err)
	}
}

func TestTheDemoSaysWhenItsAddressIsInUse(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	var log bytes.Buffer
	code := run(t.Context(), []string{"demo", "--listen", ln.Addr().String()}, io.Discard, &log)
	if want := fmt.Sprintf("headwater demo: %s is in use", ln.Addr()); code != 1 || !strings.HasPrefix(log.String(), want) || !strings.Contains(log.String(), "--listen") {
		t.Errorf("code %d: %s", code, &log)
	}
}

func TestTheDemoEndsWhereNobodyCanReadIt(t *testing.T) {
	r, w := io.Pipe()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	d := &demo{listen: "127.0.0.1:0", out: w, log: t.Output(), now: time.Now}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := d.run(ctx); err == nil || ctx.Err() != nil {
		t.Errorf("it ends with %v, %v", err, ctx.Err())
	}
}
