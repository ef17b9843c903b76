package nebula

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/vesoft-inc/fbthrift/thrift/lib/go/thrift"
	client "github.com/vesoft-inc/nebula-go/v3"
	"github.com/vesoft-inc/nebula-go/v3/nebula"
	graphd "github.com/vesoft-inc/nebula-go/v3/nebula/graph"
)

// A session is one connection to a graphd and what graphd knows of it. It is
// the client's own wire code without the client's Session, which knows no
// context, sends a statement again after a timeout, and then takes the answer
// to one statement for that of the next. It is for one user at a time, and is
// of no use after an error.
type session struct {
	address string
	id      int64
	conn    net.Conn
	graphd  *graphd.GraphServiceClient
	// inSpace: USE has been sent.
	inSpace bool
	// cut: the connection was closed behind a whole answer.
	cut bool
}

const (
	// connectTimeout is how long a graphd may take to be connected to and to
	// give a session.
	connectTimeout = 5 * time.Second
	// bufferBytes is the client's.
	bufferBytes = 128 << 10
)

var errNoAnswer = errors.New("the answer is empty")

// connect opens a session with one graphd.
func connect(ctx context.Context, address, user, password string) (*session, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	d := net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 2 * time.Second, Count: 3}}
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, &transportError{address: address, err: err}
	}
	socket, err := thrift.NewSocket(thrift.SocketConn(conn))
	if err != nil {
		_ = conn.Close()
		return nil, &transportError{address: address, err: err}
	}
	buffered := thrift.NewBufferedTransportFactory(bufferBytes).GetTransport(socket)
	s := &session{address: address, conn: conn,
		graphd: graphd.NewGraphServiceClientFactory(thrift.NewHeaderTransport(buffered), thrift.NewHeaderProtocolFactory())}
	if err := s.greet(ctx, user, password); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return s, nil
}

// greet says who we are, and gets the id of the session.
func (s *session) greet(ctx context.Context, user, password string) error {
	var version *graphd.VerifyClientVersionResp
	err := s.call(ctx, func() (err error) {
		if version, err = s.graphd.VerifyClientVersion(graphd.NewVerifyClientVersionReq()); err == nil && version == nil {
			err = errNoAnswer
		}
		return err
	})
	if err != nil {
		return err
	}
	if code := version.GetErrorCode(); code != nebula.ErrorCode_SUCCEEDED {
		return &serverError{address: s.address, code: int(code), message: string(version.GetErrorMsg())}
	}
	var auth *graphd.AuthResponse
	err = s.call(ctx, func() (err error) {
		if auth, err = s.graphd.Authenticate([]byte(user), []byte(password)); err == nil && auth == nil {
			err = errNoAnswer
		}
		return err
	})
	if err != nil {
		return err
	}
	if code := auth.GetErrorCode(); code != nebula.ErrorCode_SUCCEEDED {
		return &serverError{address: s.address, code: int(code), message: string(auth.GetErrorMsg())}
	}
	s.id = auth.GetSessionID()
	return nil
}

// call makes one exchange, and closes the connection when ctx ends before it
// is over, so that no answer can come that nobody waits for. All errors are
// of transport.
func (s *session) call(ctx context.Context, exchange func() error) (err error) {
	stop := context.AfterFunc(ctx, func() { _ = s.conn.Close() })
	defer func() {
		if p := recover(); p != nil {
			// The generated code trusts what it reads.
			err = &transportError{address: s.address, err: fmt.Errorf("read an answer: %v", p)}
		}
	}()
	err = exchange()
	if !stop() && err == nil {
		s.cut = true
		return nil
	}
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return &transportError{address: s.address, id: s.id, err: err}
	}
	return nil
}

// execute runs one statement, once. The error is a *transportError, after
// which nobody knows whether it was run, or a *serverError.
func (s *session) execute(ctx context.Context, text string, params map[string]*nebula.Value) (*client.ResultSet, error) {
	var answer *graphd.ExecutionResponse
	err := s.call(ctx, func() (err error) {
		if answer, err = s.graphd.ExecuteWithParameter(s.id, []byte(text), params); err == nil && answer == nil {
			err = errNoAnswer
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	// Also one that says it is a part of the whole is an error.
	if code := answer.GetErrorCode(); code != nebula.ErrorCode_SUCCEEDED {
		return nil, &serverError{address: s.address, code: int(code), message: string(answer.GetErrorMsg()), text: text}
	}
	return client.GenResultSet(answer)
}

// close ends the session. With leave graphd is told first; otherwise it keeps
// it until it is idle for hours.
func (s *session) close(leave bool) {
	if leave {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		_ = s.call(ctx, func() error { return s.graphd.Signout(s.id) })
		cancel()
	}
	_ = s.conn.Close()
}
