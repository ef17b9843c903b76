package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"headwater/cmd/headwater/shop"
	"headwater/gateway/catalog"
	"headwater/graph"
	"headwater/graph/nebula"
	"headwater/ingest"
	"headwater/ingest/openlineage"
)

// A demoPlatform is regions and gateways in one process, which talk to each
// other over the loopback as they would over a network. Unless keep says where
// it is kept, the catalog is in memory: it is told anew each time.
type demoPlatform struct {
	dir   string
	store string // URL of a NebulaGraph; empty: all is in dir
	// passing: the spaces there are of this demo only, and dropped at its end.
	passing  bool
	spaces   []nebula.Options
	log      *slog.Logger
	logTo    io.Writer
	gateways []*gatewayServer
	halts    []func() // of gateways
	// keep, if set, is where the gateways keep what they know.
	keep string
	// answers less than 0: gateways keep none.
	answers int

	running sync.WaitGroup
	stop    context.CancelFunc
	failed  chan error

	mu      sync.Mutex // guards regions
	regions map[string]*demoRegion
}

// A demoRegion is one region, which can be stopped and started.
type demoRegion struct {
	c       config
	server  *server
	stop    context.CancelFunc
	stopped chan error
}

// open starts all, tells the regions what happens in the shop and the gateways
// what is decided, and returns how many events there were.
func (p *demoPlatform) open(ctx context.Context, listen string, now time.Time) (events int, err error) {
	ctx, p.stop = context.WithCancel(ctx)
	p.failed = make(chan error, 8)
	if err := p.openRegions(ctx); err != nil {
		return 0, err
	}
	if events, err = p.feed(ctx, now); err != nil {
		return events, err
	}
	if err := p.openGateways(ctx, listen, p.handler(ctx)); err != nil {
		return events, err
	}
	if err := p.decide(ctx); err != nil {
		return events, err
	}
	return events, p.followed(ctx)
}

// openRegions starts the regions, all at once: a space in NebulaGraph takes
// its time to be made.
func (p *demoPlatform) openRegions(ctx context.Context) error {
	store, passing := p.store, ""
	if p.passing {
		passing = fmt.Sprintf("_%08x", rand.Uint32())
	}
	var configs []config
	for _, name := range []string{shop.Apps, shop.Lake, shop.Reports} {
		c := defaultConfig()
		c.asRegion, c.Region, c.Listen, c.Data, c.MinFree, c.Cache = true, name, "127.0.0.1:0", filepath.Join(p.dir, name), 64<<20, 64<<20
		if store != "" {
			base, query, _ := strings.Cut(store, "?")
			c.Store, c.Init = base+"_"+name+passing+"?"+query, true
			o, _, err := c.nebulaOptions()
			if err != nil {
				return err
			}
			if p.passing {
				p.spaces = append(p.spaces, o)
			}
		}
		configs = append(configs, c)
	}
	var starting errgroup.Group
	for _, c := range configs {
		starting.Go(func() error { return p.start(ctx, &demoRegion{c: c}) })
	}
	return starting.Wait()
}

// followed waits until each gateway follows each region.
func (p *demoPlatform) followed(ctx context.Context) error {
	for _, g := range p.gateways {
		if err := g.gateway.WaitFollowed(ctx); err != nil {
			return err
		}
	}
	return nil
}

