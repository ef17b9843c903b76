package clustertest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"
)

// A network connects places, gateways and regions, by name. What is sent
// takes a while; between places that are cut off from each other it waits
// until they are not, as TCP would have it.
type network struct {
	mu sync.Mutex // guards all below
	// cut has the pairs that don't hear each other, away how long what is sent
	// takes one way, where it is not near.
	cut  map[pair]bool
	away map[pair]time.Duration
	up   map[string]*listener
	// conns are the ends of connections that are open, by place.
	conns map[*conn]bool
	// changed closes, and is made anew, when cut changes.
	changed chan struct{}
}

// A pair is two places, in order.
type pair struct{ a, b string }

func pairOf(a, b string) pair { return pair{min(a, b), max(a, b)} }

// near is how long what is sent takes by default.
const near = time.Millisecond

func newNetwork() *network {
	return &network{cut: map[pair]bool{}, away: map[pair]time.Duration{}, up: map[string]*listener{}, conns: map[*conn]bool{}, changed: make(chan struct{})}
}

// part cuts each place of one set off from each of another.
func (n *network) part(one, other []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, a := range one {
		for _, b := range other {
			n.cut[pairOf(a, b)] = true
		}
	}
	close(n.changed)
	n.changed = make(chan struct{})
}

// heal ends all cuts.
func (n *network) heal() {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.cut)
	close(n.changed)
	n.changed = make(chan struct{})
}

// move puts a place so far away from all others.
func (n *network) move(place string, others []string, away time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, o := range others {
		n.away[pairOf(place, o)] = away
	}
}

// between says whether two places hear each other, how far away they are, and
// when to look again.
func (n *network) between(a, b string) (hear bool, away time.Duration, changed <-chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := pairOf(a, b)
	if away = n.away[p]; away == 0 {
		away = near
	}
	return !n.cut[p], away, n.changed
}

// runs reports whether a place listens.
func (n *network) runs(place string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.up[place] != nil
}

// listen puts a place up.
func (n *network) listen(place string) net.Listener {
	n.mu.Lock()
	defer n.mu.Unlock()
	l := &listener{place: place, came: make(chan net.Conn, 64), ended: make(chan struct{})}
	n.up[place] = l
	return l
}

// down ends a place without a word: its connections are reset.
func (n *network) down(place string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.up, place)
	for c := range n.conns {
		if c.self == place {
			c.out.send(nil, syscall.ECONNRESET)
			c.in.shut()
			delete(n.conns, c)
		}
	}
}

// dial connects one place to another.
func (n *network) dial(ctx context.Context, from, to string) (net.Conn, error) {
	if err := n.travel(ctx, from, to); err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	l := n.up[to]
	if l == nil {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Addr: place(to), Err: syscall.ECONNREFUSED}
	}
	there, back := newPipe(n, from, to), newPipe(n, to, from)
	mine, yours := &conn{net: n, self: from, peer: to, in: back, out: there}, &conn{net: n, self: to, peer: from, in: there, out: back}
	n.conns[mine], n.conns[yours] = true, true
	select {
	case l.came <- yours:
		return mine, nil
	default:
		return nil, errors.New("nobody accepts connections")
	}
}

// travel waits for as long as a message and its answer take.
func (n *network) travel(ctx context.Context, from, to string) error {
	for {
		hear, away, changed := n.between(from, to)
		var due <-chan time.Time
		if hear {
			due = time.After(2 * away)
			changed = nil
		}
		select {
		case <-due:
			return nil
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("from %s to %s: %w", from, to, ctx.Err())
		}
	}
}

// A listener takes connections to a place.
type listener struct {
	place string
	came  chan net.Conn
	once  sync.Once
	ended chan struct{}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.came:
		return c, nil
	case <-l.ended:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.ended) })
	return nil
}

func (l *listener) Addr() net.Addr { return place(l.place) }

// A place is a name as an address.
type place string

func (place) Network() string  { return "memory" }
func (p place) String() string { return string(p) }
