// Package standin is a graphd for tests, with its storage in memory, on the
// server code that comes with the client. It understands the statements that
// headwater sends, and refuses all others, in the words of NebulaGraph 3.8.0.
//
//	standin.go  the server and its sessions
//	conn.go     connections that can be cut while they wait
//	fault.go    what goes wrong on purpose
//	lex.go, parse.go, parseschema.go, parserows.go, expr.go  text becomes clauses
//	value.go    values, and what they are on the wire
//	schema.go   spaces, tags and edge types, and who has heard of them
//	store.go    partitions: a vertex is one record, an edge is two
//	run.go, write.go, read.go  what the clauses do
//
// What hurts with the real one hurts here: an INSERT that fails is stored in
// part, an edge may be there in one direction, what is answered late stays in
// the connection, hubs can be cut short without a word, a schema is of no use
// until the heartbeats have told of it.
package standin

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"

	"github.com/vesoft-inc/fbthrift/thrift/lib/go/thrift"
	"github.com/vesoft-inc/nebula-go/v3/nebula"
	"github.com/vesoft-inc/nebula-go/v3/nebula/graph"
)

// Options say what the stand-in is like. The zero value works.
type Options struct {
	// Address is where it listens. Default: a free port of 127.0.0.1.
	Address string
	// Password, if set, is that of root; otherwise anything goes.
	Password string
	// Heartbeat is how many statements it takes until graphd has heard of a
	// change of the schema; storaged hears of it after as many again, and the
	// parts of a new space find their leaders one by one then.
	Heartbeat int
	// MaxEdges is max_edge_returned_per_vertex: of a vertex that has more, so
	// many are returned, without a word. 0 is all.
	MaxEdges int
	// MaxSessions is how many sessions there may be. Default: 300.
	MaxSessions int
	// Beside makes it another graphd of the same graph; it shares the storage,
	// with its Heartbeat, and the sessions.
	Beside *Server
}

// A Server is a graphd with its storage. Its methods may be called by many at
// once.
type Server struct {
	o       Options
	address string
	count   atomic.Uint64
	faults  faults
	store   *store
	plans   plans

	done       chan struct{} // closed by Close
	background sync.WaitGroup

	mu       sync.Mutex // guards all below
	listener net.Listener
	conns    map[*conn]struct{}
	serving  sync.WaitGroup
}

// sessions are kept with the storage, by id.
type sessions struct {
	mu     sync.Mutex // guards both
	byID   map[int64]*session
	lastID int64
}

// A session is what is known of a client.
type session struct {
	at    *Server
	mu    sync.Mutex // guards space
	space string
}

// Start starts a stand-in.
func Start(o Options) (*Server, error) {
	if o.Address == "" {
		o.Address = "127.0.0.1:0"
	}
	if o.MaxSessions == 0 {
		o.MaxSessions = 300
	}
	s := &Server{o: o, address: o.Address, conns: map[*conn]struct{}{}, done: make(chan struct{})}
	s.faults.gate = newGate()
	if o.Beside != nil {
		s.store = o.Beside.store
	} else {
		s.store = &store{heartbeat: uint64(o.Heartbeat), spaces: map[string]*space{}}
		// No two storages give one id.
		s.store.sessions = sessions{byID: map[int64]*session{}, lastID: rand.Int64N(1 << 40)}
	}
	return s, s.Resume()
}

// Addr is where the server listens, host:port.
func (s *Server) Addr() string { return s.address }

// Statements returns how many statements came, whatever came of them; USE and
// KILL are not counted, nor is what the client sends to see who is there.
func (s *Server) Statements() uint64 { return s.count.Load() }

// Sessions returns how many sessions there are.
func (s *Server) Sessions() int {
	all := &s.store.sessions
	all.mu.Lock()
	defer all.mu.Unlock()
	return len(all.byID)
}

