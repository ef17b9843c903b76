package nebula

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"headwater/graph"
	"headwater/graph/graphtest"
	"headwater/graph/nebula/standin"
)

// reads is what a job says at a run: that it reads a table, and writes another.
func reads(run int, table string) graph.Delta {
	name := func(kind graph.Kind, s string) graph.Name {
		return graph.Name{Kind: kind, Region: "local", Namespace: "ns", Name: s}
	}
	d := graph.Delta{Subject: name(graph.ProcessKind, "job"), Origin: "openlineage", Run: string(rune('a' + run)), State: graph.Completed, Time: int64(run + 1)}
	d.Says.Reads = []graph.Dataset{{Name: name(graph.DataStoreKind, table)}}
	d.Says.Writes = []graph.Dataset{{Name: name(graph.DataStoreKind, "out")}}
	return d
}

// applies plans a delta, which is a batch of its own, and applies it.
func applies(t *testing.T, s graph.Store, d graph.Delta) error {
	t.Helper()
	mark, err := s.Applied(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := graph.LoadAndPlan(t.Context(), s, graph.NewState(), &d)
	if err != nil {
		t.Fatal(err)
	}
	b := graph.Batch{Region: "local", Mark: graph.Mark{Position: mark.Position + 1, Revision: mark.Revision}}
	b.Add(p)
	return s.Apply(t.Context(), b)
}

// failing lets the next statement that begins so go wrong.
func failing(s *standin.Server, begin string, how standin.How) {
	done := false
	s.Fail(func(_ uint64, text string) standin.Fault {
		if done || !strings.HasPrefix(text, begin) {
			return standin.Fault{}
		}
		done = true
		return standin.Fault{How: how}
	})
}

// inputs lists the tables that the job reads.
func inputs(t *testing.T, s graph.Store) (tables []graph.ID) {
	t.Helper()
	v, err := s.View(t.Context(), graph.At{})
	if err != nil {
		t.Fatal(err)
	}
	tables = inputsOf(t, v)
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	return tables
}

func inputsOf(t *testing.T, v graph.View) (tables []graph.ID) {
	t.Helper()
	job := reads(0, "").Subject.ID()
	if _, err := v.Flows(t.Context(), []graph.ID{job}, graph.Ask{Layer: graph.UseLayer, Dir: graph.Upstream}, func(fs []graph.Flow) error {
		for _, f := range fs {
			tables = append(tables, f.To)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return tables
}

func openLate(t *testing.T) *tested {
	t.Helper()
	p := openStandIn(t, modes["neither"], func(o *Options) { o.Timeout, o.Tries, o.hold = 100*time.Millisecond, 1, time.Hour })
	t.Cleanup(func() { p.server.Fail(nil); p.server.Release() })
	return p
}

func TestARowIsNotWrittenWhileItsDeletionMayComeYet(t *testing.T) {
	p := openLate(t)
	for run, table := range []string{"one", "two"} {
		graphtest.Feed(t, p.s, reads(run, table))
	}
	failing(p.server, "DELETE", standin.Hang)
	again := reads(2, "three")
	if err := applies(t, p.s, again); !errors.Is(err, graph.ErrUnavailable) {
		t.Fatalf("a deletion hangs: %v", err)
	}
	p.server.Fail(nil)
	if err := applies(t, p.s, reads(2, "one")); !errors.Is(err, graph.ErrUnavailable) || !strings.Contains(err.Error(), "deletion") {
		t.Fatalf("a row is written behind a deletion that may come yet: %v", err)
	}
	if err := applies(t, p.s, again); err != nil {
		t.Fatalf("what does not need the row: %v", err)
	}
	p.server.Release()
	p.s.e.o.hold = time.Nanosecond
	if err := applies(t, p.s, reads(3, "one")); err != nil {
		t.Fatal(err)
	}
	one := reads(0, "one").Says.Reads[0].Name.ID()
	if got := inputs(t, p.s); len(got) != 1 || got[0] != one {
		t.Errorf("the job reads %v, want %s", got, one)
	}
}

func TestNothingIsDeletedWhileAnInsertionMayComeYet(t *testing.T) {
	p := openLate(t)
	graphtest.Feed(t, p.s, reads(0, "one"))
	failing(p.server, "INSERT", standin.Hang)
	two := reads(1, "two")
	if err := applies(t, p.s, two); !errors.Is(err, graph.ErrUnavailable) {
		t.Fatalf("an insertion hangs: %v", err)
	}
	p.server.Fail(nil)
	for run, table := range []string{"two", "three", "four"} {
		if err := applies(t, p.s, reads(1+run, table)); err != nil {
			t.Fatal(err)
		}
	}
	closed := p.s.closedRows()
	if closed == 0 {
		t.Error("rows are deleted whose insertion may come yet")
	}
	p.server.Release() // it comes
	four := reads(0, "four").Says.Reads[0].Name.ID()
	if got := inputs(t, p.s); len(got) != 1 || got[0] != four {
		t.Errorf("the job reads %v, want %s", got, four)
	}
	p.s.e.o.hold = time.Nanosecond
	graphtest.Feed(t, p.s, reads(5, "four"))
	graphtest.Feed(t, p.s, reads(6, "four"))
	if n := p.s.closedRows(); n >= closed {
		t.Errorf("%d rows are closed, of %d that were", n, closed)
	}
}

// A row goes and comes again, and again, while views of each time are held and
// let go in turn.
func TestARowThatComesAgainIsInTheViewsThatHadIt(t *testing.T) {
	for name, m := range modes {
		p := openTested(t, m)
		type of struct {
			v    graph.View
			want graph.ID
		}
		var held []of
		check := func() {
			t.Helper()
			for i, h := range held {
				if got := inputsOf(t, h.v); len(got) != 1 || got[0] != h.want {
					t.Fatalf("%s: view %d of %d: the job reads %v, want %s", name, i, len(held), got, h.want)
				}
			}
		}
		drop := func(i int) {
			if err := held[i].v.Close(); err != nil {
				t.Fatal(err)
			}
			held = slices.Delete(held, i, i+1)
		}
		tables := []string{"one", "two", "one", "one", "two", "three", "one", "two"}
		for run := range 24 {
			table := tables[run%len(tables)]
			graphtest.Feed(t, p.s, reads(run, table))
			v, err := p.s.View(t.Context(), graph.At{})
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, of{v, reads(0, table).Says.Reads[0].Name.ID()})
			check()
			switch {
			case run%7 == 6: // all
				for len(held) > 0 {
					drop(0)
				}
			case run%3 == 2:
				drop(0)
			case run%5 == 4:
				drop(len(held) - 1)
			}
			check()
		}
		for len(held) > 0 {
			drop(0)
		}
	}
}

// A task that reads again what it read before is said to speak of it again:
// that it did is still seen by a view from before.
func TestWhatIsThereAlreadyIsNotWrittenAgain(t *testing.T) {
	p := openTested(t, modes["neither"])
	for run, table := range []string{"one", "two"} {
		graphtest.Feed(t, p.s, reads(run, table))
	}
	p.Reopen(t, 0) // what was put is not remembered
	past, err := p.s.View(t.Context(), graph.At{AsOf: time.Unix(0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	readers := func() (n int) {
		t.Helper()
		one := reads(0, "one").Says.Reads[0].Name.ID()
		if _, err := past.Flows(t.Context(), []graph.ID{one}, graph.Ask{Layer: graph.UseLayer, Dir: graph.Downstream}, func(fs []graph.Flow) error {
			n += len(fs)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := readers(); n != 1 {
		t.Fatalf("%d tasks read the table then, want 1", n)
	}
	graphtest.Feed(t, p.s, reads(2, "one"))
	if n := readers(); n != 1 {
		t.Errorf("%d tasks read the table then, and 1 did before a batch", n)
	}
	if err := past.Close(); err != nil {
		t.Fatal(err)
	}
}
