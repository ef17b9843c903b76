package background

import (
	"runtime"
	"syscall"
	"testing"
)

// priority is that of the calling thread as Linux tells it: 20 less its
// niceness.
func priority(t *testing.T) int {
	t.Helper()
	p, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0)
	if err != nil {
		t.Error(err)
	}
	return p
}

// Who is lowered leaves all others as they were: those that it starts, and
// those that come after it.
func TestLoweredIsOneGoroutine(t *testing.T) {
	before := make(chan int)
	go func() { before <- priority(t) }()
	usual := <-before
	if usual < 2*niceness {
		t.Skip("this process is nice itself")
	}
	for range 4 * runtime.GOMAXPROCS(0) {
		lowered, started, after := 0, make(chan int), make(chan int)
		Do(func() {
			go func() { started <- priority(t) }()
			lowered = priority(t)
		})
		go func() { after <- priority(t) }()
		if got := [...]int{lowered, <-started, <-after}; got != [...]int{usual - niceness, usual, usual} {
			t.Fatalf("priorities of what was lowered, what it started, what came after: %v, want %d, %d, %d", got, usual-niceness, usual, usual)
		}
	}
}
