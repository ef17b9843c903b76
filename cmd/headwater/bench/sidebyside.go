package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"headwater/graph"
)

// hops is how far the questions go, as recursive and idsQuery say too.
const hops = 3

// sideBySide asks PostgreSQL and a server with the same flows the same
// questions: what feeds on a node within three hops.
func (r *run) sideBySide(ctx context.Context, db *pgx.Conn) error {
	dir, roots, err := r.debian(ctx)
	if err != nil {
		return err
	}
	if dir != "" {
		if err := r.compare(ctx, db, dir, "Debian's graph", group{"packages", roots, true}); err != nil {
			return err
		}
	}
	if dir, err = r.built(ctx, r.Tasks); err != nil {
		return err
	}
	p := r.platform(r.Tasks)
	roots = nil // those that most others read come first: where a change has to be thought through
	for i := range 60 {
		roots = append(roots, tableID(p.Table(-1-i)))
	}
	const most = 11 // as many as Debian's graph is asked for
	return r.compare(ctx, db, dir, fmt.Sprintf("a platform of %d tasks", r.Tasks),
		group{"the tables that most others read", roots[:most], true},
		group{"tables that fewer read", roots[most:], false})
}

// A group is nodes that are asked for, and whether the answers over HTTP have
// to be so many times faster: an answer that is small takes the most of its time
// in HTTP itself.
type group struct {
	name  string
	roots []graph.ID
	held  bool
}

// A system answers questions.
type system struct {
	name string
	ask  func(q *askedNode) error
	// count tells, outside of the time, how many nodes the last answer had.
	count func() int
}

// An askedNode is a question that all are asked.
type askedNode struct {
	root   graph.ID
	number int32 // in the bare adjacency, and in PostgreSQL
	want   int   // nodes
	body   []byte
	took   map[*system][]float64 // in milliseconds
}

func (r *run) compare(ctx context.Context, db *pgx.Conn, dir, name string, groups ...group) error {
	n := 0
	count := func() int { return n }
	sql, bare, engine := &system{name: "PostgreSQL", count: count}, &system{name: "bare search", count: count}, &system{name: "engine", count: count}
	sql.ask = func(q *askedNode) (err error) {
		n, err = recurse(ctx, db, q.number)
		return err
	}
	var again, known, anew *system
	asked := make([][]*askedNode, len(groups))
	var all []*askedNode
	edges := 0
	err := r.serving(dir, true, func(s *Server, c *client) (err error) {
		v, err := s.Store.View(ctx, graph.At{})
		if err != nil {
			return err
		}
		defer func() { _ = v.Close() }() // it was only read
		adjacent, err := tables(ctx, v, s.Store.Names(ctx))
		if err != nil {
			return err
		}
		if err := load(ctx, db, adjacent); err != nil {
			return err
		}
		edges = len(adjacent.targets)
		seen, queue := make([]bool, len(adjacent.ids)), make([]uint32, 0, len(adjacent.ids))
		bare.ask = func(q *askedNode) error {
			n = adjacent.search(uint32(q.number), hops, seen, queue)
			return nil
		}
		engine.ask = func(q *askedNode) error {
			sum, err := graph.Walk(ctx, v, []graph.Seed{{ID: q.root}}, graph.WalkOptions{Depth: hops}, func(graph.Reached) error { return nil })
			n = sum.Nodes
			return err
		}
		for i, g := range groups {
			for _, root := range g.roots {
				number, ok := adjacent.at[root]
				if !ok {
					continue
				}
				q := &askedNode{root: root, number: int32(number), want: adjacent.search(number, hops, seen, queue), took: map[*system][]float64{}}
				if q.want == 1 {
					continue // feeds nothing
				}
				if q.body, err = question(idsQuery, of(root)); err != nil {
					return err
				}
				asked[i] = append(asked[i], q)
			}
			all = append(all, asked[i]...)
		}
		answers := map[string][]byte{} // by question
		serving, err := newWire(c.url)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, serving.conn.Close()) }()
		again = overHTTP(serving, answers)
		handler := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			question, err := io.ReadAll(r.Body)
			if err != nil {
				panic(http.ErrAbortHandler)
			}
			answer := answers[string(question)]
			w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
			_, _ = w.Write(answer) // who asks sees what is missing
		}))
		defer handler.Close()
		knowing, err := newWire(handler.URL)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, knowing.conn.Close()) }()
		known = overHTTP(knowing, answers)
		return r.inTurn(all, sql, bare, engine, again, known)
	})
	if err != nil {
		return err
	}
	if err := r.serving(dir, false, func(_ *Server, c *client) (err error) {
		w, err := newWire(c.url)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, w.conn.Close()) }()
		anew = overHTTP(w, map[string][]byte{})
		return r.inTurn(all, anew)
	}); err != nil {
		return err
	}
	r.tell("%s: %d edges", name, edges)
	for i, g := range groups {
		r.tellGroup(g, asked[i], sql, bare, engine, again, known, anew)
	}
	return nil
}

