package embedded

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"headwater/graph"
	"headwater/graph/graphtest"
	"headwater/region/bus"
)

// A scripted stream does what a test says.
type scripted struct {
	follow   func(ctx context.Context, emit func([]bus.Entry) error) error
	snapshot func(emit func([]graph.Name) error) (bus.Cursor, error)
}

func (s scripted) Follow(ctx context.Context, _ bus.Cursor, _ bus.Filter, emit func([]bus.Entry) error) error {
	return s.follow(ctx, emit)
}

func (s scripted) Snapshot(_ context.Context, _ bus.Filter, emit func([]graph.Name) error) (bus.Cursor, error) {
	return s.snapshot(emit)
}

// serveOn returns a client of a handler.
func serveOn(t *testing.T, h http.Handler) *Client {
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return &Client{URL: s.URL + "/", HTTP: s.Client()}
}

func follow(c *Client, emit func([]bus.Entry) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return c.Follow(ctx, bus.Cursor{}, bus.Filter{}, emit)
}

func TestSilentConnectionCountsAsDead(t *testing.T) {
	c := serveOn(t, Handler(scripted{follow: func(ctx context.Context, emit func([]bus.Entry) error) error {
		if err := emit([]bus.Entry{{Beat: true}}); err != nil {
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	}}, quiet))
	c.Silence = 50 * time.Millisecond
	beats := 0
	err := follow(c, func(e []bus.Entry) error { beats += len(e); return nil })
	if !errors.Is(err, bus.ErrSilent) || beats != 1 {
		t.Errorf("after %d beats %v, want ErrSilent after one", beats, err)
	}
}

func TestIdleStreamIsNotSilent(t *testing.T) {
	model := graphtest.NewModel("eu")
	s := New(Options{Store: model, Head: func() (bus.Head, <-chan struct{}) { return bus.Head{}, nil }, Idle: time.Millisecond})
	c := serveOn(t, Handler(s, quiet))
	c.Silence = 10 * time.Second
	beats := 0
	enough := errors.New("enough")
	err := follow(c, func(e []bus.Entry) error {
		if beats += len(e); beats == 5 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) {
		t.Errorf("after %d beats %v", beats, err)
	}
}

func TestErrorsOfTheRegionAreSaid(t *testing.T) {
	told := &bus.CursorError{Reason: bus.ErrDiverged, Cursor: bus.Cursor{Epoch: "x", Sequence: 1 << 60, Hash: 1<<64 - 1}, First: 7, Last: bus.Cursor{Epoch: "y", Sequence: 9, Hash: 3}}
	for _, reason := range []error{bus.ErrDiverged, bus.ErrExpired} {
		told.Reason = reason
		c := serveOn(t, Handler(scripted{follow: func(context.Context, func([]bus.Entry) error) error { return told }}, quiet))
		var got *bus.CursorError
		if err := follow(c, nil); !errors.As(err, &got) || !errors.Is(err, reason) {
			t.Fatalf("%v came as %v", told, err)
		}
		if diff := cmp.Diff(told.Error(), got.Error()); diff != "" {
			t.Error(diff)
		}
	}
	c := serveOn(t, Handler(scripted{snapshot: func(emit func([]graph.Name) error) (bus.Cursor, error) {
		return bus.Cursor{}, errors.Join(emit([]graph.Name{{Kind: graph.DataStoreKind, Name: "n"}}), errors.New("the disk is gone"))
	}}, quiet))
	names := 0
	_, err := c.Snapshot(context.Background(), bus.Filter{}, func(n []graph.Name) error { names += len(n); return nil })
	if err == nil || !strings.Contains(err.Error(), "the disk is gone") || names != 1 {
		t.Errorf("after %d names %v", names, err)
	}
}

func TestWhoReadsSlowlyHoldsUpNobody(t *testing.T) {
	const rounds = 300
	model := graphtest.NewModel("eu")
	var mu sync.Mutex
	head, moved := bus.Head{Cursor: bus.Cursor{Epoch: "x"}}, make(chan struct{})
	c := serveOn(t, Handler(New(Options{Store: model, Head: func() (bus.Head, <-chan struct{}) {
		mu.Lock()
		defer mu.Unlock()
		return head, moved
	}}), quiet))
	touched := make([]uint64, 10_000)
	say := func() {
		mu.Lock()
		defer mu.Unlock()
		e := bus.Entry{Epoch: "x", Sequence: head.Cursor.Sequence + 1, Mark: graph.Mark{Position: head.Mark.Position + 1, Revision: 1}, Touched: touched}
		e.Hash = e.Sum(head.Cursor.Hash)
		head.Cursor, head.Mark = e.Cursor(), e.Mark
		if err := model.Apply(context.Background(), graph.Batch{Mark: e.Mark, Stream: []graph.StreamEntry{{Sequence: e.Sequence, Value: bus.AppendEntry(nil, &e)}}}); err != nil {
			t.Error(err)
		}
		close(moved)
		moved = make(chan struct{})
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	enough := errors.New("enough")
	until := func(last uint64, first func()) func([]bus.Entry) error {
		var once sync.Once
		return func(entries []bus.Entry) error {
			once.Do(first)
			if entries[len(entries)-1].Sequence >= last {
				return enough
			}
			return nil
		}
	}
	began, release := make(chan struct{}), make(chan struct{})
	slow := make(chan error, 1)
	go func() {
		slow <- c.Follow(ctx, bus.Cursor{}, bus.Filter{}, until(rounds, func() { close(began); <-release }))
	}()
	<-began
	for range rounds { // 24 MB, more than connections hold
		say()
	}
	if err := c.Follow(ctx, bus.Cursor{}, bus.Filter{}, until(rounds, func() {})); !errors.Is(err, enough) {
		t.Errorf("who reads fast: %v", err)
	}
	close(release)
	if err := <-slow; !errors.Is(err, enough) {
		t.Errorf("who reads slowly: %v", err)
	}
}

func TestRequestsThatAreNoneAreRefused(t *testing.T) {
	c := serveOn(t, Handler(scripted{}, quiet))
	for path, want := range map[string]int{FollowPath: http.StatusBadRequest, SnapshotPath: http.StatusBadRequest, "/other": http.StatusNotFound} {
		r, err := c.HTTP.Post(strings.TrimSuffix(c.URL, "/")+path, "application/json", strings.NewReader("{"))
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Body.Close(); err != nil || r.StatusCode != want {
			t.Errorf("%s: %d, %v, want %d", path, r.StatusCode, err, want)
		}
	}
}

func TestAnswersThatAreNoneAreErrors(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		want error
	}{
		"cut in a head":    {"\x00\x00", io.ErrUnexpectedEOF},
		"cut in a frame":   {"\x00\x00\x00\x09eabc", io.ErrUnexpectedEOF},
		"ends":             {"", io.EOF},
		"kind":             {"\x00\x00\x00\x00q", bus.ErrFormat},
		"size":             {"\xff\xff\xff\xffe", bus.ErrFormat},
		"entries cut":      {"\x00\x00\x00\x02eab", bus.ErrFormat},
		"entry of nothing": {"\x00\x00\x00\x04e\x00\x00\x00\x00", bus.ErrFormat},
	} {
		client := serveOn(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, c.body) }))
		if err := follow(client, func([]bus.Entry) error { return nil }); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	client := serveOn(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "not you", http.StatusForbidden) }))
	if err := follow(client, nil); err == nil || !strings.Contains(err.Error(), "403 Forbidden: not you") {
		t.Errorf("refused with %v", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	var refused *net.OpError
	if err := follow(&Client{URL: "http://" + l.Addr().String()}, nil); !errors.As(err, &refused) {
		t.Errorf("nobody there: %v", err)
	}
}

func FuzzFrames(f *testing.F) {
	var fr framer
	entries, _ := fr.entries([]bus.Entry{{Epoch: "x", Sequence: 1, Touched: []uint64{1}}})
	f.Add(append([]byte(nil), entries...))
	f.Fuzz(func(t *testing.T, b []byte) {
		kind, body, err := readFrame(strings.NewReader(string(b)), nil)
		if err != nil || kind != entryFrames {
			return
		}
		got, err := entriesOf(body)
		if err != nil {
			return
		}
		again, err := fr.entries(got)
		if err != nil {
			t.Fatal(err)
		}
		same, err := entriesOf(again[5:])
		if diff := cmp.Diff(got, same); err != nil || diff != "" {
			t.Errorf("%v\n%s", err, diff)
		}
	})
}

func TestCursorsAreExactAsJSON(t *testing.T) {
	c := bus.Cursor{Epoch: "x", Sequence: 1<<64 - 1, Hash: 1<<64 - 3}
	b, err := json.Marshal(request{Cursor: c})
	var back request
	if err = errors.Join(err, json.Unmarshal(b, &back)); err != nil || back.Cursor != c {
		t.Errorf("%v: %+v became %+v", err, c, back.Cursor)
	}
}
