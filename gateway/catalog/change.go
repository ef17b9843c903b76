package catalog

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/raft"
)

// A request is what one replica asks of the one that leads.
type request struct {
	Format  int    `json:"format"`
	Op      string `json:"op"` // change, join or leave
	Command []byte `json:"command,omitempty"`
	Peer    Peer   `json:"peer,omitzero"`
	Who     string `json:"who,omitempty"`
}

// requestFormat is the version of requests and replies.
const requestFormat = 1

// A reply is the answer to a request.
type reply struct {
	Format int    `json:"format"`
	Result Result `json:"result"`
	// Fault is empty where it was done.
	Fault  fault  `json:"fault,omitempty"`
	Reason string `json:"reason,omitempty"`
}

type fault string

const (
	faultRefused fault = "refused" // definitely not done, and asking again is no use
	faultNotNow  fault = "not now" // definitely not done; asked elsewhere or later it may be
	faultUnknown fault = "unknown" // may have been done
)

func faulty(f fault, err error) reply {
	return reply{Format: requestFormat, Fault: f, Reason: reasonOf(err)}
}

// Change makes one change, whichever gateway leads, and returns once this
// replica shows it. It fills in what c leaves out: ID, Seen, At. The error is
// ErrRefused, ErrNoQuorum, ErrUnknown or ErrClosed, each with its reason; with
// the end of ctx it is ErrNoQuorum or ErrUnknown, too, and wraps ctx's. An id
// of the caller's own is known for the next 4096 commands.
func (r *Replica) Change(ctx context.Context, c Command) (Result, error) {
	if c.ID == "" {
		c.ID = rand.Text()
	}
	if c.Seen == 0 {
		c.Seen = r.fsm.now.Load().state.Seq()
	}
	if c.At == 0 {
		c.At = time.Now().UnixNano()
	}
	b, err := c.Encode()
	if err != nil {
		return Result{}, err
	}
	res, err := r.ask(ctx, request{Format: requestFormat, Op: "change", Command: b}, func() (Result, bool, error) {
		return r.fsm.now.Load().state.Receipt(c.ID)
	})
	if errors.Is(err, ErrUnknown) {
		err = &Undecided{c, err}
	}
	if err != nil {
		return res, fmt.Errorf("%s: %w", c.Do.kind(), err)
	}
	// It is made. That this replica can't show it yet is no reason to say
	// otherwise: its age tells.
	wait, cancel := context.WithTimeout(ctx, r.o.Patience)
	defer cancel()
	_ = r.reach(wait, func(s *State) bool { return s.Seq() >= res.Seq })
	return res, nil
}

// ask gives the request to the leader until there is an answer. known tells
// whether this replica has seen what became of it.
func (r *Replica) ask(ctx context.Context, q request, known func() (Result, bool, error)) (Result, error) {
	caller := ctx
	ctx, cancel := context.WithTimeout(ctx, r.o.Patience)
	defer cancel()
	began := time.Now()
	maybe, last := false, "no gateway leads"
	for {
		rep := r.try(ctx, q)
		switch rep.Fault {
		case "":
			return rep.Result, nil
		case faultRefused:
			return rep.Result, refused("%s", rep.Reason)
		case faultUnknown:
			maybe = true
		}
		last = rep.Reason
		r.pause(ctx)
		if res, ok, err := known(); ok {
			return res, err
		}
		if r.closed() || ctx.Err() != nil {
			break
		}
	}
	err := ErrNoQuorum
	if maybe {
		err = ErrUnknown
	}
	switch {
	case r.closed():
		err = errors.Join(err, ErrClosed)
	case caller.Err() != nil:
		err = errors.Join(err, context.Cause(caller))
	}
	return Result{}, fmt.Errorf("after %v (%s): %w", time.Since(began).Round(time.Millisecond), last, err)
}

