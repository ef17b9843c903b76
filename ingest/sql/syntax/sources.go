package syntax

// A TableRef is what FROM lists: *Table, *Derived, *TableFunc, *Join, *Pivot,
// *Unpivot, *MatchRecognize, *LateralView or *Paren.
type TableRef interface {
	Node
	ref()
}

// An Alias names a table reference and perhaps its columns.
type Alias struct {
	Span
	Name    Ident // Text empty: none
	Columns []Ident
}

type (
	// A Table names a table, view, CTE, topic or stage.
	Table struct {
		Span
		Name      Name
		Alias     Alias
		Temporal  Expr // FOR SYSTEM_TIME AS OF, VERSION AS OF, AT(…)
		Partition []PartitionItem
		Sample    Expr
		Database  Ident  // of SHOW … FROM t FROM db, where it stands after the name
		Path      string // a file named in place of a table: parquet.`/x`, 's3://…'
		Stage     bool   // @stage
	}

	// A Derived is a query as a table.
	Derived struct {
		Span
		Query   *Query
		Body    Body // instead, Db2's FINAL TABLE (INSERT …): the rows that it changes
		Lateral bool
		Alias   Alias
	}

	// A TableFunc is a function as a table: UNNEST, FLATTEN, TUMBLE,
	// JSON_TABLE, generate_series …
	TableFunc struct {
		Span
		Call       *Call
		Lateral    bool
		Ordinality bool
		OffsetName Ident // BigQuery's WITH OFFSET AS o
		// Columns are declared: inside the call, or with the alias. Inspect
		// leaves those out that stand in another child's text.
		Columns []ColumnDef // JSON_TABLE's, XMLTABLE's, AS t(a int), OPENJSON … WITH
		Alias   Alias
	}

	// A Join joins two references. Comma joins have Kind CROSS and Comma.
	Join struct {
		Span
		Kind        string // INNER, LEFT, RIGHT, FULL, CROSS, SEMI, ANTI, RIGHT SEMI, RIGHT ANTI, APPLY, OUTER APPLY, ARRAY, LEFT ARRAY
		Comma       bool
		Natural     bool
		Asof        bool
		Left, Right TableRef
		On          Expr
		Using       []Ident
	}

	// A LateralView is Hive's LATERAL VIEW [OUTER] f(…) t AS a, b over Source.
	// ClickHouse's ARRAY JOIN is a Join of kind ARRAY to an *ArrayJoin.
	LateralView struct {
		Span
		Source TableRef
		Outer  bool
		Call   *Call
		Alias  Alias
	}

	// An ArrayJoin is what ClickHouse's ARRAY JOIN lists.
	ArrayJoin struct {
		Span
		Items []SelectItem
	}

	// A Pivot turns rows into columns.
	Pivot struct {
		Span
		Source     TableRef
		Aggregates []SelectItem
		For        []Expr       // the columns whose values name the new ones
		In         []SelectItem // values, perhaps with aliases; rows for several columns
		Any        bool         // IN (ANY …) or IN (subquery): the columns are not known
		GroupBy    *GroupBy     // DuckDB's
		Alias      Alias
	}

	// An Unpivot turns columns into rows.
	Unpivot struct {
		Span
		Source TableRef
		Values []Ident  // the new value columns
		Names  []Ident  // the new name columns
		In     [][]Expr // the columns, in groups of len(Values)
		Labels []Expr   // of each group, nil where none
		Alias  Alias
	}

	// A MatchRecognize finds patterns in rows.
	MatchRecognize struct {
		Span
		Source    TableRef
		Partition []Expr
		Order     []OrderItem
		Measures  []SelectItem
		AllRows   bool
		Variables []Ident // of the pattern
		Define    []SelectItem
		Alias     Alias
	}

	// A Paren is a reference in parentheses, with an alias of its own perhaps.
	Paren struct {
		Span
		Ref   TableRef
		Alias Alias
	}
)

func (*Table) ref()          {}
func (*Derived) ref()        {}
func (*TableFunc) ref()      {}
func (*Join) ref()           {}
func (*LateralView) ref()    {}
func (*ArrayJoin) ref()      {}
func (*Pivot) ref()          {}
func (*Unpivot) ref()        {}
func (*MatchRecognize) ref() {}
func (*Paren) ref()          {}
