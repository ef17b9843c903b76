package graph

import (
	"context"
	"fmt"
)

// LoadAndPlan loads into s what planning d needs, and plans it.
func LoadAndPlan(ctx context.Context, store Store, s *State, d *Delta) (Planned, error) {
	if err := LoadFor(ctx, store, s, d); err != nil {
		return Planned{}, err
	}
	return Plan(s, d)
}

// LoadFor loads into s what planning the deltas needs: a batch of reads for
// each step that depends on the one before, not one for each delta.
func LoadFor(ctx context.Context, store Store, s *State, deltas ...*Delta) error {
	for {
		var all Need
		for _, d := range deltas {
			n, err := s.Missing(d)
			if err != nil {
				return fmt.Errorf("plan %s of %s: %w", d.Subject, d.Origin, err)
			}
			all.Contributions = append(all.Contributions, n.Contributions...)
			all.Parts, all.Newest = append(all.Parts, n.Parts...), append(all.Newest, n.Newest...)
			all.Lives = append(all.Lives, n.Lives...)
			all.Writers = append(all.Writers, n.Writers...)
		}
		if all.IsZero() {
			return nil
		}
		all.Contributions, all.Parts, all.Newest = sortedUnique(all.Contributions, Key.Compare), sortedUnique(all.Parts, Key.Compare), sortedUnique(all.Newest, Key.Compare)
		all.Lives, all.Writers = sortedUnique(all.Lives, ID.Compare), sortedUnique(all.Writers, ID.Compare)
		if err := store.Load(ctx, all, s); err != nil {
			return err
		}
	}
}

// Add takes what a delta does into the batch, and counts a revision for what
// readers can see.
func (b *Batch) Add(p Planned) {
	if p.Change != nil {
		if p.Change.Visible() {
			b.Mark.Revision++
		}
		b.Changes = append(b.Changes, *p.Change)
	}
	if p.Touch.Record != nil || len(p.Touch.Seen) > 0 {
		b.Touches = append(b.Touches, p.Touch)
	}
}
