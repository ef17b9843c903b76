package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"text/tabwriter"
)

// adminPage is how many entries of a list are asked for at once.
const adminPage = 1000

// list is a verb that prints a list of Catalog. columns are headings, each
// with the path of what stands below it.
func list(field, selects, columns string) func(context.Context, *admin, []string) error {
	return func(ctx context.Context, a *admin, _ []string) error {
		var answer struct{ Catalog map[string][]json.RawMessage }
		if err := a.graphql(ctx, fmt.Sprintf("{ catalog { %s { %s } } }", field, selects), nil, &answer); err != nil {
			return err
		}
		return a.print(answer.Catalog[field], columns)
	}
}

// pages is list for one that comes in pages.
func pages(field, selects, columns string) func(context.Context, *admin, []string) error {
	return func(ctx context.Context, a *admin, _ []string) error {
		most := math.MaxInt
		if field == "audit" {
			most = a.limit
		}
		query := fmt.Sprintf("query($first: Int!, $after: String) { catalog { %s(first: $first, after: $after) { nodes { %s } pageInfo { hasNextPage endCursor } } } }", field, selects)
		entries, err := whole(most, func(first int, after *string) (page, error) {
			var answer struct{ Catalog map[string]page }
			err := a.graphql(ctx, query, map[string]any{"first": first, "after": after}, &answer)
			return answer.Catalog[field], err
		})
		if err != nil {
			return err
		}
		return a.print(entries, columns)
	}
}

// A page is one page of a list.
type page struct {
	Nodes    []json.RawMessage
	PageInfo struct {
		HasNextPage bool
		EndCursor   *string
	}
}

// whole asks for the pages of a list, up to a number of entries.
func whole(most int, ask func(first int, after *string) (page, error)) ([]json.RawMessage, error) {
	var entries []json.RawMessage
	var after *string
	for {
		p, err := ask(min(adminPage, most-len(entries)), after)
		if err != nil {
			return nil, err
		}
		entries = append(entries, p.Nodes...)
		if !p.PageInfo.HasNextPage || len(entries) >= most {
			return entries, nil
		}
		after = p.PageInfo.EndCursor
	}
}

// table prints a global table with its members.
func (a *admin) table(ctx context.Context, name string) error {
	type head struct {
		Name     string            `json:"name"`
		Kind     string            `json:"kind"`
		Declared bool              `json:"declared"`
		Members  []json.RawMessage `json:"members"`
	}
	var found head
	const query = `query($name: String!, $first: Int!, $after: String) { catalog { globalTable(name: $name) { name kind declared
		members(first: $first, after: $after) { nodes { region namespace name sources } pageInfo { hasNextPage endCursor } } } } }`
	members, err := whole(math.MaxInt, func(first int, after *string) (page, error) {
		var answer struct {
			Catalog struct {
				GlobalTable *struct {
					Name, Kind string
					Declared   bool
					Members    page
				}
			}
		}
		err := a.graphql(ctx, query, map[string]any{"name": name, "first": first, "after": after}, &answer)
		t := answer.Catalog.GlobalTable
		if err == nil && t == nil {
			err = fmt.Errorf("%w: there is no global table %q", errNotFound, name)
		}
		if err != nil {
			return page{}, err
		}
		found = head{t.Name, t.Kind, t.Declared, nil}
		return t.Members, nil
	})
	if err != nil {
		return err
	}
	if found.Members = append([]json.RawMessage{}, members...); a.has("json") {
		return printJSON(a.out, found)
	}
	said := "fed by data catalogs"
	if found.Declared {
		said = "declared"
	}
	fmt.Fprintf(a.out, "%s, %s, %s, %d members\n", found.Name, found.Kind, said, len(members))
	return a.print(members, "REGION region, NAMESPACE namespace, NAME name, SOURCES sources")
}

// print prints entries, as JSON or as a table with headings. No entries are no
// table.
func (a *admin) print(entries []json.RawMessage, columns string) error {
	if a.has("json") {
		return printJSON(a.out, append([]json.RawMessage{}, entries...))
	}
	if len(entries) == 0 {
		return nil
	}
	var headings, paths []string
	for column := range strings.SplitSeq(columns, ", ") {
		at := strings.LastIndexByte(column, ' ')
		headings, paths = append(headings, column[:at]), append(paths, column[at+1:])
	}
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.Join(headings, "\t"))
	for _, raw := range entries {
		var entry any
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		if err := d.Decode(&entry); err != nil {
			return err
		}
		cells := make([]string, len(paths))
		for i, path := range paths {
			cells[i] = cell(entry, path)
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	return w.Flush()
}

// cell writes what stands at a path of an entry on one line; nothing is a
// dash, so that columns can be told apart.
func cell(entry any, path string) string {
	for key := range strings.SplitSeq(path, ".") {
		fields, _ := entry.(map[string]any)
		entry = fields[key]
	}
	var s string
	switch v := entry.(type) {
	case nil:
	case bool:
		if s = "no"; v {
			s = "yes"
		}
	case []any:
		parts := make([]string, len(v))
		for i, p := range v {
			parts[i] = fmt.Sprint(p)
		}
		s = strings.Join(parts, ",")
	default:
		s = fmt.Sprint(v)
	}
	if s == "" {
		return "-"
	}
	return strings.NewReplacer("\t", " ", "\n", " ").Replace(s)
}
