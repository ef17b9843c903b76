package catalog

import (
	"context"
	"iter"
	"time"

	"github.com/hashicorp/raft"
)

// An Age says how old this replica's state may be.
type Age struct {
	// Leader is the gateway that leads, empty where none is known.
	Leader string
	// Contact is when the leader was last heard; now, where it is this one, and
	// zero where none has been since the start. A leader that was cut off takes
	// itself for one for a heartbeat more.
	Contact time.Time
	// Applied and Last are places in raft's log: up to where it was given to
	// the state, and what this replica has been sent.
	Applied, Last uint64
}

// Of returns how long ago the leader was heard; false where never since the
// start.
func (a Age) Of(now time.Time) (time.Duration, bool) {
	return max(0, now.Sub(a.Contact)), !a.Contact.IsZero()
}

// Now returns this replica's state and its age. It always answers, at once:
// with a quorum or without, after Close too.
func (r *Replica) Now() (*State, Age) {
	_, leader := r.raft.LeaderWithID()
	a := Age{Leader: string(leader), Contact: r.raft.LastContact(), Applied: r.raft.AppliedIndex(), Last: r.raft.LastIndex()}
	r.mu.Lock()
	if r.led.After(a.Contact) {
		a.Contact = r.led
	}
	r.mu.Unlock()
	if r.Leads() {
		a.Contact = time.Now()
	}
	return r.state(), a
}

// Leads reports whether this replica leads, as far as it knows.
func (r *Replica) Leads() bool { return r.raft.State() == raft.Leader }

// Watch goes through versions of this replica's state after one, each when it
// is there, until ctx ends or the replica closes. It skips versions that came
// while the caller was busy; the last is never skipped. A follower takes what
// it needs from Now.
func (r *Replica) Watch(ctx context.Context, after uint64) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for {
			err := r.reach(ctx, func(s *State) bool { return s.Version() > after })
			if err != nil {
				return
			}
			after = r.fsm.now.Load().state.Version()
			if !yield(after) {
				return
			}
		}
	}
}

// reach waits until the state is as far as there says.
func (r *Replica) reach(ctx context.Context, there func(*State) bool) error {
	for {
		now := r.fsm.now.Load()
		if there(now.state) {
			return nil
		}
		select {
		case <-now.next:
		case <-ctx.Done():
			return ctx.Err()
		case <-r.closing:
			return ErrClosed
		}
	}
}
