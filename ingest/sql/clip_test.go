package sql

import (
	"bufio"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	_ "modernc.org/sqlite"

	"headwater/ingest/sql/syntax"
)

// A benchmarkQuery is one of TPC-H or TPC-DS.
type benchmarkQuery struct {
	ID, Suite, Dialect, SQL string
	Schema                  map[string]json.RawMessage
	columns                 tableColumns
}

type tableColumns map[string][]string

func (t tableColumns) Columns(table []string) ([]string, bool) {
	c, ok := t[strings.ToLower(table[len(table)-1])]
	return c, ok
}

func benchmarkQueries(t testing.TB, suites ...string) []benchmarkQuery {
	t.Helper()
	f, err := os.Open(filepath.Join(inputs(t), "oracles.jsonl"))
	if err != nil {
		t.Skip("skipped: no inputs")
	}
	defer func() { _ = f.Close() }()
	var all []benchmarkQuery
	s := bufio.NewScanner(f)
	s.Buffer(nil, 64<<20)
	for s.Scan() {
		var q benchmarkQuery
		if err := json.Unmarshal(s.Bytes(), &q); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(suites, q.Suite) {
			continue
		}
		q.columns = tableColumns{}
		for table, raw := range q.Schema {
			var names []string
			if json.Unmarshal(raw, &names) != nil {
				var types map[string]string
				if err := json.Unmarshal(raw, &types); err != nil {
					t.Fatal(err)
				}
				for n := range types {
					names = append(names, n)
				}
				slices.Sort(names)
			}
			q.columns[strings.ToLower(table)] = names
		}
		all = append(all, q)
	}
	return all
}

// Every column of the TPC queries has a clip that reads as SQL again and is
// made of the same columns.
func TestEveryClipOfTheTPCQueriesParsesAgain(t *testing.T) {
	clips, smaller, before, after := 0, 0, 0, 0
	for _, q := range benchmarkQueries(t, "tpch", "tpcds") {
		o := Options{Dialect: q.Dialect, Catalog: q.columns}
		a := Analyze(q.SQL, o)
		for _, target := range a.Targets {
			for i := range target.Outputs {
				clip := a.Clip(target, i, o)
				clips++
				before, after = before+len(target.Statement.In(a.Text)), after+len(clip.Text)
				if !clip.Whole {
					smaller++
				}
				for _, s := range syntax.Parse(clip.Text, syntax.Lookup(q.Dialect)).Statements {
					if !s.Whole() {
						t.Errorf("%s, column %s: the clip is not understood: %v\n%s", q.ID, target.Outputs[i].Name, s.Warnings, clip.Text)
					}
				}
				again := Analyze(clip.Text, o)
				found := false
				for _, x := range again.Targets {
					for j := range x.Outputs {
						found = found || strings.EqualFold(x.Outputs[j].Name, target.Outputs[i].Name) && equalSources(x.Outputs[j].Sources, target.Outputs[i].Sources)
					}
				}
				if !found && target.Outputs[i].Name != "" {
					t.Errorf("%s: no column %s in the clip, or made otherwise:\n%s", q.ID, target.Outputs[i].Name, clip.Text)
				}
			}
		}
	}
	if clips == 0 {
		t.Fatal("there are no queries")
	}
	t.Logf("%d clips, %d smaller than their query; %d%% of the text is left", clips, smaller, 100*after/before)
}

