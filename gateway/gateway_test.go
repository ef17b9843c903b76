package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.uber.org/goleak"

	"headwater/gateway/catalog"
	"headwater/graph"
	"headwater/graph/pebble"
	"headwater/ingest"
	"headwater/region"
	"headwater/region/bus"
	"headwater/region/bus/embedded"
	"headwater/region/log"
	"headwater/region/rpc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var quiet = slog.New(slog.DiscardHandler)

// A site is a region's node in this process. It can be stopped, and started on
// other data.
type site struct {
	mu sync.Mutex // guards what start sets, and who follows
	*running

	name string
	// asked counts legs, away is how far away it is.
	asked atomic.Int64
	away  time.Duration
	// snapshots counts those of names.
	snapshots atomic.Int64
}

type running struct {
	store *pebble.Store
	log   *log.Log
	node  *region.Node
	stop  func()

	stopped   bool
	followed  []context.CancelFunc
	following sync.WaitGroup
}

func (s *site) now() *running {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running
}

// startSite starts a region on a file system.
func startSite(t testing.TB, name string, fs vfs.FS) *site {
	t.Helper()
	s := &site{name: name}
	s.start(t, fs)
	t.Cleanup(func() { s.now().stop() })
	return s
}

func (s *site) start(t testing.TB, fs vfs.FS) {
	t.Helper()
	r := &running{}
	var err error
	if r.store, err = pebble.Open(filepath.Join("data", "graph"), pebble.Options{Region: s.name, CacheBytes: 1 << 20, FS: fs, Log: quiet}); err != nil {
		t.Fatal(err)
	}
	if r.log, err = log.Open(filepath.Join("data", "log"), log.Options{FS: fs, Log: quiet}); err != nil {
		t.Fatal(err)
	}
	if r.node, err = region.New(r.store, r.log, region.Options{Region: s.name, Dir: "data", MinFree: -1, Log: quiet}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.node.Run(ctx) }()
	r.stop = sync.OnceFunc(func() {
		s.mu.Lock()
		r.stopped = true
		for _, stop := range r.followed {
			stop()
		}
		s.mu.Unlock()
		r.following.Wait()
		cancel()
		if err := errors.Join(<-done, r.log.Close(), r.store.Close()); err != nil {
			t.Error(err)
		}
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = r
}

// away is a region's reader that takes a while and counts.
type away struct{ s *site }

type awayView struct {
	graph.View
	s *site
}

func (a away) View(ctx context.Context, at graph.At) (graph.View, error) {
	v, err := a.s.now().node.View(ctx, at)
	return awayView{v, a.s}, err
}

func (v awayView) Leg(ctx context.Context, q graph.LegQuestion) (*graph.Leg, error) {
	v.s.asked.Add(1)
	time.Sleep(v.s.away)
	return graph.WalkLeg(ctx, v.View, q)
}

// stream is the stream of a site as it runs now.
type stream struct{ s *site }

// begin returns the stream, unless the site has stopped, and counts a caller in
// whom stop ends.
func (s stream) begin(stop context.CancelFunc) (bus.Stream, *running, error) {
	s.s.mu.Lock()
	defer s.s.mu.Unlock()
	r := s.s.running
	if r.stopped {
		return nil, nil, errors.New("the site has stopped")
	}
	r.followed = append(r.followed, stop)
	r.following.Add(1)
	return embedded.New(embedded.Options{Store: r.store, Head: r.node.Head, Beat: time.Millisecond}), r, nil
}

func (s stream) Follow(ctx context.Context, c bus.Cursor, f bus.Filter, emit func([]bus.Entry) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	of, r, err := s.begin(cancel)
	if err != nil {
		return err
	}
	defer r.following.Done()
	return of.Follow(ctx, c, f, emit)
}

func (s stream) Snapshot(ctx context.Context, f bus.Filter, emit func([]graph.Name) error) (bus.Cursor, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	of, r, err := s.begin(cancel)
	if err != nil {
		return bus.Cursor{}, err
	}
	s.s.snapshots.Add(1)
	defer r.following.Done()
	return of.Snapshot(ctx, f, emit)
}

// link connects to a site in this process.
func (s *site) link() Link {
	return Link{
		Reader: away{s},
		Stream: stream{s},
		Status: func(context.Context) (rpc.Status, error) {
			st := s.now().node.Status()
			return rpc.Status{Region: s.name, Marks: map[string]graph.Mark{s.name: st.Mark}, Healthy: true}, nil
		},
		Close: func() error { return nil },
	}
}

// tell gives a region deltas and waits until they are applied.
func (s *site) tell(t testing.TB, deltas ...graph.Delta) ingest.Receipt {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	var events [][]graph.Delta
	for _, d := range deltas {
		events = append(events, []graph.Delta{d})
	}
	receipt, err := s.node.Append(ctx, events)
	if err == nil {
		err = s.node.WaitApplied(ctx, receipt)
	}
	if err != nil {
		t.Fatal(err)
	}
	return receipt
}

// job is what a job of a region says: what it reads and writes, each as
// namespace/name.
func job(region, name string, minute int, reads, writes string) graph.Delta {
	d := graph.Delta{Subject: graph.Name{Kind: graph.ProcessKind, Region: region, Namespace: "jobs", Name: name}, Origin: "openlineage", Run: fmt.Sprint(name, minute),
		State: graph.Completed, Time: time.Date(2026, 3, 1, 0, minute, 0, 0, time.UTC).UnixNano()}
	for _, n := range strings.Fields(reads) {
		d.Says.Reads = append(d.Says.Reads, graph.Dataset{Name: table(region, n)})
	}
	for _, n := range strings.Fields(writes) {
		d.Says.Writes = append(d.Says.Writes, graph.Dataset{Name: table(region, n)})
	}
	return d
}

func table(region, path string) graph.Name {
	namespace, name, _ := strings.Cut(path, "/")
	return graph.Name{Kind: graph.DataStoreKind, Region: region, Namespace: namespace, Name: name}
}

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
