// Package syntax reads SQL of many dialects into one tree.
//
// A text is cut into tokens, which one tolerant grammar reads by recursive
// descent. What dialects read differently stands in their tables (Dialect). A
// clause that is not understood is skipped up to the next one, and a Warning of
// its statement names it: nothing is dropped in silence, and no text makes Parse
// fail or panic.
//
// The span of a node covers its text from the first to the last token. The
// parentheses around an expression are not part of it; those of a query (Query,
// Derived, Sub), of joins (Paren) and of rows (List) are. An operator's span
// begins where its left operand does, a parenthesis before that included. What
// is missing in the text (the star of FROM t) has an empty span.
package syntax

// A Span is a range of bytes of the text, [Start, End).
type Span struct{ Start, End int32 }

// Range returns the span itself: every node embeds one.
func (s Span) Range() Span { return s }

// In returns what the span covers of the text.
func (s Span) In(text string) string { return text[s.Start:s.End] }

// A Node is any part of the tree.
type Node interface{ Range() Span }

// A Script is a text, statement by statement.
type Script struct {
	Text       string
	Dialect    *Dialect
	Statements []*Statement

	work int // of the parser, for tests: how often it looked at a token
}

// A Statement is one statement of a script, its own text without the
// delimiter. What was not understood stands in Warnings; where nothing of it
// was, Body is *Other.
type Statement struct {
	Span
	Body     Body
	Warnings []Warning
}

// A Warning names a part of a statement that was skipped, and why. An Error is
// one after which nothing more of the statement was read.
type Warning struct {
	Span
	Reason string
	Error  bool
}

// An Ident is an identifier as it is meant: without quotes, its case kept.
type Ident struct {
	Span
	Text   string
	Quoted bool
}

// A Name is a dotted name, the most general part first: of a table, a
// function, a type.
type Name struct {
	Span
	Parts []Ident
}
