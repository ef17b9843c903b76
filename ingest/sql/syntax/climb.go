package syntax

// Precedences of operators, loose to tight.
const (
	precAssign = iota + 1
	precOr
	precXor
	precAnd
	precNot
	precCompare
	precOther
	precConcat
	precAdd
	precMultiply
	precPower
	precCollate
	precArrow
)

// expr reads an expression. Where none stands here it warns and returns a
// *Skipped; it never returns nil.
func (p *parser) expr() Expr { return p.climb(precAssign) }

// climb reads an expression of operators that bind at least as tightly as that.
// Chains of one operator become one Op; the stack grows with nesting only.
func (p *parser) climb(least int) Expr {
	start := p.pos()
	if !p.enter() {
		p.leave()
		return &Skipped{p.from(start)}
	}
	left := p.prefix()
	if _, none := left.(*Skipped); none && left.Range().Start == left.Range().End {
		p.leave() // an operator without its left side is not read either
		return left
	}
	var chain *Op // left, where this loop made it: operands may be added
	for n := 0; !p.broken; n++ {
		name, prec, width := p.infix()
		if prec < least || width == 0 {
			break
		}
		if prec == precCompare {
			next := p.comparison(start, left, name, width)
			if next == nil {
				break
			}
			left, chain = next, nil
		} else {
			p.step(width)
			right := p.operand(name, prec)
			if name == "?:" { // ClickHouse's a ? b : c
				args := []Expr{left, right}
				if p.eat(':') {
					args = append(args, p.climb(prec))
				}
				left, chain = &Op{Span: p.from(start), Op: name, Args: args}, nil
				continue
			}
			if chain != nil && chain.Op == name && flat(name) {
				chain.Args = append(chain.Args, right)
				chain.Span = p.from(start)
				n--
				continue
			}
			chain = &Op{Span: p.from(start), Op: name, Args: []Expr{left, right}}
			left = chain
		}
		if n > maxChain {
			p.fail(p.from(start), "a chain of more than 5000 operators of several kinds")
		}
	}
	p.leave()
	return left
}

func (p *parser) operand(name string, prec int) Expr {
	switch name {
	case "AT TIME ZONE", "COLLATE":
		if name == "COLLATE" {
			return p.collation()
		}
	case "AT LOCAL":
		return &Literal{Span: p.from(p.last()), Kind: "NULL"}
	case "^", "**", ":=":
		return p.climb(prec)
	}
	return p.climb(prec + 1)
}

func (p *parser) collation() Expr {
	start := p.pos()
	if p.tok().kind == tString {
		return p.str()
	}
	n := p.name()
	n.Span = p.from(start)
	return &Ref{n}
}

// flat tells the operators whose chains are one Op.
func flat(op string) bool {
	switch op {
	case "AND", "OR", "+", "*", "||", "XOR":
		return true
	}
	return false
}

// infix returns the operator that stands here, its precedence and how many
// tokens it takes; no width where there is none.
func (p *parser) infix() (name string, prec, width int) {
	t := p.tok()
	switch t.kind {
	case tSym:
		if t.ch != 0 {
			return p.infixByte(t)
		}
		return p.infixBytes(p.textOf(t))
	case tWord:
		if p.d.classes[t.word]&infixWord != 0 {
			return p.infixWord(vocabulary.words[t.word])
		}
	}
	return "", 0, 0
}

func (p *parser) infixByte(t *token) (string, int, int) {
	switch t.ch {
	case '=':
		return "=", precCompare, 1
	case '!', '^':
		if p.atAhead(1, '=') { // with a space between, as Oracle allows
			return "<>", precCompare, 2
		}
		if t.ch == '!' {
			return "", 0, 0
		}
		if p.d.BitXor {
			return "^", precOther, 1
		}
		return "^", precPower, 1
	case '<':
		if p.atAhead(1, '=') {
			return "<=", precCompare, 2
		}
		if p.atAhead(1, '>') {
			return "<>", precCompare, 2
		}
		return "<", precCompare, 1
	case '>':
		if n := p.ahead(1); n.ch == '>' && n.start == t.end {
			if n2 := p.ahead(2); n2.ch == '>' && n2.start == n.end {
				return ">>>", precOther, 3
			}
			return ">>", precOther, 2
		}
		if p.atAhead(1, '=') {
			return ">=", precCompare, 2
		}
		return ">", precCompare, 1
	case '+':
		return "+", precAdd, 1
	case '-':
		return "-", precAdd, 1
	case '*':
		return "*", precMultiply, 1
	case '/':
		return "/", precMultiply, 1
	case '%':
		return "%", precMultiply, 1
	case '|':
		return "|", precOther, 1
	case '&':
		return "&", precOther, 1
	case '#':
		return "#", precOther, 1
	case '@':
		return "@", precOther, 1
	case '~':
		return "~", precCompare, 1
	case '?':
		if p.d.CustomOperators {
			return "?", precOther, 1
		}
		if p.d.Ternary {
			return "?:", precAssign, 1
		}
	}
	return "", 0, 0
}

