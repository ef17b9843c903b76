package catalog

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// A Replica is one gateway's copy of the catalog, which raft keeps equal to
// the others'. All methods may be called at once.
type Replica struct {
	o      Options
	fsm    *fsm
	raft   *raft.Raft
	stores *stores
	// saved is the state of before it was opened, nil where there is none.
	saved     *State
	transport interface{ Close() error }
	observer  *raft.Observer
	seen      chan raft.Observation

	closing chan struct{}
	once    sync.Once
	failed  error // of Close
	tasks   sync.WaitGroup

	// mu guards asked, which counts requests under way at the leader, ended,
	// which stops new ones, and what raft has told.
	mu    sync.Mutex
	asked sync.WaitGroup
	ended bool
	// silent are the gateways that the leader, if it is this one, does not hear.
	silent map[raft.ServerID]bool
	// moved closes when another leader, or none, is there.
	moved chan struct{}
	// leads is set while this one leads; led is when it last surely did.
	leads bool
	led   time.Time
}

// Open starts a replica. The caller closes it.
func Open(o Options) (_ *Replica, err error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("catalog: %w", err)
	}
	config := o.raft()
	r := &Replica{o: o, fsm: newFSM(), seen: make(chan raft.Observation, 256), closing: make(chan struct{}), silent: map[raft.ServerID]bool{}, moved: make(chan struct{})}
	r.fsm.save = r.save
	if err = r.loadSaved(); err != nil {
		return nil, fmt.Errorf("catalog: %w", err)
	}
	if r.stores, err = openStores(o.Dir, o.noSync, config.Logger); err != nil {
		return nil, fmt.Errorf("catalog: %w", err)
	}
	transport, closer, err := openTransport(&o, config.Logger)
	if err != nil {
		return nil, fmt.Errorf("catalog: %w", errors.Join(err, r.stores.close()))
	}
	r.transport = closer
	if r.raft, err = r.start(config, transport); err != nil {
		return nil, fmt.Errorf("catalog: start raft: %w", errors.Join(err, closer.Close(), r.stores.close()))
	}
	r.observer = raft.NewObserver(r.seen, false, func(ob *raft.Observation) bool {
		switch ob.Data.(type) {
		case raft.LeaderObservation, raft.RaftState, raft.FailedHeartbeatObservation, raft.ResumedHeartbeatObservation:
			return true
		}
		return false
	})
	r.raft.RegisterObserver(r.observer)
	r.tasks.Go(r.observe)
	return r, nil
}

// start founds the catalog where nothing is kept, and starts raft.
func (r *Replica) start(config *raft.Config, t raft.Transport) (*raft.Raft, error) {
	s := r.stores
	kept, err := raft.HasExistingState(s.log, s.votes, s.snapshots)
	if err != nil {
		return nil, err
	}
	if !kept && len(r.o.First) > 0 {
		var first raft.Configuration
		for _, p := range r.o.First {
			first.Servers = append(first.Servers, raft.Server{ID: raft.ServerID(p.Name), Address: raft.ServerAddress(p.Address)})
		}
		if err := raft.BootstrapCluster(config, s.log, s.votes, s.snapshots, t, first); err != nil {
			return nil, err
		}
	}
	return raft.NewRaft(config, r.fsm, s.log, s.votes, s.snapshots, t)
}

// observe follows what raft tells until the replica closes. An observation
// that is dropped costs time only: waits look again after a while.
func (r *Replica) observe() {
	for {
		select {
		case <-r.closing:
			return
		case ob := <-r.seen:
			r.mu.Lock()
			switch d := ob.Data.(type) {
			case raft.LeaderObservation:
				close(r.moved)
				r.moved = make(chan struct{})
			case raft.RaftState:
				clear(r.silent)
				if r.leads {
					r.led = time.Now().Add(-r.o.Heartbeat) // its lease
				}
				if r.leads = d == raft.Leader; r.leads {
					r.o.Log.Info("catalog: this gateway leads", "gateway", r.o.Self.Name)
					r.tasks.Go(r.announce)
				}
			case raft.FailedHeartbeatObservation:
				r.silent[d.PeerID] = true
			case raft.ResumedHeartbeatObservation:
				delete(r.silent, d.PeerID)
			}
			r.mu.Unlock()
		}
	}
}

// announce puts into the catalog where the first gateways serve, so that those
// that join later can forward to them.
func (r *Replica) announce() {
	ctx, cancel := r.working()
	defer cancel()
	if r.raft.Barrier(r.o.Patience).Error() != nil {
		return // another leads by now, and does it
	}
	for _, p := range r.o.First {
		if _, known := r.fsm.now.Load().state.Gateway(p.Name); known || p.Serves == "" || !r.isMember(p.Name) {
			continue
		}
		_, err := r.Change(ctx, Command{Who: "gateway " + r.o.Self.Name, Do: SetGateway{Gateway{p.Name, p.Serves}}})
		if err != nil {
			r.o.Log.Warn("catalog: where a gateway serves is not kept yet", "gateway", p.Name, "err", err)
			return
		}
	}
}

// working returns a context that ends when the replica closes.
func (r *Replica) working() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	stop := make(chan struct{})
	r.tasks.Go(func() {
		select {
		case <-r.closing:
			cancel()
		case <-stop:
		}
	})
	return ctx, sync.OnceFunc(func() { cancel(); close(stop) })
}

// Close stops the replica, after what it is asked as a leader has an answer.
// Without it the other gateways find a new leader.
func (r *Replica) Close() error {
	r.once.Do(func() {
		r.mu.Lock()
		r.ended = true
		r.mu.Unlock()
		close(r.closing)
		// Raft leaves some that wait without an answer when it stops. While it
		// runs none waits for long: a leader that is not followed gives up.
		r.asked.Wait()
		r.raft.DeregisterObserver(r.observer)
		err := r.raft.Shutdown().Error()
		r.tasks.Wait()
		r.failed = errors.Join(err, r.transport.Close(), r.stores.close())
	})
	return r.failed
}

// begin counts a request at the leader; false where the replica is closed.
func (r *Replica) begin() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ended {
		r.asked.Add(1)
	}
	return !r.ended
}

// await waits for raft's answer. Where ctx ends first the answer still comes,
// to nobody, and Close waits for it.
func (r *Replica) await(ctx context.Context, answer func() error) (err error, done bool) {
	if !r.begin() {
		return ErrClosed, true
	}
	got := make(chan error, 1)
	go func() {
		defer r.asked.Done()
		got <- answer()
	}()
	select {
	case err := <-got:
		return err, true
	case <-ctx.Done():
		return ctx.Err(), false
	}
}

// pause waits until the leader changes, at most for a fifth of a heartbeat.
func (r *Replica) pause(ctx context.Context) {
	r.mu.Lock()
	moved := r.moved
	r.mu.Unlock()
	t := time.NewTimer(r.o.Heartbeat / 5)
	defer t.Stop()
	select {
	case <-moved:
	case <-t.C:
	case <-ctx.Done():
	}
}
