package catalog

import (
	"fmt"
	"testing"
)

// BenchmarkApply makes one change to a catalog of 100,000 members in 20,000
// global tables and 1,000 aliases.
func BenchmarkApply(b *testing.B) {
	s := New()
	do := func(id string, c Change) {
		b.Helper()
		next, r, err := s.Apply(Command{ID: id, Seen: s.Seq(), Who: "ann", Do: c})
		if err != nil || !r.Changed {
			b.Fatalf("%v %v", r, err)
		}
		s = next
	}
	var fed [5][]Fed
	for r := range fed {
		do(fmt.Sprint("r", r), SetRegion{Region{fmt.Sprint("r", r), []string{fmt.Sprint("r", r, ":1")}, ""}})
		for i := range 20_000 {
			fed[r] = append(fed[r], Fed{fmt.Sprint("table", i), Partitioned, fmt.Sprint("hive://r", r), fmt.Sprint("shop.table", i)})
		}
		do(fmt.Sprint("f", r), FeedMembers{fmt.Sprint("r", r), fed[r]})
	}
	at := func(i int) Name { return Name{"r1", "s3://lake", fmt.Sprint(i)} }
	for i := range 1000 {
		do(fmt.Sprint("a", i), SetAlias{Alias{at(i), Name{"r1", "hive://other", fmt.Sprint(i)}, ""}})
	}
	full := s
	for _, c := range []struct {
		name string
		do   func(i int) Change
	}{
		{"region", func(i int) Change { return SetRegion{Region{"r0", []string{fmt.Sprint("r0:", i+2)}, ""}} }},
		{"alias", func(i int) Change {
			return SetAlias{Alias{at(i % 1000), Name{"r1", "hive://more", fmt.Sprint(i)}, ""}}
		}},
		{"naming rule", func(i int) Change {
			return SetNamingRule{NamingRule{Namespace: "trino://t", Prefix: fmt.Sprint("c", i, "."), ToNamespace: "hive://m"}}
		}},
		{"member", func(i int) Change {
			return DeclareMembers{Table: "table7", Add: []Name{{"r2", "hive://x", fmt.Sprint(i)}}}
		}},
		{"feed of 20000, one new", func(i int) Change {
			return FeedMembers{"r1", append(fed[1][:20_000:20_000], Fed{"table9", "", "hive://x", fmt.Sprint(i)})}
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			s = full
			for i := 0; b.Loop(); i++ {
				do(fmt.Sprint("x", i), c.do(i))
			}
		})
	}
}
