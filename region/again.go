package region

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"headwater/graph"
	"headwater/region/log"
)

// noteSchemas notes which schemas and aliases a change alters, and asks that
// what was derived over them be derived again.
func (n *Node) noteSchemas(ctx context.Context, c *graph.Change) error {
	x := &n.derived
	x.ready()
	var changed []graph.ID
	for i := range c.Pieces {
		e := &c.Pieces[i]
		if e.Node.Kind() == graph.DataStoreKind && !samePaths(e.Was, e.Facts) {
			changed = append(changed, e.Node)
		}
	}
	for i := range c.Aliases {
		changed = append(changed, c.Aliases[i].From, c.Aliases[i].To)
	}
	for _, id := range changed {
		x.fresh[id] = true
		if !x.any {
			continue
		}
		node, err := n.resolve(ctx, id)
		if err != nil {
			return err
		}
		x.fresh[node] = true
		used := x.over[id] || x.over[node]
		if !used {
			users, err := n.derivedOver(ctx, x.view, id, 1)
			if err != nil {
				return err
			}
			used = len(users) > 0
		}
		// The id is told by a name that has it: nothing else of it is needed.
		again := graph.Delta{Subject: graph.Name{Kind: graph.DataStoreKind, Column: id.String()}, State: graph.Deriving}
		if used && !slices.ContainsFunc(x.again, func(d graph.Delta) bool { return d.Subject == again.Subject }) {
			x.again = append(x.again, again)
		}
	}
	return nil
}

func samePaths(a, b *graph.Facts) bool {
	var x, y []graph.Field
	if a != nil {
		x = a.Columns
	}
	if b != nil {
		y = b.Columns
	}
	return slices.EqualFunc(x, y, func(p, q graph.Field) bool { return p.Path == q.Path })
}

func (n *Node) resolve(ctx context.Context, id graph.ID) (graph.ID, error) {
	if n.derived.view == nil {
		v, err := n.store.View(ctx, graph.At{})
		if err != nil {
			return id, err
		}
		n.derived.view = v
	}
	return n.derived.view.Resolve(ctx, id)
}

// errEnough ends an emission.
var errEnough = errors.New("enough")

// derivedOver lists the contributions that were derived over a data store, as
// far as they are written: so many at most, 0 is all.
func (n *Node) derivedOver(ctx context.Context, v graph.View, id graph.ID, most int) ([]graph.Key, error) {
	node, err := v.Resolve(ctx, id)
	if err != nil {
		return nil, err
	}
	var keys []graph.Key
	for _, dir := range [...]graph.Direction{graph.Downstream, graph.Upstream} {
		_, err := v.Flows(ctx, []graph.ID{node}, graph.Ask{Layer: graph.UseLayer, Dir: dir, ThroughDeleted: true}, func(flows []graph.Flow) error {
			for _, f := range flows {
				if _, is := graph.DerivedFrom(f.By.Origin); is {
					keys = append(keys, f.By)
					if len(keys) == most {
						return errEnough
					}
				}
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			return nil, err
		}
	}
	slices.SortFunc(keys, graph.Key.Compare)
	return slices.Compact(keys), nil
}

// untilAgain cuts entries before one that asks for what was derived over a data
// store, which is answered from what is written; settled says that the first
// of them is such a one.
func untilAgain(entries []log.Entry) (until []log.Entry, settled bool) {
	asks := func(e *log.Entry) bool {
		return len(e.Deltas) == 1 && e.Deltas[0].State == graph.Deriving && e.Deltas[0].Subject.Kind == graph.DataStoreKind
	}
	settled = asks(&entries[0])
	for i := 1; i < len(entries); i++ {
		if asks(&entries[i]) && !asks(&entries[i-1]) {
			return entries[:i], settled
		}
	}
	return entries, settled
}

// deriveAgain answers an entry that asks to: for a data store it asks for each
// of the processes in turn, for a process it derives.
func (n *Node) deriveAgain(ctx context.Context, s *graph.State, d *graph.Delta, planned func(graph.Planned)) error {
	if n.o.Derive == nil {
		return nil
	}
	if d.Subject.Kind == graph.DataStoreKind {
		id, err := graph.ParseID(d.Subject.Column)
		if err != nil {
			return fault{err}
		}
		v, err := n.store.View(ctx, graph.At{})
		if err != nil {
			return err
		}
		keys, err := n.derivedOver(ctx, v, id, 0)
		if err == nil {
			err = n.askAgain(ctx, v, keys)
		}
		return errors.Join(err, v.Close())
	}
	if err := n.loadWhole(ctx, s, d.Subject, d.Origin); err != nil {
		return err
	}
	return n.deriveFrom(ctx, s, d, planned)
}

// askAgain asks that what some contributions were derived from be looked at
// again.
func (n *Node) askAgain(ctx context.Context, v graph.View, keys []graph.Key) error {
	origins := map[graph.ID][]string{}
	var subjects []graph.ID
	for _, k := range keys {
		if origins[k.Subject] == nil {
			subjects = append(subjects, k.Subject)
		}
		from, _ := graph.DerivedFrom(k.Origin)
		origins[k.Subject] = append(origins[k.Subject], from)
	}
	_, err := v.Says(ctx, subjects, func(said graph.Said) error {
		r := &said.Record
		if slices.Contains(origins[r.Subject.ID()], r.Origin) {
			n.derived.again = append(n.derived.again, graph.Delta{Subject: r.Subject, Origin: r.Origin, State: graph.Deriving})
		}
		return nil
	})
	return err
}

// appendAgain appends what has to be derived again to the log.
func (n *Node) appendAgain(ctx context.Context) error {
	if len(n.derived.again) == 0 {
		return nil
	}
	events := make([][]graph.Delta, len(n.derived.again))
	for i := range n.derived.again {
		events[i] = n.derived.again[i : i+1 : i+1]
	}
	if _, err := n.log.Append(ctx, events); err != nil {
		return fmt.Errorf("ask to derive again: %w", err)
	}
	n.derived.again = nil
	return nil
}
