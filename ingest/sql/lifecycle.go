package sql

import (
	"strings"

	"headwater/ingest/sql/syntax"
)

// alter resolves ALTER TABLE and ALTER VIEW.
func (r *resolver) alter(x *syntax.Alter, outer *scope) {
	if x.Table == nil {
		return
	}
	id := r.resolveTable(x.Table)
	for i := range x.Actions {
		a := &x.Actions[i]
		c := Change{Verb: a.Verb, Table: r.tables[id], Span: a.Span, Location: a.Location, From: a.Renamed.Text}
		c.Columns = r.schema(a.Columns, nil)
		for _, ref := range a.References {
			r.resolveTable(ref)
		}
		switch a.Verb {
		case "RENAME":
			if a.To != nil {
				r.renameTo(id, r.beside(x.Table, a.To, id), a.Span)
			}
		case "SWAP":
			if a.To != nil {
				r.swap(id, r.resolveTable(a.To), a.Span)
			}
		case "EXCHANGE":
			if a.To != nil {
				r.exchange(id, x.Table, a)
			}
		case "AS":
			if a.Query != nil {
				rel := r.query(a.Query, outer)
				names := ctasNames(declaredNames(a.Columns), rel)
				if r.tables[id].Kind == BaseTable {
					r.tables[id].Kind = ViewTable
				}
				target := r.emit(written{table: id, mode: "VIEW", rel: rel, names: names, tree: x})
				r.a.Views = append(r.a.Views, &View{Table: r.tables[id], Bases: target.Inputs, Target: target})
				r.define(id, rel, names)
			}
		case "ADD COLUMN", "DROP COLUMN", "RENAME COLUMN", "CHANGE COLUMN":
			r.change(c)
			r.alterColumns(id, a)
		case "SET LOCATION":
			c.Verb = "LOCATION"
			r.change(c)
		case "ADD PARTITION", "DROP PARTITION":
			r.change(c)
		}
	}
}

// beside interns the new name of a table: in the database of the old one where
// it names none.
func (r *resolver) beside(old, new *syntax.Table, id int32) int32 {
	if len(new.Name.Parts) != 1 || len(old.Name.Parts) < 2 {
		return r.resolveTable(new)
	}
	parts := append([]string(nil), r.tables[id].Parts...)
	parts[len(parts)-1] = new.Name.Parts[0].Text
	quoted := make([]bool, len(parts))
	quoted[len(parts)-1] = new.Name.Parts[0].Quoted
	return r.table(parts, quoted, BaseTable)
}

// alterColumns changes what is known of a table's columns.
func (r *resolver) alterColumns(id int32, a *syntax.AlterAction) {
	info := r.askCatalog(id)
	if len(info.names) == 0 {
		return
	}
	names := append([]string(nil), info.names...)
	switch a.Verb {
	case "ADD COLUMN":
		names = append(names, declaredNames(a.Columns)...)
	case "DROP COLUMN":
		kept := names[:0]
		for _, n := range names {
			gone := false
			for i := range a.Columns {
				gone = gone || strings.EqualFold(lastPart(a.Columns[i].Name), n)
			}
			if !gone {
				kept = append(kept, n)
			}
		}
		names = kept
	default:
		for i, n := range names {
			if len(a.Columns) > 0 && strings.EqualFold(n, a.Renamed.Text) {
				names[i] = lastPart(a.Columns[0].Name)
			}
		}
	}
	r.declare(id, names, info.known)
}

// renameTo gives a table another name: what later statements say of the new
// name is said of it.
func (r *resolver) renameTo(id, to int32, span syntax.Span) {
	r.change(Change{Verb: "RENAME", Table: r.tables[id], To: r.tables[to], Span: span})
	from := r.askCatalog(id)
	if from.known {
		r.declare(to, from.names, true)
	}
	r.tables[to].Kind = r.tables[id].Kind
	r.tables[to].Temporary = r.tables[id].Temporary
	r.happened(event{verb: renamed, table: id, to: to})
}

// swap exchanges the names of two tables.
func (r *resolver) swap(id, to int32, span syntax.Span) {
	r.change(Change{Verb: "SWAP", Table: r.tables[id], To: r.tables[to], Span: span})
	a, b := *r.askCatalog(id), *r.askCatalog(to)
	if a.known {
		r.declare(to, a.names, true)
	}
	if b.known {
		r.declare(id, b.names, true)
	}
	r.happened(event{verb: swapped, table: id, to: to})
}

