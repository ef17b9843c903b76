package region

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.uber.org/goleak"

	"headwater/graph"
	"headwater/graph/graphtest"
	"headwater/graph/pebble"
	"headwater/ingest"
	"headwater/region/log"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A rig is a node over stores on one file system.
type rig struct {
	t     testing.TB
	fs    vfs.FS
	dir   string
	store *pebble.Store
	log   *log.Log
	node  *Node
	stop  func()
}

var quietLog = slog.New(slog.DiscardHandler)

// start opens a node on a file system and runs it.
func start(t testing.TB, fs vfs.FS, dir string, o Options) *rig {
	t.Helper()
	r := &rig{t: t, fs: fs, dir: dir}
	var err error
	if r.store, err = pebble.Open(filepath.Join(dir, "graph"), pebble.Options{Region: "eu", CacheBytes: 1 << 20, MemTableBytes: 1 << 20, FS: fs, Log: quietLog}); err != nil {
		t.Fatal(err)
	}
	if r.log, err = log.Open(filepath.Join(dir, "log"), log.Options{FS: fs, Log: quietLog}); err != nil {
		t.Fatal(err)
	}
	o.Region, o.Dir, o.Log = "eu", dir, quietLog
	if o.Free == nil {
		o.MinFree = -1
	}
	if r.node, err = New(r.store, r.log, o); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.node.Run(ctx) }()
	stopped := false
	r.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := errors.Join(<-done, r.log.Close(), r.store.Close()); err != nil && !strings.Contains(err.Error(), "crash") {
			t.Error(err)
		}
	}
	t.Cleanup(r.stop)
	return r
}

func (r *rig) append(deltas ...graph.Delta) ingest.Receipt {
	r.t.Helper()
	var events [][]graph.Delta
	for _, d := range deltas {
		events = append(events, []graph.Delta{d})
	}
	receipt, err := r.node.Append(context.Background(), events)
	if err != nil {
		r.t.Fatal(err)
	}
	return receipt
}

func (r *rig) wait(receipt ingest.Receipt) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := r.node.WaitApplied(ctx, receipt); err != nil {
		r.t.Fatal(err)
	}
}

func table(name string) graph.Name {
	return graph.Name{Kind: graph.DataStoreKind, Region: "eu", Namespace: "postgres://db:5432", Name: name}
}

// job says that a job reads and writes, at a minute of a day.
func job(name string, minute int, reads, writes string) graph.Delta {
	d := graph.Delta{Subject: graph.Name{Kind: graph.ProcessKind, Region: "eu", Namespace: "jobs", Name: name}, Origin: "openlineage",
		Run: fmt.Sprintf("%s-%d", name, minute), State: graph.Completed, Time: time.Date(2026, 3, 1, 0, minute, 0, 0, time.UTC).UnixNano()}
	for _, n := range strings.Fields(reads) {
		d.Says.Reads = append(d.Says.Reads, graph.Dataset{Name: table(n)})
	}
	for _, n := range strings.Fields(writes) {
		d.Says.Writes = append(d.Says.Writes, graph.Dataset{Name: table(n)})
	}
	return d
}

// downstream lists what a table feeds, by name.
func downstream(t testing.TB, reader graph.Reader, at graph.At, name string) string {
	t.Helper()
	ctx := context.Background()
	v, err := reader.View(ctx, at)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	}()
	a, err := graph.GetLineage(ctx, v, graph.Question{Root: table(name).ID(), Direction: graph.Downstream, Depth: graph.Unlimited})
	if err != nil {
		t.Fatal(err)
	}
	var ids []graph.ID
	for _, n := range a.Nodes[1:] {
		ids = append(ids, n.ID)
	}
	names := map[graph.ID]string{}
	if _, err := v.Nodes(ctx, ids, 0, func(n graph.Node) error { names[n.ID] = n.Name.Name; return nil }); err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, id := range ids {
		list = append(list, names[id])
	}
	for _, g := range a.Gaps {
		list = append(list, "gap "+g.Region)
	}
	return strings.Join(list, " ")
}

