package sql

import (
	"fmt"

	"headwater/ingest/sql/syntax"
)

// A resolver gives names their meaning, statement by statement, and draws the
// plan as it goes. Everything that is compared is a number: tables, base
// columns, columns of relations, plan nodes.
type resolver struct {
	a      *Analysis
	text   string
	rules  *rules
	lookup Catalog
	// The catalog and database in force.
	catalog, database string
	defaultsQuoted    bool
	defaults          Defaults

	tables []*Table
	infos  []tableInfo
	byName map[string]int32
	keyBuf []byte
	base   []baseColumn

	columns  []column
	steps    []step
	ctes     []*cte
	cteNodes []namedNode
	deps     arena[dep]
	ints     arena[int32]
	strings  arena[string]
	spare    []*acc
	lists    [][]outColumn

	depth     int
	deep      bool // a limit was met in this statement
	dry       bool // what is resolved does not run
	recursing *cte
	refs      []conjunctRef
	noting    bool
	// navigating: FIRST and LAST are those of MATCH_RECOGNIZE.
	navigating bool
	guessed    map[undecidedKey]int32
	scalars    map[scalarKey]int32
	patterns   map[string]columnPattern
	structs    map[int32]*madeStruct

	// Of the statement being resolved.
	stmt     *Statement
	number   int32
	lost     int   // names that could not be resolved
	shared   *from // the source of a multi-insert
	routines routines
	// variables are the parameters and variables of the blocks around.
	variables []string
	fresh     *relation // the row that an upsert would have inserted
	// capture asks the next select for its scope, which captured then holds.
	capture  bool
	captured *scope
	events   []event
	stamp    int32
	stamps   []int32 // of plan nodes, when they were last visited
	plan     int32   // targets whose plan is drawn
	drawn    int     // plan nodes of targets
	spent    int     // tables looked at for names
	expanded int     // columns that stars stood for
	kept     int     // dependencies that are kept
	public   map[*dep][]Source
}

// Analyze reads a script and says what it does with data.
func Analyze(text string, o Options) *Analysis {
	script, why := read(text, o.Dialect)
	return AnalyzeScript(script, why, o)
}

// AnalyzeScript says what a script that has been read does with data.
func AnalyzeScript(script *syntax.Script, why string, o Options) *Analysis {
	a := &Analysis{Text: script.Text, Dialect: script.Dialect.Name, Why: why, Script: script, Confidence: 1}
	r := newResolver(a, o)
	for _, s := range script.Statements {
		r.statement(s)
	}
	r.finish()
	return a
}

func newResolver(a *Analysis, o Options) *resolver {
	r := &resolver{
		byName: make(map[string]int32, 8),
		tables: make([]*Table, 1, 8), infos: make([]tableInfo, 1, 8),
		base: make([]baseColumn, 0, 16), columns: make([]column, 0, 32), steps: make([]step, 0, 16),
	}
	r.infos[undecided].asked = true
	r.begin(a, o)
	return r
}

// begin turns to a script.
func (r *resolver) begin(a *Analysis, o Options) {
	r.a, r.text, r.lookup, r.defaults = a, a.Text, o.Catalog, o.Defaults
	r.catalog, r.database = o.Defaults.Catalog, o.Defaults.Database
	if r.rules == nil || r.rules.name != a.Dialect {
		r.rules = rulesOf(a.Dialect)
	}
	for i := range r.infos {
		r.infos[i].inInputs, r.infos[i].inOutputs = false, r.infos[i].inOutputs && r.tables[i] != nil && r.tables[i].Temporary
		r.infos[i].held = nil
	}
	a.r = r
}

// statement resolves one statement; what goes wrong stays in it.
func (r *resolver) statement(tree *syntax.Statement) {
	s := &Statement{Span: tree.Span, Warnings: tree.Warnings, Tree: tree, Verb: verb(tree.Body)}
	r.a.Statements = append(r.a.Statements, s)
	outer := r.stmt
	r.stmt = s
	r.number++
	r.lost, r.deep = 0, false
	r.guarded(tree)
	s.Confidence = r.confidence(s)
	r.a.Confidence = min(r.a.Confidence, s.Confidence)
	r.stmt = outer
	r.number++
}

// faulty is the reason that an unresolved item gives for a fault of ours.
const faulty = "a fault of the analyzer"

// guarded resolves a statement; a fault of ours costs that statement only.
func (r *resolver) guarded(tree *syntax.Statement) {
	depth := r.depth
	defer func() {
		if fault := recover(); fault != nil {
			r.depth, r.noting, r.shared, r.fresh, r.recursing, r.dry = depth, false, nil, nil, nil, false
			r.spare, r.lists, r.ctes, r.refs = nil, nil, nil, nil
			r.lost += 1 << 20
			r.unresolved(Unresolved{Span: tree.Span, Name: fmt.Sprint(fault), Reason: faulty})
		}
	}()
	r.body(tree.Body, nil)
	r.unread()
}

// confidence falls with what was skipped and with names that were not
// resolved.
func (r *resolver) confidence(s *Statement) float64 {
	c := 1.0
	for _, w := range s.Warnings {
		if w.Error {
			c *= 0.2
		} else {
			c *= 0.85
		}
	}
	if o, ok := s.Tree.Body.(*syntax.Other); ok && !o.Known {
		c = 0
	}
	named := 0
	for _, t := range s.Targets {
		named += len(t.Outputs) + len(t.Dependencies)
	}
	if r.lost > 0 {
		c *= 1 - 0.5*float64(r.lost)/float64(r.lost+named+1)
	}
	return max(c, 0)
}

// unresolved lists something that could not be told, once.
func (r *resolver) unresolved(u Unresolved) {
	r.lost++
	if len(r.a.Unresolved) >= 10_000 {
		return
	}
	if n := len(r.a.Unresolved); n > 0 {
		if last := &r.a.Unresolved[n-1]; last.Span == u.Span && last.Name == u.Name {
			return
		}
	}
	u.Name = oneLine(u.Name, 200)
	r.a.Unresolved = append(r.a.Unresolved, u)
}

// readNow notes that the statement reads a table.
func (r *resolver) readNow(id int32) {
	if r.dry {
		return
	}
	info := &r.infos[id]
	t := r.tables[id]
	if !info.inInputs {
		info.inInputs = true
		r.a.Inputs = append(r.a.Inputs, t)
	}
	if info.readAt != r.number {
		info.readAt = r.number
		r.stmt.Inputs = append(r.stmt.Inputs, t)
	}
}

// wroteNow notes that the statement writes a table.
func (r *resolver) wroteNow(id int32) {
	if r.dry {
		return
	}
	info := &r.infos[id]
	t := r.tables[id]
	if !info.inOutputs {
		info.inOutputs = true
		r.a.Outputs = append(r.a.Outputs, t)
	}
	if info.wroteAt != r.number {
		info.wroteAt = r.number
		r.stmt.Outputs = append(r.stmt.Outputs, t)
	}
}
