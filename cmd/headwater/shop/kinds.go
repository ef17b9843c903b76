package shop

// kinds is a set of the ways in which an output depends on an input, named as
// in OpenLineage's facet columnLineage.
type kinds uint16

// The kinds; of the direct ones, the first three, the later says more.
const (
	identity kinds = 1 << iota
	transformation
	aggregation
	join
	filter
	groupBy
	sorting
	window
	conditional
)

const directKinds = identity | transformation | aggregation

var kindNames = [...]string{"IDENTITY", "TRANSFORMATION", "AGGREGATION", "JOIN", "FILTER", "GROUP_BY", "SORT", "WINDOW", "CONDITIONAL"}

// over returns how an output depends on what it takes, in the way k, through
// a column of a subquery that depends on it in the ways s.
func (k kinds) over(s kinds) kinds {
	direct := max(k&directKinds, s&directKinds)
	switch {
	case k&directKinds == 0:
		return k | s&^directKinds
	case s&directKinds == 0:
		return s
	}
	return direct | s&^directKinds
}

// into is how what depends on a function in the way k depends on what the
// function is given, where it is of the direct kind f.
func (k kinds) into(f kinds) kinds {
	if k&directKinds == 0 {
		return k
	}
	return max(k, f)
}

// aside is how what depends on an expression in the way k depends on a part of
// it that only decides, in the indirect way d.
func (k kinds) aside(d kinds) kinds {
	if k&directKinds == 0 {
		return k
	}
	return d
}

// and joins two sets of kinds; the direct kind that says more counts.
func (k kinds) and(s kinds) kinds {
	return max(k&directKinds, s&directKinds) | (k|s)&^directKinds
}

// A source is a column that an output, or every row of it, depends on.
type source struct {
	table  *table
	column string
	kinds  kinds
	// masked: the value cannot be read from the output.
	masked bool
}

// addSource adds s to a list that has a column once.
func addSource(list []source, s source) []source {
	for i := range list {
		if have := &list[i]; have.table == s.table && have.column == s.column {
			have.kinds = have.kinds.and(s.kinds)
			have.masked = have.masked && s.masked
			return list
		}
	}
	return append(list, s)
}
