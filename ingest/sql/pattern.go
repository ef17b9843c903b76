package sql

import (
	"regexp"
	"strings"
)

// A columnPattern says which columns a star with a pattern stands for.
type columnPattern struct {
	match  *regexp.Regexp // nil: every name
	except *regexp.Regexp // nil: none
}

// matches reports whether a column goes by the pattern of COLUMNS('…') or of
// Hive's regular expressions. Hive's idiom `(a|b)?+.+` leaves columns out.
func (r *resolver) matches(pattern, name string) bool {
	p, ok := r.patterns[pattern]
	if !ok {
		rest := pattern
		if i := strings.Index(pattern, "?+"); i >= 0 {
			p.except, _ = regexp.Compile("(?i)^(?:" + pattern[:i] + ")$")
			rest = pattern[i+2:]
		}
		anchored := rest
		if r.rules.name == "hive" || r.rules.name == "spark" || r.rules.name == "ansi" {
			anchored = "^(?:" + rest + ")$"
		}
		p.match, _ = regexp.Compile("(?i)" + anchored)
		if r.patterns == nil {
			r.patterns = make(map[string]columnPattern)
		}
		r.patterns[pattern] = p
	}
	if p.except != nil && p.except.MatchString(name) {
		return false
	}
	return p.match == nil || p.match.MatchString(name)
}
