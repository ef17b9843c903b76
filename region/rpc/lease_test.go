package rpc

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"headwater/graph"
)

// A pipes is a network in memory, inside a synctest bubble.
type pipes struct {
	conns chan net.Conn
	ended context.Context
	close context.CancelFunc
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.ended.Done():
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.close()
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p.conns <- far:
		return near, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// inMemory returns a client of a handler over a network in memory.
func inMemory(t *testing.T, o HandlerOptions, co ClientOptions) (*Client, *Handler) {
	h := newHandler(t, o)
	s := NewServer(h, nil)
	p := &pipes{conns: make(chan net.Conn)}
	p.ended, p.close = context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(p) }()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		<-done
	})
	co.Dial = p.dial
	return newClient(t, co, "eu:7400"), h
}

// A shelf is a reader that counts which of its views are open.
type shelf struct {
	opened, closed atomic.Int32
	fake
}

func (s *shelf) View(context.Context, graph.At) (graph.View, error) {
	s.opened.Add(1)
	f := s.fake
	f.marks = map[string]graph.Mark{"eu": {Position: uint64(s.opened.Load())}}
	f.close = func() error {
		s.closed.Add(1)
		return nil
	}
	return &f, nil
}

func (s *shelf) want(t *testing.T, opened, closed int32) {
	t.Helper()
	synctest.Wait()
	if o, c := s.opened.Load(), s.closed.Load(); o != opened || c != closed {
		t.Errorf("%d views opened and %d closed, want %d and %d", o, c, opened, closed)
	}
}

func resolve(t *testing.T, v graph.View, want error) {
	t.Helper()
	if id, err := v.Resolve(t.Context(), graph.ID{1}); !errors.Is(err, want) || err == nil && id != (graph.ID{1}) {
		t.Errorf("%v, %v, want %v", id, err, want)
	}
}

func TestAViewThatNobodyAsksExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		c, _ := inMemory(t, HandlerOptions{Reader: s, Idle: 30 * time.Second}, ClientOptions{})
		v, w := open(t, c), open(t, c)
		resolve(t, v, nil)
		time.Sleep(20 * time.Second)
		resolve(t, v, nil)
		resolve(t, w, nil)
		s.want(t, 2, 0)
		time.Sleep(20 * time.Second)
		resolve(t, v, nil) // 20 s is not too long
		time.Sleep(11 * time.Second)
		s.want(t, 2, 1) // w, 31 s
		resolve(t, w, ErrExpired)
		resolve(t, w, graph.ErrUnavailable)
		resolve(t, v, nil)
		time.Sleep(31 * time.Second)
		s.want(t, 2, 2)
		resolve(t, v, ErrExpired)
	})
}

func TestAViewThatIsBeingAskedDoesNotExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		s.resolve = func(_ context.Context, id graph.ID) (graph.ID, error) {
			time.Sleep(40 * time.Second)
			return id, nil
		}
		c, _ := inMemory(t, HandlerOptions{Reader: s}, ClientOptions{})
		v := open(t, c)
		resolve(t, v, nil)
		time.Sleep(29 * time.Second)
		s.want(t, 1, 0)
		resolve(t, v, nil)
		time.Sleep(31 * time.Second)
		s.want(t, 1, 1)
	})
}

func TestTheLongestIdleViewMakesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		c, h := inMemory(t, HandlerOptions{Reader: s, Views: 2}, ClientOptions{})
		u, v, w := open(t, c), open(t, c), open(t, c)
		resolve(t, u, nil)
		resolve(t, v, nil)
		resolve(t, u, nil) // so v is idle longest
		resolve(t, w, nil)
		s.want(t, 3, 1)
		resolve(t, v, ErrExpired)
		resolve(t, u, nil)
		if n := h.leases.count(); n != 2 {
			t.Errorf("%d views are open, want 2", n)
		}
	})
}

func TestNoViewIsOpenedWhereAllAreBeingAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wait := make(chan bool)
		s := &shelf{}
		s.resolve = func(_ context.Context, id graph.ID) (graph.ID, error) {
			<-wait
			return id, nil
		}
		c, _ := inMemory(t, HandlerOptions{Reader: s, Views: 1}, ClientOptions{})
		v, w := open(t, c), open(t, c)
		var asked sync.WaitGroup
		asked.Go(func() { resolve(t, v, nil) })
		synctest.Wait()
		resolve(t, w, graph.ErrUnavailable)
		close(wait)
		asked.Wait()
		s.want(t, 1, 0)
	})
}

