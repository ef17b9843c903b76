package standin

import (
	"strings"
	"sync"

	"github.com/vesoft-inc/nebula-go/v3/nebula"
)

// A plan is a text that was understood: statements, which are clauses with
// pipes between them. Plans do not change, and are kept.
type plan struct {
	statements [][]clause
	// params are the parameters that it needs.
	params []string
	// writes: it changes records. counted: faults may happen to it.
	writes, counted bool
}

// A clause is one of the types of clauses, such as *goClause.
type clause any

// check says whether the parameters are there.
func (p *plan) check(params map[string]*nebula.Value) error {
	for _, name := range p.params {
		if params[name] == nil {
			return refuse(codeSyntax, "SyntaxError: Direct output of variable is prohibited near `$%s'", name)
		}
	}
	return nil
}

// plans keeps the plans of short statements: reads differ in parameters.
type plans struct {
	mu    sync.Mutex // guards plans
	plans map[string]*plan
}

const (
	keepPlans = 4096
	longText  = 1024
	// maxText is max_allowed_query_size.
	maxText = 4 << 20
	// maxStatements is max_allowed_statements, and how deep a plan may be.
	maxStatements = 512
)

func (c *plans) parse(text string) (*plan, error) {
	if len(text) > longText {
		return parse(text)
	}
	c.mu.Lock()
	p := c.plans[text]
	c.mu.Unlock()
	if p != nil {
		return p, nil
	}
	p, err := parse(text)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.plans == nil || len(c.plans) >= keepPlans {
		c.plans = map[string]*plan{}
	}
	c.plans[text] = p
	return p, nil
}

// parse understands a statement, or refuses it.
func parse(text string) (*plan, error) {
	if len(text) > maxText {
		return nil, refuse(codeSyntax, "SyntaxError: Query is too large (%d > %d).", len(text), maxText)
	}
	p := &parser{lexer: lexer{text: text}, plan: &plan{counted: true}}
	p.advance()
	if p.err == nil && p.is(endToken) {
		return nil, refuse(codeEmpty, "StatementEmpty: ")
	}
	for {
		p.plan.statements = append(p.plan.statements, p.statement())
		if p.err != nil {
			return nil, p.err
		}
		if p.hasMark(";"); p.is(endToken) {
			break
		}
	}
	if n := len(p.plan.statements); n > maxStatements {
		return nil, refuse(codeSemantic, "SemanticError: The maximum number of statements allowed has been exceeded")
	} else if n == maxStatements {
		return nil, refuse(codeExecution, "Error found in optimization stage: The depth of plan tree has exceeded the max %d level", maxStatements)
	} else if n > 1 {
		p.plan.counted = true
	}
	return p.plan, nil
}

// statement reads clauses up to the end or a semicolon.
func (p *parser) statement() (clauses []clause) {
	for piped := false; ; piped = true {
		c := p.clause(piped)
		if p.err != nil {
			return nil
		}
		clauses = append(clauses, c)
		if p.is(endToken) || p.isMark(";") {
			return clauses
		}
		switch c.(type) {
		case *unwindClause, *yieldClause, *goClause, *fetchClause, *limitClause, *orderClause:
		default:
			_ = p.fail()
		}
		p.mark("|")
	}
}

// A parser reads clauses. After the first error it stays where it is.
type parser struct {
	lexer
	token token
	err   error
	plan  *plan
}

func (p *parser) advance() {
	if p.err == nil {
		p.token, p.err = p.next()
	}
}

// fail notes that the token is not wanted.
func (p *parser) fail() error {
	if p.err == nil {
		p.err = p.near(p.token.at, p.token.end)
	}
	p.token = token{}
	return p.err
}

func (p *parser) is(k tokenKind) bool { return p.token.kind == k }

func (p *parser) isWord(word string) bool {
	return p.token.kind == wordToken && strings.EqualFold(p.token.text, word)
}

