package graph_test

import (
	"bytes"
	"errors"
	"testing"

	"headwater/graph"
	"headwater/graph/graphtest"
)

func TestCodecKeepsWhatItWasGiven(t *testing.T) {
	r := graphtest.NewRandom(3)
	for range 500 {
		d := r.Delta()
		b := graph.AppendDelta(nil, &d)
		back, err := graph.DecodeDelta(b)
		if err != nil {
			t.Fatal(err)
		}
		if again := graph.AppendDelta(nil, &back); !bytes.Equal(b, again) {
			t.Fatalf("%+v came back as %+v", d, back)
		}
		for cut := range b {
			if _, err := graph.DecodeDelta(b[:cut]); !errors.Is(err, graph.ErrFormat) {
				t.Fatalf("%d of %d bytes: %v, want ErrFormat", cut, len(b), err)
			}
		}
	}
	if _, err := graph.DecodeDelta([]byte{graph.FormatVersion + 1, 0}); !errors.Is(err, graph.ErrFormat) {
		t.Errorf("another version: %v, want ErrFormat", err)
	}
}

// fixed reports whether what decode makes of b survives being encoded.
func fixed[T any](t *testing.T, b []byte, decode func([]byte) (T, error), encode func([]byte, T) []byte) {
	t.Helper()
	v, err := decode(b)
	if err != nil {
		if !errors.Is(err, graph.ErrFormat) {
			t.Fatalf("%v is not ErrFormat", err)
		}
		return
	}
	once := encode(nil, v)
	again, err := decode(once)
	if err != nil {
		t.Fatalf("own bytes: %v", err)
	}
	if twice := encode(nil, again); !bytes.Equal(once, twice) {
		t.Fatalf("%x became %x", once, twice)
	}
}

func FuzzCodec(f *testing.F) {
	r := graphtest.NewRandom(5)
	for range 20 {
		d := r.Delta()
		f.Add(graph.AppendDelta(nil, &d))
		f.Add(graph.AppendContent(nil, &d.Says))
	}
	f.Add(graph.AppendTargets(nil, []graph.Target{{ID: r.Any(), Kinds: graph.Join, Coarse: true}}))
	f.Add(graph.AppendLife(nil, graph.Life{{Dropped: 1, Revived: 2}}))
	f.Add([]byte{graph.FormatVersion, 0xff, 0xff, 0xff, 0xff, 0x7f})
	f.Fuzz(func(t *testing.T, b []byte) {
		fixed(t, b, graph.DecodeDelta, func(dst []byte, v graph.Delta) []byte { return graph.AppendDelta(dst, &v) })
		fixed(t, b, graph.DecodeContent, func(dst []byte, v graph.Content) []byte { return graph.AppendContent(dst, &v) })
		fixed(t, b, graph.DecodeRecord, func(dst []byte, v graph.Record) []byte { return graph.AppendRecord(dst, &v) })
		fixed(t, b, graph.DecodeFacts, func(dst []byte, v graph.Facts) []byte { return graph.AppendFacts(dst, &v) })
		fixed(t, b, graph.DecodeName, func(dst []byte, v graph.Name) []byte { return graph.AppendName(dst, &v) })
		fixed(t, b, graph.DecodeTargets, graph.AppendTargets)
		fixed(t, b, graph.DecodeLife, graph.AppendLife)
	})
}

func TestIDsTellWhatTheyAreOf(t *testing.T) {
	table := graph.Name{Kind: graph.DataStoreKind, Region: "eu", Namespace: "hive://Meta:9083", Name: "Shop.Orders"}
	id := table.ID()
	column := table.Of("Amount").ID()
	switch {
	case id.Kind() != graph.DataStoreKind || id.IsColumn() || !column.IsColumn():
		t.Error("kinds are not told")
	case column.Base() != id || id.Column("AMOUNT") != column:
		t.Error("a column's id does not follow from its data store's and its path in any case")
	case graph.Name{Kind: graph.DataStoreKind, Region: "eu", Namespace: "hive://meta:9083", Name: "shop.orders"}.ID() != id:
		t.Error("Hive names that differ in case have different ids")
	case graph.Name{Kind: graph.DataStoreKind, Region: "us", Namespace: "hive://meta:9083", Name: "shop.orders"}.ID() == id:
		t.Error("names of two regions share an id")
	case graph.Name{Kind: graph.ProcessKind, Region: "eu", Namespace: "hive://meta:9083", Name: "shop.orders"}.ID() == id:
		t.Error("a process and a data store of one name share an id")
	}
	for id, length := range map[graph.ID]int{id: 22, column: 32} {
		if back, err := graph.ParseID(id.String()); err != nil || back != id || len(id.String()) != length {
			t.Errorf("%s reads back as %s, %v", id, back, err)
		}
	}
	if back, err := graph.ParseID(id.String() + "AAAAAAAAAA"); err != nil || back != id {
		t.Errorf("%s with the zeros of a column reads back as %s, %v", id, back, err)
	}
	for _, bad := range []string{"", "x", "QW3lbE4jd0adK2yEo7SbPgAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "QW3lbE4jd0adK2yEo7SbPgAAAAAAAAA!"} {
		if _, err := graph.ParseID(bad); err == nil {
			t.Errorf("%q is taken for an id", bad)
		}
	}
}
