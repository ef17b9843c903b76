package api

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"headwater/graph"
)

// A node is what the schema calls Node: *dataStore, *column or *process.
type node interface{ self() member }

// A member is a node as part of its list, with the fields that all nodes
// share.
type member struct {
	list *list
	*graph.Node
}

func (m member) self() member { return m }

// ID is Node.id.
func (m member) ID() graph.ID { return m.Node.ID }

// Region is Node.region.
func (m member) Region() *string { return optional(m.Node.Name.Region) }

// Namespace is Node.namespace.
func (m member) Namespace() string { return m.Node.Name.Namespace }

// Name is Node.name.
func (m member) Name() string { return m.Node.Name.Name }

// Description is Node.description.
func (m member) Description() *string { return optional(m.Node.Facts.Description) }

// Owners is Node.owners.
func (m member) Owners() []string { return m.Node.Facts.Owners }

// Tags is Node.tags.
func (m member) Tags() []*Tag {
	var tags []*Tag
	for _, t := range m.Node.Facts.Tags {
		if t.Column == "" || m.Node.Column != nil {
			tags = append(tags, &Tag{Name: t.Name, Value: optional(t.Value)})
		}
	}
	return tags
}

// UpdatedAt is Node.updatedAt.
func (m member) UpdatedAt() *string { return dateTime(m.Node.Updated) }

// DeletedAt is Node.deletedAt.
func (m member) DeletedAt() *string { return dateTime(m.Node.Deleted) }

// Facets is Node.facets.
func (m member) Facets() JSON {
	if len(m.Node.Seen) == 0 || m.Node.ID.IsColumn() {
		return nil
	}
	var b []byte
	for i, name := range slices.Sorted(maps.Keys(m.Node.Seen)) {
		b = append(b, "{,"[min(i, 1)])
		b = append(appendQuoted(b, name), ':')
		if v := m.Node.Seen[name]; json.Valid(v) {
			b = append(b, v...)
		} else {
			b = appendQuoted(b, string(v))
		}
	}
	return append(b, '}')
}

// A dataStore is DataStore.
type dataStore struct{ member }

// Kind is DataStore.kind.
func (d dataStore) Kind() string { return d.Facts.Kind }

// Platform is DataStore.platform.
func (d dataStore) Platform() *string { return optional(d.Node.Facts.Platform) }

// URL is DataStore.url.
func (d dataStore) URL() *string { return optional(d.Node.Facts.URL) }

// Aliases is DataStore.aliases.
func (d dataStore) Aliases() []string {
	var names []string
	for _, a := range d.Node.Aliases {
		names = append(names, a.Namespace+" "+a.Name)
	}
	return names
}

// The usual lengths of pages.
const (
	usualColumns    = 100
	usualPartitions = 20
)

// A columnConnection is ColumnConnection.
type columnConnection struct {
	Nodes      []column
	PageInfo   *PageInfo
	TotalCount int
}

// Columns is DataStore.columns.
func (d dataStore) Columns(first *int, after *string) (*columnConnection, error) {
	p, err := newPage("columns", first, after, usualColumns)
	if err != nil {
		return nil, err
	}
	return d.columns(p), nil
}

// columns returns a page of columns. The pages of all data stores of a list
// make one list of columns.
func (d dataStore) columns(p page) *columnConnection {
	st, _ := d.list.step("columns "+p.String(), func(st *step) error {
		st.list = d.list.columns(p)
		return nil
	})
	all := d.Node.Facts.Columns
	c := &columnConnection{TotalCount: len(all), PageInfo: info(p, all, fieldPath)}
	nodes := st.columnsOf[d.Node.ID]
	c.Nodes = make([]column, len(nodes))
	for i := range nodes {
		c.Nodes[i] = column{member{st.list, &nodes[i]}}
	}
	return c
}

// columns returns the list of the columns on a page of each data store. It
// hashes ids only where something is asked that needs them.
func (l *list) columns(p page) *list {
	cols := &list{s: l.s, view: l.view, sel: l.sel.at("columns", "nodes"), facts: newFacts(0), next: map[string]*step{},
		columnsOf: map[graph.ID][]graph.Node{}}
	named := cols.sel.hasOther("__typename", "region", "namespace", "name", "description", "owners", "tags", "updatedAt", "deletedAt", "facets", "path", "type", "ordinal")
	tags := cols.sel.has("tags")
	for _, id := range l.ids {
		table := l.facts.get(id)
		if table == nil || id.Kind() != graph.DataStoreKind || id.IsColumn() {
			continue
		}
		from, to := bounds(p, table.Facts.Columns, fieldPath)
		nodes := make([]graph.Node, to-from)
		for i := range nodes {
			c := &nodes[i]
			columnOf(c, table, &table.Facts.Columns[from+i])
			if tags {
				c.Facts.Tags = tagsOf(table, c.Column)
			}
			if named {
				c.ID = table.ID.Column(c.Column.Path)
				cols.facts.put(c)
				cols.ids = append(cols.ids, c.ID)
			}
		}
		cols.columnsOf[id] = nodes
	}
	return cols
}

func fieldPath(f graph.Field) string { return f.Path }

