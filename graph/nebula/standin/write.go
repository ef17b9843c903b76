package standin

import (
	"strings"
	"unicode/utf8"
)

// A write is what happens in one partition: all of it, or, where a row is bad,
// none.
type write struct {
	bad error
	ops []func(p *partition)
}

// writes are by partition.
type writes []write

func (w writes) add(part int, op func(p *partition)) {
	w[part].ops = append(w[part].ops, op)
}

func (w writes) refuse(part int, err error) {
	if w[part].bad == nil {
		w[part].bad = err
	}
}

// apply writes one partition after the other; others may look in between.
func (r *run) apply(sp *space, w writes) error {
	var errs []error
	for part := range w {
		if len(w[part].ops) == 0 && w[part].bad == nil || !r.parts.has(part) {
			continue
		}
		r.store.mu.Lock()
		err := w[part].bad
		if err == nil {
			err = r.store.leading(sp, part)
		}
		if err == nil {
			for _, op := range w[part].ops {
				op(&sp.partitions[part])
			}
		}
		r.store.mu.Unlock()
		if err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) > 0 {
		return errs[0]
	}
	return nil
}

// target finds what an INSERT or a DELETE is about, as graphd knows it.
func (r *run) target(name string, edge bool, columns []string) (*space, *schema, error) {
	r.store.mu.RLock()
	defer r.store.mu.RUnlock()
	sp, err := r.space()
	if err != nil {
		return nil, nil, err
	}
	of, _ := sp.schemas(edge)
	sc := of[name]
	if sc == nil || !r.store.heard(sc.born, byGraphd) {
		if edge {
			return nil, nil, refuse(codeExecution, "EdgeNotFound: EdgeName `%s`", name)
		}
		return nil, nil, refuse(codeSemantic, "SemanticError: No schema found for `%s'", name)
	}
	for _, c := range columns {
		if !r.store.has(sc, c) {
			return nil, nil, refuse(codeSemantic, "SemanticError: Unknown column `%s' in schema", c)
		}
	}
	return sp, sc, nil
}

// validate says what is wrong with an INSERT before it is run.
func (r *run) validate(c *insertClause) error {
	for i := range c.rows {
		if len(c.rows[i].values) != len(c.columns) {
			return refuse(codeSemantic, "SemanticError: Column count doesn't match value count.")
		}
	}
	_, _, err := r.target(c.name, c.edge, c.columns)
	return err
}

func (r *run) insert(c *insertClause) error {
	if err := r.validate(c); err != nil {
		return err
	}
	sp, sc, err := r.target(c.name, c.edge, c.columns)
	if err != nil {
		return err
	}
	if err := r.store.stored(sp, sc, c.columns); err != nil {
		return err
	}
	at := make([]int, len(c.columns))
	for i, name := range c.columns {
		at[i] = sc.index[name]
	}
	w := make(writes, len(sp.partitions))
	n := &env{r: r}
	for i := range c.rows {
		row, bad := n.stored(sc, at, c.rows[i].values)
		if c.edge {
			insertEdge(w, sp, c, c.rows[i].key, row, bad)
			continue
		}
		vid := c.rows[i].key.src
		part := sp.part(strings.TrimRight(vid, "\x00"))
		id, err := sp.id(vid)
		if bad = firstErr(err, bad); bad != nil {
			w.refuse(part, bad)
			continue
		}
		k := recordKey{c.name, id}
		w.add(part, func(p *partition) {
			if _, ok := p.vertices[k]; !ok || !c.ifNotExists {
				p.vertices[k] = row
			}
		})
	}
	return r.apply(sp, w)
}

func insertEdge(w writes, sp *space, c *insertClause, k edgeKey, row []value, bad error) {
	src, err1 := sp.id(k.src)
	dst, err2 := sp.id(k.dst)
	out, in := sp.part(strings.TrimRight(k.src, "\x00")), sp.part(strings.TrimRight(k.dst, "\x00"))
	if err := firstErr(err1, err2, bad); err != nil {
		w.refuse(out, err)
		w.refuse(in, err)
		return
	}
	w.add(out, func(p *partition) {
		put(p.out, recordKey{c.name, src}, record{k.rank, dst, row}, c.ifNotExists)
	})
	w.add(in, func(p *partition) {
		put(p.in, recordKey{c.name, dst}, record{k.rank, src, row}, c.ifNotExists)
	})
}

