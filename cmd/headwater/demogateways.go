package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"headwater/gateway/catalog"
)

// openGateways starts three gateways, the first where people ask; it serves
// more besides, if that is set.
func (p *demoPlatform) openGateways(ctx context.Context, listen string, more http.Handler) error {
	const many = 3
	rafts, err := freeAddresses(many)
	if err != nil {
		return err
	}
	serves, err := freeAddresses(many)
	if err != nil {
		return err
	}
	serves[0] = listen
	if _, port, err := net.SplitHostPort(listen); err != nil || port == "0" {
		one, err := freeAddresses(1)
		if err != nil {
			return err
		}
		serves[0] = one[0]
	}
	var first peers
	for i := range many {
		first.list = append(first.list, catalog.Peer{Name: fmt.Sprint("g", i+1), Address: rafts[i], Serves: "http://" + serves[i]})
	}
	quiet, err := newLogger(p.logTo, "error") // that they elect one of them is no news here
	if err != nil {
		return err
	}
	for i, self := range first.list {
		c := defaultGateway()
		c.Name, c.Listen, c.Raft, c.Serves, c.First, c.Data, c.LogLevel = self.Name, serves[i], self.Address, self.Serves, first, "", "warn"
		if p.answers < 0 {
			c.Answers = 0
		}
		if p.keep != "" {
			c.Data = filepath.Join(p.keep, self.Name)
		}
		s := &gatewayServer{c: c, log: quiet}
		if i == 0 {
			s.more = more
		}
		halt, err := p.startGateway(ctx, s)
		if err != nil {
			return err
		}
		p.gateways, p.halts = append(p.gateways, s), append(p.halts, halt)
	}
	return nil
}

// startGateway starts a gateway; halt stops it and waits for its end.
func (p *demoPlatform) startGateway(ctx context.Context, s *gatewayServer) (halt func(), err error) {
	if err := s.open(); err != nil {
		return nil, fmt.Errorf("start gateway %s: %w", s.c.Name, err)
	}
	ctx, stop := context.WithCancel(ctx)
	up, down := make(chan struct{}), make(chan struct{})
	p.running.Go(func() {
		defer close(down)
		if err := s.run(ctx, func(string) { close(up) }); err != nil {
			p.fail(fmt.Errorf("gateway %s: %w", s.c.Name, err))
		}
	})
	halt = func() { stop(); <-down }
	select {
	case <-up:
		return halt, nil
	case err := <-p.failed:
		halt()
		return nil, err
	}
}

// again stops a gateway and starts it anew. It returns how long it took, from
// its start, until it was ready.
func (p *demoPlatform) again(ctx context.Context, i int) (time.Duration, error) {
	p.halts[i]()
	old := p.gateways[i]
	s := &gatewayServer{c: old.c, log: old.log, more: old.more}
	began := time.Now()
	halt, err := p.startGateway(ctx, s)
	if err != nil {
		return 0, err
	}
	p.gateways[i], p.halts[i] = s, halt
	for {
		starting := s.gateway.Starting()
		if starting == "" {
			return time.Since(began), nil
		}
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			return 0, fmt.Errorf("gateway %s: %s: %w", s.c.Name, starting, ctx.Err())
		}
	}
}

// freeAddresses returns addresses of the loopback that nobody listens on.
func freeAddresses(n int) (list []string, err error) {
	var open []net.Listener
	defer func() {
		for _, ln := range open {
			err = errors.Join(err, ln.Close())
		}
	}()
	for range n {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		open = append(open, ln)
		list = append(list, ln.Addr().String())
	}
	return list, nil
}
