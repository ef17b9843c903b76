package source

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"headwater/graph"
	"headwater/ingest"
)

// HTTPOptions say how events are taken in over HTTP. Sink, Decode and Region
// are needed.
type HTTPOptions struct {
	Sink   ingest.Sink
	Decode ingest.Decoder
	Region string
	// Delete ends what is said of a name, as DELETE asks. Nil: not offered.
	Delete func(ctx context.Context, name graph.Name) (ingest.Receipt, error)
	// Token, if set, must come as "Authorization: Bearer TOKEN".
	Token string
	// MaxBody is the largest body, unpacked, in bytes. Default: 256 MiB.
	MaxBody int64
	// MaxBytes bounds the bytes of all bodies at hand. Default: 512 MiB.
	MaxBytes int64
	Log      *slog.Logger
}

// HTTPStats count what came over HTTP.
type HTTPStats struct {
	// Accepted and Rejected count events; Clamped counts event times that lay
	// too far ahead; Refused counts requests refused for load or space.
	Accepted, Rejected, Clamped, Refused atomic.Uint64
}

// An HTTP is the OpenLineage endpoint.
type HTTP struct {
	o     HTTPOptions
	Stats HTTPStats
	bytes atomic.Int64
	mux   http.ServeMux
}

// NewHTTP returns the handler of
//
//	POST   /api/v1/lineage          one event
//	POST   /api/v1/lineage/batch    a JSON array of events, or one after the other
//	DELETE /api/v1/namespaces/{namespace}/datasets/{name}
//	DELETE /api/v1/namespaces/{namespace}/jobs/{name}
//
// With ?wait=applied it answers once the events can be read.
func NewHTTP(o HTTPOptions) *HTTP {
	if o.MaxBody == 0 {
		o.MaxBody = MaxEvent
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = 512 << 20
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	h := &HTTP{o: o}
	h.mux.HandleFunc("POST /api/v1/lineage", h.single)
	h.mux.HandleFunc("POST /api/v1/lineage/batch", h.batch)
	if o.Delete != nil {
		h.mux.HandleFunc("DELETE /api/v1/namespaces/{namespace}/datasets/{name}", h.delete(graph.DataStoreKind))
		h.mux.HandleFunc("DELETE /api/v1/namespaces/{namespace}/jobs/{name}", h.delete(graph.ProcessKind))
	}
	return h
}

func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h.o.Token != "" {
		token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !ok || subtle.ConstantTimeCompare([]byte(token), []byte(h.o.Token)) != 1 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			reply(w, http.StatusUnauthorized, Problem{Error: "this server wants Authorization: Bearer TOKEN"})
			return
		}
	}
	h.mux.ServeHTTP(w, r)
}

// A Problem is the body of an answer that refuses.
type Problem struct {
	Error string `json:"error"`
	// Path is the JSON path of the fault, Offset its place in bytes.
	Path   string `json:"path,omitempty"`
	Offset int64  `json:"offset,omitempty"`
}

// A Warning says what of an accepted event was left out.
type Warning struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// An Accepted is the body of an answer to one event.
type Accepted struct {
	Receipt  string    `json:"receipt"`
	Warnings []Warning `json:"warnings,omitempty"`
}

// A BatchAnswer is the body of an answer to a batch; its form is
// OpenLineage's (spec/OpenLineage.yml, /lineage/batch), with the receipt and
// warnings added.
type BatchAnswer struct {
	Status  string        `json:"status"`
	Summary BatchSummary  `json:"summary"`
	Failed  []FailedEvent `json:"failed_events"`
	Receipt string        `json:"receipt,omitempty"`
	// Error says why the whole batch was refused.
	Error    string         `json:"error,omitempty"`
	Warnings []BatchWarning `json:"warnings,omitempty"`
}

// A BatchSummary counts the events of a batch.
type BatchSummary struct {
	Received     int `json:"received"`
	Successful   int `json:"successful"`
	Failed       int `json:"failed"`
	Retriable    int `json:"retriable"`
	NonRetriable int `json:"non_retriable"`
}

