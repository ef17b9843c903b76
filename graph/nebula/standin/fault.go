package standin

import (
	"errors"
	"sync"
)

// How says how a statement goes wrong.
type How int

// The ways. Those that wait do so until Release, or until the client gives the
// connection up.
const (
	// None: it does not.
	None How = iota
	// Refuse: nothing is done, and an error is answered.
	Refuse
	// Late: it is run, and the answer waits.
	Late
	// Hang: it waits, and is run when it is released, given up or not.
	Hang
	// Cut: the connection is closed before it is run.
	Cut
	// CutAfter: it is run, and the connection closed in place of an answer.
	CutAfter
	// Half: what it writes is stored in every other partition, and an error is
	// answered; of several statements the ones behind the middle one are not run.
	// What does not write is refused.
	Half
	// Torn: what it writes is stored in every other partition, then it waits,
	// and the rest is stored when it is released, given up or not.
	Torn
)

// A Fault is what goes wrong with one statement.
type Fault struct {
	How How
	// Code and Message are the error that is answered. Default: -1005,
	// "Storage Error: RPC failure, probably timeout."
	Code    int
	Message string
}

type faults struct {
	mu   sync.Mutex // guards both
	fail func(n uint64, text string) Fault
	gate *gate
}

// A gate is what statements wait at.
type gate struct {
	open    chan struct{}
	waiting sync.WaitGroup
}

func newGate() *gate { return &gate{open: make(chan struct{})} }

// Fail has fail asked of each statement, which goes by its number from 1 on,
// how it goes wrong; nil: nothing does. It may be called by many at once.
func (s *Server) Fail(fail func(n uint64, text string) Fault) {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.fail = fail
}

// FailEvery lets every k-th statement from now on go wrong.
func (s *Server) FailEvery(k int, how How) {
	start := s.count.Load()
	s.Fail(func(n uint64, _ string) Fault {
		if (n-start)%uint64(k) == 0 {
			return Fault{How: how}
		}
		return Fault{}
	})
}

// FailNext lets the next k statements go wrong.
func (s *Server) FailNext(k int, how How) {
	start := s.count.Load()
	s.Fail(func(n uint64, _ string) Fault {
		if n <= start+uint64(k) {
			return Fault{How: how}
		}
		return Fault{}
	})
}

// Release lets go of all statements that wait, and returns when they are done.
func (s *Server) Release() {
	s.faults.mu.Lock()
	g := s.faults.gate
	s.faults.gate = newGate()
	s.faults.mu.Unlock()
	close(g.open)
	g.waiting.Wait()
}

// next says how a statement goes wrong, and where it waits if it waits: it is
// told when that is over.
func (f *faults) next(n uint64, text string) (Fault, *gate) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail == nil {
		return Fault{}, nil
	}
	fault := f.fail(n, text)
	switch fault.How {
	case Late, Hang, Torn:
		f.gate.waiting.Add(1)
		return fault, f.gate
	}
	return fault, nil
}

// errCut says that the connection is to be closed.
var errCut = errors.New("cut")

// faulty runs a statement as well as a fault allows.
func (h *handler) faulty(f Fault, g *gate, r *run, p *plan) (*table, error) {
	failure := error(refuse(codeExecution, "Storage Error: RPC failure, probably timeout."))
	if f.Message != "" {
		failure = refuse(f.Code, "%s", f.Message)
	}
	all := func() (*table, error) { return r.all(p.statements) }
	switch f.How {
	case Refuse:
		return nil, failure
	case Cut:
		return nil, errCut
	case CutAfter:
		_, _ = all()
		return nil, errCut
	case Late:
		t, err := all()
		return h.wait(g, nil, func() (*table, error) { return t, err })
	case Hang:
		return h.wait(g, func() { _, _ = all() }, all)
	case Half:
		if !p.writes {
			return nil, failure
		}
		// Those before the middle one are stored.
		half := len(p.statements) / 2
		if _, err := r.all(p.statements[:half]); err != nil {
			return nil, err
		}
		r.parts = even
		_, err := r.all(p.statements[half : half+1])
		return nil, firstErr(err, failure)
	case Torn:
		if !p.writes {
			return h.wait(g, nil, all)
		}
		r.parts = even
		if _, err := all(); err != nil {
			g.waiting.Done()
			return nil, err
		}
		r.parts = odd
		return h.wait(g, func() { _, _ = all() }, all)
	}
	return all()
}

// wait waits at a gate and answers what then gives; where the client does not
// wait as long, late is run when the gate opens.
func (h *handler) wait(g *gate, late func(), then func() (*table, error)) (*table, error) {
	if h.conn.wait(g.open) {
		defer g.waiting.Done()
		return then()
	}
	if late == nil {
		g.waiting.Done()
		return nil, errCut
	}
	h.server.background.Go(func() {
		defer g.waiting.Done()
		select {
		case <-g.open:
			late()
		case <-h.server.done:
		}
	})
	return nil, errCut
}
