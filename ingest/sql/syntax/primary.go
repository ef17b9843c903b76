package syntax

import "strings"

// primary reads an operand without its prefixes and postfixes.
func (p *parser) primary() Expr {
	t := p.tok()
	start := t.start
	switch t.kind {
	case tString:
		return p.str()
	case tNumber:
		p.next()
		return &Literal{Span: Span{start, t.end}, Kind: "NUMBER", Value: p.textOf(t)}
	case tVar:
		return p.variable()
	case tStage:
		p.next()
		return &Variable{Span: Span{start, t.end}, Name: p.textOf(t)}
	case tQuoted:
		return p.named()
	case tWord:
		c := p.d.classes[t.word]
		if c&formWord != 0 {
			if x := p.form(); x != nil {
				return x
			}
		}
		if c&noExpr != 0 && !(p.atAhead(1, '.') && p.ahead(2).start == p.ahead(1).end) && !p.callable() {
			break
		}
		return p.named()
	case tSym:
		if x := p.primarySymbol(t); x != nil {
			return x
		}
	}
	return p.missing()
}

// callable tells a word that is otherwise reserved but is a function here.
func (p *parser) callable() bool {
	if !p.atAhead(1, '(') {
		return false
	}
	switch p.word() {
	case "LEFT", "RIGHT", "LIKE", "USING", "IN":
		return p.word() != "IN" && p.word() != "USING"
	}
	return false
}

// missing stands for an expression where there is none.
func (p *parser) missing() Expr {
	t := p.tok()
	s := p.from(t.start)
	if p.ended() || p.atCloser() || p.at(',') || p.class()&(noExpr|clause) != 0 {
		p.warn(Span{t.start, t.end}, "an expression is missing")
		return &Skipped{s}
	}
	p.skip()
	s = p.from(t.start)
	p.warn(s, "not understood in an expression: skipped")
	return &Skipped{s}
}

func (p *parser) primarySymbol(t *token) Expr {
	start := t.start
	switch t.ch {
	case '(':
		return p.paren()
	case '[':
		return p.bracketArray("ARRAY")
	case '{':
		return p.braces()
	case '*':
		p.next()
		return p.star(start, nil)
	case '?':
		p.next()
		return &Variable{Span: Span{start, t.end}, Name: "?"}
	case ':':
		if n := p.ahead(1); n.kind == tNumber || n.start == t.end && (n.kind == tWord || n.kind == tQuoted || n.kind == tString) {
			p.step(2)
			if n := p.ahead(1); p.at(':') && n.kind == tWord && n.start == p.tok().end && p.last() == p.pos() { // its indicator
				p.step(2)
			}
			for p.at('.') && p.ahead(1).kind == tWord && p.ahead(1).start == p.tok().end { // :new.x
				p.step(2)
			}
			return &Variable{Span: p.from(start), Name: strings.TrimSpace(p.since(start + 1))}
		}
	case '%':
		if n := p.ahead(1); n.start == t.end && (n.wordIs(p.text, "S") || n.wordIs(p.text, "D")) {
			p.step(2)
			return &Variable{Span: p.from(start), Name: "%s"}
		}
		if p.atAhead(1, '(') && p.ahead(1).mate != 0 {
			p.to(int(p.ahead(1).mate) + 2)
			return &Variable{Span: p.from(start), Name: p.since(start)}
		}
	}
	return nil
}

// variable reads a tVar; where a dot or a parenthesis follows it is a name.
func (p *parser) variable() Expr {
	t := p.tok()
	if s := p.textOf(t); s[0] == '$' && p.d.DollarColumn || p.atAhead(1, '.') && s[0] != '@' && s[0] != '?' || p.atAhead(1, '(') && s[0] != '@' {
		return p.named()
	}
	p.next()
	return &Variable{Span: Span{t.start, t.end}, Name: p.textOf(t)}
}

