package graphtest

import (
	"slices"
	"testing"
)

func TestNarrowEventsAreAsLargeAsPublicOnes(t *testing.T) {
	p := Platform{Tasks: 20_000, Seed: 1, Narrow: true}
	var sizes []int
	var b []byte
	for i := range p.Tasks {
		b = AppendEvent(b[:0], p.Task(i, 0))
		sizes = append(sizes, len(b))
	}
	slices.Sort(sizes)
	for _, q := range []struct{ share, least, most int }{{50, 1200, 1400}, {99, 6000, 7200}} {
		if got := sizes[len(sizes)*q.share/100]; got < q.least || got > q.most {
			t.Errorf("percentile %d is %d bytes, want %d to %d", q.share, got, q.least, q.most)
		}
	}
}

func TestAChangedTaskReadsOneTableMore(t *testing.T) {
	p := Platform{Tasks: 500, Seed: 1, Changing: 1000}
	for i := range p.Tasks {
		was, is := p.Task(i, 0), p.Task(i, 1)
		if len(was.Inputs) == 0 {
			continue
		}
		n := len(was.Inputs)
		if len(is.Inputs) != n+1 || !slices.EqualFunc(is.Inputs[:n], was.Inputs, func(a, b Table) bool { return a.Name == b.Name }) {
			t.Fatalf("task %d read %d tables, now %d", i, n, len(is.Inputs))
		}
		changed := 0
		for c := range was.Columns {
			a, b := was.Columns[c].Sources, is.Columns[c].Sources
			if !slices.Equal(a, b[:len(a)]) || len(b) > len(a) && b[len(a)].Input != n {
				t.Fatalf("task %d: column %s came from %v, now from %v", i, was.Columns[c].Name, a, b)
			}
			changed += len(b) - len(a)
		}
		if changed < 1 || changed > 3 {
			t.Errorf("task %d: %d columns changed", i, changed)
		}
	}
}

func BenchmarkEvent(b *testing.B) {
	p := Platform{Tasks: 1_000_000, Seed: 1, Narrow: true}
	var e []byte
	i := 0
	for b.Loop() {
		e = AppendEvent(e[:0], p.Task(i%p.Tasks, 0))
		i += 7919
	}
}
