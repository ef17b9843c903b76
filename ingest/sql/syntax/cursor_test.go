package syntax

import "testing"

// A parser that goes round in a circle is stopped, and says that it is at
// fault.
func TestAParserThatDoesNotMoveIsStopped(t *testing.T) {
	l := lexer{text: "SELECT 1 FROM t; SELECT 2", d: dialects[0]}
	l.lex()
	p := &parser{text: l.text, d: l.d, toks: l.toks}
	for p.isAhead(2, "FROM") {
		p.take("INTO")
	}
	if len(p.warnings) != 1 || p.warnings[0].Reason != faulty || !p.warnings[0].Error {
		t.Errorf("warnings: %+v", p.warnings)
	}
	if p.tok().kind != tSemi {
		t.Errorf("stands at %q, not at the end of the statement", p.textOf(p.tok()))
	}
}