// str reads a string and those that continue it.
func (p *parser) str() *Literal {
	t := p.tok()
	l := &Literal{Span: Span{t.start, t.end}, Kind: "STRING", Value: p.unquote(t)}
	q := p.text[t.end-1]
	p.next()
	for n := p.tok(); n.kind == tString && p.text[n.start] == q && q != '$'; n = p.tok() {
		l.Value += p.unquote(n)
		l.End = n.end
		p.next()
	}
	if p.is("UESCAPE") && p.ahead(1).kind == tString { // U&'…' UESCAPE '!'
		p.step(2)
		l.End = p.last()
	}
	return l
}

// named reads a name that is a column or, before a parenthesis, a function.
func (p *parser) named() Expr {
	start := p.pos()
	if p.is("APPROXIMATE") && p.ahead(1).kind == tWord && p.atAhead(2, '(') { // Redshift's
		p.next()
	}
	if p.is("NEW") && p.ahead(1).kind == tWord && (p.atAhead(2, '(') || p.atAhead(2, '.')) && p.d.classes[p.ahead(1).word]&(noExpr|clause) == 0 {
		p.next() // a constructor
	}
	n, star := p.path()
	if star {
		return p.star(start, n.Parts)
	}
	if p.at('(') {
		if p.outerMark() {
			p.step(3)
			n.Span = p.from(start)
			return &Ref{n}
		}
		if p.d.Phrases && (p.isAhead(1, "TITLE") || p.isAhead(1, "FORMAT") || p.isAhead(1, "NAMED")) {
			p.skip() // how Teradata shows it
			return &Ref{n}
		}
		return p.call(n)
	}
	if p.is("OVER") && (p.atAhead(1, '(') || p.identAhead(1) && p.d.classes[p.ahead(1).word]&(noAlias|noExpr) == 0) {
		return p.afterCall(start, &Call{Name: n, Func: funcName(n)}) // a measure of a window
	}
	if p.d.Lambda && p.op("->") && len(n.Parts) == 1 && (p.ahead(1).kind != tString || !p.d.ColonPath) {
		p.next()
		body := p.expr()
		return &Lambda{Span: p.from(start), Params: n.Parts, Body: body}
	}
	if p.d.Lambda && p.d.ColonPath && len(n.Parts) == 1 && p.tok().kind == tWord && p.typedLambda() { // Snowflake's x INT -> …
		p.typ()
		p.next()
		body := p.expr()
		return &Lambda{Span: p.from(start), Params: n.Parts, Body: body}
	}
	return &Ref{n}
}

// typedLambda tells a parameter's type and an arrow behind it.
func (p *parser) typedLambda() bool {
	n := 1
	if m := int(p.ahead(1).mate); p.atAhead(1, '(') && m > p.i {
		n = m - p.i + 1
	}
	t := p.ahead(n)
	return t.kind == tSym && p.textOf(t) == "->"
}

// outerMark tells Oracle's (+).
func (p *parser) outerMark() bool {
	return p.atAhead(1, '+') && p.atAhead(2, ')')
}

// path reads a dotted name; star tells that it ends in .*, which is read.
func (p *parser) path() (n Name, star bool) {
	start := p.pos()
	room := 1
	if p.atAhead(1, '.') {
		room = 2
	}
	n.Parts = append(make([]Ident, 0, room), p.ident())
	for p.at('.') {
		t := p.ahead(1)
		switch {
		case t.kind == tWord || t.kind == tQuoted || t.kind == tVar:
			p.next()
			n.Parts = append(n.Parts, p.ident())
		case t.kind == tNumber && t.start == p.tok().end:
			p.next()
			p.next()
			n.Parts = append(n.Parts, Ident{Span: Span{t.start, t.end}, Text: p.textOf(t)})
		case t.kind == tString && p.text[t.start] == '"':
			p.next()
			n.Parts = append(n.Parts, p.ident())
		case t.ch == '*':
			p.step(2)
			n.Span = Span{start, n.Parts[len(n.Parts)-1].End}
			return n, true
		case t.ch == '.' && p.ahead(2).kind == tWord: // db..t
			p.step(2)
			n.Parts = append(n.Parts, p.ident())
		default:
			n.Span = p.from(start)
			return n, false
		}
	}
	n.Span = p.from(start)
	return n, false
}

