package standin

import (
	"slices"
	"strings"
	"sync"

	"github.com/cespare/xxhash/v2"
)

// A store is metad and storaged.
type store struct {
	heartbeat uint64
	sessions  sessions
	tick      uint64 // by atomic operations alone

	mu     sync.RWMutex // guards all below; a write takes it for one partition at a time
	spaces map[string]*space
}

// A partition holds some of the records of a space. An edge is two: one with
// its source, one with its destination, which may be elsewhere.
type partition struct {
	vertices map[recordKey][]value
	out, in  map[recordKey][]record
}

// A recordKey is a tag or an edge type, and a vertex.
type recordKey struct{ of, vid string }

// A record is an edge as one of its ends has it. Its row is as long as the
// edge type was wide when it was written.
type record struct {
	rank  int64
	other string
	row   []value
}

func (p *partition) init() {
	p.vertices = map[recordKey][]value{}
	p.out, p.in = map[recordKey][]record{}, map[recordKey][]record{}
}

func compareRecords(a, b record) int {
	switch {
	case a.rank < b.rank:
		return -1
	case a.rank > b.rank:
		return 1
	}
	return strings.Compare(a.other, b.other)
}

// put writes a record, in order of rank and other end. With keep one that is
// there stays.
func put(records map[recordKey][]record, k recordKey, r record, keep bool) {
	list := records[k]
	at, found := len(list), false
	if at > 0 && compareRecords(list[at-1], r) >= 0 {
		at, found = slices.BinarySearchFunc(list, r, compareRecords)
	}
	switch {
	case !found:
		records[k] = slices.Insert(list, at, r)
	case !keep:
		list[at] = r
	}
}

func remove(records map[recordKey][]record, k recordKey, r record) {
	list := records[k]
	at, found := slices.BinarySearchFunc(list, r, compareRecords)
	if !found {
		return
	}
	if len(list) == 1 {
		delete(records, k)
		return
	}
	records[k] = slices.Delete(list, at, at+1)
}

// part is the partition that a vertex is in.
func (sp *space) part(vid string) int {
	return int(xxhash.Sum64String(vid) % uint64(len(sp.partitions)))
}

// id is a vertex id as it is stored: without the NULs at its end.
func (sp *space) id(vid string) (string, error) {
	if len(vid) > sp.vid {
		return "", refuse(codeExecution, "Storage Error: The VID must be a 64-bit integer or a string fitting space vertex id length limit.")
	}
	return strings.TrimRight(vid, "\x00"), nil
}
