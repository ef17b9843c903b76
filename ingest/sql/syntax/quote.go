package syntax

import "strings"

// prefixed reads a string that a prefix of letters begins: N'…', E'…', r"…",
// _utf8'…'. It tells whether w is such a prefix.
func (l *lexer) prefixed(w string, quote int) bool {
	backslash := l.d.Backslash
	switch len(w) {
	case 1:
		switch w[0] | 0x20 {
		case 'n', 'x', 'b', 'q':
		case 'e':
			backslash = true
		case 'r':
			backslash = false
		default:
			return false
		}
		if w[0]|0x20 == 'q' {
			return l.text[quote] == '\'' && l.alternative(quote)
		}
	case 2:
		if !fold(w, "RB") && !fold(w, "BR") && !fold(w, "NQ") {
			return false
		}
		backslash = false
	default:
		if w[0] != '_' || !l.d.Delimiters {
			return false
		}
	}
	l.quoted(quote, l.text[quote], tString, backslash)
	return true
}

// alternative reads Oracle's q'[…]'.
func (l *lexer) alternative(quote int) bool {
	if quote+2 >= len(l.text) {
		return false
	}
	end := l.text[quote+1]
	switch end {
	case '[':
		end = ']'
	case '(':
		end = ')'
	case '{':
		end = '}'
	case '<':
		end = '>'
	}
	n := l.find(quote+2, string(end)+"'")
	if n < 0 {
		return false
	}
	l.emit(tString, quote+2+n+2-l.pos)
	return true
}

// quoted emits a token from pos to the quote that closes the one at quote. A
// doubled quote stands for itself.
func (l *lexer) quoted(quote int, q byte, k kind, backslash bool) {
	i := quote + 1
	if l.doubled && q == '\'' && quote+1 < len(l.text) && l.text[quote+1] == q {
		l.quotedTwice(quote, k)
		return
	}
	if l.d.TripleQuotes && q != '`' && strings.HasPrefix(l.text[quote:], triple(q)) {
		n := strings.Index(l.text[quote+3:], triple(q))
		if n < 0 {
			l.unclosed(k)
			return
		}
		l.emit(k, quote+3+n+3-l.pos)
		return
	}
	for i < len(l.text) {
		switch c := l.text[i]; {
		case c == '\\' && backslash:
			i += 2
			continue
		case c == q:
			if i+1 < len(l.text) && l.text[i+1] == q {
				i += 2
				continue
			}
			l.emit(k, i+1-l.pos)
			return
		}
		i++
	}
	l.unclosed(k)
}

// quotedTwice emits a string whose quotes are doubled, since it stands in a
// string itself.
func (l *lexer) quotedTwice(quote int, k kind) {
	for i := quote + 2; ; {
		n := strings.Index(l.text[i:], "''")
		if n < 0 {
			l.unclosed(k)
			return
		}
		i += n + 2
		if strings.HasPrefix(l.text[i:], "''") {
			i += 2
			continue
		}
		l.emit(k, i-l.pos)
		return
	}
}

func triple(q byte) string {
	if q == '\'' {
		return "'''"
	}
	return `"""`
}

func (l *lexer) unclosed(k kind) {
	l.fault(l.pos, "a quote is not closed")
	l.emit(k, len(l.text)-l.pos)
}

// dollar reads $$…$$, $tag$…$tag$, $1, $name, ${name}.
func (l *lexer) dollar() {
	rest := l.text[l.pos:]
	if strings.HasPrefix(rest, "${") {
		l.template(rest)
		return
	}
	n := 1
	for n < len(rest) && wordPart[rest[n]] && rest[n] != '$' {
		n++
	}
	if n < len(rest) && rest[n] == '$' && l.d.Dollar {
		if end := l.find(l.pos+n+1, rest[:n+1]); end >= 0 {
			l.emit(tString, n+1+end+n+1)
			return
		}
	}
	if n > 1 && n < len(rest) && rest[n] == '$' && !l.d.Dollar { // iBATIS's $x$
		l.emit(tVar, n+1)
		return
	}
	if n == 1 {
		l.symbol(1)
		return
	}
	l.emit(tVar, n)
}

// template reads what a template fills in, ${…} or {{ … }} or #{…}; a word
// goes on after it where nothing stands between.
func (l *lexer) template(rest string) {
	var n int
	if rest[0] == '{' {
		n = l.find(l.pos, "}}") + 2
	} else {
		n = strings.IndexByte(rest, '}') + 1
	}
	if n < 2 || rest[0] == '{' && n < 4 {
		if rest[0] == '{' {
			l.symbol(1)
			return
		}
		l.fault(l.pos, "a template's brace is not closed")
		l.pos = len(l.text)
		return
	}
	end := l.wordEnd(l.pos + n)
	if end == l.pos+n {
		l.emit(tVar, n)
		return
	}
	l.emit(tWord, end-l.pos)
}

// comment skips a comment, or a block of a template, that begins at pos; it
// tells whether there was one.
func (l *lexer) comment(c byte) bool {
	switch {
	case c == '-' && l.peek(1) == '-':
		if l.d.Delimiters && l.peek(2) > ' ' && l.peek(2) != '-' && l.after() != nil {
			return false // MySQL's 5--1
		}
		l.pos = l.lineEnd()
	case c == '#' && (l.d.HashComment && !(l.d.HashWords && wordStart[l.peek(1)]) || l.peek(1) == '!' && l.pos == 0):
		l.pos = l.lineEnd()
	case c == '/' && l.peek(1) == '/' && l.d.SlashComment:
		l.pos = l.lineEnd()
	case c == '/' && l.peek(1) == '*':
		if l.d.Delimiters && l.peek(2) == '!' {
			l.pos += 3 // MySQL's own code: its closing */ is skipped alone
			for c := l.peek(0); c >= '0' && c <= '9'; c = l.peek(0) {
				l.pos++
			}
			return true
		}
		l.block()
	case c == '*' && l.peek(1) == '/' && l.d.Delimiters:
		l.pos += 2
	case c == '{' && (l.peek(1) == '%' || l.peek(1) == '#'):
		n := l.find(l.pos+2, string(l.peek(1))+"}")
		if n < 0 {
			return false
		}
		l.pos += n + 4
	default:
		return false
	}
	return true
}

func (l *lexer) block() {
	start, depth := l.pos, 0
	for l.pos < len(l.text) {
		n := strings.IndexAny(l.text[l.pos:], "/*")
		if n < 0 {
			break
		}
		l.pos += n
		switch {
		case l.text[l.pos] == '/' && l.peek(1) == '*' && (depth == 0 || l.d.NestedComment):
			depth++
			l.pos += 2
		case l.text[l.pos] == '*' && l.peek(1) == '/':
			depth--
			l.pos += 2
			if depth == 0 {
				return
			}
		default:
			l.pos++
		}
	}
	l.fault(start, "a comment is not closed")
	l.pos = len(l.text)
}
