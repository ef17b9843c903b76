package rpc

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"headwater/graph"
)

// HandlerOptions say how a region answers gateways. Region and Reader are
// needed; the rest has defaults.
type HandlerOptions struct {
	Region string
	// Reader answers. Its views are closed before Close returns.
	Reader graph.Reader
	// Status tells how the node is. Default: it is healthy, with the marks of
	// a new view, if there is one.
	Status func(ctx context.Context) (Status, error)
	// Token, if not empty, is wanted as Authorization: Bearer.
	Token string
	// Idle is how long a view stays open that nobody asks: 30 s. At most Views
	// are open at once, 1024; the one that is idle longest goes first.
	Idle  time.Duration
	Views int
	// Questions is how many are answered at once: 256. More wait, as long as
	// they have time.
	Questions int
	// MaxTime bounds each question, also one that says nothing of its time: 1
	// minute.
	MaxTime time.Duration
	// MaxFrame bounds each frame in bytes, of questions as of answers: 16 MiB.
	// A question is one frame: some 650,000 ids. Legs want 1 MiB at least.
	MaxFrame int
	Observe  Observe
	// Log is slog's default where it is nil.
	Log *slog.Logger
}

// Validate says what can't work, and fills in defaults.
func (o *HandlerOptions) Validate() error {
	if o.Region == "" || o.Reader == nil {
		return errors.New("region/rpc: a handler needs Region and Reader")
	}
	positive(&o.Idle, 30*time.Second)
	positive(&o.Views, 1024)
	positive(&o.Questions, 256)
	positive(&o.MaxTime, time.Minute)
	positive(&o.MaxFrame, defaultMaxFrame)
	if o.MaxFrame > mostFrame {
		return fmt.Errorf("region/rpc: MaxFrame is %d, and %d are possible", o.MaxFrame, mostFrame)
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Observe == nil {
		o.Observe = func(string, time.Duration, int, int, error) {}
	}
	if o.Status == nil {
		o.Status = func(ctx context.Context) (Status, error) {
			v, err := o.Reader.View(ctx, graph.At{})
			if err != nil {
				return Status{}, err
			}
			return Status{Marks: v.Marks(), Healthy: true}, v.Close()
		}
	}
	return nil
}

// positive gives v its default where it is not positive.
func positive[T ~int | ~int64](v *T, otherwise T) {
	if *v <= 0 {
		*v = otherwise
	}
}

// A Handler answers the questions of gateways under Prefix. It is safe for use
// by many at once.
type Handler struct {
	o      HandlerOptions
	frames *frames
	leases *leases
	token  [sha256.Size]byte
	places chan struct{} // one for each question that is being answered

	running sync.WaitGroup // questions
	mu      sync.Mutex     // guards all below
	cancels map[*context.CancelCauseFunc]bool
	closed  bool
}

// NewHandler returns a handler; Close it before the reader is closed.
func NewHandler(o HandlerOptions) (*Handler, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	return &Handler{o: o, frames: &frames{o.MaxFrame}, leases: newLeases(o.Reader, o.Idle, o.Views, o.Log), token: sha256.Sum256([]byte(o.Token)),
		places: make(chan struct{}, o.Questions), cancels: map[*context.CancelCauseFunc]bool{}}, nil
}

// NewServer returns a server for a Handler, or for a mux that has one, which
// speaks what a Client does: HTTP/1.1, with TLS where secure is set. The caller
// calls ServeTLS(listener, "", ""), or Serve where secure is nil.
func NewServer(h http.Handler, secure *tls.Config) *http.Server {
	return &http.Server{Handler: h, TLSConfig: secure.Clone(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}
}

// Close ends the questions that are being answered, waits for them, and closes
// all views. Later questions are answered as unavailable.
func (h *Handler) Close() error {
	h.mu.Lock()
	h.closed = true
	for cancel := range h.cancels {
		(*cancel)(errClosing)
	}
	h.mu.Unlock()
	h.running.Wait()
	h.leases.close()
	return nil
}

// begin counts a question in; done counts it out.
func (h *Handler) begin(ctx context.Context) (_ context.Context, done func(), err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, nil, errClosing
	}
	ctx, cancel := context.WithCancelCause(ctx)
	key := &cancel
	h.cancels[key] = true
	h.running.Add(1)
	return ctx, func() {
		cancel(nil)
		h.mu.Lock()
		delete(h.cancels, key)
		h.mu.Unlock()
		h.running.Done()
	}, nil
}

// ServeHTTP implements http.Handler. What is wrong with a request before it is
// a question of ours is answered in plain text.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set(headerFormat, formatName())
	method, known := strings.CutPrefix(r.URL.Path, Prefix)
	serve := h.methods(method)
	switch {
	case !known || serve == nil:
		http.Error(w, fmt.Sprintf("no question is asked at %q", r.URL.Path), http.StatusNotFound)
		return
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "questions are asked with POST", http.StatusMethodNotAllowed)
		return
	case !h.allowed(r):
		http.Error(w, "this region wants Authorization: Bearer TOKEN", http.StatusUnauthorized)
		return
	case r.Header.Get(headerFormat) != formatName():
		http.Error(w, fmt.Sprintf("the question is of format %q, and region %q answers format %q", r.Header.Get(headerFormat), h.o.Region, formatName()), http.StatusBadRequest)
		return
	}
	began := time.Now()
	a := h.frames.answer(w)
	in, err := h.serve(serve, method, r, a)
	h.o.Observe(method, time.Since(began), in, a.sent, err)
}

