package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"headwater/graph"
	"headwater/graph/graphtest"
	"headwater/region/log"
)

// startServer runs a server process and returns its base URL. Its large rows are
// in a NebulaGraph where store is the URL of one.
func startServer(t *testing.T, data, store string) (*exec.Cmd, string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestMemberProcess$")
	// HEADWATER_STORE and the like hold as they always do.
	cmd.Env = append(os.Environ(), "HEADWATER_TEST_MEMBER=serve --listen 127.0.0.1:0 --min-free 0 --cache 8MiB --data "+data)
	if store != "" {
		cmd.Env = append(cmd.Env, "HEADWATER_STORE="+store, "HEADWATER_INIT=true")
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if _, rest, ok := strings.Cut(lines.Text(), "graphql="); ok {
			url, _, _ := strings.Cut(rest, "/graphql")
			go func() { _, _ = io.Copy(io.Discard, stderr) }()
			return cmd, url
		}
	}
	_ = cmd.Process.Kill()
	t.Fatalf("the server did not start: %s", said.String())
	return nil, ""
}

// An acknowledged event: a job of its own, and the run that it reported.
type acknowledged struct{ job, run string }

func killEvent(n int) (acknowledged, string) {
	a := acknowledged{job: fmt.Sprintf("job_%d", n), run: fmt.Sprintf("00000000-0000-4000-8000-%012d", n)}
	return a, fmt.Sprintf(`{"eventType":"COMPLETE","eventTime":"2026-03-01T00:00:00Z","run":{"runId":%q},"job":{"namespace":"kill","name":%q},
"inputs":[{"namespace":"db","name":"t%d"},{"namespace":"db","name":"hub"}],
"outputs":[{"namespace":"db","name":"t%d","facets":{"columnLineage":{"fields":{"x":{"inputFields":[{"namespace":"db","name":"t%d","field":"x","transformations":[{"type":"DIRECT","subtype":"IDENTITY"}]}]}}}}}]}`,
		a.run, a.job, n%97, (n+1)%97, n%97)
}

func TestKilledServersLoseNothingAcknowledgedAndApplyNothingTwice(t *testing.T) {
	rounds := 50
	if testing.Short() {
		rounds = 5
	}
	killServers(t, rounds, "")
}

func TestKilledServersLoseNothingOverNebulaGraph(t *testing.T) {
	stand := startStandIn(t)
	killServers(t, 5, "nebula://"+stand.Addr()+"/killed")
}

// killServers kills a server so many times while clients send to it, and looks
// at what is there in the end.
func killServers(t *testing.T, rounds int, store string) {
	t.Helper()
	data := t.TempDir()
	random := rand.New(rand.NewPCG(1, 2))
	var mu sync.Mutex // guards the three below
	var acked []acknowledged
	sent, n := 0, 0
	for round := range rounds {
		cmd, url := startServer(t, data, store)
		ctx, cancel := context.WithCancel(context.Background())
		var clients sync.WaitGroup
		for range 4 {
			clients.Go(func() {
				for ctx.Err() == nil {
					mu.Lock()
					size := 1 + random.IntN(20)
					var events []acknowledged
					var bodies []string
					for range size {
						a, body := killEvent(n)
						n++
						events, bodies = append(events, a), append(bodies, body)
					}
					sent += size
					mu.Unlock()
					res, err := http.Post(url+"/api/v1/lineage/batch", "application/json", bytes.NewBufferString("["+strings.Join(bodies, ",")+"]"))
					if err != nil {
						return
					}
					_, err = io.Copy(io.Discard, res.Body)
					_ = res.Body.Close()
					if err == nil && res.StatusCode == http.StatusOK {
						mu.Lock()
						acked = append(acked, events...)
						mu.Unlock()
					}
				}
			})
		}
		mu.Lock()
		life := time.Duration(10+random.IntN(190)) * time.Millisecond
		mu.Unlock()
		time.Sleep(life) // the moment of the kill is what is random
		if err := cmd.Process.Kill(); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		_ = cmd.Wait() // it says that it was killed
		cancel()
		clients.Wait()
	}
	checkKilled(t, data, store, acked)
	t.Logf("%d rounds, %d events sent, %d acknowledged", rounds, sent, len(acked))
}

// checkKilled opens what the killed servers left, lets it apply what waits,
// and looks for what was acknowledged.
func checkKilled(t *testing.T, data, at string, acked []acknowledged) {
	t.Helper()
	cmd, url := startServer(t, data, at)
	// What waits may take longer to apply than one request waits: it says so.
	status := http.StatusGatewayTimeout
	for range 20 {
		res, err := http.Post(url+"/api/v1/lineage/batch?wait=applied", "application/json", strings.NewReader("[]"))
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if status = res.StatusCode; status != http.StatusGatewayTimeout {
			break
		}
	}
	if status != http.StatusOK {
		t.Fatalf("waiting until all is applied: %d", status)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("the last server did not stop cleanly: %v", err)
	}
	queue, err := log.Open(filepath.Join(data, "log"), log.Options{})
	if err != nil {
		t.Fatal(err)
	}
	dead, err := queue.Dead("", 10)
	if err != nil || len(dead) > 0 {
		t.Errorf("dead letters: %+v, %v", dead, err)
	}
	if err := queue.Close(); err != nil {
		t.Fatal(err)
	}
	checkAcknowledged(t, data, at, acked)
}

// checkAcknowledged opens the graph of a server that has stopped, and looks for
// what was acknowledged.
func checkAcknowledged(t *testing.T, data, at string, acked []acknowledged) {
	t.Helper()
	c := defaultConfig()
	c.Data, c.Store = data, at
	store, _, err := openStore(t.Context(), &c, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	ctx := context.Background()
	runs := map[acknowledged]int{}
	records := 0
	for r, err := range store.Contributions(ctx, graph.Key{}) {
		if err != nil {
			t.Fatal(err)
		}
		records++
		for _, run := range r.Runs {
			runs[acknowledged{r.Subject.Name, run.ID}]++
			if len(run.Parts) != 1 {
				t.Errorf("run %s has %d parts, want 1", run.ID, len(run.Parts))
			}
		}
	}
	missing := 0
	for _, a := range acked {
		if runs[a] != 1 {
			missing++
		}
	}
	if missing > 0 || len(acked) == 0 {
		t.Errorf("%d of %d acknowledged events are not there exactly once", missing, len(acked))
	}
	// Each event is one change, so one applied twice would show here.
	mark, err := store.Applied(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if int(mark.Revision) != records {
		t.Errorf("%d revisions for %d events", mark.Revision, records)
	}
	model, err := graphtest.Rebuild(ctx, store, "local")
	if err != nil {
		t.Fatal(err)
	}
	if err := graphtest.SameFlows(ctx, store, model); err != nil {
		t.Error(err)
	}
}
