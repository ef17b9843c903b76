package log

import "testing"

// What was read is held until the next is asked for, also where that is not
// there yet: who waits for it holds nothing.
func TestNothingIsHeldThatWasRead(t *testing.T) {
	var r recent
	for offset := uint64(5); offset < 8; offset++ {
		r.add(Entry{Offset: offset, Deltas: event("j")}, 10)
	}
	if got := r.read(6, 10, 1000); len(got) != 2 || got[0].Offset != 6 || r.bytes != 20 {
		t.Fatalf("read from 6: %d entries, %d bytes held, want 2 and 20", len(got), r.bytes)
	}
	for _, from := range []uint64{5, 9} {
		if got := r.read(from, 10, 1000); got != nil || r.bytes != 20 {
			t.Errorf("read from %d, which is not held: %d entries, %d bytes held, want none and 20", from, len(got), r.bytes)
		}
	}
	if got := r.read(8, 10, 1000); got != nil || r.bytes != 0 || len(r.entries) != 0 {
		t.Errorf("read from the end: %d entries, %d bytes and %d entries held, want none", len(got), r.bytes, len(r.entries))
	}
	r.add(Entry{Offset: 8}, 10)
	if got := r.read(8, 10, 1000); len(got) != 1 || got[0].Offset != 8 {
		t.Errorf("what came then: %v", got)
	}
}
