package sql

import (
	"strings"

	"headwater/ingest/sql/syntax"
)

// ambiguous marks a name that several tables have.
func (r *resolver) ambiguous(ref *syntax.Ref, name string, s *scope) meaning {
	u := Unresolved{Span: ref.Span, Name: name, Reason: "several tables have this column"}
	buf := r.scratch()
	defer r.release(buf)
	same := true
	for i := range s.tables {
		c := r.find(s.tables[i].rel, name)
		if c < 0 {
			continue
		}
		if len(buf.from) > 0 && c != buf.from[0] {
			same = false
		}
		buf.from = append(buf.from, c)
		if t := s.tables[i].rel.table; t >= 0 {
			u.Candidates = append(u.Candidates, r.tables[t])
		}
	}
	if same {
		return meaning{buf.from[0], 1, true}
	}
	r.unresolved(u)
	return r.ofUndecided(ref, name)
}

// severalOpen marks a name that one of several tables without schema may have.
func (r *resolver) severalOpen(ref *syntax.Ref, name string, s *scope) meaning {
	key := undecidedKey{s, name}
	if c, ok := r.guessed[key]; ok {
		return meaning{c, 1, true}
	}
	var open [][]opening
	for i := range s.tables {
		open = append(open, s.tables[i].rel.open...)
	}
	c := r.undecidedColumn(name, ref, open)
	if r.guessed == nil {
		r.guessed = make(map[undecidedKey]int32)
	}
	r.guessed[key] = c
	return meaning{c, 1, true}
}

type undecidedKey struct {
	scope *scope
	name  string
}

// ofUndecided gives a column of no known table.
func (r *resolver) ofUndecided(ref *syntax.Ref, name string) meaning {
	one := [1]dep{{r.baseColumn(undecided, name), Identity}}
	c := r.newColumn(column{set: r.deps.keep(one[:]), item: ref, node: -1})
	return meaning{c, len(ref.Parts), true}
}

// unknownQualifier marks a name whose table is not in scope.
func (r *resolver) unknownQualifier(ref *syntax.Ref, s *scope) meaning {
	name := ref.Parts[len(ref.Parts)-1].Text
	if s == nil || !s.anyTable() || strings.EqualFold(name, "NEXTVAL") || strings.EqualFold(name, "CURRVAL") {
		return meaning{-1, len(ref.Parts), true}
	}
	r.unresolved(Unresolved{Span: ref.Span, Name: ref.Span.In(r.text), Reason: "no table in scope goes by " + ref.Parts[0].Text})
	return r.ofUndecided(ref, name)
}

// missing marks a column that a table with a known schema does not have.
func (r *resolver) missing(ref *syntax.Ref, b *binding, k int) meaning {
	u := Unresolved{Span: ref.Span, Name: ref.Span.In(r.text), Reason: "the schema that is known has no such column"}
	if b.rel.table >= 0 {
		u.Table = r.tables[b.rel.table]
		r.unresolved(u)
		c := r.scanColumn(b.rel, r.baseColumn(b.rel.table, ref.Parts[k].Text), ref)
		return meaning{c, k + 1, true}
	}
	r.unresolved(u)
	return meaning{-1, len(ref.Parts), true}
}
