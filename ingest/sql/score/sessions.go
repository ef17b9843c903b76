package score

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"

	"headwater/ingest/sql"
)

// A Sequence is one line of a file of sessions: steps as DataHub's tests take
// them, and what each table's upstreams are in the end.
type Sequence struct {
	ID      string `json:"id"`
	Dialect string `json:"dialect"`
	Steps   []struct {
		Op   string            `json:"op"`
		Args []json.RawMessage `json:"args"`
	} `json:"steps"`
	Expected map[string]struct {
		Upstreams []string    `json:"upstreams"`
		Columns   [][2]string `json:"columns"`
	} `json:"expected"`
}

// An observation is a step's argument.
type observation struct {
	Query, QueryText             string
	DefaultDB, DefaultSchema     string
	Downstream, Original, NewURN string
	URN1, URN2                   string
}

// UnmarshalJSON reads an observed query, one that was read already, a rename or
// a swap.
func (o *observation) UnmarshalJSON(data []byte) error {
	var m map[string]any
	if err := json.Unmarshal(data, &m); err != nil {
		return err
	}
	text := func(key string) string { s, _ := m[key].(string); return s }
	*o = observation{
		Query: text("query"), QueryText: text("query_text"), DefaultDB: text("default_db"), DefaultSchema: text("default_schema"),
		Downstream: text("downstream"), Original: text("original_urn"), NewURN: text("new_urn"), URN1: text("urn1"), URN2: text("urn2"),
	}
	return nil
}

// nameOf is the name of the table in a URN: its parts.
func nameOf(urn string) []string {
	parts := strings.Split(urn, ",")
	if len(parts) < 3 {
		return nil
	}
	return strings.Split(parts[1], ".")
}

// RunSessions scores sequences: the upstreams of every table must be equal, and
// the columns that are listed be among ours (of queries that came with their
// column lineage, the transcription has lost it). A sequence that expects nothing
// is about usage; it only has to run. A table that is written but
// stands nowhere in what is expected is temporary: the tests say so by a
// pattern of names.
func RunSessions(r io.Reader) (Tally, []Miss, error) {
	var t Tally
	var misses []Miss
	scan := bufio.NewScanner(r)
	scan.Buffer(nil, 64<<20)
	for scan.Scan() {
		var s Sequence
		if err := json.Unmarshal(scan.Bytes(), &s); err != nil {
			return t, misses, fmt.Errorf("read session: %w", err)
		}
		want, got, right, err := s.run()
		if err != nil {
			return t, misses, fmt.Errorf("session %s: %w", s.ID, err)
		}
		t.add(right)
		if !right {
			misses = append(misses, Miss{ID: s.ID, Dialect: s.Dialect, What: "session", Want: want, Got: got})
		}
	}
	return t, misses, scan.Err()
}

func (s *Sequence) run() (want, got []string, right bool, err error) {
	known := Schema{}
	session := sql.NewSession(sql.Options{Dialect: s.Dialect, Catalog: known})
	var written []*sql.Table
	for _, step := range s.Steps {
		if len(step.Args) == 0 {
			continue
		}
		if step.Op == "add_raw_schema_info" {
			var urn string
			if err := json.Unmarshal(step.Args[0], &urn); err != nil {
				return nil, nil, false, err
			}
			one := Schema{}
			if err := json.Unmarshal([]byte(`{"t":`+string(step.Args[1])+`}`), &one); err != nil {
				return nil, nil, false, err
			}
			known[strings.Join(nameOf(urn), ".")] = one["t"]
			continue
		}
		var o observation
		if err := json.Unmarshal(step.Args[0], &o); err != nil {
			return nil, nil, false, err
		}
		switch step.Op {
		case "add_observed_query":
			written = append(written, session.Add(o.Query, sql.Defaults{Catalog: o.DefaultDB, Database: o.DefaultSchema}).Outputs...)
		case "add_preparsed_query":
			d := sql.Defaults{}
			if n := nameOf(o.Downstream); len(n) == 3 {
				d = sql.Defaults{Catalog: n[0], Database: n[1]}
			}
			written = append(written, session.Add(o.QueryText, d).Outputs...)
		case "add_table_rename":
			session.Rename(nameOf(o.Original), nameOf(o.NewURN))
		case "add_table_swap":
			session.Swap(nameOf(o.URN1), nameOf(o.URN2))
		}
	}
	if len(s.Expected) > 0 {
		for _, t := range written {
			if _, ok := s.Expected[fold(t.String())]; !ok {
				session.Temporary(t.Parts...)
			}
		}
	}
	want, got, right = s.compare(session.Flows())
	return want, got, right, nil
}

func (s *Sequence) compare(flows []*sql.Target) (want, got []string, right bool) {
	type table struct{ up, pairs []string }
	ours := make(map[string]*table)
	for _, f := range flows {
		name := fold(f.Table.String())
		t := ours[name]
		if t == nil {
			t = new(table)
			ours[name] = t
		}
		for _, in := range f.Inputs {
			if n := fold(in.String()); !slices.Contains(t.up, n) {
				t.up = append(t.up, n)
			}
		}
		for _, o := range f.Outputs {
			for _, src := range o.Sources {
				if src.Kinds&sql.Direct != 0 {
					t.pairs = append(t.pairs, fold(src.Table.String()+"."+src.Column)+" -> "+name+"."+fold(o.Name))
				}
			}
		}
	}
	right = true
	for _, name := range sortedKeys(s.Expected) {
		e := s.Expected[name]
		want = append(want, name+" <- "+strings.Join(folded(e.Upstreams), " "))
		t := ours[name]
		if t == nil || !sameSet(t.up, e.Upstreams) {
			right = false
			continue
		}
		for _, p := range e.Columns {
			if line := fold(p[0] + " -> " + p[1]); !slices.Contains(t.pairs, line) {
				want, right = append(want, line), false
			}
		}
	}
	for name, t := range ours {
		if len(t.up) == 0 {
			continue
		}
		sort.Strings(t.up)
		got = append(got, name+" <- "+strings.Join(t.up, " "))
		got = append(got, t.pairs...)
		if _, ok := s.Expected[name]; !ok && len(s.Expected) > 0 {
			right = false
		}
	}
	sort.Strings(got)
	return want, got, right
}
