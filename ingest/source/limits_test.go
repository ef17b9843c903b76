package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"headwater/ingest"
)

func TestPackedBodiesAreTaken(t *testing.T) {
	s := &sink{}
	h := newHTTP(s)
	post(t, h, onePath, zipped(event("a")), "Content-Encoding", "gzip").want(http.StatusCreated)
	post(t, h, batchPath, zipped("["+event("b")+"]"), "Content-Encoding", "GZIP").want(http.StatusOK)
	post(t, h, batchPath, event("c"), "Content-Encoding", "identity").want(http.StatusOK)
	if s.jobs() != "a b c" {
		t.Errorf("taken: %s", s.jobs())
	}
}

func TestBrokenOrUnknownPackingIsRefused(t *testing.T) {
	whole := zipped(event("a"))
	damaged := []byte(whole)
	damaged[len(damaged)-6] ^= 0xff // in the checksum
	s := &sink{}
	h := newHTTP(s)
	for _, path := range []string{onePath, batchPath} {
		post(t, h, path, event("a"), "Content-Encoding", "gzip").want(http.StatusBadRequest, "gzip: ")
		post(t, h, path, whole[:len(whole)/2], "Content-Encoding", "gzip").want(http.StatusBadRequest, "gzip: ")
		post(t, h, path, string(damaged), "Content-Encoding", "gzip").want(http.StatusBadRequest, "checksum")
		post(t, h, path, whole).want(http.StatusBadRequest, "say so with Content-Encoding: gzip")
		a := post(t, h, path, event("a"), "Content-Encoding", "zstd").want(http.StatusUnsupportedMediaType, "zstd")
		if got := a.header.Get("Accept-Encoding"); got != "gzip, identity" {
			t.Errorf("Accept-Encoding %q", got)
		}
	}
	if s.appends != 0 {
		t.Errorf("taken: %s", s.jobs())
	}
}

func TestBodyThatIsTooLargeIsRefusedPackedOrNot(t *testing.T) {
	s := &sink{}
	h := newHTTP(s, func(o *HTTPOptions) { o.MaxBody = 1 << 20 })
	large := strings.Replace(event("j"), `"run":{`, `"x":"`+strings.Repeat("y", 1<<20)+`","run":{`, 1)
	post(t, h, onePath, large).want(http.StatusRequestEntityTooLarge, "1048576 bytes")
	post(t, h, onePath, zipped(large), "Content-Encoding", "gzip").want(http.StatusRequestEntityTooLarge)
	// Without a length, as a client sends that does not know it.
	send(t, h, http.MethodPost, batchPath, io.MultiReader(strings.NewReader(large))).want(http.StatusRequestEntityTooLarge)
	if s.appends != 0 || h.bytes.Load() != 0 {
		t.Errorf("%d appends, %d bytes held", s.appends, h.bytes.Load())
	}
}

func TestGzipBombIsUnpackedOnlyUpToTheBound(t *testing.T) {
	bomb := bomb(1024)
	s := &sink{}
	var most int64
	h := newHTTP(s, func(o *HTTPOptions) { o.MaxBody = 8 << 20 })
	for _, headers := range [][]string{{"Content-Encoding", "gzip"}, nil} {
		r := httptest.NewRequest(http.MethodPost, batchPath, &watched{strings.NewReader(bomb), func() { most = max(most, h.bytes.Load()) }})
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code/100 != 4 {
			t.Errorf("with %v: status %d", headers, w.Code)
		}
	}
	if most > 9<<20 {
		t.Errorf("up to %d bytes were held, want less than 9 MiB", most)
	}
}

// A watched reader calls seen before each read.
type watched struct {
	io.Reader
	seen func()
}

func (w *watched) Read(p []byte) (int, error) {
	w.seen()
	return w.Reader.Read(p)
}

func TestEventOf24MegabytesIsTaken(t *testing.T) {
	var fields bytes.Buffer
	for i := 0; fields.Len() < 24<<20; i++ {
		fmt.Fprintf(&fields, `,{"name":"column_%d","type":"struct<a:string,b:bigint>","description":"%s"}`, i, strings.Repeat("d", 9000))
	}
	large := strings.Replace(event("wide"), `"name":"b"`, `"name":"b","facets":{"schema":{"fields":[`+fields.String()[1:]+`]}}`, 1)
	s := &sink{}
	post(t, newHTTP(s), onePath, large).want(http.StatusCreated)
	if got := len(s.events[0][0].Says.Writes[0].Facts.Columns); got < 2_000 {
		t.Errorf("%d columns of %d bytes", got, len(large))
	}
}

