package bench

import (
	"context"
	"iter"

	"headwater/graph"
)

// A csr is the same flows as a bare adjacency: an array of offsets and one of
// targets, nothing beside. It is what the walks are compared with.
type csr struct {
	offsets []uint32
	targets []uint32
	at      map[graph.ID]uint32
	ids     []graph.ID
}

func (c *csr) has(id graph.ID) bool {
	_, ok := c.at[id]
	return ok
}

// An adjacency makes a csr of a view.
type adjacency func(context.Context, graph.View, iter.Seq2[graph.Name, error]) (*csr, error)

// A pair is an edge that a csr is made of.
type pair struct{ from, to uint32 }

func (c *csr) number(id graph.ID) uint32 {
	n, ok := c.at[id]
	if !ok {
		n = uint32(len(c.ids))
		c.at[id] = n
		c.ids = append(c.ids, id)
	}
	return n
}

// build makes the adjacency of pairs; what repeats is kept once.
func (c *csr) build(pairs []pair) {
	c.offsets = make([]uint32, len(c.ids)+1)
	seen := make(map[pair]bool, len(pairs))
	once := pairs[:0]
	for _, p := range pairs {
		if !seen[p] {
			seen[p] = true
			once = append(once, p)
			c.offsets[p.from+1]++
		}
	}
	for i := range c.ids {
		c.offsets[i+1] += c.offsets[i]
	}
	c.targets = make([]uint32, len(once))
	next := append([]uint32(nil), c.offsets[:len(c.ids)]...)
	for _, p := range once {
		c.targets[next[p.from]] = p.to
		next[p.from]++
	}
}

// search visits what root reaches within depth hops, breadth first, and
// returns how many that are. seen and queue are memory, seen all zero; it is
// left so.
func (c *csr) search(root uint32, depth int, seen []bool, queue []uint32) int {
	queue = append(queue[:0], root)
	seen[root] = true
	for level, at := 0, 0; at < len(queue) && level < depth; level++ {
		for end := len(queue); at < end; at++ {
			n := queue[at]
			for _, to := range c.targets[c.offsets[n]:c.offsets[n+1]] {
				if !seen[to] {
					seen[to] = true
					queue = append(queue, to)
				}
			}
		}
	}
	for _, n := range queue {
		seen[n] = false
	}
	return len(queue)
}

// tables is the adjacency of the data stores of a view, downstream; names
// yields them.
func tables(ctx context.Context, v graph.View, names iter.Seq2[graph.Name, error]) (*csr, error) {
	c := &csr{at: map[graph.ID]uint32{}}
	var pairs []pair
	err := flows(ctx, v, names, graph.Ask{Layer: graph.TableLayer, Kinds: graph.AllKinds &^ graph.Control}, func(f graph.Flow) {
		pairs = append(pairs, pair{c.number(f.From), c.number(f.To)})
	})
	c.build(pairs)
	return c, err
}

// columns is the adjacency of columns and data stores. A data store has two
// numbers: its own rows, to which each of its columns leads, and the whole of
// it, which leads to its rows and its columns.
func columns(ctx context.Context, v graph.View, names iter.Seq2[graph.Name, error]) (*csr, error) {
	c := &csr{at: map[graph.ID]uint32{}}
	var pairs []pair
	rows := func(id graph.ID) uint32 { // an id that no column has
		r := id.Base()
		r[23] = 1
		return c.number(r)
	}
	node := func(id graph.ID) uint32 {
		n, known := c.at[id]
		if known {
			return n
		}
		n = c.number(id)
		pairs = append(pairs, pair{n, rows(id)})
		if id.IsColumn() {
			pairs = append(pairs, pair{c.number(id.Base()), n})
			if _, ok := c.at[id.Base()]; ok {
				pairs = append(pairs, pair{c.at[id.Base()], rows(id)})
			}
		}
		return n
	}
	kinds := graph.AllKinds &^ graph.Control
	from := func(id graph.ID) uint32 {
		if id.IsColumn() {
			return node(id)
		}
		return rows(id)
	}
	err := flows(ctx, v, names, graph.Ask{Layer: graph.ColumnLayer, Whole: true, Kinds: kinds}, func(f graph.Flow) {
		pairs = append(pairs, pair{from(f.From), node(f.To)})
	})
	if err != nil {
		return nil, err
	}
	err = flows(ctx, v, names, graph.Ask{Layer: graph.TableLayer, CoarseOnly: true, Kinds: kinds}, func(f graph.Flow) {
		pairs = append(pairs, pair{from(f.From), node(f.To)})
	})
	c.build(pairs)
	return c, err
}

// flows calls f with the downstream flows of all data stores; a fan's inputs
// flow into each of its outputs.
func flows(ctx context.Context, v graph.View, names iter.Seq2[graph.Name, error], ask graph.Ask, f func(graph.Flow)) error {
	var ids []graph.ID
	hubs := map[graph.ID][]graph.Flow{}
	take := func() error {
		_, err := v.Flows(ctx, ids, ask, func(fs []graph.Flow) error {
			for _, x := range fs {
				if x.To.IsHub() {
					hubs[x.To] = append(hubs[x.To], x)
				} else {
					f(x)
				}
			}
			return nil
		})
		ids = ids[:0]
		return err
	}
	for n, err := range names {
		if err != nil {
			return err
		}
		if n.Kind != graph.DataStoreKind {
			continue
		}
		if ids = append(ids, n.ID()); len(ids) == 4096 {
			if err := take(); err != nil {
				return err
			}
		}
	}
	if err := take(); err != nil {
		return err
	}
	for hub, ins := range hubs {
		_, err := v.Flows(ctx, []graph.ID{hub}, ask, func(fs []graph.Flow) error {
			for _, in := range ins {
				for _, out := range fs {
					f(graph.Flow{From: in.From, To: out.To})
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
