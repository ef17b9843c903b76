package api

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator/core"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"headwater/graph"
)

// The codes of errors, in extensions.code.
const (
	codeBadInput    = "BAD_INPUT"
	codeNotFound    = "NOT_FOUND"
	codeAmbiguous   = "AMBIGUOUS"
	codeTimeout     = "TIMEOUT"
	codeUnavailable = "UNAVAILABLE"
	codeInternal    = "INTERNAL"
)

// A fault is an error that the client may read as it stands.
type fault struct {
	code, message string
	// extensions stand beside the code.
	extensions map[string]any
}

func (f *fault) Error() string { return f.message }

func badInput(format string, args ...any) error {
	return &fault{code: codeBadInput, message: fmt.Sprintf(format, args...)}
}

// present turns an error into what the client sees. What it may not see is
// logged under an id, which it sees instead.
func (a *api) present(ctx context.Context, err error) *gqlerror.Error {
	shown := graphql.DefaultErrorPresenter(ctx, err)
	if shown.Extensions["code"] != nil {
		return shown // GraphQL's own
	}
	var f *fault
	var bad *graph.BadInputError
	var missing *graph.NotFoundError
	var panicked *panicError
	switch {
	case errors.As(err, &f):
	case errors.As(err, &bad):
		f = &fault{code: codeBadInput, message: bad.Error()}
	case errors.As(err, &missing):
		f = &fault{code: codeNotFound, message: missing.Error()}
	case errors.Is(err, graph.ErrUnavailable):
		f = &fault{code: codeUnavailable, message: unpath(err)}
	case errors.Is(err, context.DeadlineExceeded):
		f = &fault{code: codeTimeout, message: fmt.Sprintf("the %v for this request were over; ask for less: a smaller depth, limit or selection", a.o.Timeout)}
	case errors.Is(err, context.Canceled):
		f = &fault{code: codeTimeout, message: "the client has gone"}
	case shown.Err == nil && len(shown.Path) == 0:
		// The body of the request could not be read.
		f = &fault{code: codeBadInput, message: clip(shown.Message)}
	default:
		id := make([]byte, 6)
		rand.Read(id) // never fails
		f = &fault{code: codeInternal, extensions: map[string]any{"id": hex.EncodeToString(id)}}
		f.message = "internal error; the server's log explains it under " + hex.EncodeToString(id)
		args := []any{"id", hex.EncodeToString(id), "path", shown.Path.String(), "err", err}
		if errors.As(err, &panicked) {
			args = append(args, "stack", panicked.stack)
		}
		a.o.Log.Error("answer a GraphQL request", args...)
	}
	shown.Message = f.message
	shown.Extensions = map[string]any{"code": f.code}
	for k, v := range f.extensions {
		shown.Extensions[k] = v
	}
	return shown
}

// unpath returns the text of an error as it was before the path of its field
// was put before it.
func unpath(err error) string {
	var g *gqlerror.Error
	for errors.As(err, &g) && g.Err != nil {
		err = g.Err
	}
	return err.Error()
}

// clip shortens a message that repeats what the client sent.
func clip(s string) string {
	const most = 300
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// A panicError is a panic in a resolver.
type panicError struct {
	value any
	stack string
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// panicked is to be called where v was recovered.
func panicked(v any) error { return &panicError{value: v, stack: string(debug.Stack())} }

func (a *api) recovered(_ context.Context, v any) error { return panicked(v) }

// reportGaps adds an error beside the data of the current field, which has no
// place for gaps of its own.
func reportGaps(ctx context.Context, gaps []graph.Gap) {
	if gaps = joinGaps(gaps); len(gaps) > 0 {
		graphql.AddError(ctx, gapFault("some of it may be missing", gaps))
	}
}

func gapFault(what string, gaps []graph.Gap) error {
	var why []string
	for _, g := range gaps {
		why = append(why, fmt.Sprintf("region %q: %s", g.Region, g.Reason))
	}
	return &fault{code: codeUnavailable, message: what + ": " + strings.Join(why, "; ")}
}

// validationRules are GraphQL's own, and that there is no @defer: none of our
// transports sends what was deferred.
func validationRules() *rules.Rules {
	all := rules.NewDefaultRules()
	all.AddRule("NoDefer", func(observers *core.Events, addError core.AddErrFunc) {
		observers.OnDirective(func(_ *core.Walker, d *ast.Directive) {
			if d.Name == "defer" {
				addError(core.Message("@defer is not supported"), core.At(d.Position))
			}
		})
	})
	return all
}
