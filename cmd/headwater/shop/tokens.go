package shop

import (
	"fmt"
	"slices"
	"strings"
)

// A token is a piece of SQL: sql[at:end].
type token struct {
	kind    tokenKind
	text    string
	at, end int
}

type tokenKind uint8

const (
	mark tokenKind = iota
	word
	number
	quoted
)

// tokenize cuts SQL into tokens. A word goes on over dots: alias.column.
func tokenize(sql string) []token {
	var list []token
	for at := 0; at < len(sql); {
		c := sql[at]
		end := at + 1
		kind := mark
		switch {
		case c == ' ' || c == '\n':
			at++
			continue
		case c == '\'':
			kind = quoted
			for end < len(sql) && sql[end] != '\'' {
				end++
			}
			end = min(end+1, len(sql))
		case wordByte(c):
			kind = word
			if c >= '0' && c <= '9' {
				kind = number
			}
			for end < len(sql) && (wordByte(sql[end]) || sql[end] == '.') {
				end++
			}
		}
		list = append(list, token{kind, sql[at:end], at, end})
		at = end
	}
	return list
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// peek returns the next token; the zero token at the end.
func (q *query) peek() token {
	if q.next < len(q.tokens) {
		return q.tokens[q.next]
	}
	return token{}
}

// take reads a token if its text is this.
func (q *query) take(text string) bool {
	if q.peek().text != text {
		return false
	}
	q.next++
	return true
}

func (q *query) word() (string, error) {
	t := q.peek()
	if t.kind != word {
		return "", q.wants("a name")
	}
	q.next++
	return t.text, nil
}

func (q *query) wants(what string) error {
	if t := q.peek(); t.text != "" {
		return fmt.Errorf("%s stands where %s should", t.text, what)
	}
	return fmt.Errorf("it ends where %s should stand", what)
}

// expression reads tokens up to a clause, or the parenthesis that closes what
// the expression stands in.
func (q *query) expression() []token {
	from, depth := q.next, 0
	for ; q.next < len(q.tokens); q.next++ {
		switch t := q.tokens[q.next]; {
		case t.text == "(":
			depth++
		case t.text == ")" && depth == 0:
			return q.tokens[from:q.next]
		case t.text == ")":
			depth--
		case depth == 0 && t.kind == word && slices.Contains(clauses, t.text):
			return q.tokens[from:q.next]
		}
	}
	return q.tokens[from:]
}

// inside returns what stands in the parentheses that open at tokens[0].
func inside(tokens []token) []token {
	depth := 0
	for i, t := range tokens {
		switch t.text {
		case "(":
			depth++
		case ")":
			if depth--; depth == 0 {
				return tokens[1:i]
			}
		}
	}
	return tokens[min(1, len(tokens)):]
}

// split cuts tokens at the commas outside of parentheses.
func split(tokens []token) [][]token {
	var parts [][]token
	from, depth := 0, 0
	for i, t := range tokens {
		switch t.text {
		case "(":
			depth++
		case ")":
			depth--
		case ",":
			if depth == 0 {
				parts, from = append(parts, tokens[from:i]), i+1
			}
		}
	}
	return append(parts, tokens[from:])
}

// alias cuts a word into what stands before and behind its dot.
func alias(text string) (before, behind string, ok bool) { return strings.Cut(text, ".") }