func (r *run) tellGroup(g group, asked []*askedNode, sql, bare, engine, again, known, anew *system) {
	reached := 0
	for _, q := range asked {
		reached += q.want
	}
	r.tell("%s: %d questions, %d hops downstream, %d nodes an answer in the mean; PostgreSQL: median %.3f ms", g.name, len(asked), hops, reached/max(1, len(asked)), medianOf(asked, sql))
	figure := func(s *system, what string) (times float64, text string) {
		times = medianOf(asked, sql) / medianOf(asked, s)
		return times, fmt.Sprintf("%s: median %.4f ms: %.0f times faster than PostgreSQL; mean of the questions' ratios %.0f", what, medianOf(asked, s), times, meanRatio(asked, sql, s))
	}
	tell := func(s *system, what string) {
		_, text := figure(s, what)
		r.tell("  %s", text)
	}
	hold := func(s *system, least float64, what string) {
		times, text := figure(s, what)
		r.hold(times >= least, fmt.Sprintf("at least %.0f", least), "  %s", text)
	}
	tell(bare, "a bare breadth-first search over arrays, which knows nothing but the edges")
	hold(engine, 100, "inside the engine")
	tell(known, "over HTTP, the same bytes from a handler that knows them")
	const served = "over HTTP GraphQL, as it is served (answers are kept as long as they hold)"
	if g.held {
		hold(again, 20, served)
	} else {
		tell(again, served)
	}
	tell(anew, "over HTTP GraphQL, each answer made anew")
}

// overHTTP is a server of GraphQL. The answers are kept by question, and counted
// when they have come whole.
func overHTTP(w *wire, answers map[string][]byte) *system {
	var question, answer []byte
	return &system{name: w.host, ask: func(q *askedNode) (err error) {
		question = q.body
		answer, err = w.post("/graphql", q.body)
		return err
	}, count: func() int {
		if whole(answer) != nil {
			return 0
		}
		if answers[string(question)] == nil {
			answers[string(question)] = bytes.Clone(answer)
		}
		return bytes.Count(answer, []byte(`"id":`))
	}}
}

// inTurn asks each system all questions, twice: the first time brings what it
// reads into the processor's caches. Then the next one is asked, and all that
// several times, so that a machine that is slower for a while is so for all of
// them.
func (r *run) inTurn(all []*askedNode, systems ...*system) error {
	for round := range r.Runs + 1 { // the first warms up
		for _, s := range systems {
			runtime.GC() // what the one before has left is not this one's
			for pass := range 2 {
				for _, q := range all {
					began := time.Now()
					err := s.ask(q)
					d := ms(time.Since(began))
					if err != nil {
						return fmt.Errorf("%s: %w", s.name, err)
					}
					if n := s.count(); n != q.want {
						return fmt.Errorf("%s: %d of %d nodes", s.name, n, q.want)
					}
					if round > 0 && pass > 0 {
						q.took[s] = append(q.took[s], d)
					}
				}
			}
		}
	}
	return nil
}

// medianOf is the median of the questions' medians.
func medianOf(asked []*askedNode, s *system) float64 {
	var took []float64
	for _, q := range asked {
		took = append(took, median(q.took[s]))
	}
	return median(took)
}

func meanRatio(asked []*askedNode, a, b *system) float64 {
	sum := 0.0
	for _, q := range asked {
		sum += median(q.took[a]) / median(q.took[b])
	}
	return sum / float64(max(1, len(asked)))
}
