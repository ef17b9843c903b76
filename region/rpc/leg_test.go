package rpc

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"headwater/graph"
)

// randomLeg makes a leg of lists with hops in number.
func randomLeg(r *rand.Rand, lists, hops int) *graph.Leg {
	id := func() (id graph.ID) {
		for i := range id {
			id[i] = byte(r.Uint32())
		}
		return id
	}
	l := &graph.Leg{Stands: []graph.ID{id()}}
	for range 1 + r.IntN(300) {
		l.IDs = append(l.IDs, id())
	}
	subjects := []graph.ID{id(), id(), id()}
	for range 1 + r.IntN(300) {
		if r.IntN(2) == 0 {
			subjects = append(subjects, id())
		}
		l.Keys = append(l.Keys, graph.Key{Subject: subjects[r.IntN(len(subjects))], Origin: []string{"", "openlineage", "sql"}[r.IntN(3)]})
	}
	place := func() uint32 { return uint32(r.IntN(len(l.IDs))) }
	for range lists {
		list := graph.LegList{Node: place(), Layer: graph.Layer(1 + r.IntN(4)), Dir: graph.Direction(r.IntN(2)), Whole: r.IntN(2) == 0, CoarseOnly: r.IntN(2) == 0}
		for range r.IntN(2*hops + 1) {
			list.Hops = append(list.Hops, graph.LegHop{From: place(), To: place(), By: uint32(r.IntN(len(l.Keys))), Kinds: graph.Kinds(r.Uint32()), Coarse: r.IntN(2) == 0})
		}
		l.Lists = append(l.Lists, list)
	}
	for range r.IntN(4) {
		l.Standing = append(l.Standing, graph.Standing{Node: id(), Names: []graph.ID{id(), id()}, Gone: r.IntN(2) == 0})
		l.Absent = append(l.Absent, id())
		l.Nodes = append(l.Nodes, graph.Node{ID: id(), Name: graph.Name{Kind: graph.ProcessKind, Name: "x"}, Updated: r.Int64()})
	}
	table := graph.Name{Kind: graph.DataStoreKind, Name: "t"}
	for range r.IntN(100) {
		at := place()
		l.Coming = append(l.Coming, at)
		n := graph.Node{ID: l.IDs[at], Name: table, Deleted: int64(r.IntN(2))}
		switch r.IntN(4) {
		case 0:
			table.Name += "t"
		case 1:
			n.Facts.Kind = "TABLE"
		case 2:
			n.Name.Column = "c"
			n.Column = &graph.Field{Path: []string{"c", "C"}[r.IntN(2)], Type: "int", Ordinal: 3}
		}
		l.Nodes = append(l.Nodes, n)
	}
	return l
}

// itemsOf returns the items that a leg is written in.
func itemsOf(t testing.TB, l *graph.Leg) (items [][]byte) {
	t.Helper()
	if err := newLegWriter(func(code func(*coder)) error {
		var c coder
		code(&c)
		items = append(items, c.b)
		return nil
	}).found(l); err != nil {
		t.Fatal(err)
	}
	return items
}

func TestALegComesBackAsItWas(t *testing.T) {
	for _, tc := range []struct{ lists, hops int }{{0, 0}, {1, 1}, {50, 20}, {5000, 0}, {7, 6000}, {1, 50_000}} {
		for seed := range uint64(5) {
			l := randomLeg(rand.New(rand.NewPCG(seed, 9)), tc.lists, tc.hops)
			r := legReader{most: math.MaxInt}
			for _, item := range itemsOf(t, l) {
				if len(item) > 16*hopsAtOnce {
					t.Errorf("an item of %d bytes", len(item))
				}
				if err := r.read(item); err != nil {
					t.Fatalf("seed %d of %+v: %v", seed, tc, err)
				}
			}
			if !reflect.DeepEqual(l, &r.leg) {
				t.Fatalf("seed %d of %+v: it is another", seed, tc)
			}
		}
	}
}

// TestNoFieldIsForgotten fills every field of what travels with something, so
// that one that is new to graph is missed here.
func TestNoFieldIsForgotten(t *testing.T) {
	roundTrip(t, codeWhole)
	roundTrip(t, codeConflict)
	roundTrip(t, codePage)
	roundTrip(t, codeQuery)
	roundTrip(t, codeLegQuestion)
	roundTrip(t, codeFlow)
	roundTrip(t, codeStanding)
	roundTrip(t, func(c *coder, s *Status) { s.code(c) })
	roundTrip(t, func(c *coder, a *graph.Ask) {
		q := flowsQuestion{ask: *a}
		q.code(c)
		*a = q.ask
	})
	var l graph.Leg
	fill(reflect.ValueOf(&l).Elem())
	r := legReader{most: math.MaxInt}
	for _, item := range itemsOf(t, &l) {
		if err := r.read(item); err != nil {
			t.Fatal(err)
		}
	}
	r.leg.Gaps, r.leg.Late = l.Gaps, l.Late // these are in the ending
	if diff := cmp.Diff(l, r.leg); diff != "" {
		t.Errorf("leg, want - got +:\n%s", diff)
	}
}

