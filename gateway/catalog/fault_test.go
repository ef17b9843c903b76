package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// inBubble runs a story of gateways on a clock of its own.
func inBubble(t *testing.T, n int, story func(t *testing.T, c *cluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, n)
		defer c.close()
		c.leader()
		story(t, c)
	})
}

func bySize(t *testing.T, story func(t *testing.T, c *cluster)) {
	for _, n := range []int{3, 5} {
		t.Run(fmt.Sprint(n, " gateways"), func(t *testing.T) { inBubble(t, n, story) })
	}
}

const limit = 3 * time.Second

func TestNewLeaderIsThereInTimeWhenTheLeaderIsKilled(t *testing.T) {
	bySize(t, func(t *testing.T, c *cluster) {
		l := c.load()
		var all []time.Duration
		for range 6 {
			time.Sleep(time.Second)
			old, _ := c.leader()
			began := time.Now()
			c.kill(old)
			c.leader()
			took := time.Since(began)
			all = append(all, took)
			if took >= limit {
				t.Errorf("a new leader after %v", took)
			}
			time.Sleep(300 * time.Millisecond)
			c.open(c.peers[old[1]-'1'], c.peers)
		}
		slices.Sort(all)
		t.Logf("a new leader after %v", all)
		l.end()
	})
}

func TestChangesGoOnWhenAFollowerIsKilled(t *testing.T) {
	bySize(t, func(t *testing.T, c *cluster) {
		l := c.load()
		time.Sleep(time.Second)
		f := c.followers()[0]
		had := c.node(f).raft.LastIndex()
		c.kill(f)
		began := time.Now()
		if _, err := c.node(c.followers()[0]).Change(t.Context(), notice("while-one-is-down")); err != nil || time.Since(began) > time.Second {
			t.Errorf("a change after %v: %v", time.Since(began), err)
		}
		time.Sleep(4 * time.Second)
		// The log is cut meanwhile, so it is sent a snapshot.
		lead, _ := c.leader()
		if first, err := c.node(lead).stores.log.FirstIndex(); err != nil || first <= had+1 {
			t.Errorf("the leader's log begins at %d, %v: it was not cut up to %d", first, err, had)
		}
		r := c.open(c.peers[f[1]-'1'], c.peers)
		l.end()
		if _, age := r.Now(); age.Leader == "" || age.Contact.IsZero() {
			t.Errorf("age %+v", age)
		}
	})
}

// minority cuts off some gateways, sees that they read and refuse to change
// while the others go on, and joins them again.
func minority(t *testing.T, c *cluster, cut []string) {
	l := c.load()
	time.Sleep(time.Second)
	before, _ := c.node(cut[0]).Now()
	c.split(cut...)
	rest := slices.DeleteFunc(c.names(), func(n string) bool { return slices.Contains(cut, n) })
	if _, took := c.leader(rest...); took >= limit {
		t.Errorf("a new leader after %v", took)
	}
	time.Sleep(2 * time.Second)
	began := time.Now()
	_, err := c.node(cut[0]).Change(t.Context(), notice("in-the-minority"))
	if !errors.Is(err, ErrNoQuorum) || errors.Is(err, ErrUnknown) || time.Since(began) > 6*time.Second {
		t.Errorf("a change in the minority, after %v: %v", time.Since(began), err)
	}
	s, age := c.node(cut[0]).Now()
	if s.Version() < before.Version() || age.Leader != "" {
		t.Errorf("a read in the minority: version %d after %d, %+v", s.Version(), before.Version(), age)
	}
	if old, ok := age.Of(time.Now()); !ok || old < 3*time.Second || old > 15*time.Second {
		t.Errorf("a read in the minority says that it is %v old, %v", old, ok)
	}
	if _, err := c.node(rest[0]).Change(t.Context(), notice("in-the-majority")); err != nil {
		t.Errorf("a change in the majority: %v", err)
	}
	c.split()
	time.Sleep(2 * time.Second)
	l.end()
	if s, _ := c.node(cut[0]).Now(); func() bool { _, ok := s.notices.get("in-the-minority"); return ok }() {
		t.Error("a change that was refused was made later")
	}
}

