package sql

import (
	"strings"

	"headwater/ingest/sql/syntax"
)

// model makes the columns that Oracle's MODEL clause names visible to the
// select list: partitions and dimensions as they are, measures with what their
// rules compute them from.
func (r *resolver) model(m *syntax.Model, s *scope, f *from) {
	for _, q := range m.References {
		rel := r.query(q, s.parent)
		f.acc.subs = append(f.acc.subs, rel.node)
		f.acc.deps = append(f.acc.deps, indirect(nil, rel.deps, Identity)...)
	}
	var cells []param
	for _, items := range [3][]syntax.SelectItem{m.Partition, m.Dimensions, m.Measures} {
		for i := range items {
			acc := r.scratch()
			r.walk(items[i].Expr, s, Identity, inItems, acc)
			c := r.newColumn(column{set: r.keepSet(acc), from: r.ints.keep(acc.from), node: f.node, item: items[i].Expr, masked: acc.masked})
			r.release(acc)
			if name := ownName(&items[i]); name != "" {
				cells = append(cells, param{name, c})
			}
		}
	}
	s.params = append(s.params, cells...)
	for i := range m.Rules {
		rule := &m.Rules[i]
		name := measure(rule.Cell)
		for k := range s.params {
			p := &s.params[k]
			if name == "" || p.col < 0 || !strings.EqualFold(p.name, name) {
				continue
			}
			acc := r.scratch()
			r.use(p.col, Identity, acc)
			r.walk(rule.Value, s, Transformation, inItems, acc)
			p.col = r.newColumn(column{set: r.keepSet(acc), from: r.ints.keep(acc.from), node: f.node, item: rule, masked: acc.masked})
			r.release(acc)
		}
	}
}

// measure is the measure of which a cell is.
func measure(cell syntax.Expr) string {
	if x, ok := cell.(*syntax.Index); ok {
		cell = x.X
	}
	if ref, ok := cell.(*syntax.Ref); ok {
		return lastPart(ref.Name)
	}
	return ""
}
