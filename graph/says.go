package graph

import (
	"context"
	"slices"
)

func (v *view) Says(ctx context.Context, subjects []ID, emit func(Said) error) ([]Gap, error) {
	keys := make([]Key, 0, len(subjects))
	for _, s := range subjects {
		names, err := v.names(s.Base())
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			keys = append(keys, Key{Subject: n})
		}
	}
	slices.SortFunc(keys, Key.Compare)
	keys = slices.Compact(keys)
	if v.topology == nil || v.costly() {
		return nil, v.raw.Contributions(ctx, keys, func(c *Contribution) error {
			said, err := c.At(v.at)
			if err != nil {
				return err
			}
			return emit(said)
		})
	}
	for _, k := range keys {
		if err := v.heard(ctx, k, emit); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// heard emits what is said by the contributions of a subject. Contents are
// remembered for as long as they hold: a run that says the same again changes
// the record alone.
func (v *view) heard(ctx context.Context, k Key, emit func(Said) error) error {
	key := factsKey(k.Subject) + 1 // beside what is known of the node
	stamp := v.stamp(k.Subject, []ID{k.Subject})
	if kept, ok := v.quick.Remembered(key); ok {
		if said, ok := kept.(*hearsay); ok && said.subject == k.Subject && said.stamp == stamp {
			return v.raw.Records(ctx, k.Subject, func(r *Record) error {
				s := said.by[r.Origin]
				s.Record = *r
				return emit(s)
			})
		}
	}
	said := &hearsay{subject: k.Subject, stamp: stamp, by: map[string]Said{}}
	size := 200
	if err := v.raw.Contributions(ctx, []Key{k}, func(c *Contribution) error {
		s, err := c.At(v.at)
		if err != nil {
			return err
		}
		for _, part := range c.parts {
			if part.content != nil { // else it is of another time
				size += 4 * len(part.bytes)
			}
		}
		said.by[c.Record.Origin] = Said{Content: s.Content, Provisional: s.Provisional, From: s.From}
		return emit(s)
	}); err != nil {
		return err
	}
	v.quick.Remember(key, said, size)
	return nil
}

// A hearsay is what is said of one subject, by origin, without the records.
type hearsay struct {
	subject ID
	stamp   uint64 // of what it was heard from
	by      map[string]Said
}
