package catalog

import (
	"maps"
	"slices"
	"strings"
)

// DeclareTable adds a global table or changes its kind and its declared
// members, all of them. Members that data catalogs feed stay.
type DeclareTable struct {
	Name    string    `json:"name"`
	Kind    TableKind `json:"kind"`
	Members []Name    `json:"members"`
}

// DeclareMembers adds and removes declared members of a global table.
type DeclareMembers struct {
	Table  string `json:"table"`
	Add    []Name `json:"add,omitempty"`
	Remove []Name `json:"remove,omitempty"`
}

// RemoveTable ends a global table that no data catalog feeds.
type RemoveTable struct {
	Name string `json:"name"`
}

// FeedMembers is the list of a region's data catalog: all of its tables that
// are members of global tables. It replaces what the data catalog said before
// and is taken whole or not at all.
type FeedMembers struct {
	Region  string `json:"region"`
	Members []Fed  `json:"members"`
}

// A Fed is a row of a data catalog's list.
type Fed struct {
	Table string `json:"table"`
	// Kind is that of the table; empty where the table is declared.
	Kind      TableKind `json:"kind,omitempty"`
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
}

func (DeclareTable) kind() string   { return "table.declare" }
func (DeclareMembers) kind() string { return "table.members" }
func (RemoveTable) kind() string    { return "table.remove" }
func (FeedMembers) kind() string    { return "table.feed" }

func (c DeclareTable) apply(e *edit) error {
	if err := checkTable(c.Name, c.Kind); err != nil {
		return err
	}
	if err := e.checkMembers(c.Name, c.Members); err != nil {
		return err
	}
	was, ok := e.tables.get(c.Name)
	now := was
	now.Name, now.Kind, now.Declared = c.Name, c.Kind, true
	now.Members = said(was.Members, Declared, c.Members)
	if ok && was.same(now) {
		return nil
	}
	e.noteSet(c.Name, was, ok, now)
	return e.setTables(now)
}

func (c DeclareMembers) apply(e *edit) error {
	was, ok := e.tables.get(c.Table)
	if !ok {
		return unknownTable(c.Table)
	}
	if err := e.checkMembers(c.Table, c.Add); err != nil {
		return err
	}
	gone := map[string]bool{}
	for _, n := range c.Remove {
		i := slices.IndexFunc(was.Members, func(m Member) bool { return m.key() == n.key() })
		switch {
		case i < 0:
			return refused("%s is no member of global table %q", n, c.Table)
		case !slices.Contains(was.Members[i].Sources, Declared):
			return refused("%s is a member of global table %q because %s says so; change it there", n, c.Table, strings.Join(was.Members[i].Sources, ", "))
		case slices.ContainsFunc(c.Add, func(a Name) bool { return a.key() == n.key() }):
			return refused("%s is both to be added and to be removed", n)
		}
		gone[n.key()] = true
	}
	var names []Name
	for _, m := range was.Members {
		if slices.Contains(m.Sources, Declared) && !gone[m.key()] {
			names = append(names, m.Name)
		}
	}
	now := was
	now.Members = said(was.Members, Declared, append(names, c.Add...))
	if was.same(now) {
		return nil
	}
	e.note(c.Table, was, now)
	return e.setTables(now)
}

func (c RemoveTable) apply(e *edit) error {
	was, ok := e.tables.get(c.Name)
	if !ok {
		return unknownTable(c.Name)
	}
	var feeds []string
	for _, m := range was.Members {
		for _, s := range m.Sources {
			if s != Declared && !slices.Contains(feeds, s) {
				feeds = append(feeds, s)
			}
		}
	}
	if len(feeds) > 0 {
		slices.Sort(feeds)
		return refused("global table %q is fed by %s and would be back with the next list; take it out there first", c.Name, atMost(feeds))
	}
	e.note(c.Name, was, nil)
	return e.setTables(Table{Name: c.Name})
}

func (c FeedMembers) apply(e *edit) error {
	if err := e.checkRegion(c.Region); err != nil {
		return err
	}
	source := CatalogOf(c.Region)
	lists := map[string][]Name{}
	kinds := map[string]TableKind{}
	var wrong []string
	for _, m := range c.Members {
		if err := e.checkFed(m, kinds); err != nil {
			wrong = append(wrong, reasonOf(err))
			continue
		}
		lists[m.Table] = append(lists[m.Table], Name{c.Region, m.Namespace, m.Name})
	}
	for t := range e.Tables() { // what the list does not name, it fed before
		if _, ok := lists[t.Name]; !ok && slices.ContainsFunc(t.Members, func(m Member) bool { return slices.Contains(m.Sources, source) }) {
			lists[t.Name] = nil
		}
	}
	var changed []Table
	var gone, came []string
	for _, name := range slices.Sorted(maps.Keys(lists)) {
		if err := e.checkMembers(name, lists[name]); err != nil {
			wrong = append(wrong, reasonOf(err))
			continue
		}
		was, ok := e.tables.get(name)
		now := was
		now.Name, now.Members = name, said(was.Members, source, lists[name])
		if !ok {
			now.Kind = kinds[name]
		}
		if was.same(now) {
			continue
		}
		changed = append(changed, now)
		gone, came = append(gone, missing(was, now, source)...), append(came, missing(now, was, source)...)
	}
	if len(wrong) > 0 {
		return refused("the list of region %q's data catalog: %s", c.Region, atMost(wrong))
	}
	if len(changed) == 0 {
		return nil
	}
	e.note("the data catalog of "+c.Region, gone, came)
	return e.setTables(changed...)
}

