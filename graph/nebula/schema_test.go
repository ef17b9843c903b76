package nebula

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"headwater/graph"
	"headwater/graph/nebula/standin"
)

func TestBringUpMakesWhatIsMissingAndFindsItAgain(t *testing.T) {
	onEach(t, func(t *testing.T, o Options) {
		p := dialed(t, o)
		if err := bringUp(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		// It can be used at once, all of it.
		for i := range tables {
			must(t, p, tables[i].probe([]string{"x"}), nil)
		}
		o.Init = false
		if err := bringUp(t.Context(), dialed(t, o)); err != nil {
			t.Errorf("what was made does not fit: %v", err)
		}
	})
}

func TestBringUpMakesNothingUnasked(t *testing.T) {
	onEach(t, func(t *testing.T, o Options) {
		o.Init = false
		err := bringUp(t.Context(), dialed(t, o))
		if err == nil || !strings.Contains(err.Error(), "space "+o.Space+": is it there? --init makes it") {
			t.Errorf("%v", err)
		}
	})
}

func TestBringUpWaitsForTheHeartbeats(t *testing.T) {
	s, o := startStandIn(t, standin.Options{Heartbeat: 40})
	p := dialed(t, o)
	if err := bringUp(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if n := s.Statements(); n < 80 {
		t.Errorf("it was usable after %d statements, which is too soon", n)
	}
	o.Tries = 1
	one := dialed(t, o)
	for i := range tables {
		must(t, one, tables[i].probe([]string{"x"}), nil)
		must(t, one, probes(10)[3*i], nil)
	}
}

func TestBringUpUsesTheSchemaThroughEveryGraphd(t *testing.T) {
	a, o := startStandIn(t, standin.Options{})
	b, _ := startStandIn(t, standin.Options{Beside: a})
	b.FailNext(5, standin.Refuse)
	o.Addresses = append(o.Addresses, b.Addr())
	if err := bringUp(t.Context(), dialed(t, o)); err != nil {
		t.Fatal(err)
	}
	if n, m := a.Statements(), b.Statements(); int(n) < 3*len(tables) || int(m) < 3*len(tables)+5 {
		t.Errorf("they were asked %d and %d times", n, m)
	}
}

func TestBringUpWaitsNoLongerThanItMay(t *testing.T) {
	_, o := startStandIn(t, standin.Options{Heartbeat: 1 << 30})
	o.wait = 50 * time.Millisecond
	err := bringUp(t.Context(), dialed(t, o))
	if !errors.Is(err, graph.ErrUnavailable) || !strings.Contains(err.Error(), "not usable after 50ms") || !strings.Contains(err.Error(), "SpaceNotFound") {
		t.Errorf("%v", err)
	}
	o.wait = time.Minute
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := bringUp(ctx, dialed(t, o)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestBringUpRefusesASchemaOfOthers(t *testing.T) {
	onEach(t, func(t *testing.T, o Options) {
		p := dialed(t, o)
		do := func(inSpace bool, text string) {
			t.Helper()
			if _, err := p.patient(t.Context(), inSpace, noSpaceYet, text); err != nil {
				t.Fatal(err)
			}
		}
		do(false, "CREATE SPACE "+o.Space+"(partition_num=1, replica_factor=1, vid_type=FIXED_STRING(32))")
		do(true, "CREATE TAG node(name int64)")
		if err := bringUp(t.Context(), p); err == nil || !strings.Contains(err.Error(), "tag node of space "+o.Space+": column name is of type int64, not string") {
			t.Errorf("%v", err)
		}
	})
	_, o := startStandIn(t, standin.Options{})
	p := dialed(t, o)
	if _, err := p.once(t.Context(), false, "CREATE SPACE test(vid_type=FIXED_STRING(16))", nil); err != nil {
		t.Fatal(err)
	}
	if err := bringUp(t.Context(), p); err == nil || !strings.Contains(err.Error(), "ids of type FIXED_STRING(16), not FIXED_STRING(32)") {
		t.Errorf("%v", err)
	}
	o.Space, o.Replicas = "three", 3
	if err := bringUp(t.Context(), dialed(t, o)); err == nil || !strings.Contains(err.Error(), "make space three: ") || !strings.Contains(err.Error(), "Host not enough!") {
		t.Errorf("%v", err)
	}
}

func TestBringUpAddsColumnsIfItMay(t *testing.T) {
	onEach(t, func(t *testing.T, o Options) {
		p := dialed(t, o)
		for _, text := range []string{
			"CREATE SPACE " + o.Space + "(partition_num=3, replica_factor=1, vid_type=FIXED_STRING(32))",
		} {
			if _, err := p.once(t.Context(), false, text, nil); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := p.patient(t.Context(), true, noSpaceYet, "CREATE EDGE says(sayer string, more string)"); err != nil {
			t.Fatal(err)
		}
		if err := bringUp(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		o.Init = false
		if err := bringUp(t.Context(), dialed(t, o)); err != nil {
			t.Error(err)
		}
	})
	_, o := startStandIn(t, standin.Options{})
	p := dialed(t, o)
	for text, inSpace := range map[string]bool{"CREATE SPACE test(partition_num=1, vid_type=FIXED_STRING(32))": false} {
		if _, err := p.once(t.Context(), inSpace, text, nil); err != nil {
			t.Fatal(err)
		}
	}
	must(t, p, "CREATE TAG claim(folder string)", nil)
	o.Init = false
	if err := bringUp(t.Context(), dialed(t, o)); err == nil || !strings.Contains(err.Error(), "tag claim of space test: column region is missing; --init adds it") {
		t.Errorf("%v", err)
	}
}
