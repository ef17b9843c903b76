package score

import (
	"slices"
	"sort"
	"strings"

	"headwater/ingest/sql"
)

// An answer is what we say of a case, in the form in which it is compared:
// names in lower case.
type answer struct {
	in, out []string
	values  []string // tables whose values are read
	outputs []output
}

// An output is one output column and its sources.
type output struct {
	name    string // table.column
	unnamed bool
	sources []string
	any     []string // sources in any kind, those of the whole output among them
}

// analyze runs a case. Views that a case gives are put before it as temporary
// ones, over which flows are contracted.
func analyze(c *Case) *sql.Analysis {
	text := c.SQL
	if len(c.Views) > 0 {
		names := make([]string, 0, len(c.Views))
		for n := range c.Views {
			names = append(names, n)
		}
		sort.Strings(names)
		var b strings.Builder
		for _, n := range names {
			b.WriteString("CREATE TEMPORARY VIEW " + n + " AS " + c.Views[n] + ";\n")
		}
		text = b.String() + text
	}
	o := sql.Options{Dialect: c.Dialect, Defaults: sql.Defaults{Catalog: c.Defaults["default_db"], Database: c.Defaults["default_schema"]}}
	if len(c.Schema) > 0 {
		o.Catalog = c.Schema
	}
	return sql.Analyze(text, o)
}

// fold brings a name into the form in which it is compared: in lower case,
// without quotes and the space around it.
func fold(s string) string { return strings.TrimSpace(strings.ToLower(unquote.Replace(s))) }

var unquote = strings.NewReplacer("`", "", `"`, "", "[", "", "]", "")

// answerTo gives our answer to a case under the rules of its suite.
func answerTo(c *Case, a *sql.Analysis) answer {
	s := c.suite()
	var r answer
	add := func(to *[]string, t *sql.Table) {
		if t == nil || t.Kind == sql.QueryTable {
			return
		}
		if n := fold(t.String()); !slices.Contains(*to, n) {
			*to = append(*to, n)
		}
	}
	for _, f := range a.Flows {
		for _, o := range f.Outputs {
			for _, src := range o.Sources {
				if src.Kinds&s.Direct != 0 {
					add(&r.values, src.Table)
				}
			}
		}
	}
	switch s.Tables {
	case columnsRead:
		for _, f := range a.Flows {
			for _, src := range f.Dependencies {
				add(&r.in, src.Table)
			}
			for _, o := range f.Outputs {
				for _, src := range o.Sources {
					add(&r.in, src.Table)
				}
			}
		}
	default:
		for _, t := range a.Inputs {
			if !t.Temporary {
				add(&r.in, t)
			}
		}
	}
	for _, t := range a.Outputs {
		if !t.Temporary && !(s.Flat && t.Kind == sql.PathTable) && (s.Deletes || !onlyDeleted(a, t)) {
			add(&r.out, t)
		}
	}
	for _, c := range a.Changes {
		if !c.Table.Temporary && (c.Verb == "CREATE" || c.Verb == "LIKE" || c.Verb == "CLONE") {
			add(&r.out, c.Table)
		}
	}
	if s.Changes {
		r.changed(a, add)
	}
	r.self(s, a, add)
	if s.Ends && len(a.Script.Statements) > 1 {
		r.ends(a)
	}
	r.columns(s, a)
	return r
}

// onlyDeleted reports whether a script does nothing but delete from a table.
func onlyDeleted(a *sql.Analysis, t *sql.Table) bool {
	for _, target := range a.Targets {
		if target.Table == t && target.Mode != "DELETE" {
			return false
		}
	}
	for _, c := range a.Changes {
		if c.Table == t {
			return false
		}
	}
	return true
}

// inPlace are the modes that change the rows of their target.
func inPlace(mode string) bool { return mode == "UPDATE" || mode == "DELETE" || mode == "MERGE" }

// self applies the suite's rule for what a statement changes in place.
func (r *answer) self(s Suite, a *sql.Analysis, add func(*[]string, *sql.Table)) {
	for _, t := range a.Targets {
		if !inPlace(t.Mode) {
			continue
		}
		if s.Self == selfNever {
			if !readElsewhere(a, t.Table) {
				r.in = without(r.in, []string{fold(t.Table.String())})
			}
		}
		if s.Self == selfAlways {
			add(&r.in, t.Table)
		}
		if s.Self != selfByName || t.Mode == "MERGE" {
			continue
		}
		read := t.Dependencies
		for _, o := range t.Outputs {
			read = append(read[:len(read):len(read)], o.Sources...)
		}
		for _, src := range read {
			if src.Table == t.Table {
				add(&r.in, t.Table)
			}
		}
	}
}

