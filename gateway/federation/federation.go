// Package federation makes many regions one graph.Reader. A walk over it is the
// walk that a single store would get: the same walker runs at the gateway, over
// a sheet of flows that regions have sent, and what it misses there is fetched
// in rounds. In each round every region is asked once, for all that is missed,
// and walks on by itself as far as it can (graph.WalkLeg), so that the rounds
// are as many as the borders on the way, and one.
//
//	Federation  the regions, and the names that cross their borders  federation.go
//	view        one state of all regions that were asked              view.go
//	sheet       what regions have sent                                sheet.go
//	names       which names are one node                              names.go
//	walk        flows from the sheet, global tables, what is missed   flows.go, tables.go
//	numbers     the same by number, for all rounds of a walk          numbers.go
//	round       asking regions, gaps                                  round.go
//	nodes, find what nodes are, over regions                          nodes.go, find.go
//	touched     what was read, for answers that are kept              touched.go
package federation

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"headwater/gateway/border"
	"headwater/graph"
)

// A Region is a region as a gateway asks it. Its views should be
// graph.LegViews; where they are not, its legs are walked here.
type Region struct {
	Name   string
	Reader graph.Reader
	// Mark, if set, returns the last mark that is known of the region.
	Mark func() graph.Mark
	// Heard, if set, reports whether the names of the region are in the border
	// index. Until then it is not known where walks cross into the region, and
	// they have a gap.
	Heard func() bool
	// Changes, if set, tells what has changed there; without them no answer can
	// be kept.
	Changes Changes
}

// Changes are what a gateway has heard of the changes of a region.
type Changes interface {
	// Generation is another one when changes may have been missed.
	Generation() uint64
	// Same reports whether nodes, told by what their ids begin with, are known
	// not to have changed since a revision.
	Same(generation, revision uint64, nodes []uint64) bool
}

// Options say what a federation is over. All are needed but Patience.
type Options struct {
	// Regions lists the regions at this moment.
	Regions func() []Region
	// Names is the border index at this moment.
	Names func() *border.Index
	// Patience bounds how long a region may take for one answer, so that the
	// others are heard before the question's own time is up; that bounds it too,
	// in all. Default: 3 s.
	Patience time.Duration
}

// A Federation is a graph.Reader over regions. It is safe for use by many at
// once.
type Federation struct {
	o        Options
	mostHops int
}

// mostHops is how many flows, of 16 bytes, regions may send for one view. Who
// would send more is a gap.
const mostHops = 8 << 20

// New returns a federation.
func New(o Options) (*Federation, error) {
	if o.Regions == nil || o.Names == nil {
		return nil, errors.New("federation: Options.Regions and Options.Names are needed")
	}
	if o.Patience == 0 {
		o.Patience = 3 * time.Second
	}
	return &Federation{o, mostHops}, nil
}

// View implements graph.Reader. Each region is asked for its state when a
// question first needs it, and at once where it has to have come to a position;
// the view keeps to that state from then on.
func (f *Federation) View(ctx context.Context, at graph.At) (graph.View, error) {
	regions := slices.Clone(f.o.Regions())
	slices.SortFunc(regions, func(a, b Region) int { return strings.Compare(a.Name, b.Name) })
	names := f.o.Names()
	v := &view{names: names, added: names.Added(), followed: names.Added(), patience: f.o.Patience, at: at, mostHops: f.mostHops, sheet: newSheet(), epoch: 1, strange: map[string]*region{}, coming: map[*coming]bool{}}
	v.life, v.stop = context.WithCancel(context.Background())
	for _, r := range regions {
		own := &region{Region: r, opening: make(chan struct{}, 1)}
		if r.Changes != nil {
			own.generation = r.Changes.Generation()
		}
		if r.Heard != nil && !r.Heard() {
			v.unheard = append(v.unheard, graph.Gap{Region: r.Name, Reason: "its names have not been heard here yet"})
		}
		v.regions = append(v.regions, own)
	}
	var waited []*region
	for _, name := range slices.Sorted(maps.Keys(at.AtLeast)) {
		r := v.region(name)
		if g, is := r.gap(); is {
			v.unheard = append(v.unheard, g)
		}
		waited = append(waited, r)
	}
	v.resolver = graph.NewResolver(v, graph.Forever)
	if len(waited) > 0 {
		_, err := v.ask(ctx, until(ctx), waited, func(ctx context.Context, _ *region, view graph.LegView) error {
			_, err := view.Nodes(ctx, nil, 0, func(graph.Node) error { return nil })
			return err
		})
		if err != nil {
			return nil, errors.Join(err, v.Close())
		}
	}
	return v, nil
}
