package openlineage

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"headwater/graph"
	"headwater/ingest"
)

// A reading is what somebody else read in an event of shared/inputs: a line of
// expected_edges.jsonl.
type reading struct {
	File    string              `json:"file"`
	Index   int                 `json:"index"`
	Job     []string            `json:"job"`
	Run     string              `json:"run"`
	Inputs  [][]string          `json:"inputs"`
	Outputs [][]string          `json:"outputs"`
	Dataset []string            `json:"dataset"`
	Schemas map[string][]string `json:"schemas"`
	Parent  []string            `json:"parent_job"`
	SQL     string              `json:"sql"`
	Columns []edge              `json:"column_edges"`
	Whole   []edge              `json:"dataset_level_indirect"`
	Links   []struct {
		Dataset []string `json:"dataset"`
		Is      []string `json:"is"` // namespace, name, type
	} `json:"symlinks"`
}

type edge struct {
	From            []string `json:"from"`
	To              []string `json:"to"`
	Transformations [][]any  `json:"transformations"` // type, subtype, masking
}

type filled struct {
	Source string          `json:"source"`
	Index  int             `json:"index"`
	Added  []string        `json:"added"`
	Event  json.RawMessage `json:"event"`
}

// refused are the events that lack a name. They are parts of events, for the
// producers' own tests to compare with; what keeps them from being events of
// ours stands beside each.
var refused = map[string]string{
	"integrations/spark/app/integrations/sparksql/1.json#0":                                 "$.inputs[0].name",
	"integrations/spark/app/integrations/sparksql/2.json#0":                                 "$.inputs[0].name",
	"integrations/spark/app/integrations/sparksql/3.json#0":                                 "$.inputs[0].name",
	"integrations/spark/app/integrations/sparksql/4.json#0":                                 "$.inputs[0].name",
	"integrations/spark/app/integrations/container/columnLineageJDBCStart.json#0":           "$.inputs[0].namespace",
	"integrations/spark/app/integrations/container/columnLineageJDBCComplete.json#0":        "$.inputs[0].namespace",
	"integrations/spark/app/integrations/container/columnLineageSingleInputComplete.json#0": "$.inputs[0].namespace",
	"integrations/spark/app/integrations/container/pysparkCreateTableStartEvent.json#0":     "$.job.name", // a pattern, filled in as a number
	"integrations/spark/app/integrations/container/pysparkCreateTableCompleteEvent.json#0":  "$.job.name",
}

// different are the aspects of events that we read in another way.
var different = map[string]string{
	"spec/tests/example_full_event.json#0 dataset":                                                                  "a run event with a key dataset; by the specification that key is for data set events",
	"integrations/spark/app/integrations/container/hiveCreateDataSourceAsSelectCommandStartEvent.json#0 aliases":    noNamespace,
	"integrations/spark/app/integrations/container/hiveCreateDataSourceAsSelectCommandCompleteEvent.json#0 aliases": noNamespace,
	"integrations/spark/app/integrations/container/hiveCreateHiveTableAsSelectCommandStartEvent.json#0 aliases":     noNamespace,
	"integrations/spark/app/integrations/container/hiveCreateHiveTableAsSelectCommandCompleteEvent.json#0 aliases":  noNamespace,
}

const noNamespace = "part of an event: its symlinks have no namespace, so they name nothing; the facet is reported and kept"

