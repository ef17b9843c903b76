package sql

import (
	"regexp"
	"slices"
	"strings"

	"headwater/ingest/sql/syntax"
)

// A Clip is the smallest SQL found that still computes one output column.
type Clip struct {
	// Text parses in the dialect of the script, and yields the column, perhaps
	// beside others that its clauses name by their aliases.
	Text string
	// Assumes says, in words, on what the removal of a join rests where it
	// cannot be told from the text.
	Assumes []string
	// Whole is set where nothing could be left out.
	Whole bool
	// Target is what the statement writes, and Columns those of its columns
	// that are computed.
	Target  *Target
	Columns []string
}

// Clip clips the statement that writes a target to what one output needs:
// named queries, items of select lists, joins and orders that cannot change its
// values are left out. What it returns was read again and gives the same
// sources; where clipping more would not, it clips less. o is what the analysis
// was made with. Of a Flow it is the last step.
func (a *Analysis) Clip(t *Target, output int, o Options) Clip {
	whole := Clip{Text: strings.TrimSpace(t.Statement.In(a.Text)), Whole: true, Target: t}
	if output < 0 || output >= len(t.Outputs) {
		return whole
	}
	whole.Columns = []string{t.Outputs[output].Name}
	own := a.ownTarget(t, t.Outputs[output].Name)
	if own == nil {
		return whole
	}
	if n := slices.IndexFunc(own.Outputs, func(x Output) bool { return x.Name == t.Outputs[output].Name }); n >= 0 {
		output = n
	} else if output >= len(own.Outputs) {
		return whole
	}
	o.Dialect, o.Catalog = a.Dialect, known{a, o.Catalog}
	want := own.Outputs[output]
	for _, bold := range [...]bool{true, false} {
		c := clipper{a: a, t: own, output: output, bold: bold, used: a.Uses(own, output)}
		text, ok := c.clip()
		if !ok {
			continue
		}
		again, index, ok := sameSources(text, o, own, &want)
		if !ok {
			continue
		}
		clip := Clip{Text: text, Target: t, Columns: whole.Columns}
		// What has become smaller may let more go.
		for range 8 {
			next := clipper{a: again, t: again.Targets[0], output: index, bold: bold, joins: true, used: again.Uses(again.Targets[0], index)}
			smaller, ok := next.clip()
			if !ok || len(smaller) >= len(clip.Text) {
				break
			}
			reread, i, ok := sameSources(smaller, o, own, &want)
			if !ok {
				break
			}
			clip.Text, again, index = smaller, reread, i
			clip.Assumes = append(clip.Assumes, next.assumes...)
		}
		clip.Whole = strings.TrimSpace(clip.Text) == whole.Text
		return clip
	}
	return whole
}

// ownTarget returns the target of the statement itself for a target of Flows:
// the one that writes the column, where it writes several.
func (a *Analysis) ownTarget(t *Target, column string) *Target {
	var first *Target
	for _, own := range t.Statement.Targets {
		if own == t {
			return t
		}
		if own.Table != t.Table && len(t.Statement.Targets) > 1 {
			continue
		}
		if slices.ContainsFunc(own.Outputs, func(x Output) bool { return x.Name == column }) {
			return own
		}
		if first == nil {
			first = own
		}
	}
	return first
}

// known is what an analysis knows of tables, before what its catalog does.
type known struct {
	a    *Analysis
	next Catalog
}

func (k known) Columns(table []string) ([]string, bool) {
	for _, t := range k.a.Tables {
		if t.Known && sameEnd(t.Parts, table) {
			return t.Columns, true
		}
	}
	if k.next == nil {
		return nil, false
	}
	return k.next.Columns(table)
}

// sameEnd reports whether one name is the end of the other.
func sameEnd(a, b []string) bool {
	n := min(len(a), len(b))
	for i := 1; i <= n; i++ {
		if !strings.EqualFold(a[len(a)-i], b[len(b)-i]) {
			return false
		}
	}
	return n > 0
}

// sameSources reads a clipped text and reports whether the column is made as
// it was; index is where it stands.
func sameSources(text string, o Options, was *Target, want *Output) (a *Analysis, index int, ok bool) {
	a = Analyze(text, o)
	if len(a.Targets) != 1 || len(a.Statements) != 1 || len(a.Statements[0].Warnings) > len(was.Statement.Warnings) {
		return nil, 0, false
	}
	t := a.Targets[0]
	for i := range t.Outputs {
		if x := &t.Outputs[i]; (strings.EqualFold(x.Name, want.Name) || want.Name == "") && equalSources(x.Sources, want.Sources) {
			return a, i, true
		}
	}
	return nil, 0, false
}

