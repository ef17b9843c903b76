package bench

import (
	"errors"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"headwater/graph/graphtest"
)

// clustered serves regions and gateways over them, and calls f.
func (r *run) clustered(dirs map[string]string, away time.Duration, keep bool, f func(c *Cluster, addresses map[string]string) error) (err error) {
	addresses, near := map[string]string{}, map[string]string{}
	var stops []func() error
	defer func() {
		for _, stop := range slices.Backward(stops) {
			err = errors.Join(err, stop())
		}
	}()
	for name, dir := range dirs {
		s, err := r.ServeRegion(dir, name)
		if err != nil {
			return err
		}
		stops = append(stops, s.Stop)
		near[name] = strings.TrimPrefix(s.URL, "http://")
		addresses[name] = near[name]
		if away > 0 {
			far, stop, err := farther(near[name], away/2)
			if err != nil {
				return err
			}
			stops = append(stops, stop)
			addresses[name] = far
		}
	}
	var namespaces []string
	for _, ns := range graphtest.PlatformNamespaces() {
		for name := range dirs {
			namespaces = append(namespaces, ns+"-"+name)
		}
	}
	dir, err := os.MkdirTemp(r.Dir, "gateways-")
	if err != nil {
		return err
	}
	stops = append(stops, func() error { return os.RemoveAll(dir) })
	c, err := r.ServeGateways(dir, addresses, namespaces, keep)
	if err != nil {
		return err
	}
	stops = append(stops, c.Stop)
	return f(c, near)
}

// farther listens for what another address serves, a time away each way.
func farther(address string, oneWay time.Duration) (string, func() error, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	var wg sync.WaitGroup
	var mu sync.Mutex // guards open
	var open []net.Conn
	pipe := func(from, to net.Conn) {
		type chunk struct {
			at time.Time
			b  []byte
		}
		sent := make(chan chunk, 1024)
		wg.Go(func() {
			for c := range sent {
				time.Sleep(time.Until(c.at))
				if _, err := to.Write(c.b); err != nil {
					_ = from.Close()
				}
			}
			_ = to.Close()
		})
		buf := make([]byte, 64<<10)
		for {
			n, err := from.Read(buf)
			if n > 0 {
				sent <- chunk{time.Now().Add(oneWay), slices.Clone(buf[:n])}
			}
			if err != nil {
				close(sent)
				return
			}
		}
	}
	wg.Go(func() {
		for {
			near, err := ln.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", address)
			if err != nil {
				_ = near.Close()
				continue
			}
			mu.Lock()
			open = append(open, near, far)
			mu.Unlock()
			wg.Go(func() { pipe(near, far) })
			wg.Go(func() { pipe(far, near) })
		}
	})
	return ln.Addr().String(), func() error {
		err := ln.Close()
		mu.Lock()
		for _, c := range open {
			_ = c.Close() // it may be closed already
		}
		mu.Unlock()
		wg.Wait()
		return err
	}, nil
}