func TestSharedEventsDecodeAsExpected(t *testing.T) {
	dir := inputs(t)
	want := map[string]reading{}
	eachLine(t, filepath.Join(dir, "expected_edges.jsonl"), func(line []byte) {
		var r reading
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		want[fmt.Sprint(r.File, "#", r.Index)] = r
	})
	events, whole, agreed, unused := 0, 0, map[string]int{}, maps.Clone(different)
	eachLine(t, filepath.Join(dir, "all_events_filled.ndjson"), func(line []byte) {
		var f filled
		if err := json.Unmarshal(line, &f); err != nil {
			t.Fatal(err)
		}
		events++
		key := fmt.Sprint(f.Source, "#", f.Index)
		w, ok := want[key]
		if !ok {
			t.Fatalf("%s: nobody read it", key)
		}
		d := Decode(ingest.Message{Body: f.Event, Region: "eu", Received: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)})
		if path := refused[key]; d.Fatal() || path != "" {
			if !d.Fatal() || d.Rejected[0].Path != path {
				t.Errorf("%s: refused: %v, for %v; want %q", key, d.Fatal(), d.Rejected, path)
			}
			return
		}
		same := true
		for aspect, of := range compare(t, f, &w, d) {
			switch {
			case of[0] == of[1]:
				agreed[aspect]++
				continue
			case unused[key+" "+aspect] != "":
				delete(unused, key+" "+aspect)
			default:
				t.Errorf("%s: %s:\n got %s\nwant %s", key, aspect, of[0], of[1])
			}
			same = false
		}
		if same {
			whole++
		}
	})
	for key := range unused {
		t.Errorf("%s is said to differ, and does not", key)
	}
	t.Logf("%d events: %d agree in all, %d differ for a reason, %d rightly refused", events, whole, len(different), len(refused))
	t.Logf("by aspect: %v", agreed)
}

// compare returns, for each aspect, what was decoded and what was expected.
func compare(t *testing.T, f filled, w *reading, d ingest.Decoded) map[string][2]string {
	main := &d.Deltas[0]
	w.fill()
	of := map[string][2]string{
		"parent":  {pair(main.Says.Parent), strings.Join(w.Parent, " ")},
		"sql":     {main.Says.SQL, w.SQL},
		"schemas": {schemas(main), expectedSchemas(w)},
		"aliases": {aliases(main), expectedAliases(w)},
	}
	job, dataset, reads, writes := pair(main.Subject), "", names(main.Says.Reads), names(main.Says.Writes)
	if main.Subject.Kind == graph.DataStoreKind {
		job, dataset, writes = "", job, ""
	}
	of["job"], of["dataset"] = [2]string{job, strings.Join(w.Job, " ")}, [2]string{dataset, strings.Join(w.Dataset, " ")}
	of["inputs"], of["outputs"] = [2]string{reads, sorted(w.Inputs)}, [2]string{writes, sorted(w.Outputs)}

	run := w.Run
	if run == "" && (slices.Contains(f.Added, "run") || slices.Contains(f.Added, "runId")) || strings.HasPrefix(run, "{{") || strings.HasPrefix(run, "${") {
		// There was no id, or a placeholder for one, before it was filled in.
		var event struct{ Run struct{ RunID string } }
		if err := json.Unmarshal(f.Event, &event); err != nil {
			t.Fatal(err)
		}
		run = event.Run.RunID
	}
	of["run"] = [2]string{main.Run, run}
	gotColumns, gotWhole, wantColumns, wantWhole := edges(d, w)
	of["columns"], of["whole"] = [2]string{gotColumns, wantColumns}, [2]string{gotWhole, wantWhole}
	return of
}

// fill does to patterns for names what was done to them in the events.
func (w *reading) fill() {
	fill := func(name []string) {
		for i, s := range name {
			if strings.HasPrefix(s, "${json-unit") {
				name[i] = "any"
			}
		}
	}
	for _, names := range [][][]string{w.Inputs, w.Outputs} {
		for _, n := range names {
			fill(n)
		}
	}
	for _, edges := range [][]edge{w.Columns, w.Whole} {
		for _, e := range edges {
			fill(e.From)
			fill(e.To)
		}
	}
	for _, l := range w.Links {
		fill(l.Dataset)
		fill(l.Is)
	}
	for of, fields := range w.Schemas {
		name := strings.Split(of, "|")
		fill(name)
		delete(w.Schemas, of)
		w.Schemas[strings.Join(name, "|")] = fields
	}
}

