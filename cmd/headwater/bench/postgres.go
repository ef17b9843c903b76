package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"headwater/graph"
)

// postgres asks PostgreSQL's recursive query, its engine and the HTTP server
// the same questions in turn: what feeds on a node within three hops.
func (r *run) postgres(ctx context.Context) error {
	db, stop, err := r.startPostgres(ctx)
	if err != nil {
		return err
	}
	return errors.Join(r.sideBySide(ctx, db), db.Close(ctx), stop())
}

func (r *run) sideBySide(ctx context.Context, db *pgx.Conn) error {
	dir, roots, err := r.debian(ctx)
	if err != nil {
		return err
	}
	if dir != "" {
		if err := r.compare(ctx, db, "Debian's graph", dir, roots); err != nil {
			return err
		}
	}
	if dir, err = r.built(ctx, r.Tasks); err != nil {
		return err
	}
	p := r.platform(r.Tasks)
	roots = nil // the tables that most others read: where a change has to be thought through
	for i := range 60 {
		roots = append(roots, tableID(p.Table(-1-i)))
	}
	return r.compare(ctx, db, fmt.Sprintf("shared tables of a platform of %d tasks", r.Tasks), dir, roots)
}

const recursive = `WITH RECURSIVE reached(id, hops) AS (
	SELECT $1::int, 0
	UNION
	SELECT e.target, r.hops + 1 FROM reached r JOIN edge e ON e.source = r.id WHERE r.hops < 3
) SELECT id, min(hops) FROM reached GROUP BY id`

// An askedNode is a question that all are asked: what a node feeds.
type askedNode struct {
	root graph.ID
	want int // nodes
	body []byte
}

