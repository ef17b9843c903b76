package rpc

import (
	"fmt"
	"net/http"

	"headwater/graph"
)

const (
	// firstFrame and fullFrame are the sizes, in bytes, at which a frame of
	// items is sent: the first soon, so that the asker has something to do, and
	// later ones larger, which compress better.
	firstFrame = 8 << 10
	fullFrame  = 128 << 10
)

// An answer is what a handler writes to one question. Items are gathered into
// frames; each frame goes out when it is full.
type answer struct {
	to     http.ResponseWriter
	flush  func() error
	frames *frames
	items  coder
	// full is the size at which items are sent.
	full int
	// out are frames that are made and not yet written, sent how many bytes
	// have been written.
	out  []byte
	sent int
}

func (f *frames) answer(w http.ResponseWriter) *answer {
	return &answer{to: w, flush: http.NewResponseController(w).Flush, frames: f, full: firstFrame}
}

// item adds one item.
func (a *answer) item(code func(*coder)) error {
	before := len(a.items.b)
	code(&a.items)
	if size := len(a.items.b) - before; size > a.frames.most {
		return fmt.Errorf("%w: one item of the answer is %w", graph.ErrUnavailable, tooLarge(size, a.frames.most))
	}
	if before > 0 && len(a.items.b) > a.frames.most {
		// It needs a frame of its own.
		more := a.items.b[before:]
		a.items.b = a.items.b[:before]
		if err := a.send(); err != nil {
			return err
		}
		a.items.b = append(a.items.b, more...)
	}
	if len(a.items.b) < a.full {
		return nil
	}
	a.full = min(4*a.full, fullFrame)
	return a.send()
}

// send writes what there is, and sees to it that it leaves.
func (a *answer) send() error {
	if len(a.items.b) > 0 {
		if err := a.frame(frameItems, a.items.b); err != nil {
			return err
		}
		a.items.b = a.items.b[:0]
	}
	if err := a.write(); err != nil {
		return err
	}
	if err := a.flush(); err != nil {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	return nil
}

// frame makes a frame, to be written with those that follow.
func (a *answer) frame(kind byte, payload []byte) (err error) {
	a.out, err = a.frames.append(a.out, kind, payload)
	return err
}

func (a *answer) write() error {
	n, err := a.to.Write(a.out)
	a.sent += n
	a.out = a.out[:0]
	if err != nil {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	return nil
}

// head begins the answer.
func (a *answer) head(h *head) error {
	var c coder
	h.code(&c)
	return a.frame(frameHead, c.b)
}

// end writes the rest, and that this is all.
func (a *answer) end(e *ending) error {
	if len(a.items.b) > 0 {
		if err := a.frame(frameItems, a.items.b); err != nil {
			return err
		}
	}
	var c coder
	e.code(&c)
	if err := a.frame(frameEnd, c.b); err != nil {
		return err
	}
	return a.write()
}

// fail writes that there is no more, and why, in the place of items that have
// not been sent.
func (a *answer) fail(f *fault) error {
	var c coder
	f.code(&c)
	if err := a.frame(frameFault, c.b); err != nil {
		return err
	}
	return a.write()
}
