package sql

import "headwater/ingest/sql/syntax"

// transform computes Hive's TRANSFORM: every output is made of every input.
func (r *resolver) transform(sel *selection, list []outColumn) []outColumn {
	t := sel.tree.Transform
	acc := r.scratch()
	for _, e := range t.Args {
		r.walk(e, sel.scope, Transformation, inItems, acc)
	}
	c := r.newColumn(column{set: r.keepSet(acc), from: r.ints.keep(acc.from), node: -1, item: t})
	sel.made = append(sel.made, c)
	sel.subs = append(sel.subs, acc.subs...)
	r.release(acc)
	if len(t.Columns) == 0 {
		return append(list, outColumn{"key", c, false}, outColumn{"value", c, false})
	}
	for i := range t.Columns {
		list = append(list, outColumn{lastPart(t.Columns[i].Name), c, false})
	}
	return list
}

func lastPart(n syntax.Name) string {
	if len(n.Parts) == 0 {
		return ""
	}
	return n.Parts[len(n.Parts)-1].Text
}
