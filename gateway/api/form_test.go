package api

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/99designs/gqlgen/graphql/handler/extension"
	"github.com/vektah/gqlparser/v2/ast"
	"pgregory.net/rapid"

	"headwater/graph"
	"headwater/graph/graphtest"
)

// A questioner draws queries from the schema.
type questioner struct {
	t         *rapid.T
	schema    *ast.Schema
	fragments []string
}

func (q *questioner) chance(percent int, what string) bool {
	return rapid.IntRange(0, 99).Draw(q.t, what) < percent
}

func (q *questioner) directive() string {
	return rapid.SampledFrom([]string{"", "", "", "", " @include(if: $yes)", " @skip(if: $yes)", " @include(if: false)", " @skip(if: $no) @include(if: $yes)"}).Draw(q.t, "directive")
}

// selection draws a selection of a type.
func (q *questioner) selection(of *ast.Definition, depth int) string {
	var parts []string
	for range rapid.IntRange(1, 5).Draw(q.t, "parts") {
		switch kind := rapid.IntRange(0, 9).Draw(q.t, "part"); {
		case kind < 7 || depth == 0:
			parts = append(parts, q.field(of, depth))
		case kind == 7:
			parts = append(parts, "..."+q.directive()+" "+q.selection(of, depth-1))
		case kind == 8:
			t := rapid.SampledFrom(q.fitting(of)).Draw(q.t, "type")
			parts = append(parts, "... on "+t.Name+q.directive()+" "+q.selection(t, depth-1))
		default:
			t := rapid.SampledFrom(q.fitting(of)).Draw(q.t, "type")
			body := " on " + t.Name + " " + q.selection(t, depth-1)
			name := fmt.Sprintf("f%d", len(q.fragments))
			q.fragments = append(q.fragments, "fragment "+name+body)
			parts = append(parts, "..."+name+q.directive())
			if q.chance(20, "again") {
				parts = append(parts, "..."+name)
			}
		}
	}
	return "{ " + strings.Join(parts, " ") + " }"
}

// fitting lists the types that a fragment within a type may be on.
func (q *questioner) fitting(of *ast.Definition) []*ast.Definition {
	types := []*ast.Definition{of}
	if of.Kind == ast.Interface {
		types = append(types, q.schema.GetPossibleTypes(of)...)
	}
	return append(types, q.schema.GetImplements(of)...)
}

func (q *questioner) field(of *ast.Definition, depth int) string {
	if q.chance(5, "typename") {
		return "__typename"
	}
	fields := slices.DeleteFunc(slices.Clone(of.Fields), func(f *ast.FieldDefinition) bool {
		return strings.HasPrefix(f.Name, "__") || depth == 0 && q.schema.Types[f.Type.Name()].IsCompositeType()
	})
	if len(fields) == 0 {
		return "__typename"
	}
	f := rapid.SampledFrom(fields).Draw(q.t, "field")
	text, alias := f.Name, ""
	if q.chance(20, "alias") {
		alias = "x_" + f.Name
	}
	if len(f.Arguments) > 0 {
		// An alias for each set of arguments: they may not contradict.
		first := rapid.SampledFrom([]string{"", "first: 1", "first: $one", "first: 0", "first: null", `first: 2, after: "x"`}).Draw(q.t, "arguments")
		if first != "" {
			alias = "x_" + f.Name + regexp.MustCompile(`\W+`).ReplaceAllString(first, "_")
			text += "(" + first + ")"
		}
	}
	if alias != "" {
		text = alias + ": " + text
	}
	text += q.directive()
	if t := q.schema.Types[f.Type.Name()]; t.IsCompositeType() {
		text += " " + q.selection(t, depth-1)
	}
	return text
}

