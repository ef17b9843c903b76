package shop

import (
	"fmt"
	"slices"
	"strings"
)

// What the functions of the text are: the rest are plain.
var (
	aggregates = words("sum count min max avg max_by min_by approx_distinct")
	masks      = words("sha2 sha256 md5")
	// keywords are words in expressions that name no column.
	keywords = words(`and or not null is in like between case when then else end as distinct by order partition desc asc
		interval second minute hour day month year date timestamp true false rows unbounded preceding following
		current row current_date current_timestamp bigint int string double decimal varchar where from`)
)

func words(text string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(text) {
		set[w] = true
	}
	return set
}

// ref returns the column that tokens are, or nil where they are more.
func (s scope) ref(tokens []token) *result {
	if len(tokens) != 1 || tokens[0].kind != word {
		return nil
	}
	name, behind, ok := alias(tokens[0].text)
	if r := s[name]; ok && r != nil {
		return r.column(behind)
	}
	return nil
}

// sources returns the columns of tables that an expression names, and how it
// depends on each, given how what is asked for depends on the expression.
func (s scope) sources(tokens []token, k kinds) ([]source, error) {
	f := finder{scope: s}
	err := f.find(tokens, k)
	return f.found, err
}

// A finder collects what an expression names.
type finder struct {
	scope  scope
	masked bool
	found  []source
}

func (f *finder) find(tokens []token, k kinds) error {
	for i := 0; i < len(tokens); {
		t := tokens[i]
		n, err := 1, error(nil)
		switch {
		case t.text == "(":
			in := inside(tokens[i:])
			n, err = len(in)+2, f.find(in, k)
		case t.kind != word:
		case t.text == "case":
			n, err = f.cases(tokens[i:], k)
		case strings.Contains(t.text, "."):
			err = f.column(t.text, k)
		case i+1 < len(tokens) && tokens[i+1].text == "(" && !keywords[t.text]:
			n, err = f.call(tokens[i:], k)
		case !keywords[t.text]:
			err = fmt.Errorf("%s is neither a column behind its alias nor a word that is known", t.text)
		}
		if err != nil {
			return err
		}
		i += n
	}
	return nil
}

func (f *finder) column(text string, k kinds) error {
	name, behind, _ := alias(text)
	r := f.scope[name]
	if r == nil {
		return fmt.Errorf("%s: %s is no alias here", text, name)
	}
	c := r.column(behind)
	if c == nil {
		return fmt.Errorf("%s: there is no column %s", text, behind)
	}
	for _, s := range c.sources {
		s.kinds, s.masked = k.over(s.kinds), s.masked || f.masked
		f.found = addSource(f.found, s)
	}
	return nil
}

// call reads a function, its arguments, and OVER or FILTER behind them.
func (f *finder) call(tokens []token, k kinds) (int, error) {
	name, in := tokens[0].text, inside(tokens[1:])
	n := 1 + len(in) + 2
	inner := k.into(transformation)
	if aggregates[name] {
		inner = k.into(aggregation)
	}
	was := f.masked
	f.masked = was || masks[name]
	defer func() { f.masked = was }()
	if arguments := split(in); name == "if" && len(arguments) > 1 {
		if err := f.find(arguments[0], k.aside(conditional)); err != nil {
			return 0, err
		}
		in = in[len(arguments[0])+1:]
	}
	if err := f.find(in, inner); err != nil {
		return 0, err
	}
	for n+1 < len(tokens) && tokens[n+1].text == "(" {
		aside := window
		switch tokens[n].text {
		case "over":
		case "filter":
			aside = conditional
		default:
			return n, nil
		}
		in := inside(tokens[n+1:])
		if err := f.find(in, k.aside(aside)); err != nil {
			return 0, err
		}
		n += 1 + len(in) + 2
	}
	return n, nil
}

// cases reads CASE … END.
func (f *finder) cases(tokens []token, k kinds) (int, error) {
	depth, from, part := 0, 1, k.aside(conditional)
	for i, t := range tokens {
		switch {
		case t.text == "case":
			depth++
			continue
		case t.text == "end" && depth > 1:
			depth--
			continue
		case depth > 1 || !slices.Contains([]string{"when", "then", "else", "end"}, t.text):
			continue
		}
		if err := f.find(tokens[from:i], part); err != nil {
			return 0, err
		}
		from, part = i+1, k
		switch t.text {
		case "when":
			part = k.aside(conditional)
		case "end":
			return i + 1, nil
		}
	}
	return 0, fmt.Errorf("CASE without END")
}
