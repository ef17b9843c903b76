package graph

import (
	"cmp"
	"encoding/base64"
	"strings"
)

// How well a name matches a search text, best first.
const (
	MatchExact = iota
	MatchPrefix
	MatchToken  // at the start of a word in the name
	MatchInside // anywhere
	NoMatch
)

// FoldText brings a name or a search text to the form in which they are
// compared.
func FoldText(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

// SearchText is the text of a name that searches look at: the path of a
// column, the name of anything else.
func SearchText(n Name) string { return FoldText(cmp.Or(n.Column, n.Name)) }

// Tokens lists the offsets in a folded name at which words begin, the first
// being 0.
func Tokens(name string) []int {
	starts := []int{0}
	for i := 1; i < len(name); i++ {
		if isWord(name[i]) && !isWord(name[i-1]) {
			starts = append(starts, i)
		}
	}
	return starts
}

// Word returns the word, perhaps empty, that s begins with.
func Word(s string) string {
	for i := range len(s) {
		if !isWord(s[i]) {
			return s[:i]
		}
	}
	return s
}

func isWord(b byte) bool { return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 0x80 }

// A Rank is the place of one name among the answers to a search: by class,
// then by the text from the match on, then by the name and the id.
type Rank struct {
	Class int
	Text  string
	ID    ID
}

// RankName ranks a folded name against a folded text.
func RankName(name, text string, id ID) Rank {
	switch at := strings.Index(name, text); {
	case at < 0:
		return Rank{Class: NoMatch}
	case name == text:
		return Rank{Class: MatchExact, Text: name, ID: id}
	case at == 0:
		return Rank{Class: MatchPrefix, Text: name, ID: id}
	}
	for _, i := range Tokens(name) {
		if strings.HasPrefix(name[i:], text) {
			return Rank{Class: MatchToken, Text: name[i:], ID: id}
		}
	}
	return Rank{Class: MatchInside, Text: name, ID: id}
}

// Compare orders ranks, best first.
func (r Rank) Compare(o Rank) int {
	return cmp.Or(cmp.Compare(r.Class, o.Class), cmp.Compare(r.Text, o.Text), r.ID.Compare(o.ID))
}

// String is the rank as a cursor.
func (r Rank) String() string {
	b := append([]byte{byte(r.Class)}, r.ID[:]...)
	return base64.RawURLEncoding.EncodeToString(append(b, r.Text...))
}

// ParseRank reads a cursor; an empty one comes before all.
func ParseRank(s string) (Rank, error) {
	if s == "" {
		return Rank{Class: -1}, nil
	}
	var r Rank
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(b) < 1+len(r.ID) || b[0] >= NoMatch {
		return Rank{}, &BadInputError{What: "after: not a cursor of a search"}
	}
	r.Class = int(b[0])
	copy(r.ID[:], b[1:])
	r.Text = string(b[1+len(r.ID):])
	return r, nil
}

// Wants reports whether a query asks for nodes of this kind of id.
func (q *Query) Wants(id ID) bool {
	if !q.DataStores && !q.Columns && !q.Processes {
		return true
	}
	switch {
	case id.IsColumn():
		return q.Columns
	case id.Kind() == ProcessKind:
		return q.Processes
	}
	return q.DataStores
}
