package catalog

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// openTransport listens for raft over TCP, with TLS where it is given.
func openTransport(o *Options, l hclog.Logger) (raft.Transport, io.Closer, error) {
	if o.Transport != nil {
		return o.Transport, io.NopCloser(nil), nil
	}
	listener, err := net.Listen("tcp", o.Listen)
	if err != nil {
		return nil, nil, fmt.Errorf("listen for raft on %s: %w", o.Listen, err)
	}
	if o.TLS != nil {
		listener = tls.NewListener(listener, o.TLS)
	}
	t := raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
		Stream:  &streams{Listener: listener, tls: o.TLS, self: o.Self.Address, open: map[*stream]bool{}},
		MaxPool: 3,
		Timeout: 4 * o.Heartbeat,
		Logger:  l,
	})
	return t, t, nil
}

// streams are raft's connections, in and out. Raft leaves those that it took
// from others open when it closes; these close them.
type streams struct {
	net.Listener
	tls  *tls.Config
	self string

	// mu guards open, which is nil once all are closed.
	mu   sync.Mutex
	open map[*stream]bool
}

// A stream is one connection, which is forgotten when it closes.
type stream struct {
	net.Conn
	of *streams
}

// Addr is where others dial this gateway, which is not always where it listens.
func (s *streams) Addr() net.Addr { return address(s.self) }

func (s *streams) Accept() (net.Conn, error) {
	c, err := s.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return s.keep(c)
}

func (s *streams) Dial(to raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	d := &net.Dialer{Timeout: timeout}
	var c net.Conn
	var err error
	if s.tls == nil {
		c, err = d.Dial("tcp", string(to))
	} else {
		c, err = tls.DialWithDialer(d, "tcp", string(to), s.tls)
	}
	if err != nil {
		return nil, err
	}
	return s.keep(c)
}

func (s *streams) keep(c net.Conn) (net.Conn, error) {
	k := &stream{c, s}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		return nil, errors.Join(net.ErrClosed, c.Close())
	}
	s.open[k] = true
	return k, nil
}

func (c *stream) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// Close stops listening and closes all connections. What a connection says to
// that is of no use to anybody.
func (s *streams) Close() error {
	s.mu.Lock()
	open := s.open
	s.open = nil
	s.mu.Unlock()
	for c := range open {
		_ = c.Conn.Close()
	}
	return s.Listener.Close()
}

// An address is host:port as others dial it.
type address string

func (address) Network() string  { return "tcp" }
func (a address) String() string { return string(a) }