// edges lists the column edges, and those from a column to a whole data set,
// of both readings. What we moved from every column of a data set to the whole
// is moved back first, unless the event said it of the whole.
func edges(d ingest.Decoded, w *reading) (gotColumns, gotWhole, wantColumns, wantWhole string) {
	expected := func(list []edge) (lines []string) {
		for _, e := range list {
			kinds := e.Transformations
			if len(kinds) == 0 {
				kinds = [][]any{{"DIRECT", "TRANSFORMATION", false}}
			}
			for _, k := range kinds {
				lines = append(lines, fmt.Sprint(e.From, " ", e.To, " ", k[1], " ", k[2] == true))
			}
		}
		return lines
	}
	columns, whole := expected(w.Columns), expected(w.Whole)
	var ourColumns, ourWhole []string
	for i := range d.Deltas {
		for _, o := range d.Deltas[i].Says.Writes {
			if o.Lineage == nil {
				continue
			}
			line := func(s graph.Source, k, column string) string {
				to := []string{o.Name.Namespace, o.Name.Name}
				if column != "" {
					to = append(to, column)
				}
				return fmt.Sprint([]string{s.Name.Namespace, s.Name.Name, s.Name.Column}, " ", to, " ", k, " ", s.Masking)
			}
			for _, s := range o.Lineage.Inputs {
				for _, k := range s.Kinds.Names() {
					if l := line(s, k, ""); slices.Contains(whole, l) {
						ourWhole = append(ourWhole, l)
						continue
					}
					for _, c := range o.Lineage.Columns {
						ourColumns = append(ourColumns, line(s, k, c.Column))
					}
				}
			}
			for _, c := range o.Lineage.Columns {
				for _, s := range c.Inputs {
					for _, k := range s.Kinds.Names() {
						ourColumns = append(ourColumns, line(s, k, c.Column))
					}
				}
			}
		}
	}
	join := func(lines []string) string {
		slices.Sort(lines)
		return strings.Join(slices.Compact(lines), "\n")
	}
	return join(ourColumns), join(ourWhole), join(columns), join(whole)
}

// schemas lists the fields of each data set that are part of no other.
func schemas(d *graph.Delta) string {
	of := map[string][]string{}
	for _, list := range [][]graph.Dataset{d.Says.Reads, d.Says.Writes} {
		for _, ds := range list {
			var top []string
			for i, f := range ds.Facts.Columns {
				if !slices.ContainsFunc(ds.Facts.Columns[:i], func(g graph.Field) bool { return strings.HasPrefix(f.Path, g.Path+".") }) {
					top = append(top, f.Path)
				}
			}
			if len(top) > 0 {
				of[ds.Name.Namespace+"|"+ds.Name.Name] = top
			}
		}
	}
	return fmt.Sprint(of)
}

func expectedSchemas(w *reading) string {
	maps.DeleteFunc(w.Schemas, func(_ string, fields []string) bool { return len(fields) == 0 })
	return fmt.Sprint(w.Schemas)
}

func aliases(d *graph.Delta) string {
	var lines [][]string
	for _, list := range [][]graph.Dataset{d.Says.Reads, d.Says.Writes} {
		for _, ds := range list {
			for _, a := range ds.Aliases {
				lines = append(lines, []string{pair(a.From), "->", pair(a.To)})
			}
		}
	}
	return sorted(lines)
}

func expectedAliases(w *reading) string {
	var lines [][]string
	for _, l := range w.Links {
		from, to := strings.Join(l.Is[:2], " "), strings.Join(l.Dataset, " ")
		if l.Is[2] == "TABLE" {
			from, to = to, from
		}
		if from != to {
			lines = append(lines, []string{from, "->", to})
		}
	}
	return sorted(lines)
}

func pair(n graph.Name) string {
	if n.IsZero() {
		return ""
	}
	return n.Namespace + " " + n.Name
}

func names(list []graph.Dataset) string {
	var s [][]string
	for i := range list {
		s = append(s, []string{list[i].Name.Namespace, list[i].Name.Name})
	}
	return sorted(s)
}

func sorted(list [][]string) string {
	var s []string
	for _, n := range list {
		s = append(s, strings.Join(n, " "))
	}
	slices.Sort(s)
	return strings.Join(slices.Compact(s), ", ")
}

// inputs is the folder of the events that nobody here wrote.
func inputs(t testing.TB) string {
	root := os.Getenv("HEADWATER_INPUTS")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared", "inputs")
	}
	dir := filepath.Join(root, "openlineage")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("skipped: no inputs")
	}
	return dir
}

func eachLine(t testing.TB, path string, do func(line []byte)) {
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		do(slices.Clone(lines.Bytes()))
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}