func (r *run) compare(ctx context.Context, db *pgx.Conn, name, dir string, roots []graph.ID) error {
	var all []askedNode
	var sql, bare, engine []float64
	// All answers are counted when they have come whole, outside of the time.
	overHTTP := func(url string) (took []float64, answers map[string][]byte, err error) {
		w, err := newWire(url)
		if err != nil {
			return nil, nil, err
		}
		defer func() { err = errors.Join(err, w.conn.Close()) }()
		answers = map[string][]byte{} // by question
		var question, answer []byte
		took, err = r.times(all, func(q *askedNode) (err error) {
			question = q.body
			answer, err = w.post("/graphql", q.body)
			return err
		}, func() int {
			if answers[string(question)] == nil {
				answers[string(question)] = bytes.Clone(answer)
			}
			return bytes.Count(answer, []byte(`"id":`))
		})
		return took, answers, errors.Join(err, whole(answer))
	}
	n := 0
	count := func() int { return n }
	var anew, again []float64
	var answers map[string][]byte
	if err := r.serve(ctx, dir, func(s *Server, c *client) error {
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
		reached, seen, queue := 0, make([]bool, len(adjacent.ids)), make([]uint32, 0, len(adjacent.ids))
		for _, root := range roots {
			if !adjacent.has(root) {
				continue
			}
			want := adjacent.search(adjacent.at[root], 3, seen, queue)
			if want == 1 {
				continue // feeds nothing
			}
			body, err := question(idsQuery, of(root))
			if err != nil {
				return err
			}
			reached += want
			all = append(all, askedNode{root, want, body})
		}
		r.tell("%s: %d edges, %d questions, 3 hops downstream, %d nodes an answer in the mean", name, len(adjacent.targets), len(all), reached/max(1, len(all)))
		if sql, err = r.times(all, func(q *askedNode) (err error) {
			n, err = recurse(ctx, db, int32(adjacent.at[q.root]))
			return err
		}, count); err != nil {
			return fmt.Errorf("PostgreSQL: %w", err)
		}
		for _, set := range []string{"", "SET enable_hashjoin=off; SET enable_mergejoin=off"} {
			if _, err := db.Exec(ctx, set); err != nil { return err }
			named, err := r.times(all, func(q *askedNode) error {
				n = 0
				rows, err := db.Query(ctx, `WITH RECURSIVE reached(id, hops) AS (
	SELECT $1::int, 0
	UNION
	SELECT e.target, r.hops + 1 FROM reached r JOIN edge e ON e.source = r.id WHERE r.hops < 3
) SELECT n.id, r.hops FROM (SELECT id, min(hops) AS hops FROM reached GROUP BY id) r JOIN node n ON n.number = r.id`, int32(adjacent.at[q.root]))
				if err != nil { return err }
				defer rows.Close()
				for rows.Next() { n++ }
				return rows.Err()
			}, count)
			if err != nil { return err }
			r.tell("named %q: %.3f ms, numbers %.3f", set, median(named), median(sql))
		}
		if bare, err = r.times(all, func(q *askedNode) error {
			n = adjacent.search(adjacent.at[q.root], 3, seen, queue)
			return nil
		}, count); err != nil {
			return fmt.Errorf("bare search: %w", err)
		}
		if engine, err = r.times(all, func(q *askedNode) error {
			sum, err := graph.Walk(ctx, v, []graph.Seed{{ID: q.root}}, graph.WalkOptions{Depth: 3}, func(graph.Reached) error { return nil })
			n = sum.Nodes
			return err
		}, count); err != nil {
			return fmt.Errorf("engine: %w", err)
		}
		anew, answers, err = overHTTP(c.url)
		return err
	}); err != nil {
		return err
	}
	if err := r.serving(dir, true, func(_ *Server, c *client) (err error) {
		again, _, err = overHTTP(c.url)
		return err
	}); err != nil {
		return err
	}
	known := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		question, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		answer := answers[string(question)]
		w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
		_, _ = w.Write(answer) // who asks sees what is missing
	}))
	idle, _, err := overHTTP(known.URL)
	known.Close()
	if err != nil {
		return err
	}
	p, b, e, a, h, f := median(sql), median(bare), median(engine), median(anew), median(again), median(idle)
	r.tell("a bare breadth-first search over arrays, which knows nothing but the edges: median %.4f ms: %.0f times faster than PostgreSQL", b, p/b)
	r.hold(p/e >= 100, "at least 100", "inside the engine: median %.4f ms, PostgreSQL %.3f ms: %.0f times faster; mean of the questions' ratios %.0f", e, p, p/e, meanRatio(sql, engine))
	r.tell("over HTTP, the same bytes from a handler that knows them: median %.4f ms: %.0f times faster", f, p/f)
	r.tell("over HTTP GraphQL, each answer made anew: median %.4f ms: %.0f times faster; mean of the questions' ratios %.0f", a, p/a, meanRatio(sql, anew))
	r.hold(p/h >= 20, "at least 20", "over HTTP GraphQL, as it is served (answers are kept as long as they hold): median %.4f ms: %.0f times faster; mean of the questions' ratios %.0f", h, p/h, meanRatio(sql, again))
	return nil
}

// times asks all questions, several times, and returns the median of each, in
// milliseconds; count tells, outside of that time, how many nodes the answer
// had. Each system is asked all before the next is: with the processor's caches
// to itself.
func (r *run) times(all []askedNode, ask func(q *askedNode) error, count func() int) ([]float64, error) {
	took := make([][]float64, len(all))
	for range r.Runs + 1 { // the first warms up
		for i := range all {
			began := time.Now()
			err := ask(&all[i])
			took[i] = append(took[i], ms(time.Since(began)))
			if err != nil {
				return nil, err
			}
			if n := count(); n != all[i].want {
				return nil, fmt.Errorf("%d of %d nodes", n, all[i].want)
			}
		}
	}
	medians := make([]float64, len(all))
	for i := range took {
		medians[i] = median(took[i][1:])
	}
	return medians, nil
}

func meanRatio(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += a[i] / b[i]
	}
	return sum / float64(len(a))
}

func recurse(ctx context.Context, db *pgx.Conn, root int32) (n int, err error) {
	rows, err := db.Query(ctx, recursive, root)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() { // what a row holds is not looked at
		n++
	}
	return n, rows.Err()
}

