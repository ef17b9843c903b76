package api

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"headwater/gateway/catalog"
)

// A Catalog is what people decide about regions and names, as one gateway has
// it: catalog.Replica, whose methods these are.
type Catalog interface {
	Now() (*catalog.State, catalog.Age)
	Members() []catalog.Peer
	Change(ctx context.Context, c catalog.Command) (catalog.Result, error)
	Join(ctx context.Context, who string, p catalog.Peer) error
	Leave(ctx context.Context, who, name string) error
}

// noCatalog is the answer of a server that is no gateway.
var noCatalog = &fault{code: codeUnavailable, message: "this server has no catalog; ask a gateway"}

// Catalog is Query.catalog.
func (q *query) Catalog(context.Context) (*decided, error) {
	if q.o.Catalog == nil {
		return nil, noCatalog
	}
	state, age := q.o.Catalog.Now()
	return &decided{state, age, q.o.Catalog, q.o.Namespaces}, nil
}

// A decided is Catalog at one version.
type decided struct {
	state *catalog.State
	age   catalog.Age
	at    Catalog
	// reported, if set, lists the namespaces that regions report.
	reported func() map[string][]string
}

// Version is Catalog.version.
func (d *decided) Version() int { return int(d.state.Version()) }

// Leader is Catalog.leader.
func (d *decided) Leader() string { return d.age.Leader }

// AgeSeconds is Catalog.ageSeconds.
func (d *decided) AgeSeconds() *float64 {
	age, ok := d.age.Of(time.Now())
	if !ok {
		return nil
	}
	s := age.Round(time.Millisecond).Seconds()
	return &s
}

// Regions is Catalog.regions.
func (d *decided) Regions() []catalog.Region { return slices.Collect(d.state.Regions()) }

// Gateways is Catalog.gateways.
func (d *decided) Gateways() []*CatalogGateway {
	var list []*CatalogGateway
	for _, p := range d.at.Members() {
		list = append(list, &CatalogGateway{Name: p.Name, Raft: p.Address, URL: p.Serves, Leads: p.Name == d.age.Leader})
	}
	return list
}

// NamespaceRules is Catalog.namespaceRules.
func (d *decided) NamespaceRules() []catalog.NamespaceRule {
	return slices.Collect(d.state.NamespaceRules())
}

// Suspects is Catalog.suspects.
func (d *decided) Suspects() []catalog.Suspect {
	if d.reported == nil {
		return nil
	}
	return d.state.Suspects(d.reported())
}

// NamingRules is Catalog.namingRules.
func (d *decided) NamingRules() []catalog.NamingRule { return slices.Collect(d.state.NamingRules()) }

// Filters is Catalog.filters.
func (d *decided) Filters() []catalog.Filter { return slices.Collect(d.state.Filters()) }

// Notices is Catalog.notices.
func (d *decided) Notices() []notice {
	var list []notice
	for n := range d.state.Notices() {
		list = append(list, notice{n})
	}
	return list
}

// Aliases is Catalog.aliases.
func (d *decided) Aliases(first *int, after *string) (*CatalogAliasConnection, error) {
	p, err := newPage("aliases", first, after, 100)
	if err != nil {
		return nil, err
	}
	all := slices.Collect(d.state.Aliases())
	key := func(a catalog.Alias) string { return a.From.String() }
	c := &CatalogAliasConnection{PageInfo: info(p, all, key)}
	from, to := bounds(p, all, key)
	for _, a := range all[from:to] {
		c.Nodes = append(c.Nodes, &catalogAlias{a})
	}
	return c, nil
}

// GlobalTables is Catalog.globalTables.
func (d *decided) GlobalTables(first *int, after *string) (*GlobalTableConnection, error) {
	p, err := newPage("global tables", first, after, 100)
	if err != nil {
		return nil, err
	}
	all := slices.Collect(d.state.Tables())
	key := func(t catalog.Table) string { return t.Name }
	c := &GlobalTableConnection{PageInfo: info(p, all, key)}
	from, to := bounds(p, all, key)
	for _, t := range all[from:to] {
		c.Nodes = append(c.Nodes, &globalTable{t})
	}
	return c, nil
}

// GlobalTable is Catalog.globalTable.
func (d *decided) GlobalTable(name string) *globalTable {
	t, ok := d.state.Table(name)
	if !ok {
		return nil
	}
	return &globalTable{t}
}

// Audit is Catalog.audit.
func (d *decided) Audit(first *int, after *string) (*AuditConnection, error) {
	p, err := newPage("the audit trail", first, after, 100)
	if err != nil {
		return nil, err
	}
	all := slices.Collect(d.state.Audit())
	key := func(e catalog.Entry) string { return strconv.FormatUint(e.Version, 10) }
	c := &AuditConnection{PageInfo: info(p, all, key)}
	from, to := bounds(p, all, key)
	for _, e := range all[from:to] {
		c.Nodes = append(c.Nodes, &auditEntry{e})
	}
	return c, nil
}

// A catalogAlias is CatalogAlias.
type catalogAlias struct{ catalog.Alias }

// From is CatalogAlias.from.
func (a *catalogAlias) From() *ReportedName { return reported(a.Alias.From.Graph()) }

// To is CatalogAlias.to.
func (a *catalogAlias) To() *ReportedName { return reported(a.Alias.To.Graph()) }

// A globalTable is GlobalTable.
type globalTable struct{ catalog.Table }

// MemberCount is GlobalTable.memberCount.
func (t *globalTable) MemberCount() int { return len(t.Table.Members) }

// Members is GlobalTable.members.
func (t *globalTable) Members(first *int, after *string) (*GlobalTableMemberConnection, error) {
	p, err := newPage("members of "+strings.ReplaceAll(t.Name, "\x00", ""), first, after, 100)
	if err != nil {
		return nil, err
	}
	all := t.Table.Members
	key := func(m catalog.Member) string { return m.String() }
	c := &GlobalTableMemberConnection{PageInfo: info(p, all, key)}
	from, to := bounds(p, all, key)
	for _, m := range all[from:to] {
		c.Nodes = append(c.Nodes, &GlobalTableMember{ID: m.Graph().ID().String(), Region: m.Region, Namespace: m.Namespace, Name: m.Name.Name, Sources: m.Sources})
	}
	return c, nil
}

// A notice is CatalogNotice.
type notice struct{ catalog.Notice }

// Until is CatalogNotice.until.
func (n *notice) Until() *string { return dateTime(n.Notice.Until) }

// An auditEntry is AuditEntry.
type auditEntry struct{ catalog.Entry }

// Version is AuditEntry.version.
func (e *auditEntry) Version() int { return int(e.Entry.Version) }

// At is AuditEntry.at.
func (e *auditEntry) At() string { return string(appendTime(nil, e.Entry.At)) }
