package graphtest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"headwater/graph"
)

// A Platform is a synthetic data platform: a deterministic function of its
// seed and size. Task i writes table i; the first quarter as many tables
// again are sources that no task writes.
//
// Its distributions are those that were measured on public dbt projects,
// lineage test suites and OpenLineage events: fan-in of tables, columns of a
// table, fan-in of columns. On top it has what breaks lineage systems: hubs
// that thousands read, long chains, diamonds, cycles, very wide tables.
type Platform struct {
	Tasks  int
	Seed   uint64
	Region string
	// Changing is how many of 1,000 tasks change from one run to the next.
	Changing int
	// Narrow gives tables few columns, as public OpenLineage events have them:
	// events (AppendEvent) have 1.3 KB at the median and 6.6 KB at the 99th
	// percentile. Otherwise tables are as wide as in public dbt projects, and
	// events of 4.6 KB.
	Narrow bool
}

// A Task is one task of a platform at one run.
type Task struct {
	Index   int
	Name    string
	Kind    string
	Run     string
	Start   time.Time
	Inputs  []Table
	Output  Table
	Columns []TaskColumn
	// Keys are the columns that join and filter the whole output.
	Keys []TaskSource
}

// A Table is a data store of a platform.
type Table struct {
	Index           int // negative: a source
	Namespace, Name string
	Columns         []string
}

// A TaskColumn is an output column with its sources, each once.
type TaskColumn struct {
	Name    string
	Sources []TaskSource
}

// A TaskSource is a column of the input at index Input.
type TaskSource struct {
	Input  int
	Column string
	Kinds  graph.Kinds
}

// A quantile table: value at a share of the whole.
type quantiles []struct{ share, value float64 }

func (q quantiles) draw(r *rand.Rand) int {
	u := r.Float64()
	for i := 1; i < len(q); i++ {
		if u <= q[i].share {
			a, b := q[i-1], q[i]
			return int(math.Round(a.value + (b.value-a.value)*(u-a.share)/(b.share-a.share)))
		}
	}
	return int(q[len(q)-1].value)
}

var (
	fanIn      = quantiles{{0, 1}, {0.50, 1}, {0.75, 1.4}, {0.90, 3}, {0.95, 6}, {0.99, 10}, {1, 14}}
	tableWidth = quantiles{{0, 1}, {0.50, 11}, {0.75, 18}, {0.90, 29}, {0.95, 36}, {0.99, 62}, {1, 100}}
	columnFan  = quantiles{{0, 1}, {0.88, 1}, {0.95, 2}, {0.99, 3}, {1, 4}}
	// Those of narrow platforms.
	narrowFanIn = quantiles{{0, 1}, {0.85, 1.4}, {0.95, 2}, {0.99, 3}, {1, 5}}
	narrowWidth = quantiles{{0, 1}, {0.40, 1}, {0.65, 2}, {0.80, 4}, {0.92, 7}, {0.96, 11}, {0.99, 23}, {1, 60}}
)

var (
	platformNamespaces = []string{"hive://metastore:9083", "hive://metastore:9083", "hive://metastore:9083", "doris://fe:9030", "kafka://broker:9092"}
	platformKinds      = []string{"HIVE", "SPARK", "SPARK", "FLINK", "TRINO", "DORIS"}
	layers             = []string{"ods", "dwd", "dws", "ads"}
	subjects           = []string{"order", "payment", "user", "item", "click", "refund", "shipment", "coupon", "session", "stock"}
	measures           = []string{"id", "amount", "price", "count", "status", "created_at", "channel", "region", "score", "rate", "name", "type"}
)

// columnNames are those of a table of 1,000 columns; narrower ones have the
// first of them.
var columnNames = func() (names []string) {
	for c := range 1000 {
		name := measures[c%len(measures)]
		if c >= len(measures) {
			name = fmt.Sprintf("%s_%s_%d", subjects[c%len(subjects)], name, c/len(measures))
		}
		names = append(names, name)
	}
	return names
}()

func (p *Platform) rand(index int, stream uint64) *rand.Rand {
	return rand.New(rand.NewPCG(p.Seed, uint64(int64(index))*8+stream))
}

// PlatformNamespaces lists the namespaces of tables of platforms.
func PlatformNamespaces() []string { return slices.Clone(platformNamespaces[:]) }

// Table returns a table by its index, from -Tasks/4 to Tasks-1.
func (p *Platform) Table(i int) Table {
	r := p.rand(i, 0)
	t := Table{Index: i, Namespace: platformNamespaces[r.IntN(len(platformNamespaces))]}
	layer := "src"
	if i >= 0 {
		layer = layers[i*len(layers)/max(1, p.Tasks)]
	}
	subject := subjects[r.IntN(len(subjects))]
	t.Name = fmt.Sprintf("%s.%s_%s_%d", layer, subject, measures[r.IntN(len(measures))], i)
	if i < 0 {
		t.Name = fmt.Sprintf("%s.%s_%d", layer, subject, -i)
	}
	widths := tableWidth
	if p.Narrow {
		widths = narrowWidth
	}
	width := widths.draw(r)
	if r.IntN(2000) == 0 {
		width = len(columnNames)
	}
	t.Columns = columnNames[:width:width]
	return t
}