// try asks whom this replica takes for the leader, once.
func (r *Replica) try(ctx context.Context, q request) reply {
	address, id := r.raft.LeaderWithID()
	switch {
	case id == "":
		return faulty(faultNotNow, errors.New("no gateway leads"))
	case string(id) == r.o.Self.Name:
		return r.lead(ctx, q)
	}
	b, err := json.Marshal(q)
	if err != nil {
		return faulty(faultRefused, err)
	}
	// A leader that answers nothing is given up before patience ends, to look
	// for the next.
	ctx, cancel := context.WithTimeout(ctx, 4*r.o.Heartbeat)
	defer cancel()
	got, err := r.o.Forwarder.Forward(ctx, r.peer(raft.Server{ID: id, Address: address}), b)
	switch {
	case errors.Is(err, ErrNotSent):
		return faulty(faultNotNow, fmt.Errorf("forward to gateway %q: %w", id, err))
	case err != nil:
		return faulty(faultUnknown, fmt.Errorf("forward to gateway %q: %w", id, err))
	}
	var rep reply
	if err := json.Unmarshal(got, &rep); err != nil || rep.Format != requestFormat {
		return faulty(faultUnknown, fmt.Errorf("the answer of gateway %q can't be read: format %d: %v", id, rep.Format, err))
	}
	return rep
}

// Serve answers a request that another replica's Forwarder brought. The caller
// has seen to it that it comes from a gateway. It never forwards, so requests
// don't go round.
func (r *Replica) Serve(ctx context.Context, b []byte) []byte {
	rep := faulty(faultRefused, errors.New("the request has a format that this build does not know"))
	if q, err := decodeStrictly[request](b); err != nil {
		rep = faulty(faultRefused, fmt.Errorf("the request can't be read: %w", err))
	} else if q.Format == requestFormat {
		rep = r.lead(ctx, q)
	}
	out, err := json.Marshal(rep)
	if err != nil {
		return []byte(`{}`) // no format: the asker takes it as not known
	}
	return out
}

// lead does what is asked, if this replica leads.
func (r *Replica) lead(ctx context.Context, q request) reply {
	// Most gateways must say that they follow before anything is put into the
	// log, so that a leader which was cut off can still refuse clearly.
	if r.raft.State() != raft.Leader {
		return faulty(faultNotNow, ErrNotLeader)
	}
	if err, _ := r.await(ctx, func() error { return r.raft.VerifyLeader().Error() }); err != nil {
		return faulty(faultNotNow, fmt.Errorf("%w: %w", ErrNotLeader, err))
	}
	switch q.Op {
	case "change":
		return r.put(ctx, q.Command)
	case "join":
		return r.join(ctx, q.Peer, q.Who)
	case "leave":
		return r.leave(ctx, q.Peer.Name, q.Who)
	}
	return faulty(faultRefused, fmt.Errorf("this build knows no request %q", q.Op))
}

// put takes a command through raft's log.
func (r *Replica) put(ctx context.Context, command []byte) reply {
	// What every replica would refuse without a trace need not go there.
	if _, err := DecodeCommand(command); err != nil {
		return faulty(faultRefused, err)
	}
	var f raft.ApplyFuture
	err, done := r.await(ctx, func() error {
		f = r.raft.Apply(command, r.o.Heartbeat)
		return f.Error()
	})
	if !done || err != nil {
		return faulty(faultOf(err), err)
	}
	out, ok := f.Response().(outcome)
	switch {
	case !ok:
		return faulty(faultUnknown, fmt.Errorf("raft answered %T", f.Response()))
	case errors.Is(out.err, ErrRefused):
		rep := faulty(faultRefused, out.err)
		rep.Result = out.result
		return rep
	}
	return reply{Format: requestFormat, Result: out.result}
}

// faultOf tells what raft certainly did not do from what it may have done.
func faultOf(err error) fault {
	for _, never := range [...]error{ErrClosed, raft.ErrNotLeader, raft.ErrEnqueueTimeout, raft.ErrLeadershipTransferInProgress} {
		if errors.Is(err, never) {
			return faultNotNow
		}
	}
	return faultUnknown
}

func (r *Replica) closed() bool {
	select {
	case <-r.closing:
		return true
	default:
		return false
	}
}
