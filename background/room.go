package background

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// procs is how many goroutines run at once, at least, while questions and work
// meet: what is applied, written, flushed, compacted, collected and decoded at
// the same time, and one.
const procs = 8

// Room lets Go run more goroutines at once than a machine of few cores has
// cores, while questions are answered and work goes on (Asked, Working). Go
// takes a goroutine that computes off its P after 10 ms, and looks for what came
// over the network only where a P is idle, or every 10 ms: where all are taken an
// answer waits so long for each of its steps. With one to spare the kernel
// chooses, which lets in at once what has slept. For one of the two alone there
// is nothing to choose, and what shares a core with fewer others is done sooner.
//
// It changes nothing where GOMAXPROCS was set, or a container may use less than
// the machine has: what runs on more cores than its share is stopped for long.
func Room() {
	now := runtime.GOMAXPROCS(0)
	if want := room(now, runtime.NumCPU()); want != now {
		process.usual, process.more = now, want
		process.set = func(n int) { runtime.GOMAXPROCS(n) } // ends that Go follows a container's share
		process.open.Store(true)
	}
}

func room(now, cores int) int {
	if now != cores {
		return now
	}
	return max(procs, now)
}

// Asked tells that a question is being answered.
func Asked() { process.note(&process.asked) }

// Working tells that work that nobody waits for is being done.
func Working() { process.note(&process.worked) }

// process is the room of this process.
var process rooms

// A rooms gives room while there is both within the last meets.
type rooms struct {
	open          atomic.Bool // for all the rest
	usual, more   int
	set           func(int)
	asked, worked atomic.Int64 // when last, in nanoseconds since 1970
	given         atomic.Bool
	watching      sync.WaitGroup // for tests
}

const meets = time.Second

func (r *rooms) note(when *atomic.Int64) {
	if !r.open.Load() {
		return
	}
	when.Store(time.Now().UnixNano())
	if !r.given.Load() && r.both() && r.given.CompareAndSwap(false, true) {
		r.watching.Go(r.watch)
	}
}

func (r *rooms) both() bool {
	return time.Since(time.Unix(0, min(r.asked.Load(), r.worked.Load()))) < meets
}

// watch gives room for as long as there is both.
func (r *rooms) watch() {
	r.set(r.more)
	for r.both() {
		time.Sleep(meets)
	}
	r.set(r.usual)
	r.given.Store(false)
}

// Cores returns how many cores Go may use.
func Cores() int { return min(runtime.NumCPU(), runtime.GOMAXPROCS(0)) }
