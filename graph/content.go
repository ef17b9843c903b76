package graph

import (
	"cmp"
	"slices"
)

// A Content is what one origin says about one subject: whole for a version,
// or the part of it that one event of a run adds. What is empty is not said;
// what Deleted names is said to be nothing.
type Content struct {
	// Facts describe the subject itself.
	Facts Facts
	// Streaming says that what the runs of the subject report takes effect at
	// once, not at their end.
	Streaming bool
	// Parent is the process that this one runs under.
	Parent Name
	SQL    string
	// Dialect is that of SQL: spark, trino …
	Dialect string
	Reads   []Dataset
	Writes  []Dataset
	// Processes are flows between processes: job dependencies, explicit
	// job-to-job lineage.
	Processes []ProcessFlow
}

// A Dataset is what a subject reads or writes, or the subject itself where
// it is a data store (it then stands in Writes).
type Dataset struct {
	Name  Name
	Facts Facts
	// Aliases say that one name stands for another: From is resolved to To.
	Aliases []Alias
	// Lifecycle is the last change that was reported: CREATE, DROP, RENAME …
	Lifecycle string
	// RenamedFrom is the name before a RENAME.
	RenamedFrom Name
	// Lineage says where the columns of a written data store come from. Nil:
	// not known by column.
	Lineage *Lineage
}

// An Alias is a directed statement that one name stands for another: from the
// location to the table, from the old name to the new one.
type Alias struct{ From, To Name }

// A Lineage is what is known of the inputs of one written data store.
type Lineage struct {
	// Complete: nothing but what stands here flows in (OpenLineage's lineage
	// facet). Otherwise inputs that no lineage of the run names flow in too.
	Complete bool
	// BySQL: beside what stands here, what follows from the SQL of the process
	// flows in, which is said under an origin of its own (Derived).
	BySQL   bool
	Columns []ColumnLineage
	// Inputs influence every row or column of the output.
	Inputs []Source
}

// A ColumnLineage lists the sources of one output column.
type ColumnLineage struct {
	Column string
	Inputs []Source
}

// A Source is a column, or a whole data store where Column is empty, that an
// output takes from or depends on.
type Source struct {
	Name   Name // Name.Column is set for a column
	Kinds  Kinds
	Detail string // kinds as sent, where they are not ours
	// Expression computes the output, in the dialect of the source.
	Expression string
	Masking    bool
}

// A ProcessFlow is a flow between two processes.
type ProcessFlow struct {
	From, To Name
	Kinds    Kinds
}

// Facts describe a node. They are merged over all that is said of it.
type Facts struct {
	// Kind is TABLE, VIEW, TOPIC … for a data store; SQL, SPARK … for a process.
	Kind, Platform, URL, Description string
	// Display is the name in the producer's case, where that was folded.
	Display string
	Owners  []string
	Tags    []Tag
	// Columns is the schema, nested fields flattened to dotted paths.
	Columns []Field
	// Deleted names facts that are said to be nothing: FactSchema …
	Deleted []string
}

// The names of facts in Facts.Deleted.
const (
	FactSchema      = "schema"
	FactOwners      = "owners"
	FactTags        = "tags"
	FactDescription = "description"
	FactKind        = "kind"
	FactPlatform    = "platform"
	FactSymlinks    = "symlinks"
	FactLineage     = "lineage"
	FactLifecycle   = "lifecycle"
	FactSQL         = "sql"
	FactParent      = "parent"
	FactProcesses   = "processes"
)

// A Field is one column of a schema.
type Field struct {
	Path, Type, Description string
	// Ordinal is the position, from 1.
	Ordinal int
}

// A Tag is a key, perhaps with a value; Column is set for a column's tag.
type Tag struct{ Name, Value, Column string }

// IsZero reports whether nothing is said.
func (f *Facts) IsZero() bool {
	return f.Kind == "" && f.Platform == "" && f.URL == "" && f.Description == "" && f.Display == "" &&
		len(f.Owners) == 0 && len(f.Tags) == 0 && len(f.Columns) == 0 && len(f.Deleted) == 0
}

