package nebula

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	client "github.com/vesoft-inc/nebula-go/v3"
	"go.uber.org/goleak"

	"headwater/graph/nebula/standin"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if address := os.Getenv("HEADWATER_NEBULA"); address != "" {
			o := Options{Addresses: []string{address}, Region: "eu", Log: slog.New(slog.DiscardHandler)}
			if err := dropSpaces(o); err != nil {
				fmt.Fprintln(os.Stderr, err)
				code = 1
			}
		}
		os.Exit(code)
	}))
}

// startStandIn starts a stand-in for the time of a test, and returns what it
// takes to use it, with a space of no schema yet.
func startStandIn(t testing.TB, o standin.Options) (*standin.Server, Options) {
	t.Helper()
	s, err := standin.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, Options{
		Addresses: []string{s.Addr()}, Password: o.Password, User: "root", Space: "test", Region: "eu", Init: true,
		Timeout: 10 * time.Second, Log: slog.New(slog.DiscardHandler), poll: time.Millisecond, wait: 20 * time.Second,
	}
}

// realServer returns what it takes to use the NebulaGraph that HEADWATER_NEBULA
// names (host:port), in a space of the test's own that is dropped behind it.
// There are none: ok is false.
func realServer(t testing.TB) (o Options, ok bool) {
	t.Helper()
	address := os.Getenv("HEADWATER_NEBULA")
	if address == "" {
		return o, false
	}
	o = Options{
		Addresses: []string{address}, User: "root", Password: "nebula", Region: "eu", Init: true,
		Space: fmt.Sprintf("headwater_%s_%d", strings.ToLower(strings.NewReplacer("/", "_", "=", "_").Replace(t.Name())), os.Getpid()),
		Log:   slog.New(slog.DiscardHandler),
	}
	if len(o.Space) > 60 {
		o.Space = o.Space[:50] + fmt.Sprint(os.Getpid())
	}
	t.Cleanup(func() {
		p, err := dial(context.Background(), &o)
		if err != nil {
			t.Error(err)
			return
		}
		defer p.close()
		if _, err := p.once(context.Background(), false, "DROP SPACE IF EXISTS "+o.Space, nil); err != nil {
			t.Error(err)
		}
	})
	return o, true
}

// onEach runs a test on a stand-in and, where there is one, on a real server.
func onEach(t *testing.T, f func(t *testing.T, o Options)) {
	t.Run("stand-in", func(t *testing.T) {
		_, o := startStandIn(t, standin.Options{})
		f(t, o)
	})
	t.Run("real", func(t *testing.T) {
		o, ok := realServer(t)
		if !ok {
			t.Skip("HEADWATER_NEBULA names no server")
		}
		f(t, o)
	})
}

func dialed(t testing.TB, o Options) *pool {
	t.Helper()
	p, err := dial(t.Context(), &o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.close)
	return p
}

func must(t testing.TB, p *pool, text string, params map[string]any) *client.ResultSet {
	t.Helper()
	rs, err := p.run(t.Context(), text, params)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return rs
}

// rows shows the rows of an answer, in order.
func rows(rs *client.ResultSet) []string {
	var out []string
	for _, row := range rs.AsStringTable()[1:] {
		out = append(out, strings.Join(row, " "))
	}
	return out
}