func TestClosingAViewClosesItAtTheRegion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		c, _ := inMemory(t, HandlerOptions{Reader: s}, ClientOptions{})
		for range 3 {
			v, err := c.View(t.Context(), graph.At{})
			if err != nil {
				t.Fatal(err)
			}
			resolve(t, v, nil)
			if err := v.Close(); err != nil {
				t.Fatal(err)
			}
			resolve(t, v, errClosed)
		}
		time.Sleep(closeGather)
		s.want(t, 3, 3)
	})
}

// TestAViewIsClosedThoughItsAnswerNeverCame: the region opens it while the
// asker goes away.
func TestAViewIsClosedThoughItsAnswerNeverCame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		s.resolve = func(ctx context.Context, id graph.ID) (graph.ID, error) {
			<-ctx.Done()
			return id, ctx.Err()
		}
		c, _ := inMemory(t, HandlerOptions{Reader: s}, ClientOptions{})
		v := open(t, c)
		ctx, cancel := context.WithCancel(t.Context())
		var asked sync.WaitGroup
		asked.Go(func() {
			if _, err := v.Resolve(ctx, graph.ID{}); !errors.Is(err, context.Canceled) || errors.Is(err, graph.ErrUnavailable) {
				t.Errorf("%v, want only context.Canceled", err)
			}
		})
		synctest.Wait()
		cancel()
		asked.Wait()
		if err := v.Close(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(closeGather)
		s.want(t, 1, 1)
	})
}

func TestFirstQuestionsAtOnceOpenOneView(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		slow := reader(func(ctx context.Context, at graph.At) (graph.View, error) {
			time.Sleep(time.Second)
			return s.View(ctx, at)
		})
		c, _ := inMemory(t, HandlerOptions{Reader: slow}, ClientOptions{})
		v := open(t, c)
		hasty, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		var asked sync.WaitGroup
		asked.Go(func() {
			if _, err := v.Resolve(hasty, graph.ID{}); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v, want DeadlineExceeded", err)
			}
		})
		for range 4 {
			asked.Go(func() { resolve(t, v, nil) })
		}
		asked.Wait()
		s.want(t, 1, 0)
	})
}

// TestOthersOpenWhatTheFirstGaveUp: the first asker's time is not that of
// those who wait for it.
func TestOthersOpenWhatTheFirstGaveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		slow := reader(func(ctx context.Context, at graph.At) (graph.View, error) {
			select {
			case <-time.After(time.Second):
				return s.View(ctx, at)
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		})
		l := newLeases(slow, time.Minute, 4, quiet)
		hasty, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		var asked sync.WaitGroup
		q := &question{fresh: true}
		asked.Go(func() {
			if _, err := l.take(hasty, q); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v, want DeadlineExceeded", err)
			}
		})
		synctest.Wait()
		asked.Go(func() {
			mine, err := l.take(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			l.release(mine)
		})
		asked.Wait()
		s.want(t, 1, 0)
		l.close()
		s.want(t, 1, 1)
		if _, err := l.take(t.Context(), q); !errors.Is(err, errClosing) {
			t.Errorf("%v, want that it is closed", err)
		}
	})
}

func TestAViewOpenedAnewUnderItsLeaseHasExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := inMemory(t, HandlerOptions{Reader: &shelf{}}, ClientOptions{})
		v := open(t, c).(*view)
		resolve(t, v, nil)
		v.opening++ // as if the first answer had been of another node
		resolve(t, v, ErrExpired)
	})
}

// TestNoViewIsLeftOpen: views come and go by many at once, more than may be
// open, and each that was opened is closed once.
func TestNoViewIsLeftOpen(t *testing.T) {
	s := &shelf{}
	c, h := connect(t, HandlerOptions{Reader: s, Views: 3})
	var asked sync.WaitGroup
	for range 8 {
		asked.Go(func() {
			for range 20 {
				v, err := c.View(t.Context(), graph.At{})
				if err != nil {
					t.Error(err)
					return
				}
				for range 2 { // it may expire, or find no room
					if _, err := v.Resolve(t.Context(), graph.ID{}); err != nil && !errors.Is(err, graph.ErrUnavailable) {
						t.Error(err)
					}
				}
				if err := v.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	asked.Wait()
	if n := h.leases.count(); n > 3 {
		t.Errorf("%d views are open, 3 are allowed", n)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if o, c := s.opened.Load(), s.closed.Load(); o != c || o == 0 {
		t.Errorf("%d views were opened and %d closed", o, c)
	}
}
