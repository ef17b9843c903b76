package rpc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"headwater/graph"
)

// failing returns a reader whose views resolve to an error.
func failing(err error) reader {
	return of(&fake{resolve: func(context.Context, graph.ID) (graph.ID, error) { return graph.ID{}, err }})
}

func TestErrorsTravel(t *testing.T) {
	var fails error
	var log bytes.Buffer
	c, _ := connect(t, HandlerOptions{Log: slog.New(slog.NewTextHandler(&log, nil)), Reader: of(&fake{resolve: func(context.Context, graph.ID) (graph.ID, error) {
		if fails == nil {
			panic("a bug")
		}
		return graph.ID{}, fails
	}})})
	ask := func(err error) error {
		fails = err
		_, err = open(t, c).Resolve(soon(t), graph.ID{})
		return err
	}
	var missing *graph.NotFoundError
	if err := ask(fmt.Errorf("look: %w", &graph.NotFoundError{What: "it"})); !errors.As(err, &missing) || missing.What != "it" || errors.Is(err, graph.ErrUnavailable) {
		t.Errorf("%v, want NotFoundError of it", err)
	}
	var bad *graph.BadInputError
	if err := ask(&graph.BadInputError{What: "after: no"}); !errors.As(err, &bad) || bad.What != "after: no" || errors.Is(err, graph.ErrUnavailable) {
		t.Errorf("%v, want BadInputError of after: no", err)
	}
	err := ask(fmt.Errorf("%w: the disk is full", graph.ErrUnavailable))
	if want := fmt.Sprintf(`region "eu": resolve from %s: unavailable: the disk is full`, c.good); !errors.Is(err, graph.ErrUnavailable) || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if err := ask(fmt.Errorf("read: %w", context.DeadlineExceeded)); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, graph.ErrUnavailable) {
		t.Errorf("%v, want DeadlineExceeded and ErrUnavailable", err)
	}
	for _, secret := range []error{errors.New("row 7 of /var/lib is torn"), nil} {
		log.Reset()
		err := ask(secret)
		found := regexp.MustCompile(`internal error; the region's log explains it under ([0-9a-f]{12})$`).FindStringSubmatch(fmt.Sprint(err))
		if !errors.Is(err, graph.ErrUnavailable) || found == nil || !strings.Contains(log.String(), found[1]) || !strings.Contains(log.String(), "row 7") && !strings.Contains(log.String(), "a bug") {
			t.Errorf("%v, and the log says\n%s", err, log.String())
		}
	}
}

func TestDeadlineTravelsAndTheRegionSaysSoInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var left time.Duration
		stuck := of(&fake{resolve: func(ctx context.Context, _ graph.ID) (graph.ID, error) {
			deadline, _ := ctx.Deadline()
			left = time.Until(deadline)
			<-ctx.Done()
			return graph.ID{}, ctx.Err()
		}})
		c, _ := inMemory(t, HandlerOptions{Reader: stuck}, ClientOptions{})
		for _, tc := range []struct{ given, wantLeft time.Duration }{
			{10 * time.Second, 9500 * time.Millisecond}, {2 * time.Second, 1800 * time.Millisecond}, {500 * time.Millisecond, 400 * time.Millisecond}, {90 * time.Millisecond, 60 * time.Millisecond},
			{time.Hour, time.Minute},
		} {
			ctx, cancel := context.WithTimeout(t.Context(), tc.given)
			_, err := open(t, c).Resolve(ctx, graph.ID{})
			if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, graph.ErrUnavailable) || ctx.Err() != nil {
				t.Errorf("%v of which %v is left: %v, want DeadlineExceeded before the time is over", tc.given, ctx.Err(), err)
			}
			cancel()
			if left != tc.wantLeft {
				t.Errorf("the region had %v of %v, want %v", left, tc.given, tc.wantLeft)
			}
		}
	})
}

func TestALegThatRanOutOfTimeStillArrives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := of(&fake{leg: func(ctx context.Context, _ graph.LegQuestion) (*graph.Leg, error) {
			<-ctx.Done()
			time.Sleep(50 * time.Millisecond)
			return &graph.Leg{IDs: []graph.ID{{1}}, Late: true, Gaps: []graph.Gap{{Region: "us", Reason: "behind"}}}, nil
		}})
		c, _ := inMemory(t, HandlerOptions{Reader: late}, ClientOptions{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		l, err := open(t, c).Leg(ctx, graph.LegQuestion{}, graph.LegTaker{})
		if err != nil || ctx.Err() != nil || !l.Late || len(l.IDs) != 1 || len(l.Gaps) != 1 {
			t.Errorf("%+v, %v", l, err)
		}
	})
}

