// Package clustertest runs gateways and regions in one process, on a network
// that can be cut, slow and unruly, inside synctest bubbles: hours pass in
// seconds, and each story ends as it is written.
//
//	network, conn  places, and what is between them        network_test.go, conn_test.go
//	wire           raft over the network                   wire_test.go
//	site           a region, with a disk that can be lost  region_test.go
//	unruly         a change stream that misbehaves         unruly_test.go
//	cluster        gateways over regions                   cluster_test.go
//	load           questions and changes all the time      load_test.go
//	stories        the text of testdata/stories            story_test.go, steps_test.go
//
// Gateways reach regions by region/rpc and region/bus/embedded over HTTP/2, as
// they do between machines.
package clustertest

import (
	"context"
	"errors"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"headwater/gateway"
	"headwater/gateway/catalog"
	"headwater/region/bus/embedded"
	"headwater/region/rpc"
)

func TestMain(m *testing.M) {
	// With the race detector two threads that run timers of one bubble at the
	// same moment crash (golang.org/issue/78156); one thread does not.
	runtime.GOMAXPROCS(1)
	goleak.VerifyTestMain(m)
}

// A cluster is three gateways over regions.
type cluster struct {
	t   *testing.T
	dir string
	// snapshots is how many changes of the catalog a snapshot follows; 0 is the
	// default.
	snapshots uint64

	net     *network
	peers   []catalog.Peer
	sites   map[string]*site
	manners map[string]*manners // of the regions' streams
	// names are the gateways as stories call them: A leads at first.
	names map[string]string

	mu       sync.Mutex // guards all below
	gateways map[string]*gate
	wires    map[string]*wire
}

// A gate is a gateway that runs.
type gate struct {
	*gateway.Gateway
	end func()
}

// patient is how long a gateway waits for a region.
const patient = time.Second

func newCluster(t *testing.T, regions []string, kept int, snapshots uint64) *cluster {
	c := &cluster{t: t, dir: t.TempDir(), snapshots: snapshots, net: newNetwork(), sites: map[string]*site{}, manners: map[string]*manners{}, names: map[string]string{},
		gateways: map[string]*gate{}, wires: map[string]*wire{}}
	for _, r := range regions {
		c.sites[r], c.manners[r] = newSite(t, c.net, r, kept), &manners{sent: map[string]int{}, snapshots: map[string]int{}}
	}
	for _, name := range []string{"g1", "g2", "g3"} {
		c.peers = append(c.peers, catalog.Peer{Name: name, Address: name + ":7500", Serves: "http://" + name + ":8080"})
	}
	for _, p := range c.peers {
		c.open(p.Name)
	}
	first, _ := c.leader()
	called := []string{"B", "C"}
	for _, p := range c.peers {
		if p.Name == first {
			c.names["A"] = p.Name
		} else {
			c.names[called[0]], called = p.Name, called[1:]
		}
	}
	return c
}

// open starts a gateway, or starts it again.
func (c *cluster) open(name string) {
	c.t.Helper()
	i := slices.IndexFunc(c.peers, func(p catalog.Peer) bool { return p.Name == name })
	w := newWire(c.net, c.peers[i].Address)
	c.mu.Lock()
	c.wires[name] = w
	for of, other := range c.wires {
		if of != name {
			w.Connect(other.LocalAddr(), other.InmemTransport)
			other.Connect(w.LocalAddr(), w.InmemTransport)
		}
	}
	c.mu.Unlock()
	forward := &http.Transport{DialContext: c.dialer(name)}
	g, err := gateway.Open(gateway.Options{
		Catalog: catalog.Options{Self: c.peers[i], First: c.peers, Transport: w, SnapshotAfter: c.snapshots, SnapshotEvery: time.Second, Trailing: 10},
		Dir:     filepath.Join(c.dir, name), HTTP: &http.Client{Transport: forward}, Patience: patient, Connect: c.connect(name), Log: quiet,
	})
	if err != nil {
		c.t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+gateway.CatalogPath, g.ServeCatalog)
	served := serve(c.net, name, mux)
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- g.Run(ctx) }()
	gate := &gate{Gateway: g, end: func() {
		c.net.down(name)
		cancel()
		err := <-ran
		served.close()
		if err := errors.Join(err, g.Close()); err != nil {
			c.t.Errorf("close gateway %s: %v", name, err)
		}
		forward.CloseIdleConnections()
	}}
	c.mu.Lock()
	c.gateways[name] = gate
	c.mu.Unlock()
}

// dialer connects from a place to host:port.
func (c *cluster) dialer(from string) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, _, address string) (net.Conn, error) {
		to, _, _ := strings.Cut(address, ":")
		return c.net.dial(ctx, from, to)
	}
}

// connect links a gateway to regions.
func (c *cluster) connect(from string) func(catalog.Region) (gateway.Link, error) {
	return func(r catalog.Region) (gateway.Link, error) {
		client, err := rpc.NewClient(rpc.ClientOptions{Region: r.Name, Addresses: r.Addresses, Dial: c.dialer(from), Log: quiet})
		if err != nil {
			return gateway.Link{}, err
		}
		streams := &http.Transport{DialContext: c.dialer(from)}
		stream := &embedded.Client{URL: "http://" + r.Addresses[0], HTTP: &http.Client{Transport: streams}}
		return gateway.Link{Reader: client, Stream: &unruly{Stream: stream, to: from, manners: c.manners[r.Name]}, Status: client.Status, Close: func() error {
			streams.CloseIdleConnections()
			return client.Close()
		}}, nil
	}
}

// gateway returns a gateway by its own name, nil where it does not run.
func (c *cluster) gateway(name string) *gate {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.gateways[name]
}

// kill ends a gateway without a word to the others.
func (c *cluster) kill(name string) {
	c.mu.Lock()
	g := c.gateways[name]
	delete(c.gateways, name)
	c.mu.Unlock()
	g.end()
}

func (c *cluster) close() {
	for _, p := range c.peers {
		if c.gateway(p.Name) != nil {
			c.kill(p.Name)
		}
	}
	for _, s := range c.sites {
		if s.node != nil {
			s.end()
		}
	}
}

// leader waits for a gateway that most follow, and returns how long that took.
func (c *cluster) leader() (string, time.Duration) {
	c.t.Helper()
	began := time.Now()
	for time.Since(began) < 30*time.Second {
		for _, p := range c.peers {
			g := c.gateway(p.Name)
			if g == nil || !g.Catalog.Leads() {
				continue
			}
			follow := 0
			for _, o := range c.peers {
				if hear, _, _ := c.net.between(p.Name, o.Name); !hear || c.gateway(o.Name) == nil {
					continue
				}
				if _, age := c.gateway(o.Name).Catalog.Now(); age.Leader == p.Name {
					follow++
				}
			}
			if 2*follow > len(c.peers) {
				return p.Name, time.Since(began)
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	c.t.Fatal("no leader")
	return "", 0
}
