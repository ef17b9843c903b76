package sql

import (
	"strings"

	"headwater/ingest/sql/syntax"
)

// A scope is what names may mean at a place: the tables of FROM, the select's
// aliases, a lambda's parameters; then what the place around it sees.
type scope struct {
	parent *scope
	tables []binding
	// merged are the columns of USING and NATURAL.
	merged []mergedColumn
	// sel is the select whose aliases may be seen, with the clause that asks.
	sel *selection
	// params are a lambda's or a function's parameters.
	params []param
	// routine says that params are those of a function: no table of its body
	// without schema hides them.
	routine bool
	// ctes are the named queries that are visible.
	ctes *cteFrame
	upto int // how many of them
}

// A binding is a table reference that names may be qualified by.
type binding struct {
	alias string       // empty: by the parts of name
	name  *syntax.Name // of the table, nil for others
	rel   *relation
	// hidden bindings (the right side of SEMI joins) are seen by their ON only.
	hidden bool
}

type mergedColumn struct {
	name string
	col  int32
}

type param struct {
	name string
	col  int32 // -1: depends on nothing
}

// A place is where a name stands: it decides whether aliases are seen.
type place uint8

const (
	inItems place = iota
	inFrom
	inWhere
	inGroup
	inHaving
	inQualify
	inOrder
)

// A meaning is what a reference resolved to: a column, perhaps nothing (a
// constant word), and how many parts of the name it used.
type meaning struct {
	col  int32 // -1: depends on nothing
	used int
	ok   bool
}

// resolve says what a dotted name means in a scope.
func (r *resolver) resolve(ref *syntax.Ref, s *scope, in place) meaning {
	parts := ref.Parts
	switch len(parts) {
	case 0:
		return meaning{col: -1, ok: true}
	case 1:
		return r.resolveBare(ref, s, in)
	}
	for at := s; at != nil; at = at.parent {
		for _, p := range at.params {
			if strings.EqualFold(p.name, parts[0].Text) {
				return meaning{p.col, 1, true}
			}
		}
		if !r.spend(len(at.tables), ref) {
			return meaning{-1, len(parts), true}
		}
		for k := len(parts) - 1; k >= 1; k-- {
			if b := at.qualified(r, parts[:k]); b != nil {
				if c := r.member(b, parts[k].Text, ref); c >= 0 {
					return meaning{c, k + 1, true}
				}
				if k == 1 && len(b.rel.open) == 0 {
					// The alias may also be the name of a column: t.t.f.
					if c := r.find(b.rel, parts[0].Text); c >= 0 {
						return meaning{c, 1, true}
					}
					return r.missing(ref, b, k)
				}
			}
		}
	}
	if parts[0].Text == "" {
		return meaning{col: -1, ok: true}
	}
	// The first part may be a column and the rest a path into it.
	if m := r.bare(ref, parts[0], s, in, r.rules.structs); m.ok {
		return m
	}
	return r.unknownQualifier(ref, s)
}

// resolveBare says what a name of one part means.
func (r *resolver) resolveBare(ref *syntax.Ref, s *scope, in place) meaning {
	if m := r.bare(ref, ref.Parts[0], s, in, true); m.ok {
		return m
	}
	name := ref.Parts[0].Text
	// A table's alias is its row.
	for at := s; at != nil; at = at.parent {
		if b := at.qualified(r, ref.Parts[:1]); b != nil {
			return meaning{r.row(b.rel, ref), 1, true}
		}
	}
	if s == nil || !s.anyTable() {
		return meaning{col: -1, used: 1, ok: true}
	}
	// Some engines let an item see the aliases before it: better than nothing.
	for at := s; at != nil; at = at.parent {
		if at.sel != nil {
			if c := at.sel.alias(r, name, in); c >= 0 {
				return meaning{c, 1, true}
			}
			in = inItems
		}
	}
	u := Unresolved{Span: ref.Span, Name: name, Reason: "no table in scope has this column"}
	r.unresolved(u)
	return r.ofUndecided(ref, name)
}