func TestBytesInFlightAreBoundedAndReleased(t *testing.T) {
	const bodies = 40
	held := make(chan struct{})
	entered := make(chan struct{}, bodies)
	s := &sink{onAppend: func() { entered <- struct{}{}; <-held }}
	h := newHTTP(s, func(o *HTTPOptions) { o.MaxBytes = 4 << 20 })
	large := strings.Replace(event("j"), `"run":{`, `"x":"`+strings.Repeat("y", 1<<20)+`","run":{`, 1)
	answers := make(chan answer, bodies)
	var wg sync.WaitGroup
	for range bodies {
		wg.Go(func() { answers <- post(t, h, onePath, large) })
	}
	// Three fit under 4 MiB; those beyond are refused while these are held.
	for range 3 {
		<-entered
	}
	for range bodies - 3 {
		a := <-answers
		a.want(http.StatusTooManyRequests, "too many bytes")
		if got := a.header.Get("Retry-After"); got != "1" {
			t.Errorf("Retry-After %q, want 1", got)
		}
	}
	close(held)
	wg.Wait()
	for range 3 {
		(<-answers).want(http.StatusCreated)
	}
	if got := h.bytes.Load(); got != 0 {
		t.Errorf("%d bytes are held in the end", got)
	}
	if got := h.Stats.Refused.Load(); got != bodies-3 {
		t.Errorf("%d counted as refused, want %d", got, bodies-3)
	}
	post(t, h, onePath, large).want(http.StatusCreated)
}

// Four bodies read at once and fill all that may be held: one gives way, and
// the others are read to their end.
func TestOneBodyGivesWayToTheOthers(t *testing.T) {
	var all atomic.Int64
	shares := make([]share, 4)
	for i := range shares {
		shares[i] = share{all: &all, most: 16}
		if !shares[i].take(4) {
			t.Fatalf("body %d does not fit", i)
		}
	}
	var taken []bool
	for i := range shares {
		taken = append(taken, shares[i].take(1))
	}
	if want := []bool{false, true, true, true}; !slices.Equal(taken, want) || all.Load() != 15 {
		t.Errorf("went on: %v with %d bytes held, want %v with 15", taken, all.Load(), want)
	}
	for i := range shares {
		shares[i].release()
	}
	if all.Load() != 0 {
		t.Errorf("%d bytes are held in the end", all.Load())
	}
}

func TestBodyLargerThanAllBytesInFlightIsTakenAlone(t *testing.T) {
	s := &sink{}
	h := newHTTP(s, func(o *HTTPOptions) { o.MaxBytes = 1000 })
	post(t, h, onePath, strings.Replace(event("j"), `"run":{`, `"x":"`+strings.Repeat("y", 1<<20)+`","run":{`, 1)).want(http.StatusCreated)
}

func TestSinkThatRefusesIsAnsweredWithWhenToComeAgain(t *testing.T) {
	for _, c := range []struct {
		err     error
		status  int
		after   string
		refused uint64
	}{
		{fmt.Errorf("200001 entries wait: %w", ingest.ErrOverloaded), http.StatusServiceUnavailable, "1", 2},
		{fmt.Errorf("3 MiB are free: %w", ingest.ErrNoSpace), http.StatusServiceUnavailable, "30", 2},
		{errors.New("the log is closed"), http.StatusServiceUnavailable, "5", 0},
	} {
		s := &sink{err: c.err}
		h := newHTTP(s)
		for path, body := range map[string]string{onePath: event("a"), batchPath: "[" + event("a") + "]"} {
			a := post(t, h, path, body).want(c.status, c.err.Error())
			if got := a.header.Get("Retry-After"); got != c.after {
				t.Errorf("%v: Retry-After %q, want %s", c.err, got, c.after)
			}
		}
		if got := h.Stats.Refused.Load(); got != c.refused || h.Stats.Accepted.Load() != 0 {
			t.Errorf("%v: %d counted as refused, want %d", c.err, got, c.refused)
		}
	}
}