func TestAcknowledgedEventsAreAppliedInOrderAndCanBeWaitedFor(t *testing.T) {
	r := start(t, vfs.NewMem(), "data", Options{})
	receipt := r.append(job("j1", 1, "a", "b"), job("j2", 2, "b", "c"))
	if got := receipt.String(); got != "eu@2" {
		t.Errorf("receipt %s, want eu@2", got)
	}
	if got := downstream(t, r.node, graph.At{AtLeast: map[string]uint64{"eu": receipt.Offset}}, "a"); got != "b c" {
		t.Errorf("a feeds %q, want b c", got)
	}
}

func TestUnchangedRerunsMoveThePositionButNotTheRevision(t *testing.T) {
	r := start(t, vfs.NewMem(), "data", Options{})
	r.wait(r.append(job("j1", 1, "a", "b")))
	before := r.node.Status().Mark
	for minute := 2; minute < 60; minute++ {
		r.append(job("j1", minute, "a", "b"))
	}
	r.wait(r.append(job("j1", 60, "a", "b")))
	after := r.node.Status().Mark
	if after.Revision != before.Revision || after.Position != before.Position+59 {
		t.Errorf("mark %+v after 59 unchanged re-runs, was %+v", after, before)
	}
}

func TestViewReportsGapWhenItIsBehind(t *testing.T) {
	r := start(t, vfs.NewMem(), "data", Options{})
	r.wait(r.append(job("j1", 1, "a", "b")))
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	v, err := r.node.View(ctx, graph.At{AtLeast: map[string]uint64{"eu": 99, "us": 1}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = v.Close() }()
	a, err := graph.GetLineage(context.Background(), v, graph.Question{Root: table("a").ID(), Direction: graph.Downstream, Depth: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Gaps) != 2 || a.Complete() {
		t.Errorf("gaps %+v, want one for eu, which is behind, and one for us, which is not here", a.Gaps)
	}
}

func TestDeltaThatCannotBePlannedIsSetAsideAndTheRestGoesOn(t *testing.T) {
	broken := true
	r := start(t, vfs.NewMem(), "data", Options{Plan: func(s *graph.State, d *graph.Delta) (graph.Planned, error) {
		if broken && d.Subject.Name == "bad" {
			panic("injected")
		}
		return graph.Plan(s, d)
	}})
	r.wait(r.append(job("j1", 1, "a", "b"), job("bad", 2, "b", "x"), job("j2", 3, "b", "c")))
	if got := downstream(t, r.node, graph.At{}, "a"); got != "b c" {
		t.Errorf("a feeds %q, want b c", got)
	}
	dead, err := r.log.Dead("", 10)
	if err != nil || len(dead) != 1 || dead[0].ID != "2.0" || !strings.Contains(dead[0].Reason, "injected") {
		t.Fatalf("dead letters %+v, %v", dead, err)
	}
	broken = false
	receipt, err := r.node.Replay(context.Background(), "2.0")
	if err != nil {
		t.Fatal(err)
	}
	r.wait(receipt)
	if got := downstream(t, r.node, graph.At{}, "b"); !strings.Contains(got, "x") {
		t.Errorf("after the replay b feeds %q, want x too", got)
	}
	if dead, _ := r.log.Dead("", 10); len(dead) != 0 {
		t.Errorf("dead letters after the replay: %+v", dead)
	}
	if _, err := r.log.DeadByID("2.0"); !errors.Is(err, log.ErrNoDeadLetter) {
		t.Errorf("asking for a replayed letter: %v", err)
	}
}

func TestIntakeIsRefusedWhileSpaceIsShortAndGoesOnAfterwards(t *testing.T) {
	free := int64(10 << 30)
	r := start(t, vfs.NewMem(), "data", Options{Free: func() (int64, error) { return free, nil }})
	r.wait(r.append(job("j1", 1, "a", "b")))
	free = 1 << 20
	r.node.free.asked = time.Time{}
	if _, err := r.node.Append(context.Background(), [][]graph.Delta{{job("j2", 2, "b", "c")}}); !errors.Is(err, ingest.ErrNoSpace) {
		t.Errorf("append with 1 MiB free: %v, want ErrNoSpace", err)
	}
	if st := r.node.Status(); !errors.Is(st.Intake, ingest.ErrNoSpace) {
		t.Errorf("status: %v, want ErrNoSpace", st.Intake)
	}
	free = 10 << 30
	r.node.free.asked = time.Time{}
	r.wait(r.append(job("j2", 2, "b", "c")))
	if got := downstream(t, r.node, graph.At{}, "a"); got != "b c" {
		t.Errorf("a feeds %q, want b c", got)
	}
}

func TestIntakeIsRefusedWhileTooMuchWaits(t *testing.T) {
	hold := make(chan struct{})
	r := start(t, vfs.NewMem(), "data", Options{MaxLag: 10, Plan: func(s *graph.State, d *graph.Delta) (graph.Planned, error) {
		<-hold
		return graph.Plan(s, d)
	}})
	var err error
	taken := 0
	for minute := range 100 {
		if _, err = r.node.Append(context.Background(), [][]graph.Delta{{job("j", minute, "a", "b")}}); err != nil {
			break
		}
		taken++
	}
	if !errors.Is(err, ingest.ErrOverloaded) || taken > 12 {
		t.Errorf("%d events taken, then %v; want ErrOverloaded after about 10", taken, err)
	}
	close(hold)
	r.wait(ingest.Receipt{Region: "eu", Offset: uint64(taken)})
	r.wait(r.append(job("j2", 2, "b", "c")))
}

func TestPowerLossLosesNothingAcknowledgedAndNothingIsAppliedTwice(t *testing.T) {
	for seed := range uint64(25) {
		random := graphtest.NewRandom(seed)
		random.Region = "eu"
		fs := vfs.NewCrashableMem()
		model := graphtest.NewModel("eu")
		feeder := graphtest.Feeder{Region: "eu"}
		for range 4 {
			r := start(t, fs, "data", Options{})
			var receipt ingest.Receipt
			for range 1 + random.IntN(30) {
				d := random.Delta()
				receipt = r.append(d)
				if err := feeder.Feed(context.Background(), []graph.Store{model}, d); err != nil {
					t.Fatal(err)
				}
			}
			if random.IntN(2) == 0 {
				r.wait(receipt)
			}
			// The clone keeps what was synced, and any part of what was not.
			crashed := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: random.IntN(101), RNG: random.Rand})
			r.stop()
			fs = crashed
		}
		r := start(t, fs, "data", Options{})
		_, last := r.log.Bounds()
		r.wait(ingest.Receipt{Region: "eu", Offset: last})
		for range 40 {
			q, a, err := graphtest.Ask[graph.Store](context.Background(), random, model, r.store)
			if err != nil {
				t.Fatal(err)
			}
			if want := strings.ReplaceAll(a[0], "local", "eu"); want != a[1] {
				t.Fatalf("seed %d: %s\nmodel:\n%s\nafter power losses:\n%s", seed, q, a[0], a[1])
			}
		}
		want, _ := model.Applied(context.Background())
		if got := r.node.Status().Mark; got.Revision != want.Revision {
			t.Errorf("seed %d: revision %d after power losses, want %d", seed, got.Revision, want.Revision)
		}
		r.stop()
	}
}