func roundTrip[T any](t *testing.T, code func(*coder, *T)) {
	t.Helper()
	var want, got T
	fill(reflect.ValueOf(&want).Elem())
	var c coder
	code(&c, &want)
	if err := decodeAll(c.b, func(c *coder) { code(c, &got) }); err != nil {
		t.Errorf("%T: %v", want, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%T, want - got +:\n%s", want, diff)
	}
	for cut := range c.b {
		if err := decodeAll(c.b[:cut], func(c *coder) { code(c, new(T)) }); !errors.Is(err, errMessage) {
			t.Fatalf("%T, %d of %d bytes: %v, want errMessage", want, cut, len(c.b), err)
		}
	}
}

// fill sets every field to something: numbers to 1, lists to one element. Of
// places in lists 0 is the only one there is.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Array:
		fill(v.Index(0))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		value := reflect.New(v.Type().Elem()).Elem()
		fill(value)
		v.SetMapIndex(reflect.ValueOf("key"), value)
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint8, reflect.Uint16, reflect.Uint64:
		v.SetUint(1)
	case reflect.Uint32:
	default:
		panic("fill: " + v.Type().String())
	}
}

func TestALegBeyondTheBoundIsRefused(t *testing.T) {
	l := randomLeg(rand.New(rand.NewPCG(1, 9)), 3, 3)
	r := legReader{most: 100}
	var err error
	for _, item := range itemsOf(t, l) {
		if err = r.read(item); err != nil {
			break
		}
	}
	if !errors.Is(err, errTooLarge) {
		t.Errorf("%v, want errTooLarge", err)
	}
}

// FuzzMessage decodes bytes as each message; what can be read is written and
// read again.
func FuzzMessage(f *testing.F) {
	var messages []func(*coder)
	var node, node2 graph.Node
	var said graph.Said
	var flows []graph.Flow
	var leg graph.LegQuestion
	var conflict graph.Conflict
	var q question
	var h head
	fill(reflect.ValueOf(&node).Elem())
	node2 = node
	node2.Name.Kind = graph.DataStoreKind
	fill(reflect.ValueOf(&leg).Elem())
	fill(reflect.ValueOf(&conflict).Elem())
	fill(reflect.ValueOf(&flows).Elem())
	said.Content = &graph.Content{SQL: "select 1"}
	for _, code := range []func(*coder){
		func(c *coder) { codeWhole(c, &node) }, func(c *coder) { codeWhole(c, &node2) }, func(c *coder) { codeSaid(c, &said) }, func(c *coder) { codeFlows(c, &flows) },
		func(c *coder) { codeLegQuestion(c, &leg) }, func(c *coder) { codeConflict(c, &conflict) }, q.code, h.code,
	} {
		var c coder
		code(&c)
		f.Add(uint8(len(messages)), c.b)
		messages = append(messages, code)
	}
	f.Fuzz(func(t *testing.T, which uint8, b []byte) {
		code := messages[int(which)%len(messages)]
		if decodeAll(b, code) != nil {
			return
		}
		var once, twice coder
		code(&once)
		if err := decodeAll(once.b, code); err != nil {
			t.Fatalf("own bytes: %v", err)
		}
		if code(&twice); !bytes.Equal(once.b, twice.b) {
			t.Fatalf("%x became %x", once.b, twice.b)
		}
	})
}

func FuzzLeg(f *testing.F) {
	for seed := range uint64(4) {
		var whole []byte
		for _, item := range itemsOf(f, randomLeg(rand.New(rand.NewPCG(seed, 9)), 3, 3)) {
			whole = append(whole, item...)
		}
		f.Add(whole)
	}
	f.Add([]byte{legLists, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, b []byte) {
		r := legReader{most: math.MaxInt}
		if err := r.read(b); err != nil {
			if !errors.Is(err, errMessage) {
				t.Fatalf("%v is not errMessage", err)
			}
			return
		}
		l := &r.leg
		for i := range l.Lists {
			list := &l.Lists[i]
			if int(list.Node) >= len(l.IDs) || list.Layer < graph.TableLayer || list.Layer > graph.ControlLayer || list.Dir > graph.Upstream {
				t.Fatalf("list %+v of %d nodes", list, len(l.IDs))
			}
			for _, h := range list.Hops {
				if int(h.From) >= len(l.IDs) || int(h.To) >= len(l.IDs) || int(h.By) >= len(l.Keys) {
					t.Fatalf("hop %+v of %d nodes and %d keys", h, len(l.IDs), len(l.Keys))
				}
			}
		}
		again := legReader{most: math.MaxInt}
		for _, item := range itemsOf(t, l) {
			if err := again.read(item); err != nil {
				t.Fatalf("own bytes: %v", err)
			}
		}
		if len(l.Nodes) == 0 {
			l.Nodes = nil // there was room for some
		}
		if !reflect.DeepEqual(l, &again.leg) && len(r.heads) == len(again.heads) && len(r.origins) == len(again.origins) {
			t.Fatalf("%+v came back as %+v", l, again.leg)
		}
	})
}
