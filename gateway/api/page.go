package api

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"headwater/graph"
)

// maxFirst is the most that one page of a connection holds.
const maxFirst = 10_000

// checkFirst returns how many a page holds; a null takes the default.
func checkFirst(first *int, otherwise int) (int, error) {
	n := otherwise
	if first != nil {
		n = *first
	}
	if n < 1 || n > maxFirst {
		return 0, badInput("first: is %d; a page holds 1 to %d", n, maxFirst)
	}
	return n, nil
}

// A page is a part of a list that is known as a whole.
type page struct {
	what  string // of what it is a page; cursors of other lists don't fit
	first int
	last  place // of the page before
}

// A place is an element of a list: its key, and its index should the key be
// gone.
type place struct {
	key   string
	index int // -1: before the first
}

func newPage(what string, first *int, after *string, otherwise int) (page, error) {
	p := page{what: what, last: place{index: -1}}
	var err error
	if p.first, err = checkFirst(first, otherwise); err != nil || after == nil {
		return p, err
	}
	b, err := base64.RawURLEncoding.DecodeString(*after)
	parts := strings.SplitN(string(b), "\x00", 3)
	if err != nil || len(parts) != 3 || parts[0] != what {
		return p, badInput("after: not a cursor of %s", what)
	}
	p.last.key = parts[2]
	if p.last.index, err = strconv.Atoi(parts[1]); err != nil || p.last.index < 0 {
		return p, badInput("after: not a cursor of %s", what)
	}
	return p, nil
}

func (p page) String() string { return fmt.Sprintf("%d %d %s", p.first, p.last.index, p.last.key) }

// bounds returns where the page lies in a list: after the element that ended
// the page before, or where that was.
func bounds[T any](p page, all []T, key func(T) string) (from, to int) {
	last := p.last.index
	if last >= len(all) || last >= 0 && key(all[last]) != p.last.key {
		last = min(last, len(all)) - 1
		for i := range all {
			if key(all[i]) == p.last.key {
				last = i
				break
			}
		}
	}
	return last + 1, min(last+1+p.first, len(all))
}

// info tells how to go on after the page from bounds.
func info[T any](p page, all []T, key func(T) string) *PageInfo {
	from, to := bounds(p, all, key)
	i := &PageInfo{HasNextPage: to < len(all)}
	if to > from {
		text := fmt.Sprintf("%s\x00%d\x00%s", p.what, to-1, key(all[to-1]))
		cursor := base64.RawURLEncoding.EncodeToString([]byte(text))
		i.EndCursor = &cursor
	}
	return i
}

// parseIDCursor reads a cursor that is an id.
func parseIDCursor(after *string) (graph.ID, error) {
	if after == nil {
		return graph.ID{}, nil
	}
	id, err := graph.ParseID(*after)
	if err != nil {
		return graph.ID{}, badInput("after: not a cursor of alias conflicts")
	}
	return id, nil
}
