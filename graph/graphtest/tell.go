package graphtest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"headwater/graph"
)

// Tell returns all that a view has of nodes, as text: what is known of them,
// what they say, their flows in all layers.
func Tell(ctx context.Context, v graph.View, ids []graph.ID) (string, error) {
	var lines []string
	if _, err := v.Nodes(ctx, ids, graph.WantColumns|graph.WantPartitions|graph.WantSeen, func(n graph.Node) error {
		column := n.Column
		n.Column = nil
		lines = append(lines, fmt.Sprintf("%+v column %+v", n, column))
		return nil
	}); err != nil {
		return "", err
	}
	if _, err := v.Says(ctx, ids, func(s graph.Said) error {
		content := []byte{}
		if s.Content != nil {
			content = graph.AppendContent(nil, s.Content)
		}
		lines = append(lines, fmt.Sprintf("%+v %x %v %d", s.Record, content, s.Provisional, s.From))
		return nil
	}); err != nil {
		return "", err
	}
	for layer := graph.TableLayer; layer <= graph.ControlLayer; layer++ {
		for _, dir := range []graph.Direction{graph.Upstream, graph.Downstream} {
			ask := graph.Ask{Layer: layer, Dir: dir, Whole: layer == graph.ColumnLayer, ThroughDeleted: true}
			if _, err := v.Flows(ctx, ids, ask, func(fs []graph.Flow) error {
				for _, f := range fs {
					lines = append(lines, fmt.Sprintf("%d %d %s %s %s %v %v", layer, dir, f.From, f.To, f.Kinds, f.Coarse, f.By))
				}
				return nil
			}); err != nil {
				return "", err
			}
		}
	}
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "\n"), nil
}
