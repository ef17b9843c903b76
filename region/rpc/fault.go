package rpc

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"

	"headwater/graph"
)

// A faultKind tells what ended an answer.
type faultKind uint8

const (
	faultNotFound faultKind = iota + 1
	faultBad
	faultExpired
	faultDeadline
	faultUnavailable
	faultInternal
)

// A fault is an error as it travels.
type fault struct {
	kind faultKind
	// text is the whole error, or what was not found, or what is wrong with
	// the question.
	text string
}

func (f *fault) code(c *coder) {
	small(c, &f.kind)
	c.string(&f.text)
}

// faultOf returns what the asker may know of err; of the rest it gets an id
// under which log has it.
func faultOf(ctx context.Context, err error, method string, log *slog.Logger) fault {
	var missing *graph.NotFoundError
	var bad *graph.BadInputError
	switch {
	case errors.As(err, &bad):
		return fault{faultBad, bad.What}
	case errors.As(err, &missing):
		return fault{faultNotFound, missing.What}
	case errors.Is(err, ErrExpired):
		return fault{faultExpired, ""}
	case errors.Is(context.Cause(ctx), errClosing):
		return fault{faultUnavailable, errClosing.Error()}
	case errors.Is(err, context.DeadlineExceeded), ctx.Err() != nil:
		return fault{faultDeadline, ""}
	case errors.Is(err, graph.ErrUnavailable):
		return fault{faultUnavailable, err.Error()}
	}
	b := make([]byte, 6)
	rand.Read(b) // never fails
	id := hex.EncodeToString(b)
	log.Error("answer a gateway", "id", id, "method", method, "err", err)
	return fault{faultInternal, id}
}

// err returns the error that a fault stands for.
func (f *fault) err() error {
	switch f.kind {
	case faultNotFound:
		return &graph.NotFoundError{What: f.text}
	case faultBad:
		return &graph.BadInputError{What: f.text}
	case faultExpired:
		return ErrExpired
	case faultDeadline:
		return fmt.Errorf("the region had no more time: %w", context.DeadlineExceeded)
	case faultUnavailable:
		return errors.New(f.text)
	case faultInternal:
		return fmt.Errorf("internal error; the region's log explains it under %s", f.text)
	}
	return fmt.Errorf("a fault of kind %d: %w", f.kind, errMessage)
}
