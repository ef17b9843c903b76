package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"headwater/gateway"
	"headwater/gateway/api"
	"headwater/gateway/cache"
	"headwater/graph"
	"headwater/graph/nebula"
	"headwater/graph/pebble"
	"headwater/ingest"
	"headwater/ingest/derive"
	"headwater/ingest/openlineage"
	"headwater/ingest/source"
	"headwater/region"
	"headwater/region/bus/embedded"
	"headwater/region/bus/kafka"
	"headwater/region/log"
	"headwater/region/rpc"
	"headwater/web"
)

// serveCommand runs one region in one process. As a region it also answers
// gateways.
func serveCommand(logTo io.Writer, asRegion bool) func(*flag.FlagSet) func(context.Context, []string) error {
	return func(f *flag.FlagSet) func(context.Context, []string) error {
		c := defaultConfig()
		c.asRegion = asRegion
		return configured(f, &c, &c.LogLevel, logTo, func(ctx context.Context, logger *slog.Logger) error {
			s, err := open(ctx, c, logger)
			if err != nil {
				return err
			}
			return s.run(ctx, func(url string) {
				logger.Info("serving", "region", c.Region, "graphql", url+"/graphql", "editor", url+"/graphiql/", "openlineage", url+"/api/v1/lineage", "data", c.Data)
			})
		})
	}
}

// configured is a command without arguments that does what its configuration
// says.
func configured(f *flag.FlagSet, c configuration, level *string, logTo io.Writer, do func(context.Context, *slog.Logger) error) func(context.Context, []string) error {
	read := configure(f, c)
	return func(ctx context.Context, args []string) error {
		if len(args) > 0 {
			return errUsage
		}
		if err := read(); err != nil {
			return err
		}
		logger, err := newLogger(logTo, *level)
		if err != nil {
			return err
		}
		return do(ctx, logger)
	}
}

func newLogger(w io.Writer, level string) (*slog.Logger, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, fmt.Errorf("log level %q is not one of debug, info, warn, error", level)
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: l})), nil
}

// A server is one region in one process.
type server struct {
	c     config
	log   *slog.Logger
	store *pebble.Store
	// far is the store where its large rows are in NebulaGraph, else nil.
	far   *nebula.Store
	queue *log.Log
	node  *region.Node
	// deriver reads the SQL of processes.
	deriver *derive.Deriver
	answers *cache.Cache
	intake  *source.HTTP
	// asked answers gateways; nil where the region is served alone.
	asked *rpc.Handler
	// stopStreams, if set, ends the streams that gateways follow.
	stopStreams context.CancelFunc
	http        *http.Server
	secure      *tls.Config // nil: without TLS
	ln          net.Listener
	ready       ready
}

// open opens all that a server stands on, and listens; it gives up when ctx
// ends. run closes it.
func open(ctx context.Context, c config, logger *slog.Logger) (opened *server, err error) {
	s := &server{c: c, log: logger}
	defer func() {
		if err != nil {
			opened, err = nil, errors.Join(err, s.close())
		}
	}()
	if s.secure, _, err = c.TLS.both(); err != nil {
		return nil, err
	}
	if s.store, s.far, err = openStore(ctx, &c, logger); err != nil {
		return nil, err
	}
	if s.queue, err = log.Open(filepath.Join(c.Data, "log"), log.Options{Log: logger}); err != nil {
		return nil, err
	}
	if s.answers, err = cache.New(int64(c.Answers)); err != nil {
		return nil, err
	}
	s.deriver = &derive.Deriver{Naming: c.tableNames()}
	s.node, err = region.New(s.store, s.queue, region.Options{
		Region: c.Region, Dir: c.Data, Retention: time.Duration(c.Retention), MinFree: int64(c.MinFree), Rules: c.rules(), Log: logger,
		Derive: s.deriver,
	})
	if err != nil {
		return nil, err
	}
	s.intake = source.NewHTTP(source.HTTPOptions{Sink: s.node, Decode: openlineage.NewDecoder(), Region: c.Region, Delete: s.node.Delete, Token: c.Token, Log: logger})
	handler, err := s.routes()
	if err != nil {
		return nil, err
	}
	if s.ln, err = net.Listen("tcp", c.Listen); err != nil {
		return nil, err
	}
	s.http = rpc.NewServer(handler, s.secure)
	s.http.ErrorLog = slog.NewLogLogger(logger.Handler(), slog.LevelDebug)
	return s, nil
}

func (s *server) close() error {
	var errs []error
	if s.ln != nil {
		if err := s.ln.Close(); !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	if s.asked != nil {
		errs = append(errs, s.asked.Close())
	}
	if s.queue != nil {
		errs = append(errs, s.queue.Close())
	}
	if s.store != nil {
		errs = append(errs, s.store.Close())
	}
	s.answers.Close()
	return errors.Join(errs...)
}

// routes builds the tree of addresses.
func (s *server) routes() (http.Handler, error) {
	m := newMetrics(s)
	graphql, err := api.New(api.Options{
		Reader: s.node, SQL: s.deriver, Cache: s.answers, Regions: s.regions, Timeout: time.Duration(s.c.Timeout), Log: s.log, Observe: m.observe,
		Delete: func(ctx context.Context, n graph.Name) (string, error) {
			if !s.allowed(ctx) {
				return "", fmt.Errorf("%w: this server wants Authorization: Bearer TOKEN for changes", graph.ErrUnavailable)
			}
			r, err := s.node.Delete(ctx, n)
			return r.String(), err
		},
	})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/graphql", func(w http.ResponseWriter, r *http.Request) {
		ok := source.HasToken(r, s.c.Token)
		graphql.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), mayChange{}, ok)))
	})
	mux.Handle("/graphiql", web.GraphiQL())
	mux.Handle("/graphiql/", web.GraphiQL())
	mux.Handle("/api/v1/", s.intake)
	mux.Handle("/api/v1/dead/", deadHandler(s.node, s.c.Token))
	mux.Handle("/metrics", m.handler())
	mux.HandleFunc("/healthz", s.healthz)
	mux.HandleFunc("/readyz", s.readyz)
	if s.c.asRegion {
		if err := s.answerGateways(mux); err != nil {
			return nil, err
		}
	}
	mux.Handle("/{$}", http.RedirectHandler("/graphiql/", http.StatusFound))
	return mux, nil
}

