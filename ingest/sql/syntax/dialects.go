package syntax

// dialects are all of them. A new one is an entry here; what it spells like
// another it needs not say, since the grammar is shared.
var dialects = prepare([]*Dialect{
	{
		Name: "ansi", Aliases: []string{"generic", "sql", "ansisql", "standard", "dremio", "informix", "phoenix"},
		Dollar: true, SlashLines: true, GoLines: true, DigitWords: true, HashWords: true, HashComment: true, Delimiters: true,
		Brackets: BracketsMaybe,
		Lambda:   true, ColonPath: true, LateralAlias: true,
	},
	{
		Name: "hive", Aliases: []string{"odps", "maxcompute", "hql", "hiveql", "sparksql-hive", "inceptor"}, MapReduce: true, LoneDeclare: true,
		Fold: FoldLower, DoubleQuoteString: true, Backslash: true, DigitWords: true, Lambda: true,
	},
	{
		Name: "spark", Aliases: []string{"databricks", "sparksql", "spark_sql", "spark3", "delta", "kyuubi"}, MapReduce: true, LoneDeclare: true,
		Fold: FoldLower, DoubleQuoteString: true, Backslash: true, DigitWords: true, Dollar: true, NestedComment: true,
		Lambda: true, ColonPath: true, LateralAlias: true, GroupByAlias: true,
	},
	{Name: "flink", Aliases: []string{"flinksql", "flink_sql"}, IntegerDivides: true},
	{
		Name: "trino", Aliases: []string{"presto", "athena", "prestosql", "prestodb", "starburst"},
		Fold: FoldLower, Dollar: true, Lambda: true, IntegerDivides: true,
	},
	{
		Name: "doris", Aliases: []string{"starrocks", "selectdb"}, LoneDeclare: true,
		DoubleQuoteString: true, Backslash: true, DigitWords: true, Delimiters: true, HashComment: true,
		Lambda: true, AndAnd: true, BitXor: true, GroupByAlias: true,
	},
	{
		Name: "mysql", Aliases: []string{"mariadb", "tidb", "oceanbase", "polardb", "aurora", "singlestore", "memsql"}, LoneDeclare: true,
		DoubleQuoteString: true, Backslash: true, DigitWords: true, HashComment: true, Delimiters: true, AndAnd: true, BitXor: true,
		GroupByAlias: true,
	},
	{
		Name: "clickhouse", Aliases: []string{"ch"},
		Backslash: true, HashComment: true, NestedComment: true, Dollar: true, Lambda: true, LateralAlias: true, GroupByAlias: true,
		ScalarWith: true, Final: true, Ternary: true, BareStar: true,
		Reserved: "FINAL SAMPLE PREWHERE SETTINGS FORMAT ARRAY",
	},
	{
		Name: "postgres", Aliases: []string{"postgresql", "pg", "greenplum", "materialize", "cockroachdb", "cockroach", "hologres", "gaussdb", "opengauss", "risingwave", "yugabyte", "timescaledb"},
		Fold: FoldLower, Dollar: true, NestedComment: true, CustomOperators: true, IntegerDivides: true,
	},
	{
		Name: "redshift", Fold: FoldLower, Dollar: true, NestedComment: true, CustomOperators: true,
		LateralAlias: true, IntegerDivides: true, HashWords: true,
	},
	{
		Name: "snowflake", Aliases: []string{"snow"},
		Fold: FoldUpper, Backslash: true, Dollar: true, SlashComment: true, Stages: true,
		Lambda: true, ColonPath: true, DollarColumn: true, LateralAlias: true, GroupByAlias: true,
		Reserved: "SAMPLE",
	},
	{
		Name: "bigquery", Aliases: []string{"bq", "googlesql", "zetasql", "spanner"}, LoneDeclare: true,
		DoubleQuoteString: true, Backslash: true, TripleQuotes: true, HashComment: true,
		DashNames: true, SplitQuoted: true, Lambda: true, GroupByAlias: true,
	},
	{
		Name: "duckdb", Aliases: []string{"duck", "motherduck"}, AliasFirst: ':',
		Dollar: true, CustomOperators: true, Lambda: true, LateralAlias: true, GroupByAlias: true,
		Reserved: "ASOF POSITIONAL SAMPLE",
	},
	{
		Name: "tsql", Aliases: []string{"mssql", "sqlserver", "transactsql", "synapse", "fabric", "azuresql"}, LoneDeclare: true, AliasFirst: '=',
		Brackets: BracketsAlways, NestedComment: true, HashWords: true, GoLines: true, NoSemicolons: true, BitXor: true,
		IntegerDivides: true, Reserved: "OPTION",
	},
	{
		Name: "oracle", Aliases: []string{"plsql", "dm", "dameng", "kingbase"},
		Fold: FoldUpper, SlashLines: true, HashWords: true, Reserved: "SAMPLE",
	},
	{Name: "db2", LoneDeclare: true, Fold: FoldUpper, HashWords: true, Durations: true, IntegerDivides: true},
	{Name: "teradata", Fold: FoldUpper, Phrases: true, IntegerDivides: true, LateralAlias: true, Reserved: "SAMPLE"},
	{Name: "vertica", Fold: FoldLower, Dollar: true, IntegerDivides: true},
	{Name: "h2", Fold: FoldUpper, IntegerDivides: true},
	{Name: "sqlite", Brackets: BracketsAlways, IntegerDivides: true, GroupByAlias: true},
	{Name: "exasol", Fold: FoldUpper, LateralAlias: true},
	{
		Name: "impala", Fold: FoldLower, DoubleQuoteString: true, Backslash: true, Reserved: "SORT",
	},
})
