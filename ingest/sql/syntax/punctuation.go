package syntax

import "strings"

// punctuation reads what begins with none of letter, digit and space.
func (l *lexer) punctuation(c byte) {
	if (c == '-' || c == '/' || c == '#' || c == '{' || c == '*') && !(c == '#' && l.peek(1) == '{') && l.comment(c) {
		return
	}
	switch c {
	case '\'':
		l.quoted(l.pos, c, tString, l.d.Backslash)
	case '"':
		k := tQuoted
		if l.d.DoubleQuoteString {
			k = tString
		}
		l.quoted(l.pos, c, k, l.d.Backslash && k == tString)
	case '`':
		l.quoted(l.pos, c, tQuoted, false)
	case '[':
		if n := strings.IndexAny(l.text[l.pos:min(len(l.text), l.pos+maxBracketed)], "]\n;"); l.d.Brackets != BracketsNone && n > 1 && l.text[l.pos+n] == ']' && l.bracketed(l.text[l.pos+1:l.pos+n]) {
			l.emit(tQuoted, n+1)
			return
		}
		l.symbol(1)
	case ';':
		l.brackets.reset()
		if l.delimiter != "" {
			l.emit(tSemi, 1)
			return
		}
		l.emit(tSemi, 1)
	case '$':
		l.dollar()
	case '{':
		if l.peek(1) == '{' {
			l.template(l.text[l.pos:])
			return
		}
		l.symbol(1)
	case '#':
		l.hash()
	case '@':
		l.at()
	case '&':
		l.ampersand()
	case '\\':
		if l.lineStart() && wordStart[l.peek(1)] {
			l.emit(tLine, len(strings.TrimRight(l.text[l.pos:l.lineEnd()], "\r \t;")))
			return
		}
		l.symbol(1)
	case '.':
		if d := l.peek(1); d >= '0' && d <= '9' {
			if t := l.after(); t == nil || t.kind == tSym && t.ch != ')' && t.ch != ']' || t.kind == tNumber && !l.pathNumber() {
				l.number()
				return
			}
		}
		l.symbol(1)
	case '/':
		if l.d.SlashLines && len(l.brackets.open) == 0 && (l.pos == 0 || l.text[l.pos-1] == '\n') && strings.TrimSpace(l.text[l.pos:l.lineEnd()]) == "/" {
			l.brackets.reset()
			l.emit(tHard, 1)
			return
		}
		l.operator(c)
	case '(', ')', ']', '}', ',':
		l.symbol(1)
	default:
		l.operator(c)
	}
}

// maxBracketed is how long an identifier in brackets may be.
const maxBracketed = 300

// bracketed tells whether the bracket here quotes an identifier, not an array's
// elements.
func (l *lexer) bracketed(inner string) bool {
	if l.d.Brackets == BracketsAlways {
		return true
	}
	n := len(l.toks)
	if n == 0 || !wordStart[inner[0]] || strings.ContainsAny(inner, ",'\"([:") {
		return false
	}
	t := &l.toks[n-1]
	if t.kind == tSym {
		return t.ch != ']' && t.ch != ')'
	}
	return int(t.end) < l.pos && !(t.kind == tWord && fold(l.text[t.start:t.end], "ARRAY"))
}

// pathNumber tells whether the last token is a number of a path, as 1 in t.1.
func (l *lexer) pathNumber() bool {
	n := len(l.toks)
	return n > 1 && l.toks[n-2].ch == '.' && l.toks[n-2].end == l.toks[n-1].start
}

// symbol emits a tSym of n bytes and matches brackets.
func (l *lexer) symbol(n int) {
	c := l.text[l.pos]
	l.emit(tSym, n)
	if n > 1 {
		return
	}
	l.toks[len(l.toks)-1].ch = c
	switch c {
	case '(', ')', '[', ']', '{', '}':
		l.brackets.add(l.toks, c)
	}
}

