package shop

import "strings"

// returns has the types of what functions return; that of others is the type
// of what they are given.
var returns = invert(map[string]string{
	"bigint":    "count approx_distinct row_number rank datediff date_diff",
	"int":       "year month hour",
	"date":      "to_date date date_sub date_add date_trunc",
	"string":    "sha2 lower upper concat date_format",
	"timestamp": "session_start session_end",
	"double":    "avg",
})

func invert(lists map[string]string) map[string]string {
	m := map[string]string{}
	for value, list := range lists {
		for key := range words(list) {
			m[key] = value
		}
	}
	return m
}

// typeOf guesses the type of an expression: well enough for what the text has.
func (s scope) typeOf(tokens []token) string {
	if r := s.ref(tokens); r != nil {
		return r.typ
	}
	if len(tokens) == 0 {
		return ""
	}
	depth := 0
	for _, t := range tokens {
		switch {
		case t.text == "(" || t.text == "case":
			depth++
		case t.text == ")" || t.text == "end":
			depth--
		case depth > 0:
		case strings.Contains("=<>", t.text) || t.text == "is" || t.text == "in":
			return "boolean"
		case t.text == "/":
			return "double"
		}
	}
	switch t := tokens[0]; {
	case t.kind == quoted:
		return "string"
	case t.kind == number:
		return "int"
	case t.text == "cast":
		in := inside(tokens[1:])
		for i, t := range in {
			if t.text == "as" {
				return joined(in[i+1:])
			}
		}
	case t.text == "case":
		return s.typeOfCase(tokens)
	case t.kind == word && len(tokens) > 1 && tokens[1].text == "(":
		if k := returns[t.text]; k != "" {
			return k
		}
		arguments := split(inside(tokens[1:]))
		if t.text == "if" {
			arguments = arguments[1:]
		}
		return s.typeOf(arguments[0])
	}
	return s.widest(tokens)
}

// typeOfCase is the type of the first branch of CASE that is not just a number.
func (s scope) typeOfCase(tokens []token) string {
	for i, t := range tokens[:len(tokens)-1] {
		if t.text != "then" && t.text != "else" {
			continue
		}
		switch first := tokens[i+1]; {
		case first.kind == quoted:
			return "string"
		case first.kind == number:
			continue
		}
		return s.widest(tokens[i+1:])
	}
	return "int"
}

// widest is the type of the first column with a fraction, or else of the first.
func (s scope) widest(tokens []token) string {
	first := ""
	for i := range tokens {
		r := s.ref(tokens[i : i+1])
		if r == nil {
			continue
		}
		if strings.HasPrefix(r.typ, "decimal") || r.typ == "double" {
			return r.typ
		}
		if first == "" {
			first = r.typ
		}
	}
	return first
}

func joined(tokens []token) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteString(t.text)
	}
	return b.String()
}
