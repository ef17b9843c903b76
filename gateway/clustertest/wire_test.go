package clustertest

import (
	"errors"
	"io"
	"strings"
	"time"

	"github.com/hashicorp/raft"
)

// A wire is raft's transport in memory, over the network.
type wire struct {
	*raft.InmemTransport
	net *network
}

// raftWaits is how long raft waits for an answer.
const raftWaits = 500 * time.Millisecond

func newWire(n *network, address string) *wire {
	_, t := raft.NewInmemTransportWithTimeout(raft.ServerAddress(address), raftWaits)
	return &wire{t, n}
}

var errNoAnswer = errors.New("no answer")

// call sends a request and its answer over the network. Unlike what a
// connection carries it is lost where there is a cut.
func (w *wire) call(to raft.ServerAddress, f func() error) error {
	self, _, _ := strings.Cut(string(w.LocalAddr()), ":")
	peer, _, _ := strings.Cut(string(to), ":")
	pass := func() bool {
		hear, away, _ := w.net.between(self, peer)
		time.Sleep(away)
		return hear
	}
	if !pass() || !w.net.runs(peer) || !w.net.runs(self) {
		time.Sleep(raftWaits)
		return errNoAnswer
	}
	err := f()
	if !pass() {
		time.Sleep(raftWaits)
		return errNoAnswer
	}
	return err
}

func (w *wire) AppendEntriesPipeline(raft.ServerID, raft.ServerAddress) (raft.AppendPipeline, error) {
	return nil, raft.ErrPipelineReplicationNotSupported
}

func (w *wire) AppendEntries(id raft.ServerID, to raft.ServerAddress, q *raft.AppendEntriesRequest, a *raft.AppendEntriesResponse) error {
	return w.call(to, func() error { return w.InmemTransport.AppendEntries(id, to, q, a) })
}

func (w *wire) RequestVote(id raft.ServerID, to raft.ServerAddress, q *raft.RequestVoteRequest, a *raft.RequestVoteResponse) error {
	return w.call(to, func() error { return w.InmemTransport.RequestVote(id, to, q, a) })
}

func (w *wire) RequestPreVote(id raft.ServerID, to raft.ServerAddress, q *raft.RequestPreVoteRequest, a *raft.RequestPreVoteResponse) error {
	return w.call(to, func() error { return w.InmemTransport.RequestPreVote(id, to, q, a) })
}

func (w *wire) InstallSnapshot(id raft.ServerID, to raft.ServerAddress, q *raft.InstallSnapshotRequest, a *raft.InstallSnapshotResponse, data io.Reader) error {
	return w.call(to, func() error { return w.InmemTransport.InstallSnapshot(id, to, q, a, data) })
}

func (w *wire) TimeoutNow(id raft.ServerID, to raft.ServerAddress, q *raft.TimeoutNowRequest, a *raft.TimeoutNowResponse) error {
	return w.call(to, func() error { return w.InmemTransport.TimeoutNow(id, to, q, a) })
}