// A FailedEvent says which event of a batch was not taken, and why.
type FailedEvent struct {
	Index     int    `json:"index"`
	Reason    string `json:"reason"`
	Retriable bool   `json:"retriable"`
}

// A BatchWarning says what of an accepted event of a batch was left out.
type BatchWarning struct {
	Index int `json:"index"`
	Warning
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client may be gone
}

// refuse answers an error of reading, or of the sink.
func (h *HTTP) refuse(w http.ResponseWriter, r *http.Request, err error) {
	var tooLarge *http.MaxBytesError
	var notFound *graph.NotFoundError
	later := func(status int, seconds int) {
		h.Stats.Refused.Add(1)
		w.Header().Set("Retry-After", strconv.Itoa(seconds))
		reply(w, status, Problem{Error: err.Error()})
	}
	switch {
	case errors.Is(err, errBusy):
		later(http.StatusTooManyRequests, 1)
	case errors.Is(err, ingest.ErrOverloaded):
		later(http.StatusServiceUnavailable, 1)
	case errors.Is(err, ingest.ErrNoSpace):
		later(http.StatusServiceUnavailable, 30)
	case errors.As(err, &tooLarge):
		reply(w, http.StatusRequestEntityTooLarge, Problem{Error: fmt.Sprintf("the body has more than %d MiB", tooLarge.Limit>>20)})
	case errors.As(err, &notFound):
		reply(w, http.StatusNotFound, Problem{Error: err.Error()})
	case errors.Is(err, errBody):
		reply(w, http.StatusBadRequest, Problem{Error: err.Error(), Path: "$"})
	case errors.Is(err, context.DeadlineExceeded):
		later(http.StatusGatewayTimeout, 1)
	case r.Context().Err() != nil:
		// The client is gone; nobody reads an answer.
	default:
		h.o.Log.Error("take in events", "err", err)
		later(http.StatusServiceUnavailable, 5)
	}
}

var (
	errBusy = errors.New("too many bytes are being taken in at once")
	errBody = errors.New("read the body")
)

// body reads a body, unpacked. release gives back its bytes to the others.
func (h *HTTP) body(w http.ResponseWriter, r *http.Request) (b []byte, release func(), err error) {
	var held int64
	release = func() { h.bytes.Add(-held) }
	hold := func(n int64) bool {
		total := h.bytes.Add(n)
		held += n
		return total <= h.o.MaxBytes || total == held
	}
	packed := false
	switch encoding := strings.ToLower(r.Header.Get("Content-Encoding")); encoding {
	case "", "identity":
	case "gzip", "x-gzip":
		packed = true
	default:
		return nil, release, fmt.Errorf("%w: Content-Encoding %q is not one of gzip, identity", errBody, encoding)
	}
	var in io.Reader = http.MaxBytesReader(w, r.Body, h.o.MaxBody)
	if packed {
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, release, fmt.Errorf("%w: gzip: %w", errBody, err)
		}
		in = z
	}
	buf := bytes.NewBuffer(make([]byte, 0, max(512, min(r.ContentLength+512, 1<<20))))
	for {
		n, err := io.CopyN(buf, in, 1<<20)
		if n > 0 && !hold(n) {
			return nil, release, errBusy
		}
		if int64(buf.Len()) > h.o.MaxBody {
			return nil, release, &http.MaxBytesError{Limit: h.o.MaxBody}
		}
		if errors.Is(err, io.EOF) {
			return buf.Bytes(), release, nil
		}
		if err != nil {
			var tooLarge *http.MaxBytesError
			if errors.As(err, &tooLarge) {
				return nil, release, err
			}
			return nil, release, fmt.Errorf("%w: %w", errBody, err)
		}
	}
}

func (h *HTTP) decode(body []byte, now time.Time) ingest.Decoded {
	d := h.o.Decode(ingest.Message{Body: body, Region: h.o.Region, Received: now})
	h.Stats.Clamped.Add(uint64(d.Clamped))
	if d.Fatal() {
		h.Stats.Rejected.Add(1)
	}
	return d
}

