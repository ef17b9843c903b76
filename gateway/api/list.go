package api

import (
	"context"
	"maps"
	"slices"
	"sync"

	"headwater/graph"
)

// A list is nodes that came together: of one answer, or all that a field of
// the nodes of another list leads to. What a field needs beyond the facts of
// a node is loaded once, for the whole list, by the first node that is asked:
// a query costs as many reads as it is deep, however long its lists are.
type list struct {
	s    *session
	view graph.View
	// sel is what the query selects of the nodes, anywhere.
	sel selection
	ids []graph.ID
	// facts are those of the nodes that are known, and maybe of more.
	facts *facts
	// bare: nothing but ids is asked.
	bare bool
	// says is what contributions say of the processes, where it is selected.
	says map[graph.ID]*processSays
	// columnsOf are the nodes by their data store, where they are columns.
	columnsOf map[graph.ID][]graph.Node

	mu   sync.Mutex // guards next
	next map[string]*step
}

// A step leads from each node of a list to nodes of another.
type step struct {
	once sync.Once
	err  error
	*list
	to map[graph.ID][]graph.ID
}

// newList loads what sel selects of nodes. ids must be resolved; extra are
// nodes whose facts somebody else needs. It returns what could not be asked.
func newList(ctx context.Context, s *session, view graph.View, sel selection, ids []graph.ID, extra ...graph.ID) (*list, []graph.Gap, error) {
	l := &list{s: s, view: view, sel: sel, ids: ids, next: map[string]*step{}}
	need := extra
	if l.bare = !sel.hasOther("id", "__typename", "dataStore"); !l.bare {
		need = ids
		if len(extra) > 0 {
			need = append(append(s.work.takeIDs(len(ids)+len(extra)), ids...), extra...)
		}
	}
	l.facts = newFacts(len(need))
	want := sel.enough()
	if len(extra) > 0 {
		want &^= graph.WantBrief
	}
	var gaps []graph.Gap
	if len(need) > 0 {
		nodes := s.work.takeNodes(len(need))
		g, err := view.Nodes(ctx, need, want, func(n graph.Node) error {
			nodes = append(nodes, n)
			l.facts.put(&nodes[len(nodes)-1])
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
		gaps = g
	}
	if sel.has("lastRun", "partitions", "facets") {
		s.unsteady() // runs that repeat move them
	}
	if sel.has("sql", "dialect", "plan", "parent", "lastRun", "provisional") {
		g, err := l.loadSays(ctx)
		if err != nil {
			return nil, nil, err
		}
		gaps = append(gaps, g...)
	}
	return l, gaps, nil
}

// node returns a node of the list, as the type that it has in the schema.
func (l *list) node(id graph.ID) node {
	switch m := l.member(id, nil); {
	case id.IsColumn():
		return &column{m}
	case id.Kind() == graph.ProcessKind:
		return &process{m}
	default:
		return &dataStore{m}
	}
}

// member returns a node of the list. One of which nothing is known, since its
// region can't be asked or nothing but the id is, is made in spare.
func (l *list) member(id graph.ID, spare *graph.Node) member {
	if l.bare && spare != nil {
		spare.ID, spare.Name.Kind, spare.Column = id, id.Kind(), &noField
		return member{l, spare}
	}
	if n := l.facts.get(id); n != nil {
		return member{l, n}
	}
	if spare == nil {
		spare = &graph.Node{}
	}
	*spare = graph.Node{ID: id, Name: graph.Name{Kind: id.Kind()}, Column: &noField}
	if !l.bare {
		spare.Name.Name = id.String()
	}
	return member{l, spare}
}

// noField is the field of a column that is not known. It does not change.
var noField graph.Field

// nodes returns nodes of the list, in order.
func (l *list) nodes(ids []graph.ID) []node {
	ns := make([]node, len(ids))
	for i, id := range ids {
		ns[i] = l.node(id)
	}
	return ns
}

// step returns the step of a key, which load finds out the first time.
func (l *list) step(key string, load func(*step) error) (*step, error) {
	l.mu.Lock()
	st := l.next[key]
	if st == nil {
		st = &step{to: map[graph.ID][]graph.ID{}}
		l.next[key] = st
	}
	l.mu.Unlock()
	st.once.Do(func() {
		defer func() {
			if v := recover(); v != nil {
				st.err = panicked(v) // for every node alike
			}
		}()
		st.err = load(st)
	})
	return st, st.err
}

// follow is a step that reads: targets tells where each node leads, and sel
// what is selected there. What could not be asked is reported once, beside
// the field that was asked first.
func (l *list) follow(ctx context.Context, key string, sel selection, targets func(ctx context.Context, to map[graph.ID][]graph.ID) ([]graph.Gap, error)) (*step, error) {
	return l.step(key, func(st *step) error {
		ctx, cancel := l.s.reading(ctx)
		defer cancel()
		gaps, err := targets(ctx, st.to)
		if err != nil {
			return err
		}
		var ids []graph.ID
		for id, to := range st.to {
			slices.SortFunc(to, graph.ID.Compare)
			st.to[id] = slices.Compact(to)
			ids = append(ids, to...)
		}
		slices.SortFunc(ids, graph.ID.Compare)
		next, more, err := newList(ctx, l.s, l.view, sel, slices.Compact(ids))
		if err != nil {
			return err
		}
		reportGaps(ctx, append(gaps, more...))
		st.list = next
		return nil
	})
}

// uses follows what processes read (Upstream) and write (Downstream), or the
// processes that write (Upstream) and read (Downstream) data stores and
// columns.
func (l *list) uses(ctx context.Context, field string, processes bool, dir graph.Direction) (*step, error) {
	return l.follow(ctx, field, l.sel.at(field), func(ctx context.Context, to map[graph.ID][]graph.ID) ([]graph.Gap, error) {
		var ids []graph.ID
		for _, id := range l.ids {
			if processes == (id.Kind() == graph.ProcessKind) {
				ids = append(ids, id)
			}
		}
		used, gaps, err := graph.Uses(ctx, l.view, ids, dir, false)
		maps.Copy(to, used)
		return gaps, err
	})
}
