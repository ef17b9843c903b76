package graph

import "context"

// ColumnPaths lists the columns of what a name stands for, in their order; none
// where no schema is known.
func ColumnPaths(ctx context.Context, v View, name Name) (paths []string, gaps []Gap, err error) {
	node, err := v.Resolve(ctx, name.ID())
	if err != nil {
		return nil, nil, err
	}
	gaps, err = v.Nodes(ctx, []ID{node}, 0, func(n Node) error {
		for _, f := range n.Facts.Columns {
			paths = append(paths, f.Path)
		}
		return nil
	})
	return paths, gaps, err
}
