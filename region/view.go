package region

import (
	"context"
	"time"

	"headwater/background"
	"headwater/graph"
	"headwater/ingest"
)

// View implements graph.Reader. It waits for what At.AtLeast asks, at most
// half the time that ctx has; what is still behind then is a gap.
func (n *Node) View(ctx context.Context, at graph.At) (graph.View, error) {
	n.asked.Store(time.Now().UnixNano())
	background.Asked()
	var gaps []graph.Gap
	for region, offset := range at.AtLeast {
		if region != n.o.Region {
			gaps = append(gaps, graph.Gap{Region: region, Reason: "not a region of this node"})
			continue
		}
		wait := ctx
		if deadline, ok := ctx.Deadline(); ok {
			var cancel context.CancelFunc
			wait, cancel = context.WithDeadline(ctx, time.Now().Add(time.Until(deadline)/2))
			defer cancel()
		}
		if err := n.WaitApplied(wait, ingest.Receipt{Region: region, Offset: offset}); err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			gaps = append(gaps, graph.Gap{Region: region, Reason: "behind: " + err.Error()})
		}
	}
	v, err := n.store.View(ctx, at)
	if err != nil || len(gaps) == 0 {
		return v, err
	}
	return gapped{v, gaps}, nil
}

// gapped is a view that is behind what was asked for, and says so.
type gapped struct {
	graph.View
	gaps []graph.Gap
}

func (g gapped) Flows(ctx context.Context, frontier []graph.ID, f graph.Ask, emit func([]graph.Flow) error) ([]graph.Gap, error) {
	gaps, err := g.View.Flows(ctx, frontier, f, emit)
	return append(gaps, g.gaps...), err
}

func (g gapped) Nodes(ctx context.Context, ids []graph.ID, want graph.Want, emit func(graph.Node) error) ([]graph.Gap, error) {
	gaps, err := g.View.Nodes(ctx, ids, want, emit)
	return append(gaps, g.gaps...), err
}

func (g gapped) Find(ctx context.Context, q graph.Query) (graph.Page, error) {
	p, err := g.View.Find(ctx, q)
	p.Gaps = append(p.Gaps, g.gaps...)
	return p, err
}

func (g gapped) Conflicts(ctx context.Context, after graph.ID, limit int) ([]graph.Conflict, []graph.Gap, error) {
	conflicts, gaps, err := g.View.Conflicts(ctx, after, limit)
	return conflicts, append(gaps, g.gaps...), err
}