func TestAliasesOfRulesComeAndGoWithTheConfiguration(t *testing.T) {
	fs := vfs.NewMem()
	trino := graph.Name{Kind: graph.DataStoreKind, Region: "eu", Namespace: "trino://host:8080", Name: "hive.shop.orders"}
	hive := graph.Name{Kind: graph.DataStoreKind, Region: "eu", Namespace: "hive://meta:9083", Name: "shop.orders"}
	rules := Rules{Naming: []NamingRule{{Namespace: "trino://host:8080", Prefix: "hive.", ToNamespace: "hive://meta:9083"}}}
	node := func(r *rig, name graph.Name) graph.ID {
		t.Helper()
		_, last := r.log.Bounds()
		r.wait(ingest.Receipt{Region: "eu", Offset: last})
		v, err := r.node.View(context.Background(), graph.At{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = v.Close() }()
		id, err := v.Resolve(context.Background(), name.ID())
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	say := job("j1", 1, "a", "")
	say.Says.Writes = []graph.Dataset{{Name: trino}}
	late := job("j2", 2, "a", "")
	late.Says.Writes = []graph.Dataset{{Name: graph.Name{Kind: graph.DataStoreKind, Region: "eu", Namespace: "trino://host:8080", Name: "hive.shop.items"}}}
	for step, c := range []struct {
		rules Rules
		delta graph.Delta
		want  graph.ID
	}{{Rules{}, say, trino.ID()}, {rules, late, hive.ID()}, {rules, say, hive.ID()}, {Rules{}, say, trino.ID()}, {rules, say, hive.ID()}} {
		r := start(t, fs, "data", Options{Rules: c.rules})
		if err := r.node.ApplyRules(context.Background()); err != nil {
			t.Fatal(err)
		}
		r.append(c.delta)
		if got := node(r, trino); got != c.want {
			t.Errorf("step %d: %s is %s, want %s", step, trino, got, c.want)
		}
		r.stop()
	}
}

func TestRetentionForgetsWhatHasEndedAndKeepsWhatHolds(t *testing.T) {
	r := start(t, vfs.NewMem(), "data", Options{})
	r.wait(r.append(job("j1", 1, "a", "b"), job("j1", 10, "a", "c"), job("gone", 5, "a", "x")))
	at := func(minute int) graph.At {
		return graph.At{AsOf: time.Date(2026, 3, 1, 0, minute, 30, 0, time.UTC)}
	}
	if got := downstream(t, r.node, at(3), "a"); got != "b" {
		t.Fatalf("as of minute 3 a feeds %q, want b", got)
	}
	if err := r.node.SweepOnce(context.Background(), time.Date(2026, 3, 1, 0, 11, 0, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	_, last := r.log.Bounds()
	r.wait(ingest.Receipt{Region: "eu", Offset: last})
	if got := downstream(t, r.node, at(3), "a"); got != "" {
		t.Errorf("after the sweep, as of minute 3, a feeds %q, want nothing", got)
	}
	for _, when := range []graph.At{at(12), {}} {
		got := downstream(t, r.node, when, "a")
		if got != "c x" && got != "x c" {
			t.Errorf("after the sweep a feeds %q, want c and x", got)
		}
	}
}

func TestDeletedJobStopsConnectingAndComesBackWhenItRunsAgain(t *testing.T) {
	r := start(t, vfs.NewMem(), "data", Options{})
	r.wait(r.append(job("j1", 1, "a", "b"), job("j2", 2, "b", "c")))
	if _, err := r.node.Delete(context.Background(), job("j2", 0, "", "").Subject); err != nil {
		t.Fatal(err)
	}
	if got := downstream(t, r.node, graph.At{}, "a"); got != "b" {
		t.Errorf("with j2 deleted a feeds %q, want b", got)
	}
	again := job("j2", 3, "b", "c")
	again.Time = time.Now().Add(time.Second).UnixNano()
	r.wait(r.append(again))
	if got := downstream(t, r.node, graph.At{}, "a"); got != "b c" {
		t.Errorf("after j2 ran again a feeds %q, want b c", got)
	}
	var missing *graph.NotFoundError
	if _, err := r.node.Delete(context.Background(), table("nowhere")); !errors.As(err, &missing) {
		t.Errorf("deleting what is not known: %v", err)
	}
}
