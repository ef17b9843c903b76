package gateway

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"headwater/gateway/api"
	"headwater/gateway/cache"
	"headwater/gateway/catalog"
	"headwater/graph"
)

// An asker asks a gateway over HTTP.
type asker struct {
	t     testing.TB
	url   string
	sites []*site
	g     *Gateway
}

func newAsker(t testing.TB, g *Gateway, answers *cache.Cache, sites ...*site) *asker {
	t.Helper()
	h, err := api.New(api.Options{Reader: g.Reader(), Cache: answers, Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	return &asker{t, server.URL, sites, g}
}

// ask returns the answer to a question, and how many legs were walked for it.
func (a *asker) ask(question string) (body string, legs int64) {
	a.t.Helper()
	count := func() (n int64) {
		for _, s := range a.sites {
			n += s.asked.Load()
		}
		return n
	}
	before := count()
	res, err := http.Post(a.url, "application/json", strings.NewReader(question))
	if err != nil {
		a.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		a.t.Fatalf("%s %s, %v", res.Status, b, err)
	}
	return string(b), count() - before
}

// heard waits until the gateway has heard of all that the sites have done.
func (a *asker) heard() {
	a.t.Helper()
	eventually(a.t, "the gateway has heard of all", func() bool {
		if state, _ := a.g.Catalog.Now(); a.g.Names().Catalog() != state {
			return false
		}
		for _, s := range a.sites {
			f, st := a.g.follower(s.name), s.now().node.Status()
			if f == nil || !f.isWhole() || f.mark() != st.Mark || st.Last != st.Mark.Position {
				return false
			}
		}
		return true
	})
}

// reruns is how many runs that change nothing are told of, of one task.
const reruns = 100_000

// An answer over regions is given again until something that was read for it
// changes, in whichever region; runs that change nothing, and changes
// elsewhere, leave it.
func TestAnswersOverRegionsAreKeptAsLongAsTheyHold(t *testing.T) {
	eu, us := startSite(t, "eu", vfs.NewMem()), startSite(t, "us", vfs.NewMem())
	eu.tell(t, job("eu", "load", 1, "hive/orders", "lake/orders"), job("eu", "other", 1, "hive/x", "hive/y"))
	us.tell(t, job("us", "report", 1, "lake/orders", "bi/report"))
	g := startGateway(t, eu, us)
	decide(t, g, catalog.SetNamespaceRule{NamespaceRule: catalog.NamespaceRule{Namespace: "lake", Region: "eu"}})
	answers, err := cache.New(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(answers.Close)
	a := newAsker(t, g, answers, eu, us)
	a.heard()
	const question = `{"query": "{ lineage(of: {namespace: \"hive\", name: \"orders\"}, direction: DOWNSTREAM, depth: 5) { nodes { node { name } } complete } }"}`
	ask := func(what string, kept bool, want string) {
		t.Helper()
		a.heard()
		body, legs := a.ask(question)
		answers.Wait()
		if kept != (legs == 0) {
			t.Errorf("%s: %d legs were walked", what, legs)
		}
		if !strings.Contains(body, want) || !strings.Contains(body, `"complete":true`) {
			t.Errorf("%s: %s does not have %s", what, body, want)
		}
	}
	ask("first", false, "report")
	ask("again", true, "report")
	before := eu.now().node.Status().Mark.Revision
	for run := 2; run < 2+reruns; {
		var again []graph.Delta
		for range 1000 {
			again = append(again, job("eu", "load", run, "hive/orders", "lake/orders"))
			run++
		}
		eu.tell(t, again...)
	}
	ask("after runs that change nothing", true, "report")
	if after := eu.now().node.Status().Mark.Revision; after != before {
		t.Errorf("%d runs that change nothing moved the revision from %d to %d", reruns, before, after)
	}
	us.tell(t, job("us", "elsewhere", 3, "bi/a", "bi/b"))
	eu.tell(t, job("eu", "other", 3, "hive/x", "hive/z"))
	ask("after changes elsewhere", true, "report")
	us.tell(t, job("us", "mail", 4, "lake/orders", "bi/mail"))
	ask("after a change of what was read, in the other region", false, "mail")
	ask("again", true, "mail")
	us.tell(t, job("us", "late", 5, "lake/late", "bi/late"))
	ask("after a name that crosses, but was not read", true, "mail")
	eu.tell(t, job("eu", "late", 5, "hive/orders", "lake/late"))
	ask("after a flow to it", false, "late")
	ask("again", true, "late")
	decide(t, g, catalog.SetNamespaceRule{NamespaceRule: catalog.NamespaceRule{Namespace: "bi", Region: "us"}})
	ask("after a change of the catalog", false, "late")
}
