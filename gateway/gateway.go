// Package gateway is one gateway: it answers over all regions as if the graph
// were one.
//
//	Gateway   its parts, opened, run and closed together     gateway.go
//	link      what connects it to one region                 link.go
//	follower  one region's stream, into the border index     follow.go
//	reader    the federation, once there is something to ask  reader.go
//	forwarder the catalog's requests to the gateway that leads  forward.go
//	feed      a region's data catalog says who is a member      feed.go
//
// Below it are catalog (what gateways agree on), border (which names are one),
// federation (many regions as one Reader), cache and api.
package gateway

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"headwater/gateway/border"
	"headwater/gateway/catalog"
	"headwater/gateway/federation"
	"headwater/graph"
)

// Options are how a gateway runs. Catalog.Self is needed.
type Options struct {
	// Catalog is how its replica runs. Dir and Forwarder are set here.
	Catalog catalog.Options
	// Dir keeps the catalog and the border index; empty is in memory.
	Dir string
	// Token, if not empty, is what gateways and regions show each other.
	Token string
	// TLS is for connections to regions and other gateways; nil is without TLS.
	TLS *tls.Config
	// Brokers, if any, are those of Kafka that carry the streams of changes, in
	// topics that begin with Topic. Without them the regions serve them.
	Brokers []string
	Topic   string
	// Connect connects to a region. Default: over the network.
	Connect func(r catalog.Region) (Link, error)
	// HTTP reaches other gateways. Default: a client of its own.
	HTTP *http.Client
	// Patience bounds how long a region may take for one answer. Default: 3 s.
	Patience time.Duration
	// Log is slog's default where it is nil.
	Log *slog.Logger
}

// A Gateway is safe for use by many at once.
type Gateway struct {
	o       Options
	Catalog *catalog.Replica
	reader  *federation.Federation

	mu        sync.Mutex // guards all below
	followers map[string]*follower
	index     *border.Index
	regions   []federation.Region
	adopted   bool // a version of the catalog has been
	closed    bool
}

// Open opens a gateway; Run follows the regions, and Close closes it.
func Open(o Options) (*Gateway, error) {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.HTTP == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.TLSClientConfig = o.TLS
		o.HTTP = &http.Client{Transport: t}
	}
	if o.Connect == nil {
		o.Connect = o.dial
	}
	o.Catalog.Forwarder = &forwarder{o.HTTP, o.Token}
	o.Catalog.Log = o.Log
	if o.Dir != "" {
		o.Catalog.Dir = filepath.Join(o.Dir, "catalog")
	}
	g := &Gateway{o: o, followers: map[string]*follower{}}
	var err error
	if g.Catalog, err = catalog.Open(o.Catalog); err != nil {
		return nil, err
	}
	state, _ := g.Catalog.Now()
	g.index = border.New(state)
	g.reader, err = federation.New(federation.Options{Regions: g.linked, Names: g.Names, Patience: o.Patience})
	if err != nil {
		return nil, errors.Join(err, g.Catalog.Close())
	}
	return g, nil
}

// Reader answers over all regions of the catalog. Until anything is known of
// the catalog its views are graph.ErrUnavailable; a region whose names have
// never been heard is a gap of every walk.
func (g *Gateway) Reader() graph.Reader { return reader{g} }

// Names returns the border index.
func (g *Gateway) Names() *border.Index {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.index
}

func (g *Gateway) linked() []federation.Region {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.regions
}

func (g *Gateway) follower(name string) *follower {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.followers[name]
}

// Run follows the catalog, and the streams of the regions that it names, until
// ctx ends.
func (g *Gateway) Run(ctx context.Context) error {
	var following sync.WaitGroup
	defer following.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	state, _ := g.Catalog.Now()
	g.adopt(ctx, state, &following)
	for range g.Catalog.Watch(ctx, state.Version()) {
		state, _ = g.Catalog.Now()
		g.adopt(ctx, state, &following)
	}
	return nil
}

// adopt brings links, followers and the border index to a version of the
// catalog.
func (g *Gateway) adopt(ctx context.Context, state *catalog.State, following *sync.WaitGroup) {
	g.mu.Lock()
	defer g.mu.Unlock()
	wanted := map[string]catalog.Region{}
	for r := range state.Regions() {
		wanted[r.Name] = r
	}
	for name, f := range g.followers {
		if r, ok := wanted[name]; !ok || !slices.Equal(r.Addresses, f.region.Addresses) {
			f.stop()
			delete(g.followers, name)
		}
	}
	var begun []*follower
	for name, r := range wanted {
		if g.followers[name] != nil {
			continue
		}
		link, err := g.o.Connect(r)
		if err != nil {
			g.o.Log.Error("connect to a region", "region", name, "err", err)
			continue
		}
		f := newFollower(g, r, link)
		g.followers[name], begun = f, append(begun, f)
	}
	g.regions = g.regions[:0:0]
	for name, f := range g.followers {
		g.regions = append(g.regions, federation.Region{Name: name, Reader: f.link.Reader, Heard: f.isWhole, Mark: f.mark, Changes: &f.changes})
	}
	slices.SortFunc(g.regions, func(a, b federation.Region) int { return strings.Compare(a.Name, b.Name) })
	g.rebuild(state) // before they are followed: they know then what is wanted
	g.adopted = true
	for _, f := range begun {
		own, stop := context.WithCancel(ctx)
		f.stop = stop
		following.Go(func() {
			f.run(own)
			if err := f.link.Close(); err != nil {
				g.o.Log.Warn("close a link", "region", f.region.Name, "err", err)
			}
		})
	}
}

// rebuild makes the border index of a version of the catalog from the names
// that are known.
func (g *Gateway) rebuild(state *catalog.State) {
	index := border.New(state)
	filter := FilterOf(state)
	for _, f := range g.followers {
		f.refilter(filter, index)
	}
	g.index = index
}

// Close closes the catalog. Run has to have ended.
func (g *Gateway) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil
	}
	g.closed = true
	g.o.HTTP.CloseIdleConnections()
	if err := g.Catalog.Close(); err != nil {
		return fmt.Errorf("close the gateway: %w", err)
	}
	return nil
}
