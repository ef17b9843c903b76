package graph

import (
	"context"
	"slices"
)

// Uses lists, for each of ids that has any, the data stores that a process
// reads (Upstream) or writes (Downstream), or the processes that write
// (Upstream) or read (Downstream) a data store, sorted. Of a column it lists
// the processes whose flows touch it.
func Uses(ctx context.Context, v View, ids []ID, dir Direction, throughDeleted bool) (map[ID][]ID, []Gap, error) {
	to := map[ID][]ID{}
	var whole, columns []ID
	for _, id := range ids {
		if id.IsColumn() {
			columns = append(columns, id)
		} else {
			whole = append(whole, id)
		}
	}
	var gaps []Gap
	ask := func(layer Layer, ids []ID, each func(Flow)) error {
		if len(ids) == 0 {
			return nil
		}
		more, err := v.Flows(ctx, ids, Ask{Layer: layer, Dir: dir, ThroughDeleted: throughDeleted}, func(fs []Flow) error {
			for _, f := range fs {
				each(f)
			}
			return nil
		})
		gaps = append(gaps, more...)
		return err
	}
	if err := ask(UseLayer, whole, func(f Flow) { to[f.From] = append(to[f.From], f.To) }); err != nil {
		return nil, nil, err
	}
	if err := ask(ColumnLayer, columns, func(f Flow) {
		if f.By.Subject.Kind() == ProcessKind {
			to[f.From] = append(to[f.From], f.By.Subject)
		}
	}); err != nil {
		return nil, nil, err
	}
	for id, list := range to {
		slices.SortFunc(list, ID.Compare)
		to[id] = slices.Compact(list)
	}
	return to, gaps, nil
}
