package nebula

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"headwater/graph/pebble"
)

// statementBytes is how large a statement with what it is given is at most,
// unless a single row is larger: graphd takes 4 MiB of text.
const statementBytes = 2 << 20

// Write implements pebble.Elsewhere.
func (e *engine) Write(ctx context.Context) ([]pebble.Note, error) {
	p := &e.plan
	e.cache.touch(p.touched())
	if err := e.delete(ctx, p); err != nil {
		return nil, fmt.Errorf("delete rows that nobody sees any more: %w", err)
	}
	if err := e.insert(ctx, p); err != nil {
		return nil, fmt.Errorf("write rows of batch %d: %w", p.n, err)
	}
	return e.notes(p), nil
}

// delete deletes rows that no view sees.
func (e *engine) delete(ctx context.Context, p *plan) error {
	if len(p.deletes) == 0 {
		return nil
	}
	lost := e.p.lastLost()
	e.closed.try(p.deletes)
	slices.SortFunc(p.deletes, func(a, b rowKey) int { return int(a.table) - int(b.table) })
	t := texts{e: e}
	for i := range p.deletes {
		k := &p.deletes[i]
		t.begin(k.table, tables[k.table].deleteHead())
		t.text = k.text(t.text)
		if err := t.end(ctx); err != nil {
			return err
		}
	}
	if err := t.send(ctx); err != nil {
		return err
	}
	if e.p.lastLost().Equal(lost) {
		// Else one may have its effect later: they stay closed, and are deleted
		// again.
		p.deleted = p.deletes
	}
	return nil
}

// insert writes the rows of a batch.
func (e *engine) insert(ctx context.Context, p *plan) error {
	b := p.b
	slices.SortFunc(p.puts, func(i, j int) int {
		if d := int(b.ops[i].key.table) - int(b.ops[j].key.table); d != 0 {
			return d
		}
		return i - j
	})
	t := texts{e: e, text: e.claimRow(p.n), table: claimTable, rows: 1}
	for _, i := range p.puts {
		o := &b.ops[i]
		t.begin(o.key.table, tables[o.key.table].insertHead())
		t.text = append(o.key.text(t.text), ":("...)
		if o.key.table == blobTable {
			t.text = append(append(t.text, t.parameter(o.content)...), ')')
		} else {
			t.text = append(t.text, b.buf[o.from:o.to]...)
			t.text = append(appendInt(t.text, int64(p.n)), ')')
		}
		if err := t.end(ctx); err != nil {
			return err
		}
	}
	return t.send(ctx)
}

// texts are statements that are being written: several, with what they do to
// many rows, go as one.
type texts struct {
	e      *engine
	text   []byte
	params map[string]any
	size   int // of params
	table  uint8
	rows   int
}

// begin begins a row of a table.
func (t *texts) begin(table uint8, head string) {
	switch {
	case t.rows == 0:
		t.text = append(t.text, head...)
	case t.table != table:
		t.text = append(append(t.text, "; "...), head...)
	default:
		t.text = append(t.text, ',')
	}
	t.table = table
	t.rows++
}

// parameter gives the statement a value.
func (t *texts) parameter(v []byte) string {
	if t.params == nil {
		t.params = map[string]any{}
	}
	name := "p" + strconv.Itoa(len(t.params))
	t.params[name] = v
	t.size += len(v) + len(name)
	return "$" + name
}

// end ends a row, and sends what there is if that is enough.
func (t *texts) end(ctx context.Context) error {
	if len(t.text)+t.size < statementBytes {
		return nil
	}
	return t.send(ctx)
}

func (t *texts) send(ctx context.Context) error {
	if t.rows == 0 {
		return nil
	}
	err := t.e.send(ctx, t.text, t.params)
	t.text, t.params, t.size, t.rows = t.text[:0], nil, 0, 0
	return err
}

// notes are what the folder is to know of a batch that was written.
func (e *engine) notes(p *plan) []pebble.Note {
	notes := make([]pebble.Note, 0, len(p.closes)+len(p.strays)+len(p.reopens)+len(p.deleted)+e.noted)
	for i := range e.noted {
		notes = append(notes, pebble.Note{Key: pendingKey(i)})
	}
	for _, list := range [...][]rowKey{p.deleted, p.reopens} {
		for _, k := range list {
			notes = append(notes, pebble.Note{Key: closedNote(k)})
		}
	}
	for _, list := range [...][]rowKey{p.closes, p.strays} {
		for _, k := range list {
			notes = append(notes, pebble.Note{Key: closedNote(k), Value: toBytes(p.n)})
		}
	}
	return notes
}

// Done implements pebble.Elsewhere.
func (e *engine) Done() {
	p := &e.plan
	e.closed.done(p)
	for _, i := range p.puts {
		if k := p.b.ops[i].key; k.table == speaksTable || k.table == wroteTable {
			e.index(k)
		}
	}
	for _, k := range p.closes {
		delete(e.indexed, k)
	}
	e.cache.done()
	e.last = p.n
	e.noted = 0
	clear(e.pending)
	e.plan = plan{}
}

// unsettled returns until when something may still have its effect that was
// begun before; zero: nothing may.
func (e *engine) unsettled() time.Time {
	until := e.settles
	if lost := e.p.lastLost(); !lost.IsZero() && lost.Add(e.o.hold).After(until) {
		until = lost.Add(e.o.hold)
	}
	if time.Now().After(until) {
		return time.Time{}
	}
	return until
}
