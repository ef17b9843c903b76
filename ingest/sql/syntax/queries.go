package syntax

// Queries.
type (
	// A Query is a set expression with what stands around it. Parentheses are
	// in its span.
	Query struct {
		Span
		With *With
		Body SetExpr
		// Order is ORDER BY, SORT BY; Limit, Offset may hold expressions.
		Order         []OrderItem
		Limit, Offset Expr
		LimitBy       []Expr // ClickHouse's LIMIT n BY
		// Pipes are BigQuery's |> steps, in order.
		Pipes []Pipe
	}

	// A With names queries for the rest of a statement.
	With struct {
		Span
		Recursive bool
		Items     []*CTE
	}

	// A CTE is a named query; a data-changing statement (PostgreSQL) or a
	// scalar (ClickHouse: WITH expr AS name) in its place.
	CTE struct {
		Span
		Name    Ident
		Columns []Ident
		Query   *Query
		Body    Body // INSERT, UPDATE, DELETE … RETURNING
		Scalar  Expr
	}

	// A Pipe is one step of pipe syntax: the clause that it is stands in the
	// Select that it fills (WHERE, SELECT, EXTEND, AGGREGATE, JOIN …).
	Pipe struct {
		Span
		Verb   string
		Select *Select
		Join   *Join // Left is nil
		Order  []OrderItem
		Limit  Expr
		// Keys are those of AGGREGATE … GROUP BY, with their aliases; the
		// Select's GroupBy has the same expressions.
		Keys []SelectItem
		// SetOp says which set operator joins Queries to what came before; its
		// Left and Right are nil.
		SetOp   *SetOp
		Queries []SetExpr
	}
)

// A SetExpr is what a query has at its heart: *Select, *SetOp, *Values,
// *TableQuery or a *Query in parentheses.
type SetExpr interface {
	Node
	set()
}

type (
	// A Select is one SELECT.
	Select struct {
		Span
		Distinct   bool
		DistinctOn []Expr
		AsStruct   bool // BigQuery's SELECT AS STRUCT
		Top        Expr // SELECT TOP n
		Items      []SelectItem
		Into       *Table // SELECT … INTO t
		IntoTemp   bool
		Transform  *Transform
		From       []TableRef
		PreWhere   Expr
		Where      Expr
		StartWith  Expr // with ConnectBy
		ConnectBy  Expr
		Model      *Model
		GroupBy    *GroupBy
		Having     Expr
		Windows    []NamedWindow
		Qualify    Expr
		// Cluster holds the keys of DISTRIBUTE BY, CLUSTER BY; Sort those of
		// SORT BY.
		Cluster []Expr
		Sort    []OrderItem
	}

	// A SelectItem is one item: an expression, perhaps with an alias, or a star.
	SelectItem struct {
		Span
		Expr    Expr // *Star for a star
		Alias   Ident
		Aliases []Ident // AS (a, b): a generator's columns
	}

	// A Transform is Hive's SELECT TRANSFORM (…) USING '…' AS (…).
	Transform struct {
		Span
		Args    []Expr
		Using   string
		Columns []ColumnDef
	}

	// A GroupBy lists keys, with what is grouped as in ROLLUP, CUBE and
	// GROUPING SETS flattened into Keys.
	GroupBy struct {
		Span
		Keys []Expr
		All  bool
	}

	// A NamedWindow is an entry of the WINDOW clause.
	NamedWindow struct {
		Span
		Name   Ident
		Window *Window
	}

	// A SetOp combines two queries.
	SetOp struct {
		Span
		Op          string // UNION, INTERSECT, EXCEPT
		All, ByName bool
		Left, Right SetExpr
	}

	// Values are rows of expressions.
	Values struct {
		Span
		Rows [][]Expr
	}

	// A TableQuery is TABLE t.
	TableQuery struct {
		Span
		Table *Table
	}

	// An OrderItem is a key of an order.
	OrderItem struct {
		Span
		Expr Expr
		Desc bool
	}
)

func (*Select) set()     {}
func (*SetOp) set()      {}
func (*Values) set()     {}
func (*TableQuery) set() {}
func (*Query) set()      {}
