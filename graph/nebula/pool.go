package nebula

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	client "github.com/vesoft-inc/nebula-go/v3"
	"github.com/vesoft-inc/nebula-go/v3/nebula"

	"headwater/graph"
)

// A pool runs statements, so many at once, on sessions that are kept while
// nothing goes wrong. It may be used by many at once. Every statement may be
// run twice, and one that was given up may still be run later: only what can
// be repeated goes in.
type pool struct {
	o     *Options
	slots chan struct{} // one for each statement that runs
	sent  atomic.Uint64

	mu     sync.Mutex // guards all below
	idle   []*session // last used last
	turn   int        // which address a new session is asked of first
	lost   []int64    // sessions that a graphd may still keep
	lostAt time.Time  // of the last write
	closed bool
}

// errClosed is returned when a statement is run after close.
var errClosed = errors.New("the sessions with NebulaGraph are closed")

// dial makes a pool, and one session, to see that there is somebody.
func dial(ctx context.Context, o *Options) (*pool, error) {
	o.defaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	p := &pool{o: o, slots: make(chan struct{}, o.Sessions)}
	s, err := p.open(ctx)
	if err != nil {
		return nil, err
	}
	p.give(s)
	return p, nil
}

// run runs one statement in the space of the pool: again, in another session,
// while what goes wrong may pass, up to Options.Tries and as long as ctx
// allows. What fails in passing, or for want of time, has
// graph.ErrUnavailable in its chain.
func (p *pool) run(ctx context.Context, text string, params map[string]any) (*client.ResultSet, error) {
	values, err := parameters(params)
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		rs, err := p.once(ctx, true, text, values)
		if err == nil || try >= p.o.Tries || !errors.Is(err, graph.ErrUnavailable) || errors.Is(err, errClosed) {
			return rs, err
		}
		if e := pause(ctx, try); e != nil {
			return nil, fmt.Errorf("%w, after: %w", e, err)
		}
	}
}

// pause waits before another try: not at all before the second, as one that
// follows a connection that was cut does at once, then ever longer.
func pause(ctx context.Context, try int) error {
	if ctx.Err() == nil && try == 1 {
		return nil
	}
	d := min(20*time.Millisecond<<min(max(try-2, 0), 6), time.Second)
	return sleep(ctx, d+rand.N(d/4))
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return waited(ctx, "wait for NebulaGraph")
	case <-t.C:
		return nil
	}
}

// once runs a statement once, in the space or in none. A session that gave
// any error is thrown away.
func (p *pool) once(ctx context.Context, inSpace bool, text string, values map[string]*nebula.Value) (*client.ResultSet, error) {
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-ctx.Done():
		return nil, waited(ctx, "wait for a session with NebulaGraph")
	}
	ctx, cancel := context.WithTimeout(ctx, p.o.Timeout)
	defer cancel()
	s, err := p.take(ctx)
	if err != nil {
		return nil, err
	}
	if inSpace && !s.inSpace {
		if _, err := s.execute(ctx, "USE "+p.o.Space, nil); err != nil {
			p.throw(ctx, s, err)
			return nil, err
		}
		s.inSpace = true
	}
	p.sent.Add(1)
	rs, err := s.execute(ctx, text, values)
	if err != nil {
		p.throw(ctx, s, err)
		if uncertain(err) && (strings.HasPrefix(text, "INSERT") || strings.HasPrefix(text, "DELETE")) {
			p.mu.Lock()
			p.lostAt = time.Now()
			p.mu.Unlock()
		}
		return nil, err
	}
	p.give(s)
	return rs, nil
}

// take returns a session nobody uses, or opens one.
func (p *pool) take(ctx context.Context) (*session, error) {
	p.mu.Lock()
	if n := len(p.idle); n > 0 && !p.closed {
		s := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		return s, nil
	}
	p.mu.Unlock()
	return p.open(ctx)
}

// open asks the addresses in turn for a session.
func (p *pool) open(ctx context.Context) (*session, error) {
	p.mu.Lock()
	turn, lost, closed := p.turn, p.lost, p.closed
	p.turn, p.lost = (turn+1)%len(p.o.Addresses), nil
	p.mu.Unlock()
	if closed {
		return nil, errClosed
	}
	var errs []error
	for i := range p.o.Addresses {
		s, err := connect(ctx, p.o.Addresses[(turn+i)%len(p.o.Addresses)], p.o.User, p.o.Password)
		if err == nil {
			p.bury(ctx, s, lost)
			return s, nil
		}
		errs = append(errs, err)
		if ctx.Err() != nil || !errors.Is(err, graph.ErrUnavailable) {
			break
		}
	}
	p.mu.Lock()
	p.lost = append(p.lost, lost...)
	p.mu.Unlock()
	return nil, fmt.Errorf("open a session with NebulaGraph: %w", errors.Join(errs...))
}

// bury ends sessions whose connection is gone: a statement that runs in one
// stops, if it has not been handed to storaged, and graphd, which allows so
// many sessions for an address, does not keep them for hours. It does not
// matter much if it can't be done.
func (p *pool) bury(ctx context.Context, s *session, lost []int64) {
	for _, id := range lost {
		if _, err := s.execute(ctx, "KILL SESSION "+strconv.FormatInt(id, 10), nil); err != nil {
			p.o.Log.Debug("end a lost session with NebulaGraph", "session", id, "err", err)
			return
		}
	}
}

// give keeps a session for the next statement.
func (p *pool) give(s *session) {
	p.mu.Lock()
	if !p.closed && !s.cut {
		p.idle = append(p.idle, s)
		s = nil
	}
	p.mu.Unlock()
	if s != nil {
		s.close(!s.cut)
	}
}

// throw does away with a session after an error. What tells of a graphd that
// was stopped is true of all its sessions; that ctx has ended tells of none.
func (p *pool) throw(ctx context.Context, s *session, err error) {
	var cut *transportError
	var refused *serverError
	all := errors.As(err, &cut) && ctx.Err() == nil || errors.As(err, &refused) && refused.passing() && refused.code != codeExecution
	out := []*session{s}
	p.mu.Lock()
	if all {
		kept := p.idle[:0]
		for _, o := range p.idle {
			if o.address == s.address {
				out = append(out, o)
			} else {
				kept = append(kept, o)
			}
		}
		clear(p.idle[len(kept):])
		p.idle = kept
	}
	if cut != nil {
		for _, o := range out {
			p.lost = append(p.lost, o.id)
		}
	}
	p.mu.Unlock()
	for _, o := range out {
		o.close(cut == nil)
	}
}

// statements returns how many statements were sent, repetitions counted.
func (p *pool) statements() uint64 { return p.sent.Load() }

// lastLost returns when a write last ended with nobody knowing whether it was
// run: it may still be run, behind statements that came later.
func (p *pool) lastLost() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lostAt
}

// close ends all sessions. Those in use end with their statement.
func (p *pool) close() {
	p.mu.Lock()
	idle := p.idle
	p.idle, p.closed = nil, true
	p.mu.Unlock()
	for _, s := range idle {
		s.close(true)
	}
}
