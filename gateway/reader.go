package gateway

import (
	"context"
	"fmt"

	"headwater/background"
	"headwater/graph"
)

// A reader is the federation, of which nothing is asked before a catalog is
// known: over no regions every answer would be empty, and say that it is whole.
type reader struct{ g *Gateway }

// View implements graph.Reader.
func (r reader) View(ctx context.Context, at graph.At) (graph.View, error) {
	background.Asked()
	r.g.mu.Lock()
	ready := r.g.adopted
	r.g.mu.Unlock()
	if state, _ := r.g.Catalog.Now(); !ready || state.Version() == 0 {
		return nil, fmt.Errorf("%w: gateway %q has not heard of the catalog since it started", graph.ErrUnavailable, r.g.o.Catalog.Self.Name)
	}
	return r.g.reader.View(ctx, at)
}
