package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const hive = "hive://meta.shop.example:9083"

// sqlConfig names the tables of SQL as the README says.
func sqlConfig(t *testing.T) func(*config) {
	file := filepath.Join(t.TempDir(), "headwater.yaml")
	text := `
naming:
  - {namespace: "trino://trino.shop.example:8080", prefix: "hive.", toNamespace: "` + hive + `"}
sql:
  - jobs: "trino-*"
    dialect: trino
    catalog: hive
    tables:
      - {catalog: hive, namespace: "` + hive + `", name: "{database}.{table}"}
      - {namespace: "trino://trino.shop.example:8080"}
  - jobs: "spark-*"
    dialect: spark
    database: default
    tables:
      - {namespace: "` + hive + `", name: "{database}.{table}"}
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return func(c *config) {
		if err := readSettings(file, c); err != nil {
			t.Fatal(err)
		}
		names := c.tableNames()
		if err := names.Check(); err != nil {
			t.Fatal(err)
		}
	}
}

// sqlEvent is what a job says that knows its SQL and nothing else.
func sqlEvent(namespace, job, sql string, minute int) string {
	b, err := json.Marshal(map[string]any{
		"eventType": "COMPLETE", "eventTime": fmt.Sprintf("2026-05-01T10:%02d:00Z", minute), "producer": "https://shop.example/scheduler",
		"schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
		"run":       map[string]any{"runId": fmt.Sprintf("01890000-0000-7000-8000-0000000000%02d", minute)},
		"job": map[string]any{"namespace": namespace, "name": job, "facets": map[string]any{"sql": map[string]any{
			"_producer": "https://shop.example/scheduler", "_schemaURL": "https://openlineage.io/spec/facets/1-0-1/SQLJobFacet.json", "query": sql}}},
		"inputs": []any{}, "outputs": []any{},
	})
	if err != nil {
		panic(err)
	}
	return string(b)
}

// schemaEvent is what a dataset says of its columns.
func schemaEvent(namespace, name string, minute int, columns ...string) string {
	var fields []map[string]string
	for _, c := range columns {
		fields = append(fields, map[string]string{"name": c, "type": "string"})
	}
	b, err := json.Marshal(map[string]any{
		"eventTime": fmt.Sprintf("2026-05-01T09:%02d:00Z", minute), "producer": "https://shop.example/catalog",
		"schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/DatasetEvent",
		"dataset": map[string]any{"namespace": namespace, "name": name, "facets": map[string]any{"schema": map[string]any{
			"_producer": "https://shop.example/catalog", "_schemaURL": "https://openlineage.io/spec/facets/1-1-1/SchemaDatasetFacet.json", "fields": fields}}},
	})
	if err != nil {
		panic(err)
	}
	return string(b)
}

// columnEdges lists the edges of a data store's columns upstream, as text.
func columnEdges(t testing.TB, url, namespace, name string) []string {
	var answer struct {
		Lineage struct {
			Nodes []struct {
				Node struct {
					ID, Name, Path string
					DataStore      struct{ Name string }
				}
			}
			Edges []struct {
				From, To string
				Kinds    []string
				Sources  []struct {
					Origin     string
					Expression string
				}
			}
		}
	}
	code := ask(t, url, `query($ns: String!, $name: String!) { lineage(of: {namespace: $ns, name: $name}, direction: UPSTREAM, granularity: COLUMN, depth: 9) {
		nodes { node { id ... on DataStore { name } ... on Column { path dataStore { name } } } }
		edges { from to kinds sources { origin expression } } } }`, map[string]any{"ns": namespace, "name": name}, &answer)
	if code != "" {
		return []string{code}
	}
	names := map[string]string{}
	for _, n := range answer.Lineage.Nodes {
		names[n.Node.ID] = n.Node.Name
		if n.Node.Path != "" {
			names[n.Node.ID] = n.Node.DataStore.Name + "#" + n.Node.Path
		}
	}
	edges := []string{}
	for _, e := range answer.Lineage.Edges {
		edges = append(edges, fmt.Sprintf("%s -> %s %s %s", names[e.From], names[e.To], strings.Join(e.Kinds, "|"), e.Sources[0].Expression))
	}
	slices.Sort(edges)
	return edges
}

// wantEdges waits until these are the edges upstream of a table's columns: what
// completes lineage comes behind what was waited for.
func wantEdges(t testing.TB, url, table string, want []string, when string) {
	t.Helper()
	var got []string
	for range 200 {
		if got = columnEdges(t, url, hive, table); slices.Equal(got, want) {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("%s: got\n%s\nwant\n%s", when, strings.Join(got, "\n"), strings.Join(want, "\n"))
}

// Design rule 21: SQL whose schemas come later, or came before, gives the same
// lineage in whatever order all of it arrives, down a chain of tasks too.
func TestSQLAloneGivesTheSameLineageInWhateverOrderSchemasCome(t *testing.T) {
	events := []string{
		sqlEvent("spark-batch", "daily", "INSERT INTO mart.daily SELECT o.*, s.city FROM ods.orders o JOIN dim.shop s USING (shop_id) WHERE o.paid", 1),
		sqlEvent("spark-batch", "report", "CREATE TABLE mart.report AS SELECT city, sum(amount) AS revenue FROM (SELECT * FROM mart.daily) d GROUP BY city", 2),
		schemaEvent(hive, "ods.orders", 1, "order_id", "shop_id", "amount", "paid"),
		schemaEvent(hive, "dim.shop", 2, "shop_id", "city"),
		schemaEvent(hive, "mart.daily", 3, "order_id", "shop_id", "amount", "paid", "city"),
	}
	want := []string{
		"dim.shop#city -> mart.daily#city IDENTITY s.city",
		"dim.shop#shop_id -> mart.daily JOIN ",
		"mart.daily#amount -> mart.report#revenue AGGREGATION sum(amount)",
		"mart.daily#city -> mart.report GROUP_BY ",
		"mart.daily#city -> mart.report#city IDENTITY city",
		"ods.orders#amount -> mart.daily#amount IDENTITY ",
		"ods.orders#paid -> mart.daily FILTER ",
		"ods.orders#shop_id -> mart.daily JOIN ",
	}
	for n, order := range [][]int{{2, 3, 4, 0, 1}, {0, 1, 2, 3, 4}, {1, 0, 4, 3, 2}, {4, 1, 3, 0, 2}, {2, 0, 3, 1, 4}, {3, 1, 0, 4, 2}} {
		for _, together := range []bool{false, true} {
			url := serveForTest(t, sqlConfig(t))
			var batch []string
			for _, i := range order {
				if batch = append(batch, events[i]); !together {
					post(t, url, "["+events[i]+"]")
				}
			}
			if together {
				post(t, url, "["+strings.Join(batch, ",")+"]")
			}
			wantEdges(t, url, "mart.report", want, fmt.Sprintf("order %d (%v, together %v)", n, order, together))
		}
	}
}

// One table that SQL of Trino, SQL of Spark and an event of Hive name is one
// node.
func TestOneTableNamedByThreeEnginesIsOneNode(t *testing.T) {
	url := serveForTest(t, sqlConfig(t))
	post(t, url, "["+strings.Join([]string{
		sqlEvent("trino-adhoc", "copy", "INSERT INTO hive.mart.totals SELECT city, amount FROM hive.mart.daily", 1),
		sqlEvent("spark-batch", "daily", "INSERT OVERWRITE TABLE MART.DAILY SELECT city, amount FROM ods.orders", 2),
		schemaEvent(hive, "mart.daily", 3, "city", "amount"),
		schemaEvent("trino://trino.shop.example:8080", "hive.ods.orders", 4, "city", "amount"),
		schemaEvent(hive, "mart.totals", 5, "city", "amount"),
	}, ",")+"]")
	want := []string{
		"mart.daily#amount -> mart.totals#amount IDENTITY amount",
		"mart.daily#city -> mart.totals#city IDENTITY city",
		"ods.orders#amount -> mart.daily#amount IDENTITY amount",
		"ods.orders#city -> mart.daily#city IDENTITY city",
	}
	wantEdges(t, url, "mart.totals", want, "three engines")
}
