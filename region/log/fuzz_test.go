package log

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"headwater/graph"
)

func FuzzEntry(f *testing.F) {
	whole := appendEntry(nil, 1_772_366_400_000_000_000, event("a"))
	for _, b := range [][]byte{nil, {graph.FormatVersion}, whole, whole[:len(whole)/2], append(whole[:len(whole):len(whole)], 0), appendEntry(nil, -1, nil),
		append(bytes.Repeat([]byte{0}, 9), 1), append(append([]byte{graph.FormatVersion}, make([]byte, 8)...), 0xff, 0xff, 0xff, 0xff, 0x0f)} {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		before := bytes.Clone(b)
		e, err := decodeEntry(7, b)
		if !bytes.Equal(b, before) {
			t.Fatal("the bytes were changed")
		}
		if err != nil {
			if !errors.Is(err, graph.ErrFormat) || e.Deltas != nil {
				t.Fatalf("%v, %+v", err, e)
			}
			return
		}
		// What was read is what is written, and reads the same again.
		again := appendEntry(nil, e.Appended.UnixNano(), e.Deltas)
		e2, err := decodeEntry(7, again)
		if err != nil || !bytes.Equal(appendEntry(nil, e2.Appended.UnixNano(), e2.Deltas), again) {
			t.Fatalf("%v, %+v, then %+v", err, e, e2)
		}
	})
}

func FuzzDeadLetter(f *testing.F) {
	f.Add(deadKey(7, 1), []byte{graph.FormatVersion, 0, 0, 0, 0, 0, 0, 0, 1, 3, 'w', 'h', 'y'})
	f.Add([]byte("D"), []byte{})
	f.Fuzz(func(t *testing.T, k, b []byte) {
		if d, err := decodeDead(k, b); err == nil && d.ID == "" {
			t.Fatalf("%+v", d)
		}
	})
}

func TestEntryDoesNotShareMemoryWithItsStoredForm(t *testing.T) {
	b := appendEntry(nil, time.Now().UnixNano(), event("a"))
	e, err := decodeEntry(1, b)
	if err != nil {
		t.Fatal(err)
	}
	clear(b)
	if got := string(e.Deltas[0].Seen[0].Facets); got != `{"a":1}` {
		t.Errorf("the facets are now %q", got)
	}
}