func TestWaitAppliedAnswersOnceTheEventsCanBeRead(t *testing.T) {
	s := &sink{}
	h := newHTTP(s)
	post(t, h, onePath+"?wait=applied", event("a")).want(http.StatusCreated)
	post(t, h, batchPath+"?wait=applied", "["+event("b")+","+event("c")+"]").want(http.StatusOK)
	post(t, h, batchPath+"?wait=applied", "[]").want(http.StatusOK, "eu@3")
	if got := fmt.Sprint(s.waited); got != "[eu@1 eu@3 eu@3]" {
		t.Errorf("waited for %s", got)
	}
}

func TestEventsThatAreTakenButNotAppliedInTimeSayTheirReceipt(t *testing.T) {
	s := &sink{waitErr: fmt.Errorf("eu@1 is not applied yet: %w", context.DeadlineExceeded)}
	h := newHTTP(s)
	for path, body := range map[string]string{onePath: event("a"), batchPath: event("a")} {
		a := post(t, h, path+"?wait=applied", body).want(http.StatusGatewayTimeout, `"receipt":"eu@`, "not applied yet")
		if got := a.header.Get("Retry-After"); got != "1" {
			t.Errorf("Retry-After %q, want 1", got)
		}
	}
	if h.Stats.Refused.Load() != 0 || h.Stats.Accepted.Load() != 2 {
		t.Errorf("counted %d accepted, %d refused", h.Stats.Accepted.Load(), h.Stats.Refused.Load())
	}
}

func TestUnknownWaitIsRefusedBeforeAnythingIsTaken(t *testing.T) {
	s := &sink{}
	h := newHTTP(s)
	for _, q := range []string{"?wait=forever", "?wait=", "?wait", "?wait=applied&wait=no"} {
		post(t, h, onePath+q, event("a")).want(http.StatusBadRequest, "wait can only be applied")
		post(t, h, batchPath+q, event("a")).want(http.StatusBadRequest)
	}
	if s.appends != 0 {
		t.Errorf("taken: %s", s.jobs())
	}
}

func TestClientThatIsGoneIsNotAnswered(t *testing.T) {
	for _, path := range []string{onePath, batchPath} {
		s := &sink{}
		ctx, cancel := context.WithCancel(context.Background())
		s.onAppend = cancel
		w := &silent{httptest.NewRecorder(), 0}
		newHTTP(s).ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodPost, path, strings.NewReader(event("a"))))
		if w.writes != 0 || len(s.events) != 0 {
			t.Errorf("%s: %d writes to a client that is gone, %d events", path, w.writes, len(s.events))
		}
	}
}

// A silent writer counts what is written to it.
type silent struct {
	http.ResponseWriter
	writes int
}

func (s *silent) WriteHeader(int)             { s.writes++ }
func (s *silent) Write(p []byte) (int, error) { s.writes++; return len(p), nil }

// A pipe is a listener of connections in memory, which end in the bubble of a
// synctest.
type pipe struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (p *pipe) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}
func (p *pipe) Close() error   { p.once.Do(func() { close(p.done) }); return nil }
func (p *pipe) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }
func (p *pipe) dial() net.Conn { a, b := net.Pipe(); p.conns <- b; return a }
func newPipe() *pipe           { return &pipe{conns: make(chan net.Conn), done: make(chan struct{})} }

func TestClientThatStopsSendingLosesItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sink{}
		h := newHTTP(s, func(o *HTTPOptions) { o.MaxBytes = 1 << 20; o.BodyTimeout = 10 * time.Second })
		ln := newPipe()
		srv := &http.Server{Handler: h}
		done := make(chan error, 1)
		go func() { done <- srv.Serve(ln) }()

		c := ln.dial()
		if _, err := fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: 900000\r\n\r\n", batchPath); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write(bytes.Repeat([]byte(" "), 800_000)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := h.bytes.Load(); got < 700_000 {
			t.Errorf("%d bytes are held, want nearly 800,000", got)
		}
		begun := time.Now()
		b := make([]byte, 12)
		if _, err := io.ReadFull(c, b); err != nil || string(b) != "HTTP/1.1 408" {
			t.Errorf("answered %q, %v; want 408", b, err)
		}
		if took := time.Since(begun); took > 20*time.Second || h.bytes.Load() != 0 {
			t.Errorf("after %s %d bytes are held", took, h.bytes.Load())
		}
		if err := errors.Join(c.Close(), srv.Close()); err != nil {
			t.Error(err)
		}
		if err := <-done; err != http.ErrServerClosed {
			t.Error(err)
		}
	})
}
