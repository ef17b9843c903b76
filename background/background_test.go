package background

import (
	"errors"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Answers find a P of their own on few cores; more than a machine or its
// container gives are not taken.
func TestRoomIsMadeOnFewCores(t *testing.T) {
	for _, c := range []struct{ now, cores, want int }{
		{1, 1, 8}, {2, 2, 8}, {8, 8, 8}, {64, 64, 64},
		{2, 32, 2}, // a container's share, or GOMAXPROCS
		{4, 2, 4},  // GOMAXPROCS
	} {
		if got := room(c.now, c.cores); got != c.want {
			t.Errorf("room(%d, %d) = %d, want %d", c.now, c.cores, got, c.want)
		}
	}
}

func TestDoReturnsWhenAllIsDone(t *testing.T) {
	done := false
	Do(func() { done = true })
	if !done {
		t.Error("it is not done")
	}
	want := errors.New("broken")
	defer func() {
		if got := recover(); got != want {
			t.Errorf("panicked with %v, want %v", got, want)
		}
	}()
	Do(func() { panic(want) })
}
