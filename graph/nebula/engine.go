package nebula

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"
	"time"

	"headwater/graph"
	"headwater/graph/pebble"
)

// An engine keeps the large rows of a store in NebulaGraph.
type engine struct {
	o    *Options
	p    *pool
	rows atomic.Uint64 // that were read

	closed *closed
	cache  *cache // nil: there is none

	// What follows is the writer's.
	folder string
	last   uint64 // the ordinal of the last batch that is done
	// pending holds the keys of rows that a batch with the ordinal after last
	// may have written, though it was not done.
	pending map[rowKey]struct{}
	noted   int // notes of pending
	plan    plan
	// indexed holds rows of who speaks of what that are there for certain.
	indexed map[rowKey]struct{}
	// settles is when what was begun before this process can't come any more.
	settles time.Time
}

var _ pebble.Elsewhere = (*engine)(nil)

// A plan is what Write is to do, and Done to note.
type plan struct {
	n                        uint64
	b                        *batch
	puts                     []int // of b.ops
	closes, reopens, deletes []rowKey
	// strays are rows that another batch may have written under this ordinal.
	strays  []rowKey
	deleted []rowKey // of deletes, for certain
}

// Begin implements pebble.Elsewhere.
func (e *engine) Begin(ctx context.Context, folder string, last uint64, notes iter.Seq2[pebble.Note, error]) error {
	e.folder, e.last = folder, last
	for n, err := range notes {
		if err != nil {
			return err
		}
		if err := e.note(n); err != nil {
			return err
		}
	}
	if e.noted > 0 { // a batch was being written: what it has sent may come yet
		e.settles = time.Now().Add(e.o.hold)
		for k, h := range e.closed.rows {
			h.tried = true
			e.closed.rows[k] = h
		}
	}
	if err := e.claim(ctx); err != nil {
		return fmt.Errorf("space %s in NebulaGraph: %w", e.o.Space, err)
	}
	return e.probe(ctx)
}

// note takes in what the folder has.
func (e *engine) note(n pebble.Note) error {
	if len(n.Key) == 0 {
		return fmt.Errorf("a note without a key: %w", graph.ErrFormat)
	}
	switch n.Key[0] {
	case noteClosed:
		k, err := parseRowKey(n.Key[1:])
		if err != nil || len(n.Value) != 8 {
			return errors.Join(err, graph.ErrFormat)
		}
		e.closed.rows[k] = hidden{spans: []span{{fromBytes(n.Value), forever}}}
	case notePending:
		e.noted++
		for b := n.Value; len(b) > 0; b = b[rowKeyLen:] {
			k, err := parseRowKey(b[:min(len(b), rowKeyLen)])
			if err != nil {
				return err
			}
			e.pending[k] = struct{}{}
		}
	default:
		return fmt.Errorf("note %q: %w", n.Key[0], graph.ErrFormat)
	}
	return nil
}

// claim makes an empty space this folder's, or checks that it is.
func (e *engine) claim(ctx context.Context) error {
	rs, err := e.p.run(ctx, fetchClaim, nil)
	if err != nil {
		return err
	}
	rows := rs.GetRows()
	if len(rows) == 0 {
		if e.last > 0 {
			return errors.New("it is empty, and the region's folder is not: was it dropped?")
		}
		return e.send(ctx, e.claimRow(0), nil)
	}
	v := rows[0].Values
	folder, region, layout, ordinal := string(v[0].GetSVal()), string(v[1].GetSVal()), v[2].GetIVal(), uint64(v[3].GetIVal())
	most := e.last
	if e.noted > 0 {
		most++ // one that was begun
	}
	switch {
	case region != e.o.Region:
		return fmt.Errorf("it belongs to region %q, not %q", region, e.o.Region)
	case layout != rowLayout:
		return fmt.Errorf("it has layout %d; this headwater reads %d", layout, rowLayout)
	case folder != e.folder && e.last == 0:
		return errors.New("it is in use, and the region's folder is empty: restore the folder that belongs to it, or drop the space and let the graph be built anew")
	case folder != e.folder:
		return errors.New("it belongs to another folder")
	case ordinal > most:
		return fmt.Errorf("it has batch %d, the region's folder only %d: the folder is older, perhaps from a backup; restore both from one time, or drop both", ordinal, e.last)
	}
	return nil
}

// rowLayout is the version of what is in the space.
const rowLayout = graph.FormatVersion<<8 | 1

func (e *engine) claimRow(n uint64) []byte {
	b := append([]byte(tables[claimTable].insertHead()), quote(claimVertex)...)
	b = append(appendQuoted(append(b, ":("...), e.folder), ',')
	b = append(appendQuoted(b, e.o.Region), ',')
	b = append(appendInt(b, rowLayout), ',')
	return append(appendInt(b, int64(n)), ')')
}

func (e *engine) send(ctx context.Context, text []byte, params map[string]any) error {
	_, err := e.p.run(ctx, string(text), params)
	return err
}

// Close implements pebble.Elsewhere.
func (e *engine) Close() error {
	e.p.close()
	return nil
}
