package shop

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
)

// A told is what the tests look at in an event.
type told struct {
	EventType, EventTime, Producer, SchemaURL string
	Run                                       *struct{ RunID string }
	Job                                       *struct{ Namespace, Name string }
	Dataset                                   *struct{ Namespace, Name string }
	Inputs, Outputs                           []struct{ Namespace, Name string }
}

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

func rendered(t *testing.T, now time.Time) [][]byte {
	t.Helper()
	bodies, err := Events(now)
	if err != nil {
		t.Fatal(err)
	}
	return bodies
}

func TestEventsAreWhatTheSpecificationWants(t *testing.T) {
	uuid := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	states := map[string]string{} // by run
	counts := map[string]int{}
	last := ""
	for i, body := range rendered(t, noon) {
		var e told
		if err := json.Unmarshal(body, &e); err != nil {
			t.Fatalf("event %d: %v", i, err)
		}
		var all any
		if err := json.Unmarshal(body, &all); err != nil {
			t.Fatalf("event %d: %v", i, err)
		}
		facetsAreComplete(t, fmt.Sprint("event ", i), all)
		if e.Producer != producer || e.EventTime < last || !strings.HasPrefix(e.SchemaURL, specEvents) {
			t.Errorf("event %d by %q at %s after %s with schema %q", i, e.Producer, e.EventTime, last, e.SchemaURL)
		}
		last = e.EventTime
		if e.Dataset != nil {
			if e.Run != nil || e.Job != nil || e.Dataset.Namespace == "" || e.Dataset.Name == "" {
				t.Errorf("event %d is not one about a dataset: %s", i, body)
			}
			counts["dataset"]++
			continue
		}
		if e.Run == nil || e.Job == nil || !uuid.MatchString(e.Run.RunID) || e.Job.Namespace == "" || e.Job.Name == "" {
			t.Fatalf("event %d is not one about a run: %s", i, body)
		}
		id := e.Job.Namespace + " " + e.Job.Name + " " + e.Run.RunID
		if before := states[id]; (e.EventType == "START") != (before == "") || before == "COMPLETE" || before == "FAIL" {
			t.Errorf("event %d: %s follows %q in run %s", i, e.EventType, before, id)
		}
		states[id] = e.EventType
		counts[e.EventType]++
	}
	ends := map[string]int{}
	for _, state := range states {
		ends[state]++
	}
	if got, want := fmt.Sprint(counts), "map[COMPLETE:215 FAIL:1 RUNNING:45 START:231 dataset:42]"; got != want {
		t.Errorf("got events %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(ends), "map[COMPLETE:215 FAIL:1 RUNNING:15]"; got != want {
		t.Errorf("runs ended with %s, want %s", got, want)
	}
}

// facetsAreComplete looks for the two members that every facet has.
func facetsAreComplete(t *testing.T, path string, v any) {
	t.Helper()
	switch v := v.(type) {
	case []any:
		for i, e := range v {
			facetsAreComplete(t, fmt.Sprint(path, "[", i, "]"), e)
		}
	case map[string]any:
		for name, e := range v {
			if strings.HasSuffix(strings.ToLower(name), "facets") {
				for facet, f := range e.(map[string]any) {
					f := f.(map[string]any)
					url, _ := f["_schemaURL"].(string)
					if f["_producer"] != producer || !regexp.MustCompile(`^https://openlineage\.io/spec/facets/\d-\d-\d/(\w+)\.json#/\$defs/\w+$`).MatchString(url) {
						t.Errorf("%s: facet %s by %v has schema %q", path, facet, f["_producer"], url)
					}
				}
			}
			facetsAreComplete(t, path+"."+name, e)
		}
	}
}

func TestEventsLieInTheDaysBeforeNow(t *testing.T) {
	for _, now := range []time.Time{noon, noon.Truncate(24 * time.Hour), time.Date(2026, 3, 14, 23, 59, 59, 0, time.FixedZone("", -11*3600))} {
		bodies := rendered(t, now)
		var first, last told
		if err := json.Unmarshal(bodies[0], &first); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(bodies[len(bodies)-1], &last); err != nil {
			t.Fatal(err)
		}
		from, err := time.Parse(time.RFC3339, first.EventTime)
		if err != nil {
			t.Fatal(err)
		}
		to, err := time.Parse(time.RFC3339, last.EventTime)
		if err != nil {
			t.Fatal(err)
		}
		if now.Sub(from) > 5*24*time.Hour || !to.Before(now) || now.Sub(to) > 24*time.Hour {
			t.Errorf("at %s: events from %s to %s", now, from, to)
		}
	}
}

func TestTheSameDayGivesTheSameEvents(t *testing.T) {
	a, b := rendered(t, noon), rendered(t, noon.Add(3*time.Hour))
	if !bytes.Equal(bytes.Join(a, nil), bytes.Join(b, nil)) {
		t.Error("the events of one day differ")
	}
	c := rendered(t, noon.AddDate(0, 0, 1))
	if bytes.Equal(a[0], c[0]) || len(a) != len(c) {
		t.Error("the events of the next day do not")
	}
}

// A streaming task waits for what it reads.
func TestWhatARunReadsWasWrittenBefore(t *testing.T) {
	p := loaded(t)
	written := map[*table]time.Time{}
	for _, table := range p.tables {
		if table.own {
			written[table] = time.Time{}
		}
	}
	runs := p.runs(noon.Truncate(24 * time.Hour))
	for _, r := range runs {
		if r.task == nil {
			continue
		}
		for _, w := range r.does.writes {
			at := r.end
			if r.task.when.streaming {
				at = r.start
			}
			if have, ok := written[w.table]; !ok || at.Before(have) {
				written[w.table] = at
			}
		}
	}
	for _, r := range runs {
		if r.task == nil {
			continue
		}
		if !r.task.when.streaming && r.end.Sub(r.start) > pace {
			t.Errorf("%s takes %s", r.task.name, r.end.Sub(r.start))
		}
		for _, in := range r.does.reads {
			if at, ok := written[in]; !ok || at.After(r.start) && !r.task.when.streaming {
				t.Errorf("%s reads %s at %s, which is first written at %s", r.task.name, in.ref, r.start, at)
			}
		}
	}
}
