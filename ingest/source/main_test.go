package source

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"headwater/graph"
	"headwater/ingest"
	"headwater/ingest/openlineage"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A sink keeps what it was given. Its errors, where set, are answered instead.
type sink struct {
	mu        sync.Mutex
	events    [][]graph.Delta
	waited    []ingest.Receipt
	err       error
	waitErr   error
	onAppend  func()
	appendErr func(n int) error // by how many appends came before
	appends   int
}

func (s *sink) Append(ctx context.Context, events [][]graph.Delta) (ingest.Receipt, error) {
	if s.onAppend != nil {
		s.onAppend()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.appendErr != nil {
		if err := s.appendErr(s.appends); err != nil {
			s.appends++
			return ingest.Receipt{}, err
		}
	}
	s.appends++
	if s.err != nil {
		return ingest.Receipt{}, s.err
	}
	if err := ctx.Err(); err != nil {
		return ingest.Receipt{}, err
	}
	s.events = append(s.events, events...)
	return ingest.Receipt{Region: "eu", Offset: uint64(len(s.events))}, nil
}

func (s *sink) WaitApplied(_ context.Context, r ingest.Receipt) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waited = append(s.waited, r)
	return s.waitErr
}

// jobs lists the names of the subjects that were taken, in order.
func (s *sink) jobs() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for _, e := range s.events {
		names = append(names, e[0].Subject.Name)
	}
	return strings.Join(names, " ")
}

func newHTTP(s *sink, change ...func(*HTTPOptions)) *HTTP {
	o := HTTPOptions{Sink: s, Decode: openlineage.Decode, Region: "eu", Log: slog.New(slog.DiscardHandler)}
	for _, c := range change {
		c(&o)
	}
	return NewHTTP(o)
}

// event is an OpenLineage event of a job.
func event(job string) string {
	return `{"eventType":"COMPLETE","eventTime":"2026-03-01T12:00:00Z","run":{"runId":"` + job + `-run"},"job":{"namespace":"scheduler","name":"` + job +
		`"},"inputs":[{"namespace":"hive://m:9083","name":"a"}],"outputs":[{"namespace":"hive://m:9083","name":"b"}]}`
}

// nameless is an event that is JSON, but can't be taken.
const nameless = `{"eventType":"COMPLETE","eventTime":"2026-03-01T12:00:00Z","run":{"runId":"r"},"job":{"namespace":"scheduler"}}`

// An answer is what came back of a request.
type answer struct {
	t      *testing.T
	status int
	header http.Header
	body   string
}

// send sends a request to the handler itself. Headers come in pairs.
func send(t *testing.T, h http.Handler, method, path string, body io.Reader, headers ...string) answer {
	t.Helper()
	r := httptest.NewRequest(method, path, body)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return answer{t, w.Code, w.Header(), w.Body.String()}
}

func post(t *testing.T, h http.Handler, path, body string, headers ...string) answer {
	t.Helper()
	return send(t, h, http.MethodPost, path, strings.NewReader(body), headers...)
}

const (
	onePath   = "/api/v1/lineage"
	batchPath = "/api/v1/lineage/batch"
)

// want checks the status and that the body has each of parts.
func (a answer) want(status int, parts ...string) answer {
	a.t.Helper()
	if a.status != status {
		a.t.Errorf("status %d, want %d; body %.300s", a.status, status, a.body)
	}
	for _, p := range parts {
		if !strings.Contains(a.body, p) {
			a.t.Errorf("the body lacks %s: %.500s", p, a.body)
		}
	}
	return a
}

func (a answer) batch() BatchAnswer {
	a.t.Helper()
	var b BatchAnswer
	if err := json.Unmarshal([]byte(a.body), &b); err != nil {
		a.t.Fatalf("%v in %.300s", err, a.body)
	}
	return b
}

func zipped(s string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(s)); err != nil {
		panic(err)
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.String()
}

// bomb is a gzip stream of n MiB of white space: members, one after the other.
func bomb(n int) string { return strings.Repeat(zipped(strings.Repeat(" ", 1<<20)), n) }

func counts(b BatchAnswer) string {
	s := b.Summary
	return fmt.Sprintf("%s: %d received, %d successful, %d failed, %d retriable, %d non-retriable", b.Status, s.Received, s.Successful, s.Failed, s.Retriable, s.NonRetriable)
}
