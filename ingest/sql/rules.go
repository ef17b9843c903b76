package sql

import "strings"

// The rules are what of name resolution differs between dialects.
type rules struct {
	name string
	// upper and exact say how an unquoted name and a quoted one compare:
	// folded to upper or lower case, and a quoted one as written if exact.
	upper, exact bool
	// sensitive: unquoted table names keep their case, too.
	sensitive bool
	// structs: a.b may be a field of the column a.
	structs bool
	// lateralAlias: an item sees the aliases of items before it; whereAlias:
	// so does WHERE; groupAlias: so does GROUP BY; havingAlias: HAVING.
	lateralAlias, whereAlias, groupAlias, havingAlias bool
	// aliasFirst: an alias hides a column of the same name in those clauses.
	aliasFirst bool
	// paths: FROM t, t.arr reads an array.
	paths bool
	// lateral: every derived table sees what stands before it, and FROM may
	// name an array of a table: Impala's nested types.
	lateral bool
	// partitionColumns: PARTITION (a) of INSERT names a column, which comes
	// last, not a partition.
	partitionColumns bool
	// unnamed names the expression without an alias at index i (0 based):
	// "_c%d" of Hive; empty: by the text; "func": by the function (PostgreSQL).
	unnamed string
	// variant: a path into a value is an access at run time, not a field that a
	// schema could list.
	variant bool
	// schemas: a database holds schemas, and USE names a database.
	schemas bool
	// spoken: SYSDATE, USER and their kin need no brackets.
	spoken bool
	// selfRecursive: WITH needs no RECURSIVE.
	selfRecursive bool
}

func rulesOf(dialect string) *rules {
	r := rules{name: dialect, groupAlias: true, havingAlias: true, structs: true, partitionColumns: true}
	switch dialect {
	case "hive":
		r.unnamed = "_c"
	case "impala":
		r.paths, r.lateral = true, true
	case "spark":
		r.lateralAlias = true
	case "flink":
		r.exact, r.sensitive = true, true
	case "trino":
		r.unnamed = "_col"
		r.groupAlias, r.havingAlias = false, false
	case "mysql", "sqlite":
		r.structs = false
	case "clickhouse":
		r.sensitive, r.exact = true, true
		r.lateralAlias, r.whereAlias, r.aliasFirst = true, true, true
	case "postgres":
		r.exact, r.unnamed = true, "func"
		r.havingAlias = false
	case "redshift", "vertica":
		r.unnamed, r.lateralAlias = "func", true
		r.paths = dialect == "redshift"
		r.whereAlias = true
	case "snowflake":
		r.upper, r.exact, r.variant = true, true, true
		r.lateralAlias, r.whereAlias = true, true
	case "bigquery":
		r.paths = true
		r.sensitive = true
	case "duckdb":
		r.lateralAlias, r.whereAlias = true, true
	case "teradata":
		r.lateralAlias, r.whereAlias = true, true
		r.structs = false
	case "oracle", "db2", "exasol":
		r.upper, r.exact = true, true
		r.structs = false
	case "tsql", "h2":
		r.structs = false
	}
	switch dialect {
	case "tsql", "oracle", "db2", "teradata", "snowflake", "exasol", "ansi":
		r.selfRecursive = true
	}
	switch dialect {
	case "doris", "mysql", "oracle", "clickhouse":
		r.partitionColumns = false
	}
	switch dialect {
	case "snowflake", "tsql", "ansi", "postgres", "redshift", "vertica":
		r.schemas = true
	}
	switch dialect {
	case "oracle", "db2", "teradata", "tsql", "postgres", "redshift", "vertica", "exasol", "h2", "ansi":
		r.spoken = true
	}
	return &r
}

// fold brings a name part into the form in which it is compared.
func (r *rules) fold(text string, quoted bool) string {
	if quoted && r.exact || r.sensitive {
		return text
	}
	if r.upper {
		return strings.ToUpper(text)
	}
	return strings.ToLower(text)
}

// Fold returns the form of a name part under which equal names are equal in a
// dialect: quoted or not as written.
func Fold(dialect, part string, quoted bool) string {
	return rulesOf(dialect).fold(part, quoted)
}
