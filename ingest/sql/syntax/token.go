package syntax

// A kind says what a token is.
type kind uint8

const (
	tEnd    kind = iota // the end of the text
	tWord               // a keyword or an identifier without quotes, perhaps with template parts in it
	tQuoted             // an identifier in quotes
	tString             // a string, its prefix included
	tNumber             // a number
	tVar                // a variable or what a template fills in: ${x}, {{ x }}, @x, $1, #{x}
	tStage              // a stage with its path: @stage/path
	tSym                // an operator or punctuation
	tSemi               // a semicolon
	tHard               // a delimiter that no statement holds: a DELIMITER's, GO, a lone slash
	tLine               // a line for the client: \copy …, DELIMITER …
)

// A token is a range of the text that is one word of it. Comments and white
// space are no tokens.
type token struct {
	start, end int32
	mate       int32  // of an opening bracket, the index of its closing one; 0 where there is none
	word       uint16 // index into words, 0 where it is no keyword
	kind       kind
	ch         byte // of a tSym of one byte, that byte
}

// MaxText is the longest text that Parse reads, in bytes.
const MaxText = 16 << 20

// A brackets matches brackets while tokens are made. A semicolon forgets what
// is open, so that a parenthesis left open spoils its own statement only.
type brackets struct {
	open [][2]int32 // index of token, kind of bracket
	n    [3]int     // how many are open of each kind
}

func bracketKind(c byte) int32 {
	switch c {
	case '(', ')':
		return 0
	case '[', ']':
		return 1
	}
	return 2
}

func (b *brackets) add(toks []token, c byte) {
	k := bracketKind(c)
	if c == '[' && len(toks) > 1 && vocabulary.words[toks[len(toks)-2].word] == "VALUES" {
		k = 0 // Doris's VALUES [(…), (…)): half open
	}
	if c == '(' || c == '[' || c == '{' {
		b.open = append(b.open, [2]int32{int32(len(toks) - 1), k})
		b.n[k]++
		return
	}
	if b.n[k] == 0 {
		return
	}
	for {
		top := b.open[len(b.open)-1]
		b.open = b.open[:len(b.open)-1]
		b.n[top[1]]--
		if top[1] == k {
			toks[top[0]].mate = int32(len(toks) - 1)
			return
		}
	}
}

func (b *brackets) reset() {
	b.open = b.open[:0]
	b.n = [3]int{}
}
