package rpc

import (
	"context"
	"fmt"

	"headwater/graph"
)

// A method answers one kind of question, whose message is in c.
type method func(ctx context.Context, c *coder, a *answer) error

func (h *Handler) methods(name string) method {
	switch name {
	case methodResolve:
		return h.viewed(serveResolve)
	case methodNodes:
		return h.viewed(serveNodes)
	case methodFlows:
		return h.viewed(serveFlows)
	case methodSays:
		return h.viewed(serveSays)
	case methodFind:
		return h.viewed(serveFind)
	case methodConflicts:
		return h.viewed(serveConflicts)
	case methodLeg:
		return h.viewed(serveLeg)
	case methodStatus:
		return h.serveStatus
	case methodClose:
		return h.serveClose
	}
	return nil
}

// viewed makes a method of one that asks a view: it takes the view's lease and
// begins the answer.
func (h *Handler) viewed(serve func(ctx context.Context, v graph.View, c *coder, a *answer) (ending, error)) method {
	return func(ctx context.Context, c *coder, a *answer) error {
		var q question
		if q.code(c); c.bad {
			return badQuestion(errMessage)
		}
		if err := h.meant(q.region); err != nil {
			return err
		}
		l, err := h.leases.take(ctx, &q)
		if err != nil {
			return err
		}
		defer h.leases.release(l)
		if err := a.head(&head{h.o.Region, l.opening, l.view.Marks()}); err != nil {
			return err
		}
		e, err := serve(ctx, l.view, c, a)
		if err != nil {
			return err
		}
		return a.end(&e)
	}
}

// meant refuses a question that is meant for another region.
func (h *Handler) meant(region string) error {
	if region != h.o.Region {
		return fmt.Errorf("%w: this is region %q and not %q; is the address right?", graph.ErrUnavailable, h.o.Region, region)
	}
	return nil
}

func badQuestion(err error) error {
	return &graph.BadInputError{What: fmt.Sprintf("read the question: %v", err)}
}

func serveResolve(ctx context.Context, v graph.View, c *coder, a *answer) (e ending, err error) {
	var id graph.ID
	c.id(&id)
	if err := c.end(); err != nil {
		return e, badQuestion(err)
	}
	node, err := v.Resolve(ctx, id)
	if err != nil {
		return e, err
	}
	return e, a.item(func(c *coder) { c.id(&node) })
}

func serveNodes(ctx context.Context, v graph.View, c *coder, a *answer) (e ending, err error) {
	var q nodesQuestion
	q.code(c)
	if err := c.end(); err != nil {
		return e, badQuestion(err)
	}
	e.gaps, err = v.Nodes(ctx, q.ids, q.want, func(n graph.Node) error {
		return a.item(func(c *coder) { codeWhole(c, &n) })
	})
	return e, err
}

// flowsAtOnce is how many flows one item has at most.
const flowsAtOnce = 1024

func serveFlows(ctx context.Context, v graph.View, c *coder, a *answer) (e ending, err error) {
	var q flowsQuestion
	q.code(c)
	if err := c.end(); err != nil {
		return e, badQuestion(err)
	}
	if err := checkList(q.ask.Layer, q.ask.Dir); err != nil {
		return e, err
	}
	e.gaps, err = v.Flows(ctx, q.frontier, q.ask, func(flows []graph.Flow) error {
		for len(flows) > 0 {
			some := flows[:min(len(flows), flowsAtOnce)]
			if err := a.item(func(c *coder) { codeFlows(c, &some) }); err != nil {
				return err
			}
			flows = flows[len(some):]
		}
		return nil
	})
	return e, err
}

// checkList refuses numbers that stand for no layer or no one direction.
func checkList(layer graph.Layer, dir graph.Direction) error {
	if layer < graph.TableLayer || layer > graph.ControlLayer || dir > graph.Upstream {
		return badQuestion(fmt.Errorf("there is no layer %d in direction %d", layer, dir))
	}
	return nil
}

func serveSays(ctx context.Context, v graph.View, c *coder, a *answer) (e ending, err error) {
	var q nodesQuestion
	q.code(c)
	if err := c.end(); err != nil {
		return e, badQuestion(err)
	}
	e.gaps, err = v.Says(ctx, q.ids, func(s graph.Said) error {
		return a.item(func(c *coder) { codeSaid(c, &s) })
	})
	return e, err
}

func serveFind(ctx context.Context, v graph.View, c *coder, a *answer) (e ending, err error) {
	var q graph.Query
	codeQuery(c, &q)
	if err := c.end(); err != nil {
		return e, badQuestion(err)
	}
	page, err := v.Find(ctx, q)
	if err != nil {
		return e, err
	}
	return e, a.item(func(c *coder) { codePage(c, &page) })
}

func serveConflicts(ctx context.Context, v graph.View, c *coder, a *answer) (e ending, err error) {
	var q conflictsQuestion
	q.code(c)
	if err := c.end(); err != nil {
		return e, badQuestion(err)
	}
	conflicts, gaps, err := v.Conflicts(ctx, q.after, q.limit)
	e.gaps = gaps
	for i := 0; i < len(conflicts) && err == nil; i++ {
		err = a.item(func(c *coder) { codeConflict(c, &conflicts[i]) })
	}
	return e, err
}

func serveLeg(ctx context.Context, v graph.View, c *coder, a *answer) (e ending, err error) {
	var q graph.LegQuestion
	codeLegQuestion(c, &q)
	if err := c.end(); err != nil {
		return e, badQuestion(err)
	}
	if q.Direction > graph.Both || q.Granularity > graph.Processes {
		return e, badQuestion(fmt.Errorf("there is no direction %d or no granularity %d", q.Direction, q.Granularity))
	}
	for i := range q.Seeds {
		if q.Seeds[i].Dir > graph.Upstream {
			return e, badQuestion(fmt.Errorf("a seed goes in one direction and not in %d", q.Seeds[i].Dir))
		}
	}
	for i := range q.Lists {
		if err := checkList(q.Lists[i].Layer, q.Lists[i].Dir); err != nil {
			return e, err
		}
	}
	w := newLegWriter(a.item)
	to := graph.LegTaker{Node: w.node, Found: func(leg *graph.Leg) error {
		// What a walk goes on with leaves before what it is told of it.
		if err := w.found(leg); err != nil || len(leg.Coming) == 0 {
			return err
		}
		return a.send()
	}}
	var leg *graph.Leg
	if walker, ok := v.(graph.LegView); ok {
		leg, err = walker.Leg(ctx, q, to)
	} else {
		leg, err = graph.WalkLeg(ctx, v, q, to)
	}
	if err != nil {
		return e, err
	}
	return ending{leg.Gaps, leg.Late}, nil
}

func (h *Handler) serveStatus(ctx context.Context, c *coder, a *answer) error {
	var region string
	c.string(&region)
	if err := c.end(); err != nil {
		return badQuestion(err)
	}
	if err := h.meant(region); err != nil {
		return err
	}
	s, err := h.o.Status(ctx)
	if err != nil {
		return err
	}
	s.Region = h.o.Region
	if err := a.item(s.code); err != nil {
		return err
	}
	return a.end(&ending{})
}

func (h *Handler) serveClose(_ context.Context, c *coder, a *answer) error {
	var ids []leaseID
	slice(c, &ids, len(leaseID{}), codeLeaseID)
	if err := c.end(); err != nil {
		return badQuestion(err)
	}
	for _, id := range ids {
		h.leases.end(id)
	}
	return a.end(&ending{})
}
