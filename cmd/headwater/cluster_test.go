package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"headwater/gateway"
	"headwater/gateway/catalog"
)

// TestMemberProcess is not a test: others run it as a gateway, a region or a
// server that can be killed.
func TestMemberProcess(t *testing.T) {
	args := os.Getenv("HEADWATER_TEST_MEMBER")
	if args == "" {
		t.Skip("skipped: it is a process of another test")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, strings.Fields(args), os.Stdout, os.Stderr))
}

// A member is a process of a cluster.
type member struct {
	name, args, url string
	cmd             *exec.Cmd
	// lives counts its starts and ends: it is odd while it runs. ready says that
	// it has caught up since.
	lives atomic.Int64
	ready atomic.Bool
}

// start runs the process and returns once it serves.
func (m *member) start(t *testing.T) {
	t.Helper()
	m.cmd = exec.Command(os.Args[0], "-test.run=^TestMemberProcess$")
	m.cmd.Env = append(os.Environ(), "HEADWATER_TEST_MEMBER="+m.args)
	stderr, err := m.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := m.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), "graphql=") {
			m.lives.Add(1)
			go func() { _, _ = io.Copy(io.Discard, stderr) }()
			return
		}
	}
	_ = m.cmd.Process.Kill()
	t.Fatalf("%s did not start: %s", m.name, said.String())
}

// kill is kill -9.
func (m *member) kill(t *testing.T) {
	t.Helper()
	m.ready.Store(false)
	m.lives.Add(1)
	if err := m.cmd.Process.Kill(); err != nil {
		t.Fatalf("kill %s: %v", m.name, err)
	}
	_ = m.cmd.Wait() // it says that it was killed
}

// get returns what a page says, empty where there is none.
func (m *member) get(path string) string {
	client := http.Client{Timeout: 2 * time.Second}
	res, err := client.Get(m.url + path)
	if err != nil {
		return ""
	}
	defer func() { _ = res.Body.Close() }()
	body, _ := io.ReadAll(res.Body) // what is missing is not what is looked for
	return string(body)
}

// A members is three gateways over one region.
type members struct {
	gateways []*member
	region   *member

	mu      sync.Mutex // guards all below
	acked   []string   // what events that were acknowledged wrote
	answers int
	faults  []string
	slowest time.Duration
}

// startMembers starts a cluster in a folder and puts the region into its
// catalog.
func startMembers(t *testing.T, dir string) *members {
	t.Helper()
	addresses, err := freeAddresses(7)
	if err != nil {
		t.Fatal(err)
	}
	var first []string
	for i := range 3 {
		first = append(first, fmt.Sprintf("g%d=%s=http://%s", i+1, addresses[2*i], addresses[2*i+1]))
	}
	c := &members{region: &member{name: "eu", url: "http://" + addresses[6],
		args: fmt.Sprintf("region --region eu --listen %s --data %s --min-free 0 --cache 8MiB", addresses[6], filepath.Join(dir, "eu"))}}
	for i := range 3 {
		name := fmt.Sprint("g", i+1)
		c.gateways = append(c.gateways, &member{name: name, url: "http://" + addresses[2*i+1], args: fmt.Sprintf("gateway --name %s --raft %s --listen %s --first %s --data %s",
			name, addresses[2*i], addresses[2*i+1], strings.Join(first, ","), filepath.Join(dir, name))})
	}
	for _, m := range append(slices.Clone(c.gateways), c.region) {
		m.start(t)
		t.Cleanup(func() { m.kill(t) })
	}
	command, err := catalog.Command{ID: "eu", Who: "test", At: 1, Do: catalog.SetRegion{Region: catalog.Region{Name: "eu", Addresses: []string{addresses[6]}}}}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	// The gateway that leads takes it; the others say that they do not.
	request, err := json.Marshal(map[string]any{"format": 1, "op": "change", "command": command})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the region is in the catalog", func() bool {
		for _, g := range c.gateways {
			res, err := http.Post(g.url+gateway.CatalogPath, "application/octet-stream", bytes.NewReader(request))
			if err != nil {
				continue
			}
			var reply struct{ Fault string }
			err = json.NewDecoder(res.Body).Decode(&reply)
			_ = res.Body.Close()
			if err == nil && reply.Fault == "" {
				return true
			}
		}
		return false
	})
	return c
}

