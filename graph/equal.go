package graph

import "slices"

// Equal reports whether two contents say the same, each in its normal form: as
// if their binary forms were compared.
func (c *Content) Equal(o *Content) bool {
	return c.Streaming == o.Streaming && c.Parent == o.Parent && c.SQL == o.SQL && c.Dialect == o.Dialect && c.Facts.equal(&o.Facts) &&
		slices.EqualFunc(c.Reads, o.Reads, Dataset.equal) && slices.EqualFunc(c.Writes, o.Writes, Dataset.equal) &&
		slices.Equal(c.Processes, o.Processes)
}

func (d Dataset) equal(o Dataset) bool {
	return d.Name == o.Name && d.Lifecycle == o.Lifecycle && d.RenamedFrom == o.RenamedFrom && slices.Equal(d.Aliases, o.Aliases) &&
		d.Facts.equal(&o.Facts) && d.Lineage.equal(o.Lineage)
}

func (l *Lineage) equal(o *Lineage) bool {
	if l == nil || o == nil {
		return l == o
	}
	return l.Complete == o.Complete && l.BySQL == o.BySQL && slices.Equal(l.Inputs, o.Inputs) &&
		slices.EqualFunc(l.Columns, o.Columns, func(a, b ColumnLineage) bool {
			return a.Column == b.Column && slices.Equal(a.Inputs, b.Inputs)
		})
}

func (f *Facts) equal(o *Facts) bool {
	return f.Kind == o.Kind && f.Platform == o.Platform && f.URL == o.URL && f.Description == o.Description && f.Display == o.Display &&
		slices.Equal(f.Owners, o.Owners) && slices.Equal(f.Tags, o.Tags) && slices.Equal(f.Columns, o.Columns) && slices.Equal(f.Deleted, o.Deleted)
}
