package nebula

import (
	"fmt"
	"testing"

	"headwater/graph"
)

func keyNumber(n byte) rowKey {
	return rowKey{table: speaksTable, src: hashID('x', []byte{n}), dst: hashID('y', []byte{n}), rank: -int64(n)}
}

// seenBy lists the ordinals, of those up to most, whose views have a row that
// was opened by a batch.
func (c *closed) seenBy(k rowKey, opened, most uint64) string {
	var in []uint64
	for v := range most + 1 {
		c.visible(v, func(visible func(*rowKey, uint64) bool) {
			if visible(&k, opened) {
				in = append(in, v)
			}
		})
	}
	return fmt.Sprint(in)
}

func TestARowIsHiddenFromTheViewsThatAreLaterThanItsEnd(t *testing.T) {
	c := newClosed()
	k := keyNumber(1)
	check := func(opened uint64, want string) {
		t.Helper()
		if got := c.seenBy(k, opened, 8); got != want {
			t.Errorf("row of %d is seen by %s, want %s", opened, got, want)
		}
	}
	check(0, "[0 1 2 3 4 5 6 7 8]")
	check(3, "[3 4 5 6 7 8]")
	c.take(2)
	c.done(&plan{n: 4, closes: []rowKey{k}})
	check(1, "[1 2 3]")
	if got := c.deletable(c.oldest(), 10, func(rowKey) bool { return false }); len(got) > 0 {
		t.Errorf("%d rows are deletable though a view sees them", len(got))
	}
	c.done(&plan{n: 6, reopens: []rowKey{k}})
	check(1, "[1 2 3 6 7 8]")
	c.done(&plan{n: 7, closes: []rowKey{k}})
	check(1, "[1 2 3 6]")
	c.release(2)
	c.take(7)
	if got := c.deletable(c.oldest(), 10, func(rowKey) bool { return false }); len(got) != 1 || got[0] != k {
		t.Errorf("deletable: %v", got)
	}
	if got := c.deletable(c.oldest(), 10, func(got rowKey) bool { return got == k }); len(got) > 0 {
		t.Errorf("a row that the batch writes is deletable: %v", got)
	}
	// An answer that was read before the deletion has the row still.
	c.done(&plan{n: 8, deleted: []rowKey{k}})
	check(1, "[1 2 3 6]")
	c.release(7)
	c.take(8)
	c.done(&plan{n: 9})
	if len(c.rows) > 0 {
		t.Errorf("%d rows are remembered that are gone for all", len(c.rows))
	}
}

func TestAStrayIsWrittenAnewWhereverItIsWanted(t *testing.T) {
	k := keyNumber(2)
	for _, test := range []struct {
		name   string
		plan   plan
		oldest uint64
		puts   int
	}{
		{"closed, and an older view sees it", plan{n: 5, closes: []rowKey{k}}, 4, 0},
		{"closed, and no view is older", plan{n: 5, closes: []rowKey{k}}, 5, 1},
		{"a stray, that may not be there", plan{n: 5, strays: []rowKey{k}}, 4, 1},
	} {
		e := &engine{o: &Options{}, p: &pool{}, closed: newClosed(), pending: map[rowKey]struct{}{}}
		e.closed.done(&test.plan)
		e.closed.take(test.oldest)
		b := newBatch()
		b.add(k, nil, text("x"))
		if err := e.settle(6, b); err != nil {
			t.Fatal(err)
		}
		if len(e.plan.puts) != test.puts || len(e.plan.reopens) != 1 {
			t.Errorf("%s: %d rows written, %d opened again; want %d and 1", test.name, len(e.plan.puts), len(e.plan.reopens), test.puts)
		}
	}
}

func TestKeysOfRowsReadBack(t *testing.T) {
	for n := range byte(40) {
		k := keyNumber(n)
		k.table = n % uint8(len(tables))
		got, err := parseRowKey(k.append(nil))
		if err != nil || got != k {
			t.Errorf("%+v is read back as %+v: %v", k, got, err)
		}
	}
	for _, bad := range [][]byte{nil, make([]byte, rowKeyLen-1), append([]byte{byte(len(tables))}, make([]byte, rowKeyLen-1)...)} {
		if _, err := parseRowKey(bad); err == nil {
			t.Errorf("% x is taken for a key", bad)
		}
	}
}