// start starts a region; it answers when start returns.
func (p *demoPlatform) start(ctx context.Context, r *demoRegion) (err error) {
	if r.server, err = open(ctx, r.c, p.log); err != nil {
		return fmt.Errorf("start region %s: %w", r.c.Region, err)
	}
	r.c.Listen = r.server.ln.Addr().String() // as it was, when it is started again
	ctx, r.stop = context.WithCancel(ctx)
	up := make(chan struct{})
	r.stopped = make(chan error, 1)
	server, stopped := r.server, r.stopped
	p.running.Go(func() {
		err := server.run(ctx, func(string) { close(up) })
		if stopped <- err; err != nil {
			p.fail(fmt.Errorf("region %s: %w", r.c.Region, err))
		}
	})
	select {
	case <-up:
	case err := <-stopped:
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.regions[r.c.Region] = r
	return nil
}

func (p *demoPlatform) fail(err error) {
	select {
	case p.failed <- err:
	default: // one is enough
	}
}

// feed tells each region its events, and waits until they can be read.
func (p *demoPlatform) feed(ctx context.Context, now time.Time) (int, error) {
	bodies, err := shop.RegionalEvents(now)
	if err != nil {
		return 0, err
	}
	events := map[string][][]graph.Delta{}
	for i, e := range bodies {
		d := openlineage.Decode(ingest.Message{Body: e.Body, Region: e.Region, Received: now})
		for _, r := range d.Rejected {
			return 0, fmt.Errorf("sample event %d: %w", i, r)
		}
		events[e.Region] = append(events[e.Region], d.Deltas)
	}
	for name, list := range events {
		node := p.regions[name].server.node
		receipt, err := node.Append(ctx, list)
		if err == nil {
			err = node.WaitApplied(ctx, receipt)
		}
		if err != nil {
			return 0, fmt.Errorf("take the sample events of %s in: %w", name, err)
		}
	}
	return len(bodies), nil
}

// decide tells the catalog what people have decided.
func (p *demoPlatform) decide(ctx context.Context) error {
	var changes []catalog.Change
	for name, r := range p.regions {
		changes = append(changes, catalog.SetRegion{Region: catalog.Region{Name: name, Addresses: []string{r.c.Listen}}})
	}
	homes, err := shop.Homes()
	if err != nil {
		return err
	}
	for _, h := range homes {
		changes = append(changes, catalog.SetNamespaceRule{NamespaceRule: catalog.NamespaceRule{Namespace: h.Namespace, Region: h.Region, Why: "the shop's"}})
	}
	tables, err := shop.GlobalTables()
	if err != nil {
		return err
	}
	for _, t := range tables {
		declare := catalog.DeclareTable{Name: t.Name, Kind: catalog.TableKind(t.Kind)}
		for _, m := range t.Members {
			declare.Members = append(declare.Members, catalog.Name(m))
		}
		changes = append(changes, declare)
	}
	return p.change(ctx, changes)
}

// change changes the catalog.
func (p *demoPlatform) change(ctx context.Context, changes []catalog.Change) error {
	for _, c := range changes {
		if _, err := p.gateways[0].gateway.Catalog.Change(ctx, catalog.Command{Who: "demo", Do: c}); err != nil {
			return fmt.Errorf("tell the catalog: %w", err)
		}
	}
	return nil
}

// handler serves what a gateway does not: intake, which the lake takes, and
// stopping and starting regions.
func (p *demoPlatform) handler(ctx context.Context) http.Handler {
	mux := http.NewServeMux()
	lake := &url.URL{Scheme: "http", Host: p.regions[shop.Lake].c.Listen}
	intake := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(lake) }, ErrorLog: slog.NewLogLogger(p.log.Handler(), slog.LevelDebug)}
	mux.Handle("/api/v1/", intake)
	mux.HandleFunc("POST /demo/regions/{region}/{what}", func(w http.ResponseWriter, r *http.Request) {
		said, err := p.switchRegion(ctx, r.PathValue("region"), r.PathValue("what"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		_, _ = fmt.Fprintln(w, said) // the client has gone
	})
	return mux
}

// switchRegion stops or starts a region.
func (p *demoPlatform) switchRegion(ctx context.Context, name, what string) (string, error) {
	p.mu.Lock()
	r := p.regions[name]
	p.mu.Unlock()
	switch {
	case r == nil:
		return "", fmt.Errorf("%q is no region; there are %s, %s and %s", name, shop.Apps, shop.Lake, shop.Reports)
	case what == "stop" && r.server == nil:
		return "region " + name + " is stopped already", nil
	case what == "stop":
		r.stop()
		if err := <-r.stopped; err != nil {
			return "", err
		}
		r.server = nil
		return "region " + name + " is stopped", nil
	case what == "start" && r.server != nil:
		return "region " + name + " runs already", nil
	case what == "start":
		if err := p.start(ctx, r); err != nil {
			return "", err
		}
		return "region " + name + " runs", nil
	}
	return "", fmt.Errorf("a region can be stopped and started, not %q", what)
}

func (p *demoPlatform) url() string { return "http://" + p.gateways[0].ln.Addr().String() }

// wait waits until ctx ends or something fails.
func (p *demoPlatform) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-p.failed:
		return err
	}
}

// close stops all, gateways and regions, and waits.
func (p *demoPlatform) close() error {
	if p.stop != nil {
		p.stop()
	}
	p.running.Wait()
	var errs []error
	for _, o := range p.spaces {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		if err := nebula.Drop(ctx, o); err != nil {
			errs = append(errs, fmt.Errorf("drop space %s, which nobody needs any more: %w", o.Space, err))
		}
		cancel()
	}
	select {
	case err := <-p.failed:
		errs = append(errs, err)
	default:
	}
	return errors.Join(errs...)
}
