package catalog

import (
	"slices"
	"strings"

	"headwater/graph"
)

// Fits reports whether the pattern picks a node. The node's namespace says
// whether case counts.
func (p Pattern) Fits(n graph.Name, tags []string) bool {
	if p.Tag != "" && !slices.Contains(tags, p.Tag) {
		return false
	}
	ns, name := n.Folded()
	return (p.Namespace == "" || glob(foldAs(n, p.Namespace), ns)) && (p.Name == "" || glob(foldAs(n, p.Name), name))
}

// foldAs folds text as the names of n's namespace are.
func foldAs(n graph.Name, text string) string {
	n.Name = text
	_, folded := n.Folded()
	return folded
}

// glob reports whether text is pattern with each * replaced by some run of
// characters.
func glob(pattern, text string) bool {
	head, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == text
	}
	text, ok := strings.CutPrefix(text, head)
	if !ok {
		return false
	}
	for {
		part, more, star := strings.Cut(rest, "*")
		if !star {
			return strings.HasSuffix(text, part)
		}
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text, rest = text[i+len(part):], more
	}
}

// picksAll reports whether the pattern would pick every node.
func (p Pattern) picksAll() bool {
	return strings.Trim(p.Namespace, "*") == "" && strings.Trim(p.Name, "*") == "" && p.Tag == ""
}
