package api

import (
	"bytes"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"pgregory.net/rapid"

	"headwater/graph"
)

func FuzzTextIsQuotedAsByTheGeneratedExecutor(f *testing.F) {
	for _, s := range []string{"", "plain", "eight ch", "a \"quote\"", `back\slash at the end\`, "\t\r\n\x00\x1f\x7f", "é世\u2028", "\xff\xfe not UTF-8", "12345678\x01", "1234567\"", "<&>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var want bytes.Buffer
		graphql.MarshalString(s).MarshalGQL(&want)
		w := &writer{}
		w.text(s)
		if !bytes.Equal(w.b, want.Bytes()) {
			t.Errorf("got %s, want %s", w.b, want.Bytes())
		}
	})
}

func TestIdsAreWrittenAsTheyRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var id graph.ID
		copy(id[:], rapid.SliceOfN(rapid.Byte(), len(id), len(id)).Draw(t, "id"))
		w := &writer{}
		if w.id(id); string(w.b) != `"`+id.String()+`"` {
			t.Fatalf("got %s, want %q", w.b, id)
		}
	})
}

func TestAValueThatMayBeNullTakesTheBlameOfWhatIsInIt(t *testing.T) {
	w := &writer{}
	w.raw("[")
	w.nullable(func() {
		w.raw(`{"a":`)
		w.void = true
	})
	if string(w.b) != "[null" || w.void {
		t.Errorf("got %s, void %v", w.b, w.void)
	}
	w.void = true
	if w.nullable(func() { w.raw(`,1`) }); string(w.b) != "[null,1" || !w.void {
		t.Errorf("got %s, void %v", w.b, w.void)
	}
}

func TestFactsFindEveryNode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, want := newFacts(rapid.IntRange(0, 9).Draw(t, "room")), map[graph.ID]*graph.Node{}
		id := func(label string) graph.ID {
			return sales.Of(string(rune('a' + rapid.IntRange(0, 40).Draw(t, label)))).ID()
		}
		for range rapid.IntRange(0, 60).Draw(t, "nodes") {
			n := &graph.Node{ID: id("put")}
			f.put(n)
			want[n.ID] = n
		}
		if len(f.nodes) != len(want) {
			t.Fatalf("%d nodes, want %d", len(f.nodes), len(want))
		}
		for range 20 {
			if id := id("get"); f.get(id) != want[id] {
				t.Fatalf("got %p of %s, want %p", f.get(id), id, want[id])
			}
		}
	})
	if (&facts{}).get(sales.ID()) != nil {
		t.Error("the zero value has a node")
	}
}

func TestASlabLendsNothingTwice(t *testing.T) {
	var s slab[int]
	for range 3 {
		a, b := append(s.take(2), 1, 2), append(s.take(3), 3, 4, 5)
		a = append(a, 9) // beyond its room
		if c := s.take(1); len(c) != 0 || cap(c) < 1 || a[0] != 1 || b[0] != 3 || b[2] != 5 {
			t.Fatalf("a %v, b %v, c %v", a, b, c)
		}
		s.reset(100)
	}
	if len(s.whole) != 6 {
		t.Errorf("it keeps room for %d, want 6", len(s.whole))
	}
	s.take(101)
	if s.reset(100); len(s.whole) != 6 {
		t.Errorf("it keeps room for %d, want 6", len(s.whole))
	}
}
