package openlineage

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"headwater/graph"
	"headwater/ingest"
)

// FuzzDecode starts from the events of testdata. Whatever comes in: nothing
// panics, the same message gives the same answer, an event is refused if and
// only if it has no deltas, and what is taken is sound.
func FuzzDecode(f *testing.F) {
	for _, body := range golden(f) {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		before := bytes.Clone(body)
		m := ingest.Message{Body: body, Region: "eu", Received: received}
		d := Decode(m)
		if again := Decode(m); !reflect.DeepEqual(d, again) {
			t.Fatalf("twice the same message:\n%s\n%s", describe(d), describe(again))
		}
		if !bytes.Equal(body, before) {
			t.Fatal("the message was changed")
		}
		if refused := len(d.Deltas) == 0; refused != d.Fatal() {
			t.Fatalf("%d deltas, fatal: %v", len(d.Deltas), d.Fatal())
		}
		for _, r := range d.Rejected {
			if r.Reason == "" || !strings.HasPrefix(r.Path, "$") || r.Offset < 0 || r.Offset > int64(len(body)) {
				t.Errorf("rejected %+v", r)
			}
			if d.Fatal() && strings.HasPrefix(r.Reason, "is not JSON") && json.Valid(body) && !bytes.ContainsAny(body, "\\\xef\xbf") {
				t.Errorf("is JSON: %s", r.Reason)
			}
		}
		for _, delta := range d.Deltas {
			sound(t, &delta)
		}
	})
}

// golden returns the events of testdata.
func golden(t testing.TB) [][]byte {
	paths, err := filepath.Glob("testdata/*.json")
	if err != nil {
		t.Fatal(err)
	}
	var bodies [][]byte
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, b)
	}
	stories, err := filepath.Glob("testdata/stories/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range stories {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, story := range strings.Split(string(b), "\ndecode\n")[1:] {
			event, _, _ := strings.Cut(story, "\n----\n")
			bodies = append(bodies, []byte(event))
		}
	}
	return bodies
}

// sound checks what every delta keeps to, and that it survives the codec.
func sound(t *testing.T, d *graph.Delta) {
	check := func(n graph.Name) {
		if err := n.Check(); err != nil {
			t.Errorf("%v: %v", n, err)
		}
		if n.Region != "eu" || n.Kind != graph.DataStoreKind && n.Kind != graph.ProcessKind {
			t.Errorf("%#v", n)
		}
	}
	coded := graph.AppendDelta(nil, d)
	if again, err := graph.DecodeDelta(coded); err != nil || !bytes.Equal(graph.AppendDelta(nil, &again), coded) {
		t.Errorf("does not survive the codec: %v", err)
	}
	check(d.Subject)
	if graph.System(d.Origin) != Origin || d.Time < 0 || d.Time > 1<<63-1 || (d.Run == "") != (d.State == graph.Declared) {
		t.Errorf("origin %q, time %d, run %q, state %v", d.Origin, d.Time, d.Run, d.State)
	}
	sources := func(list []graph.Source) {
		for _, s := range list {
			check(s.Name)
			if s.Kinds == 0 || s.Name.Kind != graph.DataStoreKind {
				t.Errorf("source %+v", s)
			}
		}
	}
	for _, list := range [][]graph.Dataset{d.Says.Reads, d.Says.Writes} {
		for i := range list {
			ds := &list[i]
			check(ds.Name)
			for _, a := range ds.Aliases {
				check(a.From)
				check(a.To)
			}
			for _, c := range ds.Facts.Columns {
				if c.Path == "" || c.Ordinal < 1 {
					t.Errorf("column %+v", c)
				}
			}
			if ds.Lineage != nil {
				sources(ds.Lineage.Inputs)
				for _, c := range ds.Lineage.Columns {
					sources(c.Inputs)
				}
			}
		}
	}
	for _, p := range d.Says.Processes {
		check(p.From)
		check(p.To)
	}
	for _, s := range d.Seen {
		check(s.Name)
		if s.Facets == nil && s.Partitions == nil || s.Facets != nil && !json.Valid(s.Facets) {
			t.Errorf("seen %s", s.Facets)
		}
	}
}