// hash reads #{x}, a table #t, or an operator.
func (l *lexer) hash() {
	switch {
	case l.peek(1) == '{':
		l.template(l.text[l.pos:])
	case l.d.HashWords && (wordStart[l.peek(1)] || l.peek(1) == '#'):
		i := l.pos + 1
		if l.text[i] == '#' {
			i++
		}
		l.emit(tWord, l.wordEnd(i)-l.pos)
	default:
		l.operator('#')
	}
}

// ampersand reads SQL*Plus's &x and &&x, with the dot that may end its name, or
// an operator.
func (l *lexer) ampersand() {
	n := 1
	if l.peek(1) == '&' {
		n = 2
	}
	if t := l.after(); !l.d.SlashLines || !wordStart[l.peek(n)] || t != nil && t.kind != tSym {
		l.operator('&')
		return
	}
	end := l.wordEnd(l.pos + n)
	if strings.HasPrefix(l.text[end:], "..") {
		end++
	}
	l.emit(tVar, end-l.pos)
}

// at reads @x, @@x.y, @stage/path, or an operator.
func (l *lexer) at() {
	if l.d.Stages {
		if t := l.after(); t == nil || t.kind == tSym {
			i := l.pos + 1
			for i < len(l.text) && strings.IndexByte(" \t\r\n();,'", l.text[i]) < 0 {
				i++
			}
			if i > l.pos+1 {
				l.emit(tStage, i-l.pos)
				return
			}
		}
	}
	n := 1
	if l.peek(1) == '@' {
		n = 2
	}
	t := l.after()
	next := l.peek(n)
	if (t == nil || t.kind == tSym || t.kind == tNumber) && (wordStart[next] || n == 1 && (next == '`' || next == '\'' || next >= '0' && next <= '9')) {
		if next == '`' || next == '\'' {
			l.quoted(l.pos+n, next, tVar, false)
			return
		}
		end := l.wordEnd(l.pos + n)
		for n == 2 && end+1 < len(l.text) && l.text[end] == '.' && wordStart[l.text[end+1]] {
			end = l.wordEnd(end + 1)
		}
		l.emit(tVar, end-l.pos)
		return
	}
	l.operator('@')
}

// operators are those of more than one byte that dialects share, the longest
// first.
var operators = [...]string{
	"!~~*", "<<=", "<=>", "->>", "#>>", "!~~", "!~*", "~~*", "^@", "@-@", "-|-", "||/", "|/",
	"<=", "<>", "<@", "<<", "!=", "!~", "==", "=>", ":=", "::", "||", "|>", "->", "**", "//", "~~", "~*", "~=", "^=",
	"#>", "#-", "@>", "@@", "@?", "&&", "&<", "+=", "-=", "*=", "/=", "%=", "|=", "..", ":>",
}

// operator reads an operator: the longest known one; in PostgreSQL any run of
// operator characters.
func (l *lexer) operator(c byte) {
	rest := l.text[l.pos:]
	if l.d.CustomOperators && strings.IndexByte("+-*/<>=~!@#%^&|?", c) >= 0 {
		n := 1
		for n < len(rest) && strings.IndexByte("+-*/<>=~!@#%^&|?", rest[n]) >= 0 && !strings.HasPrefix(rest[n:], "--") && !strings.HasPrefix(rest[n:], "/*") {
			n++
		}
		for n > 1 && (rest[n-1] == '-' || rest[n-1] == '+') && !strings.ContainsAny(rest[:n], "~!@#%^&|?") {
			n--
		}
		if n > 1 && c == '>' && strings.Trim(rest[:n], ">") == "" {
			n = 1 // >> closes types as well
		}
		l.symbol(n)
		return
	}
	if len(rest) > 1 && strings.IndexByte("|=<>~*->/&?@.:|", rest[1]) >= 0 {
		for _, op := range operators {
			if op[0] == c && strings.HasPrefix(rest, op) {
				l.symbol(len(op))
				return
			}
		}
		if c == '>' && rest[1] == '=' {
			l.symbol(2)
			return
		}
	}
	l.symbol(1)
}
