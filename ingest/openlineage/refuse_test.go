package openlineage

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"headwater/graph"
	"headwater/ingest"
)

const (
	at    = `"eventTime": "2025-01-02T03:04:05Z"`
	run1  = `"run": {"runId": "r1"}`
	job1  = `"job": {"namespace": "etl", "name": "load"}`
	valid = `{` + at + `, ` + run1 + `, ` + job1 + `}`
)

// TestWhatIsNoEventIsRefusedWithPathAndReason lists what is fatal: no deltas.
func TestWhatIsNoEventIsRefusedWithPathAndReason(t *testing.T) {
	long := strings.Repeat("x", graph.MaxName+1)
	tooLong := fmt.Sprintf("has %d bytes; at most %d are taken", graph.MaxName+1, graph.MaxName)
	for _, c := range []struct {
		what, body, path, reason string
		offset                   int64
	}{
		{"nothing", ``, "$", "the message is empty", 0},
		{"white space", " \n", "$", "the message is empty", 0},
		{"a batch", `[]`, "$", "is an array; an event is an object; send the events of a batch one by one", 0},
		{"null", `null`, "$", "is null; an event is an object", 0},
		{"a string", `"x"`, "$", "is a string; an event is an object", 0},
		{"a number", `12`, "$", "is a number; an event is an object", 0},
		{"no JSON", `event`, "$", "is not JSON: invalid character 'e' at start of value", 0},
		{"a byte order mark", "\xef\xbb\xbf" + valid, "$", "starts with a byte order mark; send UTF-8 without one", 0},
		{"two events", valid + valid, "$", "more follows after the event; send one event", int64(len(valid))},
		{"a cut message", valid[:40], "$", "is not JSON: the message ends within a value; was it cut off?", 40},
		{"a missing comma", `{"job": {"namespace": "etl" "name": 1}}`, "$.job", "is not JSON: invalid character '\"' after object value (expecting ',' or '}')", 28},
		{"bad JSON in what is skipped", `{"mine": [{"a.b": [1, 2, x]}]}`, `$.mine[0]["a.b"][2]`, "is not JSON: invalid character 'x' at start of value", 25},
		{"not UTF-8", `{"job": {"name": "` + "\xff" + `"}}`, "$.job.name", "is not JSON: invalid UTF-8", 18},
		{"half a surrogate", `{"job": {"name": "\ud800"}}`, "$.job.name", "is not JSON: invalid surrogate pair `\\ud800\"}}` in string", 18},

		{"an empty object", `{}`, "$", "has none of run, job and dataset; one of them says what the event is about", 0},
		{"a run alone", `{` + at + `, ` + run1 + `}`, "$.job", "is missing; a run event names its job", 61},
		{"no time", `{` + run1 + `, ` + job1 + `}`, "$.eventTime", "is missing", 69},
		{"null for a time", `{"eventTime": null, ` + job1 + `}`, "$.eventTime", "is missing", 64},
		{"a number for a time", `{"eventTime": 1735787045, ` + job1 + `}`, "$.eventTime", "is a number; it must be a string", 14},
		{"no time at all", `{"eventTime": "yesterday", ` + job1 + `}`, "$.eventTime", `"yesterday" is not a time; write it as 2006-01-02T15:04:05.999Z`, 14},
		{"a time of old", `{"eventTime": "1969-12-31T23:59:59Z", ` + job1 + `}`, "$.eventTime", `"1969-12-31T23:59:59Z" lies outside the years 1970 to 2261`, 14},
		{"a number for a type", `{"eventType": 1, ` + at + `, ` + run1 + `, ` + job1 + `}`, "$.eventType", "is a number; it must be a string", 14},

		{"a list of runs", `{` + at + `, "run": [], ` + job1 + `}`, "$.run", "is an array; it must be an object", 45},
		{"no id", `{` + at + `, "run": {}, ` + job1 + `}`, "$.run.runId", "is missing", 47},
		{"an empty id", `{` + at + `, "run": {"runId": ""}, ` + job1 + `}`, "$.run.runId", "is empty", 55},
		{"a number for an id", `{` + at + `, "run": {"runId": 7, "facets": {}}, ` + job1 + `}`, "$.run.runId", "is a number; it must be a string", 55},
		{"an object for an id", `{` + at + `, "run": {"runId": {"a": [{}]}, "facets": {}}, ` + job1 + `}`, "$.run.runId", "is an object; it must be a string", 55},
		{"a long id", `{` + at + `, "run": {"runId": "` + long + `"}, ` + job1 + `}`, "$.run.runId", tooLong, 55},

		{"a string for a job", `{` + at + `, "job": "load"}`, "$.job", "is a string; it must be an object", 45},
		{"no name", `{` + at + `, "job": {"namespace": "etl"}}`, "$.job.name", "is missing", 65},
		{"an empty name", `{` + at + `, "job": {"namespace": "etl", "name": ""}}`, "$.job.name", "is empty", 74},
		{"true for a name", `{` + at + `, "job": {"namespace": "etl", "name": true}}`, "$.job.name", "is a boolean; it must be a string", 74},
		{"no namespace", `{` + at + `, "job": {"name": "load"}}`, "$.job.namespace", "is missing", 61},
		{"a long name", `{` + at + `, "job": {"namespace": "etl", "name": "` + long + `"}}`, "$.job.name", tooLong, 74},

		{"an object for inputs", `{` + at + `, ` + job1 + `, "inputs": {}}`, "$.inputs", "is an object; it must be an array", 93},
		{"null for an input", `{` + at + `, ` + job1 + `, "inputs": [null]}`, "$.inputs[0]", "is null; it must be an object", 94},
		{"an input without name", `{` + at + `, ` + job1 + `, "inputs": [{"namespace": "pg", "name": "a"}, {"name": "b", "namespace": "pg"}, {"namespace": "pg", "facets": {}}]}`,
			"$.inputs[2].name", "is missing", 195},
		{"a number for the name of an output", `{` + at + `, ` + job1 + `, "outputs": [{"namespace": "pg", "name": 4}]}`, "$.outputs[0].name", "is a number; it must be a string", 123},
		{"a dataset event without name", `{` + at + `, "dataset": {"namespace": "pg"}}`, "$.dataset.name", "is missing", 68},
		{"a string for a dataset", `{` + at + `, "dataset": "pg.a"}`, "$.dataset", "is a string; it must be an object", 49},

		{"deep nesting", strings.Repeat(`{"a":`, 1001) + "1" + strings.Repeat("}", 1001), "$" + strings.Repeat(".a", 16) + " …", "is nested deeper than 1000 levels", 5000},
		{"deep nesting of what is skipped", `{"x": ` + strings.Repeat(`[`, 1000) + strings.Repeat("]", 1000) + "}", "$.x" + strings.Repeat("[0]", 15) + " …", "is nested deeper than 1000 levels", 1005},
	} {
		t.Run(c.what, func(t *testing.T) {
			d := decode(c.body)
			if !d.Fatal() {
				t.Fatalf("taken: %s", describe(d))
			}
			if r := d.Rejected[0]; r.Path != c.path || r.Reason != c.reason || r.Offset != c.offset {
				t.Errorf("got  %s @%d: %s\nwant %s @%d: %s", r.Path, r.Offset, r.Reason, c.path, c.offset, c.reason)
			}
		})
	}
}

