// Package shop is a sample data platform, that of an online shop, as the
// OpenLineage events that its tasks would send.
//
// The folder platform tells the platform in text, a file for each of its
// parts: schemas, tables, DAGs, and tasks with the SQL that they run. What the
// tables hold and where their columns come from follows from that SQL, so that
// the two can't disagree. Everybody and everything in it is invented.
//
// The pieces: platform.go has the types; text.go and task.go read the text into
// them. query.go asks package sql where columns come from, and types.go guesses
// their types.
// runs.go lets the tasks run for some days; events.go and facets.go tell it in
// OpenLineage 2-0-2.
package shop

import (
	"embed"
	"fmt"
	"time"
)

//go:embed platform
var files embed.FS

// chapters are the files of the folder platform, in the order in which they
// are read: a table is told before it is used.
var chapters = []string{"sources", "sync", "orders", "web", "customers", "stock", "recommendations", "reports", "history"}

// The metric that the demo asks about, and where it comes from in the end.
const (
	Namespace = "doris://doris.shop.example:9030"
	Table     = "internal.report.daily_revenue"
	Column    = "net_revenue"
)

// Question asks, in GraphQL, where the values of the net revenue of a day come
// from: the columns up to ten hops away, how each depends on the next, and by
// which task. Without dependencies it would also ask for the keys of joins,
// groups and windows, and for what decides which rows count: five times as
// much.
const Question = `{
  lineage(
    of: {namespace: "` + Namespace + `", name: "` + Table + `", column: "` + Column + `"}
    direction: UPSTREAM, granularity: COLUMN, depth: 10
    dependencies: [IDENTITY, TRANSFORMATION, AGGREGATION, CONDITIONAL]
  ) {
    nodes { distance node { id namespace name ... on Column { path } } }
    edges { from to kinds sources { expression process { name kind } } }
    complete
  }
}`

// Events returns what the platform reports in the four days before the day of
// now, in UTC: OpenLineage run and dataset events, each a JSON object, in the
// order of their times, none of which is later than now. The same day gives
// the same events.
func Events(now time.Time) ([][]byte, error) {
	p, err := load()
	if err != nil {
		return nil, err
	}
	return p.events(now)
}

// A Size says how large the platform is.
type Size struct {
	Tasks, DataStores, Columns int
}

// Measure counts what the platform has.
func Measure() (Size, error) {
	p, err := load()
	if err != nil {
		return Size{}, err
	}
	s := Size{Tasks: len(p.tasks), DataStores: len(p.tables)}
	for _, t := range p.tables {
		s.Columns += len(t.columns)
	}
	return s, nil
}

// load reads the embedded text.
func load() (*platform, error) {
	p := newPlatform()
	for _, name := range chapters {
		file := name + ".txt"
		text, err := files.ReadFile("platform/" + file)
		if err != nil {
			return nil, err
		}
		if err := p.read(file, string(text)); err != nil {
			return nil, fmt.Errorf("the sample platform: %w", err)
		}
	}
	return p, p.check()
}
