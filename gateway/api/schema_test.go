package api

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
)

func schema() *ast.Schema { return NewExecutableSchema(Config{}).Schema() }

// own lists the types of the schema that are not GraphQL's.
func own(s *ast.Schema) []*ast.Definition {
	var types []*ast.Definition
	for _, d := range s.Types {
		if !d.BuiltIn {
			types = append(types, d)
		}
	}
	return types
}

func TestEverythingInTheSchemaIsDescribed(t *testing.T) {
	undescribed := func(what, description string) {
		if strings.TrimSpace(description) == "" {
			t.Errorf("%s has no description", what)
		}
	}
	for _, d := range own(schema()) {
		undescribed(d.Name, d.Description)
		for _, f := range d.Fields {
			if strings.HasPrefix(f.Name, "__") {
				continue
			}
			undescribed(d.Name+"."+f.Name, f.Description)
			for _, a := range f.Arguments {
				undescribed(fmt.Sprintf("%s.%s(%s:)", d.Name, f.Name, a.Name), a.Description)
			}
		}
		for _, v := range d.EnumValues {
			undescribed(d.Name+"."+v.Name, v.Description)
		}
	}
}

// whole is a query that selects every field of the schema.
const whole = `query($ds: NodeRef!, $col: NodeRef!, $job: NodeRef!, $from: NodeRef!) {
	node(of: $ds) { ...all }
	search(query: "", kinds: [DATASTORE, COLUMN, PROCESS], first: 3) { nodes { ...all } pageInfo { hasNextPage endCursor } totalCount }
	lineage(of: $col, direction: BOTH, granularity: COLUMN, depth: 3, limit: 5, filter: {passThrough: true, throughDeleted: false}) {
		root { ...all }
		nodes { node { ...all } distance upstream downstream }
		edges { from to kinds coarse crossRegion viaGlobal sources { process { id } origin kinds expression operators { kind snippet } provisional } }
		complete truncated { reason after } changed gaps { region reason } hidden { temporary unimportant filtered } revision
	}
	paths(from: $from, to: $ds, first: 2) { paths nodes { ...all } complete gaps { region reason } }
	regions { name healthy revision position lagSeconds }
	aliasConflicts { nodes { name { id region namespace name } targets { id region namespace name } } pageInfo { hasNextPage endCursor } }
	process: node(of: $job) { ...all }
	sqlChain(of: $col) { steps { process { id } dataStore { id } column distance sql assumes dialect } complete gaps { region reason } }
	analyzeSql(sql: "INSERT INTO t SELECT a FROM s WHERE b = 1") { dialect why confidence
		statements { verb start end reads { name kind temporary node } writes { name } warnings { start end text reason table } confidence }
		targets { table { name } mode columns { name expression sources { table column kinds } masked } dependencies { column }
			reads { table { name } predicates bounds { column operator values constant variables partition } } partitions { column } via plan { id operator inputs snippet } }
		unresolved { start end text reason table } }
}
fragment all on Node {
	id region namespace name description owners tags { name value from } updatedAt deletedAt facets
	... on DataStore {
		id region namespace name description owners tags { name } updatedAt deletedAt facets kind platform url aliases
		columns(first: 2) { nodes { path } pageInfo { hasNextPage } totalCount }
		partitions(first: 2) { nodes { name createdAt expectedBy } pageInfo { hasNextPage } }
		producers { id } consumers { id }
	}
	... on Column {
		id region namespace name description owners tags { name } updatedAt deletedAt facets path type ordinal
		dataStore { id } producers { id } consumers { id }
	}
	... on Process {
		id region namespace name description owners tags { name } updatedAt deletedAt facets kind parent { id } sql dialect
		plan { id operator inputs snippet } reads { id } writes { id } lastRun { id state startedAt endedAt } provisional
	}
}
mutation m { deleteNode(of: {id: "x"}) { position } ` + allChanges + ` }
query c ` + wholeCatalog

func TestAQueryOfEveryFieldIsAnswered(t *testing.T) {
	selected := map[string]bool{}
	doc, err := gqlparser.LoadQueryWithRules(schema(), strings.Replace(whole, "query(", "query q(", 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	var walk func(ast.SelectionSet)
	walk = func(set ast.SelectionSet) {
		for _, s := range set {
			switch s := s.(type) {
			case *ast.Field:
				selected[s.ObjectDefinition.Name+"."+s.Name] = true
				walk(s.SelectionSet)
			case *ast.InlineFragment:
				walk(s.SelectionSet)
			}
		}
	}
	for _, o := range doc.Operations {
		walk(o.SelectionSet)
	}
	for _, f := range doc.Fragments {
		walk(f.SelectionSet)
	}
	for _, d := range own(schema()) {
		if d.Kind != ast.Object && d.Kind != ast.Interface {
			continue
		}
		for _, f := range d.Fields {
			if !strings.HasPrefix(f.Name, "__") && !selected[d.Name+"."+f.Name] {
				t.Errorf("the query does not select %s.%s", d.Name, f.Name)
			}
		}
	}
	s := serve(t, Options{}, platform()...)
	query, _, _ := strings.Cut(whole, "mutation m")
	r := s.ask(query, "ds", ref(sales), "col", ref(sales.Of("total")), "job", ref(loadSales), "from", ref(orders))
	r.want(`"total"`, "lineage", "root", "path")
	r.want(`"load_sales"`, "process", "name")
}

func TestIntrospectionShowsTheSchema(t *testing.T) {
	s := serve(t, Options{})
	r := s.ask(`{ __schema { queryType { name } mutationType { name } types { name description fields { name args { name defaultValue } type { kind ofType { name } } } enumValues { name } inputFields { name } } } __type(name: "LineageFilter") { inputFields { name defaultValue } } }`)
	r.want(`"Query"`, "__schema", "queryType", "name")
	r.want(`"Mutation"`, "__schema", "mutationType", "name")
}

func TestTheGeneratedCodeHasTheSchemaAtTheRoot(t *testing.T) {
	text, err := os.ReadFile("../../schema.graphql")
	if err != nil {
		t.Fatal(err)
	}
	if sources[0].Input != string(text) {
		t.Error("generated.go is older than schema.graphql: run go generate ./gateway/api")
	}
}
