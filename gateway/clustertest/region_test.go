package clustertest

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"headwater/graph"
	"headwater/graph/pebble"
	"headwater/ingest"
	"headwater/region"
	"headwater/region/bus/embedded"
	"headwater/region/log"
	"headwater/region/rpc"
)

var quiet = slog.New(slog.DiscardHandler)

// A site is a region: its disk, and its node while it runs. Stories use it
// from one goroutine.
type site struct {
	t    *testing.T
	net  *network
	name string
	// kept bounds the entries of the change stream; 0 is the default.
	kept int
	disk *vfs.MemFS
	node *region.Node // nil: it does not run
	end  func()
}

func newSite(t *testing.T, n *network, name string, kept int) *site {
	s := &site{t: t, net: n, name: name, kept: kept, disk: vfs.NewCrashableMem()}
	s.start()
	return s
}

// start starts the region on its disk.
func (s *site) start() {
	s.t.Helper()
	store, err := pebble.Open(filepath.Join("data", "graph"), pebble.Options{Region: s.name, CacheBytes: 1 << 20, MemTableBytes: 1 << 20, FactsBytes: 1 << 18, FS: s.disk, Log: quiet})
	if err != nil {
		s.t.Fatal(err)
	}
	queue, err := log.Open(filepath.Join("data", "log"), log.Options{FS: s.disk, Log: quiet})
	if err != nil {
		s.t.Fatal(err)
	}
	node, err := region.New(store, queue, region.Options{Region: s.name, Dir: "data", MinFree: -1, StreamEntries: s.kept, Log: quiet})
	if err != nil {
		s.t.Fatal(err)
	}
	asked, err := rpc.NewHandler(rpc.HandlerOptions{Region: s.name, Reader: node, Log: quiet, Status: func(context.Context) (rpc.Status, error) {
		st := node.Status()
		return rpc.Status{Region: s.name, Marks: map[string]graph.Mark{s.name: st.Mark}, Healthy: st.Trouble == nil}, nil
	}})
	if err != nil {
		s.t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle(rpc.Prefix, asked)
	stream := embedded.Handler(embedded.New(embedded.Options{Store: store, Head: node.Head}), quiet)
	mux.Handle(embedded.FollowPath, stream)
	mux.Handle(embedded.SnapshotPath, stream)
	served := serve(s.net, s.name, mux)
	ctx, cancel := context.WithCancel(context.Background())
	applied := make(chan error, 1)
	go func() { applied <- node.Run(ctx) }()
	s.node = node
	s.end = func() {
		s.node = nil
		s.net.down(s.name)
		served.close()
		cancel()
		if err := errors.Join(asked.Close(), <-applied, queue.Close(), store.Close()); err != nil {
			s.t.Errorf("close region %s: %v", s.name, err)
		}
	}
}

// image is the disk as a power loss would leave it now.
func (s *site) image() *vfs.MemFS { return s.disk.CrashClone(vfs.CrashCloneCfg{}) }

// kill ends the region, with what was not synced.
func (s *site) kill() {
	left := s.image()
	s.end()
	s.disk = left
}

// tell gives the region deltas, each an event, and waits until they are
// applied.
func (s *site) tell(deltas ...graph.Delta) ingest.Receipt {
	s.t.Helper()
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
		s.t.Fatal(err)
	}
	return receipt
}

// A server serves HTTP at a place.
type server struct {
	http *http.Server
	done chan error
	// asked counts requests under way.
	asked sync.WaitGroup
}

func serve(n *network, place string, h http.Handler) *server {
	s := &server{done: make(chan error, 1)}
	s.http = rpc.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked.Add(1)
		defer s.asked.Done()
		h.ServeHTTP(w, r)
	}), nil)
	s.http.ErrorLog = slog.NewLogLogger(quiet.Handler(), slog.LevelDebug)
	l := n.listen(place)
	go func() { s.done <- s.http.Serve(l) }()
	return s
}

// close ends all requests and waits for them.
func (s *server) close() {
	_ = s.http.Close() // of listeners, which do not fail
	<-s.done
	s.asked.Wait()
}
