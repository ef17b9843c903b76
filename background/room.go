package background

import "runtime"

// procs is how many goroutines run at once, at least: what is applied, written,
// flushed, compacted, collected and decoded at the same time, and one.
const procs = 8

// Room lets Go run more goroutines at once than a machine of few cores has
// cores. Go takes a goroutine that computes off its P after 10 ms, and looks
// for what came over the network only where a P is idle, or every 10 ms: where
// all are taken an answer waits so long for each of its steps. With one to
// spare the kernel chooses, which lets in at once what has slept.
//
// It changes nothing where GOMAXPROCS was set, or a container may use less than
// the machine has: what runs on more cores than its share is stopped for long.
func Room() {
	now := runtime.GOMAXPROCS(0)
	if want := room(now, runtime.NumCPU()); want != now { // setting it ends that Go follows a container's share
		runtime.GOMAXPROCS(want)
	}
}

func room(now, cores int) int {
	if now != cores {
		return now
	}
	return max(procs, now)
}

// Cores returns how many cores Go may use.
func Cores() int { return min(runtime.NumCPU(), runtime.GOMAXPROCS(0)) }
