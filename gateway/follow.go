package gateway

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"sync"
	"time"

	"headwater/background"
	"headwater/gateway/border"
	"headwater/gateway/catalog"
	"headwater/graph"
	"headwater/region/bus"
)

// FilterOf returns which names of regions a catalog may give another meaning,
// and one of each namespace: no others are worth knowing at a gateway.
func FilterOf(s *catalog.State) bus.Filter {
	f := bus.Filter{Namespaces: []string{border.GlobalNamespace}, Each: true}
	for r := range s.NamespaceRules() {
		if !r.Apart {
			f.Namespaces = append(f.Namespaces, r.Namespace)
		}
	}
	for r := range s.NamingRules() {
		f.Prefixes = append(f.Prefixes, bus.Place{Namespace: r.Namespace, Name: r.Prefix})
	}
	for a := range s.Aliases() {
		f.Names = append(f.Names, bus.Place{Namespace: a.From.Namespace, Name: a.From.Name})
	}
	return f
}

// A follower follows one region's stream.
type follower struct {
	g      *Gateway
	region catalog.Region
	link   Link
	stop   context.CancelFunc

	mu     sync.Mutex // guards all below
	filter bus.Filter
	index  *border.Index
	// names are those that the region has and the filter wants, as of cursor;
	// whole says that none is missing.
	names  []graph.Name
	whole  bool
	cursor bus.Cursor
	saved  bus.Cursor // of the checkpoint
	last   graph.Mark
	err    error     // why it is not followed, if it is not
	heard  time.Time // of it last
	again  context.CancelFunc

	changes changes
}

func newFollower(g *Gateway, r catalog.Region, l Link) *follower {
	return &follower{g: g, region: r, link: l}
}

// mark returns the last that is known of the region.
func (f *follower) mark() graph.Mark {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

// covers reports whether a filter wants all that another does.
func covers(f, other bus.Filter) bool {
	all := func(list []bus.Place, is func(bus.Place) bool) bool {
		return !slices.ContainsFunc(list, func(p bus.Place) bool { return !is(p) })
	}
	namespace := func(ns string) bool { return slices.Contains(f.Namespaces, ns) }
	return (f.Each || !other.Each) && !slices.ContainsFunc(other.Namespaces, func(ns string) bool { return !namespace(ns) }) &&
		all(other.Prefixes, func(p bus.Place) bool { return namespace(p.Namespace) || slices.Contains(f.Prefixes, p) }) &&
		all(other.Names, func(p bus.Place) bool { return namespace(p.Namespace) || slices.Contains(f.Names, p) })
}

// refilter puts the names that are known into a new index, and follows anew
// where others are wanted from now on.
func (f *follower) refilter(filter bus.Filter, index *border.Index) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.index = index
	index.Add(f.names...)
	if !covers(f.filter, filter) {
		f.filter, f.whole = filter, false
		if f.again != nil {
			f.again()
		}
	}
}

// Between attempts to reach a region.
const (
	shortest = 50 * time.Millisecond
	longest  = 5 * time.Second
)

// run follows the region until ctx ends.
func (f *follower) run(ctx context.Context) {
	if err := f.restore(); err != nil {
		f.g.o.Log.Warn("what was known of a region's names is asked for again", "region", f.region.Name, "err", err)
	}
	stop := make(chan struct{})
	var saving sync.WaitGroup
	saving.Go(func() { f.saveNowAndThen(stop) })
	defer saving.Wait()
	defer close(stop)
	wait := shortest
	for ctx.Err() == nil {
		err := f.follow(ctx)
		f.changes.broke()
		f.mu.Lock()
		began := f.err == nil
		f.err = err
		f.mu.Unlock()
		switch {
		case ctx.Err() != nil:
			return
		case err == nil: // another filter
			continue
		case errors.Is(err, bus.ErrExpired), errors.Is(err, bus.ErrDiverged):
			f.g.o.Log.Warn("following a region anew", "region", f.region.Name, "err", err)
			f.mu.Lock()
			f.whole = false
			f.mu.Unlock()
			continue
		}
		if began {
			wait = shortest
			f.g.o.Log.Warn("a region's stream broke off", "region", f.region.Name, "err", err)
		}
		select {
		case <-time.After(wait):
			wait = min(2*wait, longest)
		case <-ctx.Done():
			return
		}
	}
}

// follow takes a snapshot where one is needed, and follows from there. It
// returns nil where the filter has changed.
func (f *follower) follow(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f.mu.Lock()
	filter, whole, cursor := f.filter, f.whole, f.cursor
	f.again = cancel
	f.mu.Unlock()
	if !whole {
		var names []graph.Name
		var err error
		cursor, err = f.link.Stream.Snapshot(ctx, filter, func(list []graph.Name) error {
			names = append(names, list...)
			return nil
		})
		if err != nil {
			return f.changed(filter, err)
		}
		f.mu.Lock()
		if reflect.DeepEqual(filter, f.filter) {
			f.names, f.cursor, f.whole = names, cursor, true
			f.index.Add(names...)
		}
		f.heardOf(nil)
		f.mu.Unlock()
	}
	if !whole || f.changes.Generation() == 0 {
		// The names are as of the cursor or later, and what changes behind it
		// is told; what an answer has read before can't be vouched for.
		f.changes.begin(f.revision(ctx))
	}
	err := f.link.Stream.Follow(ctx, cursor, filter, func(entries []bus.Entry) error {
		background.Working()
		f.mu.Lock()
		defer f.mu.Unlock()
		for i := range entries {
			if err := f.take(&entries[i]); err != nil {
				return err
			}
		}
		return nil
	})
	return f.changed(filter, err)
}

// changed is err, or nil where it came of another filter.
func (f *follower) changed(filter bus.Filter, err error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !reflect.DeepEqual(filter, f.filter) {
		return nil
	}
	return err
}

// heardOf notes that the region was heard of.
func (f *follower) heardOf(e *bus.Entry) {
	f.heard, f.err = time.Now(), nil
	if e != nil {
		f.last = e.Mark
	}
}

// revision returns how many changes the region has seen by now. Where it can't
// be told nothing is known to be the same.
func (f *follower) revision(ctx context.Context) uint64 {
	st, err := f.link.Status(ctx)
	if m, ok := st.Marks[f.region.Name]; err == nil && ok {
		return m.Revision
	}
	return math.MaxUint64
}

// take takes one entry in.
func (f *follower) take(e *bus.Entry) error {
	v := bus.Check(f.cursor, e, false)
	switch v {
	case bus.Next:
		f.cursor = e.Cursor()
		f.names = append(f.names, e.Names...)
		f.index.Add(e.Names...)
	case bus.Duplicate, bus.Beat:
	case bus.Diverged:
		return fmt.Errorf("entry %s after %s: %w", e.Cursor(), f.cursor, bus.ErrDiverged)
	default:
		return fmt.Errorf("entry %s after %s: %s", e.Cursor(), f.cursor, v)
	}
	f.heardOf(e)
	f.changes.heardOf(e, v == bus.Next)
	return nil
}
