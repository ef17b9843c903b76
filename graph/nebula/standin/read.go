package standin

import (
	"slices"
	"strconv"
)

func (r *run) unwind(c *unwindClause) (*table, error) {
	if _, err := r.checked([]*expr{c.list}, nil); err != nil {
		return nil, err
	}
	t := &table{columns: []string{c.as}}
	switch v := (&env{r: r}).eval(c.list); v.kind {
	case isList:
		t.rows = make([][]value, len(v.list))
		for i := range v.list {
			t.rows[i] = v.list[i : i+1 : i+1]
		}
	case isEmpty, isNull:
	default:
		t.rows = [][]value{{v}}
	}
	return t, nil
}

func (r *run) yield(c *yieldClause, in *table) (*table, error) {
	if _, err := r.checked(c.yields.exprs, in); err != nil {
		return nil, err
	}
	if c.yields.count {
		rows := 1
		if in != nil {
			rows = len(in.rows)
		}
		return &table{columns: c.yields.names, rows: [][]value{{intValue(int64(rows))}}}, nil
	}
	out := newOutput(c.yields)
	n := &env{r: r, in: in}
	if in == nil {
		out.add(n)
		return out.table, nil
	}
	for _, n.row = range in.rows {
		out.add(n)
	}
	return out.table, nil
}

// An output gathers rows.
type output struct {
	*table
	yields *yields
	seen   map[string]bool // of DISTINCT
}

func newOutput(y *yields) *output {
	o := &output{table: &table{columns: y.names}, yields: y}
	if y.distinct {
		o.seen = map[string]bool{}
	}
	return o
}

func (o *output) add(n *env) {
	row := make([]value, len(o.yields.exprs))
	for i, e := range o.yields.exprs {
		row[i] = n.eval(e)
	}
	if o.seen != nil {
		var k []byte
		for _, v := range row {
			k = append(k, byte(v.kind))
			k = strconv.AppendInt(k, v.i, 10)
			k = strconv.AppendQuote(k, v.s)
		}
		if o.seen[string(k)] {
			return
		}
		o.seen[string(k)] = true
	}
	o.rows = append(o.rows, row)
}

// A start is where a walk begins: an id, and the row that it came with.
type start struct {
	id  string
	row []value
}

