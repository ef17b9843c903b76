package catalog

import (
	"crypto/sha256"
	"fmt"
	"slices"
)

// A Result says what became of a command that was made.
type Result struct {
	// Version is the catalog's after the command, and Seq the command's number.
	Version uint64 `json:"version"`
	Seq     uint64 `json:"seq"`
	// Changed is false where all was so already.
	Changed bool `json:"changed"`
	// Generation is the answer to BeginGeneration.
	Generation uint64 `json:"generation,omitempty"`
}

// A receipt is what a state remembers of a command.
type receipt struct {
	ID     string `json:"id"`
	Sum    uint64 `json:"sum"` // of what it would do
	Result Result `json:"result"`
	// Refused is the reason, where it was.
	Refused string `json:"refused,omitempty"`
}

func (r *receipt) answer() (Result, error) {
	if r.Refused != "" {
		return r.Result, refused("%s", r.Refused)
	}
	return r.Result, nil
}

// Apply returns the state after a command and what became of it: a Result, or
// ErrRefused with the reason. A command whose id was taken before gets the
// answer of that time. Equal states and commands give equal states. The
// receiver stays as it was.
func (s *State) Apply(c Command) (*State, Result, error) {
	b, err := c.Encode()
	if err != nil {
		return s, Result{}, err
	}
	return s.ApplyEncoded(b)
}

// ApplyEncoded is Apply for a command as Encode wrote it. Text that is no
// command is refused and leaves no trace.
func (s *State) ApplyEncoded(b []byte) (*State, Result, error) {
	c, err := DecodeCommand(b)
	if err == nil {
		err = checkText("id", c.ID, 200)
	}
	if err != nil {
		return s, Result{}, err
	}
	did := sum(c)
	if r, ok := s.receipts.get(c.ID); ok {
		if r.Sum != did {
			return s, Result{}, refused("id %q was used for another command", c.ID)
		}
		res, err := r.answer()
		return s, res, err
	}
	if s.seq > c.Seen && s.seq-c.Seen >= receiptsKept {
		return s, Result{}, refused("the command was made before the last %d and its id is not known any more: whether it was taken shows in the audit trail", receiptsKept)
	}
	e := &edit{State: *s}
	if err = e.take(c); err != nil {
		e = &edit{State: *s}
	}
	next := &e.State
	next.seq++
	if e.changed {
		next.version++
		entry := Entry{Version: next.version, At: c.At, Who: c.Who, What: c.Do.kind(), Of: e.of, Before: text(e.before), After: text(e.after)}
		next.audit = append(slices.Clip(lastOf(next.audit, auditKept-1)), entry)
	}
	r := &receipt{ID: c.ID, Sum: did, Result: Result{Version: next.version, Seq: next.seq, Changed: e.changed, Generation: e.value}}
	if err != nil {
		r.Refused = reasonOf(err)
	}
	next.remember(r)
	return next, r.Result, err
}

// take makes the change. A bug that panics refuses the command at every
// replica alike, rather than stop them all again and again.
func (e *edit) take(c Command) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = refused("%s: a fault in headwater: %v", c.Do.kind(), p)
		}
	}()
	if err := checkText("who", c.Who, 200); err != nil {
		return err
	}
	return c.Do.apply(e)
}

// remember keeps a receipt and forgets the oldest.
func (s *State) remember(r *receipt) {
	if len(s.order) >= receiptsKept {
		s.receipts = s.receipts.without(s.order[0])
		s.order = s.order[1:]
	}
	s.receipts = s.receipts.with(r.ID, r)
	s.order = append(slices.Clip(s.order), r.ID)
}

// lastOf returns at most the last n of what is there.
func lastOf[T any](all []T, n int) []T { return all[max(0, len(all)-n):] }

// sum tells commands apart that come under one id.
func sum(c Command) uint64 {
	// Decoded and encoded again, so that spaces and the order of keys don't count.
	b, err := Command{Who: c.Who, Do: c.Do}.Encode()
	if err != nil {
		return 0
	}
	h := sha256.Sum256(b)
	var n uint64
	for _, x := range h[:8] {
		n = n<<8 | uint64(x)
	}
	return n
}

// Receipt returns the answer to the command of an id, if the state has taken
// it and remembers.
func (s *State) Receipt(id string) (res Result, known bool, err error) {
	r, ok := s.receipts.get(id)
	if !ok {
		return Result{}, false, nil
	}
	res, err = r.answer()
	return res, true, err
}

func (r Result) String() string {
	if !r.Changed {
		return fmt.Sprintf("version %d, as it was", r.Version)
	}
	return fmt.Sprintf("version %d", r.Version)
}
