package syntax

import "strings"

// A parser reads tokens into trees. i is the current token.
type parser struct {
	text     string
	d        *Dialect
	toks     []token
	i        int
	depth    int
	doubled  bool   // the text stands in a string: its quotes are doubled
	slice    bool   // a colon ends the expression that is read
	work     int    // how often a token was looked at or stepped over
	standing int    // the token at which idle began to count
	idle     int    // how often tokens were looked at since it is the current one
	broken   bool   // nothing more of the statement is read, nor reported
	block    int    // how many blocks are open
	handlers int    // how many of them have WHEN … THEN for parts
	outfile  string // of the INTO OUTFILE that was read last
	warnings []Warning
	// references are the tables that the foreign keys of a definition name.
	references []*Table
}

// maxDepth is how deep expressions and queries may nest.
const maxDepth = 1000

// maxChain is how many operators of mixed kinds one chain may have: its tree
// leans to the left, one level for each.
const maxChain = 5000

// maxIdle is how often tokens are looked at from one place. Who looks more often
// goes round in a circle.
const maxIdle = 1 << 20

// maxWarnings is how many parts of a statement are named that were skipped.
const maxWarnings = 100

func (p *parser) tok() *token { return &p.toks[p.i] }

// ahead returns the token n places on, the last one beyond the end.
func (p *parser) ahead(n int) *token {
	p.work++
	if p.idle++; p.standing != p.i {
		p.standing, p.idle = p.i, 0
	} else if p.idle > maxIdle {
		p.fail(Span{p.pos(), p.tok().end}, faulty)
	}
	if p.i+n < len(p.toks) {
		return &p.toks[p.i+n]
	}
	return &p.toks[len(p.toks)-1]
}

func (p *parser) at(c byte) bool { return p.toks[p.i].ch == c }

func (p *parser) atAhead(n int, c byte) bool { return p.ahead(n).ch == c }

func (p *parser) textOf(t *token) string { return p.text[t.start:t.end] }

// op tells whether the token is the operator s of several bytes.
func (p *parser) op(s string) bool {
	t := p.tok()
	return t.kind == tSym && int(t.end-t.start) == len(s) && p.text[t.start:t.end] == s
}

func (t *token) wordIs(text, w string) bool {
	return t.kind == tWord && int(t.end-t.start) == len(w) && fold(text[t.start:t.end], w)
}

// is tells whether the token is the word w, which is upper case.
func (p *parser) is(w string) bool { return p.tok().wordIs(p.text, w) }

func (p *parser) isAhead(n int, w string) bool { return p.ahead(n).wordIs(p.text, w) }

// seq tells whether these words follow one another from here.
func (p *parser) seq(ws ...string) bool {
	for n, w := range ws {
		if !p.isAhead(n, w) {
			return false
		}
	}
	return true
}

func (p *parser) class() class { return p.d.classes[p.tok().word] }

func (p *parser) has(c class) bool { return p.class()&c != 0 }

// word returns the current word in upper case, empty where it is none.
func (p *parser) word() string { return p.wordAhead(0) }

func (p *parser) wordAhead(n int) string {
	t := p.ahead(n)
	switch {
	case t.kind != tWord:
		return ""
	case t.word != 0:
		return vocabulary.words[t.word]
	}
	return strings.ToUpper(p.textOf(t))
}

func (p *parser) next() {
	p.work++
	if p.toks[p.i].kind != tEnd {
		p.i++
	}
}

// step steps over n tokens, not beyond the end.
func (p *parser) step(n int) { p.to(p.i + n) }

// to goes to the token with index i, not beyond the end.
func (p *parser) to(i int) { p.i = min(i, len(p.toks)-1) }

// token returns the token with index i, the last one beyond the end.
func (p *parser) token(i int32) *token { return &p.toks[min(int(i), len(p.toks)-1)] }

// take steps over the words if all of them stand here.
func (p *parser) take(ws ...string) bool {
	if !p.seq(ws...) {
		return false
	}
	p.step(len(ws))
	return true
}

func (p *parser) takeOne(ws ...string) bool {
	for _, w := range ws {
		if p.take(w) {
			return true
		}
	}
	return false
}

func (p *parser) eat(c byte) bool {
	if p.toks[p.i].ch != c {
		return false
	}
	p.next()
	return true
}

