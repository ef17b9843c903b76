package embedded

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"headwater/graph"
	"headwater/region/bus"
)

const (
	// maxRequest bounds a request, which has a filter, in bytes.
	maxRequest = 64 << 20
	// stalled is how long a follower may leave what was sent unread.
	stalled = 30 * time.Second
)

// Handler serves a stream under FollowPath and SnapshotPath. Who may ask is
// for those around it to say. Requests under way end with their contexts.
func Handler(s bus.Stream, log *slog.Logger) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+FollowPath, func(w http.ResponseWriter, r *http.Request) {
		serve(w, r, log, func(ctx context.Context, q request, a *answer) error {
			return s.Follow(ctx, q.Cursor, q.Filter, func(entries []bus.Entry) error { return a.send(a.entries(entries)) })
		})
	})
	mux.HandleFunc("POST "+SnapshotPath, func(w http.ResponseWriter, r *http.Request) {
		serve(w, r, log, func(ctx context.Context, q request, a *answer) error {
			c, err := s.Snapshot(ctx, q.Filter, func(names []graph.Name) error { return a.send(a.names(names)) })
			if err != nil {
				return err
			}
			return a.send(a.json(cursorFrame, c))
		})
	})
	return mux
}

// An answer sends frames; it is broken once that fails.
type answer struct {
	framer
	w       http.ResponseWriter
	control *http.ResponseController
	broken  bool
}

func (a *answer) send(frame []byte, err error) error {
	if err != nil {
		return err
	}
	a.broken = true
	if err := a.control.SetWriteDeadline(time.Now().Add(stalled)); err != nil {
		return err
	}
	if _, err := a.w.Write(frame); err != nil {
		return err
	}
	if err := a.control.Flush(); err != nil {
		return err
	}
	a.broken = false
	return nil
}

func serve(w http.ResponseWriter, r *http.Request, log *slog.Logger, do func(context.Context, request, *answer) error) {
	var q request
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequest)).Decode(&q); err != nil {
		http.Error(w, fmt.Sprintf("read the request: %v", err), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	a := &answer{w: w, control: http.NewResponseController(w)}
	defer func() { _ = a.control.SetWriteDeadline(time.Time{}) }() // for whoever has the connection next
	err := do(r.Context(), q, a)
	if err == nil || r.Context().Err() != nil || a.broken {
		return
	}
	log.Debug("a follower of the change stream is refused", "from", r.RemoteAddr, "err", err)
	_ = a.send(a.json(refusalFrame, refusalOf(err))) // who asked sees that it broke off
}
