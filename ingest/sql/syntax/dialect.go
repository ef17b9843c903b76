package syntax

import "strings"

// A Fold says what a dialect does to the case of identifiers without quotes.
type Fold uint8

// The ways to fold.
const (
	FoldNone Fold = iota
	FoldLower
	FoldUpper
)

// Brackets says whether [x] is an identifier.
type Brackets uint8

// The ways to read [x].
const (
	BracketsNone Brackets = iota
	BracketsAlways
	BracketsMaybe // where it can be no element and no array
)

// A Dialect is what one dialect reads differently: a table.
type Dialect struct {
	Name    string
	Aliases []string
	Fold    Fold

	// How text is cut into tokens.
	DoubleQuoteString bool // "x" is a string, not an identifier
	Brackets          Brackets
	Backslash         bool // a backslash escapes in strings
	TripleQuotes      bool
	Dollar            bool // $$…$$ is a string
	HashComment       bool
	SlashComment      bool // a comment after two slashes
	NestedComment     bool
	DigitWords        bool // an identifier may begin with a digit
	HashWords         bool // #t is a word, and # may be part of one
	Delimiters        bool // DELIMITER lines, /*! … */, _charset'…'
	GoLines           bool // GO on a line of its own ends a statement
	SlashLines        bool // so does a slash
	Stages            bool // @stage/path
	CustomOperators   bool // any run of operator characters is an operator
	NoSemicolons      bool // a statement may follow another without a delimiter

	// How tokens are read.
	Lambda       bool // x -> e is a lambda
	ColonPath    bool // v:a.b takes a field
	DollarColumn bool // $1 is a column
	DashNames    bool // a-b is one word in a table's name
	SplitQuoted  bool // `a.b.c` is three parts of a table's name
	BitXor       bool // ^ is no power
	AndAnd       bool // && is AND
	ScalarWith   bool // WITH e AS a names an expression
	Final        bool // FINAL after a table
	Ternary      bool // a ? b : c, {p:Type}
	BareStar     bool // * EXCEPT a and USING a, b without parentheses
	MapReduce    bool // MAP e USING '…', REDUCE e USING '…'
	AliasFirst   byte // what stands between an alias and its item, 0 where none may
	LoneDeclare  bool // DECLARE is a statement, not the first section of a block
	Phrases      bool // Teradata's x (TITLE '…') and eq, ne, gt
	Durations    bool // Db2's 1 MONTH

	// Reserved lists further words that cannot be an alias without AS; Free
	// lists shared ones that can.
	Reserved, Free string

	// What names mean, for those who resolve them.
	LateralAlias   bool // an item may use the alias of an earlier one
	GroupByAlias   bool // GROUP BY prefers an alias to a column
	IntegerDivides bool // 1/2 is 0

	classes []class
}

// Lookup returns a dialect by name or alias in any case, nil where there is
// none.
func Lookup(name string) *Dialect {
	for _, d := range dialects {
		if strings.EqualFold(d.Name, name) {
			return d
		}
		for _, a := range d.Aliases {
			if strings.EqualFold(a, name) {
				return d
			}
		}
	}
	return nil
}

// Dialects returns all dialects, the generic one first. The slice is not to be
// changed.
func Dialects() []*Dialect { return dialects }

// prepare fills in the classes of words.
func prepare(ds []*Dialect) []*Dialect {
	for _, d := range ds {
		d.classes = append([]class(nil), vocabulary.classes...)
		for _, w := range strings.Fields(d.Reserved) {
			d.classes[vocabulary.find(w)] |= noAlias
		}
		for _, w := range strings.Fields(d.Free) {
			d.classes[vocabulary.find(w)] &^= noAlias
		}
	}
	return ds
}
