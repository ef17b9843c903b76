package score

import "strings"

// answerable reports whether a case says enough to be answered: every table and
// column that it expects as a source stands in its text, its views or its
// schema. An engine that expands a view, a star or a nested type which the case
// does not give knows more than we are told. Of
// tables only the tables are asked.
func answerable(c *Case, tablesOnly bool) bool {
	var b strings.Builder
	b.WriteString(c.SQL)
	for n, v := range c.Views {
		b.WriteString(" " + n + " " + v)
	}
	text := fold(b.String())
	for _, t := range c.ExpectedTables.In {
		t = fold(t)
		if !containsWord(text, t[strings.LastIndexByte(t, '.')+1:]) {
			return false
		}
	}
	if tablesOnly {
		return true
	}
	for t, columns := range c.Schema {
		b.WriteString(" " + t + " " + strings.Join(columns, " "))
	}
	for k, v := range c.Defaults {
		b.WriteString(" " + k + " " + v)
	}
	text = fold(b.String())
	for _, p := range c.ExpectedColumns {
		for _, part := range strings.Split(fold(p[0]), ".") {
			if part != "*" && part != "?" && part != "__count__" && !containsWord(text, part) {
				return false
			}
		}
	}
	return true
}

// containsWord reports whether a word stands in a text, not as a part of
// another.
func containsWord(text, word string) bool {
	part := func(c byte) bool {
		return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || c >= 0x80
	}
	for at := 0; ; {
		i := strings.Index(text[at:], word)
		if i < 0 {
			return false
		}
		i += at
		end := i + len(word)
		if (i == 0 || !part(text[i-1])) && (end == len(text) || !part(text[end])) {
			return true
		}
		at = i + 1
	}
}
