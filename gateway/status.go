package gateway

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"headwater/gateway/api"
	"headwater/gateway/border"
	"headwater/graph"
)

// A Followed is how a gateway follows one region.
type Followed struct {
	Name string
	// Mark is the last that is known of the region, Heard when that was; Err is
	// why it is not followed now, if it is not.
	Mark  graph.Mark
	Heard time.Time
	Err   error
}

// Followed lists the regions by name.
func (g *Gateway) Followed() []Followed {
	g.mu.Lock()
	defer g.mu.Unlock()
	list := make([]Followed, 0, len(g.followers))
	for name, f := range g.followers {
		f.mu.Lock()
		list = append(list, Followed{name, f.last, f.heard, f.err})
		f.mu.Unlock()
	}
	slices.SortFunc(list, func(a, b Followed) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Namespaces lists the namespaces of data stores that each region is known to
// report, sorted.
func (g *Gateway) Namespaces() map[string][]string {
	g.mu.Lock()
	defer g.mu.Unlock()
	of := make(map[string][]string, len(g.followers))
	for name, f := range g.followers {
		f.mu.Lock()
		seen := map[string]bool{}
		for _, n := range f.names {
			if n.Namespace != border.GlobalNamespace {
				seen[n.Namespace] = true
			}
		}
		f.mu.Unlock()
		of[name] = slices.Sorted(maps.Keys(seen))
	}
	return of
}

// askStatus is how long a region may take to say how it is.
const askStatus = time.Second

// Status asks all regions how they are.
func (g *Gateway) Status(ctx context.Context) []api.RegionStatus {
	ctx, cancel := context.WithTimeout(ctx, askStatus)
	defer cancel()
	g.mu.Lock()
	links := make(map[string]Link, len(g.followers))
	for name, f := range g.followers {
		links[name] = f.link
	}
	g.mu.Unlock()
	followed := g.Followed()
	list := make([]api.RegionStatus, len(followed))
	var asking sync.WaitGroup
	for i, r := range followed {
		list[i] = api.RegionStatus{Name: r.Name, Position: r.Mark.Position, Revision: r.Mark.Revision, Lag: -1}
		asking.Go(func() {
			st, err := links[r.Name].Status(ctx)
			if err != nil {
				return
			}
			list[i].Healthy = st.Healthy
			if m, ok := st.Marks[r.Name]; ok {
				list[i].Position, list[i].Revision = m.Position, m.Revision
			}
			// What it has applied and this gateway has not heard of yet may have
			// names that cross.
			if list[i].Lag = st.Lag; r.Mark.Position < list[i].Position {
				list[i].Lag = -1
				if !r.Heard.IsZero() {
					list[i].Lag = max(st.Lag, time.Since(r.Heard))
				}
			}
		})
	}
	asking.Wait()
	return list
}

// unfollowed returns a region of the catalog that is not followed, empty where
// each is. Of those that can't be followed now it asks only where all count.
func (g *Gateway) unfollowed(all bool) string {
	state, _ := g.Catalog.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	for r := range state.Regions() {
		f := g.followers[r.Name]
		switch {
		case f == nil && !all && g.adopted: // no link can be made to it
		case f == nil, !f.isWhole() && (all || !f.fails()):
			return r.Name
		}
	}
	return ""
}

// Starting says why requests should not come to this gateway yet: it has not
// heard what has been decided, or not read what the regions that it reaches
// have. Empty: they should.
func (g *Gateway) Starting() string {
	if state, age := g.Catalog.Now(); state.Version() == 0 && age.Leader == "" {
		return "no catalog yet, and no leader is known"
	}
	if region := g.unfollowed(false); region != "" {
		return fmt.Sprintf("region %q is being read", region)
	}
	return ""
}

// WaitFollowed waits until each region of the catalog is followed.
func (g *Gateway) WaitFollowed(ctx context.Context) error {
	for {
		waiting := g.unfollowed(true)
		if waiting == "" {
			return nil
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("region %q is not followed: %w", waiting, ctx.Err())
		}
	}
}

func (f *follower) isWhole() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.whole
}

// fails reports whether the region can't be followed now.
func (f *follower) fails() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err != nil
}
