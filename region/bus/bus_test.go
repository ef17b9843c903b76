package bus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"headwater/graph"
	"headwater/graph/graphtest"
)

func table(namespace, name string) graph.Name {
	return graph.Name{Kind: graph.DataStoreKind, Region: "eu", Namespace: namespace, Name: name}
}

var text = rapid.StringOfN(rapid.RuneFrom([]rune("ab./é")), 0, 6, -1)

var anEntry = rapid.Custom(func(t *rapid.T) Entry {
	e := Entry{
		Epoch: text.Draw(t, "epoch"), Sequence: rapid.Uint64().Draw(t, "sequence"), Hash: rapid.Uint64().Draw(t, "hash"),
		Mark: graph.Mark{Position: rapid.Uint64().Draw(t, "position"), Revision: rapid.Uint64().Draw(t, "revision")},
		At:   rapid.Int64().Draw(t, "at"), Beat: rapid.Bool().Draw(t, "beat"),
	}
	for range rapid.IntRange(0, 4).Draw(t, "names") {
		e.Names = append(e.Names, table(text.Draw(t, "namespace"), text.Draw(t, "name")))
	}
	for range rapid.IntRange(0, 4).Draw(t, "touched") {
		e.Touched = append(e.Touched, rapid.Uint64().Draw(t, "id"))
	}
	return e
})

func TestEntriesAreReadAsTheyWereWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := anEntry.Draw(t, "entry")
		b := AppendEntry([]byte("before"), &e)[len("before"):]
		got, err := DecodeEntry(b)
		if diff := cmp.Diff(e, got); err != nil || diff != "" {
			t.Fatalf("%v\n%s", err, diff)
		}
		cut := rapid.IntRange(0, len(b)-1).Draw(t, "cut")
		if _, err := DecodeEntry(b[:cut]); !errors.Is(err, ErrFormat) {
			t.Fatalf("cut at %d of %d: %v, want ErrFormat", cut, len(b), err)
		}
		if _, err := DecodeEntry(append(b, 0)); !errors.Is(err, ErrFormat) {
			t.Fatalf("with a byte more: %v, want ErrFormat", err)
		}
	})
}

func FuzzDecodeEntry(f *testing.F) {
	e := Entry{Epoch: "x", Sequence: 3, Hash: 4, At: 5, Names: []graph.Name{table("ns", "n")}, Touched: []uint64{7, 8}}
	f.Add(AppendEntry(nil, &e))
	f.Add(AppendEntry(nil, &Entry{Beat: true}))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := DecodeEntry(b)
		if err != nil {
			return
		}
		again, err := DecodeEntry(AppendEntry(nil, &e))
		if diff := cmp.Diff(e, again); err != nil || diff != "" {
			t.Errorf("%v\n%s", err, diff)
		}
		if names, err := DecodeNames(AppendNames(nil, e.Names)); err != nil || !slices.Equal(names, e.Names) {
			t.Errorf("%v: names %v, want %v", err, names, e.Names)
		}
	})
}

func TestHashTellsOfEachFieldAndOfWhatCameBefore(t *testing.T) {
	base := Entry{Epoch: "x", Sequence: 3, Mark: graph.Mark{Position: 9, Revision: 4}, At: 5, Names: []graph.Name{table("ns", "n")}, Touched: []uint64{7}}
	base.Hash = base.Sum(1)
	if !follows(AppendEntry(nil, &base), 1) || follows(AppendEntry(nil, &base), 2) || follows(nil, 0) {
		t.Error("the bytes do not tell whether the entry follows")
	}
	seen := map[uint64]string{base.Hash: "base", base.Sum(2): "another before"}
	for what, edit := range map[string]func(*Entry){
		"epoch":    func(e *Entry) { e.Epoch = "y" },
		"sequence": func(e *Entry) { e.Sequence++ },
		"position": func(e *Entry) { e.Mark.Position++ },
		"revision": func(e *Entry) { e.Mark.Revision++ },
		"at":       func(e *Entry) { e.At++ },
		"names":    func(e *Entry) { e.Names = nil },
		"touched":  func(e *Entry) { e.Touched = []uint64{8} },
	} {
		e := base
		edit(&e)
		if other, ok := seen[e.Sum(1)]; ok {
			t.Errorf("another %s has the hash of %s", what, other)
		}
		seen[e.Sum(1)] = what
	}
}

