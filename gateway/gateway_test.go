package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.uber.org/goleak"

	"headwater/gateway/catalog"
	"headwater/graph"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var quiet = slog.New(slog.DiscardHandler)

// startGateway starts one gateway over sites.
func startGateway(t testing.TB, sites ...*site) *Gateway {
	t.Helper()
	g, stop := startGatewayIn(t, "", sites...)
	t.Cleanup(stop)
	for _, s := range sites {
		decide(t, g, catalog.SetRegion{Region: catalog.Region{Name: s.name, Addresses: []string{s.name + ":1"}}})
		eventually(t, "it is followed", func() bool { return g.follower(s.name) != nil })
	}
	return g
}

// startGatewayIn starts a gateway in a folder, to be stopped.
func startGatewayIn(t testing.TB, dir string, sites ...*site) (*Gateway, func()) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	raft := ln.Addr().String()
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	links := map[string]*site{}
	for _, s := range sites {
		links[s.name] = s
	}
	self := catalog.Peer{Name: "g1", Address: raft, Serves: "http://127.0.0.1:1"}
	g, err := Open(Options{Catalog: catalog.Options{Self: self, First: []catalog.Peer{self}, Heartbeat: 50 * time.Millisecond}, HTTP: &http.Client{}, Log: quiet, Dir: dir,
		Connect: func(r catalog.Region) (Link, error) { return links[r.Name].link(), nil }})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- g.Run(ctx) }()
	return g, sync.OnceFunc(func() {
		cancel()
		if err := errors.Join(<-done, g.Close()); err != nil {
			t.Error(err)
		}
	})
}

// decide changes the catalog.
func decide(t testing.TB, g *Gateway, c catalog.Change) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if _, err := g.Catalog.Change(ctx, catalog.Command{Who: "test", Do: c}); err != nil {
		t.Fatal(err)
	}
}

