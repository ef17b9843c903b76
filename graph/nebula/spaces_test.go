package nebula

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
)

// Spaces of a real server take up to 20 seconds to become usable, however many
// are made at once, and tests want one each.
var spaces struct {
	mu    sync.Mutex // guards both
	ready []string
	made  int
}

// spacesAtOnce is how many spaces are made together.
const spacesAtOnce = 12

// takeSpace returns the name of a space that is usable and empty, and is
// dropped behind the test.
func takeSpace(t testing.TB, o Options) string {
	t.Helper()
	spaces.mu.Lock()
	defer spaces.mu.Unlock()
	if len(spaces.ready) == 0 {
		var made sync.WaitGroup
		var errs [spacesAtOnce]error
		for i := range errs {
			o := o
			o.Space = fmt.Sprintf("headwater_%d_%d", os.Getpid(), spaces.made)
			spaces.made++
			spaces.ready = append(spaces.ready, o.Space)
			made.Go(func() { errs[i] = makeSpace(o) })
		}
		made.Wait()
		if err := errors.Join(errs[:]...); err != nil {
			t.Fatal(err)
		}
	}
	space := spaces.ready[0]
	spaces.ready = spaces.ready[1:]
	t.Cleanup(func() {
		o := o
		o.Space = space
		if err := Drop(context.Background(), o); err != nil {
			t.Error(err)
		}
	})
	return space
}

func makeSpace(o Options) error {
	p, err := dial(context.Background(), &o)
	if err != nil {
		return err
	}
	defer p.close()
	return bringUp(context.Background(), p)
}

// dropSpaces drops the spaces that no test took.
func dropSpaces(o Options) error {
	spaces.mu.Lock()
	defer spaces.mu.Unlock()
	var errs []error
	for _, space := range spaces.ready {
		o := o
		o.Space = space
		errs = append(errs, Drop(context.Background(), o))
	}
	spaces.ready = nil
	return errors.Join(errs...)
}
