package syntax

import "sync"

// pool keeps tokens between calls of Parse.
var pool = sync.Pool{New: func() any { return new(lexer) }}

// Parse reads a script. It never fails as a whole: what is not understood is
// named by the warnings of the statement that it stands in. A nil dialect is
// the generic one.
func Parse(text string, d *Dialect) *Script {
	if d == nil {
		d = dialects[0]
	}
	s := &Script{Text: text, Dialect: d}
	if len(text) > MaxText {
		s.Statements = []*Statement{{
			Body:     &Other{},
			Warnings: []Warning{{Reason: "the text is longer than 16 MiB", Error: true}},
		}}
		return s
	}
	l := pool.Get().(*lexer)
	defer pool.Put(l)
	l.text, l.d, l.pos, l.delimiter = text, d, 0, ""
	l.toks, l.faults = l.toks[:0], nil
	l.brackets.reset()
	l.lex()
	p := parser{text: text, d: d, toks: l.toks}
	for p.tok().kind != tEnd {
		if k := p.tok().kind; k == tSemi || k == tHard {
			p.next()
			continue
		}
		if st := p.guarded(); st != nil {
			s.Statements = append(s.Statements, st)
		}
	}
	s.work = p.work
	placeFaults(s, l.faults)
	if cap(l.toks) > 1<<20 {
		l.toks = nil
	}
	l.text = ""
	return s
}

// faulty is why a statement was not read where that is our own fault.
const faulty = "a fault of the parser"

// guarded reads one statement; a fault of ours costs that statement only.
func (p *parser) guarded() (st *Statement) {
	first := p.i
	defer func() {
		if recover() == nil {
			return
		}
		start := p.toks[first].start
		p.depth, p.block, p.handlers, p.broken, p.warnings = 0, 0, 0, false, nil
		for p.to(max(p.i, first+1)); p.tok().kind != tEnd && p.tok().kind != tSemi; {
			p.next()
		}
		at := p.from(start)
		st = &Statement{Span: at, Body: &Other{Span: at}, Warnings: []Warning{{Span: at, Reason: faulty, Error: true}}}
	}()
	return p.statement()
}

// Whole tells whether all of the statement was understood.
func (s *Statement) Whole() bool { return len(s.Warnings) == 0 }

// placeFaults gives what the lexer could not read to its statement.
func placeFaults(s *Script, faults []Warning) {
	for _, f := range faults {
		var at *Statement
		for _, st := range s.Statements {
			if st.Start <= f.Start || at == nil {
				at = st
			}
		}
		if at == nil {
			at = &Statement{Span: f.Span, Body: &Other{Span: f.Span}}
			s.Statements = append(s.Statements, at)
		}
		at.Warnings = append(at.Warnings, f)
	}
}

// statement reads one statement and goes to its delimiter; nil where there is
// nothing but what a template fills in.
func (p *parser) statement() *Statement {
	outer, broken := p.warnings, p.broken
	p.warnings, p.broken = nil, false
	defer func() { p.warnings, p.broken = outer, broken }()
	for p.tok().kind == tVar && p.templateOnly() {
		p.next()
		if p.ended() {
			return nil
		}
	}
	start := p.pos()
	first := p.i
	st := &Statement{}
	if p.tok().kind == tLine {
		p.next()
		o := &Other{Span: p.from(start), Verb: "CLIENT", Known: true}
		return &Statement{Span: o.Span, Body: o}
	}
	st.Body = p.body()
	if !p.ended() && !(p.block > 0 && p.blockEnd()) && !p.anotherFollows() {
		p.skipRest()
	}
	if p.i == first {
		p.next()
	}
	st.Span = p.from(start)
	st.Warnings = p.warnings
	return st
}

// templateOnly tells a template's call that stands for nothing: {{ config() }}
// before or instead of a statement.
func (p *parser) templateOnly() bool {
	t := p.tok()
	if p.text[t.start] != '{' {
		return false
	}
	next := p.ahead(1)
	return next.kind == tEnd || next.kind == tSemi || next.kind == tVar || next.ch == '(' || p.d.classes[next.word]&headWord != 0
}

// anotherFollows tells whether a statement begins here without a delimiter
// before it.
func (p *parser) anotherFollows() bool {
	if p.d.NoSemicolons && p.has(headWord) {
		return true
	}
	if p.freshHead() && !p.broken {
		p.warn(Span{p.pos(), p.tok().end}, "a delimiter is missing before this word")
		return true
	}
	return false
}

// skipRest skips what follows an understood statement, with a warning.
func (p *parser) skipRest() {
	start := p.pos()
	for !p.ended() && !(p.block > 0 && p.blockEnd()) {
		p.skip()
	}
	p.warn(p.from(start), "what stands at the end of the statement was not understood: skipped")
}
