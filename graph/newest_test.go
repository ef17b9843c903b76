package graph

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// Planning over the newest parts has to give what planning over all does, but
// for what is put once more.
func TestADeltaThatAppendsNeedsTheNewestPartsAlone(t *testing.T) {
	name := func(n string) Name { return Name{Kind: DataStoreKind, Namespace: "db", Name: n} }
	said := func(r *rand.Rand, v int) Content {
		c := Content{Facts: Facts{Kind: "SPARK"}}
		for n := range 1 + v%3 {
			c.Reads = append(c.Reads, Dataset{Name: name(fmt.Sprint("in", (v+n)%5)), Facts: Facts{Columns: []Field{{Path: fmt.Sprint("c", v), Ordinal: 1}}}})
		}
		c.Writes = []Dataset{{Name: name(fmt.Sprint("out", v%2)), Lineage: &Lineage{}}}
		if r.IntN(2) == 0 { // in another order, it says the same
			slices.Reverse(c.Reads)
		}
		return c
	}
	subject := Name{Kind: ProcessKind, Namespace: "jobs", Name: "j"}
	key := Key{Subject: subject.ID(), Origin: "test"}
	appended := 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 7))
		var record *Record
		parts := map[uint64][]byte{}
		index := map[IndexEdit]bool{}
		names := map[ID]bool{}
		for run := range 40 {
			d := Delta{Subject: subject, Origin: "test", Run: fmt.Sprint("run", run-r.IntN(8)/7), Time: int64(10*run + 1), State: Completed, Says: said(r, r.IntN(6))}
			switch r.IntN(12) {
			case 0:
				d.State, d.Says = Started, Content{}
			case 1:
				d.State = Started
			case 2:
				d.State = Failed
			}
			plan := func(all bool) (Planned, bool) {
				s := NewState()
				s.PutRecord(key, record)
				newest := false
				for {
					n, err := s.Missing(&d)
					if err != nil {
						t.Fatal(err)
					}
					if n.IsZero() {
						break
					}
					if all && record != nil {
						s.PutParts(key, parts)
					}
					for range n.Parts {
						s.PutParts(key, parts)
					}
					for range n.Newest {
						newest = true
						some := map[uint64][]byte{}
						for _, h := range record.Newest() {
							some[h] = parts[h]
						}
						s.PutNewest(key, some)
					}
					for _, id := range n.Lives {
						s.PutLife(id, nil)
					}
				}
				p, err := Plan(s, &d)
				if err != nil {
					t.Fatalf("seed %d, run %d: %v", seed, run, err)
				}
				return p, newest
			}
			want, _ := plan(true)
			got, newest := plan(false)
			if newest {
				appended++
			}
			if (got.Change == nil) != (want.Change == nil) || (got.Touch.Record == nil) != (want.Touch.Record == nil) || got.Touch.Record != nil && !got.Touch.Record.equal(want.Touch.Record) {
				t.Fatalf("seed %d, run %d: got %+v, want %+v", seed, run, got, want)
			}
			if c := got.Change; c != nil {
				w := want.Change
				if !reflect.DeepEqual(c, w) {
					t.Fatalf("seed %d, run %d: got %+v, want %+v", seed, run, c, w)
				}
				for h, b := range c.PutParts {
					parts[h] = b
				}
				for _, h := range c.DropParts {
					delete(parts, h)
				}
				for _, e := range c.Index {
					index[IndexEdit{Node: e.Node, Writes: e.Writes}] = e.Put
				}
				for _, id := range c.NameIDs {
					names[id] = true
				}
			}
			if got.Touch.Record != nil {
				record = got.Touch.Record
			}
			// What is indexed and named is what all that is kept speaks of.
			spoken, wrote := map[ID]bool{}, map[ID]bool{}
			con := NewContribution(*record, parts)
			contents, err := con.Contents()
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range contents {
				c.Mentions(subject, func(n Name, writes bool) {
					spoken[n.ID().Base()] = true
					if writes {
						wrote[n.ID().Base()] = true
					}
					if !names[n.ID()] {
						t.Fatalf("seed %d, run %d: %s is not named", seed, run, n)
					}
				})
			}
			for e, put := range index {
				has := spoken[e.Node]
				if e.Writes {
					has = wrote[e.Node]
				}
				if e.Node != key.Subject && put != has {
					t.Fatalf("seed %d, run %d: index of %s (writes %v) is %v, want %v", seed, run, e.Node, e.Writes, put, has)
				}
			}
			for id := range spoken {
				if !index[IndexEdit{Node: id}] || wrote[id] && !index[IndexEdit{Node: id, Writes: true}] {
					t.Fatalf("seed %d, run %d: %s is not indexed", seed, run, id)
				}
			}
		}
	}
	if appended < 1000 {
		t.Errorf("only %d deltas appended", appended)
	}
}