func TestEntryIsMadeOfWhatReadersSee(t *testing.T) {
	a, b, hive := table("pg", "a"), table("pg", "b"), table("hive://m", "t")
	job := graph.Name{Kind: graph.ProcessKind, Region: "eu", Namespace: "jobs", Name: "j"}
	changes := []graph.Change{
		{Key: graph.Key{Subject: job.ID()}, PutParts: map[uint64][]byte{1: nil}}, // not seen
		{Key: graph.Key{Subject: job.ID()}, Names: []graph.Name{job, b, b.Of("x"), a}, Flows: []graph.FlowEdit{{Row: graph.Row{Node: a.Of("x").ID()}}}},
		{Key: graph.Key{Subject: job.ID()}, Names: []graph.Name{hive, a}, Pieces: []graph.PieceEdit{{Node: a.ID()}, {Node: hive.ID()}}},
	}
	before := Cursor{Epoch: "x", Sequence: 4, Hash: 5}
	e, kept := Make(before, graph.Mark{Position: 8, Revision: 2}, 77, changes)
	want := Entry{Epoch: "x", Sequence: 5, Mark: graph.Mark{Position: 8, Revision: 2}, At: 77, Names: []graph.Name{hive, a, b},
		Touched: []uint64{Touch(job.ID()), Touch(a.ID()), Touch(hive.ID())}}
	slices.Sort(want.Touched)
	want.Hash = want.Sum(5)
	if diff := cmp.Diff(want, e); diff != "" {
		t.Error(diff)
	}
	if !bytes.Equal(kept.Value, AppendEntry(nil, &e)) || kept.Sequence != 5 {
		t.Errorf("it is kept as %d, %x", kept.Sequence, kept.Value)
	}
	if v := Check(before, &e, true); v != Next {
		t.Errorf("it is %s, want next", v)
	}
}

func TestCheckSaysWhatToDoWithAnEntry(t *testing.T) {
	behind := func(c Cursor, position uint64) Entry {
		e, _ := Make(c, graph.Mark{Position: position, Revision: position}, 0, nil)
		return e
	}
	first := behind(Cursor{Epoch: "x"}, 1)
	second := behind(first.Cursor(), 2)
	other := behind(first.Cursor(), 3)
	third := behind(second.Cursor(), 4)
	foreign := behind(Cursor{Epoch: "y", Sequence: 2, Hash: second.Hash}, 5)
	beat := second
	beat.Beat, beat.Mark.Position = true, 9
	start := Entry{Beat: true}
	for _, c := range []struct {
		at    Cursor
		e     Entry
		whole bool
		want  Verdict
	}{
		{Cursor{}, first, true, Next},
		{Cursor{}, second, true, Gap},
		{Cursor{}, start, true, Beat},
		{Cursor{}, beat, true, Gap},
		{first.Cursor(), first, true, Duplicate},
		{first.Cursor(), second, true, Next},
		{first.Cursor(), third, true, Gap},
		{first.Cursor(), start, true, Beat},
		{second.Cursor(), first, true, Duplicate},
		{second.Cursor(), beat, true, Beat},
		{third.Cursor(), beat, true, Beat},
		{second.Cursor(), other, false, Diverged},
		{other.Cursor(), third, true, Diverged},
		{other.Cursor(), third, false, Next}, // names may be filtered out
		{second.Cursor(), foreign, false, Diverged},
	} {
		if got := Check(c.at, &c.e, c.whole); got != c.want {
			t.Errorf("behind %s, %s (whole: %v): %s, want %s", c.at, c.e.Cursor(), c.whole, got, c.want)
		}
	}
}

func TestFilterWantsWhatASearchOneByOneFinds(t *testing.T) {
	namespaces := []string{"pg", "s3", "hive://m"}
	name := rapid.StringOfN(rapid.RuneFrom([]rune("aAb")), 0, 5, -1)
	place := rapid.Custom(func(t *rapid.T) Place {
		return Place{rapid.SampledFrom(namespaces).Draw(t, "namespace"), name.Draw(t, "name")}
	})
	rapid.Check(t, func(t *rapid.T) {
		f := Filter{Prefixes: rapid.SliceOfN(place, 0, 8).Draw(t, "prefixes"), Names: rapid.SliceOfN(place, 0, 4).Draw(t, "names")}
		if rapid.Bool().Draw(t, "a namespace") {
			f.Namespaces = []string{"s3"}
		}
		wants := f.Wants()
		for range 20 {
			p := place.Draw(t, "asked")
			fold := func(p Place) string {
				if p.Namespace == "hive://m" {
					return strings.ToLower(p.Name)
				}
				return p.Name
			}
			want := slices.Contains(f.Namespaces, p.Namespace)
			for _, q := range f.Names {
				want = want || q.Namespace == p.Namespace && fold(q) == fold(p)
			}
			for _, q := range f.Prefixes {
				want = want || q.Namespace == p.Namespace && strings.HasPrefix(fold(p), fold(q))
			}
			if got := wants.Name(table(p.Namespace, p.Name)); got != want {
				t.Fatalf("%+v wants %+v: %v, want %v", f, p, got, want)
			}
		}
	})
}

