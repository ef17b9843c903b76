package syntax

import "strings"

// unquote returns what a quoted token means.
func (p *parser) unquote(t *token) string {
	s := p.textOf(t)
	quote := strings.IndexAny(s, "'\"`[$")
	if quote < 0 {
		return s
	}
	prefix, s := s[:quote], s[quote:]
	q := s[0]
	switch {
	case q == '$':
		n := strings.IndexByte(s[1:], '$') + 2
		if len(s) >= 2*n {
			return s[n : len(s)-n]
		}
		return s
	case q == '[':
		return strings.TrimSuffix(s[1:], "]")
	case p.d.TripleQuotes && len(s) >= 6 && s[1] == q && s[2] == q:
		return s[3 : len(s)-3]
	case len(prefix) > 0 && prefix[len(prefix)-1]|0x20 == 'q' && len(s) >= 4:
		return s[2 : len(s)-2]
	}
	if p.doubled && q == '\'' && len(s) >= 4 && s[1] == q {
		return s[2 : len(s)-2]
	}
	if len(s) < 2 || s[len(s)-1] != q {
		return s[1:]
	}
	s = s[1 : len(s)-1]
	backslash := p.d.Backslash && q != '`' && t.kind == tString
	if len(prefix) > 0 {
		switch prefix[len(prefix)-1] | 0x20 {
		case 'e':
			backslash = true
		case 'r', 'b':
			backslash = len(prefix) < 2 && backslash && prefix[0]|0x20 != 'r'
		}
	}
	doubled := strings.IndexByte(s, q) >= 0
	if !doubled && !(backslash && strings.IndexByte(s, '\\') >= 0) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == q && i+1 < len(s) && s[i+1] == q:
			b.WriteByte(q)
			i++
		case c == '\\' && backslash && i+1 < len(s):
			i++
			b.WriteString(unescape(s[i]))
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// unescape returns what a backslash before c means. LIKE's own escapes keep
// their backslash.
func unescape(c byte) string {
	switch c {
	case 'n':
		return "\n"
	case 't':
		return "\t"
	case 'r':
		return "\r"
	case '0':
		return "\x00"
	case 'b':
		return "\b"
	case 'Z':
		return "\x1a"
	case '%':
		return `\%`
	case '_':
		return `\_`
	}
	return string([]byte{c})
}
