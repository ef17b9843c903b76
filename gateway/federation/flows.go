package federation

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"headwater/gateway/border"
	"headwater/graph"
)

// A place is a node of a region from which a walk goes in one direction.
type place struct {
	*holder
	dir graph.Direction
}

// A miss is how far from the root a walk came to a place of which something has
// not been sent yet, and which lists that was; none: how it stands.
type miss struct {
	level int
	lists []graph.LegAsk
}

type misses map[place]*miss

// add notes that a walk came to a place.
func (m misses) add(h *holder, dir graph.Direction, level int) *miss {
	at := place{h, dir}
	known := m[at]
	if known == nil {
		known = &miss{level: level}
		m[at] = known
	}
	known.level = min(known.level, level)
	return known
}

// A walking is a view for one walk.
type walking struct {
	*view
	q      graph.LegQuestion
	missed misses
	// entered are places from which regions have been asked to walk.
	entered map[place]bool
	// resolved are the names that Resolve was asked for.
	resolved map[graph.ID]bool
	// by is when the regions' time is up.
	by time.Time
	// unmade: what there is has not been made an answer.
	unmade bool
	// began is the epoch of the view in which the walk last began.
	began   int
	numbers *numbers
}

// Missed implements graph.Walking.
func (w *walking) Missed(ctx context.Context) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unmade = len(w.missed) > 0 && ctx.Err() == nil
	return w.unmade
}

// Walking implements graph.Remote.
func (v *view) Walking(q graph.LegQuestion) graph.Walking {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.expected != nil {
		q.Details, q.Want = v.expected.Details, v.expected.Want
	}
	w := &walking{view: v, q: q, began: v.epoch, missed: misses{}, entered: map[place]bool{}, resolved: map[graph.ID]bool{}}
	w.numbers = &numbers{Numbering: graph.NewNumbering(len(v.abouts)), walk: w, rows: make(map[rowKey]row, len(v.abouts)), told: map[*sent]*told{}}
	return w
}

// Flows implements graph.View: flows that have been sent, and notes which have
// not.
func (w *walking) Flows(ctx context.Context, frontier []graph.ID, f graph.Ask, emit func([]graph.Flow) error) ([]graph.Gap, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.numbers
	e := n.expansion(&f)
	gaps := w.unheard
	var flows []graph.Flow
	for _, id := range frontier {
		e.of(id)
		gaps = joined(gaps, e.lacking)
		flows = flows[:0]
		for i := range e.batch {
			h := &e.batch[i]
			flows = append(flows, graph.Flow{From: n.ID(h.From), To: n.ID(h.To), Kinds: h.Kinds, Coarse: h.Coarse, By: n.By(h.By), Via: n.Via(h.By)})
		}
		if len(flows) > 0 {
			if err := emit(flows); err != nil {
				return gaps, err
			}
		}
	}
	return gaps, ctx.Err()
}

// Flows implements graph.View: what has not been sent is fetched first.
func (v *view) Flows(ctx context.Context, frontier []graph.ID, f graph.Ask, emit func([]graph.Flow) error) ([]graph.Gap, error) {
	f.Level = 0
	w := v.Walking(graph.LegQuestion{})
	for {
		var batches [][]graph.Flow // emit may use the view, which Flows holds
		gaps, err := w.Flows(ctx, frontier, f, func(flows []graph.Flow) error {
			batches = append(batches, slices.Clone(flows))
			return nil
		})
		if err != nil {
			return nil, err
		}
		if more, err := w.Fetch(ctx); err != nil {
			return nil, err
		} else if more {
			continue
		}
		for _, flows := range batches {
			if err := emit(flows); err != nil {
				return gaps, err
			}
		}
		return gaps, nil
	}
}

// An expansion makes the flows of one node after the other.
type expansion struct {
	*view
	walk    *walking
	numbers *numbers
	ask     *graph.Ask
	batch   []graph.Hop
	// lacking is what the flows lack of regions that could not be asked; missed
	// says that something of them has yet to be.
	lacking []graph.Gap
	missed  bool
}

// of makes the flows of a node. They are in memory that numbers.free has: the
// next ones are put over them, unless it is told to keep them.
func (e *expansion) of(id graph.ID) {
	if cap(e.numbers.free) == 0 {
		e.numbers.free = make([]graph.Hop, 0, hopsAtOnce)
	}
	e.batch, e.lacking, e.missed = e.numbers.free, nil, false
	node := e.nodeOf(e.about(id))
	if !e.ask.ThroughDeleted && e.gone(node) {
		return
	}
	as, _ := e.numbers.Handle(node.id)
	e.own(as, node, nil)
	if t := e.tableOf(node); t != nil {
		e.table(as, node, t)
	}
	if t := e.names.Table(node.base.id); t != nil {
		for _, m := range t.Members {
			e.own(as, e.about(node.id.WithBase(e.node(m.ID))), nil)
		}
	}
}

// miss notes that something has not been sent yet.
func (e *expansion) miss(h *holder, level int) *miss {
	e.missed = true
	return e.walk.missed.add(h, e.ask.Dir, level)
}

// own adds the flows of a node, as all regions have them, as those of as; via
// is the global table that they are said of.
func (e *expansion) own(as graph.Handle, node *about, via *border.Table) {
	for _, h := range e.holders(node) {
		e.listed(as, e.column(h, node), via)
	}
}

