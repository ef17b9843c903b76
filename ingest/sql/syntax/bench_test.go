package syntax

import (
	"runtime"
	"slices"
	"testing"
	"time"
)

// BenchmarkParse reads the whole corpus; median is that of its statements, each
// timed alone.
func BenchmarkParse(b *testing.B) {
	all := samples(b, "corpus.jsonl")
	ds := make([]*Dialect, len(all))
	n, statements := 0, 0
	for i, s := range all {
		ds[i] = Lookup(s.Dialect)
		n += len(s.SQL)
		statements += len(Parse(s.SQL, ds[i]).Statements)
	}
	b.SetBytes(int64(n))
	b.ReportAllocs()
	for b.Loop() {
		for i, s := range all {
			Parse(s.SQL, ds[i])
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(statements), "ns/stmt")
	b.ReportMetric(float64(medianTime(all, ds).Nanoseconds()), "median-ns/stmt")
	b.ReportMetric(float64(medianBytes(all, ds)), "median-B/stmt")
}

func medianTime(all []sample, ds []*Dialect) time.Duration {
	times := make([]time.Duration, len(all))
	for i, s := range all {
		best := time.Hour
		for range 5 {
			start := time.Now()
			Parse(s.SQL, ds[i])
			best = min(best, time.Since(start))
		}
		times[i] = best
	}
	slices.Sort(times)
	return times[len(times)/2]
}

// medianBytes counts what a call allocates, over ten of them.
func medianBytes(all []sample, ds []*Dialect) uint64 {
	sizes := make([]uint64, len(all))
	var before, after runtime.MemStats
	for i, s := range all {
		runtime.ReadMemStats(&before)
		for range 10 {
			Parse(s.SQL, ds[i])
		}
		runtime.ReadMemStats(&after)
		sizes[i] = (after.TotalAlloc - before.TotalAlloc) / 10
	}
	slices.Sort(sizes)
	return sizes[len(sizes)/2]
}
