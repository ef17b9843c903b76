package sql

import (
	"strings"

	"headwater/ingest/sql/syntax"
)

// below lists the nodes under some nodes, inputs first. Until the next call
// they are those that are stamped.
func (r *resolver) below(roots ...int32) []int32 {
	r.stamp++
	if len(r.stamps) < len(r.steps) {
		r.stamps = append(r.stamps, make([]int32, len(r.steps)-len(r.stamps)+len(r.steps)/2)...)
	}
	order := make([]int32, 0, 8)
	type visit struct {
		node int32
		next int
	}
	var few [32]visit
	for _, root := range roots {
		if r.stamps[root] == r.stamp {
			continue
		}
		stack := append(few[:0], visit{root, 0})
		r.stamps[root] = r.stamp
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			ins := r.steps[top.node].inputs
			if top.next == len(ins) {
				order = append(order, top.node)
				stack = stack[:len(stack)-1]
				continue
			}
			n := ins[top.next]
			top.next++
			if r.stamps[n] != r.stamp {
				r.stamps[n] = r.stamp
				stack = append(stack, visit{n, 0})
			}
		}
	}
	return order
}

// readPredicates gives each scan the conjuncts that every row must satisfy on
// every way from the scan to the output.
func (r *resolver) readPredicates(t *Target, write int32, order []int32) {
	at := make(map[int32]int, len(t.Reads))
	for i := range t.Reads {
		at[int32(t.Reads[i].Node)] = i
	}
	barriers, outer := false, false
	for _, n := range order {
		s := &r.steps[n]
		barriers = barriers || s.barrier()
		left, right := s.nullable()
		outer = outer || left || right
	}
	for _, n := range order {
		if r.steps[n].clause == nil || len(r.steps[n].conds) == 0 {
			continue
		}
		conds := r.steps[n].conds
		off := r.off(write, n, barriers)
		var optional map[int32]bool
		if outer {
			optional = r.optional(n)
		}
		for _, c := range conds {
			i, ok := at[c.scan]
			if !ok || off[c.scan] || optional[c.scan] && !rejectsNull(c.expr) {
				continue
			}
			read := &t.Reads[i]
			read.Predicates = append(read.Predicates, r.predicate(c))
			if b, ok := r.bound(c); ok {
				b.Partition = r.partitionedBy(read.Table.id, b.Column)
				read.Bounds = append(read.Bounds, b)
			}
		}
	}
}

// barrier reports whether a filter above an operator does not choose the rows
// that are read below it: a LIMIT, a window, or what is read twice.
func (s *step) barrier() bool { return s.op == OpLimit || s.op == OpWindow || s.many }

// off are the scans of which a filter's conjuncts are no predicates: those that
// reach the root past the filter, and those behind a barrier.
func (r *resolver) off(root, filter int32, barriers bool) map[int32]bool {
	off := make(map[int32]bool)
	keep := r.steps[filter].inputs
	r.steps[filter].inputs = nil
	for _, n := range r.below(root) {
		if r.steps[n].op == OpScan {
			off[n] = true
		}
	}
	r.steps[filter].inputs = keep
	if !barriers {
		return off
	}
	var walls []int32
	for _, n := range r.below(filter) {
		if n != filter && r.steps[n].barrier() {
			walls = append(walls, n)
		}
	}
	if len(walls) == 0 {
		return off
	}
	for _, n := range r.below(walls...) {
		if r.steps[n].op == OpScan {
			off[n] = true
		}
	}
	return off
}

// nullable says of which sides of a join rows may be missing.
func (s *step) nullable() (left, right bool) {
	if s.op != OpJoin || strings.HasSuffix(s.label, "SEMI") || strings.HasSuffix(s.label, "ANTI") {
		return false, false
	}
	switch {
	case strings.Contains(s.label, "FULL"):
		return true, true
	case strings.Contains(s.label, "LEFT"), strings.Contains(s.label, "OUTER"):
		return false, true
	case strings.Contains(s.label, "RIGHT"):
		return true, false
	}
	return false, false
}

// optional are the scans below a filter whose rows an outer join may replace by
// NULLs: a condition that NULL satisfies is no predicate of theirs.
func (r *resolver) optional(filter int32) map[int32]bool {
	var roots []int32
	for _, n := range r.below(filter) {
		s := &r.steps[n]
		if n == filter || len(s.inputs) < 2 {
			continue
		}
		left, right := s.nullable()
		if left {
			roots = append(roots, s.inputs[0])
		}
		if right {
			roots = append(roots, s.inputs[1:]...)
		}
	}
	if len(roots) == 0 {
		return nil
	}
	scans := make(map[int32]bool)
	for _, n := range r.below(roots...) {
		if r.steps[n].op == OpScan {
			scans[n] = true
		}
	}
	return scans
}

// rejectsNull reports whether a condition surely fails for NULL: a comparison
// of plain columns and constants.
func rejectsNull(e syntax.Expr) bool {
	op, ok := e.(*syntax.Op)
	if !ok {
		return false
	}
	switch op.Op {
	case "=", "==", "<", "<=", ">", ">=", "<>", "!=", "LIKE", "IN", "BETWEEN", "RLIKE", "REGEXP", "ILIKE":
	default:
		return false
	}
	for _, a := range op.Args {
		switch x := a.(type) {
		case *syntax.Ref, *syntax.Literal, *syntax.Variable, *syntax.Cast:
		case *syntax.Call:
			if len(x.Args) > 0 && nullTests[strings.ToUpper(x.Func)] {
				return false
			}
		default:
			return false
		}
	}
	return true
}

var nullTests = words(`COALESCE NVL IFNULL ISNULL NVL2 IF IFF IIF DECODE NULLIF CONCAT CONCAT_WS GREATEST LEAST ZEROIFNULL IS_NULL`)
