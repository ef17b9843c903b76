package clustertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/cockroachdb/pebble/v2/vfs"

	"headwater/gateway/catalog"
	"headwater/graph"
)

// An image is a region's disk as it was once.
type image struct{ *vfs.MemFS }

var called = []string{"A", "B", "C"}

// places reads names of regions and of gateways, as stories call them.
func (s *story) places(t *testing.T, d *datadriven.TestData, key string) []string {
	arg, ok := d.Arg(key)
	if !ok {
		t.Fatalf("%s lacks %s", d.Cmd, key)
	}
	var list []string
	for _, v := range arg.Vals {
		if name, ok := s.names[v]; ok {
			v = name
		}
		list = append(list, v)
	}
	return list
}

func (s *story) region(t *testing.T, d *datadriven.TestData) *site {
	var name string
	d.ScanArgs(t, "region", &name)
	return s.sites[name]
}

func (s *story) duration(t *testing.T, d *datadriven.TestData, key string) time.Duration {
	var text string
	d.ScanArgs(t, key, &text)
	v, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// state says how each gateway stands.
func (s *story) state() string {
	return s.each(func(name string) string {
		g := s.gateway(name)
		if g == nil {
			return "does not run"
		}
		state, age := g.Catalog.Now()
		var out strings.Builder
		switch since, ok := age.Of(time.Now()); {
		case age.Leader != "":
			out.WriteString("a leader")
		case ok && since > 5*time.Second:
			out.WriteString("no leader for over 5s")
		default:
			out.WriteString("no leader")
		}
		if s.loading == nil {
			fmt.Fprintf(&out, ", version %d", state.Version())
		}
		for _, f := range g.Followed() {
			if f.Err == nil && !f.Heard.IsZero() {
				fmt.Fprintf(&out, ", follows %s", f.Name)
			} else {
				fmt.Fprintf(&out, ", does not follow %s", f.Name)
			}
		}
		fmt.Fprintf(&out, ", %d names cross", g.Names().Len())
		return out.String()
	})
}

func (s *story) askAll(q question) string {
	return s.each(func(name string) string {
		r := s.ask(name, q)
		if r.err != nil {
			return strings.ReplaceAll(r.err.Error(), name, "this one")
		}
		return r.text
	})
}

// each says something of each gateway; what is the same of some is said once.
func (s *story) each(of func(name string) string) string {
	var texts []string
	by := map[string][]string{}
	for _, call := range called {
		text := of(s.names[call])
		if len(by[text]) == 0 {
			texts = append(texts, text)
		}
		by[text] = append(by[text], call)
	}
	var out strings.Builder
	for _, text := range texts {
		fmt.Fprintf(&out, "%s: %s\n", strings.Join(by[text], " "), text)
	}
	return out.String()
}

// tell tells a region of jobs.
func (s *story) tell(t *testing.T, d *datadriven.TestData) {
	r := s.region(t, d)
	var shift time.Duration
	if d.HasArg("shift") {
		shift = s.duration(t, d, "shift")
	}
	names := func(list string) (all []graph.Dataset) {
		for _, n := range strings.Fields(list) {
			all = append(all, graph.Dataset{Name: table(r.name + ":" + n)})
		}
		return all
	}
	var deltas []graph.Delta
	for line := range strings.Lines(d.Input) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		reads, writes, ok := strings.Cut(rest, ">")
		if !ok {
			t.Fatalf("%q is not: name reads > writes", line)
		}
		s.minute++
		deltas = append(deltas, graph.Delta{Subject: graph.Name{Kind: graph.ProcessKind, Region: r.name, Namespace: "jobs", Name: name}, Origin: "openlineage",
			Run: fmt.Sprint(name, s.minute), State: graph.Completed, Time: time.Date(2026, 3, 1, 0, s.minute, 0, 0, time.UTC).Add(shift).UnixNano(),
			Says: graph.Content{Reads: names(reads), Writes: names(writes)}})
	}
	r.tell(deltas...)
}