func (p *parser) infixBytes(s string) (string, int, int) {
	switch s {
	case "==", "!=", "<>", "<=", ">=", "<=>", "^=", "~=", "!~", "~*", "!~*", "~~", "!~~", "~~*", "!~~*", "!>", "!<":
		return s, precCompare, 1
	case "||":
		return "||", precConcat, 1
	case "**":
		return "**", precPower, 1
	case "//":
		return "//", precMultiply, 1
	case "->", "->>", "#>", "#>>":
		return s, precArrow, 1
	case "&&":
		if p.d.AndAnd {
			return "AND", precAnd, 1
		}
		return "&&", precOther, 1
	case ":=", "+=", "-=", "*=", "/=", "%=":
		return s, precAssign, 1
	case "=>", "|>", "::", "..", ":>":
		return "", 0, 0
	}
	return s, precOther, 1
}

func (p *parser) infixWord(w string) (string, int, int) {
	switch w {
	case "AND", "OR", "XOR":
		return w, logicPrec(w), 1
	case "DIV", "MOD":
		return w, precMultiply, 1
	case "COLLATE":
		return w, precCollate, 1
	case "AT":
		if p.seq("AT", "TIME", "ZONE") {
			return "AT TIME ZONE", precCollate, 3
		}
		if p.seq("AT", "LOCAL") {
			return "AT LOCAL", precCollate, 2
		}
		return "", 0, 0
	case "OPERATOR":
		if p.atAhead(1, '(') && p.ahead(1).mate != 0 {
			return "OPERATOR", precOther, int(p.ahead(1).mate) - p.i + 1
		}
		return "", 0, 0
	case "MULTISET":
		if p.seq("MULTISET", "UNION") || p.seq("MULTISET", "EXCEPT") || p.seq("MULTISET", "INTERSECT") {
			if w := p.wordAhead(2); w == "ALL" || w == "DISTINCT" {
				return "MULTISET", precOther, 3
			}
			return "MULTISET", precOther, 2
		}
		return "", 0, 0
	}
	return w, precCompare, 1
}

func logicPrec(w string) int {
	switch w {
	case "AND":
		return precAnd
	case "OR":
		return precOr
	}
	return precXor
}

// prefix reads what stands before the operators: prefixes, a primary and its
// postfixes.
func (p *parser) prefix() Expr {
	start := p.pos()
	t := p.tok()
	switch t.kind {
	case tWord:
		if p.d.classes[t.word]&formWord != 0 {
			switch vocabulary.words[t.word] {
			case "NOT":
				if n := p.ahead(1); n.ch != '.' && n.ch != ',' {
					p.next()
					return p.unary(start, "NOT", precNot)
				}
			case "PRIOR", "CONNECT_BY_ROOT", "BINARY", "RUNNING", "FINAL", "UNIQUE", "DISTINCT", "ELEMENT":
				if n := p.ahead(1); n.kind == tWord && p.d.classes[n.word]&(noExpr|noAlias|infixWord) == 0 || n.kind == tQuoted || n.kind == tString || n.kind == tNumber || n.kind == tVar {
					w := p.word()
					p.next()
					return p.unary(start, w, precPower)
				}
			}
		}
	case tSym:
		switch t.ch {
		case '-', '+', '~', '!', '@':
			p.next()
			if t.ch == '!' {
				return p.unary(start, "NOT", precNot)
			}
			if t.ch == '+' && p.at(')') {
				break
			}
			return p.unary(start, string(t.ch), precPower)
		case 0:
			switch s := p.textOf(t); s {
			case "|/", "||/", "!!", "@@", "@-@", "**", "@>":
				p.next()
				return p.unary(start, s, precPower)
			}
		}
	}
	return p.postfix(start, p.primary())
}

func (p *parser) unary(start int32, name string, prec int) Expr {
	x := p.climb(prec)
	if l, ok := x.(*Literal); ok && l.Kind == "NUMBER" && name == "-" && l.Start == start+1 {
		l.Span, l.Value = p.from(start), "-"+l.Value
		return l
	}
	return &Op{Span: p.from(start), Op: name, Args: []Expr{x}}
}