func equalSources(a, b []Source) bool {
	if len(a) != len(b) {
		return false
	}
	for _, x := range a {
		if !slices.ContainsFunc(b, func(y Source) bool {
			return x.Kinds == y.Kinds && strings.EqualFold(x.Column, y.Column) &&
				(x.Table == nil && y.Table == nil || x.Table != nil && y.Table != nil && sameEnd(x.Table.Parts, y.Table.Parts))
		}) {
			return false
		}
	}
	return true
}

// A clipper clips one statement once.
type clipper struct {
	a      *Analysis
	t      *Target
	output int
	used   Used
	// bold leaves out items of inner queries too; joins leaves out joins.
	bold, joins bool
	cuts        []cut
	assumes     []string
	top         syntax.SetExpr // whose items are the outputs
	kept        map[*syntax.SelectItem]bool
}

// A cut replaces a range of the text.
type cut struct {
	syntax.Span
	with string
}

func (c *clipper) cut(start, end int32, with string) {
	if start < end || with != "" {
		c.cuts = append(c.cuts, cut{syntax.Span{Start: start, End: end}, with})
	}
}

// clip returns the clipped text; false where the statement is of a kind that
// has no query of its own.
func (c *clipper) clip() (string, bool) {
	c.kept = map[*syntax.SelectItem]bool{}
	var with *syntax.With
	var query *syntax.Query
	before := ""
	switch b := c.t.Statement.Tree.Body.(type) {
	case *syntax.QueryStatement:
		query = b.Query
	case *syntax.Insert:
		with, query = b.With, b.Query
	case *syntax.Multi:
		if with = b.With; len(b.From) > 0 {
			before = "FROM " + c.a.Text[b.From[0].Range().Start:b.From[len(b.From)-1].Range().End] + "\n"
		}
		for _, in := range b.Inserts {
			if in.Query != nil && in.Query.Start <= c.expression().Start && c.expression().End <= in.Query.End {
				query = in.Query
			}
		}
	case *syntax.CreateTable:
		query = b.Query
	case *syntax.CreateView:
		query = b.Query
	case *syntax.Update:
		return c.assignments(b.Set)
	}
	if query == nil {
		return "", false
	}
	c.top = query.Body
	c.query(query, true)
	text := ""
	if with != nil {
		c.with(with)
		text = strings.TrimSpace(c.apply(with.Span)) + "\n"
		if text == "\n" {
			text = ""
		}
	}
	return tidy(text + before + c.apply(unwrapped(c.a.Text, query.Span))), true
}

func (c *clipper) expression() syntax.Span { return c.t.Outputs[c.output].Expression }

// unwrapped is a span without the parentheses around it.
func unwrapped(text string, s syntax.Span) syntax.Span {
	if s.End-s.Start > 2 && text[s.Start] == '(' && text[s.End-1] == ')' && closes(text[s.Start:s.End]) {
		return syntax.Span{Start: s.Start + 1, End: s.End - 1}
	}
	return s
}

// closes reports whether the first parenthesis of a text is closed by its last
// byte; quotes are not looked at, so that it may say no where it is.
func closes(text string) bool {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i == len(text)-1
			}
		}
	}
	return false
}

// assignments clips an UPDATE to the assignment of the column.
func (c *clipper) assignments(set []syntax.Assignment) (string, bool) {
	at := slices.IndexFunc(set, func(s syntax.Assignment) bool {
		return s.Start <= c.expression().Start && c.expression().End <= s.End
	})
	if at < 0 || len(set) == 1 {
		return "", false
	}
	c.cut(set[0].Start, set[at].Start, "")
	c.cut(set[at].End, set[len(set)-1].End, "")
	return tidy(c.apply(c.t.Statement.Span)), true
}

// apply returns what the cuts leave of a span.
func (c *clipper) apply(s syntax.Span) string {
	slices.SortStableFunc(c.cuts, func(a, b cut) int { return int(a.Start - b.Start) })
	var b strings.Builder
	at := s.Start
	for _, x := range c.cuts {
		if x.Start < at || x.End > s.End {
			continue // within another, or elsewhere
		}
		b.WriteString(c.a.Text[at:x.Start])
		b.WriteString(x.with)
		at = x.End
	}
	b.WriteString(c.a.Text[at:s.End])
	return b.String()
}

var (
	blankLines = regexp.MustCompile(`(?m)^[ \t]*\n`)
	endBlanks  = regexp.MustCompile(`[ \t]+\n`)
)

// tidy drops the lines that cuts have left empty.
func tidy(text string) string {
	text = endBlanks.ReplaceAllString(text, "\n")
	return strings.TrimSpace(blankLines.ReplaceAllString(text, ""))
}
