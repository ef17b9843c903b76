package source

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// A lasting error of talking to a server is one that asking again won't mend.
type lasting struct{ error }

func (e lasting) Unwrap() error { return e.error }

// post sends a body, again while the server is down or says later.
func (l *loader) post(ctx context.Context, path string, body []byte) (a BatchAnswer, status int, err error) {
	deadline := time.Now().Add(l.o.Patience)
	said := ""
	for wait := 200 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		var after time.Duration
		a, status, after, err = l.once(ctx, path, body)
		var last lasting
		switch {
		case ctx.Err() != nil:
			return a, 0, ctx.Err()
		case errors.As(err, &last):
			return a, 0, last.error
		case err != nil:
			err = fmt.Errorf("%w; is a server running there? `headwater serve` starts one", err)
		case status == http.StatusUnauthorized:
			return a, 0, errors.New("the server wants a token: --token or HEADWATER_TOKEN")
		case status == http.StatusGatewayTimeout && a.Receipt != "" && a.Error != said:
			// It applies, which takes its time: as long as it goes on, so do we.
			said, deadline = a.Error, time.Now().Add(l.o.Patience)
			err = fmt.Errorf("the server is applying: %s", a.Error)
		case status == http.StatusTooManyRequests, status == http.StatusBadGateway, status == http.StatusServiceUnavailable, status == http.StatusGatewayTimeout:
			err = fmt.Errorf("the server answers %d: %s", status, a.Error)
		default:
			return a, status, nil
		}
		left := time.Until(deadline)
		if left <= 0 {
			return a, 0, err
		}
		if l.o.Waiting != nil {
			l.o.Waiting(err, left)
		}
		select {
		case <-time.After(min(max(wait, after), left)):
		case <-ctx.Done():
			return a, 0, ctx.Err()
		}
	}
}

// attempt is how long one request may take. It is longer than a server waits
// until events are applied.
const attempt = 2 * time.Minute

func (l *loader) once(ctx context.Context, path string, body []byte) (a BatchAnswer, status int, after time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, attempt)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(l.o.Server, "/")+path, bytes.NewReader(body))
	if err != nil {
		return a, 0, 0, lasting{err}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Content-Encoding", "gzip")
	if l.o.Token != "" {
		req.Header.Set("Authorization", "Bearer "+l.o.Token)
	}
	res, err := l.o.Client.Do(req)
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &certificate), errors.Is(err, http.ErrSchemeMismatch):
		return a, 0, 0, lasting{err}
	case err != nil:
		return a, 0, 0, err
	}
	defer func() { _ = res.Body.Close() }()
	if s, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil {
		after = time.Duration(s) * time.Second
	}
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return a, 0, 0, err
	}
	if err := json.Unmarshal(b, &a); err != nil {
		if res.StatusCode < 300 {
			return a, 0, 0, lasting{fmt.Errorf("the server at %s does not answer as headwater does: %w", l.o.Server, err)}
		}
		a = BatchAnswer{Error: http.StatusText(res.StatusCode)}
	}
	return a, res.StatusCode, after, nil
}

// wait asks the server to wait until all that was sent can be read: an empty
// batch that waits does.
func (l *loader) wait(ctx context.Context) error {
	a, status, err := l.post(ctx, "/api/v1/lineage/batch?wait=applied", l.pack(nil))
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("the server answered %d: %s", status, a.Error)
	}
	if err != nil {
		return fmt.Errorf("all was taken; wait until it can be read: %w", err)
	}
	return nil
}