func TestMajorityGoesOnWithoutTheLeader(t *testing.T) { // 1|2, 2|3
	bySize(t, func(t *testing.T, c *cluster) {
		old, _ := c.leader()
		cut := []string{old}
		if len(c.peers) == 5 {
			cut = append(cut, c.followers()[0])
		}
		minority(t, c, cut)
	})
}

func TestMajorityGoesOnWithTheLeader(t *testing.T) { // 2|1, 3|2
	bySize(t, func(t *testing.T, c *cluster) { minority(t, c, c.followers()[:len(c.peers)/2]) })
}

func TestCatalogIsThereAgainWhenAllAreRestarted(t *testing.T) {
	bySize(t, func(t *testing.T, c *cluster) {
		l := c.load()
		for range 3 {
			time.Sleep(time.Second)
			for _, n := range c.names() {
				c.kill(n)
			}
			for _, p := range c.peers {
				c.open(p, c.peers)
			}
			if _, took := c.leader(); took >= limit {
				t.Errorf("a leader after %v", took)
			}
		}
		time.Sleep(time.Second)
		l.end()
	})
}

func TestLostAnswersAreAskedForAgainAndChangesMadeOnce(t *testing.T) {
	inBubble(t, 3, func(t *testing.T, c *cluster) {
		c.lose(2)
		l := c.load()
		time.Sleep(3 * time.Second)
		old, _ := c.leader()
		c.kill(old)
		time.Sleep(3 * time.Second)
		c.open(c.peers[old[1]-'1'], c.peers)
		l.end()
	})
}

func TestUndecidedChangeIsMadeOnceWhenAskedForAgain(t *testing.T) {
	inBubble(t, 3, func(t *testing.T, c *cluster) {
		for i, reaches := range []bool{false, true} {
			r := c.node(c.followers()[0])
			name := fmt.Sprint("n", i)
			time.AfterFunc(time.Millisecond, func() { c.split(r.o.Self.Name) })
			if reaches { // the leader makes it, and its answer is lost
				c.lose(1)
			} else {
				time.Sleep(2 * time.Millisecond)
			}
			_, err := r.Change(t.Context(), notice(name))
			var u *Undecided
			if reaches && err == nil { // its own replica heard of it before the cut
				c.split()
				continue
			}
			if !errors.Is(err, ErrUnknown) || errors.Is(err, ErrNoQuorum) || !errors.As(err, &u) {
				t.Fatalf("cut off in the middle: %v", err)
			}
			c.split()
			c.lose(0)
			time.Sleep(2 * time.Second)
			first, err := r.Change(t.Context(), u.Command)
			if err != nil || !first.Changed {
				t.Fatalf("asked again: %v %v", first, err)
			}
			if again, err := c.node(c.followers()[1]).Change(t.Context(), u.Command); err != nil || again != first {
				t.Fatalf("asked a third time: %v %v; want %v", again, err, first)
			}
			n := 0
			for e := range c.same().Audit() {
				if e.Of == name {
					n++
				}
			}
			if n != 1 {
				t.Errorf("%s was made %d times", name, n)
			}
		}
	})
}

