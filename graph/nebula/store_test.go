package nebula

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"headwater/graph"
	"headwater/graph/graphtest"
	"headwater/graph/nebula/standin"
)

// asked is what readers ask of every state: all there is, and some questions.
func asked(t testing.TB, v graph.View) (string, error) {
	t.Helper()
	told, err := graphtest.Tell(t.Context(), v, graphtest.NewRandom(0).World())
	if err != nil {
		return "", err
	}
	answers, err := questionOf(t.Context(), 77, heldReader{v})
	return told + answers, err
}

// Readers take views and ask them, several times, while batches are written
// and statements fail: each answer is that of the model at the view's mark.
func TestReadersSeeWholeBatchesWhileOneIsWritten(t *testing.T) {
	for name, m := range modes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// What can't be written is not tried again: another batch is, perhaps.
			p := openStandIn(t, m, func(o *Options) { o.Tries = 1 })
			w := graphtest.NewWorld(5)
			const batches = 30
			answers := make([]string, batches+1)
			for i := range answers {
				v, err := w.Model.View(t.Context(), graph.At{})
				if err != nil {
					t.Fatal(err)
				}
				if answers[i], err = asked(t, v); err != nil {
					t.Fatal(err)
				}
				if i < batches {
					w.Batches(t, 1)
				}
			}
			p.server.Fail(func(n uint64, text string) standin.Fault {
				if n%2 == 0 && (strings.HasPrefix(text, "INSERT") || strings.HasPrefix(text, "DELETE")) {
					return standin.Fault{How: standin.Half}
				}
				return standin.Fault{}
			})
			ctx, stop := context.WithCancel(t.Context())
			var readers sync.WaitGroup
			var reads [3]int
			for i := range reads {
				readers.Go(func() {
					for ctx.Err() == nil {
						v, err := p.s.View(ctx, graph.At{})
						if err != nil {
							t.Error(err)
							return
						}
						for range 3 {
							got, err := asked(t, v)
							if errors.Is(err, graph.ErrUnavailable) {
								continue
							}
							if want := answers[v.Marks()["local"].Position]; err != nil || got != want {
								t.Errorf("at %v: %v\n%s\nwant\n%s", v.Marks(), err, got, want)
								stop()
							}
							reads[i]++
						}
						if err := v.Close(); err != nil {
							t.Error(err)
						}
					}
				})
			}
			failed := 0
			for ctx.Err() == nil {
				mark, err := p.s.Applied(t.Context())
				if err != nil || w.Fed(mark) {
					break
				}
				if err := w.FeedSome(t.Context(), p.s); err != nil {
					if failed++; !errors.Is(err, graph.ErrUnavailable) {
						t.Error(err)
						break
					}
				}
				v, err := p.s.View(t.Context(), graph.At{})
				if err != nil {
					t.Fatal(err)
				}
				got, err := asked(t, v)
				if want := answers[v.Marks()["local"].Position]; err != nil || got != want {
					t.Errorf("behind a batch, at %v: %v\n%s\nwant\n%s", v.Marks(), err, got, want)
					break
				}
				if err := v.Close(); err != nil {
					t.Error(err)
				}
			}
			stop()
			readers.Wait()
			p.server.Fail(nil)
			t.Logf("%v answers, %d batches failed", reads, failed)
		})
	}
}

