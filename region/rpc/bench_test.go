package rpc

import (
	"bytes"
	"context"
	"io"
	"math"
	"net/http"
	"slices"
	"syscall"
	"testing"

	"headwater/graph"
	"headwater/graph/graphtest"
	"headwater/graph/pebble"
)

// platform returns a store of a generated platform of 3,000 tasks.
func platform(b *testing.B) (*pebble.Store, *graphtest.Platform) {
	b.Helper()
	s, err := pebble.Open(b.TempDir(), pebble.Options{Region: "eu"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
	p := &graphtest.Platform{Tasks: 3000, Seed: 1, Region: "eu"}
	deltas := make([]graph.Delta, p.Tasks)
	for i := range deltas {
		deltas[i] = p.Delta(i, 0)
	}
	for part := range slices.Chunk(deltas, 500) {
		graphtest.Feed(b, s, part...)
	}
	return s, p
}

// processor reports how much time of the processors an iteration takes, on both
// sides: unlike what a clock says, it is the same on a machine that is busy.
func processor(b *testing.B) func() {
	now := func() int64 {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return u.Utime.Nano() + u.Stime.Nano()
	}
	began := now()
	return func() { b.ReportMetric(float64(now()-began)/float64(b.N)/1000, "cpu-µs/op") }
}

func hopsOf(l *graph.Leg) (n int) {
	for i := range l.Lists {
		n += len(l.Lists[i].Hops)
	}
	return n
}

// legOf returns a question whose leg has near to so many hops, and the leg.
func legOf(b *testing.B, s graph.Reader, p *graphtest.Platform, granularity graph.Granularity, hops int) (best graph.LegQuestion, leg *graph.Leg) {
	b.Helper()
	v, err := s.View(b.Context(), graph.At{})
	if err != nil {
		b.Fatal(err)
	}
	nearest := math.MaxInt
	for i := 0; i < p.Tasks; i += 20 {
		for depth := 1; depth <= 8; depth++ {
			t := p.Table(i)
			q := graph.LegQuestion{Granularity: granularity, Depth: depth, Direction: graph.Both}
			q.Root = graph.Name{Kind: graph.DataStoreKind, Region: "eu", Namespace: t.Namespace, Name: t.Name}.ID()
			l, err := graph.WalkLeg(b.Context(), v, q, graph.LegTaker{})
			if err != nil {
				b.Fatal(err)
			}
			n := hopsOf(l)
			if far := max(n, hops) - min(n, hops); far < nearest {
				nearest, best, leg = far, q, l
			}
			if n > hops {
				break
			}
		}
	}
	if err := v.Close(); err != nil {
		b.Fatal(err)
	}
	return best, leg
}

var granularities = map[string]graph.Granularity{"tables": graph.DataStores, "columns": graph.Columns}

// BenchmarkLegForm writes and reads legs of some 10,000 hops, without a
// network. bytes/hop is with ids and all; the last is as it is sent.
func BenchmarkLegForm(b *testing.B) {
	s, p := platform(b)
	f := &frames{defaultMaxFrame}
	for name, granularity := range granularities {
		_, leg := legOf(b, s, p, granularity, 10_000)
		hops := float64(hopsOf(leg))
		var plain, sent [][]byte
		write := func(compress bool) {
			var items coder
			plain, sent = plain[:0], sent[:0]
			if err := newLegWriter(func(code func(*coder)) error {
				code(&items)
				if len(items.b) > fullFrame {
					plain = append(plain, items.b)
					items.b = nil
				}
				return nil
			}).found(leg); err != nil {
				b.Fatal(err)
			}
			plain = append(plain, items.b)
			if !compress {
				return
			}
			for _, payload := range plain {
				frame, err := f.append(nil, frameItems, payload)
				if err != nil {
					b.Fatal(err)
				}
				sent = append(sent, frame)
			}
		}
		size := func(frames [][]byte) (n float64) {
			for _, frame := range frames {
				n += float64(len(frame))
			}
			return n / hops
		}
		read := func() {
			r := legReader{most: math.MaxInt}
			for _, payload := range plain {
				if err := r.read(payload); err != nil {
					b.Fatal(err)
				}
			}
			if hopsOf(&r.leg) != int(hops) {
				b.Fatal("hops are missing")
			}
		}
		for step, do := range map[string]func(){"write": func() { write(false) }, "write and compress": func() { write(true) }, "read": read} {
			write(true)
			b.Run(name+"/"+step, func(b *testing.B) {
				defer processor(b)()
				for b.Loop() {
					do()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/hops, "ns/hop")
				b.ReportMetric(size(plain), "bytes/hop")
				if len(sent) > 0 {
					b.ReportMetric(size(sent), "sent-bytes/hop")
				}
				b.ReportMetric(hops/float64(len(leg.IDs)), "hops/node")
			})
		}
	}
}

// BenchmarkLoopback asks over the loopback: one small question, next to a
// request that does nothing, and legs of some 10,000 hops, which the region
// walks each time or has at hand.
func BenchmarkLoopback(b *testing.B) {
	s, p := platform(b)
	c, _ := connect(b, HandlerOptions{Reader: s})
	id := graph.ID{1}
	b.Run("resolve", func(b *testing.B) {
		v := open(b, c)
		defer processor(b)()
		for b.Loop() {
			if _, err := v.Resolve(b.Context(), id); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("net/http alone", func(b *testing.B) {
		echo := newClient(b, ClientOptions{}, listen(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }), nil))
		defer processor(b)()
		for b.Loop() {
			r, err := http.NewRequest(http.MethodPost, "http://"+echo.o.Addresses[0], bytes.NewReader(make([]byte, 80)))
			if err != nil {
				b.Fatal(err)
			}
			res, err := echo.http.RoundTrip(r)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, res.Body); err != nil {
				b.Fatal(err)
			}
			if err := res.Body.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("view, resolve, close", func(b *testing.B) {
		defer processor(b)()
		for b.Loop() {
			v, err := c.View(b.Context(), graph.At{})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := v.Resolve(b.Context(), id); err != nil {
				b.Fatal(err)
			}
			if err := v.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
	for name, granularity := range granularities {
		q, leg := legOf(b, s, p, granularity, 10_000)
		ready, _ := connect(b, HandlerOptions{Reader: of(&fake{leg: func(context.Context, graph.LegQuestion) (*graph.Leg, error) { return leg, nil }})})
		near, err := s.View(b.Context(), graph.At{})
		if err != nil {
			b.Fatal(err)
		}
		for way, view := range map[string]func(b *testing.B) graph.LegView{
			"walked here":           func(*testing.B) graph.LegView { return walker{near} },
			"walked there and sent": func(b *testing.B) graph.LegView { return open(b, c) },
			"sent":                  func(b *testing.B) graph.LegView { return open(b, ready) },
		} {
			b.Run("leg of "+name+"/"+way, func(b *testing.B) {
				v := view(b)
				defer processor(b)()
				for b.Loop() {
					l, err := v.Leg(b.Context(), q, graph.LegTaker{})
					if err != nil {
						b.Fatal(err)
					}
					if n := hopsOf(l); n != hopsOf(leg) {
						b.Fatalf("%d hops", n)
					}
				}
				b.ReportMetric(float64(hopsOf(leg)), "hops")
			})
		}
		if err := near.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
