// Package score measures package sql on labelled cases: a user's own, or those
// of other tools. A case is right when the sets it lists are equal to ours.
package score

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// A Case is one line of an oracle file, JSON. A file of one's own needs id, dialect,
// sql, and expected_tables or expected_columns; the other fields may be left
// out.
type Case struct {
	// ID names the case; Suite chooses how it is compared (see Suites), "" by
	// the default rules.
	ID      string `json:"id"`
	Suite   string `json:"suite"`
	Dialect string `json:"dialect"`
	SQL     string `json:"sql"`
	// Schema lists the columns of tables, by their names with dots: a list of
	// names, or an object of names and types in order.
	Schema Schema `json:"schema"`
	// Defaults are default_db (a catalog) and default_schema (a database).
	Defaults map[string]string `json:"defaults"`
	// ExpectedTables are the tables read and written.
	ExpectedTables struct {
		In  []string `json:"in"`
		Out []string `json:"out"`
	} `json:"expected_tables"`
	// ExpectedColumns are pairs of table.column and output: table.column, or
	// <query>.column of a bare SELECT. The source ?.c means that the table
	// cannot be told, t.* any column of t.
	ExpectedColumns [][2]string `json:"expected_columns"`
	// UseFor says what is scored: "tables", "columns". Left out: both, as far
	// as something is expected.
	UseFor []string `json:"use_for"`
	// Flags mark peculiarities; AskedColumns, if not empty, are the only
	// outputs that ExpectedColumns speaks of.
	Flags        []string          `json:"flags"`
	AskedColumns []string          `json:"asked_columns"`
	Views        map[string]string `json:"views"`
	// Transformations and Dataset are kinds of OpenLineage: source, output and
	// type.
	Transformations []Typed `json:"transformations"`
	Dataset         []Typed `json:"dataset_level_indirect"`
	// DirectTypes and IndirectTypes are kinds by output, as Doris says them:
	// one of A|B, and all of the list.
	DirectTypes   map[string]string   `json:"direct_types"`
	IndirectTypes map[string][]string `json:"indirect_types"`
	// IndirectColumns are pairs that depend through predicates.
	IndirectColumns [][2]string `json:"indirect_columns"`
	ConstantOutputs []string    `json:"constant_outputs"`
	// AllTables, of table sets, are all tables named; TableCount their number.
	AllTables  []string `json:"all_tables"`
	TableCount *int     `json:"table_count"`
}

// A Typed is an edge with OpenLineage's type and subtype.
type Typed struct {
	Source, Output, Type, Subtype string
}

// UnmarshalJSON reads [source, output, {type, subtype}].
func (t *Typed) UnmarshalJSON(data []byte) error {
	var kind struct{ Type, Subtype string }
	parts := []any{&t.Source, &t.Output, &kind}
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	t.Type, t.Subtype = kind.Type, kind.Subtype
	return nil
}

// A Schema lists the columns of tables.
type Schema map[string][]string

// UnmarshalJSON reads lists of names and, in their order, objects of types.
func (s *Schema) UnmarshalJSON(data []byte) error {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	*s = make(Schema, len(raw))
	for table, columns := range raw {
		var names []string
		if json.Unmarshal(columns, &names) != nil {
			d := json.NewDecoder(strings.NewReader(string(columns)))
			if _, err := d.Token(); err != nil {
				return err
			}
			for d.More() {
				key, err := d.Token()
				if err != nil {
					return err
				}
				var skip any
				if err := d.Decode(&skip); err != nil {
					return err
				}
				names = append(names, fmt.Sprint(key))
			}
		}
		(*s)[table] = names
	}
	return nil
}

// Columns finds a table by the longest end of its name that is listed.
func (s Schema) Columns(table []string) ([]string, bool) {
	for i := range table {
		if c, ok := s.find(strings.Join(table[i:], ".")); ok {
			return c, true
		}
	}
	// The schema may say more of the name than the script.
	name := "." + strings.ToLower(strings.Join(table, "."))
	var found []string
	hits := 0
	for t, c := range s {
		if strings.HasSuffix(strings.ToLower(t), name) {
			found = c
			hits++
		}
	}
	return found, hits == 1
}

func (s Schema) find(name string) ([]string, bool) {
	if c, ok := s[name]; ok {
		return c, true
	}
	for t, c := range s {
		if strings.EqualFold(t, name) {
			return c, true
		}
	}
	return nil, false
}

// Read reads cases, one a line.
func Read(r io.Reader) ([]*Case, error) {
	var cases []*Case
	scan := bufio.NewScanner(r)
	scan.Buffer(nil, 64<<20)
	for line := 1; scan.Scan(); line++ {
		if len(strings.TrimSpace(scan.Text())) == 0 {
			continue
		}
		c := new(Case)
		if err := json.Unmarshal(scan.Bytes(), c); err != nil {
			return nil, fmt.Errorf("read case on line %d: %w", line, err)
		}
		if c.Suite == "" {
			c.Suite, _, _ = strings.Cut(c.ID, "/")
		}
		if c.UseFor == nil {
			if len(c.ExpectedTables.In)+len(c.ExpectedTables.Out) > 0 {
				c.UseFor = append(c.UseFor, "tables")
			}
			if len(c.ExpectedColumns) > 0 {
				c.UseFor = append(c.UseFor, "columns")
			}
		}
		cases = append(cases, c)
	}
	if err := scan.Err(); err != nil {
		return nil, fmt.Errorf("read cases: %w", err)
	}
	return cases, nil
}

func (c *Case) uses(what string) bool {
	for _, u := range c.UseFor {
		if u == what {
			return true
		}
	}
	return false
}
