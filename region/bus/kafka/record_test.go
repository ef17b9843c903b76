package kafka

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"headwater/region/bus"
)

func FuzzRecord(f *testing.F) {
	o := Options{Region: "eu"}
	e := bus.Entry{Epoch: "x", Sequence: 3, Hash: 4, Touched: make([]uint64, 10)}
	for _, r := range split(2, &e, 7) {
		f.Add(r.bytes())
	}
	f.Add((&record{kind: beginRecord, generation: 1, parts: 1, payload: []byte{diverged}}).bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := recordOf(&o, &kgo.Record{Key: []byte("eu"), Value: b})
		if err != nil {
			if !errors.Is(err, bus.ErrFormat) {
				t.Error(err)
			}
			return
		}
		if got := r.bytes(); !bytes.Equal(got, b) {
			t.Errorf("%x was read as %+v and written as %x", b, r, got)
		}
		p := place{at: bus.Cursor{Epoch: "x", Sequence: r.cursor.Sequence - 1, Hash: r.before}}
		if entry, err := p.take(&r); err == nil && entry != nil && p.at != entry.Cursor() {
			t.Errorf("at %s after %s", p.at, entry.Cursor())
		}
	})
}

func TestChunksOfTwoPublishersMakeOneEntry(t *testing.T) {
	e := bus.Entry{Epoch: "x", Sequence: 1, Touched: make([]uint64, 300_000)}
	e.Hash = e.Sum(0)
	next := bus.Entry{Epoch: "x", Sequence: 2, Touched: make([]uint64, 150_000)}
	next.Hash = next.Sum(e.Hash)
	a, b := split(1, &e, 0), split(1, &next, e.Hash)
	if len(a) != 3 || len(b) != 2 {
		t.Fatalf("%d and %d chunks, want 3 and 2", len(a), len(b))
	}
	for _, order := range [][]record{
		{a[0], a[1], a[2], b[0], b[1]},
		{a[0], a[0], a[1], a[0], a[1], a[2], a[2], b[0], b[1]},
		{a[0], a[1], a[2], a[0], b[0], a[1], a[2], b[0], b[1], b[0]},
	} {
		p := place{generation: 1}
		var got []bus.Entry
		for i := range order {
			entry, err := p.take(&order[i])
			if err != nil {
				t.Fatal(err)
			}
			if entry != nil {
				got = append(got, *entry)
			}
		}
		if diff := cmp.Diff([]bus.Entry{e, next}, got); diff != "" {
			t.Errorf("%.500s", diff)
		}
	}
}

func TestPlaceTellsWhatDoesNotFit(t *testing.T) {
	chain := []bus.Entry{{Epoch: "x"}}
	for i := range 6 {
		e := bus.Entry{Epoch: "x", Sequence: uint64(i + 1)}
		e.Hash = e.Sum(chain[i].Hash)
		chain = append(chain, e)
	}
	entry := func(generation uint64, i int) record { return split(generation, &chain[i], chain[i-1].Hash)[0] }
	begin := func(generation uint64, i int, why byte) record {
		return record{kind: beginRecord, generation: generation, cursor: chain[i].Cursor(), parts: 1, payload: []byte{why}}
	}
	odd := entry(1, 3)
	odd.cursor.Hash++
	stray := entry(1, 4)
	stray.before++
	for _, c := range []struct {
		name    string
		at      int
		records []record
		want    []uint64
		err     error
	}{
		{"in order", 0, []record{begin(1, 0, expired), entry(1, 1), entry(1, 2)}, []uint64{1, 2}, nil},
		{"from within", 2, []record{entry(1, 2), entry(1, 3)}, []uint64{3}, nil},
		{"from behind", 2, []record{entry(1, 3)}, []uint64{3}, nil},
		{"a gap", 2, []record{entry(1, 4)}, nil, bus.ErrExpired},
		{"begins later", 2, []record{begin(1, 4, expired), entry(1, 5)}, nil, bus.ErrExpired},
		{"begins later, another stream", 2, []record{begin(2, 4, diverged)}, nil, bus.ErrDiverged},
		{"another entry", 3, []record{odd}, nil, bus.ErrDiverged},
		{"another before", 3, []record{stray}, nil, bus.ErrDiverged},
		{"a generation that goes on", 2, []record{entry(1, 2), entry(1, 3), begin(2, 3, expired), entry(2, 4)}, []uint64{3, 4}, nil},
		{"a generation that does not", 2, []record{entry(1, 2), entry(1, 3), begin(2, 1, diverged)}, []uint64{3}, bus.ErrDiverged},
		{"ahead, and then another stream", 4, []record{entry(1, 2), begin(2, 1, diverged)}, nil, bus.ErrDiverged},
		{"ahead", 4, []record{entry(1, 2), entry(1, 3), entry(1, 4), entry(1, 5)}, []uint64{5}, nil},
		{"one that was replaced", 2, []record{begin(2, 2, expired), entry(1, 3), entry(1, 4), entry(2, 3)}, []uint64{3}, nil},
	} {
		p := place{at: chain[c.at].Cursor()}
		var got []uint64
		var err error
		for i := range c.records {
			var e *bus.Entry
			if e, err = p.take(&c.records[i]); err != nil {
				break
			}
			if e != nil {
				got = append(got, e.Sequence)
			}
		}
		if !slices.Equal(got, c.want) || !errors.Is(err, c.err) {
			t.Errorf("%s: %v, %v, want %v, %v", c.name, got, err, c.want, c.err)
		}
	}
}

func TestTopicToWhichNobodyPublishesIsSilent(t *testing.T) {
	o := open(t).topic(t)
	s := &Stream{Options: o, Silence: 50 * time.Millisecond}
	err := s.Follow(context.Background(), bus.Cursor{}, bus.Filter{}, func([]bus.Entry) error { return nil })
	if !errors.Is(err, bus.ErrSilent) {
		t.Errorf("%v, want ErrSilent", err)
	}
}
