package rpc

import (
	"cmp"
	"context"
	"maps"
	"sync"

	"headwater/graph"
)

// A view is a state of a region that stays open there under a lease.
type view struct {
	c  *Client
	id leaseID
	at graph.At

	mu sync.Mutex // guards all below
	// address is where the lease is, opening what the region called it, and
	// marks the state: once an answer has come.
	address string
	opening uint64
	marks   map[string]graph.Mark
	// sent is where a question may have arrived, so that there may be a lease
	// though no answer has come.
	sent   string
	closed bool
}

var _ graph.LegView = (*view)(nil)

// question puts before the arguments of a method what every question of the
// view says. It returns where to ask first.
func (v *view) question(body []byte) (address string, whole []byte, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return "", nil, errClosed
	}
	q := question{region: v.c.o.Region, lease: v.id, fresh: v.address == "", at: v.at}
	var c coder
	q.code(&c)
	return v.address, append(c.b, body...), nil
}

// arrived notes that a question may have arrived at an address.
func (v *view) arrived(address string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.sent = address
}

// headed looks whether an answer is of the state that the view is.
func (v *view) headed(address string, h *head) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case v.address == "":
		v.address, v.opening, v.marks = address, h.opening, h.marks
		v.c.see(h.marks)
	case v.opening != h.opening:
		// Two first questions met different nodes, or one came so late that
		// the view of the other had been closed.
		return ErrExpired
	}
	return nil
}

// Marks implements graph.View. Before the first answer has come it says which
// state of the region the client has seen last, perhaps none.
func (v *view) Marks() map[string]graph.Mark {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.address == "" {
		return v.c.seen()
	}
	return maps.Clone(v.marks)
}

// Close implements graph.View. It does not wait for the region to hear of it.
func (v *view) Close() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if address := cmp.Or(v.address, v.sent); address != "" && !v.closed {
		v.c.closer.add(address, v.id)
	}
	v.closed = true
	return nil
}

// one asks a question whose answer is one item.
func one[T any](ctx context.Context, v *view, method string, body []byte, code func(*coder, *T)) (item T, err error) {
	_, err = v.c.ask(ctx, v, &asked{method: method, single: true, item: func(payload []byte) error {
		return decodeAll(payload, func(c *coder) { code(c, &item) })
	}}, body)
	return item, err
}

// many asks a question whose answer is emitted item by item.
func many[T any](ctx context.Context, v *view, method string, body []byte, code func(*coder, *T), emit func(T) error) ([]graph.Gap, error) {
	e, err := v.c.ask(ctx, v, &asked{method: method, item: func(payload []byte) error {
		c := &coder{b: payload, decode: true}
		for len(c.b) > 0 {
			var item T
			if code(c, &item); c.bad {
				return errMessage
			}
			if err := emit(item); err != nil {
				return stop{err}
			}
		}
		return c.end()
	}}, body)
	return e.gaps, err
}

// Resolve implements graph.View.
func (v *view) Resolve(ctx context.Context, id graph.ID) (graph.ID, error) {
	return one(ctx, v, methodResolve, id[:], codeID)
}

// Nodes implements graph.View.
func (v *view) Nodes(ctx context.Context, ids []graph.ID, want graph.Want, emit func(graph.Node) error) ([]graph.Gap, error) {
	var body coder
	(&nodesQuestion{ids, want}).code(&body)
	return many(ctx, v, methodNodes, body.b, codeWhole, emit)
}

// Flows implements graph.View.
func (v *view) Flows(ctx context.Context, frontier []graph.ID, f graph.Ask, emit func([]graph.Flow) error) ([]graph.Gap, error) {
	var body coder
	(&flowsQuestion{frontier, f}).code(&body)
	return many(ctx, v, methodFlows, body.b, codeFlows, emit)
}

// Says implements graph.View.
func (v *view) Says(ctx context.Context, subjects []graph.ID, emit func(graph.Said) error) ([]graph.Gap, error) {
	var body coder
	(&nodesQuestion{ids: subjects}).code(&body)
	return many(ctx, v, methodSays, body.b, codeSaid, emit)
}

// Find implements graph.View.
func (v *view) Find(ctx context.Context, q graph.Query) (graph.Page, error) {
	var body coder
	codeQuery(&body, &q)
	return one(ctx, v, methodFind, body.b, codePage)
}

// Conflicts implements graph.View.
func (v *view) Conflicts(ctx context.Context, after graph.ID, limit int) ([]graph.Conflict, []graph.Gap, error) {
	var body coder
	(&conflictsQuestion{after, limit}).code(&body)
	var conflicts []graph.Conflict
	gaps, err := many(ctx, v, methodConflicts, body.b, codeConflict, func(c graph.Conflict) error {
		conflicts = append(conflicts, c)
		return nil
	})
	return conflicts, gaps, err
}

// Leg implements graph.LegView.
func (v *view) Leg(ctx context.Context, q graph.LegQuestion, to graph.LegTaker) (*graph.Leg, error) {
	var body coder
	codeLegQuestion(&body, &q)
	r := &legReader{most: v.c.o.MaxLeg, to: to}
	e, err := v.c.ask(ctx, v, &asked{method: methodLeg, item: r.read, complete: func() bool { return r.whole }}, body.b)
	if err != nil {
		return nil, err
	}
	r.leg.Gaps, r.leg.Late = e.gaps, e.late
	return &r.leg, nil
}
