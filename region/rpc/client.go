package rpc

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"sync"
	"time"

	"headwater/graph"
)

// ClientOptions say how a gateway asks a region. Region and Addresses are
// needed; the rest has defaults.
type ClientOptions struct {
	Region string
	// Addresses are where the region's node is reached, each host:port. They
	// are tried in this order, after the one that answered last.
	Addresses []string
	// TLS is for the connections; with Certificates they are shown. nil is
	// without TLS.
	TLS *tls.Config
	// Token, if not empty, is sent as Authorization: Bearer.
	Token string
	// DialTime is how long an address may take to be connected to before the
	// next is tried: 2 s.
	DialTime time.Duration
	// MaxFrame bounds each frame in bytes: 16 MiB. It should be the region's.
	MaxFrame int
	// MaxLeg bounds a leg in bytes as it is sent, before compression: 512 MiB.
	// In memory a leg is up to 24 times as large in the worst case, and two to
	// three times as a rule.
	MaxLeg  int
	Observe Observe
	// Dial replaces net.Dialer.DialContext, for tests.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Log is slog's default where it is nil.
	Log *slog.Logger
}

// Validate says what can't work, and fills in defaults.
func (o *ClientOptions) Validate() error {
	if o.Region == "" || len(o.Addresses) == 0 {
		return errors.New("region/rpc: a client needs Region and Addresses")
	}
	for _, a := range o.Addresses {
		if _, _, err := net.SplitHostPort(a); err != nil {
			return fmt.Errorf("region/rpc: region %q: address %q is not host:port: %w", o.Region, a, err)
		}
	}
	positive(&o.DialTime, 2*time.Second)
	positive(&o.MaxFrame, defaultMaxFrame)
	if o.MaxFrame > mostFrame {
		return fmt.Errorf("region/rpc: MaxFrame is %d, and %d are possible", o.MaxFrame, mostFrame)
	}
	positive(&o.MaxLeg, 512<<20)
	if o.Dial == nil {
		// A connection on which nothing is heard is found out before it is used.
		d := net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 10 * time.Second, Interval: 5 * time.Second, Count: 2}}
		o.Dial = d.DialContext
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Observe == nil {
		o.Observe = func(string, time.Duration, int, int, error) {}
	}
	return nil
}

// keepConns is how many connections to an address are kept open at most that
// are not in use.
const keepConns = 64

// A Client asks one region. It is a graph.Reader whose views are
// graph.LegViews. It is safe for use by many at once. Its errors are Errors.
type Client struct {
	o      ClientOptions
	http   *http.Transport
	frames *frames
	closer *closer

	running sync.WaitGroup // questions
	mu      sync.Mutex     // guards all below
	good    string         // the address that answered last
	marks   map[string]graph.Mark
	conns   map[*conn]bool // nil once the client is closed
}

// A conn is a connection, which is forgotten when it closes.
type conn struct {
	net.Conn
	of *Client
}

var _ graph.Reader = (*Client)(nil)

// NewClient returns a client, which connects when it is first asked.
func NewClient(o ClientOptions) (*Client, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	p := new(http.Protocols)
	p.SetHTTP1(true)
	c := &Client{o: o, frames: &frames{o.MaxFrame}, marks: map[string]graph.Mark{}, conns: map[*conn]bool{}}
	c.http = &http.Transport{DialContext: c.dial, TLSClientConfig: o.TLS.Clone(), TLSHandshakeTimeout: o.DialTime, Protocols: p, DisableCompression: true,
		IdleConnTimeout: time.Minute, MaxIdleConnsPerHost: keepConns}
	c.closer = newCloser(c.closeLeases)
	return c, nil
}

func (c *Client) dial(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.o.DialTime, fmt.Errorf("no connection in %v", c.o.DialTime))
	defer cancel()
	dialed, err := c.o.Dial(ctx, network, address)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	k := &conn{dialed, c}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conns == nil {
		return nil, errors.Join(errClosed, dialed.Close())
	}
	c.conns[k] = true
	return k, nil
}

func (k *conn) Close() error {
	k.of.mu.Lock()
	delete(k.of.conns, k)
	k.of.mu.Unlock()
	return k.Conn.Close()
}

// Close waits for the questions that are being answered, tells the region
// which views are closed, as far as it can be told within a few seconds, and
// closes the connections. Later questions fail.
func (c *Client) Close() error {
	c.mu.Lock()
	conns := c.conns
	c.conns = nil
	c.mu.Unlock()
	c.running.Wait()
	c.closer.close()
	c.http.CloseIdleConnections()
	for k := range conns {
		_ = k.Conn.Close() // nobody is interested in what it says to that
	}
	return nil
}

// begin counts a question in; running.Done counts it out.
func (c *Client) begin() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conns == nil {
		return errClosed
	}
	c.running.Add(1)
	return nil
}

// View implements graph.Reader. It asks the region nothing: the first question
// takes at along, and it is that question which may wait for what at asks, or
// fail. The region closes the view if it is asked nothing for half a minute or
// so; see ErrExpired.
func (c *Client) View(_ context.Context, at graph.At) (graph.View, error) {
	v := &view{c: c, at: graph.At{AtLeast: maps.Clone(at.AtLeast), AsOf: at.AsOf}}
	rand.Read(v.id[:]) // never fails
	return v, nil
}

// Status asks the region how it is. It needs no view, and no place among the
// questions that are being answered.
func (c *Client) Status(ctx context.Context) (Status, error) {
	var s Status
	var body coder
	body.string(&c.o.Region)
	q := &asked{method: methodStatus, single: true, item: func(payload []byte) error { return decodeAll(payload, s.code) }}
	if _, err := c.ask(ctx, nil, q, body.b); err != nil {
		return Status{}, err
	}
	if s.Marks != nil {
		c.see(s.Marks)
	}
	return s, nil
}

// addresses lists first before the others; if it is empty, the one that
// answered last.
func (c *Client) addresses(first string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if first == "" {
		first = c.good
	}
	var list []string
	if first != "" {
		list = append(list, first)
	}
	for _, a := range c.o.Addresses {
		if a != first {
			list = append(list, a)
		}
	}
	return list
}

// worked remembers that an address answers.
func (c *Client) worked(address string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.good = address
}

// see remembers the marks that came last.
func (c *Client) see(marks map[string]graph.Mark) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.marks = maps.Clone(marks)
}

// seen returns the marks that came last.
func (c *Client) seen() map[string]graph.Mark {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.marks)
}

// closeLeases tells the node at an address that views are closed.
func (c *Client) closeLeases(ctx context.Context, address string, ids []leaseID) {
	var body coder
	slice(&body, &ids, len(leaseID{}), codeLeaseID)
	q := &asked{c: c, method: methodClose}
	var err error
	if q.frame, err = c.frames.append(nil, frameQuestion, body.b); err == nil {
		err = q.try(ctx, address)
	}
	if err != nil {
		// The region closes them in its own time.
		c.o.Log.Debug("tell a region that views are closed", "region", c.o.Region, "address", address, "views", len(ids), "err", err)
	}
}
