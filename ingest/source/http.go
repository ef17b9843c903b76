package source

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"headwater/background"
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
	// BodyTimeout is how long a client may take to send 256 KiB. Default: one
	// minute.
	BodyTimeout time.Duration
	Log         *slog.Logger
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
	// bodies are those that were read, for the memory that they have.
	bodies sync.Pool
	// asides holds a place for each batch that is being decoded.
	asides chan struct{}
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
	if o.BodyTimeout == 0 {
		o.BodyTimeout = time.Minute
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	h := &HTTP{o: o, asides: make(chan struct{}, background.Cores())}
	h.mux.HandleFunc("POST /api/v1/lineage", h.single)
	h.mux.HandleFunc("POST /api/v1/lineage/batch", h.batch)
	if o.Delete != nil {
		h.mux.HandleFunc("DELETE /api/v1/namespaces/{namespace}/datasets/{name}", h.delete(graph.DataStoreKind))
		h.mux.HandleFunc("DELETE /api/v1/namespaces/{namespace}/jobs/{name}", h.delete(graph.ProcessKind))
	}
	return h
}

func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	WithToken(&h.mux, h.o.Token).ServeHTTP(w, r)
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
	var waiting *notAppliedError
	var syntax *SyntaxError
	p := Problem{Error: err.Error()}
	later := func(status int, seconds int) {
		w.Header().Set("Retry-After", strconv.Itoa(seconds))
		reply(w, status, p)
	}
	switch {
	case errors.Is(err, errBusy):
		h.Stats.Refused.Add(1)
		later(http.StatusTooManyRequests, 1)
	case errors.Is(err, ingest.ErrOverloaded):
		h.Stats.Refused.Add(1)
		later(http.StatusServiceUnavailable, 1)
	case errors.Is(err, ingest.ErrNoSpace):
		h.Stats.Refused.Add(1)
		later(http.StatusServiceUnavailable, 30)
	case errors.As(err, &tooLarge):
		p.Error = fmt.Sprintf("the body has more than %d bytes", tooLarge.Limit)
		reply(w, http.StatusRequestEntityTooLarge, p)
	case errors.Is(err, errTooMany):
		reply(w, http.StatusRequestEntityTooLarge, p)
	case errors.As(err, &syntax):
		h.Stats.Rejected.Add(1)
		reply(w, http.StatusBadRequest, Problem{Error: "not a JSON array of events: " + err.Error(), Path: "$", Offset: syntax.Seen})
	case errors.As(err, &notFound):
		reply(w, http.StatusNotFound, p)
	case errors.Is(err, errEncoding):
		w.Header().Set("Accept-Encoding", "gzip, identity")
		reply(w, http.StatusUnsupportedMediaType, p)
	case errors.Is(err, os.ErrDeadlineExceeded):
		reply(w, http.StatusRequestTimeout, p)
	case errors.Is(err, errWait):
		reply(w, http.StatusBadRequest, p)
	case errors.Is(err, errBody):
		p.Path = "$"
		reply(w, http.StatusBadRequest, p)
	case r.Context().Err() != nil:
		// The client is gone; nobody reads an answer.
	case errors.As(err, &waiting):
		p.Receipt = waiting.receipt.String()
		later(http.StatusGatewayTimeout, 1)
	case errors.Is(err, context.DeadlineExceeded):
		later(http.StatusGatewayTimeout, 1)
	default:
		h.o.Log.Error("take in events", "err", err)
		later(http.StatusServiceUnavailable, 5)
	}
}

// decode decodes an event. One that the decoder panics on is refused, like
// others that it can't take: it would be sent again and again otherwise.
func (h *HTTP) decode(body []byte, now time.Time) (d ingest.Decoded) {
	defer func() {
		if p := recover(); p != nil {
			h.o.Log.Error("decoding an event panicked", "panic", p, "bytes", len(body), "stack", string(debug.Stack()))
			d = ingest.Decoded{Rejected: []ingest.Rejected{{Path: "$", Reason: "this event can't be decoded; the server's log says why"}}}
		}
		h.Stats.Clamped.Add(uint64(d.Clamped))
	}()
	return h.o.Decode(ingest.Message{Body: body, Region: h.o.Region, Received: now})
}

