package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"time"

	"headwater/cmd/headwater/bench"
	"headwater/gateway/catalog"
)

func benchCommand(out, log io.Writer) func(*flag.FlagSet) func(context.Context, []string) error {
	return func(f *flag.FlagSet) func(context.Context, []string) error {
		o := bench.Options{Out: out, Log: log, Serve: serveForBench, ServeRegion: regionForBench, ServeGateways: gatewaysForBench}
		f.IntVar(&o.Tasks, "tasks", 100_000, "how many `tasks` the platform has")
		sizes := f.String("sizes", "10000,100000", "how many `tasks` the platforms of growth and reopen have, with commas between; 1000000 takes 10 GB of disk and some minutes to build")
		f.IntVar(&o.Hub, "hub", 1_000_000, "how many `flows` the hub has")
		f.IntVar(&o.Runs, "runs", 5, "how `often` each figure is taken; the median is told")
		f.IntVar(&o.Seconds, "seconds", 3, "how many `seconds` a figure runs that is told by the second")
		f.StringVar(&o.Dir, "dir", "", "`folder` in which the platforms are kept, to be used again; without one they are gone at the end")
		f.StringVar(&o.Inputs, "inputs", cmp.Or(os.Getenv("HEADWATER_INPUTS"), "../shared/inputs"), "`folder` with Debian's package graph in graphs/debian-bookworm, for postgres")
		usage := f.Usage
		f.Usage = func() {
			usage()
			fmt.Fprintln(f.Output(), "\nFigures, all but the last two where none is named:")
			for _, n := range bench.Names() {
				fmt.Fprintf(f.Output(), "  %-10s %s\n", n[0], n[1])
			}
		}
		return func(ctx context.Context, args []string) error {
			for _, s := range strings.Split(*sizes, ",") {
				n, err := strconv.Atoi(strings.TrimSpace(s))
				if err != nil || n < 1 {
					return errUsage
				}
				o.Sizes = append(o.Sizes, n)
			}
			if o.Tasks < 1000 || o.Hub < 2000 || o.Runs < 1 || o.Seconds < 1 {
				return errUsage
			}
			return bench.Run(ctx, o, args...)
		}
	}
}

// serveForBench runs a server as serve does, in this process.
func serveForBench(dir string, keep bool) (*bench.Server, error) {
	c := defaultConfig()
	if !keep {
		c.Answers = 0
	}
	return runForBench(c, dir)
}

// regionForBench runs one of many regions.
func regionForBench(dir, name string) (*bench.Server, error) {
	c := defaultConfig()
	c.asRegion, c.Region = true, name
	return runForBench(c, dir)
}

func runForBench(c config, dir string) (*bench.Server, error) {
	c.Listen, c.Data, c.MinFree = "127.0.0.1:0", dir, 64<<20
	s, err := open(context.Background(), c, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	url, stop, err := started(s.run)
	if err != nil {
		return nil, err
	}
	return &bench.Server{
		URL: url, Store: s.store, Syncs: s.queue.Syncs, Stop: stop,
		Waiting: func() uint64 { st := s.node.Status(); return st.Last - min(st.Last, st.Mark.Position) },
	}, nil
}

// started runs a server until stop is called, which returns how it ended.
func started(run func(ctx context.Context, up func(url string)) error) (url string, stop func() error, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	up, done := make(chan string, 1), make(chan error, 1)
	go func() { done <- run(ctx, func(url string) { up <- url }) }()
	select {
	case err := <-done:
		cancel()
		return "", nil, err
	case url := <-up:
		return url, func() error { cancel(); return <-done }, nil
	}
}

// gatewaysForBench runs three gateways, which keep what they know in dir.
func gatewaysForBench(dir string, regions map[string]string, namespaces []string, keep bool) (_ *bench.Cluster, err error) {
	p := &demoPlatform{keep: dir, log: slog.New(slog.DiscardHandler), logTo: io.Discard, failed: make(chan error, 8), regions: map[string]*demoRegion{}}
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close())
		}
	}()
	if !keep {
		p.answers = -1
	}
	if err := p.openGateways(ctx, "127.0.0.1:0", nil); err != nil {
		return nil, err
	}
	var changes []catalog.Change
	for name, address := range regions {
		changes = append(changes, catalog.SetRegion{Region: catalog.Region{Name: name, Addresses: []string{address}}})
	}
	for _, ns := range namespaces {
		home := ns[strings.LastIndexByte(ns, '-')+1:]
		changes = append(changes, catalog.SetNamespaceRule{NamespaceRule: catalog.NamespaceRule{Namespace: ns, Region: home}})
	}
	if err := p.change(ctx, changes); err != nil {
		return nil, err
	}
	c := &bench.Cluster{
		Names: func() int { return p.gateways[0].gateway.Names().Len() },
		Again: func() (time.Duration, error) { return p.again(ctx, 0) },
		Stop:  p.close,
	}
	for _, g := range p.gateways {
		c.URLs = append(c.URLs, "http://"+g.ln.Addr().String())
	}
	return c, p.followed(ctx)
}