// ident reads the current token as an identifier, whatever it is.
func (p *parser) ident() Ident {
	t := p.tok()
	id := Ident{Span: Span{t.start, t.end}}
	switch t.kind {
	case tQuoted:
		id.Text, id.Quoted = p.unquote(t), true
	case tString:
		id.Text, id.Quoted = p.unquote(t), true
	case tEnd:
		id.End = id.Start
	default:
		id.Text = p.textOf(t)
	}
	p.next()
	return id
}

// name reads a dotted name.
func (p *parser) name() Name {
	start := p.pos()
	if !p.identAhead(0) {
		return Name{Span: p.from(start)}
	}
	n, star := p.path()
	if star {
		p.i -= 2
		n.Span = p.from(start)
	}
	return n
}

// identAhead tells whether the token n places on can be an identifier.
func (p *parser) identAhead(n int) bool {
	switch t := p.ahead(n); t.kind {
	case tWord, tQuoted, tVar:
		return true
	case tString: // MySQL with ANSI_QUOTES
		return p.text[t.start] == '"' && p.ahead(n+1).ch == '.'
	}
	return false
}

// paren reads what parentheses hold: a query, a row, a lambda's parameters, or
// an expression, of which they are no part.
func (p *parser) paren() Expr {
	open := p.i
	start := p.pos()
	outer := p.slice
	p.slice = false
	defer func() { p.slice = outer }()
	if m := int(p.tok().mate); m != 0 && m+1 < len(p.toks) && p.toks[m+1].kind == tSym && p.textOf(&p.toks[m+1]) == "->" && p.d.Lambda {
		if x := p.lambda(m); x != nil {
			return x
		}
	}
	if p.queryAt(p.i) {
		q := p.parenQuery()
		return &Sub{Span: p.from(start), Kind: "SCALAR", Query: q}
	}
	p.next()
	if p.eat(')') {
		return &List{Span: p.from(start), Kind: "ROW"}
	}
	x := p.item()
	if !p.at(',') && x.Alias.Text == "" {
		if p.broken {
			return x.Expr
		}
		p.want(open, ')')
		return x.Expr
	}
	l := &List{Kind: "ROW", Items: []SelectItem{x}}
	for p.eat(',') {
		if p.at(')') {
			break
		}
		l.Items = append(l.Items, p.item())
	}
	p.want(open, ')')
	l.Span = p.from(start)
	return l
}

// item reads an expression that AS may name.
func (p *parser) item() SelectItem {
	start := p.pos()
	x := SelectItem{Expr: p.expr()}
	if p.is("AS") && p.identAhead(1) {
		p.next()
		x.Alias = p.ident()
	}
	x.Span = p.from(start)
	return x
}

// lambda reads (x, y) -> e, the parenthesis closing at mate; nil where it
// holds more than names.
func (p *parser) lambda(mate int) Expr {
	start := p.pos()
	l := &Lambda{}
	for i := p.i + 1; i < mate; i++ {
		t := &p.toks[i]
		switch {
		case t.ch == ',':
		case t.kind == tWord:
			l.Params = append(l.Params, Ident{Span: Span{t.start, t.end}, Text: p.textOf(t)})
		case t.kind == tQuoted:
			l.Params = append(l.Params, Ident{Span: Span{t.start, t.end}, Text: p.unquote(t), Quoted: true})
		default:
			return nil
		}
	}
	p.to(mate + 2)
	l.Body = p.expr()
	l.Span = p.from(start)
	return l
}
