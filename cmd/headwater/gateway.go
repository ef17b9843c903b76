package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"headwater/gateway"
	"headwater/gateway/api"
	"headwater/gateway/cache"
	"headwater/gateway/catalog"
	"headwater/ingest/derive"
	"headwater/ingest/source"
	"headwater/region/rpc"
	"headwater/web"
)

// A gatewayConfig is all that can be configured of a gateway.
type gatewayConfig struct {
	Listen   string    `yaml:"listen"`
	Data     string    `yaml:"data"`
	Name     string    `yaml:"name"`
	Serves   string    `yaml:"serves"`
	Raft     string    `yaml:"raft"`
	First    peers     `yaml:"first"`
	Token    string    `yaml:"token"`
	Cluster  string    `yaml:"clusterToken"`
	Kafka    string    `yaml:"kafka"`
	Topic    string    `yaml:"kafkaTopic"`
	TLS      tlsConfig `yaml:"tls"`
	Answers  size      `yaml:"answers"`
	Timeout  duration  `yaml:"timeout"`
	Patience duration  `yaml:"patience"`
	LogLevel string    `yaml:"logLevel"`
}

func defaultGateway() gatewayConfig {
	return gatewayConfig{Listen: "127.0.0.1:8080", Data: "headwater-gateway", Name: "g1", Raft: "127.0.0.1:8090",
		Answers: 64 << 20, Timeout: duration(10 * time.Second), Patience: duration(3 * time.Second), LogLevel: "info", Topic: gateway.DefaultTopic}
}

func (c *gatewayConfig) settings() []setting {
	return append(append(kafkaSettings(&c.Kafka, &c.Topic), c.TLS.settings()...), []setting{
		{"listen", "`address` to listen on", (*text)(&c.Listen)},
		{"data", "`folder` for the catalog; it is made where it is not there", (*text)(&c.Data)},
		{"name", "`name` of the gateway among the others, for good", (*text)(&c.Name)},
		{"serves", "`URL` under which the other gateways reach this one (default: http:// and the address it listens on)", (*text)(&c.Serves)},
		{"raft", "`address` on which the gateways agree with each other; the others reach this one there", (*text)(&c.Raft)},
		{"first", "the `gateways` that begin together, each as NAME=RAFT=URL, separated by commas and the same at each; this one alone where it is empty, and none (-) for one that joins later", &c.First},
		{"token", "`token` that changes want as Authorization: Bearer; none is wanted where it is empty", (*text)(&c.Token)},
		{"cluster-token", "`token` that regions and gateways show each other; none is wanted where it is empty", (*text)(&c.Cluster)},
		{"answers", "memory for answers that are given again as long as they hold, as a `size`; 0 keeps none", &c.Answers},
		{"timeout", "the longest that a query may take, as a `duration`", &c.Timeout},
		{"patience", "the longest that a region may take for one answer, as a `duration`; then it is a gap", &c.Patience},
		{"log-level", "what is logged: debug, info, warn or error (`level`)", (*text)(&c.LogLevel)},
	}...)
}

func (c *gatewayConfig) check() error {
	switch {
	case c.Listen == "":
		return errors.New("listen: it is empty; it is an address like 127.0.0.1:8080")
	case c.Data == "":
		return errors.New("data: it is empty; it is a folder")
	case c.Name == "":
		return errors.New("name: it is empty; gateways tell each other apart by it")
	case c.Raft == "":
		return errors.New("raft: it is empty; it is an address like 127.0.0.1:8090")
	case c.Timeout <= 0:
		return fmt.Errorf("timeout: it is %s; a query needs some time", c.Timeout.String())
	case c.Patience <= 0:
		return fmt.Errorf("patience: it is %s; a region needs some time", c.Patience.String())
	}
	return c.TLS.check()
}

// peers are gateways as NAME=RAFT=URL,…
type peers struct {
	list []catalog.Peer
	none bool
}

func (p *peers) Set(s string) error {
	*p = peers{none: s == "-"}
	if p.none || s == "" {
		return nil
	}
	for part := range strings.SplitSeq(s, ",") {
		fields := strings.SplitN(strings.TrimSpace(part), "=", 3)
		if len(fields) != 3 {
			return fmt.Errorf("%q is not NAME=RAFT=URL", part)
		}
		p.list = append(p.list, catalog.Peer{Name: fields[0], Address: fields[1], Serves: fields[2]})
	}
	return nil
}

func (p *peers) String() string {
	if p.none {
		return "-"
	}
	parts := make([]string, len(p.list))
	for i, peer := range p.list {
		parts[i] = peer.Name + "=" + peer.Address + "=" + peer.Serves
	}
	return strings.Join(parts, ",")
}

// UnmarshalText reads them from a file of settings.
func (p *peers) UnmarshalText(b []byte) error { return p.Set(string(b)) }

