package graph

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// What Record.repeats says of a delta has to be what planning it in full finds.
func TestADeltaThatRepeatsChangesNothingButTheRecord(t *testing.T) {
	name := func(n string) Name { return Name{Kind: DataStoreKind, Namespace: "db", Name: n} }
	content := func(v int) Content {
		var c Content
		for n := range v {
			c.Writes = append(c.Writes, Dataset{Name: name(fmt.Sprint("t", n)), Facts: Facts{Kind: "TABLE"}})
		}
		if v == 3 { // says in another order what 2 says
			c.Writes = []Dataset{c.Writes[1], c.Writes[0]}
		}
		return c
	}
	contents := [...]Content{content(0), content(1), content(2), content(3)}
	repeated := 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := NewState()
		version, run, now := 1, 0, int64(1)
		for range 80 {
			d := Delta{Subject: Name{Kind: ProcessKind, Namespace: "jobs", Name: "j"}, Origin: "test", Time: now}
			now += int64(r.IntN(3)) // some begin at once
			if r.IntN(12) == 0 {
				version = 1 + r.IntN(3)
			}
			if r.IntN(4) > 0 {
				run++
			}
			d.Run = fmt.Sprint("run", run-r.IntN(2))
			d.Says = contents[version]
			switch r.IntN(10) {
			case 0:
				d.State, d.Says = Started, contents[0]
			case 1:
				d.State = Running
			case 2:
				d.State = Failed
			case 3:
				d.State, d.Time = Completed, max(1, now-int64(r.IntN(20)))
			default:
				d.State = Completed
			}
			for {
				n, err := s.Missing(&d)
				if err != nil {
					t.Fatal(err)
				}
				if n.IsZero() {
					break
				}
				for _, k := range n.Contributions {
					s.PutContribution(k, nil, nil)
				}
				for _, id := range n.Lives {
					s.PutLife(id, nil)
				}
			}
			old := s.contributions[s.known(&d).key]
			if old != nil {
				if _, ok := s.repeats(old, &d); ok {
					repeated++
					quick := s.repeat(old, &d)
					record := s.contributions[s.known(&d).key].Record
					full, err := s.plan(old, &d)
					if err != nil {
						t.Fatal(err)
					}
					want := s.contributions[s.known(&d).key].Record
					if full.Change != nil || (quick.Touch.Record == nil) != (full.Touch.Record == nil) || !record.equal(&want) {
						t.Fatalf("seed %d: a delta that repeats (%+v) gives the record %+v; planned in full %+v, and the change %+v", seed, d, record, want, full.Change)
					}
					continue
				}
			}
			if _, err := Plan(s, &d); err != nil {
				t.Fatal(err)
			}
		}
	}
	if repeated < 1000 {
		t.Errorf("only %d deltas repeated", repeated)
	}
}
