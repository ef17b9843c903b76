package cache

import (
	"testing"

	"headwater/graph"
)

// fake numbers say that what was read up to a version holds.
type fake struct {
	graph.Numbers
	changed uint32
}

func (f fake) Mark(t *graph.Touched)       { t.Of, t.Version = f, 0 }
func (f fake) Holds(t *graph.Touched) bool { return t.Version >= f.changed }

func TestAnAnswerIsGivenAgainToAnEqualRequestWhileItHolds(t *testing.T) {
	c, err := New(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	put := &Answer{Request: []byte("{a}"), Body: []byte("1"), Type: "application/json", Touched: graph.Touched{Version: 5}}
	c.Put(put)
	c.Wait()
	for _, x := range []struct {
		request, media string
		changed        uint32
		want           bool
	}{
		{"{a}", "application/json", 5, true},
		{"{a}", "application/json", 6, false}, // something it touched has changed
		{"{b}", "application/json", 5, false},
		{"{a}", "application/graphql-response+json", 5, false},
	} {
		if got := c.Get([]byte(x.request), x.media, fake{changed: x.changed}); (got == put) != x.want {
			t.Errorf("%+v: got %v", x, got)
		}
	}
	// Two requests with one key are told apart.
	other := &Answer{Request: []byte("{other}"), Type: "application/json"}
	c.answers.Set(c.key([]byte("{a}"), "application/json"), other, 1)
	c.Wait()
	if got := c.Get([]byte("{a}"), "application/json", fake{}); got != nil {
		t.Errorf("the answer of another request: %v", got)
	}
	if h, s, m := c.Hits.Load(), c.Stale.Load(), c.Misses.Load(); h != 1 || s != 1 || m != 3 {
		t.Errorf("%d hits, %d stale, %d misses", h, s, m)
	}
}

func TestNoCacheKeepsNothing(t *testing.T) {
	c, err := New(0)
	if c != nil || err != nil {
		t.Errorf("%v, %v", c, err)
	}
	c.Close()
}
