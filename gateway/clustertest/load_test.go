package clustertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"headwater/gateway/catalog"
)

// A load asks one question and makes changes at every gateway, and remembers
// what was answered.
type load struct {
	c    *cluster
	q    question
	want string
	// since is the version of the catalog that makes the answer what it is.
	since uint64
	stop  chan struct{}
	wg    sync.WaitGroup

	mu     sync.Mutex // guards all below
	made   map[string]uint64
	never  []string
	asked  map[string]int
	faults []string
}

func (c *cluster) load(q question) *load {
	state, _ := c.gateway(c.names["A"]).Catalog.Now()
	l := &load{c: c, q: q, want: c.ask(c.names["A"], q).text, since: state.Version(), stop: make(chan struct{}), made: map[string]uint64{}, asked: map[string]int{}}
	for _, p := range c.peers {
		l.wg.Go(func() { l.ask(p.Name) })
		l.wg.Go(func() { l.change(p.Name) })
	}
	return l
}

// going waits a while; false once the load is to stop.
func (l *load) going(d time.Duration) bool {
	select {
	case <-l.stop:
		return false
	case <-time.After(d):
		return true
	}
}

func (l *load) fault(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = append(l.faults, fmt.Sprintf(format, args...))
}

// ask asks at a gateway: an answer is due at once, and is always the same.
func (l *load) ask(at string) {
	for l.going(100 * time.Millisecond) {
		g := l.c.gateway(at)
		if g == nil {
			continue
		}
		// One that has just started hears of the catalog first, change by change,
		// and of the regions.
		if state, _ := g.Catalog.Now(); state.Version() < l.since || !follows(g) {
			continue
		}
		r := l.c.ask(at, l.q)
		switch {
		case l.c.gateway(at) != g: // it was killed meanwhile
		case r.err != nil:
			l.fault("%s: %v", at, r.err)
		case r.text != l.want:
			l.fault("%s answers %s; want %s", at, r.text, l.want)
		case r.took > patient:
			l.fault("%s takes %v to answer", at, r.took)
		default:
			l.mu.Lock()
			l.asked[at]++
			l.mu.Unlock()
		}
	}
}

// change makes changes at a gateway.
func (l *load) change(at string) {
	for i := 0; l.going(400 * time.Millisecond); i++ {
		g := l.c.gateway(at)
		if g == nil {
			continue
		}
		name := fmt.Sprint(at, "-", i)
		r, err := g.Catalog.Change(context.Background(), notice(name))
		l.mu.Lock()
		switch {
		case err == nil:
			l.made[name] = r.Version
		case errors.Is(err, catalog.ErrNoQuorum):
			l.never = append(l.never, name)
		case errors.Is(err, catalog.ErrUnknown), errors.Is(err, catalog.ErrClosed):
		default:
			l.faults = append(l.faults, fmt.Sprintf("change %s: %v", name, err))
		}
		l.mu.Unlock()
	}
}

// halt stops the load.
func (l *load) halt() {
	close(l.stop)
	l.wg.Wait()
}

// end stops the load and sees whether what was acknowledged is there, once, at
// each gateway, and what was refused is not.
func (l *load) end() string {
	l.halt()
	l.c.leader()
	// A change makes sure that all before it are settled.
	last, err := l.c.gateway(l.c.names["B"]).Catalog.Change(context.Background(), notice("last"))
	if err != nil {
		return err.Error()
	}
	time.Sleep(2 * time.Second)
	for called, name := range l.c.names {
		state, _ := l.c.gateway(name).Catalog.Now()
		if state.Version() != last.Version {
			l.fault("%s has version %d; want %d", called, state.Version(), last.Version)
		}
		times := map[string][]uint64{}
		for e := range state.Audit() {
			if e.What == "notice.set" {
				times[e.Of] = append(times[e.Of], e.Version)
			}
		}
		for n, version := range l.made {
			if !slices.Equal(times[n], []uint64{version}) {
				l.fault("%s: %s was acknowledged as version %d, and was made at %v", called, n, version, times[n])
			}
		}
		for _, n := range l.never {
			if len(times[n]) > 0 {
				l.fault("%s: %s was refused, and was made at %v", called, n, times[n])
			}
		}
		if l.asked[name] == 0 {
			l.fault("%s answered nothing", called)
		}
	}
	l.c.t.Logf("%d changes acknowledged, %d refused for want of a quorum, answers by gateway %v", len(l.made), len(l.never), l.asked)
	if len(l.faults) > 0 {
		return strings.Join(l.faults, "\n")
	}
	return "all questions answered, whole and in time; no change lost or made twice; catalogs equal"
}

func notice(name string) catalog.Command {
	return catalog.Command{Who: "ann", Do: catalog.SetNotice{Notice: catalog.Notice{Name: name, Match: catalog.Pattern{Name: name}, Text: "test", Owner: "ann"}}}
}
