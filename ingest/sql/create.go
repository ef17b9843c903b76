package sql

import (
	"strings"

	"headwater/ingest/sql/syntax"
)

// createTable resolves CREATE TABLE in all its forms.
func (r *resolver) createTable(x *syntax.CreateTable, outer *scope) {
	id := r.resolveTable(x.Name)
	t := r.tables[id]
	if x.Temporary {
		t.Temporary = true
	}
	c := Change{Verb: "CREATE", Table: t, Location: x.Location, Options: x.Options, Span: x.Span}
	c.Columns = r.schema(x.Columns, c.Columns)
	names := declaredNames(x.Columns)
	for _, ref := range x.References {
		r.resolveTable(ref)
	}
	info := &r.infos[id]
	info.partitioned = nil
	for i := range x.PartitionedBy {
		d := &x.PartitionedBy[i]
		name := lastPart(d.Name)
		info.partitioned = append(info.partitioned, name)
		if d.Type != nil {
			names = append(names, name)
			c.Columns = r.schema(x.PartitionedBy[i:i+1], c.Columns)
		}
	}
	switch {
	case x.Query != nil:
		r.change(c)
		rel := r.query(x.Query, outer)
		w := written{table: id, mode: "CREATE", rel: rel, names: ctasNames(names, rel), tree: x}
		r.emit(w)
		r.define(id, rel, w.names)
	case x.Like != nil:
		r.createLike(x, id, c)
	default:
		r.change(c)
		if len(names) > 0 {
			r.declare(id, names, true)
		} else {
			// A table whose columns are not told: nothing is known of the new one.
			r.infos[id].asked = false
		}
		r.tables[id].Columns = names
	}
}

// ctasNames are the names of the columns of CREATE TABLE t (…) AS: as declared
// where that fits.
func ctasNames(declared []string, rel *relation) []string {
	shown := rel.names[:len(rel.names)-rel.hidden]
	if len(declared) == len(shown) || len(declared) > 0 && len(shown) == 0 {
		return declared
	}
	return shown
}

// createLike copies the shape of a table, or with CLONE its rows.
func (r *resolver) createLike(x *syntax.CreateTable, id int32, c Change) {
	like := r.resolveTable(x.Like)
	c.To = r.tables[like]
	c.Verb = "LIKE"
	if x.Clone {
		c.Verb = "CLONE"
	}
	r.change(c)
	info := r.askCatalog(like)
	names, known := info.names, info.known
	if x.Clone {
		f := r.newFrom(&scope{})
		f.node = f.named(x.Like)
		rel := r.starOf(f, x.Like)
		r.emit(written{table: id, mode: "CLONE", rel: rel, names: rel.names, tree: x})
	}
	if known {
		r.declare(id, names, true)
	}
}

// declaredNames are the top-level columns of a list of definitions.
func declaredNames(defs []syntax.ColumnDef) []string {
	names := make([]string, 0, len(defs))
	for i := range defs {
		if n := lastPart(defs[i].Name); n != "" {
			names = append(names, n)
		}
	}
	return names
}

// schema appends the declared columns.
func (r *resolver) schema(defs []syntax.ColumnDef, to []SchemaColumn) []SchemaColumn {
	for i := range defs {
		d := &defs[i]
		c := SchemaColumn{Name: lastPart(d.Name), Comment: d.Comment}
		if c.Name == "" {
			continue
		}
		if d.Type != nil {
			c.Type = oneLine(d.Type.Span.In(r.text), 1000)
		}
		to = append(to, c)
	}
	return to
}

// createView resolves a view, a materialized one, or a name for a query.
func (r *resolver) createView(x *syntax.CreateView, outer *scope) {
	id := r.resolveTable(x.Name)
	t := r.tables[id]
	if x.Temporary {
		t.Temporary = true
	}
	mode := "VIEW"
	t.Kind = ViewTable
	if x.Materialized || x.Dynamic {
		mode, t.Kind = "MATERIALIZED VIEW", MaterializedView
	}
	r.change(Change{Verb: "CREATE", Table: t, Columns: r.schema(x.Columns, nil), Location: x.Location, Options: x.Options, Span: x.Span})
	if x.Query == nil {
		r.viewOf(x, id)
		return
	}
	rel := r.query(x.Query, outer)
	w := written{table: id, mode: mode, rel: rel, names: ctasNames(declaredNames(x.Columns), rel), tree: x}
	target := r.emit(w)
	v := &View{Table: t, Materialized: x.Materialized || x.Dynamic, Bases: target.Inputs, Target: target}
	for _, e := range x.PartitionedBy {
		v.PartitionedBy = append(v.PartitionedBy, oneLine(e.Range().In(r.text), 200))
		if ref, ok := e.(*syntax.Ref); ok {
			r.infos[id].partitioned = append(r.infos[id].partitioned, lastPart(ref.Name))
		}
	}
	r.a.Views = append(r.a.Views, v)
	r.define(id, rel, w.names)
	if x.To != nil {
		to := r.resolveTable(x.To)
		w.table, w.mode = to, "INSERT"
		r.emit(w)
	}
}

// viewOf is CREATE VIEW … USING format OPTIONS (path …): a name for files.
func (r *resolver) viewOf(x *syntax.CreateView, id int32) {
	path := x.Location
	for _, o := range x.Options {
		if strings.EqualFold(o.Key, "path") || strings.EqualFold(o.Key, "dbtable") {
			path = o.Value
		}
	}
	if path == "" {
		return
	}
	source := r.table([]string{path}, []bool{true}, PathTable)
	f := r.newFrom(&scope{})
	rel := r.scanOf(source, x)
	f.bind(rel, syntax.Alias{}, nil)
	out := r.starOf(f, x)
	r.emit(written{table: id, mode: "VIEW", rel: out, names: out.names, tree: x})
}
