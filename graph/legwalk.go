package graph

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// WalkLeg answers a LegQuestion over any view of a region, as LegView.Leg does.
// When ctx ends first, or the leg is as large as one may be, lists are missing:
// those that it has are whole.
func WalkLeg(ctx context.Context, v View, q LegQuestion, to LegTaker) (*Leg, error) {
	return walkLeg(ctx, v, q, to, mostLegHops)
}

// walkLeg is WalkLeg for legs of at most so many hops.
func walkLeg(ctx context.Context, v View, q LegQuestion, to LegTaker, most int) (*Leg, error) {
	l := &legWalk{view: v, q: q, leg: &Leg{}, legMemory: legMemories.Get().(*legMemory), most: most}
	defer l.release()
	if err := l.walk(ctx); err != nil && !errors.Is(err, errFull) {
		if ctx.Err() == nil || !errors.Is(err, ctx.Err()) {
			return nil, err
		}
		l.leg.Late = true
	}
	if l.leg.Late {
		// What is still wanted of what there is takes little.
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), lateDetails)
		defer cancel()
	}
	if err := l.stand(ctx); err != nil {
		return nil, err
	}
	first, coming := l.wanted()
	if err := l.details(ctx, first, nil); err != nil {
		return nil, err
	}
	if to.Found != nil {
		if err := to.Found(l.leg); err != nil {
			return nil, err
		}
	}
	if err := l.details(ctx, coming, to.Node); err != nil {
		return nil, err
	}
	return l.leg, nil
}

// A legWalk makes one leg.
type legWalk struct {
	view View
	q    LegQuestion
	leg  *Leg
	*legMemory
	hops int // in the leg, of most
	most int

	recorders []*recorder
}

// A legMemory is the memory of a leg that is made, which another one uses again.
type legMemory struct {
	at      map[ID]uint32 // places in Leg.IDs
	keys    map[Key]uint32
	lists   map[legListKey]bool
	reached []uint32 // places of nodes of which details are wanted
}

var legMemories = sync.Pool{New: func() any {
	return &legMemory{at: map[ID]uint32{}, keys: map[Key]uint32{}, lists: map[legListKey]bool{}}
}}

// mostLegHops is how many flows a leg has at most, of 20 bytes each. Lists that
// have no room are left out, and are asked for anew if they are needed.
const mostLegHops = 4 << 20

// errFull ends a walk whose leg is full; what there is is right.
var errFull = errors.New("the leg is full")

// A legListKey says which list of a leg it is.
type legListKey struct {
	node       uint32
	layer      Layer
	dir        Direction
	whole      bool
	coarseOnly bool
}

func (l *legWalk) walk(ctx context.Context) error {
	if !l.q.Root.IsZero() {
		root, err := l.view.Resolve(ctx, l.q.Root)
		if err != nil {
			return err
		}
		l.leg.Stands = append(l.leg.Stands, root)
		if err := l.root(ctx, root); err != nil {
			return err
		}
	}
	seeds := map[Direction][]Seed{}
	for _, s := range l.q.Seeds {
		id, err := l.view.Resolve(ctx, s.ID)
		if err != nil {
			return err
		}
		l.leg.Stands = append(l.leg.Stands, id)
		if s.Distance < l.q.Depth {
			seeds[s.Dir] = append(seeds[s.Dir], Seed{id, s.Distance})
		}
	}
	for _, dir := range []Direction{Upstream, Downstream} {
		if err := l.enter(ctx, dir, seeds[dir]); err != nil {
			return err
		}
	}
	return l.list(ctx)
}

