package nebula

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/vesoft-inc/nebula-go/v3/nebula"

	"headwater/graph"
)

// A transportError says that a graphd could not be reached, or that nobody
// knows whether it ran a statement. It may pass.
type transportError struct {
	address string
	// id is the session's, 0: none was begun.
	id  int64
	err error
}

func (e *transportError) Error() string { return fmt.Sprintf("graphd %s: %s", e.address, e.err) }

func (e *transportError) Unwrap() []error { return []error{graph.ErrUnavailable, e.err} }

// A serverError is a graphd's refusal.
type serverError struct {
	address string
	code    int
	message string
	// text is the statement, empty when a session was asked for.
	text string
}

// shown is how much of a statement an error shows.
const shown = 80

func (e *serverError) Error() string {
	text := e.text
	if len(text) > shown {
		text = text[:shown] + "…"
	}
	if text != "" {
		text = fmt.Sprintf(" (%q)", text)
	}
	return fmt.Sprintf("graphd %s: %d: %s%s", e.address, e.code, strings.TrimSpace(e.message), text)
}

// Unwrap has ErrUnavailable in the chain of what may pass.
func (e *serverError) Unwrap() error {
	if e.passing() {
		return graph.ErrUnavailable
	}
	return nil
}

// The codes that decide alone, or with the message. The rest is told by the
// message: -1005 is all that goes wrong while a statement runs.
const (
	codeSession   = int(nebula.ErrorCode_E_SESSION_INVALID)   // -1002
	codeSyntax    = int(nebula.ErrorCode_E_SYNTAX_ERROR)      // -1004
	codeExecution = int(nebula.ErrorCode_E_EXECUTION_ERROR)   // -1005
	codeSemantic  = int(nebula.ErrorCode_E_SEMANTIC_ERROR)    // -1009
	codePartial   = int(nebula.ErrorCode_E_PARTIAL_SUCCEEDED) // -1011
	codeDenied    = int(nebula.ErrorCode_E_BAD_PERMISSION)    // -1008
	noSpaceChosen = "SemanticError: Space was not chosen."    // graphd was started again
	noSuchSession = "Session not existed"                     // killed, or idle for hours
	noSuchUser    = "User not existed"                        // with authorization off
)

// passingMessages begin what storaged and metad say when they, or the part of
// the graph that is asked for, are not there at the moment.
var passingMessages = []string{
	"Storage Error: RPC failure",
	"Storage Error: Not the leader of",
	"Storage Error: More than one request trying to",
	"RPC failure in MetaClient",
	"Execution had been killed",
}

// passing reports whether the same statement may do later.
func (e *serverError) passing() bool {
	switch e.code {
	case codeSession:
		return !strings.Contains(e.message, noSuchUser)
	case codePartial:
		return true
	case codeSemantic:
		return strings.HasPrefix(e.message, noSpaceChosen)
	case codeExecution:
		return hasPrefix(e.message, passingMessages)
	}
	return false
}

// uncertain reports whether a statement may have been run, or may yet be: its
// connection was lost, or graphd waited for storaged no longer.
func uncertain(err error) bool {
	var e *serverError
	if errors.As(err, &e) {
		return e.code == codeExecution && hasPrefix(e.message, []string{"Storage Error: RPC failure", "Execution had been killed"})
	}
	return true
}

// notYetMessages are what graphd and storaged say of a space, a tag, an edge
// type or a column that they have not heard of yet: they hear of it with their
// next heartbeat to metad.
var notYetMessages = []string{
	"SpaceNotFound", "EdgeNotFound", "TagNotFound", // graphd
	"Storage Error: Space not found", "Storage Error: Tag not found", "Storage Error: Edge not found", "Storage Error: Tag prop not found", "Storage Error: Edge prop not found",
}

// notYet reports whether the error is what a schema gives that is not usable
// yet, and what one gives that is not there.
func notYet(err error) bool {
	var e *serverError
	if !errors.As(err, &e) {
		return false
	}
	switch e.code {
	case codeExecution:
		return hasPrefix(e.message, notYetMessages)
	case codeSemantic:
		m := strings.TrimPrefix(e.message, "SemanticError: ")
		return strings.HasPrefix(m, "No schema found for") || strings.HasPrefix(m, "Unknown column") ||
			strings.Contains(m, "not found in space") || strings.Contains(m, "not found the property")
	}
	return false
}

// noSpaceYet reports whether graphd has not heard of the space.
func noSpaceYet(err error) bool {
	var e *serverError
	return errors.As(err, &e) && e.code == codeExecution && strings.HasPrefix(e.message, "SpaceNotFound")
}

func hasPrefix(s string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// waited says of an error that it came of waiting no longer.
func waited(ctx context.Context, what string) error {
	return fmt.Errorf("%s: %w: %w", what, graph.ErrUnavailable, context.Cause(ctx))
}
