package score

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"

	"headwater/ingest/sql"
)

// A Tally counts how many of what was asked was right.
type Tally struct {
	Right int `json:"right"`
	Of    int `json:"of"`
}

func (t *Tally) add(right bool) {
	t.Of++
	if right {
		t.Right++
	}
}

// Percent is the share that is right, 100 of nothing.
func (t Tally) Percent() float64 {
	if t.Of == 0 {
		return 100
	}
	return 100 * float64(t.Right) / float64(t.Of)
}

func (t Tally) String() string {
	if t.Of == 0 {
		return "-"
	}
	return fmt.Sprintf("%d/%d %.1f%%", t.Right, t.Of, t.Percent())
}

// Tallies count tables, columns and edges with kinds.
type Tallies struct {
	Tables  Tally `json:"tables"`
	Columns Tally `json:"columns"`
	Kinds   Tally `json:"kinds"`
}

// A Miss is a case that we do not answer as expected.
type Miss struct {
	ID      string   `json:"id"`
	Suite   string   `json:"suite"`
	Dialect string   `json:"dialect"`
	What    string   `json:"what"`
	Want    []string `json:"want"`
	Got     []string `json:"got"`
	SQL     string   `json:"sql"`
	Notes   []string `json:"notes,omitempty"`
}

// A Report is the score of a file of cases.
type Report struct {
	All       Tallies             `json:"all"`
	ByDialect map[string]*Tallies `json:"byDialect"`
	BySuite   map[string]*Tallies `json:"bySuite"`
	ByKind    map[string]*Tally   `json:"byKind"`
	Sets      Tally               `json:"tableSets"`
	// Unanswerable are cases that expect what they do not say; they are not
	// scored.
	Unanswerable []string `json:"unanswerable"`
	Misses       []Miss   `json:"misses"`
}

// Run scores cases.
func Run(cases []*Case) *Report {
	r := &Report{ByDialect: make(map[string]*Tallies), BySuite: make(map[string]*Tallies), ByKind: make(map[string]*Tally)}
	for _, c := range cases {
		r.score(c)
	}
	return r
}

func tallies(m map[string]*Tallies, key string) *Tallies {
	if m[key] == nil {
		m[key] = new(Tallies)
	}
	return m[key]
}

func (r *Report) score(c *Case) {
	tables, columns := answerable(c, true), answerable(c, false)
	if !tables && c.uses("tables") || !columns && c.uses("columns") {
		r.Unanswerable = append(r.Unanswerable, c.ID)
	}
	a := analyze(c)
	got := answerTo(c, a)
	lists := []*Tallies{&r.All, tallies(r.ByDialect, c.Dialect), tallies(r.BySuite, c.Suite)}
	if c.AllTables != nil || c.TableCount != nil {
		right := tableSetRight(c, a)
		r.Sets.add(right)
		lists[1].Tables.add(right)
		lists[2].Tables.add(right)
		if !right {
			want := c.AllTables
			if want == nil {
				want = []string{fmt.Sprint(*c.TableCount)}
			}
			r.miss(c, a, "table set", folded(want), folded(allTables(c, a)))
		}
		return
	}
	if tables && c.uses("tables") {
		right := tablesRight(c, got)
		for _, l := range lists {
			l.Tables.add(right)
		}
		if !right {
			r.miss(c, a, "tables", tableLines(c.ExpectedTables.In, c.ExpectedTables.Out), tableLines(got.in, got.out))
		}
	}
	if columns && c.uses("columns") {
		right := columnsRight(c, got)
		for _, l := range lists {
			l.Columns.add(right)
		}
		if !right {
			r.miss(c, a, "columns", outputLines(expectedOutputs(c)), outputLines(got.outputs))
		}
	}
	if columns {
		r.kinds(c, a, lists)
	}
}

// kinds scores edges with kinds, of suites that have them.
func (r *Report) kinds(c *Case, a *sql.Analysis, lists []*Tallies) {
	var wrong []string
	for _, e := range edges(c, a) {
		for _, l := range lists {
			l.Kinds.add(e.right)
		}
		kind := e.what[strings.LastIndexByte(e.what, ' ')+1:]
		if r.ByKind[kind] == nil {
			r.ByKind[kind] = new(Tally)
		}
		r.ByKind[kind].add(e.right)
		if !e.right {
			wrong = append(wrong, e.what)
		}
	}
	if len(wrong) > 0 {
		r.miss(c, a, "kinds", wrong, kindLines(a))
	}
}

