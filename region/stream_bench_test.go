package region

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"headwater/graph"
	"headwater/graph/graphtest"
	"headwater/graph/pebble"
	"headwater/ingest"
	"headwater/region/bus"
	"headwater/region/bus/embedded"
	"headwater/region/log"
)

// BenchmarkStreamCost applies the tasks of a platform, new and unchanged, with
// the change stream and without.
func BenchmarkStreamCost(b *testing.B) {
	p := &graphtest.Platform{Tasks: 10_000, Seed: 1, Region: "eu", Narrow: true}
	for _, stream := range []bool{false, true} {
		for _, kind := range []string{"new", "changing"} {
			b.Run(fmt.Sprintf("%s/stream=%v", kind, stream), func(b *testing.B) {
				var cpu time.Duration
				var bytes, entries int
				for b.Loop() {
					b.StopTimer()
					p := *p
					first, second := eventsOf(&p, 0), [][]graph.Delta(nil)
					if kind == "changing" {
						p.Changing = 1000
						second = eventsOf(&p, 1)
					}
					dir := b.TempDir()
					store, node, stop := benchNode(b, dir, stream)
					if second != nil {
						applyAll(b, node, first)
						first = second
					}
					before := processorTime()
					b.StartTimer()
					applyAll(b, node, first)
					b.StopTimer()
					cpu += processorTime() - before
					for e := range store.Stream(context.Background(), 0) {
						bytes += len(e.Value)
						entries++
					}
					stop()
					b.StartTimer()
				}
				per := float64(b.N * p.Tasks)
				b.ReportMetric(float64(b.Elapsed().Microseconds())/per, "µs/task")
				b.ReportMetric(float64(cpu.Microseconds())/per, "cpu-µs/task")
				b.ReportMetric(float64(bytes)/float64(max(entries, 1)), "B/entry")
			})
		}
	}
}

func eventsOf(p *graphtest.Platform, run int) [][]graph.Delta {
	events := make([][]graph.Delta, p.Tasks)
	for i := range events {
		events[i] = []graph.Delta{p.Delta(i, run)}
	}
	return events
}

func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// benchNode runs a node on disk, whose store keeps the stream or seems not to.
func benchNode(b *testing.B, dir string, stream bool) (*pebble.Store, *Node, func()) {
	b.Helper()
	store, err := pebble.Open(filepath.Join(dir, "graph"), pebble.Options{Region: "eu", Log: quietLog})
	if err != nil {
		b.Fatal(err)
	}
	l, err := log.Open(filepath.Join(dir, "log"), log.Options{Log: quietLog})
	if err != nil {
		b.Fatal(err)
	}
	var s graph.Store = store
	if !stream {
		s = still{store, store}
	}
	node, err := New(s, l, Options{Region: "eu", Dir: dir, MinFree: -1, Log: quietLog})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- node.Run(ctx) }()
	return store, node, func() {
		cancel()
		if err := errors.Join(<-done, l.Close(), store.Close()); err != nil {
			b.Error(err)
		}
	}
}

func applyAll(b *testing.B, n *Node, events [][]graph.Delta) {
	b.Helper()
	var last ingest.Receipt
	var err error
	for part := range slices.Chunk(events, 500) {
		if last, err = n.Append(context.Background(), part); err != nil {
			b.Fatal(err)
		}
	}
	if err := n.WaitApplied(context.Background(), last); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkFreshness appends 1,000 events a second, each of which changes
// something, and takes the time from the acknowledgement of each to where a
// follower has its entry, in process and over HTTP. An iteration is a second.
func BenchmarkFreshness(b *testing.B) {
	const rate = 1000
	for _, how := range []string{"process", "http"} {
		b.Run(how, func(b *testing.B) {
			r := start(b, vfs.Default, b.TempDir(), Options{})
			stream := r.stream()
			if how == "http" {
				s := httptest.NewServer(embedded.Handler(stream, slog.New(slog.DiscardHandler)))
				defer s.Close()
				defer s.CloseClientConnections()
				stream = &embedded.Client{URL: s.URL, HTTP: s.Client()}
			}
			var mu sync.Mutex
			acked := map[uint64]time.Time{}
			came := map[uint64]time.Time{}
			ctx, cancel := context.WithCancel(context.Background())
			done := make(chan error, 1)
			go func() {
				done <- stream.Follow(ctx, bus.Cursor{}, bus.Filter{All: true}, func(entries []bus.Entry) error {
					now := time.Now()
					mu.Lock()
					defer mu.Unlock()
					for i := range entries {
						if !entries[i].Beat {
							came[entries[i].Mark.Position] = now
						}
					}
					return nil
				})
			}()
			n := 0
			began := time.Now()
			var wg sync.WaitGroup
			for b.Loop() {
				for range rate {
					n++
					time.Sleep(time.Until(began.Add(time.Duration(n) * time.Second / rate)))
					d := job(fmt.Sprint("j", n), 1, fmt.Sprint("a", n%500), fmt.Sprint("b", n))
					wg.Go(func() {
						receipt, err := r.node.Append(context.Background(), [][]graph.Delta{{d}})
						if err != nil {
							b.Error(err)
						}
						mu.Lock()
						defer mu.Unlock()
						acked[receipt.Offset] = time.Now()
					})
				}
				wg.Wait()
			}
			r.wait(ingest.Receipt{Region: "eu", Offset: uint64(n)})
			for missing := 1; missing > 0; time.Sleep(time.Millisecond) {
				mu.Lock()
				missing = n - len(came)
				mu.Unlock()
			}
			cancel()
			<-done
			var late []time.Duration
			for offset, at := range acked {
				late = append(late, came[offset].Sub(at))
			}
			slices.Sort(late)
			for _, q := range []int{50, 99} {
				b.ReportMetric(float64(late[len(late)*q/100].Microseconds())/1000, fmt.Sprintf("p%d-ms", q))
			}
			b.ReportMetric(float64(late[len(late)-1].Microseconds())/1000, "max-ms")
		})
	}
}
