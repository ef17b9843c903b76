// Package sql says what a SQL script does with data: which tables and columns
// each statement reads and writes, how every output column is made, and by
// which operators. It reads the tree of package syntax, resolves names in
// scopes, draws a plan and gives the lineage of columns. It knows no graph, does
// no I/O and never panics: what it cannot tell it lists as unresolved, with the
// reason.
package sql

import (
	"strings"

	"headwater/ingest/sql/syntax"
)

// Options say how a script is read. The zero value works: the dialect is
// guessed and no schema is known.
type Options struct {
	// Dialect is a name that syntax.Lookup knows; "" and "auto" guess.
	Dialect string
	// Catalog knows the columns of tables; nil knows none.
	Catalog Catalog
	// Defaults complete names that are not fully qualified.
	Defaults Defaults
}

// Defaults are the catalog and the database in force when a script starts.
type Defaults struct{ Catalog, Database string }

// A Catalog knows tables from elsewhere.
type Catalog interface {
	// Columns returns the columns of a table in their order, a nested field as
	// a dotted path after its struct (address, address.city). The parts of the
	// name stand most general first, as many as are known. The answer may be
	// kept, and is not changed. Known is false where the table is not known.
	Columns(table []string) (columns []string, known bool)
}

// A Kind says how something depends on a column; a set of kinds is their union.
// The first three are direct. Of a source of an output column they say the
// strongest step of a chain: one bit for each way from source to output.
type Kind uint16

// The kinds, named as in the graph.
const (
	Identity       Kind = 1 << iota // the value is copied
	Transformation                  // the value is computed
	Aggregation                     // the value is computed from many rows
	Conditional                     // the column decides between values
	Window                          // the column partitions or orders a window
	Join                            // the column is a key of a join
	Filter                          // the column decides which rows there are
	GroupBy                         // the column is a grouping key
	Sort                            // the column orders the rows
	Direct         = Identity | Transformation | Aggregation
	Indirect       = Conditional | Window | Join | Filter | GroupBy | Sort
)

var kindNames = [...]string{"IDENTITY", "TRANSFORMATION", "AGGREGATION", "CONDITIONAL", "WINDOW", "JOIN", "FILTER", "GROUP_BY", "SORT"}

