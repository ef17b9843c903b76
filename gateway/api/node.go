package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"headwater/graph"
)

// A node is what the schema calls Node: *dataStore, *column or *process.
type node interface{ isNode() }

// A member is a node as part of its list, with the fields that all nodes
// share.
type member struct {
	list *list
	*graph.Node
}

func (m member) isNode() {}

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
		if t.Column == "" || m.Node.ID.IsColumn() {
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
	var b bytes.Buffer
	for i, name := range slices.Sorted(maps.Keys(m.Node.Seen)) {
		b.WriteByte("{,"[min(i, 1)])
		b.Write(quote(name))
		b.WriteByte(':')
		if v := m.Node.Seen[name]; json.Valid(v) {
			b.Write(v)
		} else {
			b.Write(quote(string(v)))
		}
	}
	b.WriteByte('}')
	return b.Bytes()
}

func quote(s string) []byte {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // strings always marshal
	}
	return b
}

// A dataStore is DataStore.
type dataStore struct{ member }

// Kind is DataStore.kind.
func (d *dataStore) Kind() string { return d.Facts.Kind }

// Platform is DataStore.platform.
func (d *dataStore) Platform() *string { return optional(d.Node.Facts.Platform) }

// URL is DataStore.url.
func (d *dataStore) URL() *string { return optional(d.Node.Facts.URL) }

// Aliases is DataStore.aliases.
func (d *dataStore) Aliases() []string {
	var names []string
	for _, a := range d.Node.Aliases {
		names = append(names, a.Namespace+" "+a.Name)
	}
	return names
}

// Columns is DataStore.columns. The pages of all data stores of the list make
// one list of columns.
func (d *dataStore) Columns(first *int, after *string) (*ColumnConnection, error) {
	p, err := newPage("columns", first, after, 100)
	if err != nil {
		return nil, err
	}
	st, err := d.list.step("columns "+p.String(), func(st *step) error {
		st.list = &list{s: d.list.s, view: d.list.view, sel: d.list.sel.at("columns", "nodes"), facts: map[graph.ID]*graph.Node{}, next: map[string]*step{}}
		for _, id := range d.list.ids {
			table := d.list.facts[id]
			if table == nil || id.Kind() != graph.DataStoreKind || id.IsColumn() {
				continue
			}
			from, to := bounds(p, table.Facts.Columns, fieldPath)
			for i := range table.Facts.Columns[from:to] {
				c := columnOf(table, &table.Facts.Columns[from+i])
				st.facts[c.ID] = c
				st.ids = append(st.ids, c.ID)
				st.to[id] = append(st.to[id], c.ID)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	all := d.Node.Facts.Columns
	c := &ColumnConnection{TotalCount: len(all), PageInfo: info(p, all, fieldPath)}
	for _, id := range st.to[d.Node.ID] {
		c.Nodes = append(c.Nodes, st.column(id))
	}
	return c, nil
}

func fieldPath(f graph.Field) string { return f.Path }

// columnOf makes the node of a column from that of its data store, as a view
// would.
func columnOf(table *graph.Node, f *graph.Field) *graph.Node {
	c := *table
	c.ID = table.ID.Column(f.Path)
	c.Name.Column, c.Column, c.Facts.Description = f.Path, f, f.Description
	c.Facts.Columns, c.Aliases, c.Seen, c.Partitions = nil, nil, nil, nil
	c.Facts.Tags = slices.DeleteFunc(slices.Clone(table.Facts.Tags), func(t graph.Tag) bool {
		return t.Column == "" || table.ID.Column(t.Column) != c.ID
	})
	return &c
}

// Partitions is DataStore.partitions.
func (d *dataStore) Partitions(first *int, after *string) (*PartitionConnection, error) {
	p, err := newPage("partitions", first, after, 20)
	if err != nil {
		return nil, err
	}
	name := func(p graph.Partition) string { return p.Name }
	from, to := bounds(p, d.Node.Partitions, name)
	c := &PartitionConnection{PageInfo: info(p, d.Node.Partitions, name)}
	for _, part := range d.Node.Partitions[from:to] {
		c.Nodes = append(c.Nodes, &Partition{Name: part.Name, CreatedAt: dateTime(part.Created)})
	}
	return c, nil
}

// Producers is DataStore.producers.
func (d *dataStore) Producers(ctx context.Context) ([]*process, error) {
	return d.users(ctx, "producers", graph.Upstream)
}

// Consumers is DataStore.consumers.
func (d *dataStore) Consumers(ctx context.Context) ([]*process, error) {
	return d.users(ctx, "consumers", graph.Downstream)
}

func (m member) users(ctx context.Context, field string, dir graph.Direction) ([]*process, error) {
	st, err := m.list.uses(ctx, field, false, dir)
	if err != nil {
		return nil, fmt.Errorf("%s of %s: %w", field, m.Node.Name, err)
	}
	return st.processes(st.to[m.Node.ID]), nil
}

// A column is Column.
type column struct{ member }

// Path is Column.path.
func (c *column) Path() string { return c.Node.Column.Path }

// Type is Column.type.
func (c *column) Type() *string { return optional(c.Node.Column.Type) }

// Ordinal is Column.ordinal.
func (c *column) Ordinal() *int { return optional(c.Node.Column.Ordinal) }

// DataStore is Column.dataStore.
func (c *column) DataStore(ctx context.Context) (*dataStore, error) {
	st, err := c.list.follow(ctx, "dataStore", c.list.sel.at("dataStore"), func(_ context.Context, to map[graph.ID][]graph.ID) ([]graph.Gap, error) {
		for _, id := range c.list.ids {
			if id.IsColumn() {
				to[id] = []graph.ID{id.Base()}
			}
		}
		return nil, nil
	})
	if err != nil {
		return nil, fmt.Errorf("data store of %s: %w", c.Node.Name, err)
	}
	return st.dataStore(c.Node.ID.Base()), nil
}

// Producers is Column.producers.
func (c *column) Producers(ctx context.Context) ([]*process, error) {
	return c.users(ctx, "producers", graph.Upstream)
}

// Consumers is Column.consumers.
func (c *column) Consumers(ctx context.Context) ([]*process, error) {
	return c.users(ctx, "consumers", graph.Downstream)
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
	s := time.Unix(0, ns).UTC().Format(time.RFC3339Nano)
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
