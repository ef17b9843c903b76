package shop_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"headwater/cmd/headwater/shop"
	"headwater/graph"
	"headwater/graph/graphtest"
	"headwater/ingest"
	"headwater/ingest/openlineage"
)

// namespaces are those of the shop, by the name that the tests give them.
var namespaces = map[string]string{
	"orders-db": "postgres://orders-db.shop.example:5432",
	"crm-db":    "mysql://crm-db.shop.example:3306",
	"kafka":     "kafka://kafka.shop.example:9092",
	"hive":      "hive://metastore.shop.example:9083",
	"doris":     "doris://doris.shop.example:9030",
	"redis":     "redis://cache.shop.example:6379",
	"lake":      "s3://shop-lake",
	"partners":  "s3://shop-partners",
	"exports":   "s3://shop-exports",
	"models":    "s3://shop-models",
	"erp":       "oracle://erp.shop.example:1521",
	"bi":        "superset://bi.shop.example",
	"www":       "https://www.shop.example",
	"api":       "https://api.shop.example",
}

const netRevenue = "doris internal.report.daily_revenue#net_revenue"

// A world is the graph that all events of the shop make.
type world struct {
	*testing.T
	now   time.Time
	store *graphtest.Model
}

// grow feeds a model with all events.
func grow(t *testing.T) *world {
	w := &world{T: t, now: time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC), store: graphtest.NewModel("local")}
	bodies, err := shop.Events(w.now)
	if err != nil {
		t.Fatal(err)
	}
	f := graphtest.Feeder{Region: "local"}
	// A model derives all its rows anew for each batch; so each is of several events.
	for some := range slices.Chunk(bodies, 20) {
		var deltas []graph.Delta
		for _, body := range some {
			d := openlineage.Decode(ingest.Message{Body: body, Region: "local", Received: w.now})
			if len(d.Rejected) > 0 || d.Clamped > 0 {
				t.Fatalf("%d clamped, rejected %v of %s", d.Clamped, d.Rejected, body)
			}
			deltas = append(deltas, d.Deltas...)
		}
		if err := f.Feed(context.Background(), []graph.Store{w.store}, deltas...); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// id is that of a name as the tests write it: SYSTEM NAME#COLUMN.
func id(text string) graph.ID {
	system, name, _ := strings.Cut(text, " ")
	name, column, _ := strings.Cut(name, "#")
	return graph.Name{Kind: graph.DataStoreKind, Region: "local", Namespace: namespaces[system], Name: name, Column: column}.ID()
}

func process(namespace, name string) graph.ID {
	return graph.Name{Kind: graph.ProcessKind, Region: "local", Namespace: namespace, Name: name}.ID()
}

func label(n graph.Name) string {
	text := n.Name
	if n.Column != "" {
		text += "#" + n.Column
	}
	for system, namespace := range namespaces {
		if n.Namespace == namespace {
			return system + " " + text
		}
	}
	return n.Namespace + " " + text
}

// view calls f with the graph as it was so many days ago at noon; 0 is now.
func (w *world) view(ago int, f func(v graph.View)) {
	w.Helper()
	at := graph.At{}
	if ago > 0 {
		at.AsOf = w.now.AddDate(0, 0, -ago)
	}
	v, err := w.store.View(context.Background(), at)
	if err != nil {
		w.Fatal(err)
	}
	f(v)
	if err := v.Close(); err != nil {
		w.Fatal(err)
	}
}

// An answer is a lineage in the words of the tests.
type answer struct {
	hops map[string]int
	// flows say "KINDS by PROCESS" of "from -> to"; coarse flows begin so.
	flows map[string]string
	kinds graph.Kinds
}

func (w *world) ask(ago int, root graph.ID, g graph.Granularity, depth int, k graph.Kinds) *answer {
	w.Helper()
	a := &answer{hops: map[string]int{}, flows: map[string]string{}}
	w.view(ago, func(v graph.View) {
		found, err := graph.GetLineage(context.Background(), v, graph.Question{Root: root, Direction: graph.Upstream, Granularity: g, Depth: depth, Kinds: k})
		if err != nil {
			w.Fatal(err)
		}
		var ids []graph.ID
		for _, n := range found.Nodes {
			ids = append(ids, n.ID)
		}
		for _, e := range found.Edges {
			for _, s := range e.Sources {
				ids = append(ids, s.By.Subject)
			}
		}
		names := map[graph.ID]string{}
		if _, err := v.Nodes(context.Background(), ids, graph.WantColumns, func(n graph.Node) error {
			names[n.ID] = label(n.Name)
			if n.ID.Kind() == graph.ProcessKind {
				names[n.ID] = n.Name.Name
			}
			return nil
		}); err != nil {
			w.Fatal(err)
		}
		for _, n := range found.Nodes {
			a.hops[names[n.ID]] = n.Upstream
		}
		for _, e := range found.Edges {
			var by []string
			for _, s := range e.Sources {
				by = append(by, names[s.By.Subject])
			}
			how := strings.TrimPrefix(e.Kinds.String()+" by "+strings.Join(by, ","), " ")
			if e.Coarse {
				how = "coarse " + how
			}
			a.flows[names[e.From]+" -> "+names[e.To]] = how
			a.kinds |= e.Kinds
		}
	})
	return a
}

// node returns the node that a name stands for.
func (w *world) node(id graph.ID) graph.Node {
	w.Helper()
	var found graph.Node
	w.view(0, func(v graph.View) {
		_, err := v.Nodes(context.Background(), []graph.ID{id}, graph.WantColumns|graph.WantPartitions|graph.WantSeen, func(n graph.Node) error {
			found = n
			return nil
		})
		if err != nil {
			w.Fatal(err)
		}
	})
	return found
}

func TestTheGraphOfTheShop(t *testing.T) {
	all := grow(t)
	for name, story := range map[string]func(*world){
		"net revenue comes from the order database":  (*world).netRevenue,
		"all kinds of dependency are upstream of it": (*world).kinds,
		"refunds are new":                             (*world).refunds,
		"a location is an alias of its table":         (*world).alias,
		"a renamed table is found by its old name":    (*world).renamed,
		"a dropped table connects nothing":            (*world).dropped,
		"recommendations are a cycle":                 (*world).cycle,
		"inputs and outputs without columns are fans": (*world).coarse,
		"a run that fails leaves the last good one":   (*world).failed,
		"tables say what they are":                    (*world).facts,
		"two ways meet":                               (*world).diamond,
		"processes know what they run under":          (*world).processes,
	} {
		t.Run(name, func(t *testing.T) { story(&world{t, all.now, all.store}) })
	}
}

func (w *world) netRevenue() {
	a := w.ask(0, id(netRevenue), graph.Columns, 10, graph.DirectKinds|graph.Conditional)
	path := []struct{ from, how string }{
		{"doris internal.report.order_revenue#net_amount", "AGGREGATION by reports_daily.daily_revenue"},
		{"hive dws.order_revenue#net_amount", "IDENTITY by reports_daily.load_order_revenue"},
		{"hive dwd.order_items#gross_amount", "AGGREGATION by orders_daily.dws_order_revenue"},
		{"hive ods.order_items#unit_price", "TRANSFORMATION by orders_daily.dwd_order_items"},
		{"hive stg.order_items_cdc#unit_price", "IDENTITY by orders_daily.ods_order_items"},
		{"kafka cdc.order_items#unit_price", "IDENTITY by land_order_items"},
		{"orders-db shop.public.order_items#unit_price", "IDENTITY by cdc_order_items"},
	}
	to := netRevenue
	for i, hop := range path {
		if got := a.hops[hop.from]; got != i+1 {
			w.Errorf("%s is %d hops away, want %d", hop.from, got, i+1)
		}
		if got := a.flows[hop.from+" -> "+to]; got != hop.how {
			w.Errorf("%s -> %s: got %q, want %q", hop.from, to, got, hop.how)
		}
		to = hop.from
	}
	last := map[string]bool{}
	for name := range a.hops {
		if strings.HasPrefix(name, "orders-db ") || strings.HasPrefix(name, "partners ") {
			last[name] = true
		}
	}
	if got, want := fmt.Sprint(slices.Sorted(maps.Keys(last))), "[orders-db shop.public.order_items#discount orders-db shop.public.order_items#quantity "+
		"orders-db shop.public.order_items#unit_price orders-db shop.public.orders#status orders-db shop.public.refunds#amount partners fx/rates.csv#rate]"; got != want {
		w.Errorf("it begins at %s\nwant %s", got, want)
	}
	if len(a.hops) != 30 || len(a.flows) != 31 {
		w.Errorf("%d nodes and %d edges, want 30 and 31", len(a.hops), len(a.flows))
	}
}

func (w *world) kinds() {
	a := w.ask(0, id(netRevenue), graph.Columns, 10, 0)
	if want := graph.DirectKinds | graph.Join | graph.Filter | graph.GroupBy | graph.Window | graph.Conditional; a.kinds != want {
		w.Errorf("got %s, want %s", a.kinds, want)
	}
	if len(a.hops) < 100 || a.hops["crm-db crm.users#country"] != 5 {
		w.Errorf("%d nodes, the country of users %d hops away", len(a.hops), a.hops["crm-db crm.users#country"])
	}
}

func (w *world) refunds() {
	const refund = "hive dwd.refunds#refund_amount"
	now, before := w.ask(0, id(netRevenue), graph.Columns, 10, graph.DirectKinds), w.ask(2, id(netRevenue), graph.Columns, 10, graph.DirectKinds)
	if now.hops[refund] != 3 || before.hops[refund] != 0 {
		w.Errorf("%s is %d hops away now, and was %d", refund, now.hops[refund], before.hops[refund])
	}
	if before.hops["orders-db shop.public.order_items#unit_price"] != 7 {
		w.Error("the price of a line was not upstream two days ago")
	}
}

func (w *world) alias() {
	n := w.node(id("lake warehouse/dwd/order_items"))
	if label(n.Name) != "hive dwd.order_items" || len(n.Aliases) != 1 || n.Facts.Kind != "TABLE" {
		w.Errorf("the location is %s %s with aliases %v", n.Facts.Kind, n.Name, n.Aliases)
	}
	if len(n.Partitions) != 3 || n.Partitions[0].Name != "dt=2026-03-12" {
		w.Errorf("partitions %v", n.Partitions)
	}
}

func (w *world) renamed() {
	n := w.node(id("hive ads.user_ltv"))
	if label(n.Name) != "hive ads.user_lifetime_value" || n.Deleted != 0 {
		w.Errorf("the old name finds %s, deleted %d", n.Name, n.Deleted)
	}
	a := w.ask(0, id("exports board/figures.xlsx"), graph.DataStores, 1, 0)
	if got := a.flows["hive ads.user_lifetime_value -> exports board/figures.xlsx"]; got != "coarse by board_pack" {
		w.Errorf("what read the old name: %v", a.flows)
	}
}

func (w *world) dropped() {
	const dropped = "hive tmp.coupon_backfill"
	if n := w.node(id(dropped)); n.Deleted == 0 {
		w.Errorf("%s lives", n.Name)
	}
	now, before := w.ask(0, id("hive ods.coupons"), graph.DataStores, 3, 0), w.ask(3, id("hive ods.coupons"), graph.DataStores, 3, 0)
	if _, ok := now.hops[dropped]; ok {
		w.Errorf("%s still connects: %v", dropped, now.flows)
	}
	if before.hops[dropped] != 1 {
		w.Errorf("%s did not connect before: %v", dropped, before.flows)
	}
}

func (w *world) cycle() {
	a := w.ask(0, id("www /"), graph.DataStores, graph.Unlimited, 0)
	for name, hops := range map[string]int{"api GET /v1/recommendations": 1, "redis recommendations": 2, "hive dws.features": 3, "hive dwd.events": 4, "hive ods.events": 5, "kafka web.events": 6} {
		if a.hops[name] != hops {
			w.Errorf("%s is %d hops away, want %d", name, a.hops[name], hops)
		}
	}
	if a.flows["www / -> kafka web.events"] == "" {
		w.Error("what people see does not feed what they do")
	}
}

func (w *world) coarse() {
	a := w.ask(0, id("redis recommendations"), graph.Columns, 1, 0)
	if len(a.flows) != 3 || a.flows["models recommender/current -> redis recommendations"] != "coarse by recommendations_daily.score" {
		w.Errorf("recommendations come from %v", a.flows)
	}
	a = w.ask(0, id("hive ads.user_lifetime_value#lifetime_amount"), graph.Columns, 4, graph.DirectKinds)
	if a.flows["hive dwd.archived_orders#gross_amount -> hive ads.user_lifetime_value#lifetime_amount"] == "" || a.hops["erp ERP.SALES.ORDERS_ARCHIVE"] != 2 {
		w.Errorf("the archive: %v", a.flows)
	}
}

func (w *world) failed() {
	w.view(0, func(v graph.View) {
		_, err := v.Says(context.Background(), []graph.ID{process("shop-airflow", "stock_daily.ads_stock_forecast")}, func(s graph.Said) error {
			if run := s.Record.LastRun(); run.State() != graph.Failed || s.Content == nil || s.Provisional {
				w.Errorf("the last run has state %s", run.State())
			}
			return nil
		})
		if err != nil {
			w.Fatal(err)
		}
	})
	a := w.ask(0, id("hive ads.stock_forecast"), graph.DataStores, 1, 0)
	if a.hops["hive dws.stock_turnover"] != 1 {
		w.Errorf("the forecast comes from %v", a.hops)
	}
}

func (w *world) facts() {
	n := w.node(id("crm-db crm.users#email"))
	if len(n.Facts.Tags) != 1 || n.Facts.Tags[0].Name != "pii" || !slices.Equal(n.Facts.Owners, []string{"team:customers"}) {
		w.Errorf("the column of emails: %+v", n.Facts)
	}
	n = w.node(id("doris internal.report.daily_revenue"))
	if n.Facts.Description == "" || len(n.Facts.Columns) != 7 || n.Facts.Columns[4].Description == "" || n.Seen["dataQualityAssertions"] == nil {
		w.Errorf("the table of revenue: %+v, seen %v", n.Facts, n.Seen)
	}
	for name, kind := range map[string]string{"bi revenue": "DASHBOARD", "www /": "PAGE", "kafka web.events": "TOPIC", "redis recommendations": "KEY_VALUE", "models recommender/current": "MODEL", "api GET /v1/recommendations": "ENDPOINT"} {
		if n := w.node(id(name)); n.Facts.Kind != kind {
			w.Errorf("%s is a %q", name, n.Facts.Kind)
		}
	}
}

func (w *world) diamond() {
	a := w.ask(0, id("doris internal.report.finance_summary"), graph.DataStores, 6, 0)
	for _, flow := range []string{"daily_revenue -> doris internal.report.finance_summary", "category_revenue -> doris internal.report.finance_summary"} {
		if a.flows["doris internal.report."+flow] == "" {
			w.Errorf("%s is not there", flow)
		}
	}
	if a.flows["hive dwd.order_items -> hive dws.order_revenue"] == "" || a.flows["hive dwd.order_items -> hive dws.product_sales"] == "" {
		w.Errorf("the ways do not part at the lines of orders: %v", a.flows)
	}
}

func (w *world) processes() {
	w.view(0, func(v graph.View) {
		revenue := process("shop-airflow", "orders_daily.dws_order_revenue")
		if _, err := v.Says(context.Background(), []graph.ID{revenue}, func(s graph.Said) error {
			if c := s.Content; c.Parent.Name != "orders_daily" || c.Dialect != "trino" || !strings.Contains(c.SQL, "refunded") {
				w.Errorf("it runs under %s: %s", c.Parent, c.SQL)
			}
			return nil
		}); err != nil {
			w.Fatal(err)
		}
		user := id("hive dim.dim_user")
		readers, _, err := graph.Uses(context.Background(), v, []graph.ID{user}, graph.Downstream, false)
		if err != nil || len(readers[user]) < 6 {
			w.Errorf("%d processes read users, %v", len(readers[user]), err)
		}
	})
	a := w.ask(0, process("shop-bi", "revenue"), graph.Processes, 1, graph.Control)
	if a.flows["reports_daily.check_daily_revenue -> revenue"] == "" {
		w.Errorf("the dashboard waits for %v", a.flows)
	}
}
