package nebula

import (
	"context"
	"errors"
	"fmt"

	"headwater/graph"
	"headwater/graph/pebble"
)

// A Store is a graph whose large rows are in NebulaGraph, and all else in a
// folder.
type Store struct {
	*pebble.Store
	e *engine
}

var _ graph.Store = (*Store)(nil)

// Open opens the graph whose folder is dir, or makes one there; the space is
// made with Options.Init. It is not usable for up to a minute then, in which
// Open waits. A folder and a space belong together: one without the other is
// refused.
func Open(ctx context.Context, dir string, o Options) (*Store, error) {
	e := &engine{o: &o, closed: newClosed(), pending: map[rowKey]struct{}{}, indexed: map[rowKey]struct{}{}}
	var err error
	if e.p, err = dial(ctx, &o); err != nil {
		return nil, fmt.Errorf("open the graph in NebulaGraph: %w", err)
	}
	if err := bringUp(ctx, e.p); err != nil {
		return nil, errors.Join(fmt.Errorf("open the graph in NebulaGraph: %w", err), e.Close())
	}
	e.cache = newCache(o.CacheBytes)
	f := o.Folder
	f.Region, f.OnDisk, f.TopologyBytes, f.Log, f.Elsewhere = o.Region, o.OnDisk, o.TopologyBytes, o.Log, e
	s, err := pebble.OpenContext(ctx, dir, f)
	if err != nil {
		return nil, err
	}
	return &Store{Store: s, e: e}, nil
}

// Counts are what a store has asked of NebulaGraph since it was opened.
type Counts struct {
	// Statements were sent, those again that failed in passing; Rows were read.
	Statements, Rows uint64
	// Hits and Misses are of the cache of flows.
	Hits, Misses uint64
}

// Counts returns the counts.
func (s *Store) Counts() Counts {
	c := Counts{Statements: s.e.p.statements(), Rows: s.e.rows.Load()}
	if s.e.cache != nil {
		c.Hits, c.Misses = s.e.cache.hits.Load(), s.e.cache.misses.Load()
	}
	return c
}

// hubProbes is how many vertices are read to see that storaged returns
// Options.HubRows rows of one: each may be on another storaged.
const hubProbes = 4

// probe checks that storaged returns as many rows of one vertex as are taken
// for whole, and writes them where they are not there.
func (e *engine) probe(ctx context.Context) error {
	vids := make([]graph.ID, hubProbes)
	for i := range vids {
		vids[i] = hashID('q', []byte{byte(i)})
	}
	count := func() (fewest int, err error) {
		n := map[graph.ID]int{}
		rows, err := e.ask(ctx, speaksTable, false, goFrom(&tables[speaksTable], false), map[string]any{"ids": texted(vids)})
		for i := range rows {
			n[rows[i].key.src]++
		}
		fewest = e.o.HubRows
		for _, v := range vids {
			fewest = min(fewest, n[v])
		}
		return fewest, err
	}
	n, err := count()
	if err != nil || n == e.o.HubRows {
		return err
	}
	t := texts{e: e}
	for _, v := range vids {
		for i := range e.o.HubRows {
			k := rowKey{table: speaksTable, src: v, dst: v, rank: int64(i)}
			t.begin(k.table, tables[k.table].insertHead())
			t.text = append(k.text(t.text), `:("",0)`...)
			if err := t.end(ctx); err != nil {
				return err
			}
		}
	}
	if err := t.send(ctx); err != nil {
		return err
	}
	if n, err = count(); err == nil && n < e.o.HubRows {
		err = fmt.Errorf("storaged returns %d of %d rows of one vertex: is its max_edge_returned_per_vertex set? It has to be %d at least", n, e.o.HubRows, e.o.HubRows)
	}
	return err
}