// kept returns a model that keeps so many entries, and them.
func kept(t *testing.T, n int) (*graphtest.Model, []Entry) {
	t.Helper()
	m := graphtest.NewModel("eu")
	c := Cursor{Epoch: "x"}
	var entries []Entry
	for i := range n {
		mark := graph.Mark{Position: uint64(i + 1), Revision: uint64(i + 1)}
		e, kept := Make(c, mark, 0, []graph.Change{{History: true, Names: []graph.Name{table("pg", fmt.Sprint(i))}}})
		c = e.Cursor()
		if err := m.Apply(context.Background(), graph.Batch{Mark: mark, Stream: []graph.StreamEntry{kept}}); err != nil {
			t.Fatal(err)
		}
		entries = append(entries, e)
	}
	return m, entries
}

func TestBehindTellsCursorsThatDoNotFit(t *testing.T) {
	ctx := context.Background()
	m, entries := kept(t, 3000)
	newest, err := Newest(ctx, m)
	if err != nil || newest != entries[2999].Cursor() {
		t.Fatalf("newest %s, %v, want %s", newest, err, entries[2999].Cursor())
	}
	if err := m.TrimStream(ctx, 100); err != nil {
		t.Fatal(err)
	}
	head := Head{Cursor: entries[2499].Cursor()} // more is applied, and not yet to be read
	var got []Entry
	for c := entries[99].Cursor(); ; c = got[len(got)-1].Cursor() {
		part, err := Behind(ctx, m, c, head)
		if err != nil {
			t.Fatal(err)
		}
		if len(part) == 0 {
			break
		}
		got = append(got, part...)
	}
	if diff := cmp.Diff(entries[100:2500], got); diff != "" {
		t.Errorf("%.1000s", diff)
	}
	with := func(i int, edit func(*Cursor)) Cursor {
		c := entries[i].Cursor()
		edit(&c)
		return c
	}
	for _, c := range []struct {
		at   Cursor
		want error
	}{
		{Cursor{}, ErrExpired},
		{entries[98].Cursor(), ErrExpired},
		{entries[2500].Cursor(), ErrDiverged},
		{with(99, func(c *Cursor) { c.Hash++ }), ErrDiverged},
		{with(200, func(c *Cursor) { c.Hash++ }), ErrDiverged},
		{with(200, func(c *Cursor) { c.Epoch = "y" }), ErrDiverged},
		{with(2499, func(c *Cursor) { c.Hash++ }), ErrDiverged},
	} {
		_, err := Behind(ctx, m, c.at, head)
		want := &CursorError{Reason: c.want, Cursor: c.at, First: 101, Last: head.Cursor}
		var told *CursorError
		if !errors.As(err, &told) || *told != *want {
			t.Errorf("behind %s: %v, want %v", c.at, err, want)
		}
	}
}

func BenchmarkEntry(b *testing.B) {
	var names []graph.Name
	var touched []uint64
	for i := range 4 {
		n := table("hive://metastore.example:9083", fmt.Sprintf("mart.daily_revenue_%d", i))
		names, touched = append(names, n), append(touched, Touch(n.ID()))
	}
	e := Entry{Epoch: NewEpoch(), Sequence: 1_000_000, Mark: graph.Mark{Position: 5_000_000, Revision: 2_000_000}, At: 1_790_000_000_000_000_000, Names: names, Touched: touched}
	for name, names := range map[string][]graph.Name{"names=4": names, "names=0": nil} {
		e := e
		e.Names = names
		kept := e.seal(1)
		b.Run(name+"/make", func(b *testing.B) {
			for b.Loop() {
				kept = e.seal(e.Hash)
			}
			b.ReportMetric(float64(len(kept)), "B/entry")
		})
		b.Run(name+"/decode", func(b *testing.B) {
			for b.Loop() {
				if _, err := DecodeEntry(kept); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
