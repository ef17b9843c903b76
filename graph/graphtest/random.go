package graphtest

import (
	"fmt"
	"math/rand/v2"
	"time"

	"headwater/graph"
)

// A Random makes deltas over a small world, so that runs, drops, renames,
// aliases and cases meet often. It is deterministic in its seed.
type Random struct {
	*rand.Rand
	Region string
	// Now is the time around which events lie, in nanoseconds.
	Now int64
	// Unfiltered: questions have no filter on what nodes are.
	Unfiltered bool
	n          int
}

// NewRandom returns a source of deltas.
func NewRandom(seed uint64) *Random {
	return &Random{Rand: rand.New(rand.NewPCG(seed, 1)), Region: "local", Now: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC).UnixNano()}
}

var (
	worldNamespaces = []string{"hive://meta:9083", "s3://lake", "kafka://broker:9092", "postgres://db:5432"}
	worldTables     = []string{"shop.orders", "shop.Order_Items", "raw/events", "users", "mart.daily_sales", "tmp_x"}
	worldColumns    = []string{"id", "user_id", "Amount", "address.city", "ts"}
	worldKinds      = []graph.Kinds{graph.Identity, graph.Transformation, graph.Aggregation, graph.Join, graph.Filter | graph.Sort, graph.Window, graph.Conditional, graph.Other}
	worldOrigins    = []string{"openlineage", "openlineage", "openlineage", "atlas", "declared"}
)

const worldJobs = 8

func pick[T any](r *Random, from []T) T { return from[r.IntN(len(from))] }

func (r *Random) chance(percent int) bool { return r.IntN(100) < percent }

// Table returns the name of a data store of the world.
func (r *Random) Table() graph.Name {
	return graph.Name{Kind: graph.DataStoreKind, Region: r.Region, Namespace: pick(r, worldNamespaces), Name: pick(r, worldTables)}
}

// Process returns the name of a process of the world.
func (r *Random) Process() graph.Name {
	return graph.Name{Kind: graph.ProcessKind, Region: r.Region, Namespace: "scheduler", Name: fmt.Sprintf("job_%d", r.IntN(worldJobs))}
}

// Any returns the id of something of the world, or of nothing.
func (r *Random) Any() graph.ID {
	switch r.IntN(8) {
	case 0:
		return r.Process().ID()
	case 1, 2, 3:
		return r.Table().Of(pick(r, worldColumns)).ID()
	case 4:
		return r.Table().Of("no_such_column").ID()
	}
	return r.Table().ID()
}

// Names lists the data stores that the deltas may speak of.
func (r *Random) Names() []graph.Name {
	var names []graph.Name
	for _, ns := range worldNamespaces {
		for _, table := range worldTables {
			names = append(names, graph.Name{Kind: graph.DataStoreKind, Region: r.Region, Namespace: ns, Name: table})
		}
	}
	return names
}

// World lists the ids of all that the deltas may speak of.
func (r *Random) World() []graph.ID {
	var ids []graph.ID
	for _, n := range r.Names() {
		ids = append(ids, n.ID())
		for _, c := range worldColumns {
			ids = append(ids, n.Of(c).ID())
		}
	}
	for i := range worldJobs {
		ids = append(ids, graph.Name{Kind: graph.ProcessKind, Region: r.Region, Namespace: "scheduler", Name: fmt.Sprintf("job_%d", i)}.ID())
	}
	return ids
}

// Time returns a time near Now, in whole seconds, so that some are equal.
func (r *Random) Time() int64 { return r.Now + int64(r.IntN(2000))*int64(time.Second) }

