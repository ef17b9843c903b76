package standin

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// The kinds of tokens.
type tokenKind uint8

const (
	endToken tokenKind = iota
	wordToken
	quotedWordToken // `word`
	stringToken
	intToken
	markToken // one of the marks, or $name
)

// A token is a piece of a statement. Of a string text is what it stands for.
type token struct {
	kind tokenKind
	text string
	i    int64
	at   int // where it begins
	end  int
}

// A lexer cuts a statement into tokens.
type lexer struct {
	text string
	at   int
}

// marks are those of more than one byte, longest first.
var marks = []string{"->", "==", "!=", "<=", ">=", "$-", "$$", "$^"}

func (l *lexer) next() (t token, err error) {
	for l.at < len(l.text) && strings.IndexByte(" \t\r\n", l.text[l.at]) >= 0 {
		l.at++
	}
	t = token{at: l.at}
	defer func() { t.end = l.at }()
	if l.at == len(l.text) {
		return t, nil
	}
	rest := l.text[l.at:]
	switch c := rest[0]; {
	case isLetter(c):
		n := 1
		for n < len(rest) && (isLetter(rest[n]) || isDigit(rest[n])) {
			n++
		}
		t.kind, t.text = wordToken, rest[:n]
		l.at += n
		return t, nil
	case isDigit(c):
		n := 1
		for n < len(rest) && isDigit(rest[n]) {
			n++
		}
		if n < len(rest) && (isLetter(rest[n]) || rest[n] == '.') {
			return t, l.near(l.at, l.at+n+1)
		}
		t.kind, t.text = intToken, rest[:n]
		if t.i, err = strconv.ParseInt(rest[:n], 10, 64); err != nil {
			return t, refuse(codeSyntax, "SyntaxError: Out of range: near `%s'", rest[:n])
		}
		l.at += n
		return t, nil
	case c == '"' || c == '\'':
		t.kind = stringToken
		t.text, err = l.quoted(c)
		return t, err
	case c == '`':
		n := strings.IndexByte(rest[1:], '`')
		if n < 1 {
			return t, l.near(l.at, l.at+1)
		}
		t.kind, t.text = quotedWordToken, rest[1:1+n]
		l.at += n + 2
		return t, nil
	}
	t.kind = markToken
	for _, m := range marks {
		if strings.HasPrefix(rest, m) {
			t.text = m
			l.at += len(m)
			return t, nil
		}
	}
	n := 1
	if rest[0] == '$' {
		for n < len(rest) && (isLetter(rest[n]) || isDigit(rest[n])) {
			n++
		}
		if n == 1 {
			return t, l.near(l.at, l.at+1)
		}
	} else if strings.IndexByte("()[]{},.:;|=<>+-*@", rest[0]) < 0 {
		return t, l.near(l.at, l.at+1)
	}
	t.text = rest[:n]
	l.at += n
	return t, nil
}

func isLetter(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// near is a syntax error at a piece of the text.
func (l *lexer) near(from, to int) error {
	return refuse(codeSyntax, "SyntaxError: syntax error near `%s'", l.text[from:min(to, len(l.text))])
}

// quoted reads a string up to its quote.
func (l *lexer) quoted(quote byte) (string, error) {
	start := l.at
	l.at++
	plain := l.at
	for l.at < len(l.text) && l.text[l.at] != quote && l.text[l.at] != '\\' && l.text[l.at] != '\n' && l.text[l.at] != 0 {
		l.at++
	}
	if l.at < len(l.text) && l.text[l.at] == quote {
		l.at++
		return l.text[plain : l.at-1], nil
	}
	b := []byte(l.text[plain:l.at])
	for l.at < len(l.text) {
		c := l.text[l.at]
		l.at++
		switch c {
		case quote:
			return string(b), nil
		case '\n', 0:
			// A NUL is worse with the real one: it destroys the text in silence.
			return "", l.near(start, l.at)
		case '\\':
			var err error
			if b, err = l.escape(b); err != nil {
				return "", err
			}
		default:
			b = append(b, c)
		}
	}
	return "", l.near(start, l.at)
}

var escapes = map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', 'b': '\b', 'f': '\f'}

// escape reads what stands behind a backslash.
func (l *lexer) escape(b []byte) ([]byte, error) {
	if l.at == len(l.text) {
		return b, l.near(l.at-1, l.at)
	}
	c := l.text[l.at]
	l.at++
	if e, ok := escapes[c]; ok {
		return append(b, e), nil
	}
	switch {
	case c == 'u' || c == 'x':
		if l.at+4 <= len(l.text) {
			if r, err := strconv.ParseUint(l.text[l.at:l.at+4], 16, 16); err == nil {
				l.at += 4
				return appendRune(b, rune(r)), nil
			}
		}
	case isDigit(c):
		n := 0
		start := l.at - 1
		l.at = start
		for l.at < len(l.text) && l.at < start+3 && '0' <= l.text[l.at] && l.text[l.at] <= '7' {
			n = n*8 + int(l.text[l.at]-'0')
			l.at++
		}
		if l.at == start || n > 255 {
			return b, l.near(start-1, l.at+1)
		}
		return append(b, byte(n)), nil
	}
	return append(b, c), nil
}

// appendRune also makes the three bytes of half a surrogate pair.
func appendRune(b []byte, r rune) []byte {
	if 0xd800 <= r && r < 0xe000 {
		return append(b, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0x3f, 0x80|byte(r)&0x3f)
	}
	return utf8.AppendRune(b, r)
}

// reserved are the words that are no names unless they stand in back quotes.
var reserved = words(`ACROSS ADD ALTER AND AS ASC ASCENDING BALANCE BOOL BY CASE CHANGE COMPACT CREATE DATE DATETIME
	DELETE DESC DESCENDING DESCRIBE DISTINCT DOUBLE DOWNLOAD DROP DURATION EDGE EDGES EXISTS EXPLAIN FALSE FETCH FIND
	FIXED_STRING FLOAT FLUSH FROM GEOGRAPHY GET GO GRANT IF IGNORE_EXISTED_INDEX IN INDEX INDEXES INGEST INSERT INT INT16
	INT32 INT64 INT8 INTERSECT IS JOIN LEFT LIST LOOKUP MAP MATCH MINUS NO NOT NOT_IN NULL OF ON OR ORDER OVER OVERWRITE
	PROP REBUILD RECOVER REMOVE RESTART RETURN REVERSELY REVOKE SET SHOW STEP STEPS STOP STRING SUBMIT TAG TAGS TIME
	TIMESTAMP TO TRUE UNION UNIQUE UNWIND UPDATE UPSERT UPTO USE VERTEX VERTICES WHEN WHERE WITH XOR YIELD`)

func words(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}