// The clips of the TPC-H queries give the values that the whole queries give,
// on an SQL engine.
func TestClipsOfTPCHComputeTheSameValues(t *testing.T) {
	queries := benchmarkQueries(t, "tpch")
	compared, rows := 0, 0
	for _, q := range queries {
		o := Options{Dialect: q.Dialect, Catalog: q.columns}
		a := Analyze(q.SQL, o)
		found := 0
		for seed := range uint64(3) {
			db := tpchData(t, &q, seed)
			whole := run(t, db, q.SQL)
			found += len(whole)
			for i, out := range a.Targets[0].Outputs {
				clip := a.Clip(a.Targets[0], i, o)
				got := run(t, db, clip.Text)
				names := Analyze(clip.Text, o).Targets[0].Outputs
				at := slices.IndexFunc(names, func(x Output) bool { return strings.EqualFold(x.Name, out.Name) })
				if len(clip.Assumes) > 0 {
					continue // it says that it may not hold
				}
				x, y := valuesOf(whole, i), valuesOf(got, max(at, 0))
				if !slices.Equal(x, y) {
					t.Errorf("%s, column %s, data %d: the clip gives %d values %.5q, the query %d %.5q\n%s", q.ID, out.Name, seed, len(y), y, len(x), x, clip.Text)
				}
				compared++
				rows += len(x)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if found == 0 {
			t.Errorf("%s finds nothing in the data: nothing is compared", q.ID)
		}
	}
	t.Logf("%d columns of %d queries compared, %d values", compared, len(queries), rows)
}

// valuesOf returns the values of one column, sorted.
func valuesOf(rows [][]string, i int) []string {
	var values []string
	for _, r := range rows {
		values = append(values, r[i])
	}
	slices.Sort(values)
	return values
}

// What SQLite writes otherwise than the queries.
var forSQLite = []struct {
	from *regexp.Regexp
	to   string
}{
	{regexp.MustCompile(`(?i)date\s+'([0-9-]+)'\s*([+-])\s*interval\s+'(\d+)'\s*(\w+)`), `date('$1', '$2$3 $4')`},
	{regexp.MustCompile(`(?i)date\s+'([0-9-]+)'`), `'$1'`},
	{regexp.MustCompile(`(?i)extract\(\s*year\s+from\s+`), `strftime('%Y', `},
	{regexp.MustCompile(`(?i)cast\((\w+) as date\)`), `date($1)`},
	{regexp.MustCompile(`(?i)cast\((\w+) as string\)`), `$1`},
	{regexp.MustCompile(`(?i)\bsubstring\(`), `substr(`},
}

func run(t *testing.T, db *sql.DB, text string) [][]string {
	t.Helper()
	for _, r := range forSQLite {
		text = r.from.ReplaceAllString(text, r.to)
	}
	rows, err := db.Query(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	defer func() { _ = rows.Close() }()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var all [][]string
	for rows.Next() {
		row, into := make([]any, len(names)), make([]any, len(names))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		values := make([]string, len(row))
		for i, v := range row {
			if f, ok := v.(float64); ok {
				v = fmt.Sprintf("%.6g", f) // sums come in another order
			}
			values[i] = fmt.Sprint(v)
		}
		all = append(all, values)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

var (
	quoted  = regexp.MustCompile(`'([^']*)'`)
	isADate = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)
)

// tpchData fills a database for a query: few keys, so that much joins, and of
// texts and dates those that the query asks for.
func tpchData(t *testing.T, q *benchmarkQuery, seed uint64) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	r := rand.New(rand.NewPCG(seed, 1))
	texts, dates := []string{"other"}, []string{"1995-06-17", "1998-09-02"}
	for _, m := range quoted.FindAllStringSubmatch(q.SQL, -1) {
		switch {
		case isADate.MatchString(m[1]):
			for day := range 28 {
				dates = append(dates, fmt.Sprintf("%s-%02d", m[1][:7], day+1))
			}
		case m[1] != "":
			texts = append(texts, strings.ReplaceAll(m[1], "%", "x"))
		}
	}
	tables := make([]string, 0, len(q.columns))
	for name := range q.columns {
		tables = append(tables, name)
	}
	slices.Sort(tables)
	for _, name := range tables {
		columns := q.columns[name]
		if _, err := db.Exec("CREATE TABLE " + name + " (" + strings.Join(columns, ", ") + ")"); err != nil {
			t.Fatal(err)
		}
		key := 0
		for row := range 120 {
			values := make([]any, len(columns))
			for i, c := range columns {
				switch _, what, _ := strings.Cut(c, "_"); {
				case i == 0 && name != "lineitem" && name != "partsupp":
					key++
					values[i] = key
				case strings.HasSuffix(what, "key"):
					values[i] = 1 + r.IntN(12)
				case strings.Contains(what, "date"):
					values[i] = dates[r.IntN(len(dates))]
				case strings.Contains(what, "discount"):
					values[i] = float64(r.IntN(10)) / 100
				case strings.Contains(what, "price"), strings.Contains(what, "bal"), strings.Contains(what, "cost"):
					values[i] = float64(r.IntN(10_000_000))/100 - 100
				case what == "quantity", what == "size", what == "availqty", strings.Contains(what, "number"), what == "tax", strings.Contains(what, "priority") && strings.HasPrefix(what, "ship"):
					values[i] = 1 + r.IntN(50)
				case what == "phone":
					values[i] = fmt.Sprintf("%s-%04d", texts[r.IntN(len(texts))], row)
				default:
					values[i] = texts[r.IntN(len(texts))]
				}
			}
			if _, err := db.Exec("INSERT INTO "+name+" VALUES ("+strings.TrimSuffix(strings.Repeat("?,", len(values)), ",")+")", values...); err != nil {
				t.Fatal(err)
			}
			if key >= 12 && name != "lineitem" && name != "orders" && name != "customer" {
				break
			}
		}
	}
	return db
}

// Stories of clips: the command tells the dialect and the column, what follows
// the script. The command steps clips those of temporary tables, too.
func TestClipStories(t *testing.T) {
	datadriven.RunTest(t, "testdata/clip.txt", func(t *testing.T, d *datadriven.TestData) string {
		var dialect, name string
		d.ScanArgs(t, "dialect", &dialect)
		d.ScanArgs(t, "column", &name)
		o := Options{Dialect: dialect, Catalog: tableColumns{"orders": {"id", "shop_id", "amount", "paid_at"}, "shops": {"id", "city", "region"}}}
		a := Analyze(d.Input, o)
		var b strings.Builder
		for _, target := range a.Flows {
			for i := range target.Outputs {
				if !strings.EqualFold(target.Outputs[i].Name, name) {
					continue
				}
				clips := []Clip{a.Clip(target, i, o)}
				if d.Cmd == "steps" {
					clips = a.ClipSteps(target, i, o)
				}
				for _, clip := range clips {
					if d.Cmd == "steps" {
						fmt.Fprintf(&b, "-- %s: %s\n", clip.Target.Table, strings.Join(clip.Columns, ", "))
					}
					for _, assumed := range clip.Assumes {
						fmt.Fprintf(&b, "-- if %s\n", assumed)
					}
					if clip.Whole {
						b.WriteString("-- whole\n")
					}
					b.WriteString(clip.Text + "\n")
				}
			}
		}
		return b.String()
	})
}