func TestFourthGatewayJoinsAndTheLeaderLeaves(t *testing.T) {
	inBubble(t, 3, func(t *testing.T, c *cluster) {
		l := c.load()
		time.Sleep(time.Second)
		p := Peer{"g4", "g4:7500", "https://g4"}
		fourth := c.open(p, nil)
		if _, err := fourth.Change(t.Context(), notice("too-early")); !errors.Is(err, ErrNoQuorum) {
			t.Errorf("a change before it has joined: %v", err)
		}
		if err := c.node("g2").Join(t.Context(), "ann", Peer{"g5", "g1:7500", "https://g5"}); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), `gateway "g1"'s`) {
			t.Errorf("join at an address that is taken: %v", err)
		}
		for range 2 { // as a retry would
			if err := c.node("g2").Join(t.Context(), "ann", p); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := fourth.Change(t.Context(), notice("joined")); err != nil {
			t.Errorf("a change at the fourth: %v", err)
		}
		for range 3 { // to the last three, whoever leads; then two, and one
			old, _ := c.leader()
			asked := c.node(old)
			if old == "g4" {
				asked = c.node(c.followers()[0])
			}
			began := time.Now()
			if err := asked.Leave(t.Context(), "ann", old); err != nil || time.Since(began) > 2*time.Second {
				t.Fatalf("%s leaves, after %v: %v", old, time.Since(began), err)
			}
			if got, _ := c.leader(); got == old {
				t.Errorf("%s leads still", got)
			}
			c.kill(old)
			time.Sleep(time.Second)
		}
		last, _ := c.leader()
		if err := c.node(last).Leave(t.Context(), "ann", last); !errors.Is(err, ErrRefused) {
			t.Errorf("the last gateway leaves: %v", err)
		}
		if m := c.node(last).Members(); len(m) != 1 || m[0] != (Peer{last, last + ":7500", "https://" + last}) {
			t.Errorf("members %v", m)
		}
		l.end()
	})
}

func TestDeadGatewayLeavesAndOneThatIsNeededDoesNot(t *testing.T) {
	inBubble(t, 3, func(t *testing.T, c *cluster) {
		f := c.followers()
		c.kill(f[0])
		time.Sleep(2 * time.Second)
		lead, _ := c.leader()
		err := c.node(lead).Leave(t.Context(), "ann", f[1])
		if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), f[0]) {
			t.Errorf("the second of two that live leaves: %v", err)
		}
		if err := c.node(f[1]).Leave(t.Context(), "ann", f[0]); err != nil {
			t.Errorf("the dead one leaves: %v", err)
		}
		if err := c.node(f[1]).Leave(t.Context(), "ann", f[0]); err != nil {
			t.Errorf("it leaves again: %v", err)
		}
		if m := c.node(lead).Members(); len(m) != 2 {
			t.Errorf("members %v", m)
		}
		s := c.same()
		if _, ok := s.Gateway(f[0]); ok {
			t.Errorf("%s is still in the catalog", f[0])
		}
	})
}

func TestWatchTellsTheLastVersion(t *testing.T) {
	inBubble(t, 3, func(t *testing.T, c *cluster) {
		r := c.node(c.followers()[0])
		s := c.same()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		var got []uint64
		done := make(chan struct{})
		go func() {
			defer close(done)
			for v := range r.Watch(ctx, s.Version()) {
				got = append(got, v)
			}
		}()
		for i := range 5 {
			if _, err := c.node("g1").Change(ctx, notice(fmt.Sprint("n", i))); err != nil {
				t.Fatal(err)
			}
		}
		last := c.same().Version()
		synctest.Wait()
		<-done // ctx ends
		if len(got) == 0 || !slices.IsSorted(got) || got[len(got)-1] < last {
			t.Errorf("versions %v; want the last, %d", got, last)
		}
	})
}

func TestRefusalsAndTheCallersEndAreTold(t *testing.T) {
	inBubble(t, 3, func(t *testing.T, c *cluster) {
		for _, n := range c.names() {
			_, err := c.node(n).Change(t.Context(), Command{Who: "ann", Do: RemoveRegion{"eu"}})
			if !errors.Is(err, ErrRefused) || err.Error() != `region.remove: refused: there is no region "eu"; add it first` {
				t.Errorf("at %s: %v", n, err)
			}
		}
		f := c.followers()
		c.kill(f[0])
		lead, _ := c.leader()
		c.kill(lead)
		time.Sleep(2 * time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		_, err := c.node(f[1]).Change(ctx, notice("alone"))
		if !errors.Is(err, ErrNoQuorum) || !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 1100*time.Millisecond {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		r := c.node(f[1])
		c.kill(f[1])
		if s, _ := r.Now(); s == nil {
			t.Error("no read after Close")
		}
		if _, err := r.Change(t.Context(), notice("late")); !errors.Is(err, ErrClosed) {
			t.Errorf("a change after Close: %v", err)
		}
	})
}