// load makes a table of the edges, with an index, analysed.
func load(ctx context.Context, db *pgx.Conn, c *csr) error {
	if _, err := db.Exec(ctx, "DROP TABLE IF EXISTS edge; CREATE TABLE edge (source int NOT NULL, target int NOT NULL)"); err != nil {
		return err
	}
	at, source := 0, 0
	if _, err := db.CopyFrom(ctx, pgx.Identifier{"edge"}, []string{"source", "target"}, pgx.CopyFromFunc(func() ([]any, error) {
		if at == len(c.targets) {
			return nil, nil
		}
		for uint32(at) >= c.offsets[source+1] {
			source++
		}
		at++
		return []any{int32(source), int32(c.targets[at-1])}, nil
	})); err != nil {
		return err
	}
	if _, err := db.Exec(ctx, "DROP TABLE IF EXISTS node; CREATE TABLE node (number int primary key, id text not null)"); err != nil { return err }
	at = 0
	if _, err := db.CopyFrom(ctx, pgx.Identifier{"node"}, []string{"number", "id"}, pgx.CopyFromFunc(func() ([]any, error) {
		if at == len(c.ids) { return nil, nil }
		at++
		return []any{int32(at-1), c.ids[at-1].String()}, nil
	})); err != nil {
		return err
	}
	for _, sql := range []string{"VACUUM ANALYZE node", "CREATE INDEX ON edge (source, target)", "VACUUM ANALYZE edge"} {
		if _, err := db.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

// startPostgres starts a server of its own on loopback and connects to it.
func (r *run) startPostgres(ctx context.Context) (db *pgx.Conn, stop func() error, err error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return nil, nil, errors.New("PostgreSQL's server is not installed: apt-get install postgresql")
	}
	bin := filepath.Dir(found[len(found)-1])
	dir, err := os.MkdirTemp("", "headwater-postgres-")
	if err != nil {
		return nil, nil, err
	}
	remove := func() error { return os.RemoveAll(dir) }
	as, err := unprivileged(dir)
	if err != nil {
		return nil, nil, errors.Join(err, remove())
	}
	command := func(name string, args ...string) *exec.Cmd {
		c := exec.CommandContext(ctx, filepath.Join(bin, name), args...)
		c.Dir, c.SysProcAttr = dir, as
		return c
	}
	data := filepath.Join(dir, "data")
	if out, err := command("initdb", "-D", data, "-U", "headwater", "-A", "trust", "--no-sync").CombinedOutput(); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("initdb: %w: %s", err, out), remove())
	}
	port, err := freePort()
	if err != nil {
		return nil, nil, errors.Join(err, remove())
	}
	server := command("postgres", "-D", data, "-h", "127.0.0.1", "-p", strconv.Itoa(port), "-k", dir, "-c", "shared_buffers=1GB", "-c", "work_mem=256MB", "-c", "fsync=off", "-c", "jit=off")
	if err := server.Start(); err != nil {
		return nil, nil, errors.Join(err, remove())
	}
	stop = func() error {
		_ = server.Process.Signal(os.Interrupt) // a fast shutdown
		_ = server.Wait()
		return remove()
	}
	for try := 0; ; try++ {
		if db, err = pgx.Connect(ctx, fmt.Sprintf("postgres://headwater@127.0.0.1:%d/postgres?sslmode=disable", port)); err == nil {
			break
		}
		if try == 100 || ctx.Err() != nil {
			return nil, nil, errors.Join(fmt.Errorf("connect to PostgreSQL: %w", err), stop())
		}
		time.Sleep(100 * time.Millisecond)
	}
	var version string
	if err := db.QueryRow(ctx, "SHOW server_version").Scan(&version); err != nil {
		return nil, nil, errors.Join(err, stop())
	}
	r.tell("PostgreSQL %s with 1 GB of buffers, an index on (source, target), a prepared query over loopback", version)
	return db, stop, nil
}

func freePort() (int, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return ln.Addr().(*net.TCPAddr).Port, ln.Close()
}