// command reads a change of the catalog: its kind and its JSON.
func command(line string) (catalog.Command, error) {
	kind, with, _ := strings.Cut(strings.TrimSpace(line), " ")
	b, err := json.Marshal(map[string]any{"id": "", "seen": 0, "who": "ann", "at": 0, "do": kind, "with": json.RawMessage(with)})
	if err != nil {
		return catalog.Command{}, err
	}
	return catalog.DecodeCommand(append([]byte{1}, b...))
}

// change changes the catalog at a gateway and says what became of it.
func (s *story) change(name, line string) string {
	c, err := command(line)
	if err != nil {
		return err.Error()
	}
	res, err := s.gateway(name).Catalog.Change(context.Background(), c)
	switch {
	case errors.Is(err, catalog.ErrNoQuorum):
		return "no quorum"
	case errors.Is(err, catalog.ErrUnknown):
		return "not known whether it was made"
	case err != nil:
		return err.Error()
	case !res.Changed:
		return "as it was"
	}
	return fmt.Sprint("version ", res.Version)
}

func (s *story) do(t *testing.T, d *datadriven.TestData) string {
	at := "A"
	d.MaybeScanArgs(t, "at", &at)
	var out []string
	for line := range strings.Lines(d.Input) {
		out = append(out, s.change(s.names[at], line))
	}
	return strings.Join(out, "\n")
}

// behave sets the manners of a region's change stream.
func (s *story) behave(t *testing.T, d *datadriven.TestData) {
	m := s.manners[s.region(t, d).name]
	like, _ := d.Arg("like")
	m.mu.Lock()
	defer m.mu.Unlock()
	m.twice, m.swapped, m.broken = slices.Contains(like.Vals, "twice"), slices.Contains(like.Vals, "swapped"), slices.Contains(like.Vals, "broken")
}

// anew says which gateways have taken a snapshot of a region.
func (s *story) anew(region string) string {
	m := s.manners[region]
	m.mu.Lock()
	defer m.mu.Unlock()
	return s.each(func(name string) string {
		key := region + " " + name
		before := s.snapshots[key]
		if s.snapshots[key] = m.snapshots[name]; m.snapshots[name] > before {
			return "a snapshot"
		}
		return "none"
	})
}

// follows reports whether a gateway follows all regions of its catalog.
func follows(g *gate) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	return g.WaitFollowed(ctx) == nil
}

// adopted is long enough for gateways to go by a change of the catalog.
const adopted = 500 * time.Millisecond

// meanwhile asks at A eight times, and makes a change later and later in the
// walk: each walk answers as before the change or as after it.
func (s *story) meanwhile(t *testing.T, d *datadriven.TestData) string {
	q, every := s.question(t, d), s.duration(t, d, "every")
	do, undo, _ := strings.Cut(strings.TrimSpace(d.Input), "\n")
	at := s.names["A"]
	change := func(line string) {
		if said := s.change(at, line); !strings.HasPrefix(said, "version") {
			t.Fatalf("%s: %s", line, said)
		}
	}
	first := s.ask(at, q)
	change(do)
	time.Sleep(awhile)
	second := s.ask(at, q)
	change(undo)
	time.Sleep(awhile)
	within := 0 // changes that were adopted while a walk was under way
	for moment := range 8 {
		after := time.Duration(moment+1) * every
		answered := make(chan reply, 1)
		go func() { answered <- s.ask(at, q) }()
		time.Sleep(after)
		change(do)
		if len(answered) == 0 {
			within++
		}
		switch r := <-answered; {
		case r.err != nil:
			return r.err.Error()
		case r.text != first.text && r.text != second.text:
			return fmt.Sprintf("changed after %v: %s\nbefore: %s\nafter:  %s", after, r.text, first.text, second.text)
		}
		time.Sleep(adopted)
		change(undo)
		time.Sleep(adopted)
	}
	if within < 3 {
		t.Fatalf("walks take %v and %v: %d changes were made while one was under way", first.took, second.took, within)
	}
	return fmt.Sprintf("before: %s\nafter:  %s\neach walk, one or the other\n", first.text, second.text)
}
