package nebula

import (
	"container/list"
	"sync"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"

	"headwater/graph"
)

// An adjacency says which rows: those of a node in one layer and direction.
type adjacency struct {
	table   uint8
	reverse bool
	node    graph.ID
}

// A flowRow is one flow as NebulaGraph has it, of a view or not: to is the end
// that is not the node's.
type flowRow struct {
	by     graph.Key
	to     graph.ID
	rank   int64
	opened uint64
	kinds  graph.Kinds
	coarse bool
}

// key is the key of the row in NebulaGraph.
func (r *flowRow) key(a *adjacency) rowKey {
	k := rowKey{table: a.table, src: a.node, dst: r.to, rank: r.rank}
	if a.reverse {
		k.src, k.dst = r.to, a.node
	}
	return k
}

// A cache keeps the flows of nodes, as they are in NebulaGraph, so that they
// are right for every view that is still read: what is of a view is told when
// they are read. What a batch writes or deletes goes when it begins, and what
// was read meanwhile is not kept. A nil cache keeps nothing. It may be used by
// many at once.
type cache struct {
	shards       [cacheShards]cacheShard
	stamps       [cacheStamps]atomic.Uint32 // odd: a batch is being written
	busy         map[int]struct{}           // the odd ones; the writer's
	hits, misses atomic.Uint64
}

const (
	cacheShards = 16
	cacheStamps = 1 << 12
)

type cacheShard struct {
	mu    sync.Mutex // guards all below
	at    map[adjacency]*list.Element
	order list.List // of *cached, what was used last in front
	bytes int64
	most  int64
}

type cached struct {
	adjacency
	rows  []flowRow
	bytes int64
}

func newCache(bytes int64) *cache {
	if bytes <= 0 {
		return nil
	}
	c := &cache{busy: map[int]struct{}{}}
	for i := range c.shards {
		c.shards[i].at, c.shards[i].most = map[adjacency]*list.Element{}, bytes/cacheShards
	}
	return c
}

// place returns the shard and the stamp of rows.
func (c *cache) place(a *adjacency) (*cacheShard, int) {
	var b [len(a.node) + 2]byte
	copy(b[:], a.node[:])
	b[len(a.node)] = a.table
	if a.reverse {
		b[len(a.node)+1] = 1
	}
	h := xxhash.Sum64(b[:])
	return &c.shards[h%cacheShards], int(h >> 32 % cacheStamps)
}

// get returns the rows, if they are kept. If not, stamp is to be given to put
// with what is read then.
func (c *cache) get(a *adjacency) (rows []flowRow, stamp uint32, ok bool) {
	if c == nil {
		return nil, 0, false
	}
	s, at := c.place(a)
	stamp = c.stamps[at].Load()
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.at[*a]
	if !ok {
		c.misses.Add(1)
		return nil, stamp, false
	}
	c.hits.Add(1)
	s.order.MoveToFront(e)
	return e.Value.(*cached).rows, stamp, true
}

// put keeps rows that were read after get had given the stamp.
func (c *cache) put(a *adjacency, stamp uint32, rows []flowRow) {
	if c == nil {
		return
	}
	bytes := int64(160)
	for i := range rows {
		bytes += int64(80 + len(rows[i].by.Origin))
	}
	s, at := c.place(a)
	s.mu.Lock()
	defer s.mu.Unlock()
	// touch changes the stamp first, and then takes the rows out.
	if c.stamps[at].Load() != stamp || stamp%2 == 1 || bytes > s.most/4 {
		return
	}
	if _, ok := s.at[*a]; ok {
		return
	}
	s.at[*a] = s.order.PushFront(&cached{*a, rows, bytes})
	for s.bytes += bytes; s.bytes > s.most; {
		s.drop(s.order.Back())
	}
}

func (s *cacheShard) drop(e *list.Element) {
	v := s.order.Remove(e).(*cached)
	delete(s.at, v.adjacency)
	s.bytes -= v.bytes
}

// touch tells that a batch is about to change rows; done that it has. What was
// not done may be touched again. Both are the writer's.
func (c *cache) touch(touched []adjacency) {
	if c == nil {
		return
	}
	for i := range touched {
		s, at := c.place(&touched[i])
		if _, ok := c.busy[at]; !ok {
			c.busy[at] = struct{}{}
			c.stamps[at].Add(1)
		}
		s.mu.Lock()
		if e, ok := s.at[touched[i]]; ok {
			s.drop(e)
		}
		s.mu.Unlock()
	}
}

func (c *cache) done() {
	if c == nil {
		return
	}
	for at := range c.busy {
		c.stamps[at].Add(1)
	}
	clear(c.busy)
}

// touched lists what a plan changes in NebulaGraph.
func (p *plan) touched() []adjacency {
	var all []adjacency
	add := func(k *rowKey) {
		if k.table >= flowTables && k.table < saysTable {
			all = append(all, adjacency{k.table, false, k.src}, adjacency{k.table, true, k.dst})
		}
	}
	for _, i := range p.puts {
		add(&p.b.ops[i].key)
	}
	for i := range p.deletes {
		add(&p.deletes[i])
	}
	return all
}

// compareRows orders rows by who says so, and by the far end.
func compareRows(a, b *flowRow) int {
	if c := a.by.Compare(b.by); c != 0 {
		return c
	}
	return a.to.Compare(b.to)
}
