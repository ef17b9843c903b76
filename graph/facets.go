package graph

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// SplitFacets splits a JSON object of facets into them. The slices are parts
// of b. Empty is no facets.
func SplitFacets(b []byte) (map[string]json.RawMessage, error) {
	m := map[string]json.RawMessage{}
	err := EachFacet(b, func(name string, facet []byte) { m[name] = facet })
	if err == nil && len(m) == 0 {
		m = nil
	}
	return m, err
}

// EachFacet is SplitFacets without a map. It reads no more than it has to: what
// is not JSON within a facet may go unseen.
func EachFacet(b []byte, f func(name string, facet []byte)) error {
	if len(b) == 0 {
		return nil
	}
	s := facetScanner{b: b}
	s.take('{')
	for first := true; !s.is('}'); first = false {
		if !first {
			s.take(',')
		}
		s.space()
		from := s.at
		name := s.value()
		if len(name) < 2 || name[0] != '"' {
			return fmt.Errorf("facets of %d bytes: no name at byte %d", len(b), from)
		}
		key := string(name[1 : len(name)-1])
		if bytes.IndexByte(name, '\\') >= 0 {
			if err := json.Unmarshal(name, &key); err != nil {
				return fmt.Errorf("facets of %d bytes: %w", len(b), err)
			}
		}
		s.take(':')
		s.space()
		facet := s.value()
		if s.bad {
			break
		}
		f(key, facet)
	}
	s.take('}')
	if s.space(); s.bad || s.at < len(b) {
		return fmt.Errorf("facets of %d bytes: not an object at byte %d", len(b), s.at)
	}
	return nil
}

// A facetScanner reads a JSON object; bad says that it is none.
type facetScanner struct {
	b   []byte
	at  int
	bad bool
}

func (s *facetScanner) space() {
	for s.at < len(s.b) && (s.b[s.at] == ' ' || s.b[s.at] == '\n' || s.b[s.at] == '\t' || s.b[s.at] == '\r') {
		s.at++
	}
}

// is reports whether c comes next, or nothing that can be read.
func (s *facetScanner) is(c byte) bool {
	s.space()
	return s.bad || s.at >= len(s.b) || s.b[s.at] == c
}

func (s *facetScanner) take(c byte) {
	if s.space(); s.bad || s.at >= len(s.b) || s.b[s.at] != c {
		s.bad = true
		return
	}
	s.at++
}

// value reads a value: to its last bracket or quote, or to what ends a number
// or a word.
func (s *facetScanner) value() []byte {
	from, depth := s.at, 0
	for ; s.at < len(s.b); s.at++ {
		switch s.b[s.at] {
		case '"':
			for s.at++; s.at < len(s.b) && s.b[s.at] != '"'; s.at++ {
				if s.b[s.at] == '\\' {
					s.at++
				}
			}
		case '{', '[':
			depth++
			continue
		case '}', ']':
			if depth == 0 { // of a number or a word
				s.bad = s.bad || s.at == from
				return s.b[from:s.at]
			}
			depth--
		case ',', ' ', '\n', '\t', '\r':
			if depth == 0 {
				s.bad = s.bad || s.at == from
				return s.b[from:s.at]
			}
			continue
		default:
			continue
		}
		if depth == 0 {
			s.at = min(s.at+1, len(s.b))
			return s.b[from:s.at]
		}
	}
	s.bad = true
	return nil
}

// Newer reports whether a facet seen at a time replaces one seen at another;
// of two at one time it is the one whose bytes sort last.
func Newer(at int64, facet []byte, haveAt int64, have []byte) bool {
	return at > haveAt || at == haveAt && bytes.Compare(facet, have) > 0
}
