package standin

import "strings"

// The operations of expressions.
type op uint8

const (
	opLiteral op = iota
	opParam      // $name
	opInput      // $-.name
	opField      // args[0].name
	opIndex      // args[0][args[1]]
	opList       // [args…]
	opProp       // name.prop: of an edge type or a tag
	opSrc        // name._src
	opDst        // name._dst
	opRank       // name._rank
	opCall       // name(args) of what is walked: src(edge), id($$)
	opProps      // properties(edge).prop
	opEqual
	opUnequal
	opLess
	opLessEqual
	opMore
	opMoreEqual
	opIn
	opAnd
	opOr
	opNot
	opPlus
	opMinus
)

// An expr is an expression.
type expr struct {
	op    op
	name  string
	prop  string
	value value
	args  []*expr
}

var trueExpr, falseExpr = &expr{value: boolValue(true)}, &expr{value: boolValue(false)}

// expr reads an expression: OR binds least, then AND, NOT, comparisons, + and -.
func (p *parser) expr() *expr {
	e := p.and()
	for p.hasWord("OR") {
		e = &expr{op: opOr, args: []*expr{e, p.and()}}
	}
	return e
}

func (p *parser) and() *expr {
	e := p.not()
	for p.hasWord("AND") {
		e = &expr{op: opAnd, args: []*expr{e, p.not()}}
	}
	return e
}

func (p *parser) not() *expr {
	if p.hasWord("NOT") {
		return &expr{op: opNot, args: []*expr{p.not()}}
	}
	return p.comparison()
}

var comparisons = map[string]op{"==": opEqual, "!=": opUnequal, "<": opLess, "<=": opLessEqual, ">": opMore, ">=": opMoreEqual}

func (p *parser) comparison() *expr {
	e := p.sum()
	if p.is(markToken) {
		if o, ok := comparisons[p.token.text]; ok {
			p.advance()
			return &expr{op: o, args: []*expr{e, p.sum()}}
		}
	}
	if p.hasWord("IN") {
		return &expr{op: opIn, args: []*expr{e, p.sum()}}
	}
	return e
}

func (p *parser) sum() *expr {
	e := p.postfix()
	for {
		switch {
		case p.hasMark("+"):
			e = &expr{op: opPlus, args: []*expr{e, p.postfix()}}
		case p.hasMark("-"):
			e = &expr{op: opMinus, args: []*expr{e, p.postfix()}}
		default:
			return e
		}
	}
}

// postfix reads a value with what hangs on it: .name and [index].
func (p *parser) postfix() *expr {
	e := p.primary()
	for p.err == nil {
		switch {
		case p.hasMark("."):
			e = &expr{op: opField, name: p.name(), args: []*expr{e}}
		case p.hasMark("["):
			e = &expr{op: opIndex, args: []*expr{e, p.expr()}}
			p.mark("]")
		default:
			return e
		}
	}
	return e
}

func (p *parser) primary() *expr {
	t := p.token
	switch t.kind {
	case stringToken:
		p.advance()
		return &expr{value: stringValue(t.text)}
	case intToken:
		p.advance()
		return &expr{value: intValue(t.i)}
	case quotedWordToken:
		return p.property(p.name())
	case wordToken:
		return p.word(t)
	case markToken:
		return p.marked(t)
	}
	_ = p.fail()
	return nil
}

// word reads what begins with a word: a literal, a call, a property.
func (p *parser) word(t token) *expr {
	p.advance()
	switch strings.ToUpper(t.text) {
	case "TRUE":
		return trueExpr
	case "FALSE":
		return falseExpr
	case "NULL":
		return &expr{value: null}
	}
	if p.hasMark("(") {
		return p.call(strings.ToLower(t.text))
	}
	if reserved[strings.ToUpper(t.text)] {
		p.token = t
		_ = p.fail()
		return nil
	}
	return p.property(t.text)
}

// calls are the functions there are, with what they may be called with.
var calls = map[string][]string{"src": {"edge"}, "dst": {"edge"}, "rank": {"edge"}, "type": {"edge"}, "id": {"vertex", "$$", "$^"}, "properties": {"edge"}}

func (p *parser) call(name string) *expr {
	of := strings.ToLower(p.token.text)
	for _, allowed := range calls[name] {
		if of != allowed {
			continue
		}
		p.advance()
		p.mark(")")
		if name == "properties" {
			p.mark(".")
			return &expr{op: opProps, prop: p.name()}
		}
		return &expr{op: opCall, name: name + "(" + of + ")"}
	}
	_ = p.fail()
	return nil
}

// property reads name.prop, where the name is that of a tag or an edge type.
func (p *parser) property(name string) *expr {
	p.mark(".")
	e := &expr{op: opProp, name: name, prop: p.name()}
	switch e.prop {
	case "_src":
		e.op = opSrc
	case "_dst":
		e.op = opDst
	case "_rank":
		e.op = opRank
	}
	return e
}

// marked reads what begins with a mark.
func (p *parser) marked(t token) *expr {
	p.advance()
	switch {
	case t.text == "$-":
		p.mark(".")
		return &expr{op: opInput, name: p.name()}
	case len(t.text) > 1 && t.text[0] == '$' && (isLetter(t.text[1])):
		p.plan.params = append(p.plan.params, t.text[1:])
		return &expr{op: opParam, name: t.text[1:]}
	case t.text == "-":
		if i := p.token.i; p.is(intToken) {
			p.advance()
			return &expr{value: intValue(-i)}
		}
	case t.text == "(":
		e := p.expr()
		p.mark(")")
		return e
	case t.text == "[":
		e := &expr{op: opList}
		if !p.isMark("]") {
			p.list(func() { e.args = append(e.args, p.expr()) })
		}
		p.mark("]")
		return e
	}
	p.token = t
	_ = p.fail()
	return nil
}
