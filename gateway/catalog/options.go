package catalog

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/hashicorp/raft"
)

// A Peer is a gateway as its replica's raft knows it.
type Peer struct {
	// Name tells gateways apart, for good: it goes with the data folder.
	Name string `json:"name"`
	// Address is where its raft listens, host:port.
	Address string `json:"address"`
	// Serves is where it takes forwarded requests, in the Forwarder's terms.
	Serves string `json:"serves"`
}

// A Forwarder carries a request to the gateway that leads, whose process gives
// it to Replica.Serve and sends back what that returns. It is the only way
// between replicas besides raft, so that the gateway keeps one port, one TLS
// and one authorisation: over HTTP it is a POST of the body to to.Serves. It
// must honour ctx. An error that wraps ErrNotSent says that the request
// certainly did not arrive.
type Forwarder interface {
	Forward(ctx context.Context, to Peer, request []byte) (reply []byte, err error)
}

// Options are how a replica runs. Self and Forwarder are needed.
type Options struct {
	// Self is this gateway. Its address is what others dial; it listens on
	// Listen.
	Self Peer
	// Listen is where raft listens; empty is Self.Address.
	Listen string
	// First are the gateways that found the catalog, Self among them, the same
	// at each. It counts only where Dir is empty. A gateway that joins later
	// has none and waits to be asked in (Join).
	First []Peer
	// Dir keeps raft's log, votes and snapshots; empty is in memory, for tests.
	Dir string
	// Forwarder reaches the leader.
	Forwarder Forwarder
	// TLS is for raft's own connections, both ways: its certificates are shown
	// and, with ClientAuth, asked for. nil is without TLS.
	TLS *tls.Config
	// Transport replaces the one over TCP, for tests. Close does not close it.
	Transport raft.Transport
	// Heartbeat is how long a leader may be silent before others stand for
	// election: 500 ms. A new leader is there after one to three of them, four
	// or five where votes were split. It should be ten round trips at least.
	Heartbeat time.Duration
	// Patience is how long Change waits for a leader where ctx does not end
	// sooner: 5 s.
	Patience time.Duration
	// SnapshotAfter is how many commands a snapshot follows, looked for every
	// SnapshotEvery: 1024 and two minutes. Trailing is how many commands stay
	// in the log for followers that lag: 1024.
	SnapshotAfter uint64
	SnapshotEvery time.Duration
	Trailing      uint64
	// Log is slog's default where it is nil.
	Log *slog.Logger

	// noSync leaves out fsync, in tests that end no process.
	noSync bool
}

// Validate says what can't work, and fills in defaults.
func (o *Options) Validate() error {
	var errs []error
	if err := checkWord("gateway", o.Self.Name); err != nil {
		errs = append(errs, err)
	}
	if o.Self.Address == "" && o.Transport == nil {
		errs = append(errs, errors.New("the gateway's raft address is missing"))
	}
	if o.Forwarder == nil {
		errs = append(errs, errors.New("the Forwarder is missing"))
	}
	self := len(o.First) == 0
	names, addresses := map[string]bool{}, map[string]bool{}
	for _, p := range o.First {
		if names[p.Name] || addresses[p.Address] || p.Name == "" || p.Address == "" {
			errs = append(errs, fmt.Errorf("first gateway %q at %q: a name and an address of its own are needed", p.Name, p.Address))
		}
		names[p.Name], addresses[p.Address] = true, true
		self = self || p.Name == o.Self.Name && p.Address == o.Self.Address
	}
	if !self {
		errs = append(errs, fmt.Errorf("gateway %q at %q is not among the first", o.Self.Name, o.Self.Address))
	}
	for _, d := range [...]struct {
		what string
		d    *time.Duration
		or   time.Duration
	}{{"heartbeat", &o.Heartbeat, 500 * time.Millisecond}, {"patience", &o.Patience, 5 * time.Second}, {"snapshotEvery", &o.SnapshotEvery, 2 * time.Minute}} {
		if *d.d < 0 || *d.d > 0 && *d.d < 10*time.Millisecond {
			errs = append(errs, fmt.Errorf("%s %v is too short", d.what, *d.d))
		}
		if *d.d == 0 {
			*d.d = d.or
		}
	}
	if o.SnapshotAfter == 0 {
		o.SnapshotAfter = 1024
	}
	if o.Trailing == 0 {
		o.Trailing = 1024
	}
	if o.Listen == "" {
		o.Listen = o.Self.Address
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return errors.Join(errs...)
}

func (o *Options) raft() *raft.Config {
	c := raft.DefaultConfig()
	c.LocalID = raft.ServerID(o.Self.Name)
	c.HeartbeatTimeout, c.ElectionTimeout, c.LeaderLeaseTimeout = o.Heartbeat, o.Heartbeat, o.Heartbeat
	c.CommitTimeout = o.Heartbeat / 10
	c.SnapshotThreshold, c.SnapshotInterval, c.TrailingLogs = o.SnapshotAfter, o.SnapshotEvery, o.Trailing
	c.ShutdownOnRemove = false // its reads go on until the process ends
	c.Logger = raftLog(o.Log)
	return c
}