// checkFed refuses a row that does not fit its table; kinds are those of
// tables that the list makes.
func (s *State) checkFed(m Fed, kinds map[string]TableKind) error {
	kind, ok := kinds[m.Table]
	if t, there := s.tables.get(m.Table); there {
		kind, ok = t.Kind, true
	}
	if !ok {
		if m.Kind == "" {
			return refused("there is no global table %q; the list must say its kind", m.Table)
		}
		if err := checkTable(m.Table, m.Kind); err != nil {
			return err
		}
		kind, kinds[m.Table] = m.Kind, m.Kind
	}
	if m.Kind != "" && m.Kind != kind {
		return refused("global table %q is %s, not %s", m.Table, kind, m.Kind)
	}
	return nil
}

// setTables puts tables in place of those of their names, and sees that no
// data store is in two places. One that has no members and is not declared
// goes.
func (e *edit) setTables(changed ...Table) error {
	left := make(list[*owner], 0, len(e.owners))
	is := map[string]bool{}
	for _, t := range changed {
		is[t.Name] = true
	}
	for _, r := range e.owners {
		if !is[r.value.table] {
			left = append(left, r)
		}
	}
	rows, err := e.placed(changed...)
	if err != nil {
		return err
	}
	var twice []string
	for _, r := range rows {
		if o, ok := left.get(r.key); ok {
			twice = append(twice, twoPlaces(o, r.value))
		}
	}
	if len(twice) > 0 {
		return refused("%s", atMost(twice))
	}
	e.owners = merge(left, rows)
	tables := make(list[Table], 0, len(e.tables))
	for _, r := range e.tables {
		if !is[r.key] {
			tables = append(tables, r)
		}
	}
	var put list[Table]
	for _, t := range changed {
		if t.Declared || len(t.Members) > 0 {
			put = append(put, row[Table]{t.Name, t})
		}
	}
	sortRows(put)
	e.tables = merge(tables, put)
	return nil
}

// said returns members where source says exactly names, and the others what
// they said before.
func said(members []Member, source string, names []Name) []Member {
	by := make(map[string]Member, len(members)+len(names))
	for _, m := range members {
		if m.Sources = slices.DeleteFunc(slices.Clone(m.Sources), func(s string) bool { return s == source }); len(m.Sources) > 0 {
			by[m.key()] = m
		}
	}
	for _, n := range names {
		m, ok := by[n.key()]
		if !ok {
			m.Name = n
		}
		m.Sources = append(m.Sources, source)
		slices.Sort(m.Sources)
		by[n.key()] = m
	}
	out := make([]Member, 0, len(by))
	for _, k := range slices.Sorted(maps.Keys(by)) {
		out = append(out, by[k])
	}
	return out
}

func (t Table) same(u Table) bool {
	return t.Kind == u.Kind && t.Declared == u.Declared && slices.EqualFunc(t.Members, u.Members, func(a, b Member) bool {
		return a.Name == b.Name && slices.Equal(a.Sources, b.Sources)
	})
}

// missing lists what source says in t and not in u.
func missing(t, u Table, source string) []string {
	there := map[string]bool{}
	for _, m := range u.Members {
		there[m.key()] = slices.Contains(m.Sources, source)
	}
	var out []string
	for _, m := range t.Members {
		if slices.Contains(m.Sources, source) && !there[m.key()] {
			out = append(out, t.Name+": "+m.String())
		}
	}
	return out
}

// checkMembers refuses names that are none, and one that is there twice.
func (s *State) checkMembers(table string, names []Name) error {
	seen := make(map[string]bool, len(names))
	var wrong []string
	for _, n := range names {
		if err := s.checkName(n); err != nil {
			wrong = append(wrong, reasonOf(err))
		} else if seen[n.key()] {
			wrong = append(wrong, n.String()+" is there twice")
		}
		seen[n.key()] = true
	}
	if len(wrong) > 0 {
		return refused("global table %q: %s", table, atMost(wrong))
	}
	return nil
}

func checkTable(name string, kind TableKind) error {
	if err := checkText("the name of a global table", name, 1000); err != nil {
		return err
	}
	if kind != Partitioned && kind != Replicated {
		return refused("global table %q: kind %q is neither %s nor %s", name, kind, Partitioned, Replicated)
	}
	return nil
}

func unknownTable(name string) error { return refused("there is no global table %q", name) }