// eventually waits until something is so.
func eventually(t testing.TB, what string, so func() bool) {
	t.Helper()
	for until := time.Now().Add(20 * time.Second); !so(); {
		if time.Now().After(until) {
			t.Fatalf("never: %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

// lineage walks downstream from a table.
func lineage(t testing.TB, g *Gateway, root graph.Name) *graph.Answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	v, err := g.Reader().View(ctx, graph.At{})
	if errors.Is(err, graph.ErrUnavailable) {
		return &graph.Answer{} // it has just been started
	}
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	a, err := graph.GetLineage(ctx, v, graph.Question{Root: root.ID(), Depth: 9})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// A namespace rule joins what two regions say of one table, at once; what is
// told later joins too; a withdrawn rule parts them again.
func TestRulesJoinAndPartRegions(t *testing.T) {
	eu, us := startSite(t, "eu", vfs.NewMem()), startSite(t, "us", vfs.NewMem())
	eu.tell(t, job("eu", "load", 1, "hive/orders", "lake/orders"))
	us.tell(t, job("us", "report", 1, "lake/orders", "bi/report"))
	g := startGateway(t, eu, us)
	nodes := func() int { return len(lineage(t, g, table("eu", "hive/orders")).Nodes) }
	eventually(t, "both are followed", func() bool { return g.WaitFollowed(t.Context()) == nil })
	if n := nodes(); n != 2 {
		t.Errorf("%d nodes before there is a rule, want 2", n)
	}
	decide(t, g, catalog.SetNamespaceRule{NamespaceRule: catalog.NamespaceRule{Namespace: "lake", Region: "eu"}})
	eventually(t, "the report is reached", func() bool { return nodes() == 3 })
	us.tell(t, job("us", "mail", 2, "lake/orders", "bi/mail"))
	if n := nodes(); n != 4 {
		t.Errorf("%d nodes with what was told just now, want 4", n)
	}
	us.tell(t, job("us", "late", 3, "lake/late", "bi/late"))
	eu.tell(t, job("eu", "late", 3, "hive/orders", "lake/late"))
	eventually(t, "a name that came later crosses", func() bool { return nodes() == 6 })
	decide(t, g, catalog.RemoveNamespaceRule{Namespace: "lake"})
	eventually(t, "they are apart", func() bool { return nodes() == 3 })
}

// A region that was restored from a backup and goes on otherwise, with the same
// epoch, is followed anew; what was kept of it does not hold.
func TestARestoredRegionIsFollowedAnew(t *testing.T) {
	disk, backup := vfs.NewMem(), vfs.NewMem()
	eu := startSite(t, "eu", disk)
	eu.tell(t, job("eu", "a", 1, "hive/a", "hive/b"))
	eu.now().stop()
	if ok, err := vfs.Clone(disk, backup, "data", "data"); err != nil || !ok {
		t.Fatal(ok, err)
	}
	eu.start(t, disk)
	g := startGateway(t, eu)
	decide(t, g, catalog.SetNamespaceRule{NamespaceRule: catalog.NamespaceRule{Namespace: "lake", Region: "eu"}})
	eu.tell(t, job("eu", "c", 2, "hive/b", "hive/c"))
	f := g.follower("eu")
	eventually(t, "it is followed to its end", func() bool {
		head, _ := eu.now().node.Head()
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.whole && f.cursor == head.Cursor
	})
	before := f.changes.Generation()
	if n := len(lineage(t, g, table("eu", "hive/a")).Nodes); n != 3 {
		t.Errorf("%d nodes, want 3", n)
	}
	eu.now().stop()
	eu.start(t, backup)
	eu.tell(t, job("eu", "d", 3, "hive/a", "hive/d"))
	eventually(t, "a new generation is followed", func() bool { return f.changes.Generation() > before && f.isWhole() })
	nodes := lineage(t, g, table("eu", "hive/a")).Nodes
	if len(nodes) != 3 || !slices.ContainsFunc(nodes, func(n graph.AnswerNode) bool { return n.ID == table("eu", "hive/d").ID() }) {
		t.Errorf("nodes %v: want those of the backup and what came then", nodes)
	}
}

// A namespace that two regions report is listed until a rule speaks of it.
func TestNamespacesOfSeveralRegionsAreSuspects(t *testing.T) {
	eu, us := startSite(t, "eu", vfs.NewMem()), startSite(t, "us", vfs.NewMem())
	eu.tell(t, job("eu", "a", 1, "lake/a lake/b", "hive/c"))
	us.tell(t, job("us", "b", 1, "lake/d", "bi/e"))
	g := startGateway(t, eu, us)
	suspects := func() string {
		state, _ := g.Catalog.Now()
		return fmt.Sprint(state.Suspects(g.Namespaces()))
	}
	eventually(t, "lake is a suspect", func() bool { return suspects() == "[{lake [eu us]}]" })
	us.tell(t, job("us", "c", 2, "hive/x", "bi/y"))
	eventually(t, "hive is one, too", func() bool { return suspects() == "[{hive [eu us]} {lake [eu us]}]" })
	decide(t, g, catalog.SetNamespaceRule{NamespaceRule: catalog.NamespaceRule{Namespace: "lake", Apart: true}})
	eventually(t, "lake is none any more", func() bool { return suspects() == "[{hive [eu us]}]" })
}

// A gateway that starts again goes on from where it was, and asks no region to
// look through its names.
func TestAGatewayGoesOnFromItsCheckpoint(t *testing.T) {
	dir := t.TempDir()
	eu, us := startSite(t, "eu", vfs.NewMem()), startSite(t, "us", vfs.NewMem())
	eu.tell(t, job("eu", "load", 1, "hive/orders", "lake/orders"))
	us.tell(t, job("us", "report", 1, "lake/orders", "bi/report"))
	g, stop := startGatewayIn(t, dir, eu, us)
	for _, s := range []*site{eu, us} {
		decide(t, g, catalog.SetRegion{Region: catalog.Region{Name: s.name, Addresses: []string{s.name + ":1"}}})
	}
	decide(t, g, catalog.SetNamespaceRule{NamespaceRule: catalog.NamespaceRule{Namespace: "lake", Region: "eu"}})
	nodes := func() int { return len(lineage(t, g, table("eu", "hive/orders")).Nodes) }
	eventually(t, "the report is reached", func() bool { return nodes() == 3 })
	eventually(t, "all names are known by the new rule", func() bool { return g.WaitFollowed(t.Context()) == nil })
	snapshots := us.snapshots.Load() + eu.snapshots.Load()
	stop()
	us.tell(t, job("us", "mail", 2, "lake/late", "bi/mail"))
	eu.tell(t, job("eu", "late", 2, "hive/orders", "lake/late"))
	g, stop = startGatewayIn(t, dir, eu, us)
	defer stop()
	eventually(t, "what came meanwhile is reached", func() bool { return nodes() == 5 })
	if n := us.snapshots.Load() + eu.snapshots.Load(); n != snapshots {
		t.Errorf("%d snapshots were taken after the restart", n-snapshots)
	}
}
