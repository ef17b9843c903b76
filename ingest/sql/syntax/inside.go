package syntax

import "strings"

// inside reads the text of a string as statements, their spans those of the
// whole text.
func (p *parser) inside(t *token) []*Statement {
	inner := p.within(t)
	if inner == nil {
		return nil
	}
	var b Block
	for inner.tok().kind != tEnd {
		if inner.i > 0 || inner.tok().kind == tSemi || inner.tok().kind == tHard {
			if k := inner.tok().kind; k == tSemi || k == tHard {
				inner.i++
				continue
			}
		}
		i := inner.i
		if st := inner.statement(); st != nil {
			b.Statements = append(b.Statements, st)
		}
		if inner.i == i {
			inner.next()
		}
	}
	p.work += inner.work
	return b.Statements
}

// within is a parser of the text of a string; nil where it has none, or none
// that can be read.
func (p *parser) within(t *token) *parser {
	s := p.textOf(t)
	quote := strings.IndexAny(s, "'\"$")
	if quote < 0 || p.depth > 50 {
		return nil
	}
	from, to := int(t.start)+quote+1, int(t.end)-1
	if s[quote] == '$' {
		n := strings.IndexByte(s[quote+1:], '$') + 2
		from, to = int(t.start)+quote+n, int(t.end)-n
	}
	if to <= from {
		return nil
	}
	l := lexer{text: p.text[:to], d: p.d, pos: from, doubled: s[quote] == '\''}
	l.lex()
	if len(l.faults) > 0 {
		p.warnings = append(p.warnings, l.faults[0])
		return nil
	}
	return &parser{text: p.text, d: p.d, toks: l.toks, depth: p.depth + 1, block: 1, doubled: l.doubled}
}

// insideExpr reads the text of a string as one expression; nil where it begins
// as a statement does, or is more than that.
func (p *parser) insideExpr(t *token) Expr {
	n := len(p.warnings)
	inner := p.within(t)
	p.warnings = p.warnings[:n]
	if inner == nil || inner.has(headWord) {
		return nil
	}
	e := inner.expr()
	p.work += inner.work
	if inner.tok().kind != tEnd || len(inner.warnings) > 0 || inner.broken {
		return nil
	}
	return e
}

// quotedQuery reads a string that holds a query, nil where it holds none.
func (p *parser) quotedQuery() *Query {
	t := p.tok()
	p.next()
	if sts := p.inside(t); len(sts) == 1 {
		if q, ok := sts[0].Body.(*QueryStatement); ok {
			return q.Query
		}
	}
	p.warn(Span{t.start, t.end}, "a string that holds no query")
	return nil
}
