package sql

import (
	"strings"

	"headwater/ingest/sql/syntax"
)

// A Session is a sequence of scripts, as a log of queries tells them: what one
// creates for a while, the next may read. A log's order is not relied on: a
// temporary table may be read before the query that fills it was heard of. Use
// a Session from one goroutine; the Analyses that it gave are readable only
// while no other call runs.
type Session struct {
	o Options
	r *resolver
}

// NewSession returns a session with a dialect and a catalog for all of its
// scripts; the defaults come with each.
func NewSession(o Options) *Session {
	s := &Session{o: o}
	s.Add("", o.Defaults)
	return s
}

// Add analyzes the next script. The Flows of the Analysis are those of the
// script alone; Session.Flows has those of all.
func (s *Session) Add(text string, d Defaults) *Analysis {
	script, why := read(text, s.o.Dialect)
	o := s.o
	o.Defaults = d
	a := &Analysis{Text: script.Text, Dialect: script.Dialect.Name, Why: why, Script: script, Confidence: 1}
	if s.r == nil {
		s.r = newResolver(a, o)
	} else {
		s.r.begin(a, o)
	}
	before := s.r.events
	s.r.events = nil
	for _, st := range script.Statements {
		s.r.statement(st)
	}
	s.r.finish()
	s.r.events = append(before, s.r.events...)
	return a
}

// Temporary says that a table does not outlive the session.
func (s *Session) Temporary(table ...string) {
	id := s.r.table(table, nil, BaseTable)
	s.r.tables[id].Temporary = true
}

// Rename tells of a rename that no script says.
func (s *Session) Rename(from, to []string) { s.moved(renamed, from, to) }

// Swap tells of a swap that no script says.
func (s *Session) Swap(a, b []string) { s.moved(swapped, a, b) }

func (s *Session) moved(verb eventVerb, from, to []string) {
	e := event{verb: verb, table: s.r.table(from, nil, BaseTable), to: s.r.table(to, nil, BaseTable)}
	s.r.events = append(s.r.events, e)
}

// Flows are the flows of the whole session, one for each table that is written,
// without temporary tables. The rows of a renamed table flow to its new name,
// those of swapped tables to each other; their Mode is RENAME and SWAP.
func (s *Session) Flows() []*Target {
	r := s.r
	passing := make(map[int32]bool)
	for i, t := range r.tables {
		r.infos[i].held = nil
		if t != nil && t.Temporary {
			passing[int32(i)] = true
		}
	}
	var targets []*Target
	for _, e := range r.events {
		switch e.verb {
		case wrote:
			if e.target.Table.Kind != QueryTable {
				targets = append(targets, e.target)
			}
		case renamed:
			targets = append(targets, r.move("RENAME", e.table, e.to))
		case swapped:
			targets = append(targets, r.move("SWAP", e.table, e.to), r.move("SWAP", e.to, e.table))
		}
	}
	// What temporary tables hold is found when nothing more is added: a chain
	// of them needs as many rounds, in the worst order.
	for range len(passing) + 1 {
		held := s.hold(targets, passing)
		if !held {
			break
		}
	}
	var flows []*Target
	for _, t := range targets {
		if !passing[t.Table.id] {
			flows = append(flows, r.contracted(t, passing))
		}
	}
	return flows
}

// hold fills temporary tables once more and says whether that added anything.
func (s *Session) hold(targets []*Target, passing map[int32]bool) bool {
	grown := false
	for _, t := range targets {
		if !passing[t.Table.id] {
			continue
		}
		f := *s.r.contracted(t, passing)
		f.Mode = "INSERT"
		before := s.r.infos[t.Table.id].held.size()
		s.r.hold(&f)
		grown = grown || s.r.infos[t.Table.id].held.size() != before
	}
	return grown
}

func (c *contents) size() int {
	if c == nil {
		return -1
	}
	n := len(c.from) + len(c.deps)
	for _, s := range c.sets {
		n += 1 + len(s)
	}
	return n
}

// move is the flow of one table's rows to another name, column by column where
// the columns are known.
func (r *resolver) move(mode string, from, to int32) *Target {
	t := &Target{Table: r.tables[to], Mode: mode, Inputs: []*Table{r.tables[from]}}
	names := r.askCatalog(to).names
	if len(names) == 0 {
		names = r.askCatalog(from).names
	}
	if len(names) == 0 {
		names = []string{"*"}
	}
	for _, n := range names {
		c := r.newColumn(column{set: set{{r.baseColumn(from, n), Identity}}, node: -1})
		t.outs = append(t.outs, c)
		t.Outputs = append(t.Outputs, Output{Name: n, Star: n == "*", Sources: r.sources(r.columns[c].set)})
	}
	return t
}

// read chooses the dialect and reads a script.
func read(text, dialect string) (*syntax.Script, string) {
	var d *syntax.Dialect
	why := ""
	if dialect != "" && !strings.EqualFold(dialect, "auto") {
		if d = syntax.Lookup(dialect); d != nil {
			return syntax.Parse(text, d), "asked for"
		}
		why = "the dialect " + dialect + " is not known; "
	}
	d, reason := syntax.Guess(text)
	return syntax.Parse(text, d), why + reason
}
