package catalog

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/raft"
)

// Join takes a gateway in, or changes where one is. It is asked of any member;
// the newcomer runs already (Open without First) and is sent the catalog.
func (r *Replica) Join(ctx context.Context, who string, p Peer) error {
	err := checkWord("gateway", p.Name)
	if err == nil {
		err = checkText("raft address", p.Address, 300)
	}
	if err == nil {
		err = checkText("serves", p.Serves, 2000)
	}
	if err == nil {
		_, err = r.ask(ctx, request{Format: requestFormat, Op: "join", Peer: p, Who: who}, unknownYet)
	}
	if err != nil {
		return fmt.Errorf("gateway %q joins: %w", p.Name, err)
	}
	return nil
}

// Leave takes a gateway out: this one, another, one that is dead. It is asked
// of any member. A leader gives up the lead first. The process of the gateway
// that left should end; it answers reads with an age that grows.
func (r *Replica) Leave(ctx context.Context, who, name string) error {
	_, err := r.ask(ctx, request{Format: requestFormat, Op: "leave", Peer: Peer{Name: name}, Who: who}, unknownYet)
	if err != nil {
		return fmt.Errorf("gateway %q leaves: %w", name, err)
	}
	return nil
}

// unknownYet is for requests that may be made twice.
func unknownYet() (Result, bool, error) { return Result{}, false, nil }

// Members returns the gateways that vote, as far as this replica knows, by
// name.
func (r *Replica) Members() []Peer {
	f := r.raft.GetConfiguration()
	if f.Error() != nil {
		return nil
	}
	var out []Peer
	for _, s := range f.Configuration().Servers {
		out = append(out, r.peer(s))
	}
	slices.SortFunc(out, func(a, b Peer) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func (r *Replica) isMember(name string) bool {
	return slices.ContainsFunc(r.Members(), func(p Peer) bool { return p.Name == name })
}

// peer adds where a gateway serves: by the catalog, else as it began.
func (r *Replica) peer(s raft.Server) Peer {
	p := Peer{Name: string(s.ID), Address: string(s.Address)}
	if g, ok := r.fsm.now.Load().state.Gateway(p.Name); ok {
		p.Serves = g.Serves
		return p
	}
	for _, f := range r.o.First {
		if f.Name == p.Name {
			p.Serves = f.Serves
		}
	}
	return p
}

// join is Join at the leader.
func (r *Replica) join(ctx context.Context, p Peer, who string) reply {
	members := r.Members()
	for _, m := range members {
		if m.Name != p.Name && m.Address == p.Address {
			return faulty(faultRefused, fmt.Errorf("raft address %s is gateway %q's", p.Address, m.Name))
		}
		if m.Name == p.Name && m.Address == p.Address {
			return r.record(ctx, who, SetGateway{Gateway{p.Name, p.Serves}})
		}
	}
	// A newcomer counts for the quorum at once: with it, those that answer
	// must still be enough.
	if silent := r.silentOf(members); len(members)+1-len(silent) <= (len(members)+1)/2 {
		return faulty(faultRefused, fmt.Errorf("of %d gateways with it, %d (%v) do not answer; take those out first", len(members)+1, len(silent), silent))
	}
	err, done := r.await(ctx, func() error {
		return r.raft.AddVoter(raft.ServerID(p.Name), raft.ServerAddress(p.Address), 0, r.o.Patience).Error()
	})
	if !done || err != nil {
		return faulty(faultOf(err), err)
	}
	r.o.Log.Info("catalog: a gateway joined", "gateway", p.Name, "address", p.Address, "who", who)
	return r.record(ctx, who, SetGateway{Gateway{p.Name, p.Serves}})
}

// leave is Leave at the leader.
func (r *Replica) leave(ctx context.Context, name, who string) reply {
	members := r.Members()
	if !slices.ContainsFunc(members, func(p Peer) bool { return p.Name == name }) {
		return r.record(ctx, who, RemoveGateway{name})
	}
	left := slices.DeleteFunc(members, func(p Peer) bool { return p.Name == name })
	if len(left) == 0 {
		return faulty(faultRefused, fmt.Errorf("gateway %q is the last", name))
	}
	if silent := r.silentOf(left); len(left)-len(silent) <= len(left)/2 {
		return faulty(faultRefused, fmt.Errorf("of the %d gateways that would be left, %d (%v) do not answer, so there would be no quorum; take those out first", len(left), len(silent), silent))
	}
	if name == r.o.Self.Name {
		err, _ := r.await(ctx, func() error { return r.raft.LeadershipTransfer().Error() })
		if err == nil {
			err = fmt.Errorf("%w: it has given up the lead, to leave", ErrNotLeader)
		}
		return faulty(faultNotNow, err)
	}
	err, done := r.await(ctx, func() error {
		return r.raft.RemoveServer(raft.ServerID(name), 0, r.o.Patience).Error()
	})
	if !done || err != nil {
		return faulty(faultOf(err), err)
	}
	r.o.Log.Info("catalog: a gateway left", "gateway", name, "who", who)
	return r.record(ctx, who, RemoveGateway{name})
}

// record puts into the catalog what became of a gateway, so that it shows
// where the others serve and in the audit trail.
func (r *Replica) record(ctx context.Context, who string, do Change) reply {
	b, err := Command{ID: rand.Text(), Seen: r.fsm.now.Load().state.Seq(), Who: who, At: time.Now().UnixNano(), Do: do}.Encode()
	if err != nil {
		return faulty(faultRefused, err)
	}
	return r.put(ctx, b)
}

// silentOf lists those of some members that this replica, which leads, does
// not hear.
func (r *Replica) silentOf(some []Peer) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for _, p := range some {
		if r.silent[raft.ServerID(p.Name)] {
			out = append(out, p.Name)
		}
	}
	return out
}
