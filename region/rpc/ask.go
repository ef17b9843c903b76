package rpc

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"headwater/graph"
)

// asked is a question while the client asks it.
type asked struct {
	c      *Client
	method string
	frame  []byte
	// head is given what begins the answer; nil where nothing does.
	head func(address string, h *head) error
	// item is given each frame of items; single: there is to be one.
	item   func(payload []byte) error
	single bool
	// complete, if not nil, reports at the end whether all has come.
	complete func() bool
	ending   ending
	// sent: there was a connection, so a part of the question may have left.
	sent    atomic.Bool
	in, out int // bytes
}

// A stop is an error of whom an answer is emitted to.
type stop struct{ error }

// ask asks a question of v, or, if v is nil, one that needs no view. Its errors
// are Errors, but for those that an emit function returned (as a stop), which
// come back as they are.
func (c *Client) ask(ctx context.Context, v *view, q *asked, body []byte) (ending, error) {
	if err := c.begin(); err != nil {
		return ending{}, &Error{Region: c.o.Region, Address: c.o.Addresses[0], Method: q.method, Err: err, lost: true}
	}
	defer c.running.Done()
	began := time.Now()
	q.c = c
	address, err := q.ask(ctx, v, body)
	err = c.explain(ctx, address, q.method, time.Since(began), err)
	c.o.Observe(q.method, time.Since(began), q.in, q.out, err)
	return q.ending, err
}

func (q *asked) ask(ctx context.Context, v *view, body []byte) (address string, err error) {
	if v != nil {
		q.head = v.headed
		if address, body, err = v.question(body); err != nil {
			return q.c.o.Addresses[0], err
		}
	}
	addresses := q.c.addresses(address)
	if q.frame, err = q.c.frames.append(nil, frameQuestion, body); err != nil {
		return addresses[0], &graph.BadInputError{What: fmt.Sprintf("the question is %v", err)}
	}
	var refused []string
	for _, address = range addresses {
		err = q.try(ctx, address)
		if v != nil && q.sent.Load() {
			v.arrived(address)
		}
		if err == nil || q.sent.Load() || ctx.Err() != nil {
			return address, err
		}
		refused = append(refused, fmt.Sprintf("%s: %v", address, err))
	}
	if len(refused) > 1 {
		err = fmt.Errorf("no address answers: %s", strings.Join(refused, "; "))
	}
	return address, err
}

// explain makes an Error of err.
func (c *Client) explain(ctx context.Context, address, method string, took time.Duration, err error) error {
	var stopped stop
	var missing *graph.NotFoundError
	var bad *graph.BadInputError
	e := &Error{Region: c.o.Region, Address: address, Method: method, Err: err}
	switch {
	case err == nil:
		return nil
	case errors.As(err, &stopped):
		return stopped.error
	case errors.As(err, &missing), errors.As(err, &bad), errors.Is(err, errClosed):
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		e.Err, e.lost = fmt.Errorf("no answer in %v; is it up? %w", took.Round(time.Millisecond), ctx.Err()), true
	case ctx.Err() != nil:
		e.Err = ctx.Err()
	default:
		e.lost = true
	}
	return e
}

// try asks one address.
func (q *asked) try(ctx context.Context, address string) error {
	o := &q.c.o
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	scheme := "http"
	if o.TLS != nil {
		scheme = "https"
	}
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { q.sent.Store(true) }})
	r, err := http.NewRequestWithContext(traced, http.MethodPost, scheme+"://"+address+Prefix+q.method, bytes.NewReader(q.frame))
	if err != nil {
		return err
	}
	r.Header.Set(headerFormat, formatName())
	// Not sent; it says that a question may be asked again where the region
	// had closed the connection.
	r.Header["Idempotency-Key"] = nil
	if o.Token != "" {
		r.Header.Set("Authorization", "Bearer "+o.Token)
	}
	if deadline, ok := ctx.Deadline(); ok {
		left := time.Until(deadline)
		r.Header.Set(headerLeft, strconv.FormatInt((left-wayBack(left)).Microseconds(), 10))
	}
	res, err := q.c.http.RoundTrip(r)
	if q.sent.Load() {
		q.out += len(q.frame)
	}
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(res.Body, 1<<10)) // the status says enough
		return fmt.Errorf("%s: %s", res.Status, bytes.TrimSpace(text))
	}
	if format := res.Header.Get(headerFormat); format != formatName() {
		return fmt.Errorf("the answer is of format %q, and this gateway reads format %q", format, formatName())
	}
	q.c.worked(address)
	err = q.read(address, bufio.NewReader(res.Body))
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the answer was cut short after %d bytes: %w", q.in, io.ErrUnexpectedEOF)
	}
	return err
}

// wayBack returns how much of the time that is left the region is not given,
// so that what it has found by then, or why it has not, still arrives.
func wayBack(left time.Duration) time.Duration {
	return min(max(left/10, 100*time.Millisecond), 500*time.Millisecond, left/3)
}

// read reads the frames of an answer to its end.
func (q *asked) read(address string, r *bufio.Reader) error {
	begun := q.head == nil
	for items := 0; ; {
		kind, payload, n, err := q.c.frames.read(r)
		q.in += n
		switch {
		case err != nil:
			return err
		case kind == frameFault:
			var f fault
			if err := decodeAll(payload, f.code); err != nil {
				return err
			}
			return f.err()
		case kind == frameHead && !begun:
			begun = true
			var h head
			if err := decodeAll(payload, h.code); err != nil {
				return err
			}
			if err := q.head(address, &h); err != nil {
				return err
			}
		case kind == frameItems && begun && q.item != nil:
			items++
			if err := q.item(payload); err != nil {
				return err
			}
		case kind == frameEnd && begun && (items == 1 || !q.single) && (q.complete == nil || q.complete()):
			if err := decodeAll(payload, q.ending.code); err != nil {
				return err
			}
			// The connection is good for more once the stream has ended.
			if n, err := io.Copy(io.Discard, io.LimitReader(r, 1)); n > 0 || err != nil {
				return fmt.Errorf("more after the end: %w", errors.Join(errMessage, err))
			}
			return nil
		default:
			return fmt.Errorf("a frame of kind %d out of place: %w", kind, errMessage)
		}
	}
}

// decodeAll decodes a message that takes all of b.
func decodeAll(b []byte, code func(*coder)) error {
	c := coder{b: b, decode: true}
	code(&c)
	return c.end()
}