// answerGateways serves the region's graph and its stream of changes to
// gateways.
func (s *server) answerGateways(mux *http.ServeMux) (err error) {
	s.asked, err = rpc.NewHandler(rpc.HandlerOptions{Region: s.c.Region, Reader: s.node, Log: s.log, Status: func(context.Context) (rpc.Status, error) {
		st := s.node.Status()
		head, _ := s.node.Head()
		status := rpc.Status{Region: st.Region, Epoch: head.Cursor.Epoch, Marks: map[string]graph.Mark{st.Region: st.Mark}, Lag: st.Lag, Healthy: st.Trouble == nil && st.Intake == nil}
		if err := cmp.Or(st.Trouble, st.Intake); err != nil {
			status.Trouble = err.Error()
		}
		return status, nil
	}})
	if err != nil {
		return err
	}
	stream := embedded.Handler(embedded.New(embedded.Options{Store: s.store, Head: s.node.Head}), s.log)
	// After a crash the graph is behind what was acknowledged: until it has
	// caught up the region is a gap, not one that knows of less.
	mux.Handle(rpc.Prefix, forCluster(s.c.Cluster, s.secure, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.ready.up.Load() {
			http.Error(w, "the region applies what it had acknowledged before it was stopped", http.StatusServiceUnavailable)
			return
		}
		s.asked.ServeHTTP(w, r)
	})))
	serving, stop := context.WithCancel(context.Background())
	s.stopStreams = stop
	followed := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithCancel(r.Context())
		defer context.AfterFunc(serving, cancel)()
		defer cancel()
		stream.ServeHTTP(w, r.WithContext(ctx))
	})
	for _, path := range []string{embedded.FollowPath, embedded.SnapshotPath} {
		mux.Handle(path, forCluster(s.c.Cluster, s.secure, followed))
	}
	return nil
}

// publish carries the stream of changes to Kafka until ctx ends. What is in the
// way passes or is told again and again; intake and questions go on.
func (s *server) publish(ctx context.Context, list []string) error {
	p := kafka.Publisher{Options: gateway.KafkaOptions(list, s.c.Topic, s.c.Region), From: embedded.New(embedded.Options{Store: s.store, Head: s.node.Head, Beat: 100 * time.Millisecond})}
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 30*time.Second) {
		began := time.Now()
		err := p.Run(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if time.Since(began) > time.Minute {
			wait = 100 * time.Millisecond
		}
		s.log.Warn("the stream of changes does not reach Kafka; trying again", "err", err, "after", wait)
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil
		}
	}
}

// mayChange is the key under which a request's context says whether it
// brought the token.
type mayChange struct{}

func (s *server) allowed(ctx context.Context) bool {
	ok, _ := ctx.Value(mayChange{}).(bool)
	return ok
}

func (s *server) regions(context.Context) []api.RegionStatus {
	st := s.node.Status()
	return []api.RegionStatus{{Name: st.Region, Healthy: st.Trouble == nil && st.Intake == nil, Position: st.Mark.Position, Revision: st.Mark.Revision, Lag: st.Lag}}
}

// run serves until ctx ends, then stops in the order of intake, log, graph:
// what was acknowledged is applied.
func (s *server) run(ctx context.Context, up func(url string)) error {
	g, gctx := errgroup.WithContext(ctx)
	applying, stopApplying := context.WithCancel(context.WithoutCancel(ctx))
	defer stopApplying()
	g.Go(func() error { return s.node.Run(applying) })
	g.Go(func() error { return s.node.Sweep(gctx) })
	if list := brokers(s.c.Kafka); len(list) > 0 && s.c.asRegion {
		g.Go(func() error { return s.publish(gctx, list) })
	}
	g.Go(func() error { return listenOn(s.http, s.ln) })
	g.Go(func() error {
		<-gctx.Done()
		s.ready.stopping.Store(true)
		s.log.Info("stopping: finishing requests, applying what was acknowledged")
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 15*time.Second)
		defer cancel()
		if s.stopStreams != nil { // they would not end by themselves
			s.stopStreams()
		}
		err := s.http.Shutdown(stop)
		stopApplying()
		return err
	})
	if err := s.node.ApplyRules(ctx); err != nil {
		s.log.Error("apply naming rules", "err", err)
	}
	// After a crash the graph is a little behind its log: ready is who has
	// caught up.
	start := ingest.Receipt{Region: s.c.Region, Offset: s.node.Status().Last}
	if s.node.Status().Mark.Position >= start.Offset {
		s.ready.up.Store(true)
	} else {
		g.Go(func() error {
			if err := s.node.WaitApplied(gctx, start); err == nil {
				s.ready.up.Store(true)
			}
			return nil
		})
	}
	up(scheme(s.secure) + s.ln.Addr().String())
	err := g.Wait()
	if cerr := s.close(); err == nil || errors.Is(err, context.Canceled) {
		err = cerr
	}
	return err
}
