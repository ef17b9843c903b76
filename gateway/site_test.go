package gateway

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"headwater/graph"
	"headwater/graph/pebble"
	"headwater/ingest"
	"headwater/region"
	"headwater/region/bus"
	"headwater/region/bus/embedded"
	"headwater/region/log"
	"headwater/region/rpc"
)

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

func (v awayView) Leg(ctx context.Context, q graph.LegQuestion, to graph.LegTaker) (*graph.Leg, error) {
	v.s.asked.Add(1)
	time.Sleep(v.s.away)
	return graph.WalkLeg(ctx, v.View, q, to)
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