// columnOf makes the node of a column from that of its data store, as a view
// would, but for its id and its tags.
func columnOf(c, table *graph.Node, f *graph.Field) {
	c.Name, c.Column, c.Updated, c.Deleted = table.Name, f, table.Updated, table.Deleted
	c.Name.Column = f.Path
	c.Facts = graph.Facts{Kind: table.Facts.Kind, Platform: table.Facts.Platform, Description: f.Description, Owners: table.Facts.Owners}
}

// tagsOf returns the tags of a column.
func tagsOf(table *graph.Node, f *graph.Field) []graph.Tag {
	var tags []graph.Tag
	path := strings.ToLower(f.Path) // as graph.ID.Column folds it
	for _, t := range table.Facts.Tags {
		if t.Column != "" && strings.ToLower(t.Column) == path {
			tags = append(tags, t)
		}
	}
	return tags
}

// Partitions is DataStore.partitions.
func (d dataStore) Partitions(first *int, after *string) (*PartitionConnection, error) {
	p, err := newPage("partitions", first, after, usualPartitions)
	if err != nil {
		return nil, err
	}
	return d.partitions(p), nil
}

func (d dataStore) partitions(p page) *PartitionConnection {
	name := func(p graph.Partition) string { return p.Name }
	from, to := bounds(p, d.Node.Partitions, name)
	c := &PartitionConnection{PageInfo: info(p, d.Node.Partitions, name)}
	for _, part := range d.Node.Partitions[from:to] {
		c.Nodes = append(c.Nodes, &Partition{Name: part.Name, CreatedAt: dateTime(part.Created)})
	}
	return c
}

// Producers is DataStore.producers.
func (d dataStore) Producers(ctx context.Context) ([]*process, error) {
	return d.processesIn(d.producers(ctx))
}

// Consumers is DataStore.consumers.
func (d dataStore) Consumers(ctx context.Context) ([]*process, error) {
	return d.processesIn(d.consumers(ctx))
}

func (m member) producers(ctx context.Context) (*step, error) {
	return m.uses(ctx, "producers", false, graph.Upstream)
}

func (m member) consumers(ctx context.Context) (*step, error) {
	return m.uses(ctx, "consumers", false, graph.Downstream)
}

func (m member) uses(ctx context.Context, field string, processes bool, dir graph.Direction) (*step, error) {
	st, err := m.list.uses(ctx, field, processes, dir)
	if err != nil {
		return nil, fmt.Errorf("%s of %s: %w", field, m.Node.Name, err)
	}
	return st, nil
}

// processesIn lists what a step leads to from the node.
func (m member) processesIn(st *step, err error) ([]*process, error) {
	if err != nil {
		return nil, err
	}
	ps := []*process{}
	for _, id := range st.to[m.Node.ID] {
		ps = append(ps, &process{st.member(id, nil)})
	}
	return ps, nil
}

// A column is Column.
type column struct{ member }

// Path is Column.path.
func (c column) Path() string { return c.Node.Column.Path }

// Type is Column.type.
func (c column) Type() *string { return optional(c.Node.Column.Type) }

// Ordinal is Column.ordinal.
func (c column) Ordinal() *int { return optional(c.Node.Column.Ordinal) }

// DataStore is Column.dataStore.
func (c column) DataStore(ctx context.Context) (*dataStore, error) {
	st, err := c.base(ctx)
	if err != nil {
		return nil, err
	}
	return &dataStore{st.member(c.Node.ID.Base(), nil)}, nil
}

func (m member) base(ctx context.Context) (*step, error) {
	st, err := m.list.follow(ctx, "dataStore", m.list.sel.at("dataStore"), func(_ context.Context, to map[graph.ID][]graph.ID) ([]graph.Gap, error) {
		for _, id := range m.list.ids {
			if id.IsColumn() {
				to[id] = []graph.ID{id.Base()}
			}
		}
		return nil, nil
	})
	if err != nil {
		return nil, fmt.Errorf("data store of %s: %w", m.Node.Name, err)
	}
	return st, nil
}

// Producers is Column.producers.
func (c column) Producers(ctx context.Context) ([]*process, error) {
	return c.processesIn(c.producers(ctx))
}

// Consumers is Column.consumers.
func (c column) Consumers(ctx context.Context) ([]*process, error) {
	return c.processesIn(c.consumers(ctx))
}

// optional is nil for what is not said.
func optional[T comparable](v T) *T {
	var none T
	if v == none {
		return nil
	}
	return &v
}

// dateTime writes nanoseconds since 1970; 0 is none.
func dateTime(ns int64) *string {
	if ns == 0 {
		return nil
	}
	s := string(appendTime(nil, ns))
	return &s
}

// JSON is a value that is JSON already.
type JSON []byte

// MarshalGQL implements graphql.Marshaler.
func (j JSON) MarshalGQL(w io.Writer) { _, _ = w.Write(j) }

// UnmarshalGQL implements graphql.Unmarshaler.
func (j *JSON) UnmarshalGQL(v any) (err error) {
	*j, err = json.Marshal(v)
	return err
}

// MarshalNodeID writes a graph.ID as an ID.
func MarshalNodeID(id graph.ID) graphql.Marshaler {
	return graphql.WriterFunc(func(w io.Writer) { _, _ = io.WriteString(w, `"`+id.String()+`"`) })
}

// UnmarshalNodeID reads a graph.ID.
func UnmarshalNodeID(v any) (graph.ID, error) {
	s, err := graphql.UnmarshalString(v)
	id, err2 := graph.ParseID(s)
	return id, cmp.Or(err, err2)
}
