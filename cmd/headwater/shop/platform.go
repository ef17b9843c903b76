package shop

import (
	"fmt"
	"strings"
	"time"
)

// A platform is all that the text tells.
type platform struct {
	schemas map[string]*schema
	tables  []*table
	dags    []*dag
	tasks   []*task

	tableOf map[string]*table
	dagOf   map[string]*dag
	taskOf  map[string]*task
}

func newPlatform() *platform {
	return &platform{schemas: map[string]*schema{}, tableOf: map[string]*table{}, dagOf: map[string]*dag{}, taskOf: map[string]*task{}}
}

// A schema is where tables are: its name is the first part of theirs. The rest
// behind the prefix is the name of the table within the namespace.
type schema struct {
	name, kind, namespace, prefix string
}

// A table is a data store of any kind.
type table struct {
	ref             string // as the text calls it: schema.table
	namespace, name string
	kind            string
	about, owner    string
	tags            []tag
	// location is where its files are; what Spark reads and writes it reports
	// by that.
	location *location
	columns  []column
	// notes are the descriptions of columns, by name.
	notes map[string]string
	// own: the text has a block for it, so it reports itself.
	own bool
	// listed: the block lists the columns.
	listed bool
}

type location struct{ namespace, name string }

// A column is a field of a table.
type column struct{ name, typ string }

// A tag is put on a table, or on a column of it.
type tag struct{ key, column string }

func (t *table) column(name string) (column, bool) {
	for _, c := range t.columns {
		if c.name == name {
			return c, true
		}
	}
	return column{}, false
}

// A dag runs tasks one after the other, daily.
type dag struct {
	name, about, owner string
	at                 time.Duration // since midnight
	tasks              []*task
}

// A task moves data, or looks after it.
type task struct {
	engine             *engine
	name, about, owner string
	dag                *dag // nil: it runs by itself
	when               schedule
	// now is what it does; before is what it did until the day before
	// yesterday, nil where that is the same.
	now, before *statement
	// fails is the message with which yesterday's run failed.
	fails string
	// after are tasks that it waits for.
	after []*task
	// checks are what it asserts of what it reads.
	checks []check
}

// A schedule says when a task that no DAG runs does so.
type schedule struct {
	// streaming: always, since four days ago.
	streaming bool
	// once is how many days ago its only run was; 0: daily.
	once int
	at   time.Duration // since midnight
}

// A check is an assertion about a column, which held in yesterday's run or
// did not.
type check struct {
	assertion, column string
	failed            bool
}

// A statement is what a run reads and writes.
type statement struct {
	sql    string // empty: not told
	reads  []*table
	writes []write
}

// A write is what a run does to one table.
type write struct {
	table *table
	// results say where the columns come from; nil: nobody knows.
	results []result
	// whole is what every row depends on.
	whole []source
	// lifecycle is CREATE, DROP, RENAME and so on; previous is the table that
	// was renamed.
	lifecycle string
	previous  *table
}

// An engine is what runs tasks.
type engine struct {
	name, integration, processing, job string
	version                            string
	// namespace is that of the jobs.
	namespace string
	// dialect is that of the SQL; empty: it runs none.
	dialect string
	// located: it reports tables by their location.
	located bool
}

const (
	batch     = "BATCH"
	streaming = "STREAMING"
	service   = "SERVICE"
	scheduler = "shop-airflow"
)

var engines = []*engine{
	{name: "hive", integration: "HIVE", processing: batch, job: "QUERY", version: "4.0.1", namespace: scheduler, dialect: "hive"},
	{name: "spark", integration: "SPARK", processing: batch, job: "JOB", version: "3.5.6", namespace: scheduler, dialect: "spark", located: true},
	{name: "trino", integration: "TRINO", processing: batch, job: "QUERY", version: "476", namespace: scheduler, dialect: "trino"},
	{name: "doris", integration: "DORIS", processing: batch, job: "QUERY", version: "3.0.6", namespace: scheduler, dialect: "doris"},
	{name: "dbt", integration: "DBT", processing: batch, job: "MODEL", version: "1.10.4", namespace: scheduler, dialect: "trino"},
	{name: "datax", integration: "SYNC", processing: batch, job: "TASK", version: "3.0", namespace: scheduler},
	{name: "python", integration: "SCRIPT", processing: batch, job: "TASK", version: "3.13", namespace: scheduler},
	{name: "flink", integration: "FLINK", processing: streaming, job: "JOB", version: "1.20.2", namespace: "shop-flink", dialect: "flink"},
	{name: "debezium", integration: "SYNC", processing: streaming, job: "TASK", version: "3.2", namespace: "shop-connect"},
	{name: "service", integration: "SERVICE", processing: service, job: "SERVICE", version: "1", namespace: "shop-services"},
	{name: "superset", integration: "QUERY", processing: batch, job: "QUERY", version: "5.0", namespace: "shop-bi", dialect: "doris"},
}

// airflow runs the DAGs.
var airflow = &engine{name: "airflow", integration: "AIRFLOW", processing: batch, job: "DAG", version: "3.0.3", namespace: scheduler}

func engineOf(name string) *engine {
	for _, e := range engines {
		if e.name == name {
			return e
		}
	}
	return nil
}

// lookUp finds a table by the name that the text or SQL gives it. A name of
// three parts begins with a catalog.
func (p *platform) lookUp(ref string) (*table, error) {
	t := p.tableOf[withoutCatalog(ref)]
	if t == nil {
		return nil, fmt.Errorf("table %s is not known", ref)
	}
	return t, nil
}

// tableFor finds a table, or makes it.
func (p *platform) tableFor(ref string) (*table, error) {
	ref = withoutCatalog(ref)
	if t := p.tableOf[ref]; t != nil {
		return t, nil
	}
	first, rest, _ := strings.Cut(ref, ".")
	s := p.schemas[first]
	if s == nil || rest == "" {
		return nil, fmt.Errorf("table %s is in no schema that is known", ref)
	}
	t := &table{ref: ref, namespace: s.namespace, name: s.prefix + rest, kind: s.kind, notes: map[string]string{}}
	p.tables, p.tableOf[ref] = append(p.tables, t), t
	return t, nil
}

func withoutCatalog(ref string) string {
	if first, rest, _ := strings.Cut(ref, "."); strings.Contains(rest, ".") && first != "" {
		return rest
	}
	return ref
}
