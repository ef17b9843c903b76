package bus

import (
	"context"
	"fmt"
	"iter"

	"headwater/graph"
)

// A Keeper keeps the entries of a region's stream: a graph.Store that writes
// Batch.Stream (graph/pebble).
type Keeper interface {
	// Stream yields entries from a sequence on, in order. A value is the
	// caller's only until the next one.
	Stream(ctx context.Context, from uint64) iter.Seq2[graph.StreamEntry, error]
	// StreamBounds returns the oldest and the newest sequence that are kept; 0
	// and 0 where none is.
	StreamBounds(ctx context.Context) (first, last uint64, err error)
	// TrimStream forgets the entries up to a sequence.
	TrimStream(ctx context.Context, through uint64) error
}

// Newest returns the cursor behind the newest entry that is kept, the zero
// Cursor where none is.
func Newest(ctx context.Context, k Keeper) (Cursor, error) {
	_, last, err := k.StreamBounds(ctx)
	if err != nil || last == 0 {
		return Cursor{}, err
	}
	for kept, err := range k.Stream(ctx, last) {
		if err != nil {
			return Cursor{}, err
		}
		e, err := DecodeEntry(kept.Value)
		if err != nil {
			return Cursor{}, fmt.Errorf("entry %d of the change stream: %w", last, err)
		}
		return e.Cursor(), nil
	}
	return Cursor{}, fmt.Errorf("entry %d of the change stream is gone", last)
}

// portion bounds what Behind returns at once.
const (
	portionEntries = 1024
	portionBytes   = 256 << 10
)

// Behind returns the kept entries behind a cursor, as far as head: some at a
// time, none when there is no more. It is a CursorError where the cursor is
// not of this stream or they are not kept any more.
func Behind(ctx context.Context, k Keeper, c Cursor, head Head) ([]Entry, error) {
	refuse := func(reason error) error {
		first, _, err := k.StreamBounds(ctx)
		if err != nil {
			return err
		}
		return &CursorError{Reason: reason, Cursor: c, First: first, Last: head.Cursor}
	}
	switch newest := head.Cursor; {
	case c.Sequence > newest.Sequence || c.Sequence == newest.Sequence && c.Sequence > 0 && c != newest:
		return nil, refuse(ErrDiverged)
	case c.Sequence == newest.Sequence:
		return nil, nil
	}
	var entries []Entry
	bytes := 0
	for kept, err := range k.Stream(ctx, c.Sequence+1) {
		if err != nil {
			return nil, err
		}
		if kept.Sequence > head.Cursor.Sequence || len(entries) == portionEntries || bytes > portionBytes {
			break
		}
		if len(entries) == 0 && kept.Sequence != c.Sequence+1 {
			return nil, refuse(ErrExpired)
		}
		if len(entries) == 0 && !follows(kept.Value, c.Hash) {
			return nil, refuse(ErrDiverged)
		}
		e, err := DecodeEntry(kept.Value)
		if err != nil {
			return nil, fmt.Errorf("entry %d of the change stream: %w", kept.Sequence, err)
		}
		if c.Sequence > 0 && e.Epoch != c.Epoch {
			return nil, refuse(ErrDiverged)
		}
		entries = append(entries, e)
		bytes += len(kept.Value)
	}
	if len(entries) == 0 {
		return nil, refuse(ErrExpired)
	}
	return entries, nil
}
