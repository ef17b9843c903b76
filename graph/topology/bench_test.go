package topology

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"headwater/graph"
)

// flowsPerTask is how many flows a task of the benchmarks has between columns,
// and batchTasks how many tasks a batch has.
const flowsPerTask, batchTasks = 20, 50

// task makes the change of a task that is new: it makes a table from the one
// of the task before, column by column.
func task(m *maker, i int) graph.Change {
	from, to := storeName(i), storeName(i+1)
	rows := map[graph.Row][]graph.Target{}
	for c := range flowsPerTask {
		column := fmt.Sprint("column_", c)
		m.flow(rows, graph.ColumnLayer, from.Of(column).ID(), to.Of(column).ID(), graph.Identity, false)
	}
	return (&maker{said: map[graph.Key]map[graph.Row][]graph.Target{}}).says(graph.Key{Subject: processName(i).ID(), Origin: "a"}, rows)
}

func report(b *testing.B, top *Topology, flows int) {
	s := top.Stats()
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(flows), "ns/flow")
	b.ReportMetric(float64(s.FlowBytes)/float64(flows), "bytes/flow")
	b.ReportMetric(float64(s.NodeBytes)/float64(s.DataStores+s.Columns+s.Processes+s.Hubs), "bytes/node")
}

func publish(b *testing.B, top *Topology) {
	if err := top.Publish(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkNewFlows: each iteration is a batch of tasks that are new.
func BenchmarkNewFlows(b *testing.B) {
	m, top := newMaker(1, 1, 1), New()
	n := 0
	for b.Loop() {
		b.StopTimer()
		changes := make([]graph.Change, batchTasks)
		for i := range changes {
			changes[i] = task(m, n)
			n++
		}
		b.StartTimer()
		for i := range changes {
			top.Change(&changes[i])
		}
		publish(b, top)
	}
	report(b, top, n*flowsPerTask)
}

// BenchmarkHub: each iteration is one more flow of a hub that has so many, and
// a batch of its own.
func BenchmarkHub(b *testing.B) {
	for _, size := range []int{1000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			top, hub := New(), storeName(-1).ID()
			for i := range size {
				c := appendTo(hub, i, false)
				top.Change(&c)
			}
			publish(b, top)
			n := size
			for b.Loop() {
				c := appendTo(hub, n, false)
				top.Change(&c)
				publish(b, top)
				n++
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n-size), "ns/flow")
		})
	}
}

// tasks is a topology of many tasks, of so many flows.
func tasks(b *testing.B) (*Topology, int) {
	const n = 5000
	m, top := newMaker(1, 1, 1), New()
	for i := range n {
		c := task(m, i)
		if top.Change(&c); i%batchTasks == 0 {
			publish(b, top)
		}
	}
	publish(b, top)
	return top, n * flowsPerTask
}

func BenchmarkSave(b *testing.B) {
	top, flows := tasks(b)
	v := top.View()
	defer v.Release()
	n := 0
	for b.Loop() {
		if err := v.Save(io.Discard, "eu", savedAt); err != nil {
			b.Fatal(err)
		}
		n++
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n*flows), "ns/flow")
}

func BenchmarkLoad(b *testing.B) {
	top, flows := tasks(b)
	v := top.View()
	defer v.Release()
	var file bytes.Buffer
	if err := v.Save(&file, "eu", savedAt); err != nil {
		b.Fatal(err)
	}
	n := 0
	for b.Loop() {
		if _, _, err := Load(bytes.NewReader(file.Bytes()), "eu"); err != nil {
			b.Fatal(err)
		}
		n++
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n*flows), "ns/flow")
	b.ReportMetric(float64(file.Len())/float64(flows), "bytes/flow")
}