// list reads the lists that the question names.
func (l *legWalk) list(ctx context.Context) error {
	asks := map[LegAsk][]ID{}
	var order []LegAsk
	for _, a := range l.q.Lists {
		id, err := l.view.Resolve(ctx, a.ID)
		if err != nil {
			return err
		}
		l.leg.Stands = append(l.leg.Stands, id)
		if own := l.own(); own != nil && !hasHandle(own, id) {
			l.leg.Absent = append(l.leg.Absent, id)
			continue
		}
		ask := LegAsk{Layer: a.Layer, Dir: a.Dir, Whole: a.Whole, CoarseOnly: a.CoarseOnly}
		if asks[ask] == nil {
			order = append(order, ask)
		}
		asks[ask] = append(asks[ask], id)
	}
	for _, a := range order {
		ids := asks[a]
		slices.SortFunc(ids, ID.Compare)
		r := l.recording(numbersOf(l.view, ids...))
		var handles []Handle
		for _, id := range slices.Compact(ids) {
			h, _ := r.Handle(id)
			handles = append(handles, h)
		}
		ask := Ask{Layer: a.Layer, Dir: a.Dir, Whole: a.Whole, CoarseOnly: a.CoarseOnly}
		gaps, err := r.Hops(ctx, handles, &ask, nil, Emit{Hops: func([]Hop) error { return nil }})
		if l.gaps(gaps); err != nil {
			return err
		}
	}
	return nil
}

// own returns the numbers that the view has; nil: none.
func (l *legWalk) own() Numbers {
	if n, ok := l.view.(numbered); ok {
		return n.Numbers()
	}
	return nil
}

// root walks as GetLineage does from where the whole walk begins.
func (l *legWalk) root(ctx context.Context, root ID) error {
	q := Question{Root: root, Direction: l.q.Direction, Granularity: l.q.Granularity, Depth: l.q.Depth, Kinds: l.q.Kinds, Filter: NodeFilter{Origins: l.q.Origins}, Limit: l.q.Enough, NodesOnly: true}
	if q.Granularity == DataStores {
		q.Root = root.Base()
	}
	if l.q.Details {
		l.reached = append(l.reached, l.place(root), l.place(q.Root))
	}
	if own := l.own(); own != nil && !hasHandle(own, q.Root) && !hasHandle(own, q.Root.Base()) {
		l.leg.Absent = append(l.leg.Absent, q.Root, q.Root.Base())
		return nil
	}
	g := newGatherer(l.view, q)
	defer g.release()
	r := l.recording(g.g)
	g.g = r
	if err := g.start(ctx); err != nil {
		return err
	}
	err := g.walk(ctx)
	l.leg.Late = l.leg.Late || g.late
	found := make([]legNode, len(g.nodes))
	for i := range g.nodes {
		found[i] = legNode{r.place(g.nodes[i].h), g.nodes[i].level}
	}
	l.reach(found, 0)
	l.gaps(g.gaps)
	for _, w := range g.walks {
		l.gaps(w.gaps)
	}
	return err
}

// A legNode is a node that a walk has reached: its place in the leg, and at
// which level that was.
type legNode struct {
	at    uint32
	level int32
}

// reach notes nodes that a walk has reached, after so many others. Beyond those
// that are enough, nearest first, an answer has hardly any: who needs more
// details asks for them.
func (l *legWalk) reach(found []legNode, after int) {
	if !l.q.Details {
		return
	}
	if most := max(0, l.q.Enough-after); l.q.Enough > 0 && len(found) > most {
		slices.SortFunc(found, func(a, b legNode) int {
			return cmp.Or(cmp.Compare(a.level, b.level), l.leg.IDs[a.at].Compare(l.leg.IDs[b.at]))
		})
		found = found[:most]
	}
	for _, f := range found {
		l.reached = append(l.reached, f.at)
	}
}

// enter walks from seeds in one direction.
func (l *legWalk) enter(ctx context.Context, dir Direction, seeds []Seed) error {
	own := l.own()
	var ids []ID
	var from []Seed
	for _, s := range seeds {
		if own != nil {
			if _, ok := own.Handle(s.ID); !ok {
				l.leg.Absent = append(l.leg.Absent, s.ID)
				if !s.ID.IsColumn() {
					continue
				}
				// What flows through its data store is of it too.
				if s.ID = s.ID.Base(); !hasHandle(own, s.ID) {
					l.leg.Absent = append(l.leg.Absent, s.ID)
					continue
				}
			}
		}
		ids, from = append(ids, s.ID), append(from, s)
	}
	if len(from) == 0 {
		return nil
	}
	r := l.recording(numbersOf(l.view, ids...))
	numbered := make([]hseed, len(from))
	for i, s := range from {
		h, _ := r.Handle(s.ID)
		numbered[i] = hseed{h, s.Distance}
	}
	w := newWalker(r, numbered, WalkOptions{Direction: dir, Granularity: l.q.Granularity, Depth: l.q.Depth, Kinds: l.q.Kinds, Origins: l.q.Origins, ThroughDeleted: true}, nil)
	defer w.release()
	count := 0
	for !w.done && (l.q.Enough == 0 || count < l.q.Enough) {
		steps, err := w.step(ctx)
		if err != nil {
			return err
		}
		found := make([]legNode, len(steps))
		for i, h := range steps {
			found[i].at = r.place(h)
		}
		l.reach(found, count)
		count += len(steps)
	}
	l.gaps(w.gaps)
	return nil
}

