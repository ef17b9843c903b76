package catalog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/raft"
)

// A cluster is gateways in one process, on raft's in-memory transport and on
// disk. Its network can be cut and can lose answers.
type cluster struct {
	t   *testing.T
	dir string

	mu    sync.Mutex
	peers []Peer
	nodes map[string]*Replica // those that run
	wires map[string]*raft.InmemTransport
	side  map[string]int // gateways on different sides don't hear each other
	lossy int            // each lossy-th answer is lost
	sent  int
}

func newCluster(t *testing.T, n int) *cluster {
	c := &cluster{t: t, dir: t.TempDir(), nodes: map[string]*Replica{}, wires: map[string]*raft.InmemTransport{}, side: map[string]int{}}
	for i := range n {
		name := fmt.Sprint("g", i+1)
		c.peers = append(c.peers, Peer{name, name + ":7500", "https://" + name})
	}
	for _, p := range c.peers {
		c.open(p, c.peers)
	}
	return c
}

// open starts a gateway, or starts it again.
func (c *cluster) open(p Peer, first []Peer) *Replica {
	c.t.Helper()
	_, wire := raft.NewInmemTransportWithTimeout(raft.ServerAddress(p.Address), 500*time.Millisecond)
	r, err := Open(Options{Self: p, First: first, Dir: filepath.Join(c.dir, p.Name), Transport: wire, Forwarder: forwarder{c, p.Name},
		SnapshotAfter: 20, SnapshotEvery: time.Second, Trailing: 10, Log: slog.New(slog.DiscardHandler), noSync: true})
	if err != nil {
		c.t.Fatal(err)
	}
	c.mu.Lock()
	c.nodes[p.Name], c.wires[p.Name] = r, wire
	c.mu.Unlock()
	c.wire()
	return r
}

// wire connects what runs and is on one side.
func (c *cluster) wire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for a, from := range c.wires {
		for b, to := range c.wires {
			if a == b {
				continue
			}
			if c.nodes[a] != nil && c.nodes[b] != nil && c.side[a] == c.side[b] {
				from.Connect(to.LocalAddr(), to)
			} else {
				from.Disconnect(to.LocalAddr())
			}
		}
	}
}

// kill ends a gateway without a word to the others.
func (c *cluster) kill(name string) {
	c.t.Helper()
	c.mu.Lock()
	r := c.nodes[name]
	delete(c.nodes, name)
	c.mu.Unlock()
	c.wire()
	if err := r.Close(); err != nil {
		c.t.Errorf("close %s: %v", name, err)
	}
}

// split puts some gateways on a side of their own; with none, all hear each
// other again.
func (c *cluster) split(names ...string) {
	c.mu.Lock()
	clear(c.side)
	for _, n := range names {
		c.side[n] = 1
	}
	c.mu.Unlock()
	c.wire()
}

// lose makes each nth answer to a forwarded request get lost; 0 is none.
func (c *cluster) lose(nth int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lossy = nth
}

func (c *cluster) close() {
	for _, name := range c.names() {
		c.kill(name)
	}
}

