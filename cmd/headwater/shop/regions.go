package shop

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// The regions of the shop: its applications and their streams, the lake, and
// the people who read reports. In AP it sells as well, in a small way.
const (
	Apps    = "us"
	Lake    = "eu"
	Reports = "ap"
)

// An Event is what one region is told.
type Event struct {
	Region string
	Body   []byte // of an OpenLineage event
}

// A Home says whose tables are meant by the names of a namespace.
type Home struct{ Namespace, Region string }

// A GlobalTable is a table that several regions have parts or copies of.
type GlobalTable struct {
	Name, Kind string // PARTITIONED or REPLICATED
	Members    []Member
}

// A Member is one region's part or copy.
type Member struct{ Region, Namespace, Name string }

// GlobalNamespace is where events name global tables.
const GlobalNamespace = "global"

// RegionalEvents are the events of Events, each told to the region in which
// it happens. Orders and order lines are landed in two regions, as parts of
// one table; exchange rates are written once and copied to all.
func RegionalEvents(now time.Time) ([]Event, error) {
	p, err := load()
	if err != nil {
		return nil, err
	}
	list, err := p.list(now)
	if err != nil {
		return nil, err
	}
	var out []Event
	for _, e := range list {
		for _, region := range e.regions() {
			body, err := json.Marshal(relocated(e.body, region))
			if err != nil {
				return nil, err
			}
			out = append(out, Event{region, body})
		}
	}
	return out, nil
}

// Homes lists the namespaces of the shop.
func Homes() ([]Home, error) {
	p, err := load()
	if err != nil {
		return nil, err
	}
	of := map[string]string{}
	add := func(namespace string) {
		if namespace != "" {
			of[namespace] = homeOf(namespace)
		}
	}
	for _, t := range p.tables {
		add(t.namespace)
		if t.location != nil {
			add(t.location.namespace)
		}
	}
	var homes []Home
	for ns, region := range of {
		homes = append(homes, Home{ns, region})
	}
	slices.SortFunc(homes, func(a, b Home) int { return strings.Compare(a.Namespace, b.Namespace) })
	return homes, nil
}

// GlobalTables lists the tables of which several regions have some.
func GlobalTables() ([]GlobalTable, error) {
	p, err := load()
	if err != nil {
		return nil, err
	}
	var tables []GlobalTable
	for _, t := range p.tables {
		switch {
		case landed(t.name):
			g := GlobalTable{Name: t.name, Kind: "PARTITIONED", Members: []Member{{Apps, in(t.namespace, Apps), t.name}}}
			if strings.Contains(t.name, "order") {
				g.Members = append(g.Members, Member{Reports, in(t.namespace, Reports), t.name})
			}
			tables = append(tables, g)
		case t.name == rates:
			g := GlobalTable{Name: t.name, Kind: "REPLICATED", Members: []Member{{Lake, t.namespace, t.name}}}
			for _, region := range []string{Apps, Reports} {
				g.Members = append(g.Members, Member{region, in(t.namespace, region), t.name})
			}
			tables = append(tables, g)
		}
	}
	return tables, nil
}

// rates is the table that all regions have a copy of.
const rates = "dim.dim_fx_rate"

// landed reports whether a table is one into which changes of the
// applications' databases are written, where they happen.
func landed(table string) bool {
	return strings.HasPrefix(table, "stg.") && strings.HasSuffix(table, "_cdc")
}

// homeOf returns the region that the tables of a namespace are in.
func homeOf(namespace string) string {
	switch scheme, _, _ := strings.Cut(namespace, ":"); scheme {
	case "hive", "trino", "s3", "redis", "file":
		return Lake
	case "doris", "superset":
		return Reports
	}
	return Apps
}

// regions lists where an event happens.
func (e *event) regions() []string {
	if e.of != nil { // a table reports itself
		return []string{homeOf(e.of.namespace)}
	}
	switch t := e.run.task; {
	case t == nil:
		return []string{Lake}
	case t.engine.name == "debezium" || t.engine.name == "flink":
		if strings.Contains(t.name, "order") {
			return []string{Apps, Reports}
		}
		return []string{Apps}
	case t.engine.name == "service":
		return []string{Apps}
	case t.engine.name == "doris" || t.engine.name == "superset" || strings.HasPrefix(t.name, "reports_daily."):
		return []string{Reports}
	}
	return []string{Lake}
}

// in returns the namespace that a region has in place of one.
func in(namespace, region string) string {
	scheme, rest, ok := strings.Cut(namespace, "://")
	if !ok {
		return namespace
	}
	host, tail, _ := strings.Cut(rest, ".")
	if tail != "" {
		tail = "." + tail
	}
	return scheme + "://" + host + "-" + region + tail
}

// relocated returns an event as a region tells it: a copy in which names that
// other regions share, or that have a namesake here, are those of the region.
func relocated(v any, region string) any {
	switch v := v.(type) {
	case object:
		out := make(object, len(v))
		for k, x := range v {
			out[k] = relocated(x, region)
		}
		if ns, ok := out["namespace"].(string); ok {
			if name, ok := out["name"].(string); ok {
				out["namespace"] = relocate(ns, name, region)
			}
		}
		return out
	case []object:
		out := make([]object, len(v))
		for i, x := range v {
			out[i] = relocated(x, region).(object)
		}
		return out
	}
	return v
}

// relocate returns the namespace under which a region tells of a table, by its
// name or by where its files are.
func relocate(namespace, name, region string) string {
	ours := strings.HasPrefix(namespace, "hive:") && landed(name) || strings.HasPrefix(namespace, "s3:") && strings.Contains(name, "/stg/")
	switch {
	case region == Lake && strings.HasPrefix(namespace, "hive:") && (landed(name) || name == rates):
		return GlobalNamespace
	case region != Lake && ours, region == Reports && (strings.HasPrefix(namespace, "kafka:") || strings.HasPrefix(namespace, "postgres:")):
		return in(namespace, region)
	}
	return namespace
}