// exchange moves a partition's rows, or all, between two tables.
func (r *resolver) exchange(id int32, t *syntax.Table, a *syntax.AlterAction) {
	to := r.resolveTable(a.To)
	if len(a.Partition) == 0 {
		r.swap(id, to, a.Span)
		return
	}
	r.change(Change{Verb: "EXCHANGE PARTITION", Table: r.tables[id], To: r.tables[to], Span: a.Span})
	f := r.newFrom(&scope{})
	f.node = f.named(a.To)
	rel := r.starOf(f, a.To)
	_, bounds := r.partitions(a.Partition)
	names := rel.names
	if info := r.askCatalog(id); info.known && len(info.names) == len(names) {
		names = info.names
	}
	r.emit(written{table: id, mode: "INSERT", rel: rel, names: names, bounds: bounds, tree: a})
}

func (r *resolver) rename(x *syntax.Rename) {
	for _, p := range x.Pairs {
		if p[0] == nil || p[1] == nil {
			continue
		}
		a, b := r.resolveTable(p[0]), r.resolveTable(p[1])
		if x.Swap {
			r.swap(a, b, x.Span)
		} else {
			r.renameTo(a, b, x.Span)
		}
	}
}

func (r *resolver) drop(x *syntax.Drop) {
	if !strings.HasSuffix(x.Object, "TABLE") && !strings.HasSuffix(x.Object, "VIEW") {
		return
	}
	for _, t := range x.Names {
		id := r.resolveTable(t)
		r.change(Change{Verb: "DROP", Table: r.tables[id], Span: t.Span})
		r.happened(event{verb: dropped, table: id})
	}
}

// copy resolves COPY, LOAD, UNLOAD and EXPORT: files on one side.
func (r *resolver) copy(x *syntax.Copy, outer *scope) {
	if x.From {
		r.copyIn(x, outer)
		return
	}
	var rel *relation
	switch {
	case x.Query != nil:
		rel = r.query(x.Query, outer)
	case x.Table != nil:
		f := r.newFrom(&scope{parent: outer})
		f.node = f.named(x.Table)
		if len(x.Columns) > 0 {
			rel = r.columnsOf(f, x.Columns)
		} else {
			rel = r.starOf(f, x)
		}
	default:
		return
	}
	for _, id := range r.places(x) {
		r.emit(written{table: id, mode: "COPY", rel: rel, names: rel.names, tree: x})
	}
	if len(x.Paths)+len(x.Stages) == 0 {
		r.emit(written{table: r.table([]string{"<query>"}, []bool{true}, QueryTable), mode: "QUERY", rel: rel, names: rel.names, tree: x})
	}
}

// columnsOf is a list of columns of what is bound.
func (r *resolver) columnsOf(f *from, columns []syntax.Name) *relation {
	list := r.columnList()
	for _, c := range columns {
		acc := r.scratch()
		ref := &syntax.Ref{Name: c}
		r.walk(ref, f.scope, Identity, inItems, acc)
		list = append(list, outColumn{lastPart(c), r.newColumn(column{set: r.keepSet(acc), from: r.ints.keep(acc.from), node: f.node, item: ref}), false})
		r.release(acc)
	}
	rel := r.build(list, f.node)
	rel.deps = f.done()
	r.releaseList(list)
	return rel
}

// places are the files and stages that a COPY names.
func (r *resolver) places(x *syntax.Copy) []int32 {
	var ids []int32
	for _, p := range x.Paths {
		ids = append(ids, r.table([]string{p}, []bool{true}, PathTable))
	}
	for _, s := range x.Stages {
		ids = append(ids, r.tableOf(&syntax.Table{Span: s.Span, Name: s, Stage: true}))
	}
	return ids
}

// copyIn resolves a COPY into a table.
func (r *resolver) copyIn(x *syntax.Copy, outer *scope) {
	if x.Table == nil {
		return
	}
	w := written{table: r.resolveTable(x.Table), mode: "COPY", tree: x}
	for _, c := range x.Columns {
		w.names = append(w.names, lastPart(c))
	}
	if x.Query != nil {
		w.rel = r.query(x.Query, outer)
		if len(w.names) == 0 {
			w.names = w.rel.names
			if info := r.askCatalog(w.table); info.known && !r.hasStar(w.rel) {
				w.names = info.names
			}
		}
		r.emit(w)
		return
	}
	f := r.newFrom(&scope{})
	for _, id := range r.places(x) {
		before := f.node
		f.bind(r.scanOf(id, x), syntax.Alias{}, nil)
		if before >= 0 {
			union := r.node(OpSetOp, "UNION ALL", x)
			r.input(union, before)
			r.input(union, f.node)
			f.node = union
		}
	}
	if f.node < 0 {
		f.node = r.node(OpValues, "", x)
	}
	w.rel = r.starOf(f, x)
	w.names = w.rel.names
	r.emit(w)
}