// readElsewhere reports whether a statement that does not change a table in
// place reads it.
func readElsewhere(a *sql.Analysis, t *sql.Table) bool {
	return slices.ContainsFunc(a.Targets, func(x *sql.Target) bool { return !inPlace(x.Mode) && slices.Contains(x.Inputs, t) })
}

// changed adds the tables that are dropped, emptied or swapped.
func (r *answer) changed(a *sql.Analysis, add func(*[]string, *sql.Table)) {
	for _, c := range a.Changes {
		switch c.Verb {
		case "SWAP":
			for _, t := range []*sql.Table{c.Table, c.To} {
				add(&r.in, t)
				add(&r.out, t)
			}
		case "RENAME":
			add(&r.in, c.Table)
			add(&r.out, c.To)
		case "ANALYZE":
			add(&r.in, c.Table)
			add(&r.out, c.Table)
		default:
			add(&r.out, c.Table)
		}
	}
}

// ends leaves of a script its first sources and last targets, under their last
// names, without what is dropped.
func (r *answer) ends(a *sql.Analysis) {
	for _, c := range a.Changes {
		name := []string{fold(c.Table.String())}
		switch c.Verb {
		case "DROP":
			last := true
			for _, t := range a.Targets {
				last = last && (t.Table != c.Table || t.Statement.Start < c.Span.Start)
			}
			if last {
				r.out = without(r.out, name)
			}
		case "RENAME":
			if len(intersect(r.out, name)) > 0 {
				r.out = append(without(r.out, name), fold(c.To.String()))
			}
		}
	}
	both := intersect(r.in, r.out)
	r.in, r.out = without(r.in, both), without(r.out, both)
}

// columns lists the outputs of all flows, those of one name together.
func (r *answer) columns(s Suite, a *sql.Analysis) {
	index := make(map[string]int)
	for _, f := range a.Flows {
		table := fold(f.Table.String())
		if s.Flat && f.Table.Kind == sql.PathTable {
			continue
		}
		for i, o := range f.Outputs {
			if s.Flat && partition(f, o.Name) {
				continue
			}
			name := table + "." + fold(o.Name)
			k, ok := index[name]
			if !ok {
				k = len(r.outputs)
				index[name] = k
				r.outputs = append(r.outputs, output{name: name, unnamed: !named(f, i)})
			}
			out := &r.outputs[k]
			for _, src := range o.Sources {
				if src.Table == nil && !s.Undecided {
					continue
				}
				column := src.Column
				if s.Flat {
					column, _, _ = strings.Cut(column, ".")
				}
				n := fold(src.Table.String() + "." + column)
				if s.Self >= selfNever && inPlace(f.Mode) && n == name {
					continue
				}
				if src.Kinds&s.Direct != 0 && !slices.Contains(out.sources, n) {
					out.sources = append(out.sources, n)
				}
				out.any = append(out.any, n)
			}
			for _, src := range f.Dependencies {
				out.any = append(out.any, fold(src.Table.String()+"."+src.Column))
			}
		}
	}
}

// partition reports whether an output is a partition that the statement names.
func partition(f *sql.Target, name string) bool {
	return slices.ContainsFunc(f.Partitions, func(b sql.Bound) bool { return strings.EqualFold(b.Column, name) })
}

// named reports whether an output has a name of its own: an identifier.
func named(f *sql.Target, i int) bool {
	n := f.Outputs[i].Name
	if n == "*" {
		return true
	}
	for k := 0; k < len(n); k++ {
		c := n[k]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '_', '0' <= c && c <= '9' && k > 0, c == '$', c >= 0x80:
		default:
			return false
		}
	}
	return n != ""
}

func intersect(a, b []string) []string {
	var c []string
	for _, x := range a {
		if slices.Contains(b, x) {
			c = append(c, x)
		}
	}
	return c
}

func without(a, b []string) []string {
	var c []string
	for _, x := range a {
		if !slices.Contains(b, x) {
			c = append(c, x)
		}
	}
	return c
}

func folded(list []string) []string {
	out := make([]string, 0, len(list))
	for _, s := range list {
		if f := fold(s); !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	sort.Strings(out)
	return out
}

func sameSet(a, b []string) bool {
	a, b = folded(a), folded(b)
	return slices.Equal(a, b)
}

func subset(a, b []string) bool {
	b = folded(b)
	for _, x := range folded(a) {
		if !slices.Contains(b, x) {
			return false
		}
	}
	return true
}