// query draws a query: some fields of Query with nodes in them.
func (q *questioner) query(roots []graph.ID) string {
	root := func() string { return rapid.SampledFrom(roots).Draw(q.t, "root").String() }
	var fields []string
	for i := range rapid.IntRange(1, 2).Draw(q.t, "fields") {
		var head, of string
		switch rapid.IntRange(0, 5).Draw(q.t, "question") {
		case 0:
			head, of = fmt.Sprintf("node(of: {id: %q})", root()), "Node"
		case 1:
			head, of = fmt.Sprintf("search(query: %q, first: 7)", rapid.SampledFrom([]string{"", "s", "a", "mart"}).Draw(q.t, "text")), "NodeConnection"
		case 2:
			head, of = fmt.Sprintf("paths(from: {id: %q}, to: {id: %q}, granularity: %s)", root(), root(),
				rapid.SampledFrom([]string{"DATASTORE", "COLUMN"}).Draw(q.t, "granularity")), "Paths"
		default:
			head, of = fmt.Sprintf("lineage(of: {id: %q}, granularity: %s, depth: %d, limit: %d)", root(), rapid.SampledFrom([]string{"DATASTORE", "COLUMN", "PROCESS"}).Draw(q.t, "granularity"),
				rapid.IntRange(0, 3).Draw(q.t, "depth"), rapid.SampledFrom([]int{2, 1000}).Draw(q.t, "limit")), "Lineage"
		}
		fields = append(fields, fmt.Sprintf("q%d: %s %s", i, head, q.selection(q.schema.Types[of], 6)))
	}
	return "query($yes: Boolean!, $no: Boolean = false, $one: Int = 1) { _: __typename @skip(if: $yes) " + strings.Join(fields, " ") +
		" ... @skip(if: true) { x: search(query: \"\", first: $one) { nodes { id } } z: regions @skip(if: $no) { name } } }\n" + strings.Join(q.fragments, "\n")
}

// execute answers a query, with forms or by gqlgen's executor alone. It
// returns the data and the errors, sorted.
func execute(t rapid.TB, a *api, forms bool, query string, variables map[string]any) (string, []string) {
	exec := executor.New(NewExecutableSchema(Config{Resolvers: a}))
	exec.SetErrorPresenter(a.present)
	exec.SetRecoverFunc(a.recovered)
	exec.Use(extension.Introspection{})
	if forms {
		exec.AroundFields(encode)
	}
	s := newSession(&a.o, &a.phrases, &workspace{})
	defer s.close()
	ctx := graphql.StartOperationTrace(withSession(context.Background(), s))
	op, errs := exec.CreateOperationContext(ctx, &graphql.RawParams{Query: query, Variables: variables})
	if len(errs) > 0 {
		t.Fatalf("%s\n%v", query, errs)
	}
	responses, ctx := exec.DispatchOperation(ctx, op)
	resp := responses(ctx)
	var told []string
	for _, e := range resp.Errors {
		b, err := json.Marshal(e)
		if err != nil {
			t.Fatalf("%v", err)
		}
		told = append(told, secret.ReplaceAllString(string(b), "…"))
	}
	slices.Sort(told)
	return string(resp.Data), told
}

// secret is the id of an internal error.
var secret = regexp.MustCompile(`[0-9a-f]{12}`)

// world is the sample platform, with more of everything that happens to names.
func world() []graph.Delta {
	deltas := append(platform(), star(3)...)
	odd := table(postgres, "odd \"name\"\\ with\ttabs\nand \u2028 <é>\x01")
	return append(deltas,
		graph.Delta{Subject: job("rename"), Origin: "manual/one", State: graph.Declared, Time: day2, Says: graph.Content{
			Reads: []graph.Dataset{{Name: sales}},
			Writes: []graph.Dataset{{Name: odd, Aliases: []graph.Alias{{From: table(hive, "odd"), To: odd}}, Facts: graph.Facts{Description: "\"", Tags: []graph.Tag{{Name: "a\\b", Value: "\x1f"}}},
				Lineage: &graph.Lineage{Columns: []graph.ColumnLineage{{Column: "City", Inputs: []graph.Source{
					{Name: location.Of("CITY"), Kinds: graph.Other | graph.Identity, Detail: "first", Expression: "f(\"x\")"},
					{Name: sales.Of("city"), Kinds: graph.Other, Detail: "second", Expression: "g(x)"}}}}}}}}},
		graph.Delta{Subject: job("cleanup"), Origin: "openlineage", Run: "run-2", State: graph.Completed, Time: day2,
			Says: graph.Content{Writes: []graph.Dataset{{Name: table(hive, "mart.out1"), Lifecycle: graph.LifecycleDrop}}}})
}