// allowed compares hashes, so that how long it takes tells nothing of the token.
func (h *Handler) allowed(r *http.Request) bool {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	sum := sha256.Sum256([]byte(token))
	return h.o.Token == "" || subtle.ConstantTimeCompare(sum[:], h.token[:]) == 1
}

// serve answers a question, and writes why where it can't. It returns how many
// bytes came in.
func (h *Handler) serve(serve method, name string, r *http.Request, a *answer) (in int, err error) {
	ctx, done, err := h.begin(r.Context())
	if err != nil {
		return 0, errors.Join(err, a.fail(&fault{faultUnavailable, err.Error()}))
	}
	defer done()
	ctx, cancel := context.WithTimeout(ctx, h.left(r))
	defer cancel()
	// Who neither reads nor goes away is not waited for.
	until, _ := ctx.Deadline()
	wire := http.NewResponseController(a.to)
	if err := errors.Join(wire.SetReadDeadline(until), wire.SetWriteDeadline(until.Add(grace))); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	err = func() (err error) {
		defer func() {
			if v := recover(); v != nil {
				err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
			}
		}()
		most, leave, err := h.enter(ctx, name)
		if err != nil {
			return err
		}
		defer leave()
		var body coder
		if in, err = h.read(ctx, r, &body, most); err != nil {
			return err
		}
		return serve(ctx, &body, a)
	}()
	if err == nil || errors.Is(err, errGone) || r.Context().Err() != nil {
		return in, err // or there is nobody to tell
	}
	f := faultOf(ctx, err, name, h.o.Log)
	return in, errors.Join(err, a.fail(&f))
}

// grace is how long an answer may take to be written after its time is over.
const grace = 5 * time.Second

// left returns how much time a question has.
func (h *Handler) left(r *http.Request) time.Duration {
	micros, err := strconv.ParseInt(r.Header.Get(headerLeft), 10, 64)
	if err != nil || micros > h.o.MaxTime.Microseconds() {
		return h.o.MaxTime
	}
	return time.Duration(micros) * time.Microsecond
}

// smallQuestion is how large a question may be that waits for no place.
const smallQuestion = 64 << 10

// enter waits for a place among the questions that are answered at once, which
// leave gives back. It returns how large the question may be.
func (h *Handler) enter(ctx context.Context, method string) (most int, leave func(), err error) {
	if method == methodStatus || method == methodClose {
		return min(smallQuestion, h.o.MaxFrame), func() {}, nil
	}
	select {
	case h.places <- struct{}{}:
		return h.o.MaxFrame, func() { <-h.places }, nil
	case <-ctx.Done():
		return 0, nil, fmt.Errorf("%d questions are being answered: %w", h.o.Questions, ctx.Err())
	}
}

// read reads the question's frame.
func (h *Handler) read(ctx context.Context, r *http.Request, body *coder, most int) (int, error) {
	kind, payload, n, err := (&frames{most}).read(r.Body)
	switch {
	case ctx.Err() != nil:
		return n, ctx.Err()
	case err != nil:
		return n, &graph.BadInputError{What: fmt.Sprintf("read the question: %v", err)}
	case kind != frameQuestion:
		return n, &graph.BadInputError{What: fmt.Sprintf("read the question: a frame of kind %d", kind)}
	}
	*body = coder{b: payload, decode: true}
	return n, nil
}
