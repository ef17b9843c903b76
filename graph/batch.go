package graph

import (
	"bytes"
	"context"
	"encoding/json"
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
			all.Lives = append(all.Lives, n.Lives...)
			all.Writers = append(all.Writers, n.Writers...)
		}
		if all.IsZero() {
			return nil
		}
		all.Contributions = sortedUnique(all.Contributions, Key.Compare)
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

// SplitFacets splits a JSON object of facets into them. The slices are parts
// of b. Empty is no facets.
func SplitFacets(b []byte) (map[string]json.RawMessage, error) {
	if len(b) == 0 {
		return nil, nil
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(b, &m); err != nil {
		return nil, fmt.Errorf("facets of %d bytes: %w", len(b), err)
	}
	return m, nil
}

// Newer reports whether a facet seen at a time replaces one seen at another;
// of two at one time it is the one whose bytes sort last.
func Newer(at int64, facet []byte, haveAt int64, have []byte) bool {
	return at > haveAt || at == haveAt && bytes.Compare(facet, have) > 0
}
