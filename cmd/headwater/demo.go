package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"headwater/cmd/headwater/shop"
)

func demoCommand(out, log io.Writer) func(*flag.FlagSet) func(context.Context, []string) error {
	return func(f *flag.FlagSet) func(context.Context, []string) error {
		d := demo{out: out, log: log, now: time.Now}
		f.StringVar(&d.listen, "listen", defaultConfig().Listen, "`address` to listen on")
		f.StringVar(&d.data, "data", "", "`folder` for the data, which is kept; without one the data is gone at the end")
		f.StringVar(&d.store, "store", "", "`URL` of a NebulaGraph that keeps the large part of the graphs, nebula://user:password@host:9669,host2:9669/space; each region makes a space whose name begins so")
		return func(ctx context.Context, args []string) error {
			if len(args) > 0 {
				return errUsage
			}
			return d.run(ctx)
		}
	}
}

// A demo is the sample shop in three regions, and three gateways over them.
type demo struct {
	listen string
	// data is a folder that is kept. Empty: one is made, and removed at the
	// end.
	data string
	// store is the URL of a NebulaGraph. Empty: all is in the folder.
	store    string
	out, log io.Writer
	now      func() time.Time
	// up, where it is set, is called once all can be asked.
	up func(url string)
}

// run serves until ctx ends.
func (d *demo) run(ctx context.Context) (err error) {
	if err := available(d.listen); err != nil {
		return err
	}
	dir := d.data
	if dir == "" {
		if dir, err = os.MkdirTemp("", "headwater-demo-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	logger, err := newLogger(d.log, "warn")
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	p := &demoPlatform{dir: dir, store: d.store, passing: d.data == "", log: logger, logTo: d.log, regions: map[string]*demoRegion{}}
	defer func() {
		// What is in the way of its beginning is in the way of its end.
		if closed := p.close(); err == nil {
			err = closed
		}
	}()
	if d.store != "" {
		if _, err := fmt.Fprintln(d.out, "NebulaGraph takes up to half a minute until its new spaces can be used."); err != nil {
			return err
		}
	}
	began := d.now()
	events, err := p.open(ctx, d.listen, began)
	if err == nil {
		err = d.welcome(p.url(), events, began)
	}
	if err != nil {
		if ctx.Err() != nil { // it was asked to stop, and that is why
			return nil
		}
		return err
	}
	if d.up != nil {
		d.up(p.url())
	}
	return p.wait(ctx)
}

// available says what to do if an address is in use, before anything is made.
func available(address string) error {
	ln, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%s is in use, perhaps by another headwater; choose another address, for example: headwater demo --listen 127.0.0.1:8090", address)
	}
	if err != nil {
		return err
	}
	return ln.Close()
}

// welcome says what there is, where, and what to ask first.
func (d *demo) welcome(url string, events int, began time.Time) error {
	size, err := shop.Measure()
	if err != nil {
		return err
	}
	ask := "headwater lineage"
	if url != defaultServer {
		ask += " --server " + url
	}
	end := "Ctrl-C stops the demo and removes its data."
	if d.data != "" {
		end = "Ctrl-C stops the demo; its data stays in " + d.data + "."
	}
	for _, part := range []string{
		fmt.Sprintf("The data platform of an online shop: %d tasks on Hive, Spark, Flink, Trino and Doris,", size.Tasks),
		fmt.Sprintf("%d data stores, %d columns, in three regions (%s: applications, %s: the lake, %s: reports),", size.DataStores, size.Columns, shop.Apps, shop.Lake, shop.Reports),
		fmt.Sprintf("from %d events in %d ms. Three gateways answer over all of them; this is one.", events, d.now().Sub(began).Milliseconds()),
		"",
		"  editor       " + url + "/graphiql",
		"  GraphQL      " + url + "/graphql",
		"  OpenLineage  " + url + "/api/v1/lineage (taken in by " + shop.Lake + ")",
		"  metrics      " + url + "/metrics",
		"",
		"The net revenue on the dashboard has fallen. What is it made of?",
		"",
		"  " + ask + " --up --depth 10 --dependencies identity,transformation,aggregation,conditional \\",
		"    '" + shop.Namespace + "' '" + shop.Table + "#" + shop.Column + "'",
		"",
		"Two days ago refunds were not taken off. Add this to see it:",
		"",
		"    --as-of " + began.UTC().AddDate(0, 0, -2).Format(time.RFC3339),
		"",
		"The same question in GraphQL, for curl or the editor:",
		"",
		"  curl -sG " + url + "/graphql --data-urlencode 'query=",
		"  " + strings.ReplaceAll(shop.Question, "\n", "\n  ") + "'",
		"",
		"Where do the mail addresses of people go?",
		"",
		"  " + ask + " --down --depth 10 'mysql://crm-db.shop.example:3306' 'crm.users#email'",
		"",
		"What is left of the first answer when a region is down? Stop one, ask again, start it:",
		"",
		"  curl -X POST " + url + "/demo/regions/" + shop.Apps + "/stop",
		"  curl -X POST " + url + "/demo/regions/" + shop.Apps + "/start",
		"",
		end,
	} {
		if _, err := fmt.Fprintln(d.out, part); err != nil {
			return err
		}
	}
	return nil
}
