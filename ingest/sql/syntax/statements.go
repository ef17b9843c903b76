package syntax

// A Body is what a statement says.
type Body interface {
	Node
	body()
}

// Statements that read or write.
type (
	// A QueryStatement is a query on its own; Into is where SELECT … INTO and
	// its kin write, perhaps nil.
	QueryStatement struct {
		Span
		Query *Query
	}

	// An Insert adds rows to a table. Hive's multi-insert is one Insert for
	// each target, in a Multi.
	Insert struct {
		Span
		With      *With
		Target    *Table // nil for a directory; see Directory
		Directory Expr   // INSERT OVERWRITE [LOCAL] DIRECTORY, INSERT INTO FILES(…): its path or call
		Overwrite bool
		Replace   bool // REPLACE INTO
		Columns   []Name
		ByName    bool
		Partition []PartitionItem
		Query     *Query // its Body is *Values for VALUES
		Set       []Assignment
		// Update holds the assignments of ON CONFLICT DO UPDATE, ON DUPLICATE
		// KEY UPDATE; UpdateWhere the condition with them.
		Update      []Assignment
		UpdateWhere Expr
		Returning   []SelectItem
		When        Expr // of a conditional multi-insert (Oracle, Snowflake), perhaps nil
	}

	// A Multi is several inserts that read one source: Hive's FROM … INSERT …
	// INSERT …, INSERT ALL. Each Query has no From of its own where the source
	// stands in From.
	Multi struct {
		Span
		With    *With
		From    []TableRef
		Inserts []*Insert
	}

	// A PartitionItem is `dt = '…'` or, for a dynamic one, `dt`.
	PartitionItem struct {
		Span
		Column Name
		Value  Expr // nil: dynamic
	}

	// An Assignment sets columns: one, or several of them from a row or a
	// query.
	Assignment struct {
		Span
		Targets []Name
		Value   Expr // nil for DEFAULT
	}

	// An Update changes rows.
	Update struct {
		Span
		With      *With
		Target    TableRef // a *Table; a *Join for MySQL's many-table form
		Set       []Assignment
		From      []TableRef
		Where     Expr
		Returning []SelectItem
	}

	// A Delete removes rows.
	Delete struct {
		Span
		With      *With
		Targets   []*Table // what loses rows; an alias of From in MySQL's many-table form
		From      []TableRef
		Where     Expr
		Returning []SelectItem
	}

	// A Merge joins a source into a target.
	Merge struct {
		Span
		With    *With
		Target  *Table
		Source  TableRef
		On      Expr
		Actions []MergeAction
	}

	// A MergeAction is one WHEN of a MERGE.
	MergeAction struct {
		Span
		Matched, BySource bool
		And               Expr
		Verb              string // UPDATE, INSERT, DELETE, NOTHING
		Set               []Assignment
		Columns           []Name
		Values            []Expr
		Star              bool    // UPDATE SET *, INSERT *
		Except            []Ident // of the star
		Where             Expr    // Oracle's
	}

	// A Copy moves rows between a table and something outside: COPY, LOAD,
	// UNLOAD, EXPORT, SELECT … INTO OUTFILE, IMPORT.
	Copy struct {
		Span
		Verb    string
		From    bool // into the table
		Table   *Table
		Columns []Name
		// Partition is that of Hive's LOAD and EXPORT.
		Partition []PartitionItem
		Query     *Query   // what is copied, instead of a table
		Paths     []string // files, directories, stages, URLs as written
		Stages    []Name   // @stage names
	}
)

// Statements that hold others, or set what others mean.
type (
	// A Use sets the current catalog and database.
	Use struct {
		Span
		Object string // CATALOG, DATABASE, SCHEMA or empty
		Name   Name
	}

	// A Set sets a variable or an option of the session.
	Set struct {
		Span
		Name  string
		Value Expr // may hold a subquery; nil: as text only
	}

	// An Explain explains a statement, which does not run.
	Explain struct {
		Span
		Inner Body
	}

	// A Block holds statements: BEGIN … END, a procedure's or a function's
	// body, IF, WHILE, STATEMENT SET, a FOR loop over a query.
	Block struct {
		Span
		What       string  // BEGIN, PROCEDURE, FUNCTION, STATEMENT SET, IF, LOOP …
		Name       Name    // of a procedure or function
		Params     []Ident // of a routine, and the names that it declares
		Conditions []Expr
		On         *Table // of a trigger
		Statements []*Statement
	}

	// A CreateFunction is a function whose body is an expression or a query,
	// or code in another language.
	CreateFunction struct {
		Span
		Name   Name
		Params []Ident
		Body   Expr
		Query  *Query
	}

	// Another is understood and neither reads nor writes rows: GRANT, SHOW,
	// ANALYZE, COMMIT … Verb is its first words. Known is false where it is not
	// understood at all.
	Other struct {
		Span
		Verb  string
		Known bool
		Names []*Table // tables that it names, where that can be told
	}
)

func (*QueryStatement) body() {}
func (*Insert) body()         {}
func (*Multi) body()          {}
func (*Update) body()         {}
func (*Delete) body()         {}
func (*Merge) body()          {}
func (*Copy) body()           {}
func (*CreateTable) body()    {}
func (*CreateView) body()     {}
func (*Alter) body()          {}
func (*Rename) body()         {}
func (*Drop) body()           {}
func (*Truncate) body()       {}
func (*Use) body()            {}
func (*Set) body()            {}
func (*Explain) body()        {}
func (*Block) body()          {}
func (*CreateFunction) body() {}
func (*Other) body()          {}
