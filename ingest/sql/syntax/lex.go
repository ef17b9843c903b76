package syntax

import (
	"slices"
	"strings"
)

// A lexer cuts a text into tokens.
type lexer struct {
	text      string
	d         *Dialect
	toks      []token
	pos       int
	delimiter string // MySQL's DELIMITER, empty for the semicolon
	doubled   bool   // the text stands in a string: its quotes are doubled
	brackets  brackets
	faults    []Warning
	// searches says how many more times the end of what may be a template or a
	// dollar quote is looked for in vain: each time is a walk to the end of the
	// text.
	searches int
}

// find returns where sub stands in the text from pos on, as strings.Index does.
func (l *lexer) find(pos int, sub string) int {
	if l.searches <= 0 {
		return -1
	}
	n := strings.Index(l.text[pos:], sub)
	if n < 0 {
		l.searches--
	}
	return n
}

// lex returns the tokens of a text, a tEnd last, and what could not be read:
// quotes and comments that nothing closes.
func (l *lexer) lex() {
	l.searches = 64
	for l.pos < len(l.text) {
		if l.delimiter != "" && strings.HasPrefix(l.text[l.pos:], l.delimiter) {
			l.brackets.reset()
			l.emit(tHard, len(l.delimiter))
			continue
		}
		c := l.text[l.pos]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v' || c == 0:
			l.pos++
		case wordStart[c]:
			if c >= 0x80 {
				if n := unicodeSpace(l.text[l.pos:]); n > 0 {
					l.pos += n
					continue
				}
				if ch := wide(l.text[l.pos:]); ch != 0 {
					l.wide(ch)
					continue
				}
			}
			l.word()
		case c >= '0' && c <= '9':
			l.number()
		default:
			l.punctuation(c)
		}
	}
	l.pos = len(l.text)
	l.emit(tEnd, 0)
}

func (l *lexer) emit(k kind, n int) {
	if len(l.toks) == cap(l.toks) {
		l.toks = slices.Grow(l.toks, len(l.toks)+64) // append by itself copies a long list five times over
	}
	l.toks = append(l.toks, token{start: int32(l.pos), end: int32(l.pos + n), kind: k})
	l.pos += n
}

func (l *lexer) fault(start int, reason string) {
	l.faults = append(l.faults, Warning{Span: Span{int32(start), int32(len(l.text))}, Reason: reason, Error: true})
}

// peek returns the byte n places ahead, 0 beyond the end.
func (l *lexer) peek(n int) byte {
	if l.pos+n < len(l.text) {
		return l.text[l.pos+n]
	}
	return 0
}

// after tells whether the last token ends here, without space between.
func (l *lexer) after() *token {
	if n := len(l.toks); n > 0 && int(l.toks[n-1].end) == l.pos {
		return &l.toks[n-1]
	}
	return nil
}

// lineStart tells whether only white space stands before pos on its line.
func (l *lexer) lineStart() bool {
	for i := l.pos - 1; i >= 0; i-- {
		switch l.text[i] {
		case ' ', '\t', '\r':
		case '\n':
			return true
		default:
			return false
		}
	}
	return true
}

// lineEnd returns where the line of pos ends, its newline left out.
func (l *lexer) lineEnd() int {
	if n := strings.IndexByte(l.text[l.pos:], '\n'); n >= 0 {
		return l.pos + n
	}
	return len(l.text)
}

var wordStart, wordPart = wordBytes()

func wordBytes() (start, part [256]bool) {
	for c := range 256 {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80
		start[c] = letter
		part[c] = letter || c >= '0' && c <= '9' || c == '$'
	}
	return start, part
}

// unicodeSpace returns the length of a no-break or ideographic space, or of a
// byte order mark, at the beginning of s.
func unicodeSpace(s string) int {
	switch {
	case strings.HasPrefix(s, "\u00a0"):
		return 2
	case strings.HasPrefix(s, "\u3000"), strings.HasPrefix(s, "\ufeff"), strings.HasPrefix(s, "\u200b"):
		return 3
	}
	return 0
}

// wide returns the ASCII twin of full-width punctuation at the beginning of s,
// 0 where none stands there.
func wide(s string) byte {
	if len(s) < 3 || s[0] != 0xEF || s[1] != 0xBC {
		return 0
	}
	switch s[2] {
	case 0x88:
		return '('
	case 0x89:
		return ')'
	case 0x8C:
		return ','
	case 0x9B:
		return ';'
	}
	return 0
}

func (l *lexer) wide(ch byte) {
	if ch == ';' {
		l.brackets.reset()
		l.emit(tSemi, 3)
		return
	}
	l.emit(tSym, 3)
	l.toks[len(l.toks)-1].ch = ch
	if ch != ',' {
		l.brackets.add(l.toks, ch)
	}
}