// Resume listens again after Stop, at the same address. What was stored is
// there, and so are the sessions, but the space they were in is not.
func (s *Server) Resume() error {
	listener, err := net.Listen("tcp", s.address)
	if err != nil {
		return fmt.Errorf("stand-in for graphd: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listener, s.address = listener, listener.Addr().String()
	s.serving.Go(func() { s.accept(listener) })
	return nil
}

// Stop cuts all connections and listens no more.
func (s *Server) Stop() {
	s.mu.Lock()
	if s.listener != nil {
		_ = s.listener.Close()
		s.listener = nil
	}
	for c := range s.conns {
		_ = c.Close()
	}
	s.mu.Unlock()
	s.serving.Wait()
	all := &s.store.sessions
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, session := range all.byID {
		if session.at == s {
			session.mu.Lock()
			session.space = ""
			session.mu.Unlock()
		}
	}
}

// Close is Stop, for good.
func (s *Server) Close() {
	s.Stop()
	close(s.done)
	s.background.Wait()
}

func (s *Server) accept(listener net.Listener) {
	for {
		nc, err := listener.Accept()
		if err != nil {
			return
		}
		c := &conn{Conn: nc}
		s.mu.Lock()
		if s.listener != listener {
			s.mu.Unlock()
			_ = nc.Close()
			return
		}
		s.conns[c] = struct{}{}
		s.serving.Go(func() {
			s.serve(c)
			_ = c.Close()
			s.mu.Lock()
			delete(s.conns, c)
			s.mu.Unlock()
		})
		s.mu.Unlock()
	}
}

// serve answers what comes on a connection, one after the other, until it is
// closed.
func (s *Server) serve(c *conn) {
	socket, err := thrift.NewSocket(thrift.SocketConn(c))
	if err != nil {
		return
	}
	transport := thrift.NewHeaderTransport(thrift.NewBufferedTransportFactory(16 << 10).GetTransport(socket))
	protocol := thrift.NewHeaderProtocolFactory().GetProtocol(transport)
	processor := graph.NewGraphServiceProcessor(&handler{server: s, conn: c})
	for {
		if more, err := thrift.ProcessContext(context.Background(), processor, protocol, protocol); !more || err != nil {
			return
		}
	}
}

// A handler answers what comes on one connection.
type handler struct {
	server *Server
	conn   *conn
}

var _ graph.GraphService = (*handler)(nil)

// VerifyClientVersion implements graph.GraphService.
func (h *handler) VerifyClientVersion(context.Context, *graph.VerifyClientVersionReq) (*graph.VerifyClientVersionResp, error) {
	return &graph.VerifyClientVersionResp{ErrorCode: nebula.ErrorCode_SUCCEEDED}, nil
}

// Authenticate implements graph.GraphService.
func (h *handler) Authenticate(_ context.Context, user, password []byte) (*graph.AuthResponse, error) {
	s := h.server
	refuse := func(code nebula.ErrorCode, message string) (*graph.AuthResponse, error) {
		return &graph.AuthResponse{ErrorCode: code, ErrorMsg: []byte(message)}, nil
	}
	switch {
	case s.o.Password == "" && string(user) != "root":
		return refuse(nebula.ErrorCode_E_SESSION_INVALID, "Create session failed: User not existed!")
	case s.o.Password != "" && string(user) != "root":
		return refuse(nebula.ErrorCode_E_BAD_USERNAME_PASSWORD, "User not exist")
	case s.o.Password != "" && string(password) != s.o.Password:
		return refuse(nebula.ErrorCode_E_BAD_USERNAME_PASSWORD, "Invalid password")
	}
	all := &s.store.sessions
	all.mu.Lock()
	defer all.mu.Unlock()
	if len(all.byID) >= s.o.MaxSessions {
		return refuse(nebula.ErrorCode_E_SESSION_INVALID, fmt.Sprintf("Create Session failed: Too many sessions created from 127.0.0.1 by user root. the threshold is %d.", s.o.MaxSessions))
	}
	all.lastID++
	id, offset := all.lastID, int32(0)
	all.byID[id] = &session{at: s}
	return &graph.AuthResponse{ErrorCode: nebula.ErrorCode_SUCCEEDED, SessionID: &id, TimeZoneOffsetSeconds: &offset, TimeZoneName: []byte("UTC")}, nil
}

// Signout implements graph.GraphService.
func (h *handler) Signout(_ context.Context, id int64) error {
	h.server.store.sessions.kill(id)
	return nil
}

func (s *sessions) kill(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byID, id)
}

func (s *sessions) get(id int64) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byID[id]
}

// Execute implements graph.GraphService.
func (h *handler) Execute(ctx context.Context, id int64, text []byte) (*graph.ExecutionResponse, error) {
	return h.ExecuteWithParameter(ctx, id, text, nil)
}

var errNoJSON = errors.New("the stand-in does not answer in JSON")

// ExecuteJson implements graph.GraphService; it refuses.
func (h *handler) ExecuteJson(context.Context, int64, []byte) ([]byte, error) { return nil, errNoJSON }

// ExecuteJsonWithParameter implements graph.GraphService; it refuses.
func (h *handler) ExecuteJsonWithParameter(context.Context, int64, []byte, map[string]*nebula.Value) ([]byte, error) {
	return nil, errNoJSON
}

// ping is what the client's pool asks, in session 0, to see who is there.
const ping = "YIELD 1"

// ExecuteWithParameter implements graph.GraphService.
func (h *handler) ExecuteWithParameter(_ context.Context, id int64, text []byte, params map[string]*nebula.Value) (*graph.ExecutionResponse, error) {
	s := h.server
	if id == 0 && string(text) == ping {
		return reply(&table{columns: []string{"1"}, rows: [][]value{{intValue(1)}}}, nil, ""), nil
	}
	session := s.store.sessions.get(id)
	if session == nil {
		return reply(nil, refuse(codeSession, "Get sessionId[%d] failed: Session `%d' not found: Session not existed!", id, id), ""), nil
	}
	r := &run{server: s, store: s.store, session: session, params: params}
	plan, err := s.plans.parse(string(text))
	if err == nil {
		err = plan.check(params)
	}
	if err != nil {
		s.count.Add(1)
		return reply(nil, err, session.in()), nil
	}
	if !plan.counted {
		t, err := r.all(plan.statements)
		return reply(t, err, session.in()), nil
	}
	fault, gate := s.faults.next(s.count.Add(1), string(text))
	t, err := h.faulty(fault, gate, r, plan)
	if errors.Is(err, errCut) {
		_ = h.conn.Close()
	}
	return reply(t, err, session.in()), nil
}

func (s *session) in() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.space
}