// TestEveryDatasetWithoutNameIsTold lists all that is fatal in one event.
func TestEveryDatasetWithoutNameIsTold(t *testing.T) {
	d := decode(`{` + at + `, ` + job1 + `, "inputs": [{"name": "a"}, {"namespace": "pg", "name": "b"}, 5], "outputs": [{}]}`)
	var got []string
	for _, r := range d.Rejected {
		got = append(got, r.Error())
	}
	want := "$.inputs[0].namespace: is missing\n$.inputs[2]: is a number; it must be an object\n$.outputs[0].namespace: is missing"
	if g := strings.Join(got, "\n"); !d.Fatal() || g != want {
		t.Errorf("got\n%s\nwant\n%s", g, want)
	}
}

// TestAMalformedFacetIsReportedAndTheEventTaken lists faults within facets that
// are known: the event is taken, the facet is only seen.
func TestAMalformedFacetIsReportedAndTheEventTaken(t *testing.T) {
	long := strings.Repeat("x", graph.MaxName+1)
	const kept = "; the facet is kept as it was sent, not understood"
	for _, c := range []struct{ group, facet, value, path, reason string }{
		{"run", "parent", `{"job": {"namespace": "etl"}}`, ".job.name", "is missing"},
		{"run", "parent", `{"job": "dag"}`, ".job", "is a string; it must be an object"},
		{"run", "parent", `{"root": {"job": {"name": ""}}}`, ".root.job.namespace", "is missing"},
		{"run", "jobDependencies", `{"upstream": [{"job": {"namespace": "etl", "name": "a"}}, {}]}`, ".upstream[1]", "names no job"},
		{"run", "processing_engine", `{"name": ["spark"]}`, ".name", "is an array; it must be a string"},
		{"run", "processing_engine", `"spark"`, "", "is a string; it must be an object"},
		{"job", "jobType", `{"integration": 5}`, ".integration", "is a number; it must be a string"},
		{"job", "sql", `{"query": {"text": ["SELECT 1"]}}`, ".query", "is an object; it must be a string"},
		{"job", "sql", `["SELECT 1"]`, "", "is an array; it must be an object"},
		{"job", "documentation", `{"description": "x", "_deleted": "true"}`, "._deleted", "is a string; it must be true or false"},
		{"job", "ownership", `{"owners": [{"name": "ann"}, {"type": "x"}]}`, ".owners[1].name", "is missing"},
		{"job", "tags", `{"tags": ["gold"]}`, ".tags[0]", "is a string; it must be an object"},
		{"job", "tags", `{"tags": [{"value": "1"}]}`, ".tags[0].key", "is missing"},
		{"job", "sourceCodeLocation", `{"url": false}`, ".url", "is a boolean; it must be a string"},
		{"job", "lineage", `{"entries": [{"type": "TOPIC", "namespace": "k", "name": "t"}]}`, ".entries[0]", `has the type "TOPIC"; it must be DATASET or JOB`},
		{"job", "lineage", `{"entries": [{"type": "JOB", "name": "t"}]}`, ".entries[0].namespace", "is missing"},
		{"dataset", "schema", `{"fields": {"a": "int"}}`, ".fields", "is an object; it must be an array"},
		{"dataset", "schema", `{"fields": [{"name": "a"}, {"name": "b", "fields": [{"type": "int"}]}]}`, ".fields[1].fields[0].name", "is missing"},
		{"dataset", "schema", `{"fields": [{"name": "a", "type": {"type": "int"}}]}`, ".fields[0].type", "is an object; it must be a string"},
		{"dataset", "schema", `{"fields": [{"name": "a", "ordinal_position": "1"}]}`, ".fields[0].ordinal_position", "is a string; it must be a number"},
		{"dataset", "schema", `{"fields": [{"name": "` + long[1:] + `", "fields": [{"name": "b"}]}]}`, ".fields", "has a field whose path has 4098 bytes; at most 4096 are taken"},
		{"dataset", "symlinks", `{"identifiers": [{"name": "db.t", "type": "TABLE"}]}`, ".identifiers[0].namespace", "is missing"},
		{"dataset", "dataSource", `{"uri": 80}`, ".uri", "is a number; it must be a string"},
		{"dataset", "lifecycleStateChange", `{"lifecycleStateChange": "RENAME", "previousIdentifier": {"name": "a"}}`, ".previousIdentifier.namespace", "is missing"},
		{"dataset", "columnLineage", `{"fields": {"x": {"inputFields": [{"namespace": "pg", "name": "a", "field": 1}]}}}`, ".fields.x.inputFields[0].field", "is a number; it must be a string"},
		{"dataset", "columnLineage", `{"fields": {"a b": {"inputFields": [{"namespace": "pg", "name": "` + long + `"}]}}}`, `.fields["a b"].inputFields[0].name`, "has 4097 bytes; at most 4096 are taken"},
		{"dataset", "columnLineage", `{"fields": {"` + long + `": {}}}`, `.fields["` + long[:80] + `…"]`, "has 4097 bytes; at most 4096 are taken"},
		{"dataset", "columnLineage", `{"fields": {"x": {"inputFields": [{"namespace": "pg", "name": "a", "transformations": [{"type": "DIRECT", "masking": 1}]}]}}}`,
			".fields.x.inputFields[0].transformations[0].masking", "is a number; it must be true or false"},
		{"dataset", "lineage", `{"inputs": [{"namespace": "pg", "type": "DATASET"}]}`, ".inputs[0].name", "is missing"},
	} {
		facets := map[string]string{c.group: fmt.Sprintf(`"facets": {"%s": %s, "fine": {}}`, c.facet, c.value)}
		body := fmt.Sprintf(`{%s, "run": {"runId": "r1", %s}, "job": {"namespace": "etl", "name": "load", %s}, "outputs": [{"namespace": "pg", "name": "b", %s}]}`,
			at, orNone(facets["run"]), orNone(facets["job"]), orNone(facets["dataset"]))
		path := map[string]string{"run": "$.run", "job": "$.job", "dataset": "$.outputs[0]"}[c.group] + ".facets." + c.facet + c.path
		d := decode(body)
		if d.Fatal() || len(d.Rejected) != 1 || d.Rejected[0].Path != path || d.Rejected[0].Reason != c.reason+kept {
			t.Errorf("%s %s:\ngot\n%swant\nrejected %s: %s", c.facet, c.value, describe(d), path, c.reason+kept)
			continue
		}
		if r := d.Rejected[0]; r.Offset <= 0 || r.Offset > int64(len(body)) {
			t.Errorf("%s %s: offset %d", c.facet, c.value, r.Offset)
		}
		if seen := string(d.Deltas[0].Seen[0].Facets); seen != fmt.Sprintf(`{"%s":%s,"fine":{}}`, c.facet, c.value) {
			t.Errorf("%s %s: seen %s", c.facet, c.value, seen)
		}
		if got, want := fmt.Sprint(d.Deltas[0].Says), fmt.Sprint(decode(strings.Replace(body, c.value, "{}", 1)).Deltas[0].Says); got != want {
			t.Errorf("%s %s: is said all the same: %s", c.facet, c.value, got)
		}
	}
}

