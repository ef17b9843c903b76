package api

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"headwater/graph"
)

// A mutation resolves the fields of Mutation.
type mutation struct{ o *Options }

// DeleteNode is Mutation.deleteNode.
func (m *mutation) DeleteNode(ctx context.Context, of NodeRef) (*Receipt, error) {
	if m.o.Delete == nil {
		return nil, &fault{code: codeUnavailable, message: "deleteNode: this server takes no changes; ask one that is started to"}
	}
	s := sessionOf(ctx)
	st, err := s.view(ctx, graph.At{})
	if err != nil {
		return nil, err
	}
	n, gaps, err := s.find(ctx, st, "of", of, 0)
	switch {
	case err != nil:
		return nil, err
	case n.ID.IsColumn():
		return nil, badInput("of: is a column; delete its data store, or report a schema without it")
	case len(gaps) > 0:
		return nil, gapFault("of: the name may mean another node, too", gaps)
	case n.Name.ID() != n.ID:
		return nil, fmt.Errorf("delete node %s: its name %s has the id %s", n.ID, n.Name, n.Name.ID())
	}
	reading, cancel := s.reading(ctx)
	defer cancel()
	position, err := m.o.Delete(reading, n.Name)
	if err != nil {
		return nil, fmt.Errorf("delete %s: %w", n.Name, err)
	}
	if err := m.applied(reading, position); err != nil {
		return nil, err
	}
	return &Receipt{Position: position}, nil
}

// applied waits until what a receipt is for can be read.
func (m *mutation) applied(ctx context.Context, position string) error {
	want, err := parsePositions(position)
	if err != nil {
		return fmt.Errorf("receipt %q: %v", position, err)
	}
	late := &fault{code: codeTimeout, message: "the deletion was taken at " + position + " but is not applied yet", extensions: map[string]any{"position": position}}
	view, err := m.o.Reader.View(ctx, graph.At{AtLeast: want})
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return late
	case err != nil:
		return fmt.Errorf("wait for %s: %w", position, err)
	}
	marks := view.Marks()
	err = view.Close()
	if slices.ContainsFunc(slices.Collect(maps.Keys(want)), func(r string) bool { return marks[r].Position < want[r] }) {
		return late
	}
	return err
}
