// Package rpc lets a gateway ask a region's node over the network: what the
// node answers as a graph.Reader, the gateway reads as one.
//
//	Client    the gateway's side: a graph.Reader whose views walk legs    client.go
//	Handler   the region's side, over any graph.Reader                    handler.go
//	lease     a view that stays open at the region between questions      lease.go
//	frame     what an answer is sent in, one after another                frame.go
//	coder     the fields of each message, written and read by one list    coder.go
//	leg       the compact form of a graph.Leg                             leg.go
//
// A question is one POST with one frame; its answer is a stream of frames that
// says when it has ended. DESIGN.md beside this file gives the reasons.
package rpc

import (
	"errors"
	"fmt"
	"time"

	"headwater/graph"
)

// Prefix is the path under which a Handler answers.
const Prefix = "/internal/region/v1/"

// Version is the version of the messages. It travels together with
// graph.FormatVersion, whose values are among them.
const Version = 2

// The headers of a question and its answer.
const (
	// headerFormat is the format that both sides have to be of.
	headerFormat = "Headwater-Format"
	// headerLeft is how many microseconds the region has for the answer. It is
	// a span and no time, for clocks differ.
	headerLeft = "Headwater-Time-Left"
)

// The methods, each the last part of a path.
const (
	methodResolve   = "resolve"
	methodNodes     = "nodes"
	methodFlows     = "flows"
	methodSays      = "says"
	methodFind      = "find"
	methodConflicts = "conflicts"
	methodLeg       = "leg"
	methodStatus    = "status"
	methodClose     = "close"
)

// formatName is what stands in headerFormat.
func formatName() string { return fmt.Sprintf("%d.%d", Version, graph.FormatVersion) }

// ErrExpired is returned for a question of a view that the region has closed,
// because nobody asked it anything for long, because too many others were
// open, or because the node began anew. A new view may be asked the same.
// graph.ErrUnavailable is in its chain, so ask for ErrExpired first.
var ErrExpired = fmt.Errorf("%w: the view has expired; open a new one", graph.ErrUnavailable)

var (
	// errClosing ends the questions of a handler that closes.
	errClosing = fmt.Errorf("%w: the region's node is being stopped", graph.ErrUnavailable)
	// errClosed is returned by a closed client or view.
	errClosed = errors.New("it has been closed")
	// errGone is in the chain of errors about an answer that can't be written.
	errGone = errors.New("the asker has gone")
	// errMessage is returned for bytes that are no message of ours.
	errMessage = errors.New("not a message of this format")
)

// An Error says which question a region did not answer, and why. Where the
// region could not be reached, did not answer in time, or could not answer,
// graph.ErrUnavailable is in its chain; so are, where they are the cause,
// ErrExpired, context.DeadlineExceeded, context.Canceled (without
// ErrUnavailable), *graph.NotFoundError and *graph.BadInputError.
type Error struct {
	Region string
	// Address is host:port of the node that was asked last.
	Address string
	// Method is what was asked: leg, nodes …
	Method string
	Err    error
	// lost: the region could not be reached or could not answer.
	lost bool
}

func (e *Error) Error() string {
	return fmt.Sprintf("region %q: %s from %s: %v", e.Region, e.Method, e.Address, e.Err)
}

// Reason says it without the region, for those who name it.
func (e *Error) Reason() string { return fmt.Sprintf("%s from %s: %v", e.Method, e.Address, e.Err) }

// Unwrap returns the cause and, where it is that, graph.ErrUnavailable.
func (e *Error) Unwrap() []error {
	if e.lost {
		return []error{e.Err, graph.ErrUnavailable}
	}
	return []error{e.Err}
}

// A Status is how a region's node is.
type Status struct {
	Region string
	// Epoch is that of the region's change stream; empty where it has none.
	Epoch string
	Marks map[string]graph.Mark
	// Lag is how long the oldest acknowledged entry has waited to be applied.
	Lag time.Duration
	// Healthy: it takes in and applies. Otherwise Trouble says what hinders it.
	Healthy bool
	Trouble string
}

// Observe is told of each question when it has ended: what was asked, how long
// it took, how many bytes of it came in and went out, as they were on the
// wire without headers, and how it ended. It is called by many at once.
type Observe func(method string, took time.Duration, in, out int, err error)
