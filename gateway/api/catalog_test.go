package api

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"headwater/gateway/catalog"
	"headwater/graph"
)

// alone is a forwarder of a gateway that has no others.
type alone struct{}

func (alone) Forward(context.Context, catalog.Peer, []byte) ([]byte, error) {
	return nil, fmt.Errorf("there is no other: %w", catalog.ErrNotSent)
}

var g1 = catalog.Peer{Name: "g1", Address: "g1:7500", Serves: "http://g1:8080"}

// openCatalog opens the replica of g1, in memory, until the test ends.
func openCatalog(t *testing.T, patience time.Duration, first ...catalog.Peer) *catalog.Replica {
	t.Helper()
	_, wire := raft.NewInmemTransport(raft.ServerAddress(g1.Address))
	r, err := catalog.Open(catalog.Options{Self: g1, First: first, Transport: wire, Forwarder: alone{}, Heartbeat: 50 * time.Millisecond, Patience: patience, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	if len(first) > 1 {
		return r // nobody leads
	}
	for range r.Watch(t.Context(), 0) {
		if state, _ := r.Now(); state.Version() == 1 {
			break // where g1 serves
		}
	}
	return r
}

// asAnn says that Ann asks.
func asAnn(context.Context) (string, error) { return "ann", nil }

// serveCatalog is serve with a catalog in which the regions eu and us are.
func serveCatalog(t *testing.T) *server {
	t.Helper()
	s := serve(t, Options{Catalog: openCatalog(t, 30*time.Second, g1), Who: asAnn})
	for _, region := range []string{"eu", "us"} {
		s.ask(fmt.Sprintf(`mutation { setRegion(name: %q, addresses: ["%s:7400"]) { version } }`, region, region))
	}
	return s
}

// changed makes a change that must change something, and returns the version.
func (s *server) changed(mutation string) float64 {
	s.t.Helper()
	r := s.ask("mutation { done: " + mutation + " { version changed clientMutationId } }")
	if r.at("done", "changed") != true || r.at("done", "clientMutationId") == "" {
		s.t.Fatalf("%s\ngot %s", mutation, r.body)
	}
	return r.at("done", "version").(float64)
}

// wholeCatalog selects every field of Catalog.
const wholeCatalog = `{ catalog { version leader ageSeconds regions { name addresses note } gateways { name raft url leads }
	namespaceRules { namespace region apart why } suspects { namespace regions }
	aliases(first: 2) { nodes { from { id region namespace name } to { region namespace name } why } pageInfo { hasNextPage endCursor } }
	namingRules { region namespace prefix toRegion toNamespace toPrefix why }
	globalTables(first: 2) { nodes { name kind declared memberCount members(first: 2) { nodes { id region namespace name sources } pageInfo { hasNextPage endCursor } } } pageInfo { hasNextPage endCursor } }
	globalTable(name: "orders") { name }
	filters { name match { namespace name tag } reason owner }
	notices { name match { namespace name tag } text owner until }
	audit(first: 2) { nodes { version at who what of before after } pageInfo { hasNextPage endCursor } } } }`

// allChanges makes every change of Catalog.
const allChanges = `
	setRegion(name: "x", addresses: []) { version changed clientMutationId } removeRegion(name: "x") { version }
	setNamespaceRule(namespace: "x") { version } removeNamespaceRule(namespace: "x") { version }
	setAlias(from: {region: "", namespace: "", name: ""}, to: {region: "", namespace: "", name: ""}) { version }
	removeAlias(from: {region: "", namespace: "", name: ""}) { version }
	setNamingRule(namespace: "x", toNamespace: "x") { version } removeNamingRule(namespace: "x") { version }
	declareGlobalTable(name: "x", kind: REPLICATED) { version } changeGlobalTableMembers(name: "x") { version } removeGlobalTable(name: "x") { version }
	setFilter(name: "x", match: {}, reason: "", owner: "") { version } removeFilter(name: "x") { version }
	setNotice(name: "x", match: {}, text: "", owner: "") { version } removeNotice(name: "x") { version }
	joinGateway(name: "x", raft: "", url: "") { version changed } leaveGateway(name: "x") { version }`

func TestEveryChangeOfTheCatalogIsMadeAndShown(t *testing.T) {
	s := serveCatalog(t)
	v := s.ask(`{ catalog { version } }`).at("catalog", "version").(float64)
	for _, c := range []struct{ set, field, want, remove, without string }{
		{`setRegion(name: "ap", addresses: ["ap1:7400", "ap2:7400"], note: "Asia")`, `regions { name addresses note }`,
			`[{"name":"ap","addresses":["ap1:7400","ap2:7400"],"note":"Asia"},{"name":"eu","addresses":["eu:7400"],"note":""},{"name":"us","addresses":["us:7400"],"note":""}]`,
			`removeRegion(name: "ap")`, `[{"name":"eu","addresses":["eu:7400"],"note":""},{"name":"us","addresses":["us:7400"],"note":""}]`},
		{`setNamespaceRule(namespace: "hive://meta:9083", region: "eu", why: "one metastore")`, `namespaceRules { namespace region apart why }`,
			`[{"namespace":"hive://meta:9083","region":"eu","apart":false,"why":"one metastore"}]`,
			`removeNamespaceRule(namespace: "hive://meta:9083")`, `[]`},
		{`setNamespaceRule(namespace: "file", apart: true)`, `namespaceRules { namespace region apart why }`,
			`[{"namespace":"file","region":"","apart":true,"why":""}]`,
			`removeNamespaceRule(namespace: "file")`, `[]`},
		{`setAlias(from: {region: "us", namespace: "s3://lake", name: "orders"}, to: {region: "eu", namespace: "hive://m", name: "shop.orders"}, why: "moved")`,
			`aliases { nodes { from { region namespace name } to { region namespace name } why } }`,
			`{"nodes":[{"from":{"region":"us","namespace":"s3://lake","name":"orders"},"to":{"region":"eu","namespace":"hive://m","name":"shop.orders"},"why":"moved"}]}`,
			`removeAlias(from: {region: "us", namespace: "s3://lake", name: "orders"})`, `{"nodes":[]}`},
		{`setNamingRule(region: "us", namespace: "trino://t:8080", prefix: "hive.", toRegion: "eu", toNamespace: "hive://m", why: "one catalog")`,
			`namingRules { region namespace prefix toRegion toNamespace toPrefix why }`,
			`[{"region":"us","namespace":"trino://t:8080","prefix":"hive.","toRegion":"eu","toNamespace":"hive://m","toPrefix":"","why":"one catalog"}]`,
			`removeNamingRule(region: "us", namespace: "trino://t:8080", prefix: "hive.")`, `[]`},
		{`declareGlobalTable(name: "orders", kind: REPLICATED, members: [{region: "us", namespace: "hive://u", name: "shop.orders"}, {region: "eu", namespace: "hive://m", name: "shop.orders"}])`,
			`globalTable(name: "orders") { name kind declared memberCount members { nodes { region namespace name sources } } }`,
			`{"name":"orders","kind":"REPLICATED","declared":true,"memberCount":2,"members":{"nodes":[{"region":"eu","namespace":"hive://m","name":"shop.orders","sources":["declared"]},{"region":"us","namespace":"hive://u","name":"shop.orders","sources":["declared"]}]}}`,
			`changeGlobalTableMembers(name: "orders", add: [{region: "us", namespace: "hive://v", name: "shop.orders"}], remove: [{region: "us", namespace: "hive://u", name: "shop.orders"}, {region: "eu", namespace: "hive://m", name: "shop.orders"}])`,
			`{"name":"orders","kind":"REPLICATED","declared":true,"memberCount":1,"members":{"nodes":[{"region":"us","namespace":"hive://v","name":"shop.orders","sources":["declared"]}]}}`},
		{`declareGlobalTable(name: "empty", kind: PARTITIONED)`, `globalTables { nodes { name kind memberCount } }`,
			`{"nodes":[{"name":"empty","kind":"PARTITIONED","memberCount":0},{"name":"orders","kind":"REPLICATED","memberCount":1}]}`,
			`removeGlobalTable(name: "empty")`, `{"nodes":[{"name":"orders","kind":"REPLICATED","memberCount":1}]}`},
		{`setFilter(name: "scratch", match: {name: "tmp.*"}, reason: "scratch tables", owner: "data-platform")`, `filters { name match { namespace name tag } reason owner }`,
			`[{"name":"scratch","match":{"namespace":"","name":"tmp.*","tag":""},"reason":"scratch tables","owner":"data-platform"}]`,
			`removeFilter(name: "scratch")`, `[]`},
		{`setNotice(name: "rebuild", match: {namespace: "hive://m", tag: "tier1"}, text: "rebuilt on Monday", owner: "ann", until: "2026-03-02T08:00:00+02:00")`,
			`notices { name match { namespace name tag } text owner until }`,
			`[{"name":"rebuild","match":{"namespace":"hive://m","name":"","tag":"tier1"},"text":"rebuilt on Monday","owner":"ann","until":"2026-03-02T06:00:00Z"}]`,
			`removeNotice(name: "rebuild")`, `[]`},
		{`setNotice(name: "for-good", match: {name: "x"}, text: "t", owner: "ann")`, `notices { name until }`, `[{"name":"for-good","until":null}]`, `removeNotice(name: "for-good")`, `[]`},
	} {
		field, _, _ := strings.Cut(c.field, " ")
		field, _, _ = strings.Cut(field, "(")
		for _, step := range []struct{ do, want string }{{c.set, c.want}, {c.remove, c.without}} {
			v++
			if got := s.changed(step.do); got != v {
				t.Errorf("%s: version %v, want %v", step.do, got, v)
			}
			s.ask("{ catalog { "+c.field+" } }").want(step.want, "catalog", field)
		}
		again := s.ask("mutation { done: " + c.set + " { version changed } again: " + c.set + " { version changed } }")
		v = again.at("again", "version").(float64)
		if again.at("again", "changed") != false {
			t.Errorf("%s, twice: %s", c.set, again.body)
		}
		s.changed(c.remove)
		v++
	}
}

func TestARefusedChangeSaysWhatStandsInTheWay(t *testing.T) {
	s := serveCatalog(t)
	s.changed(`declareGlobalTable(name: "orders", kind: PARTITIONED, members: [{region: "eu", namespace: "hive://m", name: "orders"}])`)
	for mutation, want := range map[string]string{
		`setRegion(name: "a b", addresses: ["x:1"])`:                `region "a b": a name is letters a to z, digits, and - _ . within`,
		`setRegion(name: "ap", addresses: [])`:                      `region "ap": it needs 1 to 16 addresses`,
		`setRegion(name: "ap", addresses: ["eu:7400"])`:             `region "ap": address eu:7400 is region "eu"'s`,
		`removeRegion(name: "eu")`:                                  `region "eu" is still named by global table "orders" (1 members)`,
		`removeRegion(name: "mars")`:                                `there is no region "mars"; add it first`,
		`setNamespaceRule(namespace: "n")`:                          `namespace "n": the region is missing`,
		`setNamespaceRule(namespace: "n", region: "eu", was: "us")`: `namespace "n" has no rule, so it was not region "us"'s`,
		`removeNamespaceRule(namespace: "n")`:                       `namespace "n" has no rule`,
		`setAlias(from: {region: "eu", namespace: "n", name: "a"}, to: {region: "eu", namespace: "n", name: "a"})`:              `eu: n a stands for itself already`,
		`removeAlias(from: {region: "eu", namespace: "n", name: "a"})`:                                                          `eu: n a is no alias`,
		`setNamingRule(namespace: "n", toNamespace: "n")`:                                                                       `naming rules would go round: n * → n *`,
		`removeNamingRule(namespace: "n")`:                                                                                      `there is no naming rule n *`,
		`declareGlobalTable(name: "copy", kind: PARTITIONED, members: [{region: "eu", namespace: "hive://m", name: "orders"}])`: `eu: hive://m orders would be in two global tables, "orders" and "copy"`,
		`changeGlobalTableMembers(name: "nope")`:                                                                                `there is no global table "nope"`,
		`removeGlobalTable(name: "nope")`:                                                                                       `there is no global table "nope"`,
		`setFilter(name: "f", match: {}, reason: "r", owner: "o")`:                                                              `filter "f" would pick every node; give a namespace, a name or a tag`,
		`removeFilter(name: "f")`:                                                                                               `there is no filter "f"`,
		`setNotice(name: "n", match: {name: "x"}, text: "", owner: "o")`:                                                        `text is missing`,
		`setNotice(name: "n", match: {name: "x"}, text: "t", owner: "o", until: "soon")`:                                        `until: "soon" is not a time like 2026-03-01T06:30:00Z`,
		`removeNotice(name: "n")`:                                                                                               `there is no notice "n"`,
	} {
		wantText(t, s.refused("BAD_INPUT", "mutation { "+mutation+" { version } }"), want)
	}
	wantText(t, s.refused("BAD_INPUT", `mutation { leaveGateway(name: "g1") { version } }`), `gateway "g1" is the last`)
	wantText(t, s.refused("BAD_INPUT", `mutation { joinGateway(name: "g2", raft: "g1:7500", url: "http://g2") { version } }`), `raft address g1:7500 is gateway "g1"'s`)
	s.ask(`{ catalog { version } }`).want("4", "catalog", "version") // g1's address, two regions, the table
}

func TestAChangeIsMadeOnceUnderTheIdOfTheClient(t *testing.T) {
	s := serveCatalog(t)
	const mutation = `mutation($note: String!) { setRegion(name: "eu", addresses: ["eu:7400"], note: $note, clientMutationId: "ann-1") { version changed clientMutationId } }`
	first := s.ask(mutation, "note", "Europe")
	s.changed(`setRegion(name: "eu", addresses: ["eu:7400"], note: "the European Union")`)
	again := s.ask(mutation, "note", "Europe")
	if first.body != again.body || first.at("setRegion", "clientMutationId") != "ann-1" || first.at("setRegion", "changed") != true {
		t.Errorf("first %s, again %s", first.body, again.body)
	}
	s.ask(`{ catalog { regions { note } } }`).want(`"the European Union"`, "catalog", "regions", 0, "note")
	wantText(t, s.refused("BAD_INPUT", mutation, "note", "another"), `id "ann-1" was used for another command`)
}

func TestTheAuditTrailTellsTheNewestFirst(t *testing.T) {
	s := serveCatalog(t)
	for i := range 5 {
		s.changed(fmt.Sprintf(`setRegion(name: "eu", addresses: ["eu:7400"], note: "%d")`, i))
	}
	const query = `query($after: String) { catalog { audit(first: 2, after: $after) { nodes { version at who what of before after } pageInfo { hasNextPage endCursor } } } }`
	r := s.ask(query)
	wantText(t, r.each("version", "catalog", "audit", "nodes"), "8 7")
	r.want(`"ann"`, "catalog", "audit", "nodes", 0, "who")
	r.want(`"region.set"`, "catalog", "audit", "nodes", 0, "what")
	r.want(`"eu"`, "catalog", "audit", "nodes", 0, "of")
	r.want(`"{\"name\":\"eu\",\"addresses\":[\"eu:7400\"],\"note\":\"3\"}"`, "catalog", "audit", "nodes", 0, "before")
	if at, err := time.Parse(time.RFC3339, r.at("catalog", "audit", "nodes", 0, "at").(string)); err != nil || time.Since(at) > time.Minute {
		t.Errorf("at %v: %v", at, err)
	}
	// What is new does not shift the next page.
	s.changed(`setRegion(name: "eu", addresses: ["eu:7400"])`)
	r = s.ask(query, "after", r.at("catalog", "audit", "pageInfo", "endCursor"))
	wantText(t, r.each("version", "catalog", "audit", "nodes"), "6 5")
	wantText(t, s.refused("BAD_INPUT", query, "after", "zzz"), "after: not a cursor of the audit trail")
}

func TestLongListsOfTheCatalogComeInPages(t *testing.T) {
	s := serveCatalog(t)
	for _, n := range []string{"a", "b", "c"} {
		s.changed(fmt.Sprintf(`setAlias(from: {region: "eu", namespace: "n", name: %q}, to: {region: "us", namespace: "n", name: %[1]q})`, n))
		s.changed(fmt.Sprintf(`declareGlobalTable(name: %q, kind: PARTITIONED, members: [{region: "eu", namespace: "m", name: "%[1]s1"}, {region: "eu", namespace: "m", name: "%[1]s2"}, {region: "us", namespace: "m", name: "%[1]s1"}])`, n))
	}
	for list, want := range map[string]string{
		`aliases(first: 2, after: $after) { nodes { name: from { name } } pageInfo { hasNextPage endCursor } }`: `{"name":"a"} {"name":"b"}|{"name":"c"}`,
		`globalTables(first: 2, after: $after) { nodes { name } pageInfo { hasNextPage endCursor } }`:           "a b|c",
	} {
		s.wantPages(want, "query($after: String) { catalog { list: "+list+" } }", "catalog", "list")
	}
	s.wantPages("a1 a2|a1", `query($after: String) { catalog { globalTable(name: "a") { members(first: 2, after: $after) { nodes { name } pageInfo { hasNextPage endCursor } } } } }`, "catalog", "globalTable", "members")
	s.ask(`{ catalog { globalTable(name: "z") { name } } }`).want("null", "catalog", "globalTable")
}

// wantPages fails the test unless a list of two pages has the names.
func (s *server) wantPages(want, query string, path ...any) {
	s.t.Helper()
	at := func(more ...any) []any { return append(append([]any{}, path...), more...) }
	r := s.ask(query)
	r.want("true", at("pageInfo", "hasNextPage")...)
	got := r.each("name", at("nodes")...)
	r = s.ask(query, "after", r.at(at("pageInfo", "endCursor")...))
	r.want("false", at("pageInfo", "hasNextPage")...)
	wantText(s.t, got+"|"+r.each("name", at("nodes")...), want)
}

func TestTheCatalogSaysHowOldItIs(t *testing.T) {
	s := serveCatalog(t)
	r := s.ask(`{ catalog { leader ageSeconds gateways { name raft url leads } } }`)
	r.want(`"g1"`, "catalog", "leader")
	r.want(`[{"name":"g1","raft":"g1:7500","url":"http://g1:8080","leads":true}]`, "catalog", "gateways")
	if age, ok := r.at("catalog", "ageSeconds").(float64); !ok || age > 1 {
		t.Errorf("the leader says that it heard itself %v s ago", age)
	}
}

func TestAQueryOfEveryFieldOfTheCatalogIsAnswered(t *testing.T) {
	s := serveCatalog(t)
	s.ask(wholeCatalog).want("3", "catalog", "version")
}

func TestWithoutAQuorumTheCatalogIsReadAndNotChanged(t *testing.T) {
	g2 := catalog.Peer{Name: "g2", Address: "g2:7500", Serves: "http://g2:8080"}
	s := serve(t, Options{Catalog: openCatalog(t, 100*time.Millisecond, g1, g2), Who: asAnn})
	r := s.post(`mutation { setRegion(name: "eu", addresses: ["eu:7400"]) { version } }`)
	if len(r.Errors) != 1 || r.Errors[0].Extensions["code"] != "UNAVAILABLE" || r.Errors[0].Extensions["clientMutationId"] != nil ||
		!strings.Contains(r.Errors[0].Message, "no quorum: no leader that most gateways follow can be reached") {
		t.Errorf("got %s", r.body)
	}
	s.refused("UNAVAILABLE", `mutation { joinGateway(name: "g3", raft: "g3:7500", url: "http://g3") { version } }`)
	s.ask(`{ catalog { version leader ageSeconds regions { name } } }`).want(`{"version":0,"leader":"","ageSeconds":null,"regions":[]}`, "catalog")
}

// A lossy catalog loses the answers to changes.
type lossy struct{ Catalog }

func (c lossy) Change(ctx context.Context, do catalog.Command) (catalog.Result, error) {
	if _, err := c.Catalog.Change(ctx, do); err != nil {
		return catalog.Result{}, err
	}
	return catalog.Result{}, fmt.Errorf("region.set: %w", catalog.ErrUnknown)
}

func TestAnUndecidedChangeNamesTheIdToAskAgainWith(t *testing.T) {
	real := openCatalog(t, 30*time.Second, g1)
	s := serve(t, Options{Catalog: lossy{real}, Who: asAnn})
	const mutation = `mutation($id: ID) { setRegion(name: "eu", addresses: ["eu:7400"], clientMutationId: $id) { version changed } }`
	r := s.post(mutation)
	if len(r.Errors) != 1 || r.Errors[0].Extensions["code"] != "UNAVAILABLE" {
		t.Fatalf("got %s", r.body)
	}
	id := r.Errors[0].Extensions["clientMutationId"]
	again := serve(t, Options{Catalog: real, Who: asAnn}).ask(mutation, "id", id)
	again.want(`{"version":2,"changed":true}`, "setRegion")
	if state, _ := real.Now(); state.Version() != 2 {
		t.Errorf("version %d, want 2: g1's address and the region", state.Version())
	}
}

func TestOnlyWhoMayChangesTheCatalog(t *testing.T) {
	s := serve(t, Options{Catalog: openCatalog(t, 30*time.Second, g1), Who: func(context.Context) (string, error) {
		return "", fmt.Errorf("%w: nobody", graph.ErrUnavailable)
	}})
	wantText(t, s.refused("UNAVAILABLE", `mutation { removeRegion(name: "eu") { version } }`), graph.ErrUnavailable.Error()+": nobody")
	wantText(t, s.refused("UNAVAILABLE", `mutation { leaveGateway(name: "g1") { version } }`), graph.ErrUnavailable.Error()+": nobody")
	if err := (&Options{Reader: s.reader, Catalog: openCatalog(t, time.Second, g1)}).Validate(); err == nil {
		t.Error("a catalog without Who is taken")
	}
}

func TestAServerWithoutACatalogSaysSo(t *testing.T) {
	s := serve(t, Options{})
	for _, query := range []string{`{ catalog { version } }`, `mutation { removeRegion(name: "eu") { version } }`, `mutation { leaveGateway(name: "g1") { version } }`} {
		wantText(t, s.refused("UNAVAILABLE", query), "this server has no catalog; ask a gateway")
	}
}

func TestAGatewayJoinsAndLeaves(t *testing.T) {
	s := serveCatalog(t)
	s.ask(`mutation { joinGateway(name: "g1", raft: "g1:7500", url: "http://elsewhere:8080") { version changed } }`).want(`{"version":4,"changed":true}`, "joinGateway")
	s.ask(`mutation { joinGateway(name: "g1", raft: "g1:7500", url: "http://elsewhere:8080") { version changed } }`).want(`{"version":4,"changed":false}`, "joinGateway")
	s.ask(`{ catalog { gateways { url } } }`).want(`[{"url":"http://elsewhere:8080"}]`, "catalog", "gateways")
	s.ask(`mutation { leaveGateway(name: "g9") { version changed } }`).want(`{"version":4,"changed":false}`, "leaveGateway")
}