// input draws a table that task i reads: mostly one that was made shortly
// before, so that chains are long; now and then a hub, any earlier one, a
// source, or, rarely, a later one, which closes a cycle.
func (p *Platform) input(i int, r *rand.Rand) int {
	sources := max(1, p.Tasks/4)
	hubs := max(1, int(math.Sqrt(float64(p.Tasks))/4))
	switch u := r.IntN(1000); {
	case u < 5 && i+1 < p.Tasks:
		return min(p.Tasks-1, i+1+r.IntN(50))
	case u < 120:
		// Zipf-like: the first hub takes the most.
		return -1 - int(float64(hubs)*math.Pow(r.Float64(), 3))
	case u < 320 || i == 0:
		return -1 - r.IntN(sources)
	case u < 450:
		return r.IntN(i)
	}
	return max(0, i-1-int(r.ExpFloat64()*float64(20+p.Tasks/200)))
}

// Task returns task i as it reports at a run, from 0.
func (p *Platform) Task(i, run int) Task {
	r := p.rand(i, 1)
	t := Task{Index: i, Name: fmt.Sprintf("%s_task_%d", subjects[r.IntN(len(subjects))], i), Kind: platformKinds[r.IntN(len(platformKinds))], Output: p.Table(i)}
	t.Run = fmt.Sprintf("%08x-%04x-4000-8000-%012x", uint32(p.Seed), run, i)
	t.Start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(run)*24*time.Hour + time.Duration(i)*time.Millisecond)
	seen := map[int]bool{i: true}
	reads := fanIn
	if p.Narrow {
		reads = narrowFanIn
	}
	for range reads.draw(r) {
		in := p.input(i, r)
		if !seen[in] {
			seen[in] = true
			t.Inputs = append(t.Inputs, p.Table(in))
		}
	}
	if len(t.Inputs) == 0 {
		return t
	}
	kinds := []graph.Kinds{graph.Identity, graph.Identity, graph.Identity, graph.Transformation, graph.Aggregation}
	for _, name := range t.Output.Columns {
		c := TaskColumn{Name: name}
		for range columnFan.draw(r) {
			in := r.IntN(len(t.Inputs))
			columns := t.Inputs[in].Columns
			s := TaskSource{Input: in, Column: columns[r.IntN(len(columns))], Kinds: kinds[r.IntN(len(kinds))]}
			c.add(s)
		}
		t.Columns = append(t.Columns, c)
	}
	for in := range t.Inputs {
		kind := graph.Filter
		switch {
		case len(t.Inputs) > 1:
			kind = graph.Join
		case p.Narrow && r.IntN(4) > 0:
			continue
		}
		t.Keys = append(t.Keys, TaskSource{Input: in, Column: t.Inputs[in].Columns[0], Kinds: kind})
	}
	p.change(&t, run, seen)
	return t
}

// change makes of a task what it is since it last changed, if it did by a run:
// it reads one table more, and takes one to three of its columns also from it.
// What an earlier change had added is gone.
func (p *Platform) change(t *Task, run int, seen map[int]bool) {
	for run > 0 && p.rand(t.Index, 2+uint64(run)*4).IntN(1000) >= p.Changing {
		run--
	}
	if run == 0 {
		return
	}
	r := p.rand(t.Index, 3+uint64(run)*4)
	i := p.input(t.Index, r)
	for seen[i] {
		i = -1 - r.IntN(max(len(seen)+1, p.Tasks/4))
	}
	in := p.Table(i)
	t.Inputs = append(t.Inputs, in)
	t.Keys = append(t.Keys, TaskSource{Input: len(t.Inputs) - 1, Column: in.Columns[0], Kinds: graph.Join})
	first, n := r.IntN(len(t.Columns)), 1+r.IntN(3)
	for c := range min(n, len(t.Columns)) {
		t.Columns[(first+c)%len(t.Columns)].add(TaskSource{Input: len(t.Inputs) - 1, Column: in.Columns[r.IntN(len(in.Columns))], Kinds: graph.Identity})
	}
}

// add adds a source, or what it is for to the one that is there.
func (c *TaskColumn) add(s TaskSource) {
	at := slices.IndexFunc(c.Sources, func(x TaskSource) bool { return x.Input == s.Input && x.Column == s.Column })
	if at < 0 {
		c.Sources = append(c.Sources, s)
	} else {
		c.Sources[at].Kinds |= s.Kinds
	}
}

// Delta returns what task i says at a run, complete.
func (p *Platform) Delta(i, run int) graph.Delta {
	t := p.Task(i, run)
	store := func(t Table) graph.Name {
		return graph.Name{Kind: graph.DataStoreKind, Region: p.Region, Namespace: t.Namespace, Name: t.Name}
	}
	source := func(s TaskSource) graph.Source {
		return graph.Source{Name: store(t.Inputs[s.Input]).Of(s.Column), Kinds: s.Kinds}
	}
	d := graph.Delta{
		Subject: graph.Name{Kind: graph.ProcessKind, Region: p.Region, Namespace: "scheduler", Name: t.Name},
		Origin:  "openlineage", Run: t.Run, State: graph.Completed, Time: t.Start.UnixNano(),
	}
	d.Says.Facts.Kind = t.Kind
	for _, in := range t.Inputs {
		d.Says.Reads = append(d.Says.Reads, graph.Dataset{Name: store(in)})
	}
	out := graph.Dataset{Name: store(t.Output), Lineage: &graph.Lineage{}}
	for n, c := range t.Output.Columns {
		out.Facts.Columns = append(out.Facts.Columns, graph.Field{Path: c, Type: "string", Ordinal: n + 1})
	}
	for _, c := range t.Columns {
		l := graph.ColumnLineage{Column: c.Name}
		for _, s := range c.Sources {
			l.Inputs = append(l.Inputs, source(s))
		}
		out.Lineage.Columns = append(out.Lineage.Columns, l)
	}
	for _, k := range t.Keys {
		out.Lineage.Inputs = append(out.Lineage.Inputs, source(k))
	}
	d.Says.Writes = []graph.Dataset{out}
	return d
}