// stored makes the row of what an INSERT says; what it does not is the default.
func (n *env) stored(sc *schema, at []int, values []*expr) ([]value, error) {
	row := make([]value, len(sc.columns))
	said := make([]bool, len(row))
	for i, e := range values {
		v, err := sc.columns[at[i]].fit(n.eval(e))
		if err != nil {
			return nil, err
		}
		row[at[i]], said[at[i]] = v, true
	}
	for i := range row {
		if said[i] {
			continue
		}
		c := &sc.columns[i]
		if !c.nullable && c.byDefault == nil {
			return nil, refuse(codeExecution, "Storage Error: The not null field doesn't have a default value.")
		}
		row[i] = c.absent()
	}
	return row, nil
}

var bits = map[string]uint{"int8": 8, "int16": 16, "int32": 32, "int64": 64}

// fit makes a value one of a column.
func (c *column) fit(v value) (value, error) {
	wrong := refuse(codeExecution, "Storage Error: The data type does not meet the requirements. Use the correct type of data.")
	if v.kind == isNull {
		if !c.nullable {
			return v, refuse(codeExecution, "Storage Error: The not null field cannot be null.")
		}
		return v, nil
	}
	switch c.kind {
	case "string":
		if v.kind != isString {
			return v, wrong
		}
	case "fixed_string":
		if v.kind != isString {
			return v, wrong
		}
		v.s, _, _ = strings.Cut(v.s, "\x00")
		for n := c.size; len(v.s) > c.size; n-- {
			if utf8.RuneStart(v.s[n]) {
				v.s = v.s[:n]
			}
		}
	case "bool":
		if v.kind != isBool {
			return v, wrong
		}
	default:
		if v.kind != isInt {
			return v, wrong
		}
		if n := 64 - bits[c.kind]; v.i<<n>>n != v.i {
			return v, refuse(codeExecution, "Storage Error: Out of range value.")
		}
	}
	return v, nil
}

func (r *run) delete(c *deleteClause, in *table) error {
	if c.vertices != nil {
		return r.deleteVertices(c)
	}
	sp, sc, err := r.target(c.edge, true, nil)
	if err != nil {
		return err
	}
	if err := r.store.stored(sp, sc, nil); err != nil {
		return err
	}
	keys := c.keys
	if c.src != nil {
		if _, err := r.checked([]*expr{c.src, c.dst, c.rank}, in); err != nil {
			return err
		}
		keys = nil
		n := &env{r: r, in: in}
		for _, n.row = range in.rows {
			src, dst, rank := n.eval(c.src), n.eval(c.dst), n.eval(c.rank)
			if src.kind == isString && dst.kind == isString && rank.kind == isInt {
				keys = append(keys, edgeKey{src.s, dst.s, rank.i})
			}
		}
	}
	w := make(writes, len(sp.partitions))
	for _, k := range keys {
		src, err1 := sp.id(k.src)
		dst, err2 := sp.id(k.dst)
		if err := firstErr(err1, err2); err != nil {
			return err
		}
		w.add(sp.part(src), func(p *partition) { remove(p.out, recordKey{c.edge, src}, record{rank: k.rank, other: dst}) })
		w.add(sp.part(dst), func(p *partition) { remove(p.in, recordKey{c.edge, dst}, record{rank: k.rank, other: src}) })
	}
	return r.apply(sp, w)
}

// deleteVertices removes the tags of vertices, and, if asked, their edges.
func (r *run) deleteVertices(c *deleteClause) error {
	r.store.mu.Lock()
	defer r.store.mu.Unlock()
	sp, err := r.space()
	if err != nil {
		return err
	}
	for _, vid := range c.vertices {
		id, err := sp.id(vid)
		if err != nil {
			return err
		}
		p := &sp.partitions[sp.part(id)]
		for tag := range sp.tags {
			delete(p.vertices, recordKey{tag, id})
		}
		if !c.withEdges {
			continue
		}
		for edge := range sp.edges {
			k := recordKey{edge, id}
			for _, e := range p.out[k] {
				remove(sp.partitions[sp.part(e.other)].in, recordKey{edge, e.other}, record{rank: e.rank, other: id})
			}
			for _, e := range p.in[k] {
				remove(sp.partitions[sp.part(e.other)].out, recordKey{edge, e.other}, record{rank: e.rank, other: id})
			}
			delete(p.out, k)
			delete(p.in, k)
		}
	}
	return nil
}
