package nebula

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"headwater/graph"
	"headwater/graph/nebula/standin"
)

func TestParametersAreTheValuesThatNGQLHas(t *testing.T) {
	onEach(t, func(t *testing.T, o Options) {
		p := testSchema(t, o)
		params := map[string]any{"yes": true, "int": 7, "int64": int64(-1 << 63), "text": "a\x00\xff", "bytes": []byte(nil), "ids": []string{"a", "b"}}
		rs := must(t, p, "YIELD $yes AS a, $int AS b, $int64 AS c, $text AS d, $bytes AS e, $ids AS f", params)
		v := rs.GetRows()[0].Values
		if !v[0].GetBVal() || v[1].GetIVal() != 7 || v[2].GetIVal() != -1<<63 || string(v[3].GetSVal()) != "a\x00\xff" || !v[4].IsSetSVal() || string(v[5].LVal.Values[1].GetSVal()) != "b" {
			t.Errorf("the parameters came back as %v", rs.AsStringTable())
		}
	})
	if _, err := parameters(map[string]any{"x": time.Time{}}); err == nil || !strings.Contains(err.Error(), "parameter x: a time.Time") {
		t.Errorf("a time is no value, and the error is %v", err)
	}
}

func TestErrorsSayWhetherTheyMayPass(t *testing.T) {
	for message, c := range map[string]struct {
		code           int
		passes, notYet bool
	}{
		"Get sessionId[7] failed: Session `7' not found: Session not existed!":                              {codeSession, true, false},
		"Create Session failed: Too many sessions created from 10.0.0.1 by user root. the threshold is 300": {codeSession, true, false},
		"Create session failed: RPC failure in MetaClient: x":                                               {codeSession, true, false},
		"Create session failed: User not existed!":                                                          {codeSession, false, false},
		"Invalid password":                                        {-1001, false, false},
		"SyntaxError: syntax error near `x'":                      {codeSyntax, false, false},
		"PermissionError: No permission to write data.":           {codeDenied, false, false},
		"SemanticError: Space was not chosen.":                    {codeSemantic, true, false},
		"SemanticError: No schema found for `node'":               {codeSemantic, false, true},
		"SemanticError: Unknown column `x' in schema":             {codeSemantic, false, true},
		"SemanticError: flow not found in space [s].":             {codeSemantic, false, true},
		"SemanticError: Column count doesn't match value count.":  {codeSemantic, false, false},
		"SpaceNotFound: SpaceName `s`":                            {codeExecution, false, true},
		"TagNotFound: TagName `node`":                             {codeExecution, false, true},
		"EdgeNotFound: EdgeName `flow`":                           {codeExecution, false, true},
		"Storage Error: Tag prop not found.":                      {codeExecution, false, true},
		"Storage Error: Space not found.":                         {codeExecution, false, true},
		"Storage Error: Not the leader of 5. Please retry later.": {codeExecution, true, false},
		"Storage Error: RPC failure, probably timeout.":           {codeExecution, true, false},
		"Storage Error: More than one request trying to add/update/delete one edge/vertex at the same time.": {codeExecution, true, false},
		"Storage Error: Out of range value.": {codeExecution, false, false},
		"Storage Error: The VID must be a 64-bit integer or a string fitting space vertex id length limit.":               {codeExecution, false, false},
		"RPC failure in MetaClient: apache::thrift::transport::TTransportException: AsyncSocketException: connect failed": {codeExecution, true, false},
		"Execution had been killed": {codeExecution, true, false},
		"Existed!":                  {codeExecution, false, false},
		"":                          {codePartial, true, false},
	} {
		err := error(&serverError{address: "h:1", code: c.code, message: message, text: strings.Repeat("GO ", 100)})
		if got := errors.Is(err, graph.ErrUnavailable); got != c.passes {
			t.Errorf("%d %s: passes: %v", c.code, message, got)
		}
		if got := notYet(err); got != c.notYet {
			t.Errorf("%d %s: not yet: %v", c.code, message, got)
		}
		if len(err.Error()) > 300 || !strings.Contains(err.Error(), message) {
			t.Errorf("the error reads %q", err)
		}
	}
}