// eventually waits until something is so.
func eventually(t *testing.T, what string, so func() bool) time.Duration {
	t.Helper()
	began := time.Now()
	for !so() {
		if time.Since(began) > 30*time.Second {
			t.Fatalf("never: %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
	return time.Since(began)
}

var (
	leaderIs  = regexp.MustCompile(`leader "(g\d)"`)
	versionIs = regexp.MustCompile(`(?m)^headwater_catalog_version (\S+)$`)
)

// leader returns who leads as a gateway says, empty where it knows of none.
func (m *member) leader() string {
	if found := leaderIs.FindStringSubmatch(m.get("/readyz")); found != nil {
		return found[1]
	}
	return ""
}

// agree reports whether all gateways name one leader and one version of the
// catalog, and follow the region, which has caught up with its log.
func (c *members) agree() bool {
	if !strings.HasPrefix(c.region.get("/readyz"), "ok") {
		return false
	}
	said := map[string]bool{}
	for _, g := range c.gateways {
		page := g.get("/metrics")
		version := versionIs.FindStringSubmatch(page)
		leader := g.leader()
		if version == nil || version[1] == "0" || leader == "" || !strings.Contains(page, `headwater_region_followed{region="eu"} 1`) {
			return false
		}
		said[leader+" "+version[1]] = true
	}
	return len(said) == 1
}

func (c *members) fault(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults = append(c.faults, fmt.Sprintf(format, args...))
}

// ask asks a gateway until ctx ends. While the gateway runs every answer comes
// within 5 s, and while the region does, too, it is whole.
func (c *members) ask(ctx context.Context, g *member) {
	const body = `{"query":"{ lineage(of: {namespace: \"db\", name: \"seed\"}, direction: DOWNSTREAM) { complete nodes { distance } } }"}`
	client := &http.Client{Timeout: 5 * time.Second}
	for ctx.Err() == nil {
		time.Sleep(20 * time.Millisecond) // what is asked in a second is no matter
		life, regions := g.lives.Load(), c.region.lives.Load()
		whole := c.region.ready.Load()
		if !g.ready.Load() {
			continue
		}
		began := time.Now()
		res, err := client.Post(g.url+"/graphql", "application/json", strings.NewReader(body))
		var text []byte
		if err == nil {
			text, err = io.ReadAll(res.Body)
			_ = res.Body.Close()
		}
		whole = whole && c.region.ready.Load() && c.region.lives.Load() == regions
		took := time.Since(began)
		switch {
		case g.lives.Load() != life: // killed meanwhile
		case err != nil:
			c.fault("%s: %v", g.name, err)
		case whole && !strings.Contains(string(text), `{"data":{"lineage":{"complete":true,"nodes":[{"distance":0},{"distance":1}]}}`):
			c.fault("%s answers %s", g.name, text)
		default:
			c.mu.Lock()
			c.answers++
			c.slowest = max(c.slowest, took)
			c.mu.Unlock()
		}
	}
}

// post sends the region an event of a job that reads one table and writes
// another, and reports whether it was acknowledged.
func (c *members) post(reads, writes string) bool {
	event := fmt.Sprintf(`{"eventType":"COMPLETE","eventTime":"2026-03-01T00:00:00Z","run":{"runId":"00000000-0000-4000-8000-000000000000"},"job":{"namespace":"kill","name":%q},
"inputs":[{"namespace":"db","name":%q}],"outputs":[{"namespace":"db","name":%q}]}`, writes, reads, writes)
	client := http.Client{Timeout: 5 * time.Second}
	res, err := client.Post(c.region.url+"/api/v1/lineage", "application/json", strings.NewReader(event))
	if err != nil {
		return false
	}
	defer func() { _ = res.Body.Close() }()
	_, err = io.Copy(io.Discard, res.Body)
	return err == nil && res.StatusCode/100 == 2
}

// tell sends events until ctx ends.
func (c *members) tell(ctx context.Context) {
	for n := 0; ctx.Err() == nil; n++ {
		time.Sleep(10 * time.Millisecond) // some 2,000 events in all are enough
		if out := fmt.Sprint("out_", n); c.region.lives.Load()%2 == 1 && c.post("hub", out) {
			c.mu.Lock()
			c.acked = append(c.acked, out)
			c.mu.Unlock()
		}
	}
}

func TestKilledMembers(t *testing.T) {
	rounds := 20
	if testing.Short() {
		rounds = 3
	}
	c := startMembers(t, t.TempDir())
	eventually(t, "the gateways agree", c.agree)
	if !c.post("seed", "sown") {
		t.Fatal("the first event is not acknowledged")
	}
	all := append(slices.Clone(c.gateways), c.region)
	for _, m := range all {
		m.ready.Store(true)
	}
	eventually(t, "the first event is seen", func() bool { return c.sees(t, "seed", []string{"sown"}) })
	ctx, cancel := context.WithCancel(context.Background())
	var clients sync.WaitGroup
	stop := func() {
		cancel()
		clients.Wait()
	}
	defer stop()
	for _, g := range c.gateways {
		clients.Go(func() { c.ask(ctx, g) })
	}
	clients.Go(func() { c.tell(ctx) })
	random := rand.New(rand.NewPCG(5, 4))
	killed := map[string]int{}
	var elected, agreed time.Duration
	for range rounds {
		time.Sleep(time.Duration(100+random.IntN(400)) * time.Millisecond) // the moment of the kill is what is random
		m := all[random.IntN(len(all))]
		killed[m.name]++
		m.kill(t)
		if m != c.region {
			elected = max(elected, eventually(t, "the others have a leader", func() bool { return c.rest(m) }))
		}
		m.start(t)
		agreed = max(agreed, eventually(t, "the gateways agree again", c.agree))
		m.ready.Store(true)
	}
	stop()
	eventually(t, "each gateway sees all that was acknowledged", func() bool { return c.sees(t, "hub", c.acked) })
	for _, f := range c.faults {
		t.Error(f)
	}
	if len(c.acked) == 0 || c.answers == 0 {
		t.Errorf("%d events, %d answers: nothing was tried", len(c.acked), c.answers)
	}
	t.Logf("%d rounds, killed %v; %d events acknowledged, %d answers, the slowest after %v; a leader after %v at most, all agree %v after a restart at most",
		rounds, killed, len(c.acked), c.answers, c.slowest, elected, agreed)
}

// rest reports whether the gateways but one name one leader, which is not it.
func (c *members) rest(but *member) bool {
	leaders := map[string]bool{}
	for _, g := range c.gateways {
		if g != but {
			leaders[g.leader()] = true
		}
	}
	return len(leaders) == 1 && !leaders[""] && !leaders[but.name]
}

// sees reports whether each gateway answers that tables come from one.
func (c *members) sees(t *testing.T, from string, tables []string) bool {
	t.Helper()
	for _, g := range c.gateways {
		var a struct {
			Lineage struct {
				Nodes []struct{ Node struct{ Name string } }
			}
		}
		code := ask(t, g.url, fmt.Sprintf(`{ lineage(of: {namespace: "db", name: %q}, direction: DOWNSTREAM, depth: 1, limit: 100000) { nodes { node { name } } } }`, from), nil, &a)
		seen := map[string]bool{}
		for _, n := range a.Lineage.Nodes {
			seen[n.Node.Name] = true
		}
		if code != "" || slices.ContainsFunc(tables, func(name string) bool { return !seen[name] }) {
			return false
		}
	}
	return true
}
