package region

import (
	"context"
	"time"

	"headwater/background"
	"headwater/graph"
)

// The first sweep waits until a node that has just begun is done with what had
// waited for it: a sweep reads what is said by every task.
const (
	sweepFirst = 10 * time.Minute
	sweepEvery = time.Hour
)

// Sweep asks, now and then, that what has ended longer ago than the retention
// be forgotten, until ctx ends.
func (n *Node) Sweep(ctx context.Context) error {
	if n.o.Retention < 0 {
		return nil
	}
	for wait := sweepFirst; ; wait = sweepEvery {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil
		}
		background.Do(func() {
			if err := n.SweepOnce(ctx, time.Now().Add(-n.o.Retention)); err != nil && ctx.Err() == nil {
				n.o.Log.Error("forget what has ended", "region", n.o.Region, "err", err)
			}
		})
	}
}

// SweepOnce asks that what ended before a time be forgotten.
func (n *Node) SweepOnce(ctx context.Context, before time.Time) error {
	horizon := before.UnixNano()
	var events [][]graph.Delta
	flush := func() error {
		_, err := n.append(ctx, events)
		events = nil
		return err
	}
	for r, err := range n.store.Contributions(ctx, graph.Key{}) {
		if err != nil {
			return err
		}
		if !r.Expires(horizon) {
			continue
		}
		events = append(events, []graph.Delta{{Subject: r.Subject, Origin: r.Origin, State: graph.Expiring, Time: horizon}})
		if len(events) == 256 {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if len(events) == 0 {
		return nil
	}
	return flush()
}
