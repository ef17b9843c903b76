package syntax

// Statements that define.
type (
	// A CreateTable is CREATE TABLE in all its forms, CTAS and LIKE too.
	CreateTable struct {
		Span
		With              *With // WITH … CREATE TABLE … AS, where it stands before
		Name              *Table
		Temporary         bool
		External          bool
		Replace, IfAbsent bool
		Columns           []ColumnDef
		Like              *Table // LIKE, CLONE, DEEP CLONE, SHALLOW CLONE
		Clone             bool
		Parent            *Table      // PARTITION OF; of INHERITS the first
		PartitionedBy     []ColumnDef // with a type only where Hive adds columns; As where it is no column
		Location          string
		Using             string   // format, engine or connector
		Options           []Option // WITH, TBLPROPERTIES, PROPERTIES, OPTIONS
		Query             *Query   // AS
		// References are the tables that foreign keys and MySQL's UNION name.
		// They stand inside columns, so that Inspect leaves them out.
		References []*Table
	}

	// A CreateView is a view, a materialized one, or a cached or temporary
	// name for a query.
	CreateView struct {
		Span
		Name              *Table
		Columns           []ColumnDef // names, perhaps with comments
		Materialized      bool
		Temporary         bool
		Replace, IfAbsent bool
		Dynamic           bool   // Snowflake's dynamic table, a live table
		To                *Table // ClickHouse's MATERIALIZED VIEW … TO
		PartitionedBy     []Expr
		Options           []Option
		Query             *Query
		// Base is what CREATE TEMPORARY VIEW … USING … OPTIONS reads instead of
		// a query.
		Using    string
		Location string
	}

	// A ColumnDef declares a column.
	ColumnDef struct {
		Span
		Name     Name
		Type     *Type // nil where none is given
		As       Expr  // generated, computed
		Metadata bool  // Flink's METADATA column
		Comment  string
	}

	// A Type is a type as written, and its fields where it is a struct.
	Type struct {
		Span
		Name   string      // upper case, without arguments
		Args   []*Type     // element types of ARRAY, MAP …
		Fields []ColumnDef // of STRUCT, ROW, NESTED, OBJECT
	}

	// An Option is a key and a value of a list of options.
	Option struct {
		Span
		Key, Value string
	}

	// An Alter changes a table or a view.
	Alter struct {
		Span
		Object string // TABLE, VIEW, MATERIALIZED VIEW …
		Table  *Table
		// Verb: RENAME (To), SWAP (To), EXCHANGE (To, Partition), ADD COLUMN,
		// DROP COLUMN, CHANGE COLUMN (Renamed: old to Columns[0]), RENAME
		// COLUMN, SET LOCATION, ADD PARTITION, DROP PARTITION, AS (Query),
		// REPLACE PARTITION (To is the source), RENAME FROM (To takes this
		// table's place and is gone), OTHER.
		Actions []AlterAction
	}

	// An AlterAction is one clause of an ALTER.
	AlterAction struct {
		Span
		Verb      string
		To        *Table
		Columns   []ColumnDef
		Renamed   Ident
		Partition []PartitionItem
		Location  string
		Query     *Query
		// References are the tables that foreign keys name; Inspect leaves them
		// out.
		References []*Table
		Replace    bool // Columns take the place of all others: Hive's REPLACE COLUMNS
	}

	// A Rename is RENAME TABLE a TO b, …; EXCHANGE TABLES a AND b swaps.
	Rename struct {
		Span
		Pairs [][2]*Table
		Swap  bool
	}

	// A Drop removes tables, views … of one kind.
	Drop struct {
		Span
		Object    string // TABLE, VIEW, MATERIALIZED VIEW, FUNCTION …
		IfExists  bool
		Temporary bool
		Names     []*Table
	}

	// A Truncate empties tables.
	Truncate struct {
		Span
		Tables    []*Table
		Partition []PartitionItem
	}
)
