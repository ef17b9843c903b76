package graph

import (
	"context"
	"errors"
	"slices"
)

// A Seed is where a walk begins, at a distance from the root.
type Seed struct {
	ID       ID
	Distance int
}

// WalkOptions say how to walk. The zero value walks data stores downstream,
// not at all: Depth is 0.
type WalkOptions struct {
	Direction   Direction // Downstream or Upstream
	Granularity Granularity
	// Depth is how many hops; Unlimited is all.
	Depth int
	// Kinds are the dependency kinds that count. 0: all but Control.
	Kinds          Kinds
	Origins        []string
	ThroughDeleted bool
	// First, if set, is the process whose own flows alone make the first hop.
	First ID
	// Keep, if set, returns those of the nodes that are walked on from. It is
	// asked level by level, about every node of the walk.
	Keep func(ctx context.Context, ids []ID) ([]ID, error)
	// MaxEdges bounds what is kept; 0 is DefaultMaxEdges.
	MaxEdges int
}

// Unlimited is a depth without end.
const Unlimited = 1 << 30

// DefaultMaxEdges bounds the edges of one answer.
const DefaultMaxEdges = 2_000_000

// A Step is a node that a walk has reached. Level is the hop at which it was
// found; it is more than Distance only for a column that an edge reached after
// its data store had been.
type Step struct {
	ID              ID
	Distance, Level int
}

// An Edge is a flow between two nodes of a walk, in the direction of the data.
type Edge struct {
	From, To ID
	Kinds    Kinds
	Coarse   bool
	Sources  []EdgeSource
	level    int // at which it was found first
}

// An EdgeSource is who says so.
type EdgeSource struct {
	By    Key
	Kinds Kinds
}

type edgeKey struct{ from, to ID }

// A walker is a 0–1 breadth-first search, one level a step. Hops weigh 1;
// what a data store contains, and the way out of a hub, weigh 0. A hub is the
// process of a fan when data stores are walked, and a data store when
// processes are.
type walker struct {
	view   View
	o      WalkOptions
	level  int
	dist   map[ID]int
	order  []Step       // settled, by level
	next   map[int][]ID // to be expanded, by distance
	whole  map[ID]int   // data stores that stand for their columns, since
	rows   map[ID]bool  // data stores whose own rows are expanded
	coarse map[ID]bool  // data stores whose coarse flows are expanded
	hubs   map[ID]*hub  // entered
	edges  map[edgeKey]*Edge
	done   bool
	cut    bool // edges were cut
	gaps   []Gap
}

type hub struct {
	ins, outs []Flow
}

func newWalker(v View, seeds []Seed, o WalkOptions) *walker {
	w := &walker{view: v, o: o, dist: map[ID]int{}, next: map[int][]ID{}, whole: map[ID]int{}, rows: map[ID]bool{},
		coarse: map[ID]bool{}, hubs: map[ID]*hub{}, edges: map[edgeKey]*Edge{}}
	if o.MaxEdges == 0 {
		w.o.MaxEdges = DefaultMaxEdges
	}
	if o.Kinds == 0 {
		w.o.Kinds = AllKinds &^ Control
	}
	for _, s := range seeds {
		w.reach(s.ID, s.Distance)
	}
	return w
}

// reach notes that a node is at most so far, unless it is known to be nearer.
func (w *walker) reach(id ID, distance int) {
	if w.o.Granularity == Columns && id.Kind() == DataStoreKind {
		if id.IsColumn() {
			if since, ok := w.whole[id.Base()]; ok && since < distance {
				w.settle(id, since)
				return
			}
		} else {
			if _, ok := w.whole[id]; ok {
				return
			}
			w.whole[id] = distance
			w.next[distance] = append(w.next[distance], id)
			if _, ok := w.dist[id]; !ok {
				w.settleAt(id, distance, distance)
			}
			return
		}
	}
	if _, ok := w.dist[id]; ok {
		return
	}
	w.settleAt(id, distance, distance)
	w.next[distance] = append(w.next[distance], id)
}

// settle notes a node that is emitted because an edge leaves it at this level.
// A data store may have been reached one level on before: its own rows, which
// the edge is one of, are nearer than what it stands for.
func (w *walker) settle(id ID, distance int) {
	have, ok := w.dist[id]
	if ok && have <= distance {
		return
	}
	if ok {
		w.order = slices.DeleteFunc(w.order, func(s Step) bool { return s.ID == id })
	}
	w.settleAt(id, distance, max(distance, w.level))
}

func (w *walker) settleAt(id ID, distance, level int) {
	w.dist[id] = distance
	w.order = append(w.order, Step{ID: id, Distance: distance, Level: level})
}

// step expands one level and returns its nodes, sorted by id. When ctx ends
// meanwhile it returns ctx's error, and the level does not count.
func (w *walker) step(ctx context.Context) ([]Step, error) {
	frontier := w.next[w.level]
	delete(w.next, w.level)
	asked := map[ID]bool{}
	if w.o.Keep != nil && len(frontier) > 0 {
		for _, id := range frontier {
			asked[id] = true
		}
		kept, err := w.o.Keep(ctx, frontier)
		if err != nil {
			return nil, err
		}
		frontier = kept
	}
	if w.level < w.o.Depth && len(frontier) > 0 {
		if err := w.expand(ctx, frontier); err != nil {
			return nil, err
		}
	}
	var steps []Step
	for _, s := range w.order {
		if s.Level == w.level {
			steps = append(steps, s)
		}
	}
	w.order = slices.DeleteFunc(w.order, func(s Step) bool { return s.Level == w.level })
	slices.SortFunc(steps, func(a, b Step) int { return a.ID.Compare(b.ID) })
	if w.o.Keep != nil {
		// Nodes that only an edge touches are asked about too.
		var touched []ID
		for _, s := range steps {
			if !asked[s.ID] {
				touched = append(touched, s.ID)
			}
		}
		if len(touched) > 0 {
			if _, err := w.o.Keep(ctx, touched); err != nil {
				return nil, err
			}
		}
	}
	w.level++
	w.done = w.level > w.o.Depth || len(w.next) == 0 && len(w.order) == 0
	return steps, nil
}

