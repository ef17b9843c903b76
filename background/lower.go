package background

import "runtime"

// niceness is that of threads in the background: an answer has three times
// their share of a core. More would leave what they hold, and the collector,
// which waits for all threads to stand still, to starve on a busy machine.
const niceness = 5

// Lower lets the kernel prefer other threads to the one that runs this
// goroutine, until the goroutine ends: its thread ends with it, since not
// everyone may raise it again. On systems other than Linux it does nothing.
// Goroutines that it starts are not lowered.
func Lower() {
	Working()
	if lowers {
		runtime.LockOSThread()
		lower()
	}
}

// Do calls f on a goroutine that is lowered, and returns when f does; f panics
// in the caller.
func Do(f func()) {
	if !lowers {
		Working()
		f()
		return
	}
	done := make(chan any)
	go func() {
		defer func() { done <- recover() }()
		Lower()
		f()
	}()
	if p := <-done; p != nil {
		panic(p)
	}
}
