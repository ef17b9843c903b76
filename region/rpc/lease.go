package rpc

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"headwater/graph"
)

// leases are the views that are open. A view that nobody has asked for idle is
// closed; so is the one that has been idle longest, where there would be more
// than most.
type leases struct {
	reader graph.Reader
	idle   time.Duration
	most   int
	log    *slog.Logger

	closing sync.WaitGroup // views that are being closed

	mu     sync.Mutex // guards all below
	byID   map[leaseID]*lease
	unused *list.List // of leases that nobody uses; the longest idle first
	timer  *time.Timer
	closed bool
}

// A lease is a view that is open, or being opened.
type lease struct {
	id      leaseID
	opening uint64
	// ready is closed once view or err is set.
	ready chan struct{}
	view  graph.View
	err   error

	// leases.mu guards these.
	users int
	since time.Time     // when it was used last
	place *list.Element // in unused; nil while it is used
	gone  bool          // nobody finds it any more
}

func newLeases(reader graph.Reader, idle time.Duration, most int, log *slog.Logger) *leases {
	return &leases{reader: reader, idle: idle, most: most, log: log, byID: map[leaseID]*lease{}, unused: list.New()}
}

// take returns the view that a question is for, which it opens if it may. The
// lease is the caller's to release.
func (s *leases) take(ctx context.Context, q *question) (*lease, error) {
	for {
		l, mine, err := s.find(q)
		if err != nil {
			return nil, err
		}
		if mine {
			return s.open(ctx, l, q.at)
		}
		select {
		case <-l.ready:
		case <-ctx.Done():
			s.release(l)
			return nil, ctx.Err()
		}
		if l.err == nil {
			return l, nil
		}
		s.release(l)
		if cause := l.err; !errors.Is(cause, context.Canceled) && !errors.Is(cause, context.DeadlineExceeded) {
			return nil, cause
		}
		// Who opened it gave up; that says nothing to others.
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
}

// find returns a lease that is there, or one that the caller has to open.
func (s *leases) find(q *question) (l *lease, mine bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, false, errClosing
	}
	if l := s.byID[q.lease]; l != nil {
		l.users++
		if l.place != nil {
			s.unused.Remove(l.place)
			l.place = nil
		}
		return l, false, nil
	}
	if !q.fresh {
		return nil, false, ErrExpired
	}
	if len(s.byID) >= s.most {
		oldest := s.unused.Front()
		if oldest == nil {
			return nil, false, fmt.Errorf("%w: %d views are open, and all are being asked", graph.ErrUnavailable, s.most)
		}
		s.remove(oldest.Value.(*lease))
	}
	l = &lease{id: q.lease, opening: rand.Uint64(), ready: make(chan struct{}), users: 1}
	s.byID[l.id] = l
	return l, true, nil
}

func (s *leases) open(ctx context.Context, l *lease, at graph.At) (*lease, error) {
	// However opening ends, nobody is left waiting.
	l.err = errors.New("opening the view panicked")
	defer func() {
		if l.err != nil {
			s.mu.Lock()
			s.remove(l)
			s.mu.Unlock()
			s.release(l)
		}
		close(l.ready)
	}()
	l.view, l.err = s.reader.View(ctx, at)
	if l.err != nil {
		return nil, l.err
	}
	return l, nil
}

// release gives back what take returned.
func (s *leases) release(l *lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l.users--
	switch {
	case l.users > 0:
	case l.gone:
		s.shut(l)
	default:
		l.since = time.Now()
		l.place = s.unused.PushBack(l)
		if s.timer == nil {
			s.timer = time.AfterFunc(s.idle, s.expire)
		}
	}
}

// end closes a view when nobody uses it any more; a view that is not known is
// closed already.
func (s *leases) end(id leaseID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.byID[id]; l != nil {
		s.remove(l)
	}
}

// remove takes a lease out of all lists; mu is held.
func (s *leases) remove(l *lease) {
	if l.gone {
		return
	}
	l.gone = true
	delete(s.byID, l.id)
	if l.place != nil {
		s.unused.Remove(l.place)
		l.place = nil
		s.shut(l)
	}
}

// shut closes the view of a lease that nobody has. mu is held, so it is done
// behind the caller's back.
func (s *leases) shut(l *lease) {
	if l.view == nil {
		return
	}
	s.closing.Go(func() {
		if err := l.view.Close(); err != nil {
			s.log.Error("close a gateway's view", "err", err)
		}
	})
}

// expire closes what has been idle too long, and comes again when the next is.
func (s *leases) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for !s.closed {
		front := s.unused.Front()
		if front == nil {
			break
		}
		l := front.Value.(*lease)
		if left := s.idle - now.Sub(l.since); left > 0 {
			s.timer.Reset(left)
			return
		}
		s.remove(l)
	}
	s.timer = nil
}

// count returns how many views are open.
func (s *leases) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.byID)
}

// close ends all leases and waits until the views that nobody uses are closed.
func (s *leases) close() {
	s.mu.Lock()
	s.closed = true
	if s.timer != nil {
		s.timer.Stop()
	}
	for _, l := range s.byID {
		s.remove(l)
	}
	s.mu.Unlock()
	s.closing.Wait()
}
