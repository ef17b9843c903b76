package nebula

import (
	"fmt"
	"testing"

	"headwater/graph"
	"headwater/graph/graphtest"
)

// platformTasks is how many tasks the platform of the tests below has.
const platformTasks = 600

// openPlatform opens a store that holds a platform's tasks after a run.
func openPlatform(t testing.TB, m mode) (*tested, *graphtest.Platform) {
	t.Helper()
	p := openTestedWith(t, m, func(o *Options) { o.HubRows = 10_000 })
	platform := &graphtest.Platform{Tasks: platformTasks, Seed: 1, Region: "local", Narrow: true}
	for from := 0; from < platformTasks; from += 200 {
		feedRun(t, p.s, platform, from, from+200, 0)
	}
	return p, platform
}

// feedRun applies what tasks say at a run, as one batch, planned as a region
// does.
func feedRun(t testing.TB, s graph.Store, p *graphtest.Platform, from, to, run int) {
	t.Helper()
	var deltas []*graph.Delta
	for i := from; i < to; i++ {
		d := p.Delta(i, run)
		deltas = append(deltas, &d)
	}
	mark, err := s.Applied(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	state := graph.NewState()
	if err := graph.LoadFor(t.Context(), s, state, deltas...); err != nil {
		t.Fatal(err)
	}
	b := graph.Batch{Region: "local", Mark: graph.Mark{Position: mark.Position + 1, Revision: mark.Revision}}
	for _, d := range deltas {
		p, err := graph.LoadAndPlan(t.Context(), s, state, d)
		if err != nil {
			t.Fatal(err)
		}
		b.Add(p)
	}
	if err := s.Apply(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

// walk walks from a table of the platform and returns how many nodes there
// were and how many statements it took.
func walk(t testing.TB, p *tested, table graphtest.Table, g graph.Granularity, depth int) (nodes int, statements uint64) {
	t.Helper()
	v, err := p.s.View(t.Context(), graph.At{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	}()
	root := graph.Name{Kind: graph.DataStoreKind, Region: "local", Namespace: table.Namespace, Name: table.Name}
	before := p.s.Counts().Statements
	sum, err := graph.Walk(t.Context(), v, []graph.Seed{{ID: root.ID()}}, graph.WalkOptions{Direction: graph.Upstream, Granularity: g, Depth: depth}, func(graph.Reached) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return sum.Nodes, p.s.Counts().Statements - before
}

func TestAWalkSendsOneStatementALevel(t *testing.T) {
	p, platform := openPlatform(t, modes["neither"])
	for depth := range 12 {
		for i := range 10 {
			table := platform.Table(platformTasks - 1 - 13*i)
			if nodes, n := walk(t, p, table, graph.DataStores, depth); n > uint64(depth+1) {
				t.Errorf("%d statements for %d tables within %d hops", n, nodes, depth)
			}
			// What flows by table alone is asked for besides, where there is any.
			if nodes, n := walk(t, p, table, graph.Columns, depth); n > uint64(2*depth+1) {
				t.Errorf("%d statements for %d columns within %d hops", n, nodes, depth)
			}
		}
	}
}

// details reads 300 nodes.
func details(t testing.TB, p *tested, platform *graphtest.Platform) (statements uint64) {
	t.Helper()
	var ids []graph.ID
	for i := range 300 {
		table := platform.Table(i)
		ids = append(ids, graph.Name{Kind: graph.DataStoreKind, Region: "local", Namespace: table.Namespace, Name: table.Name}.ID())
	}
	v, err := p.s.View(t.Context(), graph.At{})
	if err != nil {
		t.Fatal(err)
	}
	before, n := p.s.Counts().Statements, 0
	if _, err := v.Nodes(t.Context(), ids, graph.WantColumns|graph.WantSeen|graph.WantPartitions, func(graph.Node) error { n++; return nil }); err != nil || n != len(ids) {
		t.Fatalf("%v: %d of %d nodes", err, n, len(ids))
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	return p.s.Counts().Statements - before
}

func TestNodesAreReadTogether(t *testing.T) {
	p, platform := openPlatform(t, modes["neither"])
	if n := details(t, p, platform); n > 9 {
		t.Errorf("%d statements for what is known of 300 tables", n)
	}
}

func TestAnUpdateSendsFewStatements(t *testing.T) {
	p, platform := openPlatform(t, modes["topology"])
	changing := *platform
	changing.Changing = 1000
	for name, update := range map[string]func(run int){
		"a task again":        func(run int) { feedRun(t, p.s, platform, 7, 8, run) },
		"a task that changed": func(run int) { feedRun(t, p.s, &changing, 8, 9, run) },
		"200 that changed":    func(run int) { feedRun(t, p.s, &changing, 200, 400, run) },
	} {
		for run := 1; run < 4; run++ {
			before := p.s.Counts().Statements
			update(run)
			// To read: a record, what it said, who spoke and who wrote. To write: the
			// rows, and what was taken away before.
			if n := p.s.Counts().Statements - before; n > 6 {
				t.Errorf("%s: %d statements", name, n)
			}
		}
	}
}

// BenchmarkStatements tells how many statements walks and updates take.
func BenchmarkStatements(b *testing.B) {
	for _, name := range []string{"neither", "cache", "topology"} {
		m := modes[name]
		if m.cache > 0 {
			m.cache = 64 << 20
		}
		p, platform := openPlatform(b, m)
		for _, g := range []graph.Granularity{graph.DataStores, graph.Columns} {
			for _, depth := range []int{1, 3, 10} {
				b.Run(fmt.Sprintf("%s/%s/depth=%d", name, map[graph.Granularity]string{graph.DataStores: "datastore", graph.Columns: "column"}[g], depth), func(b *testing.B) {
					nodes, statements, i := 0, uint64(0), 0
					for b.Loop() {
						n, s := walk(b, p, platform.Table(platformTasks-1-(i*7)%100), g, depth)
						nodes, statements, i = nodes+n, statements+s, i+1
					}
					b.ReportMetric(float64(statements)/float64(i), "statements/walk")
					b.ReportMetric(float64(nodes)/float64(i), "nodes/walk")
				})
			}
		}
		changing := *platform
		changing.Changing = 1000
		for _, tasks := range []int{1, 200} {
			b.Run(fmt.Sprintf("%s/update/tasks=%d", name, tasks), func(b *testing.B) {
				run, before := 1, p.s.Counts().Statements
				for b.Loop() {
					feedRun(b, p.s, &changing, 100, 100+tasks, run)
					run++
				}
				b.ReportMetric(float64(p.s.Counts().Statements-before)/float64(run-1), "statements/batch")
			})
		}
	}
}