func TestACacheKeepsWhatNoBatchChanges(t *testing.T) {
	c := newCache(1 << 20)
	a := adjacency{table: flowTables, node: hashID('n', []byte{1})}
	rows := []flowRow{{to: hashID('n', []byte{2}), opened: 3}}
	ask := func() (stamp uint32, ok bool) {
		t.Helper()
		got, stamp, ok := c.get(&a)
		if ok && (len(got) != 1 || got[0].to != rows[0].to) {
			t.Errorf("got %v", got)
		}
		return stamp, ok
	}
	before, _ := ask()
	c.put(&a, before, rows)
	if _, ok := ask(); !ok {
		t.Error("what was put is not kept")
	}
	c.touch([]adjacency{a})
	stamp, ok := ask()
	if ok {
		t.Error("what a batch changes is kept")
	}
	c.put(&a, before, rows)
	c.put(&a, stamp, rows)
	if _, ok = ask(); ok {
		t.Error("what was read while a batch changes it is kept")
	}
	c.touch([]adjacency{a}) // the batch is tried again
	c.done()
	c.put(&a, stamp, rows)
	if stamp, ok = ask(); ok {
		t.Error("what was read while a batch changed it is kept")
	}
	c.put(&a, stamp, rows)
	if _, ok = ask(); !ok {
		t.Error("what was read behind the batch is not kept")
	}
	for n := range 20_000 {
		other := adjacency{table: flowTables, node: hashID('m', fmt.Append(nil, n))}
		_, stamp, _ := c.get(&other)
		c.put(&other, stamp, rows)
	}
	var bytes int64
	for i := range c.shards {
		s := &c.shards[i]
		bytes += s.bytes
		if len(s.at) != s.order.Len() {
			t.Errorf("%d and %d rows in a shard", len(s.at), s.order.Len())
		}
	}
	if bytes > 1<<20 || bytes < 1<<19 {
		t.Errorf("%d bytes are kept of %d", bytes, 1<<20)
	}
}

func TestAFlowIsARowOfTheEndThatItLeaves(t *testing.T) {
	a, b := graph.Name{Kind: graph.DataStoreKind, Namespace: "n", Name: "a"}.ID(), graph.Name{Kind: graph.DataStoreKind, Namespace: "n", Name: "b"}.ID()
	x := newBatch()
	edits := []graph.FlowEdit{
		{Row: graph.Row{Layer: graph.TableLayer, Dir: graph.Downstream, Node: a}, Was: []graph.Target{{ID: b, Kinds: graph.Identity}}, Targets: []graph.Target{{ID: b, Kinds: graph.Join}}},
		{Row: graph.Row{Layer: graph.TableLayer, Dir: graph.Upstream, Node: b}, Was: []graph.Target{{ID: a, Kinds: graph.Identity}}, Targets: []graph.Target{{ID: a, Kinds: graph.Join}}},
	}
	for i := range edits {
		x.flows(&edits[i], "who")
	}
	if len(x.ops) != 2 {
		t.Fatalf("%d rows are touched, want that of what it was and that of what it is", len(x.ops))
	}
	for i, add := range []bool{false, true} {
		if o := x.ops[i]; o.key.src != a || o.key.dst != b || o.first != add || o.last != add {
			t.Errorf("row %d is %+v", i, o)
		}
	}
	if x.ops[0].key.rank == x.ops[1].key.rank {
		t.Error("flows of two kinds share a key")
	}
	// Back again: nothing is done to either.
	back := edits[0]
	back.Was, back.Targets = back.Targets, back.Was
	x.flows(&back, "who")
	for _, o := range x.ops {
		if adds, closes := o.net(); adds || closes {
			t.Errorf("%+v is left to be done", o)
		}
	}
}