func (w *walker) expand(ctx context.Context, frontier []ID) error {
	ask := Ask{Dir: w.o.Direction, Kinds: w.o.Kinds, Origins: w.o.Origins, ThroughDeleted: w.o.ThroughDeleted}
	switch w.o.Granularity {
	case DataStores:
		ask.Layer = TableLayer
		return w.through(ctx, frontier, ask)
	case Processes:
		ask.Layer = ControlLayer
		if err := w.flows(ctx, frontier, ask, w.direct); err != nil {
			return err
		}
		if w.o.Kinds&^Control == 0 {
			return nil
		}
		ask.Layer, ask.Kinds = UseLayer, 0
		return w.through(ctx, frontier, ask)
	}
	return w.columns(ctx, frontier, ask)
}

// columns expands columns, and data stores that stand for their columns.
func (w *walker) columns(ctx context.Context, frontier []ID, ask Ask) error {
	var exact, whole, tables []ID
	add := func(list *[]ID, done map[ID]bool, id ID) {
		if !done[id] {
			done[id] = true
			*list = append(*list, id)
		}
	}
	for _, id := range frontier {
		base := id.Base()
		add(&tables, w.coarse, base)
		if id.IsColumn() {
			exact = append(exact, id)
			add(&exact, w.rows, base)
			continue
		}
		w.rows[base] = true
		whole = append(whole, id)
	}
	ask.Layer = ColumnLayer
	if err := w.flows(ctx, exact, ask, w.direct); err != nil {
		return err
	}
	ask.Whole = true
	if err := w.flows(ctx, whole, ask, w.direct); err != nil {
		return err
	}
	ask.Layer, ask.Whole, ask.CoarseOnly = TableLayer, false, true
	return w.through(ctx, tables, ask)
}

// flows asks for flows in a set order and calls each with those that count.
func (w *walker) flows(ctx context.Context, ids []ID, ask Ask, each func(Flow)) error {
	if len(ids) == 0 {
		return nil
	}
	slices.SortFunc(ids, ID.Compare)
	gaps, err := w.view.Flows(ctx, ids, ask, func(fs []Flow) error {
		for _, f := range fs {
			if w.level == 0 && !w.o.First.IsZero() && f.By.Subject != w.o.First {
				continue
			}
			each(f)
		}
		return ctx.Err()
	})
	w.gaps = append(w.gaps, gaps...)
	return errors.Join(err, ctx.Err())
}

// direct takes a flow as one hop.
func (w *walker) direct(f Flow) {
	w.settle(f.From, w.level)
	w.reach(f.To, w.level+1)
	w.edge(f.From, f.To, f.Kinds, f.Coarse, f.By)
}

// through takes flows as hops, and those into a hub as hops to all that leave
// the hub.
func (w *walker) through(ctx context.Context, frontier []ID, ask Ask) error {
	var entered []ID
	err := w.flows(ctx, frontier, ask, func(f Flow) {
		if !w.isHub(f.To) {
			w.direct(f)
			return
		}
		h := w.hubs[f.To]
		if h == nil {
			h = &hub{}
			w.hubs[f.To] = h
			entered = append(entered, f.To)
		}
		h.ins = append(h.ins, f)
		w.settle(f.From, w.level)
		for _, out := range h.outs {
			w.pair(f, out)
		}
	})
	if err != nil {
		return err
	}
	return w.flows(ctx, entered, ask, func(out Flow) {
		w.reach(out.To, w.level+1)
		h := w.hubs[out.From]
		h.outs = append(h.outs, out)
		for _, in := range h.ins {
			w.pair(in, out)
		}
	})
}

func (w *walker) isHub(id ID) bool {
	return w.o.Granularity == Processes && id.Kind() == DataStoreKind || id.IsHub()
}

func (w *walker) pair(in, out Flow) {
	if w.o.Granularity != Processes {
		w.edge(in.From, out.To, in.Kinds|out.Kinds, true, out.By)
		return
	}
	if in.From == out.To {
		return // a process that reads what it writes does not feed itself
	}
	// Who writes and who reads both make the flow, whichever way it is walked.
	w.edge(in.From, out.To, 0, false, in.By)
	w.edge(in.From, out.To, 0, false, out.By)
}

func (w *walker) edge(near, far ID, kinds Kinds, coarse bool, by Key) {
	k := edgeKey{near, far}
	if w.o.Direction == Upstream {
		k = edgeKey{far, near}
	}
	e := w.edges[k]
	if e == nil {
		if len(w.edges) >= w.o.MaxEdges {
			w.cut = true
			return
		}
		e = &Edge{From: k.from, To: k.to, Coarse: true, level: w.level}
		w.edges[k] = e
	}
	e.Kinds |= kinds
	e.Coarse = e.Coarse && coarse
	for i := range e.Sources {
		if e.Sources[i].By == by {
			e.Sources[i].Kinds |= kinds
			return
		}
	}
	e.Sources = append(e.Sources, EdgeSource{By: by, Kinds: kinds})
}

func compareEdges(a, b Edge) int {
	if c := a.From.Compare(b.From); c != 0 {
		return c
	}
	return a.To.Compare(b.To)
}
