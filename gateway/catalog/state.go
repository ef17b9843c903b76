// Package catalog is what people decide and gateways must agree on: regions,
// rules for names, global tables, filters, notices, generations of the border
// index. State is a pure state machine; Replica is a thin shell of raft around
// it, which keeps equal copies at three or five gateways.
package catalog

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"unicode/utf8"
)

// A State is an immutable catalog at one version. Any number of goroutines
// may read it; slices in what it returns are its own. New makes the first.
type State struct {
	// seq counts the commands taken, version the changes they made.
	seq, version   uint64
	lastGeneration uint64

	regions     list[Region]
	gateways    list[Gateway]
	namespaces  list[NamespaceRule]
	aliases     list[Alias]
	naming      list[NamingRule]
	tables      list[Table]
	filters     list[Filter]
	notices     list[Notice]
	generations list[Generation]

	// owners is derived: the table of each member, by the key of the name that
	// the member stands for after all rules.
	owners list[*owner]

	audit []Entry // oldest first
	// receipts answer a command that comes again, by its id; order holds their
	// ids, oldest first.
	receipts list[*receipt]
	order    []string
}

// How much of the past a state keeps.
const (
	auditKept    = 1000
	receiptsKept = 4096
	textKept     = 4 << 10
)

// New returns the empty catalog: version 0.
func New() *State { return &State{} }

// Version returns how many changes the catalog has seen.
func (s *State) Version() uint64 { return s.version }

// Seq returns how many commands the catalog has taken, refused ones and those
// that changed nothing included. It is what Command.Seen is about.
func (s *State) Seq() uint64 { return s.seq }

// Region returns the region of a name.
func (s *State) Region(name string) (Region, bool) { return s.regions.get(name) }

// Table returns the global table of a name.
func (s *State) Table(name string) (Table, bool) { return s.tables.get(name) }

// Gateway returns the gateway of a name.
func (s *State) Gateway(name string) (Gateway, bool) { return s.gateways.get(name) }

// Generation returns which build of a region's border index is followed; the
// zero Generation before the first.
func (s *State) Generation(region string) Generation {
	g, _ := s.generations.get(region)
	return g
}

// Regions go by name.
func (s *State) Regions() iter.Seq[Region] { return s.regions.all() }

// Gateways go by name.
func (s *State) Gateways() iter.Seq[Gateway] { return s.gateways.all() }

// NamespaceRules go by namespace.
func (s *State) NamespaceRules() iter.Seq[NamespaceRule] { return s.namespaces.all() }

// Aliases go by the name that stands for another.
func (s *State) Aliases() iter.Seq[Alias] { return s.aliases.all() }

// NamingRules go by region, namespace and prefix.
func (s *State) NamingRules() iter.Seq[NamingRule] { return s.naming.all() }

// Tables go by name.
func (s *State) Tables() iter.Seq[Table] { return s.tables.all() }

// Filters go by name.
func (s *State) Filters() iter.Seq[Filter] { return s.filters.all() }

// Notices go by name.
func (s *State) Notices() iter.Seq[Notice] { return s.notices.all() }

// Generations go by region.
func (s *State) Generations() iter.Seq[Generation] { return s.generations.all() }

// Audit goes through the last changes, newest first.
func (s *State) Audit() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for _, e := range slices.Backward(s.audit) {
			if !yield(e) {
				return
			}
		}
	}
}

// An edit is a state that a command is changing. Lists are immutable, so the
// state that it began as stays as it was.
type edit struct {
	State
	changed       bool
	of            string
	before, after any
	value         uint64
}

// note says what the command changed, for the audit trail; nil is nothing.
func (e *edit) note(of string, before, after any) {
	e.changed, e.of, e.before, e.after = true, of, before, after
}

// text returns JSON of what was or became, cut where it is long.
func text(v any) string {
	b, err := json.Marshal(v)
	switch {
	case err != nil:
		return err.Error()
	case string(b) == "null":
		return ""
	}
	if len(b) <= textKept {
		return string(b)
	}
	cut := b[:textKept]
	for !utf8.Valid(cut) {
		cut = cut[:len(cut)-1]
	}
	return fmt.Sprintf("%s… (%d bytes in all)", cut, len(b))
}

// A Suspect is a namespace that several regions report and no rule speaks of:
// the same tables, or others of the same name? People decide; until then the
// names of each region stay its own.
type Suspect struct {
	Namespace string   // as it is compared
	Regions   []string // sorted
}

// Suspects lists, by namespace, what needs a rule, given the namespaces that
// each region reports.
func (s *State) Suspects(reported map[string][]string) []Suspect {
	by := map[string][]string{}
	for _, region := range slices.Sorted(maps.Keys(reported)) {
		for _, ns := range reported[region] {
			ns = foldNamespace(ns)
			if at := by[ns]; len(at) == 0 || at[len(at)-1] != region {
				by[ns] = append(at, region)
			}
		}
	}
	var out []Suspect
	for _, ns := range slices.Sorted(maps.Keys(by)) {
		if _, ruled := s.namespaces.get(ns); !ruled && len(by[ns]) > 1 {
			out = append(out, Suspect{ns, by[ns]})
		}
	}
	return out
}
