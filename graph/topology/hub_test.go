package topology

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"headwater/graph"
)

// appendTo makes the change by which one more data store flows into a hub: the row of
// the hub alone, since that is what grows.
func appendTo(hub graph.ID, i int, gone bool) graph.Change {
	source := storeName(i).ID()
	row := graph.Row{Layer: graph.TableLayer, Dir: graph.Upstream, Node: hub}
	target := []graph.Target{{ID: source, Coarse: i%2 == 0}}
	c := graph.Change{Key: graph.Key{Subject: hub, Origin: "a"}, Flows: []graph.FlowEdit{{Row: row, Targets: target}}}
	if gone {
		c.Flows[0].Targets, c.Flows[0].Was = nil, target
	}
	return c
}

// copied publishes what was changed, and returns how many words of the lists
// that there were had to be copied for that.
func copied(t testing.TB, top *Topology) (words int) {
	t.Helper()
	before := len(top.retired)
	if err := top.Settle(); err != nil {
		t.Fatal(err)
	}
	for _, r := range top.retired[before:] {
		words += int(r.block.words)
	}
	if err := top.Publish(); err != nil {
		t.Fatal(err)
	}
	return words
}

func TestAppendingToAHubCopiesLittleOfIt(t *testing.T) {
	const n = 100_000 / less
	top, hub := New(), storeName(-1).ID()
	total, worst := 0, 0
	for i := range n {
		c := appendTo(hub, i, false)
		top.Change(&c)
		words := copied(t, top)
		total += words
		worst = max(worst, words)
	}
	if got := top.Stats().Flows; got != 0 {
		t.Errorf("%d flows are counted downstream; the hub has all upstream", got)
	}
	v := top.View()
	h, _ := v.Handle(hub)
	if got := listLen(v.slabs, ref(v.at(v.cell(h, slotTableUp)))); got != n {
		t.Errorf("the hub has %d flows, want %d", got, n)
	}
	v.Release()
	t.Logf("%d words an append, at most %d, of a list of %d", total/n, worst, runWords(n))
	// A run, and the directory: a word for some 170 flows.
	if limit := int(runWords(maxRun)) + 2 + n/(maxRun/3); worst > limit {
		t.Errorf("an append copies %d words, want at most %d", worst, limit)
	}
	if got := int(top.arena.used) + (len(top.arena.slabs)-1)*slabWords; got > 5*int(runWords(n)) {
		t.Errorf("the arena has come to %d words for a list of %d", got, runWords(n))
	}
	total = 0
	for _, i := range rand.New(rand.NewPCG(1, 1)).Perm(n) {
		c := appendTo(hub, i, true)
		top.Change(&c)
		total += copied(t, top)
	}
	t.Logf("%d words a removal", total/n)
	if total/n > worst {
		t.Errorf("a removal copies %d words, an append at most %d", total/n, worst)
	}
	v = top.View()
	defer v.Release()
	if got := ref(v.at(v.cell(h, slotTableUp))); got != 0 {
		t.Errorf("the hub has %d flows after all were removed", listLen(v.slabs, got))
	}
}

func TestAHubThatShrinksIsPutTogether(t *testing.T) {
	const n, left = 20_000, 200
	top, hub := New(), storeName(-1).ID()
	for i := range n {
		c := appendTo(hub, i, false)
		top.Change(&c)
	}
	if err := top.Publish(); err != nil {
		t.Fatal(err)
	}
	old := top.View()
	order := rand.New(rand.NewPCG(2, 1)).Perm(n)
	for batch := range slices.Chunk(order[left:], 7) {
		for _, i := range batch {
			c := appendTo(hub, i, true)
			top.Change(&c)
		}
		if err := top.Publish(); err != nil {
			t.Fatal(err)
		}
	}
	v := top.View()
	h, _ := v.Handle(hub)
	r := ref(v.at(v.cell(h, slotTableUp)))
	var one [1]uint32
	if runs := len(directory(v.slabs, r, &one)); runs > 8*left/maxRun+1 {
		t.Errorf("%d flows are in %d runs", left, runs)
	}
	var got []string
	for _, r := range directory(v.slabs, r, &one) {
		for _, e := range top.appendRun(nil, r) {
			got = append(got, v.ID(e.to).String())
		}
	}
	var want []string
	for _, i := range order[:left] {
		want = append(want, storeName(i).ID().String())
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%d flows are left, want %d others", len(got), len(want))
	}
	if got := listLen(old.slabs, ref(old.at(old.cell(h, slotTableUp)))); got != n {
		t.Errorf("an older view sees %d flows, want %d", got, n)
	}
	old.Release()
	v.Release()
	if err := top.Publish(); err != nil {
		t.Fatal(err)
	}
	noneWaits(t, top)
}