// bare looks a single name up: as known, by alias as the clause allows, then
// behind the tables without schema, then further out.
func (r *resolver) bare(ref *syntax.Ref, part syntax.Ident, s *scope, in place, open bool) meaning {
	name := part.Text
	here := in
	if def := s.scalarNamed(name); def != nil {
		return meaning{r.scalar(def, s), 1, true}
	}
	for at := s; at != nil; at, here = at.parent, inItems {
		for _, p := range at.params {
			if strings.EqualFold(p.name, name) {
				return meaning{p.col, 1, true}
			}
		}
		aliases := at.sel != nil && at.sel.sees(r, here)
		if aliases && at.sel.first(r, here) {
			if c := at.sel.alias(r, name, here); c >= 0 {
				return meaning{c, 1, true}
			}
		}
		for i := range at.merged {
			if strings.EqualFold(at.merged[i].name, name) {
				return meaning{at.merged[i].col, 1, true}
			}
		}
		if !r.spend(len(at.tables), ref) {
			return meaning{-1, len(ref.Parts), true}
		}
		found, holders := int32(-1), 0
		opens, last, yields := 0, -1, -1
		for i := range at.tables {
			b := &at.tables[i]
			if b.hidden && in != inFrom {
				continue
			}
			if c := r.find(b.rel, name); c >= 0 {
				if holders == 0 {
					found = c
				}
				holders++
			} else if b.rel.yields() {
				yields = i
			} else if len(b.rel.open) > 0 {
				opens++
				last = i
			}
		}
		if opens == 0 && yields >= 0 {
			// A generator's fields, where no table could have the column.
			opens, last = 1, yields
		}
		if holders == 1 {
			return meaning{found, 1, true}
		}
		if holders > 1 {
			return r.ambiguous(ref, name, at)
		}
		if aliases {
			if c := at.sel.alias(r, name, here); c >= 0 {
				return meaning{c, 1, true}
			}
		}
		if len(ref.Parts) == 1 && (!part.Quoted && r.isPseudo(name) || r.isVariable(name)) {
			return meaning{-1, 1, true}
		}
		if opens > 0 && len(r.routines.inside) > 0 {
			if p := at.routineParam(name); p != nil {
				return meaning{p.col, 1, true}
			}
		}
		if open && opens > 0 {
			if opens == 1 {
				// A table's own alias, used as a row, is not its column.
				if len(ref.Parts) == 1 && at.isAlias(name) {
					return meaning{}
				}
				if c := r.behind(at.tables[last].rel, name, ref); c >= 0 {
					return meaning{c, 1, true}
				}
			}
			if len(ref.Parts) == 1 && !at.isAlias(name) {
				return r.severalOpen(ref, name, at)
			}
		}
	}
	return meaning{}
}

// routineParam finds a parameter of the function whose body a scope is in.
func (s *scope) routineParam(name string) *param {
	for ; s != nil; s = s.parent {
		for i := range s.params {
			if s.routine && strings.EqualFold(s.params[i].name, name) {
				return &s.params[i]
			}
		}
	}
	return nil
}

// anyTable reports whether a table is in scope.
func (s *scope) anyTable() bool {
	for ; s != nil; s = s.parent {
		if len(s.tables) > 0 {
			return true
		}
	}
	return false
}

func (s *scope) isAlias(name string) bool {
	for i := range s.tables {
		if strings.EqualFold(s.tables[i].alias, name) {
			return true
		}
	}
	return false
}

// qualified finds the table reference that a qualifier names.
func (s *scope) qualified(r *resolver, q []syntax.Ident) *binding {
	for i := len(s.tables) - 1; i >= 0; i-- {
		if b := &s.tables[i]; b.alias != "" {
			if len(q) == 1 && strings.EqualFold(b.alias, q[0].Text) {
				return b
			}
		} else if r.named(b, q) {
			return b
		}
	}
	for i := range s.tables {
		// Some engines let the table's own name stand beside its alias.
		if b := &s.tables[i]; b.alias != "" && b.name != nil && r.named(b, q) {
			return b
		}
	}
	return nil
}

// named reports whether a qualifier is the end of a table's name.
func (r *resolver) named(b *binding, q []syntax.Ident) bool {
	if b.name == nil {
		return false
	}
	n := len(b.name.Parts)
	if len(q) <= n {
		for i := range q {
			if !strings.EqualFold(b.name.Parts[n-len(q)+i].Text, q[i].Text) {
				return false
			}
		}
		return true
	}
	if b.rel.table < 0 {
		return false
	}
	parts := r.tables[b.rel.table].Parts
	if len(q) > len(parts) {
		return false
	}
	for i := range q {
		if !strings.EqualFold(parts[len(parts)-len(q)+i], q[i].Text) {
			return false
		}
	}
	return true
}

// member returns a table reference's column, -1 if it has none of the name.
func (r *resolver) member(b *binding, name string, at syntax.Node) int32 {
	if c := r.find(b.rel, name); c >= 0 {
		return c
	}
	return r.behind(b.rel, name, at)
}

// row makes a column that stands for a whole row.
func (r *resolver) row(rel *relation, at syntax.Node) int32 {
	buf := r.scratch()
	defer r.release(buf)
	if rel.table >= 0 && len(rel.names) == 0 {
		buf.deps = append(buf.deps, dep{r.baseColumn(rel.table, "*"), Identity})
		return r.newColumn(column{set: r.deps.keep(buf.deps), node: rel.node, item: at, flags: isRow})
	}
	for _, c := range r.all(rel) {
		buf.deps = add(buf.deps, r.columns[c].set, Identity)
	}
	flags := columnFlags(0)
	if len(rel.cols) == 1 {
		flags = r.columns[rel.cols[0]].flags & unnest
	}
	return r.newColumn(column{set: r.keepSet(buf), from: rel.cols, node: rel.node, item: at, flags: flags})
}
