package federation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"headwater/graph"
)

// Fetch implements graph.Walking: one round.
func (w *walking) Fetch(ctx context.Context) (bool, error) {
	again := w.unmade
	w.unmade = false
	if ctx.Err() != nil {
		return again, nil // what there is is the answer, and says so
	}
	w.mu.Lock()
	if len(w.missed) == 0 {
		defer w.mu.Unlock()
		// Where another walk over the view has learnt meanwhile what a name
		// stands for, a part of this one was of the one node and a part of the
		// other.
		moved := w.began != w.epoch
		w.began = w.epoch
		return moved, nil
	}
	questions := w.questions()
	w.mu.Unlock()
	if w.by.IsZero() {
		w.by = until(ctx)
	}
	if err := w.round(ctx, w.by, questions); err != nil && ctx.Err() == nil {
		return false, err
	}
	w.mu.Lock()
	w.began = w.epoch
	w.mu.Unlock()
	return true, nil // where ctx ended the walk sees it, and answers with what there is
}

// round asks regions for legs, and takes in what they send by a time. Details of
// what they have reached may still be coming when it returns.
func (v *view) round(ctx context.Context, by time.Time, questions map[*region]*graph.LegQuestion) error {
	_, err := v.begin(ctx, by, slices.SortedFunc(maps.Keys(questions), byName), func(ctx context.Context, r *region, opened graph.LegView, beside func(end func())) error {
		q := questions[r]
		c := &coming{want: q.Want, done: make(chan struct{})}
		var whole *graph.Leg
		var err error
		sent := 0 // nodes of the leg
		whole, err = opened.Leg(ctx, *q, graph.LegTaker{Found: func(l *graph.Leg) error {
			v.mu.Lock()
			defer v.mu.Unlock()
			for i := range l.Lists {
				v.hops += len(l.Lists[i].Hops)
			}
			if v.hops > v.mostHops {
				return fmt.Errorf("has more to say than one answer is made of: all regions have sent %d flows, of %d at most", v.hops, v.mostHops)
			}
			v.lags(r, l.Gaps)
			v.merge(r, q, l, c)
			if !v.answered(r, q, l) {
				if l.Late {
					return context.DeadlineExceeded
				}
				return errors.New("sent nothing of what it was asked for")
			}
			if sent = len(l.Nodes); len(l.Coming) > 0 {
				v.coming[c] = true
				beside(func() { v.came(r, q, l, whole, sent, c) })
			}
			return nil
		}})
		return err
	})
	return err
}

// came takes in the details that have come of a leg, of which so many nodes had
// been sent before; whole is nil where no more have.
func (v *view) came(r *region, q *graph.LegQuestion, found, whole *graph.Leg, sent int, c *coming) {
	if whole != nil {
		v.lags(r, whole.Gaps)
		for i := sent; i < len(whole.Nodes); i++ {
			v.learn(r, v.about(whole.Nodes[i].ID), &whole.Nodes[i], q.Want)
		}
	}
	for _, place := range found.Coming {
		d := &v.in(r, v.about(found.IDs[place])).detail
		if d.coming != c {
			continue
		}
		if d.coming = nil; !d.said && whole != nil && !whole.Late {
			d.want, d.said = allDetails, true
		}
	}
	delete(v.coming, c)
	close(c.done)
}

// answered reports whether a region has sent some of what it was asked for, be
// it in answer to another question: else it would be asked the same for ever.
func (v *view) answered(r *region, q *graph.LegQuestion, leg *graph.Leg) bool {
	stands := leg.Stands
	if !q.Root.IsZero() && len(stands) > 0 {
		return true
	}
	for i, id := range stands {
		h := v.in(r, v.about(id))
		if i < len(q.Seeds) {
			if !q.Details || q.Seeds[i].Distance < graph.Unlimited || h.expects(q.Want) {
				return true
			}
			continue
		}
		if i -= len(q.Seeds); i < len(q.Lists) {
			a := q.Lists[i]
			if _, ok := v.find(h, aspect{a.Layer, a.Dir, a.Whole, a.CoarseOnly}); ok {
				return true
			}
		}
	}
	return false
}

// questions turns what was missed into a question for each region.
func (w *walking) questions() map[*region]*graph.LegQuestion {
	questions := map[*region]*graph.LegQuestion{}
	of := func(r *region) *graph.LegQuestion {
		q := questions[r]
		if q == nil {
			q = new(w.q)
			q.Root, q.Seeds = graph.ID{}, nil
			questions[r] = q
		}
		return q
	}
	// A walk that misses what it begins with is best begun there.
	root := w.root()
	for m, miss := range w.missed {
		if w.met(m, miss) {
			continue
		}
		q := of(m.region)
		at, ok := root[m.region]
		id := m.of.id
		switch {
		case ok && miss.level == 0 && id.Base() == at.Base() && !w.entered[m]:
			w.entered[m] = true
			q.Root = at
		case len(miss.lists) > 0 && (miss.level >= w.q.Depth || w.entered[m]):
			// No walk goes that far, or the one that began there had no need of it.
			q.Lists = append(q.Lists, miss.lists...)
		default:
			w.entered[m] = true
			q.Seeds = append(q.Seeds, graph.LegSeed{ID: id, Distance: miss.level, Dir: m.dir})
		}
	}
	clear(w.missed)
	for _, q := range questions {
		slices.SortFunc(q.Lists, func(a, b graph.LegAsk) int {
			return cmp.Or(a.ID.Compare(b.ID), cmp.Compare(a.Layer, b.Layer), cmp.Compare(btoi(a.Whole), btoi(b.Whole)), cmp.Compare(btoi(a.CoarseOnly), btoi(b.CoarseOnly)))
		})
		slices.SortFunc(q.Seeds, func(a, b graph.LegSeed) int {
			return cmp.Or(a.ID.Compare(b.ID), cmp.Compare(a.Dir, b.Dir))
		})
	}
	return questions
}

// met reports whether what a walk missed has been sent since, in answer to
// another question.
func (w *walking) met(at place, m *miss) bool {
	for _, l := range m.lists {
		if _, ok := w.find(at.holder, aspect{l.Layer, l.Dir, l.Whole, l.CoarseOnly}); !ok {
			return false
		}
	}
	return len(m.lists) > 0 || w.base(at.holder).known && !w.wants(at.holder, at.dir)
}

// root returns the node that the walk begins with, by region.
func (w *walking) root() map[*region]graph.ID {
	if w.q.Root.IsZero() {
		return nil
	}
	root := map[*region]graph.ID{}
	node := w.nodeOf(w.about(w.q.Root))
	for _, h := range w.holders(node) {
		root[h.region] = w.column(h, node).of.id
	}
	return root
}
