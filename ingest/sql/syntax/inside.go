package syntax

import "strings"

// inside reads the text of a string as statements, their spans those of the
// whole text.
func (p *parser) inside(t *token) []*Statement {
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
	inner := parser{text: p.text, d: p.d, toks: l.toks, depth: p.depth + 1, block: 1, doubled: l.doubled}
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
