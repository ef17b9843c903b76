package sql

import (
	"strings"

	"headwater/ingest/sql/syntax"
)

// verb names what a statement is.
func verb(b syntax.Body) string {
	switch x := b.(type) {
	case *syntax.QueryStatement:
		return "SELECT"
	case *syntax.Insert:
		switch {
		case x.Overwrite:
			return "INSERT OVERWRITE"
		case x.Replace:
			return "REPLACE"
		}
		return "INSERT"
	case *syntax.Multi:
		return "MULTI INSERT"
	case *syntax.Update:
		return "UPDATE"
	case *syntax.Delete:
		return "DELETE"
	case *syntax.Merge:
		return "MERGE"
	case *syntax.Copy:
		return x.Verb
	case *syntax.CreateTable:
		if x.Query != nil {
			return "CREATE TABLE AS"
		}
		return "CREATE TABLE"
	case *syntax.CreateView:
		if x.Materialized {
			return "CREATE MATERIALIZED VIEW"
		}
		return "CREATE VIEW"
	case *syntax.Alter:
		return "ALTER " + x.Object
	case *syntax.Rename:
		return "RENAME"
	case *syntax.Drop:
		return "DROP " + x.Object
	case *syntax.Truncate:
		return "TRUNCATE"
	case *syntax.Use:
		return "USE"
	case *syntax.Set:
		return "SET"
	case *syntax.Explain:
		return "EXPLAIN"
	case *syntax.Block:
		return x.What
	case *syntax.CreateFunction:
		return "CREATE FUNCTION"
	case *syntax.Other:
		return x.Verb
	}
	return ""
}

// body resolves what a statement says. Outer is the scope of a WITH around it.
func (r *resolver) body(b syntax.Body, outer *scope) {
	switch x := b.(type) {
	case *syntax.QueryStatement:
		r.queryStatement(x, outer)
	case *syntax.Insert:
		r.insert(x, outer, nil)
	case *syntax.Multi:
		r.multi(x, outer)
	case *syntax.Update:
		r.update(x, outer)
	case *syntax.Delete:
		r.delete(x, outer)
	case *syntax.Merge:
		r.merge(x, outer)
	case *syntax.Copy:
		r.copy(x, outer)
	case *syntax.CreateTable:
		r.createTable(x, outer)
	case *syntax.CreateView:
		r.createView(x, outer)
	case *syntax.Alter:
		r.alter(x, outer)
	case *syntax.Rename:
		r.rename(x)
	case *syntax.Drop:
		r.drop(x)
	case *syntax.Truncate:
		for _, t := range x.Tables {
			r.change(Change{Verb: "TRUNCATE", Table: r.tables[r.resolveTable(t)], Span: t.Span})
		}
	case *syntax.Use:
		r.setDefaults(x)
	case *syntax.Set:
		if x.Value != nil {
			acc := r.scratch()
			r.walk(x.Value, outer, Identity, inItems, acc)
			r.release(acc)
		}
	case *syntax.Explain:
		// What is explained does not run: it only names tables.
		dry := r.dry
		r.dry = true
		r.body(x.Inner, outer)
		r.unread()
		r.dry = dry
	case *syntax.Block:
		r.block(x, outer)
	case *syntax.CreateFunction:
		r.defineFunction(x)
	case *syntax.Other:
		for _, t := range x.Names {
			id := r.resolveTable(t)
			if strings.HasPrefix(x.Verb, "ANALYZE") {
				r.change(Change{Verb: "ANALYZE", Table: r.tables[id], Span: t.Span})
			}
		}
	}
}

func (r *resolver) queryStatement(x *syntax.QueryStatement, outer *scope) {
	rel := r.query(x.Query, outer)
	into, temp := selectInto(x.Query)
	if into != nil && !(len(into.Name.Parts) == 1 && r.isVariable(into.Name.Parts[0].Text)) {
		id := r.resolveTable(into)
		if temp {
			r.tables[id].Temporary = true
		}
		r.change(Change{Verb: "CREATE", Table: r.tables[id], Span: into.Span})
		r.emit(written{table: id, mode: "CREATE", rel: rel, names: rel.names, tree: x})
		r.define(id, rel, rel.names)
		return
	}
	r.emit(written{table: r.table([]string{"<query>"}, []bool{true}, QueryTable), mode: "QUERY", rel: rel, names: rel.names, tree: x})
}

// selectInto finds SELECT … INTO t in a query.
func selectInto(q *syntax.Query) (*syntax.Table, bool) {
	if q == nil {
		return nil, false
	}
	e := q.Body
	for {
		switch x := e.(type) {
		case *syntax.Select:
			return x.Into, x.IntoTemp
		case *syntax.SetOp:
			e = x.Left
		case *syntax.Query:
			e = x.Body
		default:
			return nil, false
		}
	}
}

// block resolves the statements of a block in order.
func (r *resolver) block(x *syntax.Block, outer *scope) {
	before := len(r.variables)
	for _, p := range x.Params {
		r.variables = append(r.variables, p.Text)
	}
	if x.On != nil {
		r.resolveTable(x.On)
	}
	acc := r.scratch()
	for _, e := range x.Conditions {
		r.walk(e, outer, Filter, inItems, acc)
	}
	r.release(acc)
	for _, st := range x.Statements {
		r.statement(st)
	}
	// What DECLARE names is for the statements after it.
	if x.What != "DECLARE" || len(x.Statements) > 0 {
		r.variables = r.variables[:min(before, len(r.variables))]
	}
}

// isVariable reports whether a name is a parameter or a variable of the block.
func (r *resolver) isVariable(name string) bool {
	for _, v := range r.variables {
		if strings.EqualFold(v, name) {
			return true
		}
	}
	return false
}

// setDefaults sets the catalog and the database in force.
func (r *resolver) setDefaults(x *syntax.Use) {
	n := len(x.Name.Parts)
	if n == 0 {
		return
	}
	last := x.Name.Parts[n-1]
	r.defaultsQuoted = last.Quoted
	database := last.Text
	switch x.Object {
	case "CATALOG":
		r.catalog, r.database = database, ""
		return
	case "WAREHOUSE", "ROLE", "SECONDARY ROLES":
		return
	case "DATABASE", "":
		// A database of these holds schemas.
		if n == 1 && r.rules.schemas {
			r.catalog, r.database = database, ""
			return
		}
		if strings.EqualFold(database, "DEFAULT") && !last.Quoted && n == 1 {
			r.database = r.defaults.Database
			return
		}
	}
	if n > 1 {
		r.catalog = x.Name.Parts[n-2].Text
	}
	r.database = database
}

// resolveTable interns the table that a reference names.
func (r *resolver) resolveTable(t *syntax.Table) int32 {
	id := r.tableOf(t)
	if name := r.tables[id].Name; strings.HasPrefix(name, "#") {
		r.tables[id].Temporary = true
	}
	return id
}

func (r *resolver) change(c Change) {
	if r.dry {
		return
	}
	c.Statement = r.stmt
	r.a.Changes = append(r.a.Changes, c)
}
