package graph

import "strings"

// Kinds is a set of dependency kinds.
type Kinds uint16

// The dependency kinds. The direct ones say that a value is made from another;
// the indirect ones that it depends on it; Control orders processes. Other
// stands for a producer's own string, which the contribution keeps.
const (
	Identity Kinds = 1 << iota
	Transformation
	Aggregation
	Join
	Filter
	GroupBy
	Sort
	Window
	Conditional
	Control
	Other
)

// Sets of kinds that questions use.
const (
	DirectKinds = Identity | Transformation | Aggregation
	// WholeKinds are the indirect kinds that influence every row of an output
	// alike, and so hold between a column and a data store.
	WholeKinds = Join | Filter | GroupBy | Sort
	AllKinds   = Control<<2 - 1
)

var kindNames = [...]string{"IDENTITY", "TRANSFORMATION", "AGGREGATION", "JOIN", "FILTER", "GROUP_BY", "SORT", "WINDOW", "CONDITIONAL", "CONTROL", "OTHER"}

// ParseKind reads one kind by its name; a name that is not known is Other.
func ParseKind(s string) Kinds {
	for i, n := range kindNames {
		if strings.EqualFold(s, n) {
			return 1 << i
		}
	}
	return Other
}

// Names lists the kinds of the set in their fixed order.
func (k Kinds) Names() []string {
	names := []string{}
	for i, n := range kindNames {
		if k&(1<<i) != 0 {
			names = append(names, n)
		}
	}
	return names
}

func (k Kinds) String() string { return strings.Join(k.Names(), "|") }

// operators maps each operator of a logical plan to the kinds that betray it,
// for origins that report kinds and no plan.
var operators = [...]struct {
	name  string
	kinds Kinds
}{
	{"SCAN", 0},
	{"JOIN", Join},
	{"FILTER", Filter},
	{"AGGREGATE", Aggregation | GroupBy},
	{"WINDOW", Window},
	{"SORT", Sort},
	{"PROJECT", Transformation | Conditional | Identity},
}

// Operators names the operators that a flow of these kinds passed, from the
// source to the output, as far as the kinds tell.
func (k Kinds) Operators() []string {
	if k&^(Control|Other) == 0 {
		return nil
	}
	var names []string
	for _, o := range operators {
		if o.kinds == 0 || o.kinds&k != 0 {
			names = append(names, o.name)
		}
	}
	return names
}

// Direction says which way along the flow of data.
type Direction uint8

// The directions. Both is two walks.
const (
	Downstream Direction = iota
	Upstream
	Both
)

// Granularity says what the nodes of an answer are.
type Granularity uint8

// The granularities.
const (
	DataStores Granularity = iota
	Columns
	Processes
)