func orNone(facets string) string {
	if facets == "" {
		return `"facets": {}`
	}
	return facets
}

// TestFacetsThatAreNoObjectAreLeftOut takes the event without them.
func TestFacetsThatAreNoObjectAreLeftOut(t *testing.T) {
	d := decode(`{` + at + `, "job": {"namespace": "etl", "name": "load", "facets": [{}]}, "outputs": [{"facets": 3, "namespace": "pg", "name": "b", "outputFacets": "x"}]}`)
	want := `PROCESS etl load DECLARED 2025-01-02T03:04:05Z
  writes pg b
rejected $.job.facets @92: is an array; it must be an object
rejected $.outputs[0].facets @122: is a number; it must be an object
rejected $.outputs[0].outputFacets @173: is a string; it must be an object
`
	if got := describe(d); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestManyFaultsAreCounted keeps the answer to a hopeless message short.
func TestManyFaultsAreCounted(t *testing.T) {
	d := decode(`{` + at + `, ` + job1 + `, "inputs": [{}` + strings.Repeat(`,{}`, 999) + `]}`)
	if n := len(d.Rejected); n != maxFaults+1 || d.Rejected[n-1].Reason != "has 900 more faults, not listed" || !d.Fatal() {
		t.Errorf("got %d, the last: %v", n, d.Rejected[n-1])
	}
	// A fatal fault counts even where it is not listed.
	d = decode(`{` + at + `, "inputs": [{"namespace": "pg", "name": "a", "facets": {` + strings.Repeat(`"schema": 1,`, 200) + `"x": 1}}], "job": 7}`)
	if !d.Fatal() {
		t.Error("a fatal fault was lost among others")
	}
}

func TestTimesAreReadAsProducersWriteThem(t *testing.T) {
	for s, want := range map[string]string{
		"2025-01-02T03:04:05Z":            "2025-01-02T03:04:05Z",
		"2025-01-02T03:04:05.5Z":          "2025-01-02T03:04:05.5Z",
		"2025-01-02T03:04:05.123456789Z":  "2025-01-02T03:04:05.123456789Z",
		"2025-01-02T03:04:05.1234567891Z": "2025-01-02T03:04:05.123456789Z",
		"2025-01-02T03:04:05,25Z":         "2025-01-02T03:04:05.25Z",
		"2025-01-02t03:04:05z":            "2025-01-02T03:04:05Z",
		"2025-01-02 03:04:05":             "2025-01-02T03:04:05Z",
		"2025-01-02T03:04:05.000001":      "2025-01-02T03:04:05.000001Z",
		"2025-01-02T03:04Z":               "2025-01-02T03:04:00Z",
		"2025-01-02T03:04:05+02:00":       "2025-01-02T01:04:05Z",
		"2025-01-02T03:04:05-0330":        "2025-01-02T06:34:05Z",
		"2025-01-02T03:04:05+02":          "2025-01-02T01:04:05Z",
		"2024-02-29T23:59:60Z":            "2024-03-01T00:00:00Z",
		"1970-01-01T00:00:00Z":            "1970-01-01T00:00:00Z",
		"2261-12-31T23:59:59.999999999Z":  "2261-12-31T23:59:59.999999999Z",
		"1970-01-01T01:00:00+02:00":       errYear.Error(),
		"2262-01-01T00:00:00Z":            errYear.Error(),
		"0000-01-01T00:00:00Z":            errYear.Error(),
		"2025-02-29T00:00:00Z":            errTime.Error(),
		"2025-13-01T00:00:00Z":            errTime.Error(),
		"2025-00-01T00:00:00Z":            errTime.Error(),
		"2025-01-00T00:00:00Z":            errTime.Error(),
		"2025-01-02T24:00:00Z":            errTime.Error(),
		"2025-01-02T03:60:00Z":            errTime.Error(),
		"2025-01-02T03:04:61Z":            errTime.Error(),
		"2025-01-02T03:04:05.Z":           errTime.Error(),
		"2025-01-02T03:04:05+2":           errTime.Error(),
		"2025-01-02T03:04:05+24:00":       errTime.Error(),
		"2025-01-02T03:04:05Z ":           errTime.Error(),
		"2025-01-02":                      errTime.Error(),
		"2025-1-2T03:04:05Z":              errTime.Error(),
		"1735787045":                      errTime.Error(),
		"":                                errTime.Error(),
		"٢٠٢٥-01-02T03:04:05Z":            errTime.Error(),
	} {
		got := ""
		if at, err := parseTime(s); err != nil {
			got = err.Error()
		} else {
			got = at.Format(time.RFC3339Nano)
		}
		if got != want {
			t.Errorf("%q: got %s, want %s", s, got, want)
		}
	}
}

// TestNothingIsSharedWithTheMessage changes the message after it was decoded.
func TestNothingIsSharedWithTheMessage(t *testing.T) {
	body := []byte(`{` + at + `, ` + run1 + `, "job": {"namespace": "etl", "name": "load", "facets": {"mine": {"x": 1}}}, "outputs": [{"namespace": "pg", "name": "b", "facets": {"schema": {"fields": [{"name": "id"}]}}}]}`)
	d := Decode(ingest.Message{Body: body, Region: "eu", Received: received})
	want := describe(d)
	copy(body, bytes.Repeat([]byte("#"), len(body)))
	if got := describe(d); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