func gatewayCommand(logTo io.Writer) func(*flag.FlagSet) func(context.Context, []string) error {
	return func(f *flag.FlagSet) func(context.Context, []string) error {
		c := defaultGateway()
		return configured(f, &c, &c.LogLevel, logTo, func(ctx context.Context, logger *slog.Logger) error {
			s := &gatewayServer{c: c, log: logger}
			if err := s.open(); err != nil {
				return err
			}
			return s.run(ctx, func(url string) {
				logger.Info("serving", "gateway", c.Name, "graphql", url+"/graphql", "editor", url+"/graphiql/", "raft", c.Raft, "data", c.Data)
			})
		})
	}
}

// A gatewayServer is one gateway in one process.
type gatewayServer struct {
	c       gatewayConfig
	log     *slog.Logger
	gateway *gateway.Gateway
	answers *cache.Cache
	http    *http.Server
	ln      net.Listener
	secure  *tls.Config // nil: without TLS
	metrics *metrics
	// more, if set, serves other paths.
	more http.Handler
}

// open opens all that a gateway stands on, and listens. run closes it.
func (s *gatewayServer) open() (err error) {
	c := &s.c
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	var client *tls.Config
	if s.secure, client, err = c.TLS.both(); err != nil {
		return err
	}
	if s.ln, err = net.Listen("tcp", c.Listen); err != nil {
		return err
	}
	self := catalog.Peer{Name: c.Name, Address: c.Raft, Serves: c.Serves}
	if self.Serves == "" {
		self.Serves = scheme(s.secure) + s.ln.Addr().String()
	}
	first := c.First.list
	if len(first) == 0 && !c.First.none {
		first = []catalog.Peer{self}
	}
	s.gateway, err = gateway.Open(gateway.Options{Catalog: catalog.Options{Self: self, First: first, TLS: each(s.secure, client)}, Dir: c.Data, Token: c.Cluster, TLS: client,
		Brokers: brokers(c.Kafka), Topic: c.Topic, Patience: time.Duration(c.Patience), Log: s.log})
	if err != nil {
		return err
	}
	if s.answers, err = cache.New(int64(c.Answers)); err != nil {
		return err
	}
	handler, err := s.routes()
	if err != nil {
		return err
	}
	s.http = rpc.NewServer(handler, s.secure)
	s.http.ErrorLog = slog.NewLogLogger(s.log.Handler(), slog.LevelDebug)
	return nil
}

func (s *gatewayServer) close() error {
	var errs []error
	if s.ln != nil {
		if err := s.ln.Close(); !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	if s.gateway != nil {
		errs = append(errs, s.gateway.Close())
	}
	s.answers.Close()
	return errors.Join(errs...)
}

// brokers lists the brokers of a setting.
func brokers(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}

func (s *gatewayServer) routes() (http.Handler, error) {
	s.metrics = newGatewayMetrics(s.gateway, s.answers)
	graphql, err := api.New(api.Options{Reader: s.gateway.Reader(), SQL: &derive.Deriver{}, Cache: s.answers, Regions: s.gateway.Status,
		Catalog: s.gateway.Catalog, Namespaces: s.gateway.Namespaces, Who: whoChanges, Timeout: time.Duration(s.c.Timeout), Log: s.log, Observe: s.metrics.observe})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/graphql", func(w http.ResponseWriter, r *http.Request) {
		graphql.ServeHTTP(w, r.WithContext(withWho(r, source.HasToken(r, s.c.Token))))
	})
	mux.Handle("/graphiql", web.GraphiQL())
	mux.Handle("/graphiql/", web.GraphiQL())
	mux.Handle("POST "+gateway.CatalogPath, forCluster(s.c.Cluster, s.secure, http.HandlerFunc(s.gateway.ServeCatalog)))
	mux.Handle(gateway.FeedPath, source.WithToken(s.gateway.Feed(whoAsks), s.c.Token))
	mux.Handle("/metrics", s.metrics.handler())
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprintln(w, "ok") })
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		if why := s.gateway.Starting(); why != "" {
			http.Error(w, why, http.StatusServiceUnavailable)
			return
		}
		_, age := s.gateway.Catalog.Now()
		_, _ = fmt.Fprintf(w, "ok %s, leader %q\n", s.c.Name, age.Leader)
	})
	mux.Handle("/{$}", http.RedirectHandler("/graphiql/", http.StatusFound))
	if s.more != nil {
		mux.Handle("/", s.more)
	}
	return mux, nil
}

// run serves until ctx ends: then it finishes requests, and leaves the others
// to agree without it.
func (s *gatewayServer) run(ctx context.Context, up func(url string)) error {
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.gateway.Run(gctx) })
	g.Go(func() error { return listenOn(s.http, s.ln) })
	g.Go(func() error {
		<-gctx.Done()
		s.log.Info("stopping: finishing requests")
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 15*time.Second)
		defer cancel()
		return s.http.Shutdown(stop)
	})
	up(scheme(s.secure) + s.ln.Addr().String())
	err := g.Wait()
	if cerr := s.close(); err == nil || errors.Is(err, context.Canceled) {
		err = cerr
	}
	return err
}