// What is taken away is deleted once no view sees it: then NebulaGraph has the
// rows of the newest view and no more.
func TestRowsThatNobodySeesAreDeleted(t *testing.T) {
	p := openTested(t, modes["neither"])
	w := graphtest.NewWorld(3)
	w.Batches(t, 40)
	if err := w.Feed(t.Context(), p.s); err != nil {
		t.Fatal(err)
	}
	empty := func() {
		t.Helper()
		mark, err := p.s.Applied(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		mark.Position++
		if err := p.s.Apply(t.Context(), graph.Batch{Region: "local", Mark: mark}); err != nil {
			t.Fatal(err)
		}
	}
	held, err := p.s.View(t.Context(), graph.At{})
	if err != nil {
		t.Fatal(err)
	}
	w2 := graphtest.NewWorld(4)
	w2.Batches(t, 1)
	for i := range w2.Batch(0) {
		graphtest.Feed(t, p.s, w2.Batch(0)[i])
	}
	empty()
	empty()
	if n := p.s.closedRows(); n == 0 {
		t.Error("a view is held, and nothing is kept for it")
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	empty()
	empty()
	empty()
	if n := p.s.closedRows(); n > 0 {
		t.Errorf("%d rows are closed and still there", n)
	}
	e := p.s.e
	ids := w.World()
	for table := flowTables; table < len(tables); table++ {
		all, seen := 0, 0
		now := far{e: e, ordinal: e.last}
		err := e.edges(t.Context(), uint8(table), false, ids, nil, func(_ []graph.ID, rows answer) error {
			all += len(rows)
			seen += len(now.seen(rows))
			return nil
		})
		if err != nil || all != seen {
			t.Errorf("%v: %d rows of %s, of which %d are seen", err, all, tables[table].name, seen)
		}
	}
}

// closedRows is how many rows are taken away and not deleted yet.
func (s *Store) closedRows() (n int) {
	for _, h := range s.e.closed.rows {
		if _, ok := h.since(); ok {
			n++
		}
	}
	return n
}

func TestAFolderAndASpaceBelongTogether(t *testing.T) {
	p := openStandIn(t, modes["neither"], func(*Options) {})
	w := graphtest.NewWorld(1)
	feed := func(n int) {
		t.Helper()
		w.Batches(t, n)
		if err := w.Feed(t.Context(), p.s); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(what, want string, change func(o *Options)) {
		t.Helper()
		o := p.o
		change(&o)
		s, err := Open(t.Context(), "data", o)
		if err == nil {
			t.Fatalf("%s is opened", what)
		}
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q in it", what, err, want)
		}
		_ = s
	}
	feed(3)
	p.close(t)
	old := p.fs.CrashClone(vfs.CrashCloneCfg{})
	p.open(t)
	feed(3)
	p.close(t)
	refused("an empty folder", "the region's folder is empty", func(o *Options) { o.Folder.FS = vfs.NewMem() })
	refused("a folder from before", "the folder is older", func(o *Options) { o.Folder.FS = old })
	refused("a folder with another space", "it is empty, and the region's folder is not", func(o *Options) { o.Space += "2" })
	refused("another region", "belongs to region", func(o *Options) { o.Region = "us" })
	refused("another region with a folder of its own", `belongs to region "local"`, func(o *Options) { o.Region, o.Folder.FS = "us", vfs.NewMem() })
	other := vfs.NewMem()
	o := p.o
	o.Space, o.Folder.FS = p.o.Space+"3", other
	s, err := Open(t.Context(), "data", o)
	if err != nil {
		t.Fatal(err)
	}
	graphtest.Feed(t, s, graphtest.NewWorld(2).Delta())
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	refused("the folder of another space", "it belongs to another folder", func(o *Options) { o.Folder.FS = other })
	p.open(t)
	if err := w.Ask(t.Context(), p.s); err != nil {
		t.Error(err)
	}
}

// hubDeltas make a table that n processes read, and that has as many columns.
func hubDeltas(n int) []graph.Delta {
	name := func(kind graph.Kind, s string) graph.Name {
		return graph.Name{Kind: kind, Region: "local", Namespace: "ns", Name: s}
	}
	var all []graph.Delta
	for i := range n {
		d := graph.Delta{Subject: name(graph.ProcessKind, fmt.Sprint("job", i)), Origin: "openlineage", Run: "r", State: graph.Completed, Time: int64(i + 1)}
		d.Says.Reads = []graph.Dataset{{Name: name(graph.DataStoreKind, "hub")}}
		d.Says.Writes = []graph.Dataset{{Name: name(graph.DataStoreKind, fmt.Sprint("out", i))}}
		all = append(all, d)
	}
	return all
}

// storaged cuts what one vertex has, without a word, at a limit that is not
// less than what was probed for.
func TestRowsThatStoragedCutsAreReadOn(t *testing.T) {
	server, o := startStandIn(t, standin.Options{MaxEdges: 50})
	o.Region, o.HubRows, o.OnDisk, o.CacheBytes = "local", 50, true, -1
	o.Folder.FS = vfs.NewMem()
	s, err := Open(t.Context(), "data", o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, readers := range []int{30, 50, 51, 237} {
		graphtest.Feed(t, s, hubDeltas(readers)...)
		before := server.Statements()
		hub := graph.Name{Kind: graph.DataStoreKind, Region: "local", Namespace: "ns", Name: "hub"}.ID()
		v, err := s.View(t.Context(), graph.At{})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		if _, err := v.Flows(t.Context(), []graph.ID{hub}, graph.Ask{Layer: graph.UseLayer, Dir: graph.Downstream}, func(fs []graph.Flow) error {
			n += len(fs)
			return nil
		}); err != nil || n != readers {
			t.Errorf("%v: %d of %d flows of a hub", err, n, readers)
		}
		if err := v.Close(); err != nil {
			t.Error(err)
		}
		// One page more for each 50, but the last that is empty is asked for too.
		if got, want := server.Statements()-before, uint64(1+(readers+49)/50); readers >= 50 && got > want || readers < 50 && got != 1 {
			t.Errorf("%d statements for %d flows, want %d at most", got, readers, want)
		}
	}
	o.HubRows, o.Folder.FS, o.Space = 51, vfs.NewMem(), "other"
	if _, err := Open(t.Context(), "data", o); err == nil || !strings.Contains(err.Error(), "max_edge_returned_per_vertex") {
		t.Errorf("a storaged that returns 50 rows of a vertex where 51 are taken for whole: %v", err)
	}
}