func TestQuestionsWaitForAPlaceAndTheStatusDoesNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		running, most := 0, 0
		slow := of(&fake{resolve: func(ctx context.Context, id graph.ID) (graph.ID, error) {
			running++
			most = max(most, running)
			time.Sleep(time.Second)
			running--
			return id, nil
		}})
		c, _ := inMemory(t, HandlerOptions{Reader: slow, Questions: 1}, ClientOptions{})
		v := open(t, c)
		var asked sync.WaitGroup
		began := time.Now()
		for range 3 {
			asked.Go(func() { resolve(t, v, nil) })
		}
		synctest.Wait()
		if _, err := c.Status(t.Context()); err != nil || time.Since(began) != 0 {
			t.Errorf("a status after %v: %v", time.Since(began), err)
		}
		short, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		if _, err := v.Resolve(short, graph.ID{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, want DeadlineExceeded", err)
		}
		asked.Wait()
		if took := time.Since(began); most != 1 || took != 3*time.Second {
			t.Errorf("%d at once, %v in all; want one and 3s", most, took)
		}
	})
}

func TestCancellingAQuestionCancelsTheRegionsWork(t *testing.T) {
	begun, ended := make(chan bool), make(chan error)
	c, _ := connect(t, HandlerOptions{Reader: of(&fake{leg: func(ctx context.Context, _ graph.LegQuestion) (*graph.Leg, error) {
		close(begun)
		<-ctx.Done()
		ended <- ctx.Err()
		return nil, ctx.Err()
	}})})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-begun
		cancel()
	}()
	if _, err := open(t, c).Leg(ctx, graph.LegQuestion{}, graph.LegTaker{}); !errors.Is(err, context.Canceled) || errors.Is(err, graph.ErrUnavailable) {
		t.Errorf("%v, want only Canceled", err)
	}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the region saw %v, want Canceled", err)
	}
}

func TestClosingTheHandlerEndsItsQuestions(t *testing.T) {
	begun := make(chan bool)
	closed := false
	h := newHandler(t, HandlerOptions{Reader: of(&fake{resolve: func(ctx context.Context, _ graph.ID) (graph.ID, error) {
		close(begun)
		<-ctx.Done()
		return graph.ID{}, ctx.Err()
	}, close: func() error {
		closed = true
		return nil
	}})})
	c := newClient(t, ClientOptions{}, listen(t, h, nil))
	v := open(t, c)
	var asked sync.WaitGroup
	ask := func() {
		if _, err := v.Resolve(soon(t), graph.ID{}); !errors.Is(err, graph.ErrUnavailable) || !strings.Contains(err.Error(), "being stopped") {
			t.Errorf("%v, want that the node is being stopped", err)
		}
	}
	asked.Go(ask)
	<-begun
	if err := h.Close(); err != nil || !closed {
		t.Errorf("%v, view closed: %v", err, closed)
	}
	asked.Wait()
	ask()
}

// TestACutAnswerIsNeverAShortOne cuts the connection after each number of
// bytes that the answer has.
func TestACutAnswerIsNeverAShortOne(t *testing.T) {
	h := newHandler(t, HandlerOptions{Reader: of(&fake{nodes: func(_ context.Context, emit func(graph.Node) error) ([]graph.Gap, error) {
		for range 3 {
			if err := emit(graph.Node{Name: graph.Name{Kind: graph.DataStoreKind, Name: "orders"}}); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}})})
	cut := 0
	l := &http.Server{Protocols: NewServer(h, nil).Protocols, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(&cutter{ResponseWriter: w, left: cut}, r)
	})}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- l.Serve(ln) }()
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		<-done
	})
	c := newClient(t, ClientOptions{}, ln.Addr().String())
	for ; ; cut++ {
		count := 0
		_, err := open(t, c).Nodes(soon(t), nil, 0, func(graph.Node) error {
			count++
			return nil
		})
		if err == nil {
			if count != 3 {
				t.Errorf("%d nodes of 3 and no error", count)
			}
			break
		}
		if !errors.Is(err, graph.ErrUnavailable) || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("cut after %d bytes: %v, want ErrUnavailable and ErrUnexpectedEOF", cut, err)
		}
	}
	if cut < 100 {
		t.Errorf("the answer had %d bytes; nothing was cut", cut)
	}
}