func (p *parser) isMark(mark string) bool {
	return p.token.kind == markToken && p.token.text == mark
}

// hasWord and hasMark take the token if it is the one.
func (p *parser) hasWord(word string) bool {
	if !p.isWord(word) {
		return false
	}
	p.advance()
	return true
}

func (p *parser) hasMark(mark string) bool {
	if !p.isMark(mark) {
		return false
	}
	p.advance()
	return true
}

// words and mark take tokens that have to be there.
func (p *parser) words(words ...string) {
	for _, w := range words {
		if !p.hasWord(w) {
			_ = p.fail()
		}
	}
}

func (p *parser) mark(mark string) {
	if !p.hasMark(mark) {
		_ = p.fail()
	}
}

// name takes a name: of a space, a tag, a column.
func (p *parser) name() string {
	name := p.token.text
	if !p.is(quotedWordToken) && (!p.is(wordToken) || reserved[strings.ToUpper(name)]) {
		_ = p.fail()
		return ""
	}
	p.advance()
	return name
}

func (p *parser) int() int64 {
	negative := p.hasMark("-")
	i := p.token.i
	if !p.is(intToken) {
		_ = p.fail()
		return 0
	}
	p.advance()
	if negative {
		return -i
	}
	return i
}

// list reads one thing after another, with commas between.
func (p *parser) list(one func()) {
	for one(); p.err == nil && p.hasMark(","); {
		one()
	}
}

func (p *parser) names() (names []string) {
	p.list(func() { names = append(names, p.name()) })
	return names
}

// vid takes the id of a vertex: a literal.
func (p *parser) vid() string {
	if p.is(markToken) && strings.HasPrefix(p.token.text, "$") {
		if p.err == nil {
			p.err = refuse(codeSyntax, "SyntaxError: Parameter is not supported in vid near `%s'", p.token.text)
		}
		p.token = token{}
		return ""
	}
	s := p.token.text
	if !p.is(stringToken) {
		_ = p.fail()
	}
	p.advance()
	return s
}

func (p *parser) clause(piped bool) clause {
	first := strings.ToUpper(p.token.text)
	if !p.is(wordToken) {
		first = ""
	}
	if piped {
		switch first {
		case "GO", "FETCH", "YIELD", "LIMIT", "ORDER", "DELETE":
		default:
			_ = p.fail()
			return nil
		}
	}
	p.advance()
	switch first {
	case "UNWIND":
		c := &unwindClause{list: p.expr()}
		p.words("AS")
		c.as = p.name()
		return c
	case "YIELD":
		return &yieldClause{yields: p.yields()}
	case "GO":
		return p.goClause(piped)
	case "FETCH":
		return p.fetch(piped)
	case "LIMIT":
		return p.limit(piped)
	case "ORDER":
		return p.order()
	case "INSERT":
		p.plan.writes = true
		return p.insert()
	case "DELETE":
		p.plan.writes = true
		return p.delete(piped)
	case "USE":
		p.plan.counted = false
		return &useClause{p.name()}
	case "KILL":
		p.plan.counted = false
		p.words("SESSION")
		return &killClause{p.int()}
	case "CREATE":
		return p.create()
	case "DROP":
		p.words("SPACE")
		c := &dropClause{}
		if p.hasWord("IF") {
			p.words("EXISTS")
			c.ifExists = true
		}
		c.space = p.name()
		return c
	case "ALTER":
		return p.alter()
	case "DESC", "DESCRIBE":
		c := &descClause{kind: strings.ToUpper(p.token.text)}
		switch {
		case p.hasWord("SPACE"), p.hasWord("TAG"), p.hasWord("EDGE"):
		default:
			_ = p.fail()
		}
		c.name = p.name()
		return c
	}
	p.token.at = max(p.token.at-1, 0)
	p.err = firstErr(p.err, refuse(codeSyntax, "SyntaxError: syntax error near `%s'", first))
	return nil
}

func firstErr(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
