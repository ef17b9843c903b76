package rpc

import (
	"context"
	"sync"
	"time"
)

// A closer tells regions, behind the callers' backs, which views are closed.
type closer struct {
	send func(ctx context.Context, address string, ids []leaseID)

	running sync.WaitGroup
	hurry   chan struct{} // closed by close

	mu      sync.Mutex // guards all below
	waiting map[string][]leaseID
	busy    bool // somebody sends
	closed  bool
}

func newCloser(send func(ctx context.Context, address string, ids []leaseID)) *closer {
	return &closer{send: send, hurry: make(chan struct{}), waiting: map[string][]leaseID{}}
}

const (
	// closeTime is how long a region may take to hear of closed views.
	closeTime = 2 * time.Second
	// closeMost is how many views may wait at each address for the region to
	// hear of them. Of more it does not hear, and closes them in its time.
	closeMost = 1024
	// closeGather is how long a closed view waits for others, so that questions
	// which come one after the other do not each cost another request.
	closeGather = 50 * time.Millisecond
)

func (l *closer) add(address string, id leaseID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || len(l.waiting[address]) == closeMost {
		return
	}
	l.waiting[address] = append(l.waiting[address], id)
	if !l.busy {
		l.busy = true
		l.running.Go(l.run)
	}
}

// run sends until nothing waits.
func (l *closer) run() {
	for {
		select {
		case <-time.After(closeGather):
		case <-l.hurry:
		}
		address, ids := l.next()
		if ids == nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), closeTime)
		l.send(ctx, address, ids)
		cancel()
	}
}

// next takes all that waits for one address; where nothing does, whoever adds
// something runs anew.
func (l *closer) next() (string, []leaseID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for address, ids := range l.waiting {
		delete(l.waiting, address)
		return address, ids
	}
	l.busy = false
	return "", nil
}

// close waits until the regions have heard of all that waits, or have had the
// time for it.
func (l *closer) close() {
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		close(l.hurry)
	}
	l.mu.Unlock()
	l.running.Wait()
}
