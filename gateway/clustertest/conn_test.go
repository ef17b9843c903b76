package clustertest

import (
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"time"
)

// A conn is one end of a connection.
type conn struct {
	net        *network
	self, peer string
	in, out    *pipe
}

func (c *conn) Read(b []byte) (int, error) { return c.in.read(b) }

func (c *conn) Write(b []byte) (int, error) { return c.out.write(b) }

func (c *conn) Close() error {
	c.net.mu.Lock()
	delete(c.net.conns, c)
	c.net.mu.Unlock()
	c.out.send(nil, io.EOF)
	c.in.shut()
	return nil
}

func (c *conn) LocalAddr() net.Addr  { return place(c.self) }
func (c *conn) RemoteAddr() net.Addr { return place(c.peer) }

func (c *conn) SetDeadline(t time.Time) error { return c.SetReadDeadline(t) }

func (c *conn) SetReadDeadline(t time.Time) error {
	c.in.until(t)
	return nil
}

// SetWriteDeadline has no meaning: what is written is on its way at once.
func (c *conn) SetWriteDeadline(time.Time) error { return nil }

// A pipe carries bytes one way.
type pipe struct {
	net      *network
	from, to string

	mu     sync.Mutex // guards all below
	chunks []chunk
	ended  bool // nothing is sent any more
	closed bool // nobody reads any more
	// deadline ends reads; changed closes, and is made anew, when there is
	// something to look at.
	deadline time.Time
	changed  chan struct{}
}

// A chunk is bytes under way, or how the connection ends.
type chunk struct {
	sent  time.Time
	bytes []byte
	end   error
}

func newPipe(n *network, from, to string) *pipe {
	return &pipe{net: n, from: from, to: to, changed: make(chan struct{})}
}

// wake has readers look again; mu is held.
func (p *pipe) wake() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// send puts a chunk on its way, unless the end is under way already. The
// network's mu may be held.
func (p *pipe) send(b []byte, end error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	p.chunks = append(p.chunks, chunk{time.Now(), b, end})
	p.ended = end != nil
	p.wake()
}

func (p *pipe) write(b []byte) (int, error) {
	p.mu.Lock()
	over := p.ended || p.closed
	p.mu.Unlock()
	if over {
		return 0, io.ErrClosedPipe
	}
	p.send(slices.Clone(b), nil)
	return len(b), nil
}

func (p *pipe) shut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.wake()
}

func (p *pipe) until(t time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deadline = t
	p.wake()
}

func (p *pipe) read(b []byte) (int, error) {
	for {
		hear, away, parted := p.net.between(p.from, p.to)
		n, wait, changed, err := p.take(b, hear, away)
		if n > 0 || err != nil {
			return n, err
		}
		var due <-chan time.Time
		if wait > 0 {
			t := time.NewTimer(wait)
			defer t.Stop()
			due = t.C
		}
		select {
		case <-due:
		case <-parted:
		case <-changed:
		}
	}
}

// take reads what has arrived. Where nothing has it says how long to wait, 0
// for ever, and what to wait for besides.
func (p *pipe) take(b []byte, hear bool, away time.Duration) (n int, wait time.Duration, changed <-chan struct{}, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if p.closed {
		return 0, 0, nil, net.ErrClosed
	}
	if !p.deadline.IsZero() {
		if wait = p.deadline.Sub(now); wait <= 0 {
			return 0, 0, nil, os.ErrDeadlineExceeded
		}
	}
	if len(p.chunks) > 0 && hear {
		first := &p.chunks[0]
		under := first.sent.Add(away).Sub(now)
		switch {
		case under > 0 && (wait == 0 || under < wait):
			wait = under
		case under > 0:
		case first.end != nil:
			return 0, 0, nil, first.end
		default:
			n = copy(b, first.bytes)
			if first.bytes = first.bytes[n:]; len(first.bytes) == 0 {
				p.chunks = p.chunks[1:]
			}
			return n, 0, nil, nil
		}
	}
	return 0, wait, p.changed, nil
}
