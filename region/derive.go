package region

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"headwater/graph"
)

// A Deriver finds what follows from what a process says: lineage from its SQL.
type Deriver interface {
	// Covers marks the outputs of a content of which Content says more than
	// the content does, whatever the schemas are (graph.Lineage.BySQL).
	Covers(subject graph.Name, c *graph.Content)
	// Content returns what follows from a content of a subject, nil where
	// nothing does. columns returns the columns of a data store in their
	// order, false where its schema is not known. It is pure but for columns.
	Content(subject graph.Name, c *graph.Content, columns func(graph.Name) ([]string, bool)) *graph.Content
}

// derived is what the one who applies knows of what was derived and is not
// written yet. A schema that changes, or a name that comes to stand for
// another, asks by an entry of the log that what was derived over it be
// derived again. The entry is in the log before the change is applied, so that
// a crash can't lose it, and is answered when that is written. What is in the
// log twice is answered twice, and the second time changes nothing.
type derived struct {
	any bool // something was derived, ever
	// over are the data stores over which something was derived since the
	// node started; older ones are found in the store.
	over map[graph.ID]bool
	// fresh are those whose schema a batch changes that is not written yet.
	fresh map[graph.ID]bool
	// again are what has to be derived again, to be appended before the batch
	// is written.
	again []graph.Delta
	view  graph.View // of what is written; nil until it is needed
	// columns are the schemas that were read from view.
	columns map[graph.ID][]string
}

func (d *derived) ready() {
	if d.over == nil {
		d.over, d.fresh, d.columns = map[graph.ID]bool{}, map[graph.ID]bool{}, map[graph.ID][]string{}
	}
}

// written forgets what held until all batches were written.
func (d *derived) written() error {
	clear(d.fresh)
	return d.release()
}

// release closes the view.
func (d *derived) release() (err error) {
	if d.view != nil {
		err = d.view.Close()
	}
	d.view = nil
	clear(d.columns)
	return err
}

// covers marks what follows from the SQL of a delta.
func (n *Node) covers(d *graph.Delta) {
	if n.o.Derive == nil || d.Says.SQL == "" {
		return
	}
	defer func() {
		if r := recover(); r != nil {
			n.panicked("reading SQL", d, r)
		}
	}()
	n.o.Derive.Covers(d.Subject, &d.Says)
}

// derive plans what follows from a delta that has been planned; planned takes
// it.
func (n *Node) derive(ctx context.Context, s *graph.State, d *graph.Delta, p graph.Planned, planned func(graph.Planned)) error {
	if n.o.Derive == nil || p.Change == nil {
		return nil
	}
	if err := n.noteSchemas(ctx, p.Change); err != nil {
		return err
	}
	if _, is := graph.DerivedFrom(d.Origin); is || !p.Change.History {
		return nil
	}
	return n.deriveFrom(ctx, s, d, planned)
}

// deriveFrom plans what follows from what the subject of d says now.
func (n *Node) deriveFrom(ctx context.Context, s *graph.State, d *graph.Delta, planned func(graph.Planned)) error {
	said, run, provisional, err := s.Says(d.Key())
	if err != nil {
		return err
	}
	next := graph.Delta{Subject: d.Subject, Origin: graph.Derived(d.Origin), Run: run.ID, State: graph.Completed, Time: run.Start}
	if provisional {
		next.State = graph.Started
	} else if run.ID == "" {
		next.State = graph.Declared
	}
	var follows *graph.Content
	if said != nil {
		if follows, err = n.follows(ctx, d, said); err != nil {
			return err
		}
	}
	switch {
	case follows != nil:
		next.Says = *follows
	case !n.derived.any:
		return nil // nothing can have been derived before
	}
	if err := n.loadWhole(ctx, s, next.Subject, next.Origin); err != nil {
		return err
	}
	before, _, wasProvisional, err := s.Says(next.Key())
	if err != nil {
		return err
	}
	switch {
	case follows == nil && before == nil:
		return nil
	case follows == nil:
		next = graph.Delta{Subject: next.Subject, Origin: next.Origin, State: graph.Deleting, Time: max(d.Time, run.Start)}
	case before != nil && wasProvisional == provisional && graph.Fold(follows).Equal(before):
		return nil
	}
	n.behind(s, &next)
	q, err := n.plan(ctx, s, &next)
	if err != nil {
		return err
	}
	planned(q)
	if q.Change != nil {
		return n.noteSchemas(ctx, q.Change)
	}
	return nil
}

// loadWhole loads a contribution with all its parts: which of them holds is to
// be told.
func (n *Node) loadWhole(ctx context.Context, s *graph.State, subject graph.Name, origin string) error {
	return graph.LoadFor(ctx, n.store, s, &graph.Delta{Subject: subject, Origin: origin, State: graph.Expiring})
}

// behind gives a delta its place just behind all that was derived before: it
// replaces that from its beginning on.
func (n *Node) behind(s *graph.State, d *graph.Delta) {
	c := s.Contribution(d.Key())
	if c == nil || len(c.Record.Runs) == 0 {
		return
	}
	runs := c.Record.Runs
	d.Time = max(d.Time, runs[len(runs)-1].Start+1)
	if d.Run != "" && slices.ContainsFunc(runs, func(r graph.Run) bool { return r.ID == d.Run }) {
		d.Run += "@" + strconv.FormatInt(d.Time, 36)
	}
}

// follows asks the deriver, and notes over which data stores it derived.
func (n *Node) follows(ctx context.Context, d *graph.Delta, said *graph.Content) (follows *graph.Content, err error) {
	x := &n.derived
	x.ready()
	var failed error
	fresh := !x.any // what came before the first has not been looked at
	over := func(name graph.Name) (graph.ID, error) {
		id := name.ID()
		node, err := n.resolve(ctx, id)
		x.over[id], x.over[node] = true, true
		fresh = fresh || x.fresh[id] || x.fresh[node]
		return node, err
	}
	defer func() {
		if r := recover(); r != nil {
			n.panicked("deriving", d, r)
			follows, err = nil, nil
		}
	}()
	follows = n.o.Derive.Content(d.Subject, said, func(name graph.Name) ([]string, bool) {
		id, err := over(name)
		if err != nil {
			failed = errors.Join(failed, err)
			return nil, false
		}
		columns, ok := x.columns[id]
		if !ok {
			columns, _, err = graph.ColumnPaths(ctx, x.view, name)
			failed = errors.Join(failed, err)
			x.columns[id] = columns
		}
		return columns, len(columns) > 0
	})
	if failed != nil {
		return nil, fmt.Errorf("read schemas: %w", failed)
	}
	if follows != nil {
		if err := n.derivesNow(); err != nil {
			return nil, err
		}
		for _, list := range [...][]graph.Dataset{follows.Reads, follows.Writes} {
			for i := range list {
				if _, err := over(list[i].Name); err != nil {
					return nil, err
				}
			}
		}
	}
	if fresh && follows != nil {
		x.again = append(x.again, graph.Delta{Subject: d.Subject, Origin: d.Origin, State: graph.Deriving})
	}
	return follows, nil
}

// derivesNow notes, for good, that there are things that were derived: until
// there are, nobody needs to look for them.
func (n *Node) derivesNow() error {
	if n.derived.any {
		return nil
	}
	n.derived.any = true
	return n.log.Keep(keptDerives, []byte{1})
}

const keptDerives = "derives"
