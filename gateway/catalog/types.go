package catalog

import (
	"strings"

	"headwater/graph"
)

// A Region is one part of the platform, with a node of its own.
type Region struct {
	Name string `json:"name"`
	// Addresses are where gateways ask it, host:port each, tried in order.
	Addresses []string `json:"addresses"`
	Note      string   `json:"note,omitempty"`
}

// A Gateway is one replica of the catalog as the others reach it.
type Gateway struct {
	Name string `json:"name"`
	// Serves is where it takes forwarded requests; only the Forwarder reads it.
	Serves string `json:"serves"`
}

// A Name is a data store's name as one region reports it.
type Name struct {
	Region    string `json:"region"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

func nameOf(n graph.Name) Name { return Name{n.Region, n.Namespace, n.Name} }

// Graph returns the name in terms of the graph.
func (n Name) Graph() graph.Name {
	return graph.Name{Kind: graph.DataStoreKind, Region: n.Region, Namespace: n.Namespace, Name: n.Name}
}

// key is equal for names that stand for one data store before any rule.
func (n Name) key() string {
	ns, name := n.Graph().Folded()
	return join(n.Region, ns, name)
}

func (n Name) String() string { return n.Region + ": " + n.Namespace + " " + n.Name }

// join makes a key of parts that hold no NUL.
func join(parts ...string) string { return strings.Join(parts, "\x00") }

// foldNamespace returns the form in which namespaces are compared.
func foldNamespace(namespace string) string {
	ns, _ := graph.Name{Kind: graph.DataStoreKind, Namespace: namespace}.Folded()
	return ns
}

// A NamespaceRule says whose tables are meant by names of a namespace.
type NamespaceRule struct {
	Namespace string `json:"namespace"`
	// Region is the one that the namespace belongs to: flows reported
	// elsewhere under it are about that region's tables.
	Region string `json:"region,omitempty"`
	// Apart, in place of Region, says that each region means its own tables.
	// It changes nothing but that the namespace is no suspect.
	Apart bool   `json:"apart,omitempty"`
	Why   string `json:"why,omitempty"`
}

// An Alias says that one data store's name stands for another.
type Alias struct {
	From Name   `json:"from"`
	To   Name   `json:"to"`
	Why  string `json:"why,omitempty"`
}

// A NamingRule gives all data stores of a namespace whose names have a prefix
// other names: those of a Trino catalog "hive." become a metastore's.
type NamingRule struct {
	// Region is the one that reports the names; empty is any.
	Region    string `json:"region,omitempty"`
	Namespace string `json:"namespace"`
	Prefix    string `json:"prefix,omitempty"`
	// ToRegion is empty where the region stays.
	ToRegion    string `json:"toRegion,omitempty"`
	ToNamespace string `json:"toNamespace"`
	ToPrefix    string `json:"toPrefix,omitempty"`
	Why         string `json:"why,omitempty"`
}

// from returns namespace and prefix as they are compared.
func (r NamingRule) from() (namespace, prefix string) {
	return graph.Name{Kind: graph.DataStoreKind, Namespace: r.Namespace, Name: r.Prefix}.Folded()
}

func (r NamingRule) key() string {
	ns, prefix := r.from()
	return join(r.Region, ns, prefix)
}

func (r NamingRule) String() string { return r.Namespace + " " + r.Prefix + "*" }

// A TableKind says what the members of a global table are to it.
type TableKind string

// The kinds of global tables.
const (
	// Partitioned: members are parts; reading the table reads all.
	Partitioned TableKind = "PARTITIONED"
	// Replicated: members are copies; a reader reads its region's own, or all
	// where its region has none.
	Replicated TableKind = "REPLICATED"
)

// A Table is a global table.
type Table struct {
	Name string    `json:"name"`
	Kind TableKind `json:"kind"`
	// Declared says that people declared it. One that only feeds name goes
	// with its last member.
	Declared bool `json:"declared,omitempty"`
	// Members are sorted by region, namespace and name.
	Members []Member `json:"members"`
}

// A Member is a data store that belongs to a global table while one source
// says so.
type Member struct {
	Name
	// Sources are who says so, sorted: Declared, or CatalogOf a region.
	Sources []string `json:"sources"`
}

// Declared is the source of members that people declare.
const Declared = "declared"

// CatalogOf is the source of members that a region's data catalog feeds.
func CatalogOf(region string) string { return "catalog:" + region }

// A Pattern picks nodes. Each field that is set must fit: Namespace and Name
// with * for any run of characters, Tag as it is.
type Pattern struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	Tag       string `json:"tag,omitempty"`
}

// A Filter hides nodes that do not matter, as scratch tables.
type Filter struct {
	Name   string  `json:"name"`
	Match  Pattern `json:"match"`
	Reason string  `json:"reason"`
	Owner  string  `json:"owner"`
}

// A Notice is what people want said beside nodes, as that a table is rebuilt.
type Notice struct {
	Name  string  `json:"name"`
	Match Pattern `json:"match"`
	Text  string  `json:"text"`
	Owner string  `json:"owner"`
	// Until is when it ends, in nanoseconds since 1970, UTC; 0 is never.
	// Replicas do not look at clocks: who shows it compares.
	Until int64 `json:"until,omitempty"`
}

// A Generation is the build of a region's part of the border index that all
// gateways follow. Numbers are never used twice, not even over regions.
type Generation struct {
	Region string `json:"region"`
	Number uint64 `json:"number"`
	// Epoch is that of the region's bus which the generation follows.
	Epoch string `json:"epoch"`
	Why   string `json:"why"`
}

// An Entry of the audit trail is one change that was made.
type Entry struct {
	// Version is the catalog's after the change.
	Version uint64 `json:"version"`
	// At is the time that the command carried, in nanoseconds since 1970, UTC.
	At  int64  `json:"at"`
	Who string `json:"who"`
	// What is the kind of command, as region.set; Of is what it changed.
	What string `json:"what"`
	Of   string `json:"of"`
	// Before and After are JSON, cut at 4 KiB; empty is nothing. Those of a
	// feed are the members that went and that came.
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}
