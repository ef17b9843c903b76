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
	"headwater/graph"
	"headwater/ingest"
	"headwater/ingest/openlineage"
)

func demoCommand(out, log io.Writer) func(*flag.FlagSet) func(context.Context, []string) error {
	return func(f *flag.FlagSet) func(context.Context, []string) error {
		d := demo{out: out, log: log, now: time.Now}
		f.StringVar(&d.listen, "listen", defaultConfig().Listen, "`address` to listen on")
		f.StringVar(&d.data, "data", "", "`folder` for the data, which is kept; without one the data is gone at the end")
		return func(ctx context.Context, args []string) error {
			if len(args) > 0 {
				return errUsage
			}
			return d.run(ctx)
		}
	}
}

// A demo is a server with the data of the sample shop.
type demo struct {
	listen string
	// data is a folder that is kept. Empty: one is made, and removed at the
	// end.
	data     string
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
	c := defaultConfig()
	c.Listen, c.Data, c.MinFree, c.LogLevel = d.listen, d.data, 64<<20, "warn"
	if c.Data == "" {
		if c.Data, err = os.MkdirTemp("", "headwater-demo-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(c.Data)) }()
	}
	logger, err := newLogger(d.log, c.LogLevel)
	if err != nil {
		return err
	}
	s, err := open(c, logger)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var failed error
	err = s.run(ctx, func(url string) {
		began := d.now()
		events, err := feedShop(ctx, s.node, c.Region, began)
		if err == nil {
			err = d.welcome(url, events, began)
		}
		switch {
		case err == nil && d.up != nil:
			d.up(url)
		case err != nil:
			if ctx.Err() == nil { // else it was asked to stop, and that is why
				failed = err
			}
			stop()
		}
	})
	return errors.Join(failed, err)
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

// feedShop gives a sink all events of the shop, waits until they can be read,
// and returns how many they are.
func feedShop(ctx context.Context, sink ingest.Sink, region string, now time.Time) (int, error) {
	bodies, err := shop.Events(now)
	if err != nil {
		return 0, err
	}
	events := make([][]graph.Delta, 0, len(bodies))
	for i, body := range bodies {
		d := openlineage.Decode(ingest.Message{Body: body, Region: region, Received: now})
		for _, r := range d.Rejected {
			return 0, fmt.Errorf("sample event %d: %w", i, r)
		}
		events = append(events, d.Deltas)
	}
	receipt, err := sink.Append(ctx, events)
	if err != nil {
		return 0, fmt.Errorf("take the sample events in: %w", err)
	}
	return len(events), sink.WaitApplied(ctx, receipt)
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
		fmt.Sprintf("%d data stores, %d columns, from %d events in %d ms.", size.DataStores, size.Columns, events, d.now().Sub(began).Milliseconds()),
		"",
		"  editor       " + url + "/graphiql",
		"  GraphQL      " + url + "/graphql",
		"  OpenLineage  " + url + "/api/v1/lineage",
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
		end,
	} {
		if _, err := fmt.Fprintln(d.out, part); err != nil {
			return err
		}
	}
	return nil
}
