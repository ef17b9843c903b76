package catalog

import (
	"errors"
	"fmt"
	"strings"
)

// What callers tell apart with errors.Is.
var (
	// ErrRefused is wrapped by the answer to a change that would break a rule
	// of the catalog. The text says what stands in the way. The change has not
	// been made and will not be.
	ErrRefused = errors.New("refused")
	// ErrNoQuorum is returned when no leader could be reached that most of the
	// gateways follow. The change has not been made and will not be; it may be
	// asked for again. Reads go on from the local replica.
	ErrNoQuorum = errors.New("no quorum: no leader that most gateways follow can be reached, so the catalog takes no changes")
	// ErrUnknown is returned when a leader or a connection was lost while a
	// change was under way: it may have been made, or be made yet. The error is
	// an Undecided, which has the command to ask again with.
	ErrUnknown = errors.New("not known whether the change was made; ask again with the same id")
	// ErrNotLeader is what a gateway answers to a forwarded request when it
	// does not lead. The gateway that forwarded it looks for the leader again;
	// callers of Change never see it.
	ErrNotLeader = errors.New("this gateway does not lead")
	// ErrNotSent is for a Forwarder to wrap when it is sure that the request
	// never left, as when a connection is refused. Any other error of a
	// Forwarder means that the request may have arrived.
	ErrNotSent = errors.New("not sent")
	// ErrClosed is returned by a replica that has been closed.
	ErrClosed = errors.New("the catalog's replica is closed")
)

// An Undecided is an ErrUnknown for one command. Change with this very command
// makes it at most once and gives the answer.
type Undecided struct {
	Command Command
	err     error
}

func (u *Undecided) Error() string {
	return fmt.Sprintf("command %s: %v", u.Command.ID, u.err)
}

func (u *Undecided) Unwrap() error { return u.err }

func refused(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrRefused, fmt.Sprintf(format, args...))
}

// reasonOf returns the text of a refusal without the sentinel's.
func reasonOf(err error) string { return strings.TrimPrefix(err.Error(), ErrRefused.Error()+": ") }

// atMost joins the first few of what stands in the way.
func atMost(reasons []string) string {
	const few = 5
	if len(reasons) <= few {
		return strings.Join(reasons, "; ")
	}
	return fmt.Sprintf("%s; and %d more", strings.Join(reasons[:few], "; "), len(reasons)-few)
}
