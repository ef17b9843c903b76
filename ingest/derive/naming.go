package derive

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"headwater/graph"
	"headwater/ingest/sql"
	"headwater/ingest/sql/syntax"
)

// Naming says how the tables of SQL are called in the graph, where the events
// of a process do not say so themselves. The first rule whose Jobs fits counts.
type Naming []Rule

// A Rule is for the SQL of some processes.
type Rule struct {
	// Jobs is a pattern (path.Match) for the namespace of processes; empty is
	// all.
	Jobs string
	// Dialect is that of SQL whose dialect the process does not say; empty
	// guesses.
	Dialect string
	// Catalog and Database are in force when a script begins.
	Catalog, Database string
	// Tables say how tables are called; the first that fits counts.
	Tables []TableRule
}

// A TableRule names the tables of a catalog: "" is any.
type TableRule struct {
	Catalog   string
	Namespace string
	// Name is a template with {catalog}, {database} and {table}. Default:
	// those that are known, with dots.
	Name string
}

// Check says which rule can't be followed.
func (n Naming) Check() error {
	for i, r := range n {
		if _, err := path.Match(r.Jobs, ""); err != nil {
			return fmt.Errorf("sql rule %d: jobs: %q: %w", i+1, r.Jobs, err)
		}
		if r.Dialect != "" && syntax.Lookup(r.Dialect) == nil {
			return fmt.Errorf("sql rule %d: dialect: %q is not known", i+1, r.Dialect)
		}
		for j, t := range r.Tables {
			if t.Namespace == "" {
				return fmt.Errorf("sql rule %d: table rule %d: namespace is needed", i+1, j+1)
			}
			rest := strings.NewReplacer("{catalog}", "", "{database}", "", "{table}", "").Replace(t.Name)
			if strings.ContainsAny(rest, "{}") {
				return fmt.Errorf("sql rule %d: table rule %d: name: %q: only {catalog}, {database} and {table} can be filled in", i+1, j+1, t.Name)
			}
		}
	}
	return nil
}

// of returns the rule for the processes of a namespace.
func (n Naming) of(namespace string) Rule {
	for _, r := range n {
		if ok, _ := path.Match(r.Jobs, namespace); ok || r.Jobs == "" {
			return r
		}
	}
	return Rule{}
}

// Within returns the rules as they hold for the processes of one namespace,
// empty being any, with another catalog and database in force; nil leaves them.
func (n Naming) Within(namespace string, catalog, database *string) Naming {
	rule := n.of(namespace)
	if namespace == "" && len(n) > 0 {
		rule = n[0]
	}
	rule.Jobs = ""
	if catalog != nil {
		rule.Catalog = *catalog
	}
	if database != nil {
		rule.Database = *database
	}
	return Naming{rule}
}

func (r *Rule) dialect(said string) string {
	if syntax.Lookup(said) != nil {
		return said
	}
	return r.Dialect
}

// Names are the names of the tables of one process.
type Names struct {
	subject graph.Name
	rule    Rule
	// known are the data sets that the process itself names.
	known []graph.Name
	parts [][]string // of known
}

func (n Naming) names(subject graph.Name, c *graph.Content) *Names {
	x := &Names{subject: subject, rule: n.of(subject.Namespace)}
	for _, list := range [...][]graph.Dataset{c.Reads, c.Writes} {
		for i := range list {
			x.add(list[i].Name)
			for _, a := range list[i].Aliases {
				x.add(a.To)
			}
		}
	}
	return x
}

func (x *Names) add(n graph.Name) {
	if !slices.Contains(x.known, n) {
		x.known = append(x.known, n)
		x.parts = append(x.parts, strings.Split(n.Name, "."))
	}
}

// Table names a table of an analysis.
func (x *Names) Table(t *sql.Table) graph.Name {
	if t.Kind == sql.PathTable {
		return x.path(t.Parts[len(t.Parts)-1])
	}
	return x.of(t.Parts)
}

// of names a table: as the process itself does, if that is clear; else as the
// rules say; else in the way in which the process names others.
func (x *Names) of(table []string) graph.Name {
	best, most, several := -1, 0, false
	for i, parts := range x.parts {
		n := common(parts, table)
		if n < min(len(parts), len(table)) || n < most {
			continue
		}
		several = n == most && !same(x.known[best], x.known[i])
		best, most = i, n
	}
	if best >= 0 && !several {
		return x.known[best]
	}
	name := graph.Name{Kind: graph.DataStoreKind, Region: x.subject.Region}
	var catalog, database string
	if n := len(table); n > 2 {
		catalog, database = strings.Join(table[:n-2], "."), table[n-2]
	} else if n > 1 {
		database = table[0]
	}
	for _, r := range x.rule.Tables {
		if r.Catalog != "" && !strings.EqualFold(r.Catalog, catalog) {
			continue
		}
		name.Namespace, name.Name = r.Namespace, strings.Join(table, ".")
		if r.Name != "" {
			name.Name = strings.NewReplacer("{catalog}", catalog, "{database}", database, "{table}", table[len(table)-1]).Replace(r.Name)
		}
		return asCompared(name)
	}
	name.Namespace, name.Name = x.subject.Namespace, strings.Join(table, ".")
	for i, n := range x.known {
		if strings.Contains(n.Name, "/") {
			continue // a location
		}
		// What stands before the table's own parts is the same for its
		// neighbours.
		if more := len(x.parts[i]) - len(table); more > 0 {
			name.Name = strings.Join(append(slices.Clone(x.parts[i][:more]), table...), ".")
		}
		name.Namespace = n.Namespace
		break
	}
	return asCompared(name)
}

// asCompared folds a name whose case is that of some SQL: it says nothing of
// how the table is called.
func asCompared(n graph.Name) graph.Name {
	n.Namespace, n.Name = n.Folded()
	return n
}

// common counts the last parts that two names share.
func common(a, b []string) int {
	n := 0
	for n < min(len(a), len(b)) && strings.EqualFold(a[len(a)-1-n], b[len(b)-1-n]) {
		n++
	}
	return n
}

func same(a, b graph.Name) bool { return a.ID() == b.ID() }

// path names a location as OpenLineage does: the bucket or the file system is
// the namespace.
func (x *Names) path(location string) graph.Name {
	n := graph.Name{Kind: graph.DataStoreKind, Region: x.subject.Region, Namespace: "file", Name: location}
	if scheme, rest, ok := strings.Cut(location, "://"); ok {
		authority, file, _ := strings.Cut(rest, "/")
		n.Namespace, n.Name = scheme+"://"+authority, file
		if scheme == "hdfs" || n.Name == "" || authority == "" {
			n.Name = "/" + file
		}
		if scheme == "file" {
			n.Namespace = "file"
		}
	}
	return n
}