// starts lists where to begin, by partition: the order of the ids is not kept.
func (r *run) starts(sp *space, ids []string, input *expr, in *table) ([]start, error) {
	var starts []start
	if input == nil {
		for _, id := range ids {
			starts = append(starts, start{id: id})
		}
	} else {
		n := &env{r: r, in: in}
		for _, n.row = range in.rows {
			// What is not an id is passed over in silence.
			if v := n.eval(input); v.kind == isString {
				starts = append(starts, start{v.s, n.row})
			}
		}
	}
	for i := range starts {
		var err error
		if starts[i].id, err = sp.id(starts[i].id); err != nil {
			return nil, err
		}
		if err := r.store.leading(sp, sp.part(starts[i].id)); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(starts, func(a, b start) int { return sp.part(a.id) - sp.part(b.id) })
	return starts, nil
}

// walk runs a GO.
func (r *run) walk(c *goClause, in *table) (*table, error) {
	r.store.mu.RLock()
	defer r.store.mu.RUnlock()
	sp, err := r.space()
	if err != nil {
		return nil, err
	}
	var over []*schema
	for _, name := range c.over {
		sc := sp.edges[name]
		if sc == nil || !r.store.heard(sc.born, byGraphd) {
			return nil, refuse(codeSemantic, "SemanticError: %s not found in space [%s].", name, sp.name)
		}
		over = append(over, sc)
	}
	exprs := append([]*expr{c.where, c.input}, c.yields.exprs...)
	props, err := r.checked(exprs, in, over...)
	if err != nil {
		return nil, err
	}
	for _, sc := range over {
		if err := r.store.stored(sp, sc, props[sc]); err != nil {
			return nil, err
		}
	}
	from := c.from
	if c.input == nil {
		from = slices.Clone(from)
		slices.Sort(from)
		from = slices.Compact(from)
	}
	starts, err := r.starts(sp, from, c.input, in)
	if err != nil {
		return nil, err
	}
	out := newOutput(c.yields)
	count := int64(0)
	n := &env{r: r, in: in}
	for _, s := range starts {
		n.row, n.start = s.row, s.id
		r.edges(sp, over, c, n, func() bool {
			if c.limit >= 0 && count >= c.limit {
				return false
			}
			count++
			out.add(n)
			return true
		})
	}
	return out.table, nil
}

// edges calls f for the edges of a vertex that count, until it returns false.
func (r *run) edges(sp *space, over []*schema, c *goClause, n *env, f func() bool) {
	p := &sp.partitions[sp.part(n.start)]
	found := 0
	for _, sc := range over {
		k := recordKey{sc.name, n.start}
		n.schema = sc
		for _, reversed := range []bool{false, true} {
			if c.dir == 1 && reversed || c.dir == -1 && !reversed {
				continue
			}
			records := p.out[k]
			if reversed {
				records = p.in[k]
			}
			for i := range records {
				e := &records[i]
				n.record, n.rank, n.far = e.row, e.rank, e.other
				n.src, n.dst = n.start, e.other
				if reversed {
					n.src, n.dst = n.dst, n.src
				}
				if c.where != nil && !n.eval(c.where).isTrue() {
					continue
				}
				// Of more than it may return storaged says nothing.
				if found++; r.server.o.MaxEdges > 0 && found > r.server.o.MaxEdges || !f() {
					return
				}
			}
		}
	}
}

func (r *run) fetch(c *fetchClause, in *table) (*table, error) {
	r.store.mu.RLock()
	defer r.store.mu.RUnlock()
	sp, err := r.space()
	if err != nil {
		return nil, err
	}
	of, _ := sp.schemas(c.keys != nil)
	sc := of[c.name]
	if sc == nil || !r.store.heard(sc.born, byGraphd) {
		if c.keys != nil {
			return nil, refuse(codeExecution, "EdgeNotFound: EdgeName `%s`", c.name)
		}
		return nil, refuse(codeExecution, "TagNotFound: TagName `%s`", c.name)
	}
	props, err := r.checked(append([]*expr{c.input}, c.yields.exprs...), in, sc)
	if err != nil {
		return nil, err
	}
	if err := r.store.stored(sp, sc, props[sc]); err != nil {
		return nil, err
	}
	out := newOutput(c.yields)
	n := &env{r: r, in: in, schema: sc}
	if c.keys != nil {
		return out.table, r.fetchEdges(sp, c, n, out)
	}
	starts, err := r.starts(sp, c.from, c.input, in)
	if err != nil {
		return nil, err
	}
	for _, s := range starts {
		row, ok := sp.partitions[sp.part(s.id)].vertices[recordKey{c.name, s.id}]
		if ok {
			n.row, n.start, n.record = s.row, s.id, row
			out.add(n)
		}
	}
	return out.table, nil
}

func (r *run) fetchEdges(sp *space, c *fetchClause, n *env, out *output) error {
	for _, k := range c.keys {
		src, err1 := sp.id(k.src)
		dst, err2 := sp.id(k.dst)
		if err := firstErr(err1, err2, r.store.leading(sp, sp.part(src))); err != nil {
			return err
		}
		list := sp.partitions[sp.part(src)].out[recordKey{c.name, src}]
		at, ok := slices.BinarySearchFunc(list, record{rank: k.rank, other: dst}, compareRecords)
		if !ok {
			continue
		}
		n.record, n.rank = list[at].row, k.rank
		n.start, n.far, n.src, n.dst = src, dst, src, dst
		out.add(n)
	}
	return nil
}

func limited(c *limitClause, in *table) *table {
	from := min(c.offset, int64(len(in.rows)))
	to := min(from+c.count, int64(len(in.rows)))
	return &table{columns: in.columns, rows: in.rows[from:to]}
}

func (r *run) order(c *orderClause, in *table) (*table, error) {
	if _, err := r.checked(c.by, in); err != nil {
		return nil, err
	}
	t := &table{columns: in.columns, rows: slices.Clone(in.rows)}
	slices.SortStableFunc(t.rows, func(a, b []value) int {
		for i, e := range c.by {
			at := in.column(e.name)
			order, _ := a[at].compare(b[at])
			if c.desc[i] {
				order = -order
			}
			if order != 0 {
				return order
			}
		}
		return 0
	})
	return t, nil
}
