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
		w.mu.Unlock()
		return false, nil
	}
	questions := w.questions()
	w.mu.Unlock()
	if w.by.IsZero() {
		w.by = until(ctx)
	}
	if err := w.round(ctx, w.by, questions); err != nil && ctx.Err() == nil {
		return false, err
	}
	return true, nil // where ctx ended the walk sees it, and answers with what there is
}

// round asks regions for legs, and takes in what they send by a time.
func (v *view) round(ctx context.Context, by time.Time, questions map[string]*graph.LegQuestion) error {
	_, err := v.ask(ctx, by, slices.Sorted(maps.Keys(questions)), func(ctx context.Context, r *region, opened graph.LegView) error {
		q := questions[r.Name]
		leg, err := opened.Leg(ctx, *q)
		if err != nil {
			return err
		}
		v.mu.Lock()
		defer v.mu.Unlock()
		for i := range leg.Lists {
			v.hops += len(leg.Lists[i].Hops)
		}
		if v.hops > v.mostHops {
			return fmt.Errorf("has more to say than one answer is made of: all regions have sent %d flows, of %d at most", v.hops, v.mostHops)
		}
		v.lags(r, leg.Gaps)
		v.merge(r.Name, q, leg)
		switch {
		case v.answered(r.Name, q, leg):
			return nil
		case leg.Late:
			return context.DeadlineExceeded
		}
		return errors.New("sent nothing of what it was asked for")
	})
	return err
}

// answered reports whether a region has sent some of what it was asked for, be
// it in answer to another question: else it would be asked the same for ever.
func (v *view) answered(region string, q *graph.LegQuestion, leg *graph.Leg) bool {
	stands := leg.Stands
	if !q.Root.IsZero() && len(stands) > 0 {
		return true
	}
	for i, id := range stands {
		if i < len(q.Seeds) {
			if !q.Details || q.Seeds[i].Distance < graph.Unlimited || v.described(holder{region, id}, q.Want) {
				return true
			}
			continue
		}
		if i -= len(q.Seeds); i < len(q.Lists) {
			a := q.Lists[i]
			if _, ok := v.find(listKey{holder{region, id}, a.Layer, a.Dir, a.Whole, a.CoarseOnly}); ok {
				return true
			}
		}
	}
	return false
}

// questions turns what was missed into a question for each region.
func (w *walking) questions() map[string]*graph.LegQuestion {
	questions := map[string]*graph.LegQuestion{}
	of := func(region string) *graph.LegQuestion {
		q := questions[region]
		if q == nil {
			q = new(w.q)
			q.Root, q.Seeds = graph.ID{}, nil
			questions[region] = q
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
		switch {
		case ok && miss.level == 0 && m.id.Base() == at.Base() && !w.entered[m]:
			w.entered[m] = true
			q.Root = at
		case len(miss.lists) > 0 && (miss.level >= w.q.Depth || w.entered[m]):
			// No walk goes that far, or the one that began there had no need of it.
			q.Lists = append(q.Lists, miss.lists...)
		default:
			w.entered[m] = true
			q.Seeds = append(q.Seeds, graph.LegSeed{ID: m.id, Distance: miss.level, Dir: m.dir})
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
		if _, ok := w.find(listKey{at.holder, l.Layer, l.Dir, l.Whole, l.CoarseOnly}); !ok {
			return false
		}
	}
	return len(m.lists) > 0 || w.known[holder{at.region, at.id.Base()}] && !w.wants(at.holder, at.dir)
}

// root returns the node that the walk begins with, by region.
func (w *walking) root() map[string]graph.ID {
	if w.q.Root.IsZero() {
		return nil
	}
	root := map[string]graph.ID{}
	node := w.node(w.q.Root)
	for _, h := range w.holders(node.Base()) {
		root[h.region] = h.of(node).id
	}
	return root
}
