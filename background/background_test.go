package background

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

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

// There is room while questions and work meet, and only then.
func TestRoomIsGivenWhileQuestionsAndWorkMeet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex // guards told
		var told []int
		r := &rooms{usual: 2, more: 8, set: func(n int) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, n)
		}}
		is := func(want ...int) {
			t.Helper()
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if !slices.Equal(told, want) {
				t.Fatalf("set to %v, want %v", told, want)
			}
		}
		r.note(&r.asked)
		r.note(&r.worked)
		is() // not on this machine
		r.open.Store(true)
		for range 5 {
			r.note(&r.asked)
			time.Sleep(meets / 2)
		}
		is()
		for range 5 {
			r.note(&r.worked)
			r.note(&r.asked)
			time.Sleep(meets / 2)
		}
		is(8)
		for range 5 {
			r.note(&r.worked)
			time.Sleep(meets / 2)
		}
		is(8, 2)
		r.note(&r.asked)
		is(8, 2, 8)
		time.Sleep(3 * meets)
		is(8, 2, 8, 2)
		r.watching.Wait()
	})
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
