// Package cache keeps encoded answers, and gives one again as long as what was
// read for it is what it was: a change to a node outdates the answers that
// touched it, and no others; runs that change nothing outdate nothing.
package cache

import (
	"bytes"
	"context"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/dgraph-io/ristretto/v2"

	"headwater/graph"
)

// A Cache is bounded in bytes. It is safe for use by many at once; nil keeps
// nothing.
type Cache struct {
	answers *ristretto.Cache[uint64, *Answer]
	seed    maphash.Seed
	// Hits were given again; Stale would have been, but for what changed;
	// Misses were not there.
	Hits, Stale, Misses atomic.Uint64
	// flights are the requests under way, by key: a channel that closes.
	flights sync.Map
}

// An Answer is what was written for a request. It is not changed once it is
// put.
type Answer struct {
	// Request is the request, whole: equal requests have equal answers.
	Request []byte
	// Body is the answer, Type its media type.
	Body []byte
	Type string
	// Touched is what was read for it.
	Touched graph.Touched
}

// New returns a cache of at most so many bytes; nil for 0 or less.
func New(size int64) (*Cache, error) {
	if size <= 0 {
		return nil, nil
	}
	answers, err := ristretto.NewCache(&ristretto.Config[uint64, *Answer]{
		NumCounters: max(1000, 10*size/4096), MaxCost: size, BufferItems: 64, IgnoreInternalCost: true,
	})
	if err != nil {
		return nil, err
	}
	return &Cache{answers: answers, seed: maphash.MakeSeed()}, nil
}

// Close releases what the cache holds.
func (c *Cache) Close() {
	if c != nil {
		c.answers.Close()
	}
}

func (c *Cache) key(request []byte, media string) uint64 {
	var h maphash.Hash
	h.SetSeed(c.seed)
	_, _ = h.Write(request)
	_, _ = h.WriteString(media)
	return h.Sum64()
}

// A Holder is a state of the graph that can tell what holds in it: graph.Lasting
// numbers, or a graph.Tracking view.
type Holder interface {
	Holds(t *graph.Touched) bool
}

// Get returns the answer to a request that holds in a state of the graph, or
// nil.
func (c *Cache) Get(request []byte, media string, now Holder) *Answer {
	a, ok := c.answers.Get(c.key(request, media))
	switch {
	case !ok || a.Type != media || !bytes.Equal(a.Request, request):
		c.Misses.Add(1)
		return nil
	case !now.Holds(&a.Touched):
		c.Stale.Add(1)
		return nil
	}
	c.Hits.Add(1)
	return a
}

// Alone waits, once, while an equal request is under way, so that its answer
// can be had; it reports whether it did. The caller calls landed when it has
// answered.
func (c *Cache) Alone(ctx context.Context, request []byte, media string) (waited bool, landed func()) {
	key, own := c.key(request, media), make(chan struct{})
	other, flying := c.flights.LoadOrStore(key, own)
	if !flying {
		return false, func() {
			c.flights.Delete(key)
			close(own)
		}
	}
	select {
	case <-other.(chan struct{}):
	case <-ctx.Done():
	}
	return true, func() {}
}

// Put keeps an answer, if there is room for it.
func (c *Cache) Put(a *Answer) {
	t := &a.Touched
	size := len(a.Request) + len(a.Body) + len(t.Lists)*int(unsafe.Sizeof(graph.TouchedList{})) + (len(t.IDs)+len(t.Absent))*len(graph.ID{}) + 8*len(t.Nodes) + 256
	c.answers.Set(c.key(a.Request, a.Type), a, int64(size))
}

// Wait waits until what was put can be had: for tests.
func (c *Cache) Wait() { c.answers.Wait() }