// Delta returns a delta.
func (r *Random) Delta() graph.Delta {
	r.n++
	d := graph.Delta{Subject: r.Process(), Origin: pick(r, worldOrigins), Time: r.Time()}
	switch {
	case r.chance(4):
		d.State = graph.Deleting
		return d
	case r.chance(12):
		d.Subject, d.State = r.Table(), graph.Declared
		w := r.dataset(true)
		w.Name = d.Subject
		d.Says.Writes = []graph.Dataset{w}
		return d
	case r.chance(10):
		d.State = graph.Declared
	default:
		d.Run = fmt.Sprintf("run-%d", r.IntN(12))
		d.State = pick(r, []graph.RunState{graph.Started, graph.Running, graph.Completed, graph.Completed, graph.Completed, graph.Failed, graph.Aborted})
	}
	if d.State == graph.Started && r.chance(50) {
		return d
	}
	d.Says = r.content(d.Subject)
	if r.chance(20) {
		d.Seen = []graph.Seen{{Name: r.Table(), Facets: fmt.Appendf(nil, `{"rows":{"n":%d},"version":"%d"}`, r.IntN(5), r.IntN(3)),
			Partitions: []string{fmt.Sprintf("dt=2026-03-%02d", 1+r.IntN(5))}}}
	}
	return d
}

func (r *Random) content(subject graph.Name) graph.Content {
	c := graph.Content{Streaming: r.chance(10)}
	if r.chance(30) {
		c.SQL, c.Dialect = "select 1", "spark"
	}
	if r.chance(30) {
		c.Facts = r.facts(false)
	}
	for range r.IntN(4) {
		c.Reads = append(c.Reads, r.dataset(false))
	}
	for range r.IntN(3) {
		c.Writes = append(c.Writes, r.dataset(true))
	}
	if r.chance(10) {
		c.Processes = []graph.ProcessFlow{{From: r.Process(), To: subject, Kinds: graph.Control}}
	}
	if r.chance(10) {
		c.Parent = r.Process()
	}
	return c
}

func (r *Random) facts(columns bool) graph.Facts {
	f := graph.Facts{Kind: pick(r, []string{"", "TABLE", "VIEW"}), Description: pick(r, []string{"", "", "what it is"})}
	if r.chance(30) {
		f.Owners = []string{pick(r, []string{"team-a", "team-b"})}
	}
	if r.chance(30) {
		f.Tags = []graph.Tag{{Name: pick(r, []string{"pii", "gold"}), Value: pick(r, []string{"", "yes"}), Column: pick(r, []string{"", "id"})}}
	}
	if columns {
		for i, c := range worldColumns {
			if r.chance(60) {
				f.Columns = append(f.Columns, graph.Field{Path: c, Type: pick(r, []string{"int", "string"}), Ordinal: i + 1})
			}
		}
	}
	if r.chance(5) {
		f.Deleted = []string{pick(r, []string{graph.FactSchema, graph.FactTags, graph.FactSymlinks, graph.FactLineage})}
	}
	return f
}

func (r *Random) dataset(written bool) graph.Dataset {
	d := graph.Dataset{Name: r.Table()}
	if r.chance(50) {
		d.Facts = r.facts(r.chance(60))
	}
	if r.chance(12) {
		a := graph.Alias{From: d.Name, To: r.Table()}
		if r.chance(50) {
			a.From, a.To = a.To, a.From
		}
		d.Aliases = []graph.Alias{a}
	}
	if !written {
		return d
	}
	switch {
	case r.chance(6):
		d.Lifecycle = graph.LifecycleDrop
	case r.chance(4):
		d.Lifecycle, d.RenamedFrom = graph.LifecycleRename, r.Table()
	case r.chance(10):
		d.Lifecycle = "CREATE"
	}
	if r.chance(60) {
		d.Lineage = &graph.Lineage{Complete: r.chance(10)}
		for range r.IntN(4) {
			l := graph.ColumnLineage{Column: pick(r, worldColumns)}
			for range r.IntN(3) {
				l.Inputs = append(l.Inputs, r.source())
			}
			d.Lineage.Columns = append(d.Lineage.Columns, l)
		}
		for range r.IntN(3) {
			d.Lineage.Inputs = append(d.Lineage.Inputs, r.source())
		}
	}
	return d
}

func (r *Random) source() graph.Source {
	s := graph.Source{Name: r.Table(), Kinds: pick(r, worldKinds)}
	if r.chance(85) {
		s.Name = s.Name.Of(pick(r, worldColumns))
	}
	if r.chance(20) {
		s.Expression = "f(x)"
	}
	return s
}
