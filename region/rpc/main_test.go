package rpc

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"go.uber.org/goleak"

	"headwater/graph"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A reader is a graph.Reader of views that a test makes.
type reader func(ctx context.Context, at graph.At) (graph.View, error)

func (r reader) View(ctx context.Context, at graph.At) (graph.View, error) { return r(ctx, at) }

// A fake is a view of which a test says what it answers; it is closed once.
type fake struct {
	graph.View
	marks   map[string]graph.Mark
	resolve func(ctx context.Context, id graph.ID) (graph.ID, error)
	nodes   func(ctx context.Context, emit func(graph.Node) error) ([]graph.Gap, error)
	leg     func(ctx context.Context, q graph.LegQuestion) (*graph.Leg, error)
	close   func() error
}

func (f *fake) Marks() map[string]graph.Mark { return f.marks }

func (f *fake) Resolve(ctx context.Context, id graph.ID) (graph.ID, error) {
	if f.resolve == nil {
		return id, nil
	}
	return f.resolve(ctx, id)
}

func (f *fake) Nodes(ctx context.Context, _ []graph.ID, _ graph.Want, emit func(graph.Node) error) ([]graph.Gap, error) {
	return f.nodes(ctx, emit)
}

func (f *fake) Leg(ctx context.Context, q graph.LegQuestion, to graph.LegTaker) (*graph.Leg, error) {
	l, err := f.leg(ctx, q)
	if err == nil {
		err = to.Found(l)
	}
	return l, err
}

func (f *fake) Close() error {
	if f.close == nil {
		return nil
	}
	return f.close()
}

// of returns a reader that gives one fake each time.
func of(f *fake) reader {
	return func(context.Context, graph.At) (graph.View, error) { return f, nil }
}

var quiet = slog.New(slog.DiscardHandler)

// newHandler returns a handler of region "eu", which the test closes.
func newHandler(t testing.TB, o HandlerOptions) *Handler {
	t.Helper()
	o.Region = "eu"
	if o.Log == nil {
		o.Log = quiet
	}
	h, err := NewHandler(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// listen serves a handler on the loopback and returns where.
func listen(t testing.TB, h http.Handler, secure *tls.Config) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := NewServer(h, secure)
	s.ErrorLog = slog.NewLogLogger(quiet.Handler(), slog.LevelDebug)
	done := make(chan error, 1)
	go func() {
		if secure != nil {
			done <- s.ServeTLS(l, "", "")
		} else {
			done <- s.Serve(l)
		}
	}()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		<-done
	})
	return l.Addr().String()
}

// newClient returns a client of region "eu".
func newClient(t testing.TB, o ClientOptions, addresses ...string) *Client {
	t.Helper()
	o.Region, o.Addresses, o.Log = "eu", addresses, quiet
	c, err := NewClient(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// connect returns a client of a handler over the loopback.
func connect(t testing.TB, o HandlerOptions) (*Client, *Handler) {
	t.Helper()
	h := newHandler(t, o)
	return newClient(t, ClientOptions{}, listen(t, h, nil)), h
}

// open returns a new view, which the test closes.
func open(t testing.TB, r graph.Reader) graph.LegView {
	t.Helper()
	v, err := r.View(t.Context(), graph.At{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	})
	return v.(graph.LegView)
}

// soon returns a context for a question that is expected to be answered.
func soon(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}
