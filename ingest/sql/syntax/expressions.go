package syntax

// An Expr is an expression.
type Expr interface {
	Node
	expr()
}

type (
	// A Ref is a dotted name in an expression: a column, a table's column, a
	// path into a struct; which of them is decided when names are resolved. It
	// also stands for words without parentheses such as current_date where the
	// dialect does not make them calls.
	Ref struct{ Name }

	// A Star is * or t.*.
	Star struct {
		Span
		Of      []Ident
		Except  []Ident
		Replace []SelectItem
		Rename  [][2]Ident
		Pattern string // COLUMNS('…'), Hive's regular expression
	}

	// A Literal is a constant: Kind is STRING, NUMBER, NULL, BOOL, DATE,
	// INTERVAL and so on; Text as written, Value without quotes.
	Literal struct {
		Span
		Kind  string
		Value string
	}

	// A Variable is a parameter or what a template fills in: ${x}, :x, ?, @x,
	// {{ x }}, $1 where that is no column.
	Variable struct {
		Span
		Name string
	}

	// A Call is a function, or an operator or form that reads as one: CAST is
	// *Cast, CASE *Case. Func is upper case where it is not quoted.
	Call struct {
		Span
		Func     string
		Name     Name
		Args     []Expr
		Names    []string // of named arguments, by position; nil where none
		Distinct bool
		Star     bool // count(*)
		Order    []OrderItem
		Within   []OrderItem // WITHIN GROUP
		Filter   Expr
		Params   []Expr // ClickHouse's f(params)(args)
		Over     *Window
		Table    *Table // TABLE t, as an argument of a table function
		Query    *Query // a table function's query argument, ARRAY(SELECT …)
	}

	// A Window is an OVER: a name, or what stands in parentheses.
	Window struct {
		Span
		Name      Ident
		Partition []Expr
		Order     []OrderItem
		// Measures and Define are those of a window that recognises patterns.
		Measures, Define []SelectItem
		Frame            Span // ROWS … as written; empty where none
	}

	// A Case is CASE.
	Case struct {
		Span
		Operand Expr
		Whens   []When
		Else    Expr
	}

	// A When is one WHEN … THEN ….
	When struct {
		Span
		Cond, Then Expr
	}

	// A Cast is CAST(x AS t), x::t, TRY_CAST.
	Cast struct {
		Span
		X    Expr
		Type *Type
	}

	// An Op applies an operator to operands: AND, OR, NOT, =, +, ||, BETWEEN
	// (three), IN (the rest are the list), LIKE, IS NULL, IS, EXTRACT (its
	// field left out), AT TIME ZONE, ->, …. Comparison with ANY or ALL of a
	// list has Op "= ANY". Not says that NOT stands before IN, LIKE, BETWEEN.
	Op struct {
		Span
		Op   string
		Not  bool
		Args []Expr
	}

	// A Sub is a query in an expression: Kind is SCALAR, EXISTS, IN, ANY, ALL,
	// ARRAY. For IN, ANY and ALL, Left is what is compared.
	Sub struct {
		Span
		Kind  string
		Not   bool
		Op    string // = and so on, for ANY, ALL
		Left  Expr
		Query *Query
	}

	// A Field takes a field of a value: (x).f, f(x).g, v:a.b. Deeper paths are
	// several of them.
	Field struct {
		Span
		X    Expr
		Name Ident
		Star bool // (x).*
	}

	// An Index takes an element or a slice.
	Index struct {
		Span
		X      Expr
		At, To Expr // perhaps nil
	}

	// A Lambda is x -> e, (x, y) -> e. Those of a comprehension, [e FOR x IN xs
	// IF c], have their parameters outside; Inspect leaves them out there.
	Lambda struct {
		Span
		Params []Ident
		Body   Expr
	}

	// A List is a row, a tuple, or an array written as one: (a, b), [a, b],
	// {a: b} (Names are its keys).
	List struct {
		Span
		Kind  string // ROW, ARRAY, MAP, STRUCT
		Items []SelectItem
	}

	// A Skipped is a part that was not understood; a warning names it.
	Skipped struct{ Span }
)

func (*Ref) expr()      {}
func (*Star) expr()     {}
func (*Literal) expr()  {}
func (*Variable) expr() {}
func (*Call) expr()     {}
func (*Case) expr()     {}
func (*Cast) expr()     {}
func (*Op) expr()       {}
func (*Sub) expr()      {}
func (*Field) expr()    {}
func (*Index) expr()    {}
func (*Lambda) expr()   {}
func (*List) expr()     {}
func (*Skipped) expr()  {}
