package sql

import "headwater/ingest/sql/syntax"

// Texts may be hostile. What could grow faster than they do has a limit.
const (
	// maxDepth bounds the nesting of expressions and queries that is followed.
	maxDepth = 4000
	// maxSpent bounds how many tables are looked at for names, beside 20 for
	// each byte of the text.
	maxSpent = 20_000_000
	// maxStarred bounds how many columns all stars of a script stand for, beside
	// four for each byte of the text.
	maxStarred = 300_000
	// maxKept bounds how many dependencies a script's columns have together,
	// beside 16 for each byte of the text.
	maxKept = 400_000
	// maxDrawn bounds how many plan nodes the targets of a script have together,
	// beside one for every four bytes of the text.
	maxDrawn = 2_000
)

// tooDeep marks what is nested deeper than is followed, once a statement.
func (r *resolver) tooDeep(at syntax.Node) { r.beyond(at, "nested too deeply to be followed") }

// spend says whether n more tables may be looked at for a name.
func (r *resolver) spend(n int, at syntax.Node) bool {
	if r.spent += n; r.spent <= maxSpent+20*len(r.text) {
		return true
	}
	r.beyond(at, "too many tables and names to be resolved")
	return false
}

// star says whether a star may stand for n more columns.
func (r *resolver) star(n int, at syntax.Node) bool {
	if r.expanded += n; r.expanded <= maxStarred+4*len(r.text) {
		return true
	}
	r.beyond(at, "stars that stand for too many columns")
	return false
}

// beyond marks what is beyond a limit, once a statement.
func (r *resolver) beyond(at syntax.Node, reason string) {
	if r.deep {
		return
	}
	r.deep = true
	u := Unresolved{Name: "…", Reason: reason}
	if at != nil {
		u.Span = at.Range()
	}
	r.unresolved(u)
}