func (p *parser) eatOp(s string) bool {
	if !p.op(s) {
		return false
	}
	p.next()
	return true
}

// ended tells whether the statement's text ends here.
func (p *parser) ended() bool {
	switch p.tok().kind {
	case tEnd, tSemi, tHard, tLine:
		return true
	}
	return false
}

// pos returns where the current token starts.
func (p *parser) pos() int32 { return p.toks[p.i].start }

// last returns where the token before the current one ends.
func (p *parser) last() int32 {
	if p.i == 0 {
		return 0
	}
	return p.toks[p.i-1].end
}

// from returns the span from start to the last token read. Where nothing was
// read since, it is empty and stands behind the token before.
func (p *parser) from(start int32) Span {
	last := p.last()
	return Span{min(start, last), last}
}

// since returns the text from start to the last token read.
func (p *parser) since(start int32) string {
	last := p.last()
	return p.text[min(start, last):last]
}

func (p *parser) warn(s Span, reason string) {
	if n := len(p.warnings); n == maxWarnings {
		p.warnings = append(p.warnings, Warning{Span: s, Reason: "there is more that was not understood"})
	}
	if !p.broken && len(p.warnings) < maxWarnings {
		p.warnings = append(p.warnings, Warning{Span: s, Reason: reason})
	}
}

// want steps over the closing bracket c, skipping what stands before it.
func (p *parser) want(open int, c byte) {
	if p.eat(c) {
		return
	}
	if p.broken {
		return
	}
	mate := int(p.toks[open].mate)
	if mate > p.i {
		p.warn(Span{p.pos(), p.toks[mate-1].end}, "not understood before the closing bracket: skipped")
		p.to(mate + 1)
		return
	}
	if mate == 0 {
		p.fail(Span{p.toks[open].start, p.toks[open].end}, "a bracket is not closed")
	}
}

// fail gives the rest of the statement up.
func (p *parser) fail(s Span, reason string) {
	if p.broken {
		return
	}
	p.warnings = append(p.warnings, Warning{Span: s, Reason: reason, Error: true})
	p.broken = true
	p.skipToEnd()
}

// skipToEnd goes to the delimiter of the statement.
func (p *parser) skipToEnd() {
	for !p.ended() {
		p.skip()
	}
}

// strayCommas skips commas that have nothing before them.
func (p *parser) strayCommas() {
	start := p.pos()
	for p.at(',') {
		p.next()
	}
	p.warn(p.from(start), "nothing stands before a comma: skipped")
}

// skip steps over one token, or a whole bracket.
func (p *parser) skip() {
	if m := int(p.tok().mate); m > p.i {
		p.i = m
	}
	p.next()
}

// skipTo skips up to a token with one of the classes, a closing bracket or the
// end, and warns of it.
func (p *parser) skipTo(c class, what string) {
	start := p.pos()
	if p.ended() || p.atCloser() {
		return
	}
	p.skip()
	for !p.ended() && !p.atCloser() && p.class()&c == 0 {
		p.skip()
	}
	p.warn(p.from(start), what+" was not understood: skipped")
}

func (p *parser) atCloser() bool {
	switch p.tok().ch {
	case ')', ']', '}':
		return true
	}
	return false
}

// enter counts a level of nesting; where it tells false, the statement is
// given up.
func (p *parser) enter() bool {
	p.depth++
	if p.depth > maxDepth {
		p.fail(Span{p.pos(), p.tok().end}, "nested deeper than 1000 levels")
		return false
	}
	return !p.broken
}

func (p *parser) leave() { p.depth-- }

// skipped steps over a bracket that opens with c; false where none does.
func (p *parser) skipped(c byte) bool {
	if !p.at(c) {
		return false
	}
	p.skip()
	return true
}

// group runs f inside the parentheses that open here.
func (p *parser) group(f func()) bool {
	open := p.i
	if !p.eat('(') {
		return false
	}
	f()
	p.want(open, ')')
	return true
}

// list runs f for the items of a comma list; a comma at its end is allowed.
func (p *parser) list(f func()) {
	for {
		if p.at(',') {
			p.strayCommas()
		}
		i := p.i
		f()
		if p.i == i && !p.at(',') {
			return
		}
		if !p.eat(',') {
			return
		}
		if p.atCloser() || p.ended() {
			return
		}
	}
}