func TestBlocksDoNotOverlapAndAreUsedAgain(t *testing.T) {
	var a arena
	a.begin()
	r := rand.New(rand.NewPCG(1, 2))
	type kept struct {
		block
		mark uint32
	}
	var blocks []kept
	for i := range uint32(20_000) {
		words, l := 1+r.Uint32N(80), lane(r.IntN(int(lanes)))
		if i%50 == 0 {
			words = 1 + r.Uint32N(slabWords)
		}
		ref, b, err := a.alloc(l, words)
		if err != nil || ref == 0 || len(b) != int(words) {
			t.Fatalf("%d words: %d words at %d, %v", words, len(b), ref, err)
		}
		b[0], b[words-1] = i, i
		blocks = append(blocks, kept{block{ref, words, l}, i})
		if len(blocks) > 100 {
			at := r.IntN(len(blocks))
			k := blocks[at]
			if b := a.slice(k.ref, k.words); b[0] != k.mark || b[k.words-1] != k.mark {
				t.Fatalf("the block of %d words at %d was written to", k.words, k.ref)
			}
			a.free(k.block)
			blocks = slices.Delete(blocks, at, at+1)
		}
	}
	if mb := a.bytes() >> 20; mb > 200 {
		t.Errorf("%d MB for a hundred blocks", mb)
	}
}

func TestABlockThatFitsNoSlabIsRefused(t *testing.T) {
	var a arena
	a.begin()
	for _, words := range []uint32{slabWords + 1, slabWords * 2, slabWords * 100} {
		if _, _, err := a.alloc(0, words); !errors.Is(err, ErrFull) {
			t.Errorf("%d words: got %v, want ErrFull", words, err)
		}
	}
	for _, words := range []uint32{slabWords, slabWords - 1, slabWords * 7 / 8} {
		if _, b, err := a.alloc(0, words); err != nil || len(b) != int(words) {
			t.Errorf("%d words: %v", words, err)
		}
	}
}

func TestAnIndexGrowsTwofoldAndFindsAllThatIsInIt(t *testing.T) {
	var x index
	hash := func(n uint32) uint64 { return mix(uint64(n) * 77) }
	for n := range uint32(50_000) {
		before := x.bytes()
		x.add(n, hash(n), hash)
		if after := x.bytes(); before > 0 && after > 2*before {
			t.Fatalf("with %d numbers it grows from %d to %d bytes", n, before, after)
		}
	}
	for n := range uint32(60_000) {
		got, ok := x.find(hash(n), func(m uint32) bool { return m == n })
		if ok != (n < 50_000) || ok && got != n {
			t.Fatalf("%d is found as %d, %v", n, got, ok)
		}
	}
}

func TestATopologyThatIsFullSaysSoAndItsViewsStandStill(t *testing.T) {
	for name, limit := range map[string]func(*Topology){
		"numbers": func(top *Topology) { top.limit = 200 },
		"arena":   func(top *Topology) { top.arena.limit = len(top.arena.slabs) },
	} {
		t.Run(name, func(t *testing.T) {
			m, r, top := newMaker(1, 20, 4), newRows(), New()
			for range 20 {
				feed(t, top, r, m.change())
			}
			limit(top)
			v := top.View()
			was := answers(t, over(v, r), m.world())
			var err error
			for n := 0; err == nil; n++ {
				rows := m.content(m.keys[0], 50)
				for i := range 2000 {
					m.flow(rows, graph.TableLayer, m.stores[0], storeName(100+2000*(n%3)+i).ID(), 0, false)
				}
				c := m.says(m.keys[0], rows)
				top.Change(&c)
				if err = top.Publish(); n > 1000 {
					t.Fatal("it is never full")
				}
			}
			if !errors.Is(err, ErrFull) {
				t.Fatal(err)
			}
			sameAnswers(t, answers(t, over(v, r), m.world()), was)
			for i := range 3 {
				c := m.says(m.keys[1], m.content(m.keys[1], 10*i))
				top.Change(&c)
				links := newRows()
				links.aliases[[2]graph.ID{m.stores[0], m.stores[1]}] = map[graph.Key]bool{m.keys[0]: true}
				if err := top.Realias(links, m.stores[:2]); !errors.Is(err, ErrFull) {
					t.Errorf("what is full takes an alias: %v", err)
				}
				if err := top.Publish(); !errors.Is(err, ErrFull) {
					t.Errorf("a batch of which a part was not taken is published: %v", err)
				}
			}
			sameAnswers(t, answers(t, over(v, r), m.world()), was)
			v.Release()
		})
	}
}

func TestBuildSaysThatItIsFull(t *testing.T) {
	m, r := newMaker(1, 20, 4), newRows()
	for i := range 20 {
		c := m.says(m.keys[i%len(m.keys)], m.content(m.keys[i%len(m.keys)], 100))
		r.apply(&c)
	}
	for name, limit := range map[string]func(*Topology){
		"numbers": func(top *Topology) { top.limit = 5 },
		"arena":   func(top *Topology) { top.arena.limit, top.arena.used = 1, slabWords-100 },
	} {
		top := New()
		limit(top)
		if err := top.build(t.Context(), r, 0); !errors.Is(err, ErrFull) {
			t.Errorf("%s: got %v, want ErrFull", name, err)
		}
	}
	if _, err := Build(t.Context(), r, 0); err != nil {
		t.Errorf("without limits: %v", err)
	}
}