func TestThePoolIsBoundedAndWaitsAsLongAsItMay(t *testing.T) {
	s, o := startStandIn(t, standin.Options{})
	o.Sessions = 2
	p := testSchema(t, o)
	came := make(chan struct{}, 3)
	s.Fail(func(uint64, string) standin.Fault {
		came <- struct{}{}
		return standin.Fault{How: standin.Late}
	})
	var wg sync.WaitGroup
	errs := make([]error, 2)
	for i := range errs {
		wg.Go(func() { _, errs[i] = p.run(t.Context(), "YIELD 1 AS x", nil) })
	}
	<-came
	<-came
	ctx, cancel := context.WithCancel(t.Context())
	third := make(chan error)
	go func() {
		_, err := p.run(ctx, "YIELD 3 AS x", nil)
		third <- err
	}()
	cancel()
	if err := <-third; !errors.Is(err, context.Canceled) || !errors.Is(err, graph.ErrUnavailable) || !strings.Contains(err.Error(), "wait for a session") {
		t.Errorf("the third of two is told %v", err)
	}
	s.Fail(nil)
	s.Release()
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
	if len(came) != 0 {
		t.Error("a third statement was sent")
	}
	sessionsBecome(t, s, 2)
}

// sessionsBecome waits until a stand-in has so many sessions: it is told that
// one ends without being waited for.
func sessionsBecome(t *testing.T, s *standin.Server, n int) {
	t.Helper()
	for s.Sessions() != n {
		runtime.Gosched()
	}
}

func TestAStatementIsGivenUpWhenItsContextEnds(t *testing.T) {
	s, o := startStandIn(t, standin.Options{})
	p := testSchema(t, o)
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	s.Fail(func(uint64, string) standin.Fault {
		cancel(enough)
		return standin.Fault{How: standin.Hang}
	})
	before := p.statements()
	if _, err := p.run(ctx, "YIELD 1 AS x", nil); !errors.Is(err, enough) || !errors.Is(err, graph.ErrUnavailable) {
		t.Errorf("%v", err)
	}
	if n := p.statements() - before; n != 1 {
		t.Errorf("it was sent %d times", n)
	}
	s.Fail(nil)
	s.Release()
	must(t, p, "YIELD 1 AS x", nil)
	// The session that was lost has been ended.
	sessionsBecome(t, s, 1)
}

func TestRunTriesAgainWhileItMayPass(t *testing.T) {
	for _, how := range []standin.How{standin.Refuse, standin.Cut, standin.CutAfter, standin.Half} {
		s, o := startStandIn(t, standin.Options{})
		o.Tries = 4
		p := testSchema(t, o)
		for failing, ok := range map[int]bool{3: true, 4: false} {
			s.FailNext(failing, how)
			before, asked := p.statements(), s.Statements()
			_, err := p.run(t.Context(), "YIELD 1 AS x", nil)
			if ok != (err == nil) || !ok && !errors.Is(err, graph.ErrUnavailable) {
				t.Errorf("%d of 4 failed (%d), and the error is %v", failing, how, err)
			}
			if n, m := p.statements()-before, s.Statements()-asked; n != 4 || m != 4 {
				t.Errorf("%d of 4 failed (%d): %d were counted, %d came", failing, how, n, m)
			}
		}
		before := p.statements()
		if _, err := p.run(t.Context(), "YIELD", nil); code(err) != codeSyntax {
			t.Errorf("%v", err)
		}
		if n := p.statements() - before; n != 1 {
			t.Errorf("what can't pass was sent %d times", n)
		}
	}
}

