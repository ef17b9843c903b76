package embedded

import (
	"log/slog"
	"net/http/httptest"
	"testing"

	"go.uber.org/goleak"

	"headwater/graph/graphtest"
	"headwater/graph/pebble"
	"headwater/region/bus"
	"headwater/region/bus/bustest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var quiet = slog.New(slog.DiscardHandler)

func model(testing.TB) bustest.Store { return graphtest.NewModel("eu") }

func inProcess(_ testing.TB, r *bustest.Region) bus.Stream {
	return New(Options{Store: r.Store(), Head: r.Head})
}

func overHTTP(t testing.TB, r *bustest.Region) bus.Stream {
	s := httptest.NewServer(Handler(inProcess(t, r), quiet))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return &Client{URL: s.URL, HTTP: s.Client()}
}

func TestStreamInProcess(t *testing.T) {
	bustest.Run(t, bustest.Harness{Store: model, Serve: inProcess})
}

func TestStreamOverHTTP(t *testing.T) {
	bustest.Run(t, bustest.Harness{Store: model, Serve: overHTTP})
}

func TestStreamOfPebble(t *testing.T) {
	bustest.Run(t, bustest.Harness{Histories: 8, Serve: inProcess, Store: func(t testing.TB) bustest.Store {
		s, err := pebble.Open(t.TempDir(), pebble.Options{Region: "eu", CacheBytes: 1 << 20, MemTableBytes: 4 << 20, FactsBytes: 1 << 20, Log: quiet})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		return s
	}})
}
