package log

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"headwater/graph"
)

func TestPowerLossKeepsAcknowledgedEntriesAndNoneIsHalf(t *testing.T) {
	for seed := range uint64(15) {
		random := rand.New(rand.NewPCG(seed, 1))
		fs := vfs.NewCrashableMem()
		acknowledged := map[uint64]string{} // job by offset; each append has two
		for life := range 4 {
			l := open(t, fs)
			first, last := l.Bounds()
			held := map[uint64]string{}
			for i, e := range strings.Fields(read(t, l, first)) {
				offset, job := first+uint64(i), ""
				if _, err := fmt.Sscanf(e, "%d:%s", &offset, &job); err != nil || offset != first+uint64(i) {
					t.Fatalf("seed %d, life %d: %s, %v, stands at %d", seed, life, e, err, first+uint64(i))
				}
				held[offset] = job
			}
			for offset, job := range acknowledged {
				if offset >= first && held[offset] != job || offset > last {
					t.Fatalf("seed %d, life %d: %q stands at %d, where %q was acknowledged", seed, life, held[offset], offset, job)
				}
			}
			if last%2 != 0 || held[last] != "" && held[last] != held[last-1]+"x" {
				t.Fatalf("seed %d, life %d: half an append stands at %d: %q, %q", seed, life, last, held[last-1], held[last])
			}

			var mu sync.Mutex // guards left, after, acknowledged
			var after *vfs.MemFS
			left := 1 + random.IntN(30)
			clone := vfs.CrashCloneCfg{UnsyncedDataPercent: random.IntN(101), RNG: rand.New(rand.NewPCG(seed, uint64(life)))}
			var wg sync.WaitGroup
			for w := range 6 {
				wg.Go(func() {
					for i := range 6 {
						job := fmt.Sprintf("%d_%d_%d", life, w, i)
						offset, err := l.Append(context.Background(), [][]graph.Delta{event(job), event(job + "x")})
						if err != nil {
							t.Error(err)
							return
						}
						mu.Lock()
						if after == nil {
							acknowledged[offset-1], acknowledged[offset] = job, job+"x"
						}
						// The lights go out while others are appending.
						if left--; left == 0 {
							after = fs.CrashClone(clone)
						}
						mu.Unlock()
					}
				})
			}
			if random.IntN(2) == 0 {
				if err := l.Trim(uint64(random.IntN(int(last) + 1))); err != nil {
					t.Fatal(err)
				}
			}
			wg.Wait()
			closed(t, l)
			fs = after
		}
	}
}

func TestPowerLossKeepsDeadLettersAndWhatIsKept(t *testing.T) {
	fs := vfs.NewCrashableMem()
	l := open(t, fs)
	add(t, l, "a")
	if err := l.Bury(DeadLetter{Offset: 1, Index: 0, Reason: "injected", Delta: event("a")[0]}); err != nil {
		t.Fatal(err)
	}
	if err := l.Keep("rules", []byte("kept")); err != nil {
		t.Fatal(err)
	}
	after := fs.CrashClone(vfs.CrashCloneCfg{})
	closed(t, l)
	l = open(t, after)
	if d, err := l.DeadByID("1.0"); err != nil || d.Reason != "injected" {
		t.Errorf("%+v, %v", d, err)
	}
	if got, err := l.Kept("rules"); err != nil || string(got) != "kept" {
		t.Errorf("kept %q, %v", got, err)
	}
}