func TestHostsAreTriedInTurn(t *testing.T) {
	a, o := startStandIn(t, standin.Options{})
	b, _ := startStandIn(t, standin.Options{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	o.Addresses = []string{dead, a.Addr(), b.Addr()}
	p := dialed(t, o)
	once := func() {
		t.Helper()
		if _, err := p.once(t.Context(), false, "YIELD 1 AS x", nil); err != nil {
			t.Fatal(err)
		}
	}
	once()
	if a.Statements() != 1 {
		t.Error("the first host that lives was not asked")
	}
	a.Stop()
	if _, err := p.once(t.Context(), false, "YIELD 1 AS x", nil); !errors.Is(err, graph.ErrUnavailable) {
		t.Errorf("the host is gone, and the error is %v", err)
	}
	once()
	once()
	if n := b.Statements(); n != 2 {
		t.Errorf("the other host was asked %d times", n)
	}
	b.Stop()
	_, err = p.run(t.Context(), "YIELD 1 AS x", nil)
	if !errors.Is(err, graph.ErrUnavailable) || !strings.Contains(err.Error(), a.Addr()) || !strings.Contains(err.Error(), b.Addr()) || !strings.Contains(err.Error(), dead) {
		t.Errorf("all hosts are gone, and the error is %v", err)
	}
	if err := b.Resume(); err != nil {
		t.Fatal(err)
	}
	once()
}

func TestASessionIsThrownAwayAfterAnyError(t *testing.T) {
	s, o := startStandIn(t, standin.Options{})
	p := testSchema(t, o)
	id := func() int64 {
		must(t, p, "YIELD 1 AS x", nil)
		p.mu.Lock()
		defer p.mu.Unlock()
		if len(p.idle) != 1 {
			t.Fatalf("%d sessions are kept", len(p.idle))
		}
		return p.idle[0].id
	}
	first := id()
	if again := id(); again != first {
		t.Error("a session that works is not kept")
	}
	if _, err := p.run(t.Context(), "nonsense", nil); code(err) != codeSyntax {
		t.Error(err)
	}
	second := id()
	if second == first {
		t.Error("a session is kept after an error")
	}
	// One that an operator ends, or that was idle for hours.
	other := dialed(t, o)
	must(t, other, "YIELD 1 AS x", nil)
	if _, err := other.once(t.Context(), false, "KILL SESSION "+fmt.Sprint(second), nil); err != nil {
		t.Fatal(err)
	}
	if third := id(); third == second {
		t.Error("a session that was killed is kept")
	}
	for range 20 {
		s.FailNext(1, standin.Cut)
		id()
	}
	sessionsBecome(t, s, 2)
}

func TestWhoIsNotLetInIsToldSo(t *testing.T) {
	s, o := startStandIn(t, standin.Options{Password: "right", MaxSessions: 1})
	wrong := o
	wrong.Password = "wrong"
	if _, err := dial(t.Context(), &wrong); code(err) != -1001 || errors.Is(err, graph.ErrUnavailable) || !strings.Contains(err.Error(), "Invalid password") {
		t.Errorf("%v", err)
	}
	p := dialed(t, o)
	if _, err := dial(t.Context(), &o); code(err) != codeSession || !errors.Is(err, graph.ErrUnavailable) {
		t.Errorf("there is a session too many, and the error is %v", err)
	}
	p.close()
	if _, err := p.run(t.Context(), "YIELD 1 AS x", nil); !errors.Is(err, errClosed) {
		t.Errorf("after close: %v", err)
	}
	sessionsBecome(t, s, 0)
}

func TestWhatIsNoGraphdIsNotBelieved(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	defer func() { _ = l.Close() }()
	answers := []string{"HTTP/1.1 400 Bad Request\r\n\r\n", "", strings.Repeat("\xff", 100), "\x00\x00\x00\x04\x0f\xff\x00\x00"}
	wg.Go(func() {
		for i := 0; ; i++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte(answers[i%len(answers)]))
			_ = c.Close()
		}
	})
	o := Options{Addresses: []string{l.Addr().String()}, Space: "s", Region: "eu"}
	for range answers {
		if _, err := dial(t.Context(), &o); !errors.Is(err, graph.ErrUnavailable) || !strings.Contains(err.Error(), l.Addr().String()) {
			t.Errorf("%v", err)
		}
	}
}
