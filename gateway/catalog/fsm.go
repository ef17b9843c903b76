package catalog

import (
	"errors"
	"io"
	"sync/atomic"

	"github.com/hashicorp/raft"
)

// An fsm gives raft's log to the state.
type fsm struct {
	now atomic.Pointer[published]
	// save, if set, saves a state before it is shown.
	save func(*State)
}

// A published state, with a channel that closes when the next one is there.
type published struct {
	state *State
	next  chan struct{}
}

// An outcome is what Replica gets back for what it put into raft's log.
type outcome struct {
	result Result
	err    error
}

func newFSM() *fsm {
	f := &fsm{}
	f.now.Store(&published{New(), make(chan struct{})})
	return f
}

// publish shows a state, from raft's log or from a snapshot.
func (f *fsm) publish(s *State) {
	if f.save != nil && s.Version() != f.now.Load().state.Version() {
		f.save(s)
	}
	close(f.now.Swap(&published{s, make(chan struct{})}).next)
}

// Apply is called by raft in the order of its log, at every replica.
func (f *fsm) Apply(l *raft.Log) any {
	next, result, err := f.now.Load().state.ApplyEncoded(l.Data)
	f.publish(next)
	return outcome{result, err}
}

// Snapshot takes no time: states are immutable, and raft persists this one
// while others follow.
func (f *fsm) Snapshot() (raft.FSMSnapshot, error) { return snapshot{f.now.Load().state}, nil }

// Restore is called by raft at the start, or where its log begins too late.
func (f *fsm) Restore(r io.ReadCloser) error {
	s, err := Restore(r)
	if err == nil {
		f.publish(s)
	}
	return err
}

type snapshot struct{ state *State }

func (s snapshot) Persist(sink raft.SnapshotSink) error {
	if err := s.state.Snapshot(sink); err != nil {
		return errors.Join(err, sink.Cancel())
	}
	return sink.Close()
}

func (s snapshot) Release() {}
