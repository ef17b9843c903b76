package score

import "headwater/ingest/sql"

// A Suite says what a source of cases counts, so that we are compared with the
// union of kinds that it counts (inputs/README.md).
type Suite struct {
	// Direct are the kinds that make a pair of expected_columns.
	Direct sql.Kind
	// Tables says which tables are inputs.
	Tables inputRule
	// Undecided: a source of an undecided table is listed, as ?.c. Where it is
	// not, ours are left out of the comparison.
	Undecided bool
	// Ends: of a script of several statements only the first sources and the
	// last targets are listed.
	Ends bool
	// Self says when what a statement changes in place is its input.
	Self selfRule
	// Deletes: the target of DELETE is listed.
	Deletes bool
	// Changes: tables that are dropped, emptied or swapped are outputs.
	Changes bool
	// Flat: a path into a column counts as the column, and neither partition
	// columns nor directories are outputs.
	Flat bool
	// Sources: of the tables that a script names, the views that it creates and
	// the new names of tables do not count.
	Sources bool
	// Contains: more pairs than the listed ones are right.
	Contains bool
}

type inputRule uint8

const (
	allRead     inputRule = iota // every table read
	columnsRead                  // every table of which a column is read
	valuesRead                   // between those whose values are read and all
)

type selfRule uint8

const (
	selfByValue selfRule = iota // if a value comes from it
	selfByName                  // if a column of it is read
	selfNever                   // never; nor is a column a source of itself
	selfAlways                  // always; but a column is no source of itself
)

const (
	values     = sql.Direct
	conditions = sql.Direct | sql.Conditional
	windows    = sql.Direct | sql.Conditional | sql.Window
)

// Suites are the rules by the name of a suite. CASE, IF and COALESCE conditions
// and window keys are direct sources in sqllineage, sqlglot, DataHub, Kyuubi,
// Flink and in what was computed with sqlglot (TPC-H, TPC-DS, Doris' pairs);
// conditions alone in Impala's projections and in Hive; neither in OpenLineage.
// Kyuubi lists no table that is read in predicates only, Impala none of which
// no column is read. DataHub leaves sources out whose table it cannot tell. A
// user's own file is compared on values, and every table read.
var Suites = map[string]Suite{
	"sqllineage":                        {Direct: windows, Undecided: true, Ends: true, Self: selfNever},
	"om-sqllineage":                     {Direct: windows, Undecided: true, Ends: true, Self: selfNever},
	"datahub-goldens":                   {Direct: windows, Self: selfByName, Deletes: true, Changes: true},
	"openlineage-sql":                   {Direct: windows, Undecided: true, Self: selfNever, Deletes: true, Changes: true},
	"impala-lineage":                    {Direct: conditions, Tables: columnsRead},
	"hive-lineage":                      {Direct: conditions, Flat: true, Changes: true},
	"kyuubi-lineage":                    {Direct: windows, Tables: valuesRead, Self: selfAlways, Deletes: true},
	"openlineage-spark-transformations": {Direct: values},
	"doris-lineage":                     {Direct: windows},
	"flink-sql-lineage":                 {Direct: windows},
	"sqlglot-lineage":                   {Direct: windows},
	"druid-schemastat":                  {Sources: true},
	"tpch":                              {Direct: windows},
	"tpcds":                             {Direct: windows},
}

func (c *Case) suite() Suite {
	if s, ok := Suites[c.Suite]; ok {
		return s
	}
	return Suite{Direct: values, Undecided: true, Deletes: true}
}