func hasHandle(n Numbers, id ID) bool {
	_, ok := n.Handle(id)
	return ok
}

func (l *legWalk) gaps(gaps []Gap) {
	for _, g := range gaps {
		if !slices.Contains(l.leg.Gaps, g) {
			l.leg.Gaps = append(l.leg.Gaps, g)
		}
	}
}

// place returns the place of a node in the leg.
func (l *legWalk) place(id ID) uint32 {
	i, ok := l.at[id]
	if !ok {
		i = uint32(len(l.leg.IDs))
		l.at[id] = i
		l.leg.IDs = append(l.leg.IDs, id)
	}
	return i
}

// stand tells what names the data stores of the leg have.
func (l *legWalk) stand(ctx context.Context) error {
	seen := map[ID]bool{}
	for _, list := range [...][]ID{l.leg.Stands, l.leg.IDs} {
		for _, id := range list {
			if id = id.Base(); id.Kind() != DataStoreKind || seen[id] {
				continue
			}
			seen[id] = true
			s, err := standingOf(ctx, l.view, id)
			if err != nil {
				return err
			}
			if s.Gone || len(s.Names) > 1 {
				l.leg.Standing = append(l.leg.Standing, s)
			}
		}
	}
	return nil
}

// wanted returns the nodes of which details are wanted first: what the question
// was asked of. Those that were reached besides are coming.
func (l *legWalk) wanted() (first, coming []ID) {
	if !l.q.Details {
		return nil, nil
	}
	taken := make([]bool, len(l.leg.IDs), 2*len(l.leg.IDs)+2*len(l.leg.Stands))
	// each gives f a node, and what it is a column of, unless it was given before.
	each := func(at uint32, f func(at uint32, id ID)) {
		for {
			for int(at) >= len(taken) {
				taken = append(taken, false)
			}
			id := l.leg.IDs[at]
			if taken[at] || id.IsHub() {
				return
			}
			taken[at] = true
			if f(at, id); l.q.Granularity != Columns || !id.IsColumn() {
				return
			}
			at = l.place(id.Base())
		}
	}
	entered := len(l.q.Seeds)
	if !l.q.Root.IsZero() {
		entered++
	}
	for _, id := range l.leg.Stands[:min(entered, len(l.leg.Stands))] {
		each(l.place(id), func(_ uint32, id ID) { first = append(first, id) })
	}
	for _, at := range l.reached {
		each(at, func(at uint32, id ID) {
			l.leg.Coming = append(l.leg.Coming, at)
			coming = append(coming, id)
		})
	}
	return first, coming
}

// details loads what is known of nodes, and gives it to node, or, where that is
// nil, puts it into the leg. There may be no time for all of them: flows without
// details are worth having.
func (l *legWalk) details(ctx context.Context, of []ID, node func(*Node) error) error {
	if len(of) == 0 {
		return nil
	}
	if node == nil {
		l.leg.Nodes = slices.Grow(l.leg.Nodes, len(of))
		node = func(n *Node) error {
			l.leg.Nodes = append(l.leg.Nodes, *n)
			return nil
		}
	}
	var one Node
	gaps, err := l.view.Nodes(ctx, of, l.q.Want, func(n Node) error {
		if one = n; l.q.Want == WantBrief {
			f := &n.Facts
			one.Facts = Facts{Kind: f.Kind, Platform: f.Platform, URL: f.URL, Display: f.Display}
		}
		return node(&one)
	})
	l.gaps(gaps)
	if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		l.leg.Late = true
		return nil
	}
	return err
}

// lateDetails is how long a leg that ran out of time may still take to say what
// it found.
const lateDetails = 50 * time.Millisecond
