package sql

// drawPlan gives a target its plan, inputs before what reads them, its inputs
// and its reads.
func (r *resolver) drawPlan(t *Target, write int32) {
	order := r.below(write)
	r.plan++
	if r.drawn += len(order); r.drawn > maxDrawn+len(r.text)/4 {
		r.drawOnlyWrite(t, order)
		return
	}
	t.Plan = make([]PlanNode, len(order))
	slab := make([]int, 0, 2*len(order))
	for i, n := range order {
		s := &r.steps[n]
		p := PlanNode{ID: int(n), Op: s.op, Label: s.label, Tree: s.tree}
		if s.tree != nil {
			p.Span = s.tree.Range()
		}
		start := len(slab)
		for _, in := range s.inputs {
			slab = append(slab, int(in))
		}
		p.Inputs = slab[start:len(slab):len(slab)]
		if s.table >= 0 {
			p.Table = r.tables[s.table]
			if p.Label == "" && p.Table != nil {
				p.Label = p.Table.Name
			}
		}
		t.Plan[i] = p
		if s.op == OpScan && p.Table != nil && (s.table != t.Table.id || !r.ownScan(t, n)) {
			if info := &r.infos[s.table]; info.inputAt != r.plan {
				info.inputAt = r.plan
				t.Inputs = append(t.Inputs, p.Table)
			}
			t.Reads = append(t.Reads, Read{Table: p.Table, Node: int(n)})
		}
	}
	if len(t.Reads) > 0 && len(order) <= 2000 {
		r.readPredicates(t, write, order)
	}
}

// drawOnlyWrite gives a target the last of its operators and its inputs: there
// are many targets over one large plan, or too many operators.
func (r *resolver) drawOnlyWrite(t *Target, order []int32) {
	write := order[len(order)-1]
	s := &r.steps[write]
	t.Plan = []PlanNode{{ID: int(write), Op: s.op, Label: s.label, Tree: s.tree, Span: s.tree.Range(), Table: r.tables[s.table]}}
	seen := make(map[int32]bool)
	for _, n := range order {
		s := &r.steps[n]
		if s.op == OpScan && s.table >= 0 && !seen[s.table] && r.tables[s.table] != nil && !r.ownScan(t, n) {
			seen[s.table] = true
			t.Inputs = append(t.Inputs, r.tables[s.table])
		}
	}
}

// ownScan reports whether a scan is only of the target that is changed in
// place: no value comes from it.
func (r *resolver) ownScan(t *Target, scan int32) bool {
	if !r.steps[scan].own {
		return false
	}
	for _, c := range t.outs {
		for _, d := range r.columns[c].set {
			if r.base[d.base].table == t.Table.id && d.kinds&Direct != 0 {
				return false
			}
		}
	}
	return true
}

func (r *resolver) partitionedBy(table int32, column string) bool {
	for _, p := range r.infos[table].partitioned {
		if lower(p) == lower(column) {
			return true
		}
	}
	return false
}
