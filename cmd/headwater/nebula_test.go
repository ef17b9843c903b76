package main

import (
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"headwater/cmd/headwater/shop"
	"headwater/graph/nebula/standin"
)

// startStandIn starts a stand-in for NebulaGraph for the time of a test.
func startStandIn(t testing.TB) *standin.Server {
	t.Helper()
	s, err := standin.Start(standin.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// spaces returns a function that tells which spaces have been made and which
// dropped, in order.
func spaces(s *standin.Server) func() (made, dropped []string) {
	var mu sync.Mutex // guards texts
	var texts []string
	s.Fail(func(_ uint64, text string) standin.Fault {
		mu.Lock()
		defer mu.Unlock()
		texts = append(texts, text)
		return standin.Fault{}
	})
	return func() (made, dropped []string) {
		mu.Lock()
		defer mu.Unlock()
		for _, text := range texts {
			if name, ok := strings.CutPrefix(text, "CREATE SPACE IF NOT EXISTS "); ok {
				name, _, _ = strings.Cut(name, "(")
				made = append(made, name)
			}
			if name, ok := strings.CutPrefix(text, "DROP SPACE IF EXISTS "); ok {
				dropped = append(dropped, name)
			}
		}
		slices.Sort(made)
		slices.Sort(dropped)
		return made, dropped
	}
}

func TestTheDemoAnswersItsQuestionOverNebulaGraph(t *testing.T) {
	stand := startStandIn(t)
	told := spaces(stand)
	base, stop := demoForTest(t, &demo{out: io.Discard, store: "nebula://" + stand.Addr() + "/demo?partitions=2"})
	checkQuestion(t, base)
	if err := stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	made, dropped := told()
	var regions []string
	for _, space := range made {
		regions = append(regions, strings.Split(space, "_")[1])
	}
	if !slices.Equal(regions, []string{shop.Reports, shop.Lake, shop.Apps}) || !slices.Equal(made, dropped) {
		t.Errorf("made %q, dropped %q", made, dropped)
	}
}

func TestTheDemoSaysOnceWhyItHasNoNebulaGraph(t *testing.T) {
	stand := startStandIn(t)
	stand.Stop()
	code, out, log := runHere("demo", "--listen", "127.0.0.1:0", "--store", "nebula://root:s3cret@"+stand.Addr()+"/demo")
	if code != 1 || !strings.Contains(out, "NebulaGraph takes up to half a minute") || strings.Count(log, "connection refused") != 1 || strings.Contains(out+log, "s3cret") {
		t.Errorf("exit code %d, %s\n%s", code, out, log)
	}
	if code, _, log := runHere("demo", "--listen", "127.0.0.1:0", "--store", "elsewhere"); code != 1 || !strings.Contains(log, "store: the URL of a graph in NebulaGraph begins with nebula://") {
		t.Errorf("exit code %d, %s", code, log)
	}
}

func TestTheDemoKeepsItsSpacesWithItsFolder(t *testing.T) {
	stand := startStandIn(t)
	told := spaces(stand)
	dir := t.TempDir()
	for range 2 {
		base, stop := demoForTest(t, &demo{out: io.Discard, data: dir, store: "nebula://" + stand.Addr() + "/demo"})
		checkQuestion(t, base)
		if err := stop(); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"demo_ap", "demo_ap", "demo_eu", "demo_eu", "demo_us", "demo_us"}
	if made, dropped := told(); !slices.Equal(made, want) || len(dropped) > 0 {
		t.Errorf("made %q, dropped %q", made, dropped)
	}
}
