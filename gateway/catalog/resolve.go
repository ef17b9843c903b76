package catalog

import (
	"fmt"
	"strings"

	"headwater/graph"
)

// How often names may be replaced by the next.
const (
	longestChain   = 32 // from an alias on
	longestNaming  = 10 // by naming rules alone
	longestResolve = longestChain + 3*longestNaming
)

// Resolve returns the name that a data store's name stands for after aliases,
// naming rules and namespace rules, in this order, again and again until none
// applies. Of naming rules one for the region wins over one for any, then the
// longest prefix. Columns stay; processes are returned as they are.
func (s *State) Resolve(n graph.Name) graph.Name {
	if n.Kind != graph.DataStoreKind || len(s.aliases)+len(s.naming)+len(s.namespaces) == 0 {
		return n
	}
	at := nameOf(n)
	for range longestResolve { // what Apply takes ends sooner
		next, ok := s.step(at)
		if !ok {
			break
		}
		at = next
	}
	n.Region, n.Namespace, n.Name = at.Region, at.Namespace, at.Name
	return n
}

// step replaces a name once; false where nothing applies.
func (s *State) step(n Name) (Name, bool) {
	if a, ok := s.aliases.get(n.key()); ok {
		return a.To, true
	}
	ns, name := n.Graph().Folded()
	for _, region := range [...]string{n.Region, ""} {
		if r, ok := s.ruleFor(region, ns, name); ok {
			to := Name{n.Region, r.ToNamespace, r.ToPrefix + name[len(r.Prefix):]}
			if r.ToRegion != "" {
				to.Region = r.ToRegion
			}
			return to, true
		}
	}
	if r, ok := s.namespaces.get(ns); ok && !r.Apart && r.Region != n.Region {
		n.Region = r.Region
		return n, true
	}
	return n, false
}

// ruleFor returns the naming rule with the longest prefix, folded.
func (s *State) ruleFor(region, namespace, name string) (NamingRule, bool) {
	var best NamingRule
	found := false
	if len(s.naming) == 0 {
		return best, false
	}
	for r := range s.naming.under(join(region, namespace, "")) {
		_, r.Prefix = r.from()
		if len(name) > len(r.Prefix) && strings.HasPrefix(name, r.Prefix) && (!found || len(r.Prefix) > len(best.Prefix)) {
			best, found = r, true
		}
	}
	return best, found
}

// follow refuses a name that stands for itself after some steps, or for
// another after too many.
func (s *State) follow(n Name) error {
	path, at := []string{n.String()}, n
	for range longestChain - 1 {
		next, ok := s.step(at)
		if !ok {
			return nil
		}
		at = next
		path = append(path, at.String())
		if at.key() == n.key() {
			return refused("names would go round: %s", strings.Join(path, " → "))
		}
	}
	return refused("names would be replaced more than %d times: %s …", longestChain-1, strings.Join(path[:4], " → "))
}

// followAll refuses rules under which some name would go round. Naming rules
// alone can't, for circles of rules are refused (circle), and a namespace rule
// applies once in a row: so a circle has an alias in it.
func (s *State) followAll() error {
	for a := range s.Aliases() {
		if err := s.follow(a.From); err != nil {
			return err
		}
	}
	return nil
}

// circle refuses naming rules that might apply to their own results, over any
// number of others. It looks at namespaces and prefixes only, so it refuses
// some that would end.
func (s *State) circle() error {
	const fresh, open, done = 0, 1, 2
	state := make([]int, len(s.naming))
	var path []string
	var visit func(i int) error
	visit = func(i int) error {
		r := s.naming[i].value
		path = append(path, r.String())
		defer func() { path = path[:len(path)-1] }()
		if state[i] == open {
			return refused("naming rules would go round: %s", strings.Join(path, " → "))
		}
		if len(path) > longestNaming {
			return refused("more than %d naming rules would follow each other: %s", longestNaming, strings.Join(path, " → "))
		}
		if state[i] == done {
			return nil
		}
		state[i] = open
		toNS, toPrefix := NamingRule{Namespace: r.ToNamespace, Prefix: r.ToPrefix}.from()
		for j, next := range s.naming {
			ns, prefix := next.value.from()
			if ns == toNS && (strings.HasPrefix(prefix, toPrefix) || strings.HasPrefix(toPrefix, prefix)) {
				if err := visit(j); err != nil {
					return err
				}
			}
		}
		state[i] = done
		return nil
	}
	for i := range s.naming {
		if state[i] == fresh {
			if err := visit(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// An owner says which member of which global table a name is.
type owner struct {
	table  string
	member Name
}

// TableOf returns the global table that a data store is a member of, under any
// of its names.
func (s *State) TableOf(n graph.Name) (Table, bool) {
	if o, ok := s.owners.get(nameOf(s.Resolve(n)).key()); ok && n.Kind == graph.DataStoreKind {
		return s.Table(o.table)
	}
	return Table{}, false
}

// place returns the key of what a member stands for.
func (s *State) place(m Name) string { return nameOf(s.Resolve(m.Graph())).key() }

// placed returns the rows of tables in owners, sorted, or refuses members that
// stand for one data store.
func (s *State) placed(tables ...Table) (list[*owner], error) {
	n := 0
	for _, t := range tables {
		n += len(t.Members)
	}
	rows := make(list[*owner], 0, n)
	for _, t := range tables {
		for _, m := range t.Members {
			rows = append(rows, row[*owner]{s.place(m.Name), &owner{t.Name, m.Name}})
		}
	}
	sortRows(rows)
	var twice []string
	for i := 1; i < len(rows); i++ {
		if rows[i].key == rows[i-1].key {
			twice = append(twice, twoPlaces(rows[i-1].value, rows[i].value))
		}
	}
	if len(twice) > 0 {
		return nil, refused("%s", atMost(twice))
	}
	return rows, nil
}

// twoPlaces says how two members collide.
func twoPlaces(a, b *owner) string {
	where := fmt.Sprintf("twice in global table %q", a.table)
	if a.table != b.table {
		where = fmt.Sprintf("in two global tables, %q and %q", a.table, b.table)
	}
	if a.member.key() == b.member.key() {
		return fmt.Sprintf("%s would be %s", a.member, where)
	}
	return fmt.Sprintf("%s and %s, which stand for one data store, would be %s", a.member, b.member, where)
}