func (r *Report) miss(c *Case, a *sql.Analysis, what string, want, got []string) {
	m := Miss{ID: c.ID, Suite: c.Suite, Dialect: c.Dialect, What: what, Want: want, Got: got, SQL: c.SQL}
	for _, s := range a.Statements {
		for _, w := range s.Warnings {
			m.Notes = append(m.Notes, w.Reason+": "+w.In(a.Text))
		}
	}
	for _, u := range a.Unresolved {
		m.Notes = append(m.Notes, u.Name+": "+u.Reason)
	}
	r.Misses = append(r.Misses, m)
}

func tableLines(in, out []string) []string {
	return []string{"in  " + strings.Join(folded(in), " "), "out " + strings.Join(folded(out), " ")}
}

func outputLines(outs []output) []string {
	var lines []string
	for _, o := range outs {
		if len(o.sources) > 0 {
			lines = append(lines, o.name+" <- "+strings.Join(folded(o.sources), " "))
		}
	}
	sort.Strings(lines)
	return lines
}

func kindLines(a *sql.Analysis) []string {
	var lines []string
	for _, t := range a.Flows {
		for _, o := range t.Outputs {
			for _, s := range o.Sources {
				lines = append(lines, fmt.Sprintf("%s.%s -> %s.%s %s", s.Table, s.Column, t.Table, o.Name, s.Kinds))
			}
		}
		for _, s := range t.Dependencies {
			lines = append(lines, fmt.Sprintf("%s.%s -> * %s", s.Table, s.Column, s.Kinds))
		}
	}
	return lines
}

// allTables are all tables that a script names: a bare name once, whatever
// completes it.
func allTables(c *Case, a *sql.Analysis) []string {
	var names []string
	made := make(map[*sql.Table]bool)
	if c.suite().Sources {
		for _, v := range a.Views {
			made[v.Table] = true
		}
		for _, x := range a.Changes {
			if x.Verb == "RENAME" {
				made[x.To] = true
			}
		}
	}
	for _, t := range a.Tables {
		if made[t] || c.suite().Sources && t.Kind == sql.PathTable {
			continue
		}
		if n := fold(t.String()); !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}

// tableSetRight compares the set of all tables named, or where only their
// number is known, that.
func tableSetRight(c *Case, a *sql.Analysis) bool {
	got := allTables(c, a)
	if c.AllTables != nil {
		return sameSet(c.AllTables, got)
	}
	return len(got) == *c.TableCount
}

// WriteText writes the report for reading; misses says how many misses are
// shown, -1 all.
func (r *Report) WriteText(w io.Writer, misses int) error {
	var b strings.Builder
	row := func(name string, t *Tallies) {
		fmt.Fprintf(&b, "  %-36s %-18s %-18s %s\n", name, t.Tables, t.Columns, t.Kinds)
	}
	fmt.Fprintf(&b, "  %-36s %-18s %-18s %s\n", "", "tables", "columns", "kinds (edges)")
	row("all", &r.All)
	b.WriteString("by dialect\n")
	for _, k := range sortedKeys(r.ByDialect) {
		row(k, r.ByDialect[k])
	}
	b.WriteString("by suite\n")
	for _, k := range sortedKeys(r.BySuite) {
		row(k, r.BySuite[k])
	}
	if len(r.ByKind) > 0 {
		b.WriteString("by kind\n")
		for _, k := range sortedKeys(r.ByKind) {
			fmt.Fprintf(&b, "  %-36s %s\n", k, r.ByKind[k])
		}
	}
	if r.Sets.Of > 0 {
		fmt.Fprintf(&b, "table sets: %s\n", r.Sets)
	}
	if len(r.Unanswerable) > 0 {
		fmt.Fprintf(&b, "not scored, since they expect what they do not say (a view, a schema, a type): %d\n  %s\n", len(r.Unanswerable), strings.Join(r.Unanswerable, "\n  "))
	}
	for i, m := range r.Misses {
		if misses >= 0 && i >= misses {
			fmt.Fprintf(&b, "… %d more misses\n", len(r.Misses)-i)
			break
		}
		fmt.Fprintf(&b, "\nmiss: %s [%s] %s\n%s\n", m.ID, m.Dialect, m.What, strings.TrimSpace(m.SQL))
		for _, l := range m.Want {
			fmt.Fprintf(&b, "  want %s\n", l)
		}
		for _, l := range m.Got {
			fmt.Fprintf(&b, "  got  %s\n", l)
		}
		for _, n := range m.Notes {
			fmt.Fprintf(&b, "  note %s\n", n)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteJSON writes the report as JSON.
func (r *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}