// wordEnd returns where a word ends that goes on at i. Parts that a template
// fills in belong to it.
func (l *lexer) wordEnd(i int) int {
	for i < len(l.text) {
		c := l.text[i]
		switch {
		case l.delimiter != "" && c == l.delimiter[0] && strings.HasPrefix(l.text[i:], l.delimiter):
			return i
		case c == '$' && i+1 < len(l.text) && l.text[i+1] == '{':
			n := l.find(i, "}")
			if n < 0 {
				return i
			}
			i += n + 1
		case c == '$' && i+1 < len(l.text) && l.text[i+1] == '$' && l.d.Dollar:
			return i
		case wordPart[c]:
			if c >= 0x80 && (unicodeSpace(l.text[i:]) > 0 || wide(l.text[i:]) != 0) {
				return i
			}
			i++
		case c == '#' && l.d.HashWords:
			i++
		case c == '{' && i+1 < len(l.text) && l.text[i+1] == '{':
			n := l.find(i, "}}")
			if n < 0 {
				return i
			}
			i += n + 2
		default:
			return i
		}
	}
	return i
}

func (l *lexer) word() {
	end := l.wordEnd(l.pos)
	w := l.text[l.pos:end]
	if end < len(l.text) && (l.text[end] == '\'' || l.text[end] == '"' && l.d.DoubleQuoteString) && l.prefixed(w, end) {
		return
	}
	if len(w) == 1 && end+1 < len(l.text) && l.text[end] == '&' && l.text[end+1] == '\'' && w[0]|0x20 == 'u' {
		l.quoted(end+1, '\'', tString, false)
		return
	}
	if l.d.GoLines && len(w) == 2 && fold(w, "GO") && l.lineStart() && goLine(l.text[end:l.lineEnd()]) {
		l.brackets.reset()
		l.emit(tHard, 2)
		return
	}
	if l.d.Delimiters && len(w) == 9 && fold(w, "DELIMITER") && l.lineStart() {
		line := l.text[l.pos:l.lineEnd()]
		if l.delimiter = strings.TrimSpace(line[9:]); l.delimiter == ";" {
			l.delimiter = ""
		}
		l.brackets.reset()
		l.emit(tLine, len(strings.TrimRight(line, "\r \t")))
		return
	}
	id := vocabulary.find(w)
	l.emit(tWord, len(w))
	l.toks[len(l.toks)-1].word = id
}

// goLine tells whether the rest of GO's line is empty or a count.
func goLine(rest string) bool {
	return strings.Trim(rest, " \t\r0123456789;") == ""
}

// number reads a number, or an identifier that begins with a digit.
func (l *lexer) number() {
	i, digits := l.pos, func(i int) int {
		for i < len(l.text) && (l.text[i] >= '0' && l.text[i] <= '9' || l.text[i] == '_' && i+1 < len(l.text) && l.text[i+1] >= '0' && l.text[i+1] <= '9') {
			i++
		}
		return i
	}
	path := false
	if t := l.after(); t != nil && t.ch == '.' {
		path = true // t.1, t.1_a
	}
	if l.text[i] == '0' && i+1 < len(l.text) && (l.text[i+1]|0x20 == 'x') && !path {
		for i += 2; i < len(l.text) && wordPart[l.text[i]]; i++ {
		}
		l.emit(tNumber, i-l.pos)
		return
	}
	i = digits(i)
	if !path {
		if i < len(l.text) && l.text[i] == '.' && !(i+1 < len(l.text) && l.text[i+1] == '.') {
			i = digits(i + 1)
		}
		if i < len(l.text) && l.text[i]|0x20 == 'e' {
			j := i + 1
			if j < len(l.text) && (l.text[j] == '+' || l.text[j] == '-') {
				j++
			}
			if k := digits(j); k > j {
				i = k
			}
		}
	}
	if i < len(l.text) && (wordPart[l.text[i]] || l.text[i] == '{') {
		if end := l.wordEnd(i); end > i && unicodeSpace(l.text[i:]) == 0 {
			if !path && numberSuffix(l.text[i:end]) {
				l.emit(tNumber, end-l.pos)
				return
			}
			if (path || l.d.DigitWords) && strings.IndexByte(l.text[l.pos:i], '.') < 0 {
				l.emit(tWord, end-l.pos)
				return
			}
		}
	}
	l.emit(tNumber, i-l.pos)
}

// numberSuffix tells the letters that give a number its type or its unit.
func numberSuffix(s string) bool {
	switch len(s) {
	case 1:
		return strings.IndexByte("lLsSyYdDfFkKmMgGbB", s[0]) >= 0
	case 2:
		return fold(s, "BD")
	}
	return false
}
