package api

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"headwater/graph"
)

// A wanted is a NodeRef that makes sense: an id, or the names that it may
// mean.
type wanted struct {
	arg   string // the argument that it came in
	id    graph.ID
	names []graph.Name // without an id; of one namespace, name and column
}

// parseRef reads a NodeRef. regions are those that a name without a region
// may be of.
func parseRef(arg string, ref NodeRef, regions []string) (w wanted, err error) {
	w.arg = arg
	if ref.ID != nil {
		if ref.Region != nil || ref.Namespace != nil || ref.Name != nil || ref.Column != nil || ref.Kind != nil {
			return w, badInput("%s: give the id alone, or namespace and name; not both", arg)
		}
		if w.id, err = graph.ParseID(*ref.ID); err != nil {
			return w, badInput("%s.id: %v", arg, err)
		}
		return w, nil
	}
	if ref.Namespace == nil || ref.Name == nil {
		return w, badInput("%s: needs an id, or a namespace and a name", arg)
	}
	if ref.Column != nil && *ref.Column == "" {
		return w, badInput("%s.column: is empty", arg)
	}
	kinds := []graph.Kind{graph.DataStoreKind, graph.ProcessKind}
	if ref.Column != nil {
		kinds = kinds[:1]
	}
	if ref.Kind != nil {
		switch k := *ref.Kind; {
		case k == NodeKindColumn && ref.Column == nil:
			return w, badInput("%s.kind: COLUMN needs a column", arg)
		case k != NodeKindColumn && ref.Column != nil:
			return w, badInput("%s.kind: is %s, but a column is given", arg, k)
		case k == NodeKindProcess:
			kinds = kinds[1:]
		default:
			kinds = kinds[:1]
		}
	}
	if ref.Region != nil {
		regions = []string{*ref.Region}
	}
	n := graph.Name{Namespace: *ref.Namespace, Name: *ref.Name, Column: deref(ref.Column)}
	if err := n.Check(); err != nil {
		return w, badInput("%s: %v", arg, err)
	}
	for _, n.Kind = range kinds {
		for _, n.Region = range regions {
			w.names = append(w.names, n)
		}
	}
	return w, nil
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// find returns the node that an argument names, with what is wanted of it. What
// could not be asked is returned too: the name may mean something there as well.
func (s *session) find(ctx context.Context, view graph.View, arg string, ref NodeRef, want graph.Want) (*graph.Node, []graph.Gap, error) {
	w, err := parseRef(arg, ref, slices.Sorted(maps.Keys(view.Marks())))
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := s.reading(ctx)
	defer cancel()
	ids := []graph.ID{w.id}
	if w.names != nil {
		ids = ids[:0]
		for _, n := range w.names {
			ids = append(ids, n.ID())
		}
	}
	found, gaps, err := existing(ctx, view, ids, want)
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("find %s: %w", w, err)
	case len(found) == 1:
		return &found[0], gaps, nil
	case len(found) > 1:
		return nil, nil, w.ambiguous(found)
	case len(gaps) > 0:
		return nil, nil, gapFault(fmt.Sprintf("%s: %s is not known here, but may be elsewhere", arg, w), gaps)
	}
	return nil, nil, w.missing(ctx, view)
}

// existing returns the nodes that ids stand for, sorted by kind, region and
// name.
func existing(ctx context.Context, view graph.View, ids []graph.ID, want graph.Want) ([]graph.Node, []graph.Gap, error) {
	nodes := make([]graph.ID, 0, len(ids))
	for _, id := range ids {
		node, err := view.Resolve(ctx, id)
		if err != nil {
			return nil, nil, err
		}
		nodes = append(nodes, node)
	}
	slices.SortFunc(nodes, graph.ID.Compare)
	var found []graph.Node
	gaps, err := view.Nodes(ctx, slices.Compact(nodes), want, func(n graph.Node) error {
		if !n.ID.IsHub() { // a fan is no node of the schema
			found = append(found, n)
		}
		return nil
	})
	slices.SortFunc(found, func(a, b graph.Node) int { return cmp.Or(a.Name.Compare(b.Name), a.ID.Compare(b.ID)) })
	return found, gaps, err
}