// names lists the gateways that run.
func (c *cluster) names() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
	for n := range c.nodes {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

func (c *cluster) node(name string) *Replica {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nodes[name]
}

// leader waits for a leader among some gateways that most follow and returns
// how long that took.
func (c *cluster) leader(among ...string) (string, time.Duration) {
	c.t.Helper()
	if len(among) == 0 {
		among = c.names()
	}
	began := time.Now()
	for time.Since(began) < 30*time.Second {
		for _, n := range among {
			if r := c.node(n); r != nil && r.Leads() && r.raft.VerifyLeader().Error() == nil {
				return n, time.Since(began)
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	c.t.Fatalf("no leader among %v", among)
	return "", 0
}

func (c *cluster) followers() []string {
	l, _ := c.leader()
	return slices.DeleteFunc(c.names(), func(n string) bool { return n == l })
}

// same waits until all that run have equal states, byte for byte.
func (c *cluster) same() *State {
	c.t.Helper()
	var last *State
	for range 1000 {
		var images []string
		for _, n := range c.names() {
			last, _ = c.node(n).Now()
			images = append(images, image(c.t, last))
		}
		if len(slices.Compact(images)) == 1 {
			return last
		}
		time.Sleep(20 * time.Millisecond)
	}
	c.t.Fatal("the gateways' catalogs stay different")
	return nil
}

// A forwarder brings requests of one gateway to another's Serve.
type forwarder struct {
	c    *cluster
	from string
}

var errLost = errors.New("the answer was lost")

func (f forwarder) Forward(ctx context.Context, to Peer, b []byte) ([]byte, error) {
	f.c.mu.Lock()
	r, cut := f.c.nodes[to.Name], f.c.side[f.from] != f.c.side[to.Name]
	f.c.sent++
	lost := f.c.lossy > 0 && f.c.sent%f.c.lossy == 0
	f.c.mu.Unlock()
	switch {
	case to.Serves != "https://"+to.Name:
		return nil, fmt.Errorf("gateway %s serves at %q", to.Name, to.Serves)
	case r == nil:
		return nil, fmt.Errorf("connection refused: %w", ErrNotSent)
	case cut:
		<-ctx.Done()
		return nil, ctx.Err()
	}
	out := r.Serve(ctx, b)
	if lost {
		return nil, errLost
	}
	return out, nil
}

// A load makes changes at every gateway, reads them there, and remembers what
// was acknowledged.
type load struct {
	c    *cluster
	stop chan struct{}
	wg   sync.WaitGroup

	mu      sync.Mutex
	made    map[string]uint64 // the version by the notice of each
	never   []string          // refused for want of a quorum
	refused map[error]int
	reads   int
}

func (c *cluster) load() *load {
	l := &load{c: c, stop: make(chan struct{}), made: map[string]uint64{}, refused: map[error]int{}}
	for _, p := range c.peers {
		l.wg.Go(func() { l.write(p.Name) })
		l.wg.Go(func() { l.read(p.Name) })
	}
	return l
}

func (l *load) going() bool {
	select {
	case <-l.stop:
		return false
	case <-time.After(50 * time.Millisecond):
		return true
	}
}

func (l *load) write(at string) {
	for i := 0; l.going(); i++ {
		r := l.c.node(at)
		if r == nil {
			continue
		}
		name := fmt.Sprint(at, "-", i)
		res, err := r.Change(context.Background(), notice(name))
		l.mu.Lock()
		if err == nil {
			if !res.Changed {
				l.c.t.Errorf("%s: %v; want a change", name, res)
			}
			l.made[name] = res.Version
		}
		if errors.Is(err, ErrNoQuorum) {
			l.never = append(l.never, name)
		}
		known := err == nil
		for _, e := range [...]error{ErrUnknown, ErrNoQuorum, ErrClosed} {
			if errors.Is(err, e) {
				known = true
				l.refused[e]++
				break
			}
		}
		if !known {
			l.c.t.Errorf("%s: %v", name, err)
		}
		l.mu.Unlock()
	}
}

func (l *load) read(at string) {
	var before uint64
	var of *Replica
	for l.going() {
		r := l.c.node(at)
		if r == nil {
			continue
		}
		began := time.Now()
		s, _ := r.Now()
		if took := time.Since(began); took > 50*time.Millisecond {
			l.c.t.Errorf("%s: a read took %v", at, took)
		}
		if r == of && s.Version() < before {
			l.c.t.Errorf("%s: version %d after %d", at, s.Version(), before)
		}
		of, before = r, s.Version()
		l.mu.Lock()
		l.reads++
		l.mu.Unlock()
	}
}

// end stops the load and sees that every change which was acknowledged is
// there once, at the version that was told.
func (l *load) end() {
	l.c.t.Helper()
	close(l.stop)
	l.wg.Wait()
	l.c.leader()
	// A change makes sure that all before it are settled.
	if _, err := l.c.node(l.c.names()[0]).Change(context.Background(), notice("last")); err != nil {
		l.c.t.Fatal(err)
	}
	s := l.c.same()
	times := map[string][]uint64{}
	for e := range s.Audit() {
		if e.What == "notice.set" {
			times[e.Of] = append(times[e.Of], e.Version)
		}
	}
	for name, version := range l.made {
		_, there := s.notices.get(name)
		if !there || version+auditKept > s.version && !slices.Equal(times[name], []uint64{version}) {
			l.c.t.Errorf("%s was acknowledged as version %d; the catalog has it: %v, at %v", name, version, there, times[name])
		}
	}
	for _, name := range l.never {
		if _, ok := s.notices.get(name); ok {
			l.c.t.Errorf("%s was refused and is in the catalog", name)
		}
	}
	for name, at := range times {
		if len(at) != 1 {
			l.c.t.Errorf("%s was made at %v", name, at)
		}
	}
	if uint64(len(s.receipts)) != s.seq || len(s.order) != len(s.receipts) {
		l.c.t.Errorf("%d commands taken, %d receipts: some command was taken twice", s.seq, len(s.receipts))
	}
	if len(l.made) == 0 || l.reads == 0 {
		l.c.t.Errorf("%d changes, %d reads: nothing was tried", len(l.made), l.reads)
	}
	l.c.t.Logf("%d changes acknowledged, %d reads; %v", len(l.made), l.reads, l.refused)
}

func notice(name string) Command {
	return Command{Who: "ann", Do: SetNotice{Notice{Name: name, Match: Pattern{Name: name}, Text: "test", Owner: "ann"}}}
}