// Names lists the kinds of the set by their names in the graph.
func (k Kind) Names() []string {
	var names []string
	for i, name := range kindNames {
		if k&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

func (k Kind) String() string { return strings.Join(k.Names(), "|") }

// Strongest returns the strongest direct kind of the set, 0 if it has none.
func (k Kind) Strongest() Kind {
	switch {
	case k&Aggregation != 0:
		return Aggregation
	case k&Transformation != 0:
		return Transformation
	}
	return k & Identity
}

// A TableKind says what a named thing is.
type TableKind string

// The kinds of tables.
const (
	BaseTable        TableKind = "TABLE"
	ViewTable        TableKind = "VIEW"
	MaterializedView TableKind = "MATERIALIZED_VIEW"
	PathTable        TableKind = "PATH"     // files: Name is the path as written
	StageTable       TableKind = "STAGE"    // a stage, with @
	FunctionTable    TableKind = "FUNCTION" // rows from outside, read by a function
	QueryTable       TableKind = "QUERY"    // where a bare SELECT goes: <query>
)

// A Table is a named thing that a script reads or writes. In one Analysis equal
// tables are one pointer.
type Table struct {
	// Parts is the whole name, the most general part first, completed from the
	// defaults and USE as far as they are known, in the case of its first
	// mention.
	Parts []string
	// Catalog, Database and Name are the last three parts; empty if not known.
	Catalog, Database, Name string
	// Kind is what the script says of it; TABLE where it says nothing.
	Kind TableKind
	// Temporary is set for temporary tables and views that the script creates,
	// and for cached names.
	Temporary bool
	// Columns are those that are known; Known says that there are no others.
	Columns []string
	Known   bool

	id int32
}

// String returns the name with dots.
func (t *Table) String() string {
	if t == nil {
		return "?"
	}
	return strings.Join(t.Parts, ".")
}

// An Analysis is what is known of a script. It is not changed once returned.
type Analysis struct {
	// Text is the script; all spans are ranges of its bytes.
	Text string
	// Dialect is the dialect in which it was read, Why how it was chosen:
	// "asked for" or what the guess rests on.
	Dialect, Why string
	// Script is the tree.
	Script *syntax.Script
	// Statements are the statements in order, those of blocks after the block.
	Statements []*Statement
	// Targets are the writes of all statements, in order.
	Targets []*Target
	// Flows are the targets with temporary tables and views contracted and
	// with renames followed: no source and no target of theirs is temporary.
	// Where a script has neither, Flows equals Targets. A Flow's Via names the
	// temporary tables it passed.
	Flows []*Target
	// Inputs are all tables read, if only in EXISTS or IN; Outputs all tables
	// written; both in order of first mention, temporary ones among them.
	Inputs, Outputs []*Table
	// Tables are all tables that the script names.
	Tables []*Table
	// Changes are what the script does to tables as such, in order.
	Changes []Change
	// Views are the views and materialized views that the script defines.
	Views []*View
	// Unresolved is what could not be told, and why.
	Unresolved []Unresolved
	// Confidence is the lowest of the statements'; 1 for an empty script.
	Confidence float64

	r *resolver
}

// A Statement is one statement and what it did.
type Statement struct {
	syntax.Span
	// Verb is SELECT, INSERT, CREATE TABLE, MERGE and so on.
	Verb string
	// Warnings name what was skipped.
	Warnings []syntax.Warning
	// Confidence is 1 where all was understood and resolved, 0 where nothing.
	Confidence float64
	// Targets are what it writes, Inputs and Outputs all tables that it names.
	Targets         []*Target
	Inputs, Outputs []*Table
	// Tree is the statement's own tree.
	Tree *syntax.Statement
}

// A Target is one table written by one statement, and how its rows are made.
type Target struct {
	Table *Table
	// Mode is INSERT, OVERWRITE, REPLACE, CREATE, VIEW, MATERIALIZED VIEW,
	// MERGE, UPDATE, DELETE, COPY, CLONE or, of a bare SELECT, QUERY.
	Mode string
	// Outputs are the columns written, in order.
	Outputs []Output
	// Dependencies are those of the whole output: JOIN, FILTER, GROUP_BY and
	// SORT columns, once each.
	Dependencies []Source
	// Inputs are all tables that its rows come from or depend on.
	Inputs []*Table
	// Reads are the scans of tables under it, each with its row predicate.
	Reads []Read
	// Partitions are what is written of the table where the statement says
	// it: PARTITION (dt = '…').
	Partitions []Bound
	// Plan is its DAG of operators, inputs before what reads them; Write is
	// the last. Of contracted Flows it is the plan of the last step.
	Plan []PlanNode
	// Statement is the statement that writes it.
	Statement *Statement
	// Via are the temporary tables that a Flow was contracted over.
	Via []*Table
	// Steps are the targets that a Flow was contracted of, itself as it is in
	// Targets last; nil where nothing was contracted. Each has its own plan and
	// chains.
	Steps []*Target
	// NoFlow is set where no rows of any table are written: VALUES, constants.
	NoFlow bool

	outs []int32 // the columns of Outputs
	deps set     // Dependencies
	sets []set   // of a Flow: the Sources of Outputs
}

// An Output is one written column.
type Output struct {
	// Name is the column of the target: "*" where a star could not be
	// expanded, empty where an expression has no name of its own.
	Name string
	// Sources are what its values come from (direct) and what decides them
	// for this column alone (CONDITIONAL, WINDOW, and FILTER, JOIN … of
	// scalar subqueries). A source may be both.
	Sources []Source
	// Expression spans the text that computes it, Item its syntax; of a
	// column that is copied by a star, the star.
	Expression syntax.Span
	Item       syntax.Node
	// Masked names a function that hides the values (sha2, md5, mask …).
	Masked string
	// Star is set where the output stands for unknown columns.
	Star bool
}

// A Source is a column that something depends on.
type Source struct {
	// Table is nil where the column's table could not be decided.
	Table *Table
	// Column is its name, or a dotted path into it; "*" stands for all.
	Column string
	Kinds  Kind
}

// A Read is one scan of a table and what it reads of it.
type Read struct {
	Table *Table
	// Node is the Scan in the plan.
	Node int
	// Predicates are conjuncts that every row must satisfy to matter here,
	// with the names of the table's own columns.
	Predicates []Predicate
	// Bounds are those that compare a column with a constant or with a
	// function of variables. They are the partitions read where the column is
	// one the table is partitioned by.
	Bounds []Bound
}

// A Predicate is a conjunct, normalised: white space collapsed, columns by their
// base names.
type Predicate struct {
	syntax.Span
	Text    string
	Columns []string
}

// A Bound says which values a column has.
type Bound struct {
	Column string
	// Op is =, <, <=, >, >=, IN or BETWEEN; empty for a dynamic partition, and
	// PARTITION where Values name a partition and no Column is known.
	Op string
	// Values are the texts of what it is compared with.
	Values []string
	// Constant is set where all values are literals; otherwise they are
	// functions of Variables or of the clock.
	Constant  bool
	Variables []string
	// Partition is set where the table is known to be partitioned by Column.
	Partition bool
}

// A PlanNode is an operator.
type PlanNode struct {
	// ID is the same in all plans of an Analysis; Inputs are IDs.
	ID     int
	Op     Op
	Inputs []int
	// Label is short: a table, a kind of join, a CTE's name.
	Label string
	// Span is the clause that it stands for, Tree its syntax.
	Span  syntax.Span
	Tree  syntax.Node
	Table *Table // of a Scan or Write
}

// An Op is a kind of operator.
type Op string

// The operators.
const (
	OpScan          Op = "SCAN"
	OpFilter        Op = "FILTER"
	OpJoin          Op = "JOIN"
	OpAggregate     Op = "AGGREGATE"
	OpWindow        Op = "WINDOW"
	OpProject       Op = "PROJECT"
	OpSetOp         Op = "SET"
	OpUnnest        Op = "UNNEST"
	OpSort          Op = "SORT"
	OpLimit         Op = "LIMIT"
	OpTableFunction Op = "TABLE FUNCTION"
	OpPivot         Op = "PIVOT"
	OpValues        Op = "VALUES"
	OpWrite         Op = "WRITE"
)

// A Change is something done to a table as such.
type Change struct {
	// Verb is CREATE, DROP, RENAME, SWAP, TRUNCATE, ADD COLUMN, DROP COLUMN,
	// RENAME COLUMN, EXCHANGE PARTITION, ADD PARTITION, DROP PARTITION, CLONE,
	// LIKE, LOCATION or ANALYZE.
	Verb  string
	Table *Table
	// To is the other table of RENAME, SWAP, CLONE, LIKE and EXCHANGE.
	To *Table
	// Columns are those created, added or dropped; From is a renamed
	// column's old name. Location is where the data lies.
	Columns   []SchemaColumn
	From      string
	Location  string
	Options   []syntax.Option
	Span      syntax.Span
	Statement *Statement
}

// A SchemaColumn is a declared column.
type SchemaColumn struct{ Name, Type, Comment string }

// A View is a view that the script defines.
type View struct {
	Table        *Table
	Materialized bool
	// Bases are the tables that its query reads; PartitionedBy its partition
	// expressions as written.
	Bases         []*Table
	PartitionedBy []string
	Target        *Target
}

// An Unresolved is something that could not be told.
type Unresolved struct {
	syntax.Span
	// Name is what was named, Reason a sentence.
	Name, Reason string
	// Table is the table whose schema would help, if it is one;
	// Candidates are those a column may belong to.
	Table      *Table
	Candidates []*Table
}