func (h *HTTP) single(w http.ResponseWriter, r *http.Request) {
	wait, err := waits(r)
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	body, release, err := h.body(w, r)
	defer release()
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	d := h.decode(body, time.Now())
	if d.Fatal() {
		h.Stats.Rejected.Add(1)
		bad := d.Rejected[0]
		reply(w, http.StatusBadRequest, Problem{Error: bad.Reason, Path: bad.Path, Offset: bad.Offset})
		return
	}
	receipt, err := h.take(r, wait, [][]graph.Delta{d.Deltas})
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

var errWait = errors.New("wait can only be applied")

// waits reports whether a request asks to wait until its events can be read.
func waits(r *http.Request) (bool, error) {
	switch values := r.URL.Query()["wait"]; {
	case len(values) == 0:
		return false, nil
	case len(values) == 1 && values[0] == "applied":
		return true, nil
	default:
		return false, fmt.Errorf("wait=%s: %w", strings.Join(values, ","), errWait)
	}
}

// A notAppliedError says that events were taken, but can't be read yet.
type notAppliedError struct {
	receipt ingest.Receipt
	error
}

func (e *notAppliedError) Unwrap() error { return e.error }

// take hands events to the sink and waits if the request asks for it.
func (h *HTTP) take(r *http.Request, wait bool, events [][]graph.Delta) (ingest.Receipt, error) {
	receipt, err := h.o.Sink.Append(r.Context(), events)
	if err != nil {
		return receipt, err
	}
	h.Stats.Accepted.Add(uint64(len(events)))
	if !wait {
		return receipt, nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), 30*time.Second)
	defer cancel()
	if err := h.o.Sink.WaitApplied(ctx, receipt); err != nil {
		return receipt, &notAppliedError{receipt, err}
	}
	return receipt, nil
}

// maxEvents is how many events a batch has at most; maxListed is how many of
// those that failed, and of the warnings, the answer lists.
const maxEvents, maxListed = 100_000, 1000

// aside runs f in the background, no more of them at once than there are
// cores: decoding many events takes long, and who waits for an answer of a few
// milliseconds comes first.
func (h *HTTP) aside(f func()) {
	h.asides <- struct{}{}
	defer func() { <-h.asides }()
	background.Do(f)
}

var errTooMany = fmt.Errorf("a batch has at most %d events", maxEvents)

// batch takes many events in. It hands on nothing before it has read all: of a
// body that is not JSON nothing is taken.
func (h *HTTP) batch(w http.ResponseWriter, r *http.Request) {
	wait, err := waits(r)
	if err != nil {
		h.refuse(w, r, err)
		return
	}
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
	bad := func(e *SyntaxError) error { return e }
	take := func(raw Raw) error {
		if a.Summary.Received++; a.Summary.Received > maxEvents {
			return errTooMany
		}
		d := h.decode(raw.Body, now)
		if d.Fatal() {
			if !isJSON(raw.Body) {
				if err := splitBody(body, func(Raw) error { return nil }, bad); err != nil {
					return err
				}
			}
			h.Stats.Rejected.Add(1)
			if a.Summary.Failed++; len(a.Failed) < maxListed {
				a.Failed = append(a.Failed, FailedEvent{Index: raw.Index, Reason: d.Rejected[0].Error()})
			}
			return nil
		}
		for _, x := range d.Rejected {
			if len(a.Warnings) < maxListed {
				a.Warnings = append(a.Warnings, BatchWarning{Index: raw.Index, Warning: Warning{Path: x.Path, Reason: x.Reason}})
			}
		}
		events = append(events, d.Deltas)
		return nil
	}
	h.aside(func() { err = skimBody(body, take, bad) })
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	// An empty batch takes nothing in, but may wait for what came before.
	if len(events) > 0 || a.Summary.Received == 0 {
		receipt, err := h.take(r, wait, events)
		if err != nil {
			h.refuse(w, r, err)
			return
		}
		a.Receipt = receipt.String()
	}
	a.Summary.NonRetriable = a.Summary.Failed
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
