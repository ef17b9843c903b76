package bench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
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

const recursive = `WITH RECURSIVE reached(id, hops) AS (
	SELECT $1::int, 0
	UNION
	SELECT e.target, r.hops + 1 FROM reached r JOIN edge e ON e.source = r.id WHERE r.hops < 3
) SELECT id, min(hops) FROM reached GROUP BY id`

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
	for _, sql := range []string{"CREATE INDEX ON edge (source, target)", "VACUUM ANALYZE edge"} {
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
