package main

import (
	"bytes"
	"context"
	"flag"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"headwater/graph/graphtest"
	"headwater/ingest"
)

var (
	ingestTasks = flag.Int("ingest.tasks", 50_000, "how many tasks BenchmarkIngestHTTP reports")
	ingestWide  = flag.Bool("ingest.wide", false, "BenchmarkIngestHTTP reports tasks of 25 columns, not of public size")
)

// BenchmarkIngestHTTP posts the runs of a platform to a server, over loopback
// and with all syncs, as batches from several clients at once: tasks that are
// new, that re-run unchanged, that all change. It tells how many events a
// second were acknowledged, and how many were applied, until the last was; the
// processor time of server and clients together; events for each sync of the
// log; and by how many bytes an event the store grew. Before the unchanged
// runs that are measured there are as many as a record keeps.
func BenchmarkIngestHTTP(b *testing.B) {
	b.Run("new", func(b *testing.B) {
		var m intake
		for b.Loop() {
			b.StopTimer()
			s, bodies := newIntake(b), intakeBodies(0, 0)
			b.StartTimer()
			m.measure(b, s, bodies)
			b.StopTimer()
			s.stop()
			b.StartTimer()
		}
		m.report(b)
	})
	b.Run("unchanged", func(b *testing.B) { benchmarkReruns(b, 18, 0) })
	b.Run("changing", func(b *testing.B) { benchmarkReruns(b, 1, 1000) })
}

func benchmarkReruns(b *testing.B, first, changing int) {
	s := newIntake(b)
	defer s.stop()
	for run := range first {
		new(intake).measure(b, s, intakeBodies(run, 0))
	}
	var m intake
	run := first
	for b.Loop() {
		b.StopTimer()
		bodies := intakeBodies(run, changing)
		b.StartTimer()
		m.measure(b, s, bodies)
		run++
	}
	m.report(b)
}

const eventsOfBody = 250

// intakeBodies are the events of one run, in batches.
func intakeBodies(run, changing int) (bodies [][]byte) {
	p := graphtest.Platform{Tasks: *ingestTasks, Seed: 1, Narrow: !*ingestWide, Changing: changing}
	for i := 0; i < p.Tasks; {
		body := []byte{'['}
		for n := 0; n < eventsOfBody && i < p.Tasks; n, i = n+1, i+1 {
			if n > 0 {
				body = append(body, ',')
			}
			body = graphtest.AppendEvent(body, p.Task(i, run))
		}
		bodies = append(bodies, append(body, ']'))
	}
	return bodies
}

// An intakeServer is a server in this process.
type intakeServer struct {
	*server
	url  string
	stop func()
}

func newIntake(b *testing.B) *intakeServer {
	b.Helper()
	c := defaultConfig()
	c.Listen, c.Data, c.MinFree = "127.0.0.1:0", b.TempDir(), -1
	s, err := open(b.Context(), c, slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	up, done := make(chan string, 1), make(chan error, 1)
	go func() { done <- s.run(ctx, func(url string) { up <- url }) }()
	return &intakeServer{s, <-up, func() {
		cancel()
		if err := <-done; err != nil {
			b.Errorf("stop the server: %v", err)
		}
	}}
}

// An intake adds up what was measured.
type intake struct {
	events, syncs, grown       float64
	acknowledged, applied, cpu time.Duration
}

func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func (m *intake) measure(b *testing.B, s *intakeServer, bodies [][]byte) {
	b.Helper()
	const clients = 4
	start, cpu := time.Now(), processorTime()
	syncs, last, disk := s.queue.Syncs(), s.node.Status().Last, s.store.DiskBytes()
	var next atomic.Int64
	var sending sync.WaitGroup
	for range clients {
		sending.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(bodies)); i = next.Add(1) - 1 {
				for !accepted(b, s.url, bodies[i]) {
					time.Sleep(10 * time.Millisecond) // it was refused for load
				}
			}
		})
	}
	sending.Wait()
	m.acknowledged += time.Since(start)
	now := s.node.Status().Last
	if err := s.node.WaitApplied(context.Background(), ingest.Receipt{Region: s.c.Region, Offset: now}); err != nil {
		b.Fatal(err)
	}
	m.applied += time.Since(start)
	m.cpu += processorTime() - cpu
	m.events += float64(now - last)
	m.syncs += float64(s.queue.Syncs() - syncs)
	m.grown += float64(s.store.DiskBytes()) - float64(disk)
	if n := s.node.Stats.Dead.Load(); n > 0 {
		b.Fatalf("%d dead letters", n)
	}
}

func accepted(b *testing.B, url string, body []byte) bool {
	res, err := http.Post(url+"/api/v1/lineage/batch", "application/json", bytes.NewReader(body))
	if err != nil {
		b.Error(err)
		return true
	}
	_, _ = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK && res.StatusCode != http.StatusServiceUnavailable {
		b.Errorf("a batch was answered %s", res.Status)
	}
	return res.StatusCode != http.StatusServiceUnavailable
}

func (m *intake) report(b *testing.B) {
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(m.events/m.acknowledged.Seconds(), "acknowledged/s")
	b.ReportMetric(m.events/m.applied.Seconds(), "applied/s")
	b.ReportMetric(float64(m.cpu.Microseconds())/m.events, "cpu-µs/event")
	b.ReportMetric(m.events/m.syncs, "events/sync")
	b.ReportMetric(m.grown/m.events, "grown-B/event")
}