// A cutter lets some bytes through, and then none, without an error.
type cutter struct {
	http.ResponseWriter
	left int
}

func (c *cutter) Write(b []byte) (int, error) {
	some := b[:min(len(b), c.left)]
	c.left -= len(some)
	_, err := c.ResponseWriter.Write(some)
	return len(b), err
}

func (c *cutter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// TestACutConnectionIsNeverAShortAnswer cuts it behind each few bytes.
func TestACutConnectionIsNeverAShortAnswer(t *testing.T) {
	h := newHandler(t, HandlerOptions{Reader: of(&fake{})})
	address := listen(t, h, nil)
	for left := 0; ; left += 5 {
		c := newClient(t, ClientOptions{Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, address)
			return &cutConn{conn, left}, err
		}}, address)
		_, err := open(t, c).Resolve(soon(t), graph.ID{})
		if err == nil {
			if left < 100 {
				t.Errorf("the answer had %d bytes; nothing was cut", left)
			}
			return
		}
		if !errors.Is(err, graph.ErrUnavailable) {
			t.Fatalf("cut after %d bytes: %v, want ErrUnavailable", left, err)
		}
	}
}

// A cutConn ends after it has been read some bytes from.
type cutConn struct {
	net.Conn
	left int
}

func (c *cutConn) Read(b []byte) (int, error) {
	if c.left == 0 {
		return 0, errors.Join(io.EOF, c.Close())
	}
	n, err := c.Conn.Read(b[:min(len(b), c.left)])
	c.left -= n
	return n, err
}

func TestTheNextAddressIsTriedWhereNoneListens(t *testing.T) {
	h := newHandler(t, HandlerOptions{Reader: of(&fake{})})
	good, dead := listen(t, h, nil), deadAddress(t)
	dials := map[string]int{}
	c := newClient(t, ClientOptions{Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		dials[address]++
		return new(net.Dialer).DialContext(ctx, network, address)
	}}, dead, good)
	for range 3 {
		resolve(t, open(t, c), nil)
	}
	if dials[dead] != 1 || dials[good] != 1 {
		t.Errorf("dialed %v, want each once", dials)
	}
	c = newClient(t, ClientOptions{}, dead, dead[:len(dead)-1]+"0")
	_, err := open(t, c).Resolve(soon(t), graph.ID{})
	if !errors.Is(err, graph.ErrUnavailable) || strings.Count(err.Error(), "connection refused") != 2 {
		t.Errorf("%v, want that both refused", err)
	}
}

// deadAddress returns where nobody listens.
func deadAddress(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func TestAQuestionThatMayHaveArrivedIsNotAskedAgain(t *testing.T) {
	var mu sync.Mutex
	asked := 0
	h := newHandler(t, HandlerOptions{Reader: failing(graph.ErrUnavailable), Observe: func(string, time.Duration, int, int, error) {
		mu.Lock()
		defer mu.Unlock()
		asked++
	}})
	c := newClient(t, ClientOptions{}, listen(t, h, nil), listen(t, h, nil))
	_, err := open(t, c).Resolve(soon(t), graph.ID{})
	var e *Error
	if !errors.As(err, &e) || e.Region != "eu" || e.Address != c.o.Addresses[0] || e.Method != "resolve" {
		t.Errorf("%#v", err)
	}
	mu.Lock()
	defer mu.Unlock()
	if asked != 1 {
		t.Errorf("asked %d times, want once", asked)
	}
}

func TestAHangingAddressIsGivenUpInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClient(t, ClientOptions{Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}, "a:1", "b:2")
		began := time.Now()
		_, err := open(t, c).Resolve(t.Context(), graph.ID{})
		if took := time.Since(began); !errors.Is(err, graph.ErrUnavailable) || took != 4*time.Second || !strings.Contains(err.Error(), "a:1: no connection in 2s; b:2: no connection in 2s") {
			t.Errorf("after %v: %v", took, err)
		}
	})
}