// add lays what next says over f: within a run a fact sent again replaces the
// same fact.
func (f *Facts) add(next Facts) {
	f.forget(next.Deleted)
	for _, p := range [...][2]*string{{&f.Kind, &next.Kind}, {&f.Platform, &next.Platform}, {&f.URL, &next.URL},
		{&f.Description, &next.Description}, {&f.Display, &next.Display}} {
		*p[0] = cmp.Or(*p[1], *p[0])
	}
	if len(next.Owners) > 0 {
		f.Owners = next.Owners
	}
	if len(next.Tags) > 0 {
		f.Tags = next.Tags
	}
	if len(next.Columns) > 0 {
		f.Columns = next.Columns
	}
}

func (f *Facts) forget(names []string) {
	for _, n := range names {
		switch n {
		case FactSchema:
			f.Columns = nil
		case FactOwners:
			f.Owners = nil
		case FactTags:
			f.Tags = nil
		case FactDescription:
			f.Description = ""
		case FactKind:
			f.Kind = ""
		case FactPlatform:
			f.Platform, f.URL = "", ""
		}
	}
}

// Fold lays parts over each other, in order, and brings the whole to its one
// normal form: parts that say the same in another order give the same content.
func Fold(parts ...*Content) *Content { return fold(new(ids), parts...) }

func fold(ids *ids, parts ...*Content) *Content {
	var whole Content
	for _, p := range parts {
		whole.add(ids, p)
	}
	whole.normalize()
	whole.Facts.Deleted = nil
	for i := range whole.Reads {
		whole.Reads[i].Facts.Deleted = nil
	}
	for i := range whole.Writes {
		whole.Writes[i].Facts.Deleted = nil
	}
	return &whole
}

// folded reports whether a content in its normal form is what it folds to by
// itself.
func (c *Content) folded(ids *ids) bool {
	if len(c.Facts.Deleted) > 0 {
		return false
	}
	for _, list := range [...][]Dataset{c.Reads, c.Writes} {
		for i := range list {
			if len(list[i].Facts.Deleted) > 0 {
				return false
			}
		}
		if !ids.distinct(list) {
			return false
		}
	}
	return true
}

func (c *Content) add(ids *ids, next *Content) {
	for _, n := range next.Facts.Deleted {
		switch n {
		case FactSQL:
			c.SQL, c.Dialect = "", ""
		case FactParent:
			c.Parent = Name{}
		case FactProcesses:
			c.Processes = nil
		case FactLineage:
			c.Writes = slices.Clone(c.Writes)
			for i := range c.Writes {
				c.Writes[i].Lineage = nil
			}
		}
	}
	c.Facts.add(next.Facts)
	c.Streaming = c.Streaming || next.Streaming
	if !next.Parent.IsZero() {
		c.Parent = next.Parent
	}
	if next.SQL != "" {
		c.SQL, c.Dialect = next.SQL, next.Dialect
	}
	c.Reads = addDatasets(ids, c.Reads, next.Reads)
	c.Writes = addDatasets(ids, c.Writes, next.Writes)
	if len(next.Processes) > 0 {
		c.Processes = next.Processes
	}
}

func addDatasets(ids *ids, have, next []Dataset) []Dataset {
	if len(next) == 0 {
		return have
	}
	if len(have) == 0 && ids.distinct(next) {
		return slices.Clip(next)
	}
	at := make(map[ID]int, len(have)+len(next))
	for i := range have {
		at[ids.of(have[i].Name)] = i
	}
	have = slices.Grow(slices.Clip(have), len(next))
	for _, d := range next {
		id := ids.of(d.Name)
		i, ok := at[id]
		if !ok {
			at[id] = len(have)
			d.Facts.Columns = slices.Clip(d.Facts.Columns)
			have = append(have, d)
			continue
		}
		h := have[i]
		for _, n := range d.Facts.Deleted {
			switch n {
			case FactSymlinks:
				h.Aliases = nil
			case FactLineage:
				h.Lineage = nil
			case FactLifecycle:
				h.Lifecycle, h.RenamedFrom = "", Name{}
			}
		}
		h.Facts.add(d.Facts)
		if len(d.Aliases) > 0 {
			h.Aliases = d.Aliases
		}
		if d.Lifecycle != "" {
			h.Lifecycle, h.RenamedFrom = d.Lifecycle, d.RenamedFrom
		}
		if d.Lineage != nil {
			h.Lineage = d.Lineage
		}
		have[i] = h
	}
	return have
}