// A brokenView can't say who uses what, and what one process says.
type brokenView struct{ graph.View }

func (v brokenView) Flows(ctx context.Context, ids []graph.ID, ask graph.Ask, emit func([]graph.Flow) error) ([]graph.Gap, error) {
	if ask.Layer == graph.UseLayer {
		return nil, fmt.Errorf("uses: %w", graph.ErrUnavailable)
	}
	return v.View.Flows(ctx, ids, ask, emit)
}

func (v brokenView) Says(ctx context.Context, ids []graph.ID, emit func(graph.Said) error) ([]graph.Gap, error) {
	if slices.Contains(ids, dag.ID()) {
		panic("what the dag says")
	}
	return v.View.Says(ctx, ids, emit)
}

// ways are readers of the world: one that answers, and one that fails here
// and there.
func ways(t *testing.T) (map[string]*api, []graph.ID) {
	store := graphtest.NewModel("eu")
	graphtest.Feed(t, store, world()...)
	roots := []graph.ID{sales.Of("city").ID(), sales.Of("total").ID(), orders.Of("amount").ID(), table(postgres, "hub").Of("k").ID(), location.Of("city").ID()}
	for n := range store.Names(t.Context()) {
		roots = append(roots, n.ID())
	}
	apis := map[string]*api{}
	for name, reader := range map[string]graph.Reader{
		"whole":  store,
		"broken": &testReader{Reader: store, wrap: func(v graph.View) graph.View { return brokenView{v} }},
	} {
		apis[name] = newAPI(Options{Reader: reader, Log: slog.New(slog.DiscardHandler)}.withDefaults(), graph.GetLineage)
	}
	return apis, roots
}

// compare fails the test unless forms and gqlgen's executor answer alike.
func compare(t rapid.TB, a *api, query string, variables map[string]any) {
	want, wantErrors := execute(t, a, false, query, variables)
	got, gotErrors := execute(t, a, true, query, variables)
	if got != want {
		t.Fatalf("%s\ngot  %s\nwant %s", query, got, want)
	}
	if !slices.Equal(gotErrors, wantErrors) {
		t.Fatalf("%s\ngot  %s\nwant %s", query, strings.Join(gotErrors, "\n     "), strings.Join(wantErrors, "\n     "))
	}
}

func TestFormsWriteWhatTheGeneratedExecutorWrites(t *testing.T) {
	apis, roots := ways(t)
	for name, a := range apis {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				q := &questioner{t: t, schema: schema()}
				query := q.query(roots)
				compare(t, a, query, map[string]any{"yes": rapid.Bool().Draw(t, "yes")})
			})
		})
	}
}

func TestFormsWriteEveryField(t *testing.T) {
	apis, roots := ways(t)
	for name, a := range apis {
		t.Run(name, func(t *testing.T) {
			query, _, _ := strings.Cut(whole, "mutation m")
			compare(t, a, query, map[string]any{"ds": ref(sales), "col": ref(sales.Of("total")), "job": ref(loadSales), "from": ref(orders)})
			compare(t, a, `{ node(of: {namespace: "airflow", name: "load_sales"}) { ... on Process { parent { sql parent { id } } } } }`, nil)
			// Two sources of one process, whose parent can't be told where that fails.
			compare(t, a, `query($of: NodeRef!) { lineage(of: $of) { edges { sources { process { name parent { sql } } } } } }`, map[string]any{"of": ref(sales)})
			for _, root := range roots {
				for _, granularity := range []string{"DATASTORE", "COLUMN", "PROCESS"} {
					compare(t, a, everything, map[string]any{"of": map[string]any{"id": root.String()}, "granularity": granularity})
				}
			}
		})
	}
}
