package region

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"headwater/graph"
	"headwater/ingest"
	"headwater/ingest/derive"
)

// sqlJob is a job that says its SQL and nothing else.
func sqlJob(name string, minute int, sql string) graph.Delta {
	d := job(name, minute, "", "")
	d.Says.SQL, d.Says.Dialect = sql, "spark"
	return d
}

// schema is what a data store says of its columns.
func schema(name string, minute int, columns ...string) graph.Delta {
	d := graph.Delta{Subject: table(name), Origin: "openlineage", State: graph.Declared, Time: time.Date(2026, 2, 28, 0, minute, 0, 0, time.UTC).UnixNano()}
	w := graph.Dataset{Name: table(name)}
	for i, c := range columns {
		w.Facts.Columns = append(w.Facts.Columns, graph.Field{Path: c, Ordinal: i + 1})
	}
	d.Says.Writes = []graph.Dataset{w}
	return d
}

func deriving() Options {
	return Options{Derive: &derive.Deriver{Naming: derive.Naming{{Dialect: "spark", Tables: []derive.TableRule{{Namespace: "postgres://db:5432"}}}}}}
}

// settle waits until nothing that was asked waits.
func (r *rig) settle() {
	r.t.Helper()
	for range 100 {
		_, last := r.log.Bounds()
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		err := r.node.WaitApplied(ctx, ingest.Receipt{Region: "eu", Offset: last})
		cancel()
		if err != nil {
			r.t.Fatal(err)
		}
		if _, now := r.log.Bounds(); now == last {
			return
		}
	}
	r.t.Fatal("what is derived asks for more without end")
}

// columnFlows tells the flows between columns, sorted.
func columnFlows(t testing.TB, reader graph.Reader, tables ...string) string {
	t.Helper()
	v, err := reader.View(context.Background(), graph.At{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = v.Close() }()
	names := map[graph.ID]string{}
	var ids []graph.ID
	for _, n := range tables {
		for _, c := range []string{"", "a", "b", "c", "d", "x"} {
			id := table(n).Of(c).ID()
			names[id] = strings.TrimSuffix(n+"."+c, ".")
			ids = append(ids, id)
		}
	}
	var all []string
	for _, layer := range []graph.Layer{graph.TableLayer, graph.ColumnLayer} {
		if _, err := v.Flows(context.Background(), ids, graph.Ask{Layer: layer, Dir: graph.Downstream}, func(flows []graph.Flow) error {
			for _, f := range flows {
				all = append(all, fmt.Sprintf("%s>%s %s %v", names[f.From], names[f.To], f.Kinds, f.Coarse))
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), "\n")
}

// A chain of tasks by SQL alone, its schemas, a task that changes and one that
// is deleted, in any order, over restarts and losses of power: what is derived
// in the end is the same.
func TestWhatFollowsFromSQLIsTheSameInAnyOrderAndOverCrashes(t *testing.T) {
	events := []graph.Delta{
		sqlJob("j1", 1, "insert into s1 select * from s0"),
		sqlJob("j2", 2, "create table s2 as select s1.*, a + b as x from s1"),
		sqlJob("j3", 3, "insert into s3 select * from s2 where x > 0"),
		sqlJob("j4", 4, "insert into s4 select a from s0"),
		sqlJob("j4", 5, "insert into s4 select b from s0"), // what counts
		schema("s0", 1, "a", "b"),
		schema("s1", 1, "a", "b"),
		schema("s3", 1, "a", "b", "x"),
		schema("s4", 1, "c"),
	}
	var want string
	for seed := range uint64(12) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		order := rnd.Perm(len(events))
		if seed == 0 {
			for i := range order { // as it happened
				order[i] = len(order) - 1 - i
			}
		}
		fs := vfs.NewCrashableMem()
		r := start(t, fs, "data", deriving())
		for n, i := range order {
			receipt := r.append(events[i])
			switch rnd.IntN(4) {
			case 0:
				r.wait(receipt)
			case 1:
				// The power fails: what was acknowledged is there all the same.
				crashed := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 50, RNG: rnd})
				r.stop()
				fs = crashed
				r = start(t, fs, "data", deriving())
			case 2:
				if n%2 == 0 {
					r.settle()
				}
			}
		}
		r.settle()
		got := columnFlows(t, r.store, "s0", "s1", "s2", "s3", "s4")
		r.stop()
		if seed == 0 {
			want = got
			for _, line := range []string{"s0.a>s1.a IDENTITY false", "s1.b>s2.b IDENTITY false", "s1.a>s2.x TRANSFORMATION false", "s2.x>s3.x IDENTITY false", "s2.x>s3 FILTER false", "s0.b>s4.c IDENTITY false"} {
				if !strings.Contains(got, line) {
					t.Fatalf("%s is missing:\n%s", line, got)
				}
			}
			if strings.Contains(got, "true") || strings.Contains(got, "s0.a>s4") {
				t.Fatalf("something is known by table alone, or is past:\n%s", got)
			}
		} else if got != want {
			t.Fatalf("seed %d, order %v: got\n%s\nwant\n%s", seed, order, got, want)
		}
	}
}

// Where the events come to say it themselves, what was derived goes.
func TestLineageThatEventsSayReplacesWhatWasDerived(t *testing.T) {
	r := start(t, vfs.NewMem(), "data", deriving())
	r.append(sqlJob("j", 1, "insert into t select a from s"))
	r.settle()
	if got := columnFlows(t, r.store, "s", "t"); !strings.Contains(got, "s.a>t.a") {
		t.Fatalf("nothing was derived: %s", got)
	}
	d := sqlJob("j", 2, "insert into t select a from s")
	d.Says.Reads = []graph.Dataset{{Name: table("s")}}
	d.Says.Writes = []graph.Dataset{{Name: table("t"), Lineage: &graph.Lineage{Complete: true, Columns: []graph.ColumnLineage{{Column: "b", Inputs: []graph.Source{{Name: table("s").Of("b"), Kinds: graph.Identity}}}}}}}
	r.append(d)
	r.settle()
	if got := columnFlows(t, r.store, "s", "t"); strings.Contains(got, "s.a>t.a") || !strings.Contains(got, "s.b>t.b") {
		t.Errorf("got\n%s", got)
	}
	// And comes back where they do not say it any more.
	r.append(sqlJob("j", 3, "insert into t select a from s"))
	r.settle()
	if got := columnFlows(t, r.store, "s", "t"); !strings.Contains(got, "s.a>t.a") || strings.Contains(got, "s.b>t.b") {
		t.Errorf("got\n%s", got)
	}
	before, err := r.store.Applied(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	r.append(sqlJob("j", 4, "insert into t select a from s"))
	r.settle()
	after, err := r.store.Applied(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if after.Revision != before.Revision {
		t.Errorf("a run that repeats moved the revision from %d to %d", before.Revision, after.Revision)
	}
}
