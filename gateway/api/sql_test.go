package api

import (
	"strings"
	"testing"

	"headwater/graph"
	"headwater/ingest/derive"
)

// sqlPlatform is orders and shops → daily, by SQL alone, with what follows from
// it.
func sqlPlatform() []graph.Delta {
	daily, shops := table(hive, "mart.daily"), table(hive, "dim.shops")
	says := graph.Content{
		SQL: `INSERT OVERWRITE TABLE mart.daily
SELECT s.city, sum(o.amount) AS total, sha2(max(o.buyer), 256) AS buyer
FROM ods.orders o JOIN dim.shops s ON o.shop_id = s.id
WHERE o.dt = '2026-03-01'
GROUP BY s.city`,
		Dialect: "spark",
		Reads: []graph.Dataset{{Name: table(hive, "ods.orders"), Facts: graph.Facts{Columns: []graph.Field{{Path: "amount", Ordinal: 1}, {Path: "shop_id", Ordinal: 2}, {Path: "dt", Ordinal: 3}, {Path: "buyer", Ordinal: 4}}}},
			{Name: shops, Facts: graph.Facts{Columns: []graph.Field{{Path: "id"}, {Path: "city"}}}}},
		Writes: []graph.Dataset{{Name: daily}},
	}
	d := graph.Delta{Subject: job("daily"), Origin: "openlineage", Run: "run-1", State: graph.Completed, Time: day1, Says: says}
	(&derive.Deriver{}).Covers(d.Subject, &d.Says)
	follows := d
	follows.Origin = graph.Derived(d.Origin)
	follows.Says = *(&derive.Deriver{}).Content(d.Subject, &says, nil)
	return []graph.Delta{d, follows}
}

func TestOperatorsOfFlowsThatFollowFromSQLHaveSnippets(t *testing.T) {
	s := serve(t, Options{SQL: &derive.Deriver{}}, sqlPlatform()...)
	r := s.ask(`query($of: NodeRef!) { lineage(of: $of, direction: UPSTREAM, granularity: COLUMN, depth: 1) {
		edges { kinds sources { origin expression operators { kind snippet } } } } }`, "of", ref(table(hive, "mart.daily").Of("total")))
	edges := r.at("lineage", "edges").([]any)
	var all []string
	for _, e := range edges {
		for _, src := range e.(map[string]any)["sources"].([]any) {
			line := ""
			for _, o := range src.(map[string]any)["operators"].([]any) {
				o := o.(map[string]any)
				snippet, _ := o["snippet"].(string)
				line += o["kind"].(string) + "{" + snippet + "} "
			}
			all = append(all, line)
		}
	}
	text := strings.Join(all, "\n")
	for _, want := range []string{"SCAN{ods.orders o} ", "JOIN{", "FILTER{o.dt = '2026-03-01'} ", "AGGREGATE{s.city} "} {
		if !strings.Contains(text, want) {
			t.Errorf("no edge passes %s:\n%s", want, text)
		}
	}
}

func TestTheOperatorsOfADataStoreFlowAreThoseBehindItsScan(t *testing.T) {
	s := serve(t, Options{SQL: &derive.Deriver{}}, sqlPlatform()...)
	r := s.ask(`query($of: NodeRef!) { lineage(of: $of, direction: DOWNSTREAM, depth: 1) { edges { sources { origin operators { kind } } } } }`, "of", ref(table(hive, "dim.shops")))
	text := r.each("operators", "lineage", "edges", 0, "sources")
	if !strings.Contains(text, "SCAN") || !strings.Contains(text, "AGGREGATE") {
		t.Errorf("operators are %s", text)
	}
}

func TestAProcessHasThePlanOfItsSQL(t *testing.T) {
	s := serve(t, Options{SQL: &derive.Deriver{}}, sqlPlatform()...)
	r := s.ask(`query($of: NodeRef!) { node(of: $of) { ... on Process { plan { id operator inputs snippet } } } }`, "of", ref(job("daily")))
	text := r.each("operator", "node", "plan")
	for _, want := range []string{"SCAN", "JOIN", "FILTER", "AGGREGATE", "PROJECT", "WRITE"} {
		if !strings.Contains(text, want) {
			t.Errorf("the plan %s has no %s", text, want)
		}
	}
}

func TestSQLIsAnalysedWithTheSchemasOfTheGraph(t *testing.T) {
	s := serve(t, Options{SQL: &derive.Deriver{Naming: derive.Naming{{Tables: []derive.TableRule{{Namespace: hive, Name: "{database}.{table}"}}}}}}, sqlPlatform()...)
	query := `query($sql: String!, $dialect: String!) { analyzeSql(sql: $sql, dialect: $dialect) { dialect confidence
		targets { table { name node } mode columns { name expression masked sources { table column kinds } } reads { bounds { column operator values } } } unresolved { text reason } } }`
	r := s.ask(query, "sql", "CREATE TABLE x.copy AS SELECT * FROM ods.orders WHERE dt >= '2026-01-01'", "dialect", "spark")
	if got := r.each("name", "analyzeSql", "targets", 0, "columns"); got != "amount shop_id dt buyer" {
		t.Errorf("columns are %s", got)
	}
	r.want(`"`+table(hive, "x.copy").ID().String()+`"`, "analyzeSql", "targets", 0, "table", "node")
	r.want(`">="`, "analyzeSql", "targets", 0, "reads", 0, "bounds", 0, "operator")
	r.want(`1`, "analyzeSql", "confidence")
	wantText(t, s.refused("BAD_INPUT", query, "sql", "select 1", "dialect", "klingon"), `dialect: "klingon" is not known; auto guesses`)
}

func TestTheSQLBehindAColumnIsClippedTaskByTask(t *testing.T) {
	deltas := sqlPlatform()
	says := graph.Content{Dialect: "spark", SQL: "CREATE TABLE mart.top AS SELECT city, total, total / 2 AS half FROM mart.daily ORDER BY total",
		Reads: []graph.Dataset{{Name: table(hive, "mart.daily")}}, Writes: []graph.Dataset{{Name: table(hive, "mart.top")}}}
	d := graph.Delta{Subject: job("top"), Origin: "openlineage", Run: "run-2", State: graph.Completed, Time: day1 + 1, Says: says}
	(&derive.Deriver{}).Covers(d.Subject, &d.Says)
	follows := d
	follows.Origin, follows.Says = graph.Derived(d.Origin), *(&derive.Deriver{}).Content(d.Subject, &says, nil)
	s := serve(t, Options{SQL: &derive.Deriver{}}, append(deltas, d, follows)...)
	r := s.ask(`query($of: NodeRef!) { sqlChain(of: $of) { steps { process { name } dataStore { name } column distance sql assumes } complete } }`, "of", ref(table(hive, "mart.top").Of("half")))
	if got := r.each("sql", "sqlChain", "steps"); got != `SELECT sum(o.amount) AS total\nFROM ods.orders o JOIN dim.shops s ON o.shop_id = s.id\nWHERE o.dt = '2026-03-01'\nGROUP BY s.city SELECT total / 2 AS half FROM mart.daily` {
		t.Errorf("SQL is %s", got)
	}
	if got := r.each("process.name", "sqlChain", "steps"); got != "daily top" {
		t.Errorf("processes are %s", got)
	}
	r.want("true", "sqlChain", "complete")
	wantText(t, s.refused("BAD_INPUT", `query($of: NodeRef!) { sqlChain(of: $of) { complete } }`, "of", ref(job("top"))), "of: eu: airflow top is a process; a chain leads to a column or a data store")
}