// listed adds the flows of a node as one region has them. Where they have not
// been sent that is noted: the region is to be asked, or can't be.
func (e *expansion) listed(as graph.Handle, h *holder, via *border.Table) {
	e.lacking = joined(e.lacking, h.region.behind)
	l, ok := e.find(h, aspect{e.ask.Layer, e.ask.Dir, e.ask.Whole, e.ask.CoarseOnly})
	if !ok {
		if g, is := h.region.gap(); is {
			e.lacking = joined(e.lacking, []graph.Gap{g})
			return
		}
		m := e.miss(h, e.ask.Level)
		m.lists = append(m.lists, graph.LegAsk{ID: h.of.id, Layer: e.ask.Layer, Dir: e.ask.Dir, Whole: e.ask.Whole, CoarseOnly: e.ask.CoarseOnly})
		return
	}
	if l == nil || len(l.hops) == 0 {
		return
	}
	t := e.numbers.of(l.sent)
	for i := range l.hops {
		e.hop(as, t, &l.hops[i], via)
	}
}

// hop adds one flow, unless the question leaves it out.
func (e *expansion) hop(as graph.Handle, t *told, h *graph.LegHop, via *border.Table) {
	n := e.numbers
	if e.ask.Kinds != 0 && h.Kinds != 0 && h.Kinds&e.ask.Kinds == 0 || len(e.ask.Origins) > 0 && !slices.Contains(e.ask.Origins, graph.System(t.sent.leg.Keys[h.By].Origin)) {
		return
	}
	f := graph.Hop{From: as, Kinds: h.Kinds, Coarse: h.Coarse}
	if e.ask.Whole { // of columns too
		if from := n.end(t, h.From); from.table == nil && n.Base(from.h) == n.Base(as) {
			if f.From = from.h; f.From != as {
				e.end(from, from.node, t.sent.region, e.ask.Level)
			}
		} else if id := t.sent.leg.IDs[h.From].WithBase(n.ID(as).Base()); id != n.ID(as) { // as is not what it is there
			f.From, _ = n.Handle(id)
			e.end(nil, e.about(id), t.sent.region, e.ask.Level)
		}
	}
	to := n.end(t, h.To)
	if to.table != nil && n.ID(f.From).Base() != to.table.ID {
		f.By = n.Number(t.sent.leg.Keys[h.By], to.table.ID)
		for _, m := range e.spokenOf(to.table, t.sent.region) {
			node := e.about(t.sent.leg.IDs[h.To].WithBase(e.node(m.ID)))
			f.To, _ = n.Handle(node.id)
			e.to(f, nil, node, t.sent.region)
		}
		return
	}
	f.To = to.h
	if via != nil {
		f.By = n.Number(t.sent.leg.Keys[h.By], via.ID)
	} else {
		f.By = n.by(t, h.By)
	}
	e.to(f, to, to.node, t.sent.region)
}

// to adds a flow that a region has told of, if its other end, node, is alive; d,
// if not nil, is what is known of that.
func (e *expansion) to(f graph.Hop, d *end, node *about, r *region) {
	if node.id.Kind() == graph.DataStoreKind {
		e.end(d, node, r, e.ask.Level+1)
	}
	if gone := d != nil && d.gone || d == nil && e.gone(node); e.ask.ThroughDeleted || !gone {
		e.batch = append(e.batch, f)
	}
}

// end notes an end of a flow that a region has told of. Regions that have not
// said yet how it stands are asked: what it is, and whether it still is, can
// depend on each that has a name of it. So are those that have not said what
// they know of it, where the walk is asked for that. d, if not nil, is what is
// known of it.
func (e *expansion) end(d *end, node *about, r *region, level int) {
	if d != nil && d.settled[e.ask.Dir] {
		return
	}
	open := false
	hs := e.holders(node)
	settled := e.place(node.base).settled
	for _, h := range hs {
		if settled && h.region == r {
			continue
		}
		at := h
		if e.walk.q.Details {
			at = e.column(h, node)
		}
		if h.known && !e.walk.wants(at, e.ask.Dir) {
			continue
		}
		open = true
		g, is := h.region.gap()
		switch {
		case !is:
			e.miss(at, level)
		case !h.known:
			e.lacking = joined(e.lacking, []graph.Gap{g})
		}
	}
	if d != nil {
		d.settled[e.ask.Dir] = !open
	}
}

// wants reports whether the details of a node are wanted, of a region that has
// not been asked for them.
func (w *walking) wants(h *holder, dir graph.Direction) bool {
	return w.q.Details && !h.expects(w.q.Want) && !w.entered[place{h, dir}]
}

// Resolve implements graph.View; regions that have not said yet what the name
// stands for are asked in the next round.
func (w *walking) Resolve(_ context.Context, id graph.ID) (graph.ID, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.resolved[id] = true
	node := w.nodeOf(w.about(id))
	for _, h := range w.holders(node) {
		if _, is := h.region.gap(); is || h.known {
			continue
		}
		w.missed.add(w.column(h, node), graph.Downstream, w.q.Depth) // how it stands is enough
	}
	return node.id, nil
}

// Lacking implements graph.Walking.
func (w *walking) Lacking() (gaps []graph.Gap) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id := range w.resolved {
		for _, h := range w.holders(w.nodeOf(w.about(id))) {
			gaps = joined(gaps, h.region.behind)
			if g, is := h.region.gap(); is && !h.known {
				gaps = joined(gaps, []graph.Gap{g})
			}
		}
	}
	slices.SortFunc(gaps, func(a, b graph.Gap) int {
		return cmp.Or(strings.Compare(a.Region, b.Region), strings.Compare(a.Reason, b.Reason))
	})
	return gaps
}