// normalize sorts what has no order of its own and drops what repeats. It
// leaves slices that c shares with the parts it was folded from untouched.
func (c *Content) normalize() {
	c.Facts.normalize()
	c.Reads, c.Writes = normalDatasets(c.Reads), normalDatasets(c.Writes)
	c.Processes = sortedUnique(c.Processes, func(a, b ProcessFlow) int {
		return cmp.Or(a.From.Compare(b.From), a.To.Compare(b.To), cmp.Compare(a.Kinds, b.Kinds))
	})
}

func (f *Facts) normalize() {
	f.Deleted = sortedUnique(f.Deleted, cmp.Compare[string])
	f.Owners = sortedUnique(f.Owners, cmp.Compare[string])
	f.Tags = sortedUnique(f.Tags, func(a, b Tag) int {
		return cmp.Or(cmp.Compare(a.Column, b.Column), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Value, b.Value))
	})
}

func normalDatasets(ds []Dataset) []Dataset {
	if len(ds) == 0 {
		return nil
	}
	ds = slices.Clone(ds)
	for i := range ds {
		d := &ds[i]
		d.Facts.normalize()
		d.Aliases = sortedUnique(d.Aliases, func(a, b Alias) int {
			return cmp.Or(a.From.Compare(b.From), a.To.Compare(b.To))
		})
		d.Lineage = d.Lineage.normal()
	}
	slices.SortFunc(ds, func(a, b Dataset) int { return a.Name.Compare(b.Name) })
	return ds
}

func (l *Lineage) normal() *Lineage {
	if l == nil {
		return nil
	}
	n := Lineage{Complete: l.Complete, BySQL: l.BySQL, Inputs: sortedUnique(l.Inputs, compareSources), Columns: slices.Clone(l.Columns)}
	slices.SortStableFunc(n.Columns, func(a, b ColumnLineage) int { return cmp.Compare(a.Column, b.Column) })
	kept := n.Columns[:0]
	for _, c := range n.Columns {
		if last := len(kept) - 1; last >= 0 && kept[last].Column == c.Column {
			kept[last].Inputs = append(slices.Clip(kept[last].Inputs), c.Inputs...)
		} else {
			kept = append(kept, c)
		}
	}
	n.Columns = kept
	for i := range n.Columns {
		n.Columns[i].Inputs = sortedUnique(n.Columns[i].Inputs, compareSources)
	}
	return &n
}

func compareSources(a, b Source) int {
	if c := a.Name.Compare(b.Name); c != 0 {
		return c
	}
	m := 0
	if a.Masking != b.Masking {
		m = 1
		if b.Masking {
			m = -1
		}
	}
	return cmp.Or(cmp.Compare(a.Kinds, b.Kinds), cmp.Compare(a.Detail, b.Detail),
		cmp.Compare(a.Expression, b.Expression), m)
}

// sortedUnique sorts a list and drops what repeats. It leaves s as it is, and
// may return it.
func sortedUnique[T comparable](s []T, compare func(a, b T) int) []T {
	if len(s) == 0 {
		return nil
	}
	for i := 1; i < len(s); i++ {
		if compare(s[i-1], s[i]) >= 0 {
			s = slices.Clone(s)
			slices.SortFunc(s, compare)
			return slices.Compact(s)
		}
	}
	return slices.Clip(s)
}
