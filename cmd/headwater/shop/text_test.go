package shop

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func loaded(t *testing.T) *platform {
	t.Helper()
	p, err := load()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// statements are all that a task does, now and before.
func (t *task) statements() []*statement {
	if t.before != nil {
		return []*statement{t.now, t.before}
	}
	return []*statement{t.now}
}

func TestEveryTableIsASourceOrIsWritten(t *testing.T) {
	p := loaded(t)
	written := map[*table]bool{}
	for _, task := range p.tasks {
		for _, s := range task.statements() {
			for _, w := range s.writes {
				written[w.table] = true
			}
		}
	}
	for _, table := range p.tables {
		system, _, _ := strings.Cut(table.ref, ".")
		source := slices.Contains([]string{"orders_db", "stock_db", "crm_db", "catalog_db", "erp", "partner", "seed"}, system)
		switch {
		case source && !table.own, source && table.about == "", source && table.owner == "":
			t.Errorf("source %s does not say what it is and whose", table.ref)
		case source && written[table]:
			t.Errorf("source %s is written", table.ref)
		case !source && !written[table]:
			t.Errorf("%s is written by nobody", table.ref)
		}
	}
}

func TestEveryColumnThatIsWrittenHasALineage(t *testing.T) {
	p := loaded(t)
	coarse := 0
	for _, task := range p.tasks {
		for _, s := range task.statements() {
			for _, w := range s.writes {
				if w.lifecycle != "" {
					continue
				}
				if w.results == nil {
					coarse++
					continue
				}
				var names []string
				for _, c := range w.results {
					names = append(names, c.name)
					if c.typ == "" {
						t.Errorf("%s: %s.%s has no type", task.name, w.table.ref, c.name)
					}
				}
				for _, c := range w.table.columns {
					if !slices.Contains(names, c.name) {
						t.Errorf("%s does not say where %s.%s comes from", task.name, w.table.ref, c.name)
					}
				}
				if slices.Sort(names); len(slices.Compact(names)) != len(w.results) {
					t.Errorf("%s writes a column twice: %q", task.name, names)
				}
			}
		}
	}
	if coarse != 11 {
		t.Errorf("%d writes are known only coarsely, want 11", coarse)
	}
}

func TestEverySourceOfAColumnIsRead(t *testing.T) {
	for _, task := range loaded(t).tasks {
		for _, s := range task.statements() {
			used := map[*table]bool{}
			for _, w := range s.writes {
				sources := slices.Clone(w.whole)
				for _, c := range w.results {
					sources = append(sources, c.sources...)
				}
				for _, from := range sources {
					used[from.table] = true
					if _, ok := from.table.column(from.column); !ok {
						t.Errorf("%s: %s has no column %s", task.name, from.table.ref, from.column)
					}
					if from.kinds == 0 || !slices.Contains(s.reads, from.table) {
						t.Errorf("%s: %s.%s is a source of kinds %b that is not read", task.name, from.table.ref, from.column, from.kinds)
					}
				}
				for _, in := range s.reads {
					if w.results != nil && !used[in] {
						t.Errorf("%s reads %s for nothing", task.name, in.ref)
					}
				}
			}
		}
	}
}

func TestEverythingIsInvented(t *testing.T) {
	p := loaded(t)
	for _, s := range p.schemas {
		if !strings.Contains(s.namespace, ".shop.example") && !strings.Contains(s.namespace, "s3://shop-") {
			t.Errorf("namespace %s might be somebody's", s.namespace)
		}
	}
	for _, task := range p.tasks {
		if !strings.HasPrefix(task.owner, "team:") || task.about == "" && !strings.HasPrefix(task.name, "sync_") && task.engine.name != "datax" {
			t.Errorf("task %s is of %q and about %q", task.name, task.owner, task.about)
		}
	}
}

func TestThePlatformHasSomethingOfEverything(t *testing.T) {
	p := loaded(t)
	by := map[string]int{}
	for _, task := range p.tasks {
		by[task.engine.name]++
	}
	for _, e := range engines {
		if by[e.name] == 0 {
			t.Errorf("nothing runs on %s", e.name)
		}
	}
	size, err := Measure()
	if err != nil || size.Tasks != 83 || size.DataStores != 98 || size.Columns < 700 {
		t.Errorf("the platform has %+v, %v", size, err)
	}
	if n := len(p.tableOf["dws.user_profile"].columns); n != 150 {
		t.Errorf("the wide table has %d columns, want 150", n)
	}
	kinds := map[string]bool{}
	for _, table := range p.tables {
		kinds[table.kind] = true
	}
	for _, k := range []string{"TABLE", "VIEW", "TOPIC", "FILE", "KEY_VALUE", "MODEL", "ENDPOINT", "PAGE", "DASHBOARD"} {
		if !kinds[k] {
			t.Errorf("there is no %s", k)
		}
	}
}

const small = `
schema raw out TABLE hive://h
table raw.a
  columns id bigint, price decimal(12,2), n int, at timestamp, state string
table raw.b
  columns id bigint, rate double
`

// lineage tells what a SELECT makes of its sources.
func lineage(t *testing.T, sql string) string {
	t.Helper()
	p := newPlatform()
	if err := p.read("small", small); err != nil {
		t.Fatal(err)
	}
	into, err := p.tableFor("out.t")
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.statement(sql, "spark", into)
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	tell := func(sources []source) {
		for _, s := range sources {
			fmt.Fprintf(&b, " %s.%s", s.table.ref, s.column)
			for _, name := range s.kinds.Names() {
				b.WriteString(":" + name)
			}
			if s.masked {
				b.WriteString(":masked")
			}
		}
	}
	for _, c := range s.writes[0].results {
		fmt.Fprintf(&b, "%s %s <-", c.name, c.typ)
		tell(c.sources)
		b.WriteString("\n")
	}
	if whole := s.writes[0].whole; len(whole) > 0 {
		b.WriteString("all <-")
		tell(whole)
		b.WriteString("\n")
	}
	return b.String()
}

func TestTheLineageOfColumnsFollowsFromSQL(t *testing.T) {
	for _, c := range []struct{ sql, want string }{
		{"select a.id, a.price * 2 as twice, 1 as one from raw.a a where a.n > 0 order by a.at",
			"id bigint <- raw.a.id:IDENTITY\ntwice decimal(12,2) <- raw.a.price:TRANSFORMATION\none int <-\nall <- raw.a.n:FILTER raw.a.at:SORT\n"},
		{"select a.state, sum(a.price * b.rate) as total, max(a.n) / count(a.id) as share from raw.a a join raw.b b on b.id = a.id group by a.state having count(a.n) > 1",
			"state string <- raw.a.state:IDENTITY\ntotal double <- raw.b.rate:AGGREGATION raw.a.price:AGGREGATION\nshare double <- raw.a.id:AGGREGATION raw.a.n:AGGREGATION\n" +
				"all <- raw.a.id:JOIN raw.b.id:JOIN raw.a.state:GROUP_BY raw.a.n:FILTER\n"},
		{"select case when a.state = 'X' then a.price else 0 end as p, if(a.n > 1, a.at, null) as at from raw.a a",
			"p decimal(12,2) <- raw.a.state:CONDITIONAL raw.a.price:TRANSFORMATION\nat timestamp <- raw.a.n:CONDITIONAL raw.a.at:TRANSFORMATION\n"},
		{"select sum(a.n) over (partition by a.state order by a.at) as n, count(a.id) filter (where a.n > 0) as c, sha2(lower(a.state), 256) as s from raw.a a",
			"n int <- raw.a.state:WINDOW raw.a.at:WINDOW raw.a.n:AGGREGATION\nc bigint <- raw.a.n:CONDITIONAL raw.a.id:AGGREGATION\ns string <- raw.a.state:TRANSFORMATION:masked\n"},
		{"with v as (select a.id, sum(a.price) as p, row_number() over (partition by a.id order by a.at) as nth from raw.a a where a.n > 0 group by a.id) select v.id, v.p, v.p + 1 as q from v where v.nth = 1",
			"id bigint <- raw.a.id:IDENTITY\np decimal(12,2) <- raw.a.price:AGGREGATION\nq decimal(12,2) <- raw.a.price:AGGREGATION\nall <- raw.a.n:FILTER raw.a.id:FILTER:GROUP_BY raw.a.at:FILTER\n"},
		{"select a.id from raw.a a union all select b.id from raw.b b", "id bigint <- raw.a.id:IDENTITY raw.b.id:IDENTITY\n"},
		{"select a.id from raw.c a", "the SQL: table raw.c is not known"},
		{"select a.nothing as x from raw.a a", "at line 1 of the SQL: a.nothing: the schema that is known has no such column"},
		{"select id as x from raw.a a", "x bigint <- raw.a.id:IDENTITY\n"},
		{"select b.id as x from raw.a a", "at line 1 of the SQL: b.id: no table in scope goes by b"},
		{"select a.id + 1 from raw.a a", `at line 1 of the SQL: "a.id + 1" has no name`},
		{"select a.id\nfrom raw.a a\n)", "at line 3 of the SQL: ): what stands at the end of the statement was not understood: skipped"},
	} {
		if got := lineage(t, c.sql); got != c.want {
			t.Errorf("%s\ngot\n%swant\n%s", c.sql, got, c.want)
		}
	}
}

func TestWhatIsWrongInTheTextIsTold(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"tabel raw.x", "x.txt:1: tabel raw.x: tabel is no block"},
		{"table other.x", "x.txt:1: table other.x: table other.x is in no schema that is known"},
		{"table raw.x\n  size 3", "x.txt:1: table raw.x: size: a table has no such thing"},
		{"task perl x\n  copy raw.x from raw.a", "x.txt:1: task perl x: perl is no engine"},
		{"task datax x\n  copy raw.x from raw.y", "x.txt:1: task datax x: copy: table raw.y is not known"},
		{"task datax d.x\n  copy raw.x from raw.a", "x.txt:1: task datax d.x: d is no DAG"},
		{"task datax x\n  about nothing", "x.txt:1: task datax x: it does nothing"},
		{"task datax x\n  copy raw.x from raw.a\n  after y", "x.txt:1: task datax x: after: y is no task"},
		{"task datax x\n  copy raw.x from raw.a\n  check not_null y", "x.txt:1: task datax x: check not_null: it reads no column y"},
		{"task hive x\n  sql\n    select a.id from raw.a a", "x.txt:1: task hive x: sql: the result of the SQL goes nowhere"},
	} {
		p := newPlatform()
		if err := p.read("small", small); err != nil {
			t.Fatal(err)
		}
		if err := p.read("x.txt", c.text); err == nil || err.Error() != c.want {
			t.Errorf("%s\ngot  %v\nwant %s", c.text, err, c.want)
		}
	}
}
