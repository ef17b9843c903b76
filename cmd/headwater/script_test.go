package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"headwater/graph"
	"headwater/graph/nebula/standin"
	"headwater/region/log"
)

func TestMain(m *testing.M) {
	if os.Getenv("HEADWATER_TEST_MEMBER") != "" {
		os.Exit(m.Run()) // a process of TestMemberProcess: it leaves without clearing up
	}
	testscript.Main(m, map[string]func(){"headwater": main})
}

// The scripts run the command as people do. Beside what testscript has they
// know
//
//	exits CODE PROGRAM ARGS...   run a program and check its exit code
//	ready ADDRESS                wait until a server answers that it is ready
//	bury FOLDER JOB              put a dead letter into a server's data
//
// $ADDR is a free loopback address, $URL its URL, and $RAFT another one; $NEBULA
// is where a stand-in for NebulaGraph listens, of root with password s3cret. With UPDATE_SCRIPTS set, what
// cmp compares with is rewritten: read the diff.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(e *testscript.Env) error {
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return err
			}
			raft, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return errors.Join(err, ln.Close())
			}
			stand, err := standin.Start(standin.Options{Password: "s3cret"})
			if err != nil {
				return errors.Join(err, ln.Close(), raft.Close())
			}
			e.Defer(stand.Close)
			e.Setenv("NEBULA", stand.Addr())
			e.Setenv("RAFT", raft.Addr().String())
			e.Setenv("ADDR", ln.Addr().String())
			e.Setenv("URL", "http://"+ln.Addr().String())
			// With -race a process would sleep for a second when it ends well.
			e.Setenv("GORACE", "atexit_sleep_ms=0")
			return errors.Join(ln.Close(), raft.Close())
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg || len(args) < 2 {
					ts.Fatalf("usage: exits CODE PROGRAM ARGS...")
				}
				want, err := strconv.Atoi(args[0])
				ts.Check(err)
				got := 0
				var exit *exec.ExitError
				switch err := ts.Exec(args[1], args[2:]...); {
				case errors.As(err, &exit):
					got = exit.ExitCode()
				case err != nil:
					ts.Fatalf("%v", err)
				}
				if got != want {
					ts.Fatalf("exit code %d, want %d", got, want)
				}
			},
			"ready": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg || len(args) != 1 {
					ts.Fatalf("usage: ready ADDRESS")
				}
				ts.Check(waitReady(args[0]))
			},
			"bury": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg || len(args) != 2 {
					ts.Fatalf("usage: bury FOLDER JOB")
				}
				ts.Check(bury(ts.MkAbs(args[0]), args[1]))
			},
		},
	})
}

func waitReady(address string) error {
	deadline := time.Now().Add(15 * time.Second)
	for {
		res, err := http.Get("http://" + address + "/readyz")
		if err == nil {
			err = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return err
			}
			err = fmt.Errorf("it answers %s", res.Status)
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the server at %s is not ready: %w", address, err)
		}
		time.Sleep(10 * time.Millisecond) // another process: there is nothing to wait on
	}
}

// bury puts a dead letter into the log below a data folder: a job that reads
// raw.orders and writes dm.orders. It has the ID 1.0.
func bury(data, job string) error {
	l, err := log.Open(filepath.Join(data, "log"), log.Options{})
	if err != nil {
		return err
	}
	table := func(name string) graph.Name {
		return graph.Name{Kind: graph.DataStoreKind, Region: "local", Namespace: "hive://m:9083", Name: name}
	}
	return errors.Join(l.Bury(log.DeadLetter{Offset: 1, At: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Reason: "planning panicked: injected", Delta: graph.Delta{
		Subject: graph.Name{Kind: graph.ProcessKind, Region: "local", Namespace: "scheduler", Name: job}, Origin: "openlineage", Run: "r1", State: graph.Completed,
		Time: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).UnixNano(),
		Says: graph.Content{Reads: []graph.Dataset{{Name: table("raw.orders")}}, Writes: []graph.Dataset{{Name: table("dm.orders")}}},
	}}), l.Close())
}