// String describes what is wanted, for people.
func (w wanted) String() string {
	if w.names == nil {
		return fmt.Sprintf("the id %s", w.id)
	}
	n := w.names[0]
	s := "data store or process"
	switch {
	case n.Column != "":
		s = fmt.Sprintf("column %q of data store", n.Column)
	case n.Kind == graph.ProcessKind:
		s = "process"
	case w.names[len(w.names)-1].Kind == graph.DataStoreKind:
		s = "data store"
	}
	s = fmt.Sprintf("%s %q in namespace %q", s, n.Name, n.Namespace)
	if slices.ContainsFunc(w.names, func(o graph.Name) bool { return o.Region != n.Region }) {
		return s
	}
	return fmt.Sprintf("%s of region %q", s, n.Region)
}

func (w wanted) ambiguous(found []graph.Node) error {
	f := &fault{code: codeAmbiguous}
	var candidates []map[string]any
	var list []string
	for _, n := range found {
		candidates = append(candidates, map[string]any{"id": n.ID.String(), "kind": kindOf(n.ID), "region": n.Name.Region, "namespace": n.Name.Namespace, "name": n.Name.Name})
		list = append(list, fmt.Sprintf("%s %s of region %q", kindOf(n.ID), n.ID, n.Name.Region))
	}
	f.message = fmt.Sprintf("%s: %s fits %d nodes; add a region or a kind, or use an id: %s", w.arg, w, len(found), strings.Join(list, ", "))
	f.extensions = map[string]any{"candidates": candidates}
	return f
}

func kindOf(id graph.ID) NodeKind {
	switch {
	case id.IsColumn():
		return NodeKindColumn
	case id.Kind() == graph.ProcessKind:
		return NodeKindProcess
	}
	return NodeKindDatastore
}

// missing says what was not found; of a column, whether its data store was.
func (w wanted) missing(ctx context.Context, view graph.View) error {
	f := &fault{code: codeNotFound, message: fmt.Sprintf("%s: nothing is known of %s", w.arg, w)}
	var tables []graph.ID
	for _, n := range w.names {
		if n.Column != "" {
			tables = append(tables, n.ID().Base())
		}
	}
	if w.id.IsColumn() {
		tables = []graph.ID{w.id.Base()}
	}
	if len(tables) == 0 {
		return f
	}
	found, _, err := existing(ctx, view, tables, graph.WantColumns)
	if err != nil {
		return fmt.Errorf("find the data store of %s: %w", w, err)
	}
	if len(found) == 0 {
		return f
	}
	table := found[0].Name
	if w.names == nil {
		f.message = fmt.Sprintf("%s: data store %q in namespace %q has no column with the id %s", w.arg, table.Name, table.Namespace, w.id)
		return f
	}
	f.message = fmt.Sprintf("%s: data store %q in namespace %q is known, but not its column %q", w.arg, table.Name, table.Namespace, w.names[0].Column)
	if near := closest(w.names[0].Column, found); len(near) > 0 {
		f.message += "; close to it: " + strings.Join(near, ", ")
		f.extensions = map[string]any{"closest": near}
	}
	return f
}

// closest lists the few columns of tables that are most like a path.
func closest(path string, tables []graph.Node) []string {
	const most = 5
	type scored struct {
		path  string
		score int
	}
	var all []scored
	want := strings.ToLower(path)
	for _, t := range tables {
		for _, c := range t.Facts.Columns {
			have := strings.ToLower(c.Path)
			score := distance(want, have)
			if strings.Contains(have, want) || strings.Contains(want, have) {
				score = min(score, 1)
			}
			if score <= 1+max(len(want), len(have))/3 {
				all = append(all, scored{c.Path, score})
			}
		}
	}
	slices.SortFunc(all, func(a, b scored) int { return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(a.path, b.path)) })
	all = slices.Compact(all)
	var near []string
	for _, s := range all[:min(most, len(all))] {
		near = append(near, s.path)
	}
	return near
}

// distance is the number of bytes to insert, remove or replace between two
// texts (Levenshtein). Long texts are taken to be far apart.
func distance(a, b string) int {
	if len(a) > 100 || len(b) > 100 {
		return max(len(a), len(b))
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			swap := before
			if a[i] != b[j] {
				swap++
			}
			before = row[j+1]
			row[j+1] = min(swap, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
