package bus

import "fmt"

// A Verdict says what a follower does with an entry.
type Verdict int

const (
	// Next: the entry is the one behind the cursor. It is taken in, and the
	// cursor is Entry.Cursor from then on.
	Next Verdict = iota
	// Duplicate: it has been taken in.
	Duplicate
	// Beat: there is nothing to take in but its mark.
	Beat
	// Gap: entries between the cursor and it have not come.
	Gap
	// Diverged: it is not of the stream that the cursor is of.
	Diverged
)

func (v Verdict) String() string {
	switch v {
	case Next:
		return "next"
	case Duplicate:
		return "duplicate"
	case Beat:
		return "beat"
	case Gap:
		return "gap"
	case Diverged:
		return "diverged"
	}
	return fmt.Sprintf("Verdict(%d)", int(v))
}

// Check says how an entry stands to the cursor of its follower. With whole,
// for those that are given all names, the chain of hashes is checked, too.
func Check(c Cursor, e *Entry, whole bool) Verdict {
	switch {
	case c.Sequence > 0 && e.Sequence > 0 && c.Epoch != e.Epoch:
		return Diverged
	case e.Sequence > c.Sequence+1 || e.Beat && e.Sequence > c.Sequence:
		return Gap
	case e.Sequence == c.Sequence+1:
		if whole && e.Sum(c.Hash) != e.Hash {
			return Diverged
		}
		return Next
	case e.Sequence == c.Sequence && e.Sequence > 0 && e.Hash != c.Hash:
		return Diverged
	case e.Beat:
		return Beat
	}
	return Duplicate
}