func (h *HTTP) single(w http.ResponseWriter, r *http.Request) {
	body, release, err := h.body(w, r)
	defer release()
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	d := h.decode(body, time.Now())
	if d.Fatal() {
		bad := d.Rejected[0]
		reply(w, http.StatusBadRequest, Problem{Error: bad.Reason, Path: bad.Path, Offset: bad.Offset})
		return
	}
	receipt, err := h.take(r, [][]graph.Delta{d.Deltas})
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	a := Accepted{Receipt: receipt.String()}
	for _, x := range d.Rejected {
		a.Warnings = append(a.Warnings, Warning{Path: x.Path, Reason: x.Reason})
	}
	reply(w, http.StatusCreated, a)
}

// take hands events to the sink and waits as the request asks.
func (h *HTTP) take(r *http.Request, events [][]graph.Delta) (ingest.Receipt, error) {
	receipt, err := h.o.Sink.Append(r.Context(), events)
	if err != nil {
		return receipt, err
	}
	h.Stats.Accepted.Add(uint64(len(events)))
	switch wait := r.URL.Query().Get("wait"); wait {
	case "applied":
		ctx, cancel := context.WithTimeout(r.Context(), 30*time.Second)
		defer cancel()
		return receipt, h.o.Sink.WaitApplied(ctx, receipt)
	default:
		return receipt, nil
	}
}

func (h *HTTP) batch(w http.ResponseWriter, r *http.Request) {
	body, release, err := h.body(w, r)
	defer release()
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	if len(bytes.TrimSpace(body)) == 0 {
		h.refuse(w, r, fmt.Errorf("%w: it is empty; a batch is a JSON array of events", errBody))
		return
	}
	now := time.Now()
	a := BatchAnswer{Status: "success", Failed: []FailedEvent{}}
	var events [][]graph.Delta
	var syntax *SyntaxError
	fail := func(index int, reason string) {
		a.Failed = append(a.Failed, FailedEvent{Index: index, Reason: reason})
	}
	err = Split(bytes.NewReader(body), func(raw Raw) error {
		a.Summary.Received++
		d := h.decode(raw.Body, now)
		if d.Fatal() {
			fail(raw.Index, d.Rejected[0].Error())
			return nil
		}
		for _, x := range d.Rejected {
			a.Warnings = append(a.Warnings, BatchWarning{Index: raw.Index, Warning: Warning{Path: x.Path, Reason: x.Reason}})
		}
		events = append(events, d.Deltas)
		return nil
	}, func(e *SyntaxError) error {
		syntax = e
		return e
	})
	if syntax != nil {
		// Nothing was handed on yet: a body that is not JSON is taken not at all.
		h.Stats.Rejected.Add(1)
		reply(w, http.StatusBadRequest, Problem{Error: "not a JSON array of events: " + syntax.Reason, Path: "$", Offset: syntax.Offset})
		return
	}
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	// An empty batch takes nothing in, but may wait for what came before.
	receipt, err := h.take(r, events)
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	a.Receipt = receipt.String()
	a.Summary.Failed = len(a.Failed)
	a.Summary.NonRetriable = len(a.Failed)
	a.Summary.Successful = a.Summary.Received - a.Summary.Failed
	status := http.StatusOK
	switch {
	case a.Summary.Failed > 0 && a.Summary.Successful == 0:
		a.Status, status = "failure", http.StatusBadRequest
	case a.Summary.Failed > 0:
		a.Status = "partial_success"
	}
	reply(w, status, a)
}

func (h *HTTP) delete(kind graph.Kind) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		name := graph.Name{Kind: kind, Region: h.o.Region, Namespace: r.PathValue("namespace"), Name: r.PathValue("name")}
		ctx, cancel := context.WithTimeout(r.Context(), 30*time.Second)
		defer cancel()
		receipt, err := h.o.Delete(ctx, name)
		if err != nil {
			h.refuse(w, r, err)
			return
		}
		reply(w, http.StatusOK, Accepted{Receipt: receipt.String()})
	}
}
